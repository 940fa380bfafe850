public import Foundation

/// Rhythms are one pattern each, so that no timer and no delay of the output moves their taps.
extension HapticManager {
  /// The most taps of a rhythm; those beyond are left out.
  public static let maximumTapCount = 64
  /// The longest rhythm in seconds; taps beyond are left out.
  public static let longestRhythm = 60.0

  /// Plays one kind of feedback.
  public func play(_ type: FeedbackType) { play(type.patternName) }

  /// Two firm taps, at 0 and 0.1 s.
  public func doubleTap() { play("double-tap") }

  /// Three firm taps, at 0, 0.1 and 0.175 s.
  public func tripleTap() { play("triple-tap") }

  /// Firm taps at 0 and 0.1 s, a heavy one at 0.25 s.
  public func successRhythm() { play("success-rhythm") }

  /// An even row of light taps.
  ///
  /// - Parameter interval: Seconds from tap to tap.
  public func pulse(count: Int = 1, interval: TimeInterval = 0.25) {
    let count = min(max(count, 0), Self.maximumTapCount)
    tap(.light, at: (0..<count).map { Double($0) * interval })
  }

  /// A tap at each of some times.
  ///
  /// - Parameter timings: Milliseconds from now, in any order.
  public func triggerPattern(_ timings: [Double], style: FeedbackType = .medium) {
    tap(style, at: timings.map { $0 / 1_000 })
  }

  private func tap(_ style: FeedbackType, at times: [TimeInterval]) {
    let usable = times.filter { (0...Self.longestRhythm).contains($0) }
    play(usable.prefix(Self.maximumTapCount).map { (style.patternName, $0) })
  }
}
