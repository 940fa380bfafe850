public import Foundation

extension HapticManager {
  /// Coins after which there is a celebration.
  public static let milestone = 5
  /// Seconds from a milestone's coin to its celebration.
  static let celebrationDelay = 0.5
  /// Seconds between two events of a test.
  static let testInterval = 1.0
  /// Seconds before the first event of a test, so that the engine gets it before its time.
  static let testDelay = 0.05

  /// An event of a test, with the time of the engine's clock at which it is felt.
  public struct TestStep: Equatable, Sendable {
    /// What is played; its raw value is its name.
    public var event: SemanticEvent
    /// Seconds on the engine's clock.
    public var time: TimeInterval
  }

  /// Plays what an event means.
  public func trigger(_ event: SemanticEvent) { play(event.patternName) }

  /// Plays a coin, and at every fifth coin a celebration half a second later.
  ///
  /// - Parameter total: Coins earned so far, this one included.
  public func earnCoin(total: Int) {
    guard total > 0, total.isMultiple(of: Self.milestone) else { return trigger(.coinEarned) }
    play([
      (SemanticEvent.coinEarned.patternName, 0),
      (SemanticEvent.celebration.patternName, Self.celebrationDelay),
    ])
  }

  /// One minute is left: a firm tap.
  public func warnOfTime() { play("medium") }

  /// Time is up: a firm tap.
  public func endTime() { play("medium") }

  /// Plays every event, one second apart.
  ///
  /// - Returns: The names and when each is felt, for a display; nothing where the switch is off.
  @discardableResult
  public func testAll() -> [TestStep] {
    guard isEnabled else { return [] }
    let start = currentTime + Self.testDelay
    let steps = SemanticEvent.allCases.enumerated().map { index, event in
      TestStep(event: event, time: start + Double(index) * Self.testInterval)
    }
    play(steps.map { ($0.event.patternName, $0.time - start) }, at: start)
    return steps
  }
}
