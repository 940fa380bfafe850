public import HapticModel
public import HapticRender
public import Reading

extension PatternRules {
  /// The rules for errors that prevent the compilation of a composition, independent of its format.
  public static let compilationRules: [Rule] = [
    .invalidEventTime, .patternTooLong, .missingSound, .unsupportedSampleRate,
  ]
}

extension Rule {
  static let invalidEventTime = error(
    "event-time", "playback",
    "Times and values must be finite; times and durations must not be negative.")
  static let patternTooLong = error(
    "pattern-too-long", "playback",
    "A pattern can last at most one day and have at most 65,535 layers.")
  /// The rule for a sound file that cannot be read.
  public static let missingSound = error(
    "sound-missing", "playback",
    "The sound files of a pattern must be readable and inside its folder.")
  static let unsupportedSampleRate = error(
    "frame-rate", "playback", "The sample rate must be from 8 to 192 kHz.")

  /// Returns the rule for a compilation error.
  public init(of kind: RenderError.Kind) {
    self =
      switch kind {
      case .timeOutOfRange: .invalidEventTime
      case .patternTooLong, .tooManyLayers: .patternTooLong
      case .sampleMissing: .missingSound
      case .rateOutOfRange: .unsupportedSampleRate
      }
  }
}

extension InputError {
  /// Creates a finding for a compilation error at the location of the event.
  public init(_ error: RenderError, location: (CompositionElement) -> FileLocation) {
    let element = error.eventReference.map { CompositionElement.event($0) } ?? .composition
    self.init(Finding(Rule(of: error.kind), location: location(element), error.description))
  }
}
