public import Reading
public import HapticModel
public import HapticRender

extension PatternRules {
  /// What keeps a composition from being compiled, whatever its format.
  public static let refusals: [Rule] = [.eventTime, .patternTooLong, .soundMissing, .frameRate]
}

extension Rule {
  static let eventTime = error(
    "event-time", "playback", "Times and values must be finite; times and durations must not be negative.")
  static let patternTooLong = error(
    "pattern-too-long", "playback", "A pattern may last at most a day and have at most 65,535 layers.")
  /// A sound file that cannot be read.
  public static let soundMissing = error(
    "sound-missing", "playback", "The sound files of a pattern must be readable and in its folder.")
  static let frameRate = error("frame-rate", "playback", "The sample rate must be from 8 to 192 kHz.")

  /// The rule behind a refusal to compile.
  public init(of kind: RenderError.Kind) {
    self =
      switch kind {
      case .timeOutOfRange: .eventTime
      case .patternTooLong, .tooManyLayers: .patternTooLong
      case .sampleMissing: .soundMissing
      case .rateOutOfRange: .frameRate
      }
  }
}

extension InputError {
  /// A refusal to compile, at the place of the event that is refused.
  public init(_ error: RenderError, places: (CompositionElement) -> SourcePlace) {
    let element = error.event.map { CompositionElement.event($0) } ?? .composition
    self.init(Finding(Rule(of: error.kind), place: places(element), error.description))
  }
}
