/// Options for reading a file. A format ignores the options that do not concern it.
public struct ReadingOptions: Equatable, Sendable {
  /// The origin of the times of control points.
  public enum CurveTimes: String, CaseIterable, Sendable {
    /// The start of their curve, as Apple documents.
    case relative
    /// The start of the pattern, as some tools write.
    case absolute
    /// The start of their curve, unless all curves of the file together prove otherwise.
    case automatic
  }

  /// The treatment of frequencies that a file states in hertz.
  public enum Pitch: String, CaseIterable, Sendable {
    /// Frequencies stay in hertz, and a profile plays those that its transducer reproduces.
    case hertz
    /// Frequencies become sharpness on the scale of the default profile, 80–230 Hz, and every
    /// profile maps them to its own band.
    case sharpness
  }

  /// The origin of the times of control points.
  public var curveTimes: CurveTimes
  /// The mapping from amplitude to intensity, for formats with amplitudes.
  public var amplitudeMapping: AmplitudeMapping
  /// A Boolean value that indicates whether reading reports warnings, notes, suppressions, and
  /// losses.
  ///
  /// Without them, reading is faster and reports only errors and deviations in playback.
  public var wantsFindings: Bool
  /// The sample rate in hertz of signals that replace events, for formats that describe signals;
  /// nil for events.
  public var signalRate: Double?
  /// A Boolean value that indicates whether an unknown parameter in AHAP is an error instead of a
  /// warning.
  public var rejectsUnknownParameters = false
  /// The treatment of frequencies in hertz, for formats with frequencies.
  public var pitch = Pitch.hertz

  /// Creates options. The defaults read a file as its format is documented.
  ///
  /// - Parameters:
  ///   - curveTimes: The origin of the times of control points.
  ///   - amplitudeMapping: The mapping from amplitude to intensity.
  ///   - wantsFindings: True to report warnings, notes, suppressions, and losses.
  public init(
    curveTimes: CurveTimes = .automatic, amplitudeMapping: AmplitudeMapping = .root,
    wantsFindings: Bool = true
  ) {
    self.curveTimes = curveTimes
    self.amplitudeMapping = amplitudeMapping
    self.wantsFindings = wantsFindings
  }
}

/// Options for writing a composition. A format ignores the options that do not concern it.
public struct WritingOptions: Equatable, Sendable {
  /// The condition for dividing a composition into several files.
  public enum Split: String, CaseIterable, Sendable {
    /// Divides the composition if a single file would not play as it does.
    case automatic
    /// Divides the composition whenever the format permits.
    case always
    /// Never divides the composition.
    case never
  }

  /// The name of the dialect, or nil for the default.
  public var dialect: String?
  /// The maximum error of a reduced or sampled curve, as a fraction of full scale.
  public var tolerance: Double
  /// The mapping between intensity and amplitude, for formats with amplitudes.
  public var amplitudeMapping: AmplitudeMapping
  /// The number of passes of a composition with loop points, in a format without them.
  public var loopCount: Int
  /// The condition for dividing the composition into several files.
  public var split: Split
  /// A Boolean value that indicates whether content that the format cannot represent is written as
  /// sound files.
  public var rendersUnsupported: Bool
  /// The rate in hertz of written samples, or nil for the default of the format.
  public var signalRate: Double?
  /// The name of the file without extension, for references between the written files.
  public var baseName: String

  /// The default tolerance: 0.5 % of full scale.
  public static let defaultTolerance = 0.005

  /// Creates options. The defaults write a file as its format is documented.
  ///
  /// - Parameters:
  ///   - dialect: The name of the dialect, or nil for the default.
  ///   - tolerance: The maximum error of a reduced or sampled curve, as a fraction of full scale.
  ///   - amplitudeMapping: The mapping between intensity and amplitude.
  ///   - loopCount: The number of passes of a composition with loop points.
  ///   - split: The condition for dividing the composition into several files.
  ///   - rendersUnsupported: True to write unsupported content as sound files.
  ///   - signalRate: The rate in hertz of written samples, or nil for the default of the format.
  ///   - baseName: The name of the file without extension.
  public init(
    dialect: String? = nil, tolerance: Double = defaultTolerance,
    amplitudeMapping: AmplitudeMapping = .root,
    loopCount: Int = 1,
    split: Split = .automatic, rendersUnsupported: Bool = false,
    signalRate: Double? = nil, baseName: String = "pattern"
  ) {
    self.dialect = dialect
    self.tolerance = tolerance
    self.amplitudeMapping = amplitudeMapping
    self.loopCount = loopCount
    self.split = split
    self.rendersUnsupported = rendersUnsupported
    self.signalRate = signalRate
    self.baseName = baseName
  }
}

/// The relation between the amplitude of a vibration, 0…1, and the intensity of Core Haptics.
public enum AmplitudeMapping: String, CaseIterable, Sendable {
  /// Intensity is the square root of amplitude.
  ///
  /// Source: both converters of the Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`;
  /// Lofelt/NiceVibrations, 5e58663), the only published relation.
  case root
  /// Intensity equals amplitude, for profiles whose amplitude is proportional to intensity.
  case linear

  /// Returns the intensity of an amplitude, which must not be negative.
  public func intensity(ofAmplitude amplitude: Double) -> Double {
    self == .root ? amplitude.squareRoot() : amplitude
  }

  /// Returns the amplitude of an intensity.
  public func amplitude(ofIntensity intensity: Double) -> Double {
    self == .root ? intensity * intensity : intensity
  }
}
