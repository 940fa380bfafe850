internal import HapticFormats
internal import HapticModel

/// An Android vibration effect, such as a predefined effect, a waveform, or an envelope.
indirect enum VibrationEffect: Equatable, Sendable {
  /// A predefined vibration of the device, given by its name.
  case predefined(String)
  /// A sequence of primitives, which are predefined vibrations of the device.
  case primitives([Primitive])
  /// A sequence of constant levels that repeats from a step index, or once if the index is nil.
  case waveform([Step], repeatIndex: Int?)
  /// A level and a tone that are linear between control points, from level 0 on: intensity and
  /// sharpness in a basic envelope, amplitude and hertz in a waveform envelope.
  case envelope(isBasic: Bool, initial: Float?, [ControlPoint])
  /// A preamble, or nil for none, followed by an effect that repeats.
  case repeating(preamble: VibrationEffect?, VibrationEffect)

  /// A primitive of a sequence: a predefined vibration of the device, with a scale and a delay.
  struct Primitive: Equatable, Sendable {
    var name: String
    /// The factor that multiplies the strength of the device vibration, 0…1.
    var strengthFactor: Float = 1
    /// The delay before the primitive, in milliseconds.
    var delayMilliseconds = 0
    /// A Boolean value that indicates whether the delay starts with the preceding primitive.
    ///
    /// If false, the delay starts at the end of the preceding primitive.
    var delaysFromPreviousStart = false
  }

  /// A step: a vibration of constant amplitude.
  struct Step: Equatable, Sendable {
    /// The duration of the step, in milliseconds.
    var durationMilliseconds: Int
    /// The amplitude, 0…255, or nil for the default amplitude of the device.
    var amplitudeCode: Int?
  }

  /// A control point of an envelope: the end of one straight line.
  struct ControlPoint: Equatable, Sendable {
    /// The level at the end of the line, 0…1.
    var level: Float
    /// The sharpness, 0…1, or the frequency, in hertz, at the end of the line.
    var sharpnessOrHertz: Float
    /// The duration of the line that ends here, in milliseconds.
    var rampDurationMilliseconds: Int
  }

  /// Returns the names of an envelope's elements and attributes in vibration XML.
  static func xmlNames(isBasic: Bool) -> (
    element: String, initial: String, level: String, tone: String
  ) {
    isBasic
      ? ("basic-envelope-effect", "initialSharpness", "intensity", "sharpness")
      : ("waveform-envelope-effect", "initialFrequencyHz", "amplitude", "frequencyHz")
  }

  /// The maximum amplitude of a step in a waveform.
  static let maximumAmplitudeCode = 255
}
