internal import HapticFormats
import Reading

/// A haptic experience of ISO/IEC 23090-31, as its text (HJIF) and its binary file (HMPG) hold it.
///
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

  /// A body, or part of one, that is touched.
  struct Avatar: Equatable, Sendable {
    var id = 0
    var place = 0
  }

  /// A signal of one sense.
  struct Perception: Equatable, Sendable {
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
  struct Channel: Equatable, Sendable {
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
  struct Band: Equatable, Sendable {
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
  struct Effect: Equatable, Sendable {
    enum Kind: Int, JSONWord {
      case basis, reference, composite

      var word: String { ["Basis", "Reference", "Composite"][rawValue] }
    }

    var kind = Kind.basis
    /// Of a reference, the effect of the library that it stands for.
    var id: Int?
    /// Ticks from the start, or from the start of the composite effect.
    var position = 0
    /// Radians.
    var phase = 0.0
    var signal = MPEGBaseSignal.sine
    /// Whether phase and shape are written.
    var isWave = false
    var keys: [Key] = []
    var children: [Effect] = []
    /// The bits of a wavelet block, those of a byte from the least significant on.
    var stream: [UInt8] = []
    var semantics: String?
    var place = 0
  }

  /// A corner of an effect.
  struct Key: Equatable, Sendable {
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
enum MPEGBandKind: Int, JSONWord {
  case transient, curve, vectorial, wavelet

  var word: String { ["Transient", "Curve", "VectorialWave", "WaveletWave"][rawValue] }
}

/// How a curve runs between its keys; in the order of their binary codes.
enum MPEGCurveKind: Int, JSONWord {
  case unknown, cubic, linear, akima, bezier, bSpline

  var word: String { ["Unknown", "Cubic", "Linear", "Akima", "Bezier", "BSpline"][rawValue] }
}

/// The shape of a vectorial wave; in the order of their binary codes.
enum MPEGBaseSignal: Int, JSONWord {
  case sine, square, triangle, sawToothUp, sawToothDown

  var word: String { ["Sine", "Square", "Triangle", "SawToothUp", "SawToothDown"][rawValue] }
}

/// The sense that a perception is for; the first fourteen in the order of their binary codes.
enum MPEGModality: Int, JSONWord {
  case other, pressure, acceleration, velocity, position, temperature, vibrotactile, water, wind
  case force, texture, stiffness, friction, electrotactile, humidity, temporal, spatial

  var word: String {
    [
      "Other", "Pressure", "Acceleration", "Velocity", "Position", "Temperature", "Vibrotactile",
      "Water", "Wind",
      "Force", "Vibrotactile Texture", "Stiffness", "Friction", "Electrotactile", "Humidity",
      "User-defined Temporal",
      "User-defined Spatial",
    ][rawValue]
  }

  /// How many have a binary code.
  static let codeCount = 14

  /// What becomes of a signal of this sense on an actuator that vibrates.
  enum Playing { case asItIs, asVibration, notAtAll }

  /// Positions of textures, stiffness and friction are places in space, so that no time has them.
  var playing: Playing {
    switch self {
    case .vibrotactile, .acceleration, .other, .temporal: .asItIs
    case .pressure, .velocity, .position, .force, .electrotactile: .asVibration
    case .temperature, .water, .wind, .humidity, .texture, .stiffness, .friction, .spatial:
      .notAtAll
    }
  }
}

/// The rules of the two files.
extension Rule {
  /// The rules of the text, in the order in which they are listed.
  static let hjif: [Rule] =
    [
      .syntax, .hjifTrailingComma, .hjifByteOrderMark, .hjifDuplicateKey, .hjifStructure, .wrongType, .hjifMissingKey,
      .unknownKey, .hjifUnknownName, .hjifFormerName, .hjifVersion, .hjifDate, .hjifOutOfRange, .hjifWholeNumber,
      .hjifWaveletStream,
    ] + mpeg
  /// Those of the binary file.
  static let hmpg: [Rule] =
    [
      .hmpgTruncated, .hmpgStream, .hmpgUnknownPacket, .hmpgLeftOver, .hmpgChecksum, .hmpgUnknownID, .hmpgUnknownCode,
      .hmpgCount,
    ] + mpeg
  /// Those of both.
  private static let mpeg: [Rule] = [
    .mpegUnknownReference, .mpegDuplicateID, .mpegMissingKeys, .mpegMissingAmplitude, .mpegMissingFrequency,
    .mpegKeyOrder, .mpegFrequencyOutsideBand, .mpegClamped, .mpegBlockLength, .mpegTooLarge,
  ]

  static let mpegUnknownReference = warning(
    "unknown-reference", "grammar",
    "A Reference effect must name an effect of its perception's library; others are silent.")
  static let mpegDuplicateID = warning(
    "duplicate-id", "grammar", "Effects of a library should have ids of their own; the first of two is used.")
  static let mpegMissingKeys = warning(
    "missing-keyframes", "grammar",
    "A Basis effect should have the key frames that its band needs; without them it is silent.")
  static let mpegMissingAmplitude = warning(
    "missing-amplitude", "grammar", "Key frames of transients and curves must have an amplitude; others are ignored.")
  static let mpegMissingFrequency = warning(
    "missing-frequency", "grammar", "A vectorial wave must have a key frame with a frequency; others are silent.")
  static let mpegKeyOrder = warning(
    "keyframe-order", "compatibility", "Key frames should be sorted by position; others are sorted on reading.")
  static let mpegFrequencyOutsideBand = warning(
    "frequency-outside-band", "range", "Frequencies should be within the limits of their band; others are clamped.")
  static let mpegClamped = warning(
    "clamped", "range", "Amplitudes and frequencies should be within those of the profile mpeg; others are clamped.")
  static let mpegBlockLength = warning(
    "block-length", "range", "A wavelet band must have blocks of a power of two samples, 4 to 4096; others are silent.")
  static let mpegTooLarge = error(
    "too-large", "range", "The effects, with all that they refer to, must not be too many or too long to be played.")

  static let hjifTrailingComma = warning(
    "trailing-comma", "syntax", "A comma before a closing bracket is not valid JSON.")
  static let hjifByteOrderMark = warning("byte-order-mark", "syntax", "A byte-order mark is not valid in JSON.")
  static let hjifDuplicateKey = warning(
    "duplicate-key", "syntax", "A key should appear only once in an object; Temblor uses the last one.")
  static let hjifStructure = error(
    "structure", "grammar", "The file must be an object with perceptions, their channels, bands and effects.")
  static let hjifMissingKey = warning(
    "missing-key", "grammar", "An object should have the keys that the schema of ISO/IEC 23090-31 requires.")
  static let hjifUnknownName = warning(
    "unknown-name", "grammar", "A name must be one that the schema lists; types of bands and effects must be known.")
  static let hjifFormerName = note(
    "former-name", "compatibility", "Names of drafts of the standard are read; the reference software refuses them.")
  static let hjifVersion = note(
    "version", "compatibility", "The version should be 2023 or later; files of drafts are read.")
  static let hjifDate = note("date", "compatibility", "The date should be in the form of ISO 8601.")
  static let hjifOutOfRange = warning(
    "out-of-range", "range", "A value should be within its range; others are clamped.")
  static let hjifWholeNumber = warning("whole-number", "range", "Ticks and ids are whole numbers; others are rounded.")
  static let hjifWaveletStream = error(
    "wavelet-stream", "grammar", "A wavelet stream must be a text of letters, digits, + and /, six bits each.")

  static let hmpgTruncated = error("truncated", "syntax", "Units, packets and their fields must be complete.")
  static let hmpgStream = error(
    "structure", "syntax", "The file must be units of packets, an initialization unit with its timing first.")
  static let hmpgUnknownPacket = warning("unknown-packet", "syntax", "Packets of unknown types are skipped.")
  static let hmpgLeftOver = note("left-over", "syntax", "A packet should end with its last field and zero bits.")
  static let hmpgChecksum = warning("crc", "syntax", "Checksums should be those of the packets before them.")
  static let hmpgUnknownID = error(
    "unknown-id", "grammar", "Packets must name perceptions, channels and bands that were described before.")
  static let hmpgUnknownCode = error("unknown-code", "grammar", "Codes of types must be known.")
  static let hmpgCount = warning(
    "count", "grammar", "There should be as many perceptions, channels and bands as the file announces.")
}
