public import HapticFormats
internal import HapticModel
internal import Reading

/// A haptic experience of ISO/IEC 23090-31, as its text (HJIF) and its binary file (HMPG) hold it.
/// Times are whole ticks. A `place` is where the reader found a part: the number of a value of the
/// text, or a bit of the binary file.
struct MPEGDocument: Equatable, Sendable {
  var version = "2023"
  var profile = "Main"
  var level = 1
  var date = ""
  var description = ""
  /// Ticks per second.
  var timescale = 1_000
  var avatars: [Avatar] = []
  var perceptions: [Perception] = []
  /// How many points the file names at which playing can be synchronised.
  var syncCount = 0

  struct Avatar: Equatable, Sendable {
    var id = 0
    var sourceIndex = 0
  }

  struct Perception: Equatable, Sendable {
    var id = 0
    var modality = MPEGModality.other
    var description = ""
    var effectLibrary: [Effect] = []
    var deviceNames: [String] = []
    var channels: [Channel] = []
    /// Amplitudes are multiplied by this power of ten.
    var unitExponent = 0
    var semanticScheme: String?
    var sourceIndex = 0
  }

  /// What one actuator, or one place of the body, is given: the sum of its bands.
  struct Channel: Equatable, Sendable {
    var id = 0
    var description = ""
    var gain = 1.0
    /// Whether the channel names a part of the body, an actuator, a direction or vertices.
    var namesBodyLocation = false
    /// Samples per second of a recording the channel was made from, or 0.
    var samplingRate = 0
    /// Frames of that recording, or 0.
    var sampleCount = 0
    var bands: [Band] = []
    var sourceIndex = 0
  }

  /// Effects that are synthesised in one way.
  struct Band: Equatable, Sendable {
    var kind = MPEGBandKind.transient
    var curveKind = MPEGCurveKind.unknown
    /// Ticks of one wavelet block.
    var blockLength = 0
    /// Hertz.
    var lowerHertz = 0.0
    /// Hertz; of wavelets, the rate of their samples.
    var upperHertz = 0.0
    var effects: [Effect] = []
    var sourceIndex = 0
  }

  struct Effect: Equatable, Sendable {
    /// In the order of their binary codes.
    enum Kind: String, JSONEnumeration {
      case basis = "Basis", reference = "Reference", composite = "Composite"
    }

    var kind = Kind.basis
    /// Of a reference, the effect of the library that it stands for.
    var id: Int?
    /// Ticks from the start, or from the start of the composite effect.
    var position = 0
    /// Radians.
    var phase = 0.0
    var baseSignal = MPEGBaseSignal.sine
    /// Whether phase and shape are written.
    var isVectorialWave = false
    var keyframes: [Keyframe] = []
    var children: [Effect] = []
    /// The bits of a wavelet block, those of a byte from the least significant on.
    var waveletStream: [UInt8] = []
    var semanticKeywords: String?
    var sourceIndex = 0
  }

  struct Keyframe: Equatable, Sendable {
    /// Ticks from the start of the effect.
    var position: Int32 = 0
    /// −1…1, or NaN where the key has none.
    var amplitude = Float.nan
    /// Hertz, or NaN where the key has none.
    var frequency = Float.nan
    var sourceIndex: UInt32 = 0

    static func == (one: Keyframe, other: Keyframe) -> Bool {
      one.position == other.position && one.amplitude.bitPattern == other.amplitude.bitPattern
        && one.frequency.bitPattern == other.frequency.bitPattern
    }
  }
}

/// How the effects of a band are synthesised; in the order of their binary codes.
enum MPEGBandKind: String, JSONEnumeration {
  case transient = "Transient", curve = "Curve", vectorial = "VectorialWave", wavelet =
    "WaveletWave"
}

/// How a curve runs between its keys; in the order of their binary codes.
enum MPEGCurveKind: String, JSONEnumeration {
  case unknown = "Unknown", cubic = "Cubic", linear = "Linear", akima = "Akima", bezier = "Bezier",
    bSpline = "BSpline"
}

/// The shape of a vectorial wave; in the order of their binary codes.
enum MPEGBaseSignal: String, JSONEnumeration {
  case sine = "Sine", square = "Square", triangle = "Triangle", sawToothUp = "SawToothUp",
    sawToothDown = "SawToothDown"
}

/// The sense that a perception is for; the first fourteen in the order of their binary codes.
enum MPEGModality: String, JSONEnumeration {
  case other = "Other", pressure = "Pressure", acceleration = "Acceleration", velocity = "Velocity"
  case position = "Position", temperature = "Temperature", vibrotactile = "Vibrotactile", water =
    "Water", wind = "Wind"
  case force = "Force", texture = "Vibrotactile Texture", stiffness = "Stiffness", friction =
    "Friction"
  case electrotactile = "Electrotactile", humidity = "Humidity", temporal = "User-defined Temporal"
  case spatial = "User-defined Spatial"

  static let binaryCodeCount = 14

  /// What becomes of a signal of this sense on an actuator that vibrates.
  enum Playability { case unchanged, asVibration, unplayable }

  /// Positions of textures, stiffness and friction are places in space, so that no time has them.
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
