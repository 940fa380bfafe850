/// The meaning of a game event, with a gentle and brief haptic that never punishes.
public enum SemanticEvent: String, CaseIterable, Sendable {
  /// A button was touched: a light tap.
  case buttonTap
  /// An answer was correct: two rising taps.
  case correctAnswer
  /// A coin was earned: a firm tap.
  case coinEarned
  /// A wrong answer: two calm, falling taps.
  case softFeedback
  /// A great success: two heavy taps.
  case celebration
  /// A selection changed: the faintest tick.
  case selectionChanged

  /// The name of the pattern that is played.
  public var patternName: String { "bennie-" + rawValue.hyphenated }
}

/// The kinds of feedback in an educational application.
public enum FeedbackType: String, CaseIterable, Sendable {
  /// A light tap.
  case light
  /// A firm tap.
  case medium
  /// A heavy tap, for important feedback.
  case heavy
  /// The faintest tick.
  case selection
  /// Two rising taps.
  case success
  /// Two falling taps.
  case warning
  /// Four uneven taps.
  case error
  /// Two quick bright taps.
  case correctAnswer
  /// A dull knock that sags.
  case wrongAnswer
  /// Three rising taps and a swelling fourth.
  case levelUp
  /// A rocket and its sparks.
  case celebration
  /// One tick of a clock.
  case countdown
  /// A tap that sinks.
  case swipeDown
  /// A brush that rises to a tap.
  case swipeUp
  /// A drag and a heavy stop.
  case swipeHeavy

  /// The name of the pattern that is played.
  public var patternName: String {
    (self == .correctAnswer || self == .wrongAnswer ? "feedback-" : "") + rawValue.hyphenated
  }
}

extension String {
  /// The name with hyphens: `level-up` for `levelUp`.
  fileprivate var hyphenated: String {
    map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }
}
