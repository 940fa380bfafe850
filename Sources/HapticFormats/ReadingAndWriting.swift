/// How a file is read; a format ignores what does not concern it.
public struct ReadingOptions: Equatable, Sendable {
  /// What the times of control points count from.
  public enum CurveTimes: String, CaseIterable, Sendable {
    /// From the start of their curve, as Apple documents.
    case relative
    /// From the start of the pattern, as some tools write.
    case absolute
    /// From the start of their curve, unless all curves of the file together show otherwise.
    case automatic
  }

  /// What the times of control points count from.
  public var curveTimes: CurveTimes
  /// How intensity follows from the amplitudes of formats that hold amplitudes.
  public var amplitude: AmplitudeLaw
  /// Whether findings below errors, allowances and losses are wanted; without them reading is
  /// faster, and reports errors and what plays otherwise than it is written.
  public var wantsFindings: Bool
  /// The frames per second of signals that take the place of events where a format describes signals, or nil for
  /// events.
  public var signalRate: Double?
  /// Whether an unknown name of a parameter is an error in AHAP; else the parameter is ignored.
  public var refusesUnknownParameters = false

  /// Makes options; those not given read everything as the format documents it.
  public init(
    curveTimes: CurveTimes = .automatic, amplitude: AmplitudeLaw = .root, wantsFindings: Bool = true
  ) {
    self.curveTimes = curveTimes
    self.amplitude = amplitude
    self.wantsFindings = wantsFindings
  }
}

/// How a composition is written; a format ignores what does not concern it.
public struct WritingOptions: Equatable, Sendable {
  /// Whether a composition is written as several files.
  public enum Split: String, CaseIterable, Sendable {
    /// Where one file would not sound as the composition does.
    case automatic
    /// Wherever the format has files for parts.
    case always
    /// Never.
    case never
  }

  /// The name of the format's dialect, or nil for its first.
  public var dialect: String?
  /// How far a reduced or sampled curve may be from the exact one, as a share of full scale.
  public var tolerance: Double
  /// How intensity and the amplitudes of formats that hold amplitudes follow from each other.
  public var amplitude: AmplitudeLaw
  /// How often a composition with loop points is repeated in a format without them.
  public var loops: Int
  /// Whether a composition is written as several files.
  public var split: Split
  /// Whether what the format cannot hold is written as sound files that it plays.
  public var isBaked: Bool
  /// Samples per second of what is written as samples, or nil for what the format has usually.
  public var rate: Double?
  /// The name of the file without its ending, for references between the files of one writing.
  public var name: String

  /// Half a percent of full scale.
  public static let defaultTolerance = 0.005

  /// Makes options; those not given write everything as the format documents it.
  public init(
    dialect: String? = nil, tolerance: Double = defaultTolerance, amplitude: AmplitudeLaw = .root, loops: Int = 1,
    split: Split = .automatic, isBaked: Bool = false, rate: Double? = nil, name: String = "pattern"
  ) {
    self.dialect = dialect
    self.tolerance = tolerance
    self.amplitude = amplitude
    self.loops = loops
    self.split = split
    self.isBaked = isBaked
    self.rate = rate
    self.name = name
  }
}

/// Files as a format writes them.
public struct Writing: Sendable {
  /// One of the files.
  public struct File: Equatable, Sendable {
    /// What follows the name before its ending; empty for the only file.
    public var suffix: String
    /// The ending of the name without the dot, or nil for the one of the format.
    public var ending: String?
    /// The content.
    public var bytes: [UInt8]

    /// Makes a file of bytes.
    public init(suffix: String = "", ending: String? = nil, _ bytes: [UInt8]) {
      self.suffix = suffix
      self.ending = ending
      self.bytes = bytes
    }
  }

  /// The files; at least one.
  public var files: [File]
  /// What the format cannot hold.
  public var losses: [Loss]

  /// Makes the result of writing.
  public init(_ files: [File], losses: [Loss] = []) {
    self.files = files
    self.losses = losses
  }
}

/// How the amplitude of a vibration, 0…1, and the intensity that Core Haptics gives it follow from
/// each other.
public enum AmplitudeLaw: String, CaseIterable, Sendable {
  /// Intensity is the square root of amplitude.
  ///
  /// Source: both converters of the Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`;
  /// Lofelt/NiceVibrations, 5e58663), the only published law.
  case root
  /// Intensity is amplitude, for profiles whose amplitude is in proportion to intensity.
  case linear

  /// The intensity of an amplitude that is not negative.
  public func intensity(ofAmplitude amplitude: Double) -> Double { self == .root ? amplitude.squareRoot() : amplitude }

  /// The amplitude of an intensity.
  public func amplitude(ofIntensity intensity: Double) -> Double { self == .root ? intensity * intensity : intensity }
}
