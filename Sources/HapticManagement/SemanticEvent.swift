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
