/// What happened in a game, said by its meaning: gentle, brief, never punishing.
public enum SemanticEvent: String, CaseIterable, Sendable {
  /// A button was touched: a light tap.
  case buttonTap
  /// An answer was right: two rising taps.
  case correctAnswer
  /// A coin was earned: a firm tap.
  case coinEarned
  /// Not yet: two calm falling taps.
  case softFeedback
  /// Something great: two heavy taps.
  case celebration
  /// A choice changed: the faintest tick.
  case selectionChanged

  /// The pattern that is played.
  public var patternName: String {
    switch self {
    case .buttonTap: "bennie-button-tap"
    case .correctAnswer: "bennie-correct-answer"
    case .coinEarned: "bennie-coin-earned"
    case .softFeedback: "bennie-soft-feedback"
    case .celebration: "bennie-celebration"
    case .selectionChanged: "bennie-selection-changed"
    }
  }
}

/// The kinds of feedback in an application that teaches.
public enum FeedbackType: String, CaseIterable, Sendable {
  /// A light tap.
  case light
  /// A firm tap.
  case medium
  /// A heavy tap, for what matters.
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
  /// Three taps climb, a fourth blooms.
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

  /// The pattern that is played.
  public var patternName: String {
    switch self {
    case .light, .medium, .heavy, .selection, .success, .warning, .error, .celebration, .countdown: rawValue
    case .correctAnswer: "feedback-correct-answer"
    case .wrongAnswer: "feedback-wrong-answer"
    case .levelUp: "level-up"
    case .swipeDown: "swipe-down"
    case .swipeUp: "swipe-up"
    case .swipeHeavy: "swipe-heavy"
    }
  }
}
