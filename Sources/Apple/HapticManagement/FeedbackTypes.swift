/// A semantic event of a game.
///
/// Each event has a gentle and brief haptic that never punishes the player.
public enum SemanticEvent: String, CaseIterable, Sendable {
  /// A button was touched. The haptic is a light tap.
  case buttonTap
  /// An answer was correct. The haptic consists of two rising taps.
  case correctAnswer
  /// A coin was earned. The haptic is a firm tap.
  case coinEarned
  /// An answer was wrong. The haptic consists of two calm, falling taps.
  case softFeedback
  /// The player had a great success. The haptic consists of two heavy taps.
  case celebration
  /// A selection changed. The haptic is the faintest tick.
  case selectionChanged

  /// The name of the shipped pattern that the event plays.
  public var patternName: String { "bennie-" + rawValue.hyphenatedName }
}

/// A kind of feedback in an educational application.
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
  /// Four taps at uneven intervals.
  case error
  /// Two quick bright taps.
  case correctAnswer
  /// A dull knock that sags into a short, low hum.
  case wrongAnswer
  /// Three rising taps and a swelling fourth.
  case levelUp
  /// A rising rocket, followed by its sparks.
  case celebration
  /// One tick of a clock.
  case countdown
  /// A light tap, followed by a brush that sinks and fades.
  case swipeDown
  /// A brush that rises to a tap.
  case swipeUp
  /// A drag and a heavy stop.
  case swipeHeavy

  /// The name of the shipped pattern that the feedback plays.
  public var patternName: String {
    (self == .correctAnswer || self == .wrongAnswer ? "feedback-" : "") + rawValue.hyphenatedName
  }
}

extension String {
  /// The name in lowercase with hyphens, such as `level-up` for `levelUp`.
  fileprivate var hyphenatedName: String {
    map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }
}
