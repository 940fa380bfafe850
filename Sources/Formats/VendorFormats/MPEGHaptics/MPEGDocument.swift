internal import HapticFormats
internal import HapticModel
internal import Reading

/// A haptic experience as defined by ISO/IEC 23090-31: the common content of its text format (HJIF)
/// and its binary format (HMPG). Times are in whole ticks.
///
/// A `sourceValueIndex` is the location of an element in the file: the index of a JSON value in a
/// text, or the offset of a bit in a binary file.
struct MPEGDocument: Equatable, Sendable {
  var standardVersion = "2023"
  var conformanceProfile = "Main"
  var conformanceLevel = 1
  var creationDate = ""
  var description = ""
  /// The resolution of positions, in ticks per second.
  var ticksPerSecond = 1_000
  var avatars: [Avatar] = []
  var perceptions: [Perception] = []
  /// The number of synchronization points in the document.
  var syncPointCount = 0

  /// An avatar: a virtual body to which effects can be applied.
  struct Avatar: Equatable, Sendable {
    var id = 0
    var sourceValueIndex = 0
  }

  /// A perception: the signals for one sense.
  struct Perception: Equatable, Sendable {
    var id = 0
    var modality = MPEGModality.other
    var description = ""
    var effectLibrary: [Effect] = []
    var deviceNames: [String] = []
    var channels: [Channel] = []
    /// The exponent n of the factor 10ⁿ for amplitudes.
    var amplitudeExponentOfTen = 0
    var semanticScheme: String?
    var sourceValueIndex = 0
  }

  /// A channel: the signal of one actuator or body location, which is the sum of its bands.
  struct Channel: Equatable, Sendable {
    var id = 0
    var description = ""
    var channelGain = 1.0
    /// A Boolean value that indicates whether the channel names a location or direction.
    ///
    /// A location is a body part, an actuator, or vertices.
    var namesBodyLocation = false
    /// The sample rate of the channel's original recording, in hertz; 0 if unknown.
    var recordingSampleRate = 0
    /// The length of the channel's original recording, in frames; 0 if unknown.
    var recordingFrameCount = 0
    var bands: [Band] = []
    var sourceValueIndex = 0

    /// The length of the channel's original recording, in seconds.
    ///
    /// The length is nil if the file does not state it.
    var recordingSeconds: Double? {
      guard recordingSampleRate > 0, recordingFrameCount > 0 else { return nil }
      return Double(recordingFrameCount) / Double(recordingSampleRate)
    }
  }

  /// A part of a channel with effects of one kind of synthesis.
  struct Band: Equatable, Sendable {
    var kind = MPEGBandKind.transient
    var curveKind = MPEGCurveKind.unknown
    /// The length of a wavelet block, in ticks.
    var waveletBlockTicks = 0
    /// The lower frequency limit of the band, in hertz.
    var lowerHertz = 0.0
    /// The upper frequency limit of the band, in hertz; for wavelets, the sample rate.
    var upperHertzOrSampleRate = 0.0
    var effects: [Effect] = []
    var sourceValueIndex = 0
  }

  /// An effect of a band or of a library.
  struct Effect: Equatable, Sendable {
    /// The kind of an effect.
    ///
    /// The order of the cases is that of the codes in binary files.
    enum Kind: String, JSONEnumeration {
      case basis = "Basis", reference = "Reference", composite = "Composite"
    }

    var kind = Kind.basis
    /// The effect's id; for a reference, the id of the library effect that it plays.
    var id: Int?
    /// The start of the effect, in ticks.
    ///
    /// It is counted from the start of the document or of the enclosing composite effect.
    var startTicks = 0
    /// The phase of the wave at the start of the effect, in radians.
    var initialPhaseRadians = 0.0
    var baseSignal = MPEGBaseSignal.sine
    /// A Boolean value that indicates whether the effect has a phase and a base signal in files.
    var isVectorialWave = false
    var keyframes: [Keyframe] = []
    var childEffects: [Effect] = []
    /// The bits of a wavelet block, least significant bit of each byte first.
    var waveletStream: [UInt8] = []
    var semanticKeywords: String?
    var sourceValueIndex = 0
  }

  /// A key frame of an effect.
  struct Keyframe: Equatable, Sendable {
    /// The position of the key frame, in ticks from the start of the effect.
    var offsetTicks: Int32 = 0
    /// The amplitude, −1…1, or NaN for a key frame without an amplitude.
    var amplitude = Float.nan
    /// The frequency in hertz, or NaN for a key frame without a frequency.
    var hertz = Float.nan
    var sourceValueIndex: UInt32 = 0

    static func == (one: Keyframe, other: Keyframe) -> Bool {
      one.offsetTicks == other.offsetTicks && one.amplitude.bitPattern == other.amplitude.bitPattern
        && one.hertz.bitPattern == other.hertz.bitPattern
    }
  }
}

/// The kind of synthesis of a band's effects.
///
/// The order of the cases is that of the codes in binary files.
enum MPEGBandKind: String, JSONEnumeration {
  case transient = "Transient", curve = "Curve", vectorial = "VectorialWave", wavelet =
    "WaveletWave"
}

/// The interpolation between key frames of a curve.
///
/// The order of the cases is that of the codes in binary files.
enum MPEGCurveKind: String, JSONEnumeration {
  case unknown = "Unknown", cubic = "Cubic", linear = "Linear", akima = "Akima", bezier = "Bezier",
    bSpline = "BSpline"
}

/// The waveform of a vectorial wave.
///
/// The order of the cases is that of the codes in binary files.
enum MPEGBaseSignal: String, JSONEnumeration {
  case sine = "Sine", square = "Square", triangle = "Triangle", sawToothUp = "SawToothUp",
    sawToothDown = "SawToothDown"
}

/// The sense that a perception addresses.
///
/// The order of the first fourteen cases is that of the codes in binary files.
enum MPEGModality: String, JSONEnumeration {
  case other = "Other", pressure = "Pressure", acceleration = "Acceleration", velocity = "Velocity"
  case position = "Position", temperature = "Temperature", vibrotactile = "Vibrotactile", water =
    "Water", wind = "Wind"
  case force = "Force", texture = "Vibrotactile Texture", stiffness = "Stiffness", friction =
    "Friction"
  case electrotactile = "Electrotactile", humidity = "Humidity", temporal = "User-defined Temporal"
  case spatial = "User-defined Spatial"

  static let binaryCodeCount = 14

  /// The way that a vibrating actuator plays signals for this sense.
  enum Playability { case unchanged, asVibration, unplayable }

  /// The playability of signals for this sense on a vibrating actuator. Positions in textures,
  /// stiffness, and friction are spatial, so they have no time.
  var playability: Playability {
    switch self {
    case .vibrotactile, .acceleration, .other, .temporal:
      .unchanged
    case .pressure, .velocity, .position, .force, .electrotactile:
      .asVibration
    case .temperature, .water, .wind, .humidity, .texture, .stiffness, .friction, .spatial:
      .unplayable
    }
  }
}
