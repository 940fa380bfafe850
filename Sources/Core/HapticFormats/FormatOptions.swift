/// Options for reading a file. Each format ignores options that do not apply to it.
public struct ReadingOptions: Equatable, Sendable {
  /// The origin of control point times: the start of the curve, or the start of the pattern.
  public enum CurveTimeReference: String, CaseIterable, Sendable {
    /// Control point times count from the start of the curve, as Apple documents.
    case relative
    /// Control point times count from the start of the pattern, as some tools write them.
    case absolute
    /// Control point times count from the start of the curve or of the pattern.
    ///
    /// They count from the start of the curve, unless the curves of the file together indicate
    /// absolute times.
    case automatic
  }

  /// The handling of frequencies that a file states in hertz.
  public enum FrequencyHandling: String, CaseIterable, Sendable {
    /// Keeps frequencies in hertz. Each profile plays the frequencies that its transducer
    /// reproduces.
    case hertz
    /// Converts frequencies to sharpness on the scale of the default profile, 80–230 Hz. Each
    /// profile then maps sharpness to its own band.
    case sharpness
  }

  /// The origin of control point times in the file.
  public var curveTimeReference: CurveTimeReference
  /// The mapping from the amplitudes of a format to intensity.
  public var amplitudeMapping: AmplitudeMapping
  /// A Boolean value that indicates whether reading reports findings.
  ///
  /// Findings are warnings, notes, suppressions, and losses.
  ///
  /// If false, reading is faster and reports only errors and deviations that affect playback.
  public var wantsFindings: Bool
  /// The sample rate of sampled signals read from formats that describe signals, in hertz.
  ///
  /// If the rate is nil, the signals are read as events.
  public var signalSampleRate: Double?
  /// A Boolean value that indicates whether unknown parameters in AHAP files are errors.
  ///
  /// If false, they are warnings.
  public var rejectsUnknownParameters = false
  /// The handling of frequencies in formats that state frequencies in hertz.
  public var frequencyHandling = FrequencyHandling.hertz

  /// Creates reading options. With the defaults, files are read as their formats are documented.
  ///
  /// - Parameters:
  ///   - curveTimes: The time from which control point times are counted.
  ///   - amplitudeMapping: The mapping from amplitude to intensity.
  ///   - wantsFindings: True to report warnings, notes, suppressions, and losses.
  public init(
    curveTimeReference curveTimes: CurveTimeReference = .automatic,
    amplitudeMapping: AmplitudeMapping = .root,
    wantsFindings: Bool = true
  ) {
    self.curveTimeReference = curveTimes
    self.amplitudeMapping = amplitudeMapping
    self.wantsFindings = wantsFindings
  }
}

/// Options for writing a composition. Each format ignores options that do not apply to it.
public struct WritingOptions: Equatable, Sendable {
  /// The condition under which a composition is written to several files.
  public enum FileSplitting: String, CaseIterable, Sendable {
    /// Writes several files if a single file would not play the same.
    case automatic
    /// Writes several files whenever the format allows it.
    case always
    /// Always writes a single file.
    case never
  }

  /// The name of the format dialect to write, or nil for the default dialect.
  public var dialect: String?
  /// The maximum error of simplified or sampled curves, as a fraction of full scale.
  public var curveToleranceFraction: Double
  /// The mapping between intensity and amplitude, for formats that store amplitudes.
  public var amplitudeMapping: AmplitudeMapping
  /// The number of times the loop plays in a format that has no loop points.
  public var loopPassCount: Int
  /// The condition under which the composition is written to several files.
  public var fileSplitting: FileSplitting
  /// A Boolean value that indicates whether unsupported content is written as sound files.
  ///
  /// Unsupported content is content that the format cannot represent.
  public var rendersUnsupportedContent: Bool
  /// The sample rate of written signals, in hertz, or nil for the default of the format.
  public var signalSampleRate: Double?
  /// The base name of the files, without extension. Written files refer to each other by this name.
  public var baseName: String

  /// The default tolerance: 0.5 % of full scale.
  public static let defaultCurveToleranceFraction = 0.005

  /// Creates writing options. With the defaults, files are written as their formats are documented.
  ///
  /// - Parameters:
  ///   - dialect: The name of the format dialect to write, or nil for the default dialect.
  ///   - tolerance: The maximum error of simplified or sampled curves, as a fraction of full scale.
  ///   - amplitudeMapping: The mapping between intensity and amplitude.
  ///   - loopCount: The number of times the loop plays in a format that has no loop points.
  ///   - split: The condition under which the composition is written to several files.
  ///   - rendersUnsupported: True to write unsupported content as sound files.
  ///   - signalRate: The sample rate of written signals, in hertz, or nil for the default of the
  ///     format.
  ///   - baseName: The base name of the files, without extension.
  public init(
    dialect: String? = nil,
    curveToleranceFraction tolerance: Double = defaultCurveToleranceFraction,
    amplitudeMapping: AmplitudeMapping = .root,
    loopPassCount loopCount: Int = 1,
    fileSplitting split: FileSplitting = .automatic,
    rendersUnsupportedContent rendersUnsupported: Bool = false,
    signalSampleRate signalRate: Double? = nil, baseName: String = "pattern"
  ) {
    self.dialect = dialect
    self.curveToleranceFraction = tolerance
    self.amplitudeMapping = amplitudeMapping
    self.loopPassCount = loopCount
    self.fileSplitting = split
    self.rendersUnsupportedContent = rendersUnsupported
    self.signalSampleRate = signalRate
    self.baseName = baseName
  }
}

/// A mapping between vibration amplitude, 0…1, and Core Haptics intensity.
public enum AmplitudeMapping: String, CaseIterable, Sendable {
  /// Intensity is the square root of amplitude.
  ///
  /// Source: both converters of the Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`;
  /// Lofelt/NiceVibrations, 5e58663). No other relation has been published.
  case root
  /// Intensity equals amplitude, for profiles with amplitudes proportional to intensity.
  case linear

  /// Returns the intensity that corresponds to a nonnegative amplitude.
  public func intensity(ofAmplitude amplitude: Double) -> Double {
    self == .root ? amplitude.squareRoot() : amplitude
  }

  /// Returns the amplitude that corresponds to an intensity.
  public func amplitude(ofIntensity intensity: Double) -> Double {
    self == .root ? intensity * intensity : intensity
  }
}
