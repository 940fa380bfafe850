internal import HapticFormats

/// A haptic experience of ISO/IEC 23090-31, as its text (HJIF) and its binary file (HMPG) hold it.
///
/// Times are whole ticks. A `place` is where the reader found a part: the number of a value of the
/// text, or a bit of the binary file.
struct MPEGDocument: Equatable {
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

  /// A body, or part of one, that is touched.
  struct Avatar: Equatable {
    var id = 0
    var place = 0
  }

  /// A signal of one sense.
  struct Perception: Equatable {
    var id = 0
    var modality = MPEGModality.other
    var description = ""
    var library: [Effect] = []
    var deviceNames: [String] = []
    var channels: [Channel] = []
    /// Amplitudes are multiplied by this power of ten.
    var unitExponent = 0
    var semanticScheme: String?
    var place = 0
  }

  /// What one actuator, or one place of the body, is given: the sum of its bands.
  struct Channel: Equatable {
    var id = 0
    var description = ""
    var gain = 1.0
    /// Whether the channel names a part of the body, an actuator, a direction or vertices.
    var isLocated = false
    /// Samples per second of a recording the channel was made from, or 0.
    var sampling = 0
    /// Frames of that recording, or 0.
    var sampleCount = 0
    var bands: [Band] = []
    var place = 0
  }

  /// Effects that are synthesised in one way.
  struct Band: Equatable {
    var kind = MPEGBandKind.transient
    var curve = MPEGCurveKind.unknown
    /// Ticks of one wavelet block.
    var blockLength = 0
    /// Hertz.
    var low = 0.0
    /// Hertz; of wavelets, the rate of their samples.
    var high = 0.0
    var effects: [Effect] = []
    var place = 0
  }

  /// A part of a band, or of the library.
  struct Effect: Equatable {
    enum Kind: Int, Equatable { case basis, reference, composite }

    var kind = Kind.basis
    /// Of a reference, the effect of the library that it stands for.
    var id: Int?
    /// Ticks from the start, or from the start of the composite effect.
    var position = 0
    /// Radians.
    var phase = 0.0
    var signal = MPEGBaseSignal.sine
    var keys: [Key] = []
    var children: [Effect] = []
    /// The bits of a wavelet block, those of a byte from the least significant on.
    var stream: [UInt8] = []
    var semantics: String?
    var place = 0
  }

  /// A corner of an effect.
  struct Key: Equatable {
    /// Ticks from the start of the effect.
    var position: Int32 = 0
    /// −1…1, or NaN where the key has none.
    var amplitude = Float.nan
    /// Hertz, or NaN where the key has none.
    var frequency = Float.nan
    var place: UInt32 = 0

    static func == (one: Key, other: Key) -> Bool {
      one.position == other.position && one.amplitude.bitPattern == other.amplitude.bitPattern
        && one.frequency.bitPattern == other.frequency.bitPattern
    }
  }
}

/// How the effects of a band are synthesised; in the order of their binary codes.
enum MPEGBandKind: Int, CaseIterable {
  case transient, curve, vectorial, wavelet

  /// The names in the text, in the same order.
  static let names = ["Transient", "Curve", "VectorialWave", "WaveletWave"]
}

/// How a curve runs between its keys; in the order of their binary codes.
enum MPEGCurveKind: Int, CaseIterable {
  case unknown, cubic, linear, akima, bezier, bSpline

  /// The names in the text, in the same order.
  static let names = ["Unknown", "Cubic", "Linear", "Akima", "Bezier", "BSpline"]
}

/// The shape of a vectorial wave; in the order of their binary codes.
enum MPEGBaseSignal: Int, CaseIterable {
  case sine, square, triangle, sawToothUp, sawToothDown

  /// The names in the text, in the same order.
  static let names = ["Sine", "Square", "Triangle", "SawToothUp", "SawToothDown"]
}

/// The sense that a perception is for; the first fourteen in the order of their binary codes.
enum MPEGModality: Int, CaseIterable {
  case other, pressure, acceleration, velocity, position, temperature, vibrotactile, water, wind
  case force, texture, stiffness, friction, electrotactile, humidity, temporal, spatial

  /// The names in the text, in the same order.
  static let names = [
    "Other", "Pressure", "Acceleration", "Velocity", "Position", "Temperature", "Vibrotactile", "Water", "Wind",
    "Force", "Vibrotactile Texture", "Stiffness", "Friction", "Electrotactile", "Humidity", "User-defined Temporal",
    "User-defined Spatial",
  ]

  /// How many have a binary code.
  static let codeCount = 14

  /// The name in the text.
  var name: String { Self.names[rawValue] }

  /// What becomes of a signal of this sense on an actuator that vibrates.
  enum Playing { case asItIs, asVibration, notAtAll }

  /// Positions of textures, stiffness and friction are places in space, so that no time has them.
  var playing: Playing {
    switch self {
    case .vibrotactile, .acceleration, .other, .temporal: .asItIs
    case .pressure, .velocity, .position, .force, .electrotactile: .asVibration
    case .temperature, .water, .wind, .humidity, .texture, .stiffness, .friction, .spatial: .notAtAll
    }
  }

  /// Whether positions are places in space.
  var isSpatial: Bool {
    switch self {
    case .texture, .stiffness, .friction, .spatial: true
    default: false
    }
  }
}
