/// One trial of a blind test that was answered.
public struct Trial: Equatable, Sendable {
  /// What X was.
  public var x: Side
  /// What the listener said it was.
  public var answer: Side
  /// How often each was listened to.
  public var listening: SwitchCounts
  /// Seconds from the beginning of the test to that of the trial.
  public var start: Double
  /// Seconds from the beginning of the test to the answer.
  public var end: Double

  /// Makes a trial.
  public init(x: Side, answer: Side, listening: SwitchCounts, start: Double, end: Double) {
    self.x = x
    self.answer = answer
    self.listening = listening
    self.start = start
    self.end = end
  }

  /// Whether the answer was right.
  public var isRight: Bool { x == answer }
}

/// How often a listener turned to each of the three.
public struct SwitchCounts: Equatable, Sendable {
  /// Times that A was chosen.
  public var a = 0
  /// Times that B was chosen.
  public var b = 0
  /// Times that X was chosen.
  public var x = 0

  /// Nothing was listened to.
  public init() {}
}
