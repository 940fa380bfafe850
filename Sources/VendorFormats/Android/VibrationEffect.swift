internal import HapticFormats

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

  /// One level: small, since a large file has very many.
  struct Step: Equatable, Sendable {
    private var milliseconds: Int32
    /// −1 for the device's.
    private var level: Int16

    init(duration: Int, amplitude: Int?) {
      milliseconds = Int32(clamping: duration)
      level = amplitude.map { Int16(clamping: $0) } ?? -1
    }

    /// Milliseconds.
    var duration: Int {
      get { Int(milliseconds) }
      set { milliseconds = Int32(clamping: newValue) }
    }
    /// 0…255, or nil for what the device takes where none is given.
    var amplitude: Int? { level < 0 ? nil : Int(level) }
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

/// The names of vibration XML; the raw value is the number in ``texts``.
enum VibrationName: Int16, CaseIterable {
  // Those that a text has most of come first.
  case controlPoint, waveformEntry, durationMs, intensity, sharpness, amplitude, frequencyHz
  case primitiveEffect, name, scale, delayMs, delayType
  case initialSharpness, initialFrequencyHz
  case waveformEffect, basicEnvelopeEffect, waveformEnvelopeEffect, predefinedEffect
  case repeatingEffect, vendorEffect, preamble, repeating
  case vibrationEffect, vibration, vibrationSelect

  /// The names as texts have them, in the order of the cases.
  static let texts = [
    "control-point", "waveform-entry", "durationMs", "intensity", "sharpness", "amplitude", "frequencyHz",
    "primitive-effect", "name", "scale", "delayMs", "delayType", "initialSharpness", "initialFrequencyHz",
    "waveform-effect", "basic-envelope-effect", "waveform-envelope-effect", "predefined-effect", "repeating-effect",
    "vendor-effect", "preamble", "repeating", "vibration-effect", "vibration", "vibration-select",
  ]

  /// The name as texts have it.
  var text: String { Self.texts[Int(rawValue)] }

  /// A set of names with a bit for each.
  struct Names: OptionSet {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ names: VibrationName...) { rawValue = names.reduce(0) { $0 | 1 << UInt32($1.rawValue) } }

    /// The attributes of an element with points of a basic envelope.
    static let basicPoint = Names(.intensity, .sharpness, .durationMs)
    /// The attributes of an element with points of a waveform envelope.
    static let waveformPoint = Names(.amplitude, .frequencyHz, .durationMs)
    /// The attributes of a level.
    static let step = Names(.durationMs, .amplitude)
    /// The attributes of a primitive.
    static let primitive = Names(.name, .scale, .delayMs, .delayType)

    /// Whether a number is that of one of the names.
    func contains(number: Int16) -> Bool { number >= 0 && rawValue & 1 << UInt32(number) != 0 }

    /// The names as texts have them.
    var texts: [String] { VibrationName.allCases.filter { contains(number: $0.rawValue) }.map(\.text) }
  }
}
