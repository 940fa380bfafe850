/// What an Android vibration holds.
indirect enum VibrationEffect: Equatable, Sendable {
  /// A vibration of the device by name.
  case predefined(VibrationPrimitives.Predefined)
  /// Vibrations of the device one after the other.
  case primitives([Primitive])
  /// Levels that step; from an entry on they repeat, where there is one.
  case waveform([Step], repeatIndex: Int?)
  /// Intensity and sharpness along straight lines from intensity 0 on.
  case basicEnvelope(initialSharpness: Float?, [BasicPoint])
  /// Amplitude and frequency along straight lines from amplitude 0 on.
  case waveformEnvelope(initialHertz: Float?, [WaveformPoint])
  /// One effect, and another that repeats behind it.
  case repeating(preamble: VibrationEffect?, VibrationEffect)

  /// One vibration of the device.
  struct Primitive: Equatable, Sendable {
    var name: VibrationPrimitives.Primitive
    /// The factor on its strength, 0…1.
    var scale: Float = 1
    /// Milliseconds it waits.
    var delay = 0
    /// Whether it waits from the start of the one before, rather than from its end.
    var isFromStart = false
  }

  /// One level.
  struct Step: Equatable, Sendable {
    /// Milliseconds.
    var duration: Int
    /// 0…255, or nil for what the device takes where none is given.
    var amplitude: Int?
  }

  /// The end of one line of a basic envelope.
  struct BasicPoint: Equatable, Sendable {
    /// 0…1.
    var intensity: Float
    /// 0…1.
    var sharpness: Float
    /// Milliseconds of the line that ends here.
    var duration: Int
  }

  /// The end of one line of a waveform envelope.
  struct WaveformPoint: Equatable, Sendable {
    /// 0…1.
    var amplitude: Float
    var hertz: Float
    /// Milliseconds of the line that ends here.
    var duration: Int
  }

  /// The amplitude of full strength.
  static let fullAmplitude = 255
}

/// The names of vibration XML.
enum VibrationName: String, CaseIterable {
  // Those that a text has most of come first.
  case controlPoint = "control-point"
  case waveformEntry = "waveform-entry"
  case durationMs
  case intensity
  case sharpness
  case amplitude
  case frequencyHz
  case primitiveEffect = "primitive-effect"
  case name
  case scale
  case delayMs
  case delayType
  case initialSharpness
  case initialFrequencyHz
  case waveformEffect = "waveform-effect"
  case basicEnvelopeEffect = "basic-envelope-effect"
  case waveformEnvelopeEffect = "waveform-envelope-effect"
  case predefinedEffect = "predefined-effect"
  case repeatingEffect = "repeating-effect"
  case vendorEffect = "vendor-effect"
  case preamble
  case repeating
  case vibrationEffect = "vibration-effect"
  case vibration
  case vibrationSelect = "vibration-select"

  /// All names, for ``XMLTree``.
  static let texts = allCases.map(\.rawValue)

  /// The name with a number of the list.
  init?(number: Int16) {
    guard number >= 0, Int(number) < Self.allCases.count else { return nil }
    self = Self.allCases[Int(number)]
  }
}
