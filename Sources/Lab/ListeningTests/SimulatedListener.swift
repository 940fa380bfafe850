/// A simulated listener with predetermined answers to a blind test.
///
/// The test needs neither a device nor a keyboard.
package struct SimulatedListener: Equatable, Sendable {
  /// A rule that determines a simulated listener's answers.
  package enum Strategy: String, CaseIterable, Sendable {
    case right
    case wrong
    /// A random guess in each trial.
    ///
    /// The guesses are derived from the seed of the test.
    case random
  }

  /// The bit mask that derives the seed of the guesses from the seed of the test.
  private static let guessSeedMask: UInt64 = 0x5eed

  private let strategy: Strategy?
  private let fixedAnswers: [ABXTake]

  /// Parses a rule: `right`, `wrong`, `random`, or a letter for each trial.
  ///
  /// Returns nil for any other text.
  package init?(_ text: String) {
    strategy = Strategy(rawValue: text)
    fixedAnswers =
      strategy == nil ? text.lowercased().compactMap { ABXTake(rawValue: String($0)) } : []
    let hasOnlyTakeLetters = fixedAnswers.count == text.count && !fixedAnswers.isEmpty
    guard strategy != nil || hasOnlyTakeLetters else { return nil }
  }

  /// The number of listed answers, or nil for the rules `right`, `wrong`, and `random`.
  package var fixedAnswerCount: Int? { strategy == nil ? fixedAnswers.count : nil }

  /// Returns the simulated answers for a test.
  ///
  /// - Parameters:
  ///   - seed: The seed of the test.
  ///   - count: The number of answers. Fixed answers can be fewer.
  package func answers(seed: UInt64, count: Int) -> [ABXTake] {
    let hiddenTakes = ABXTest.hiddenTakes(seed: seed, count: count)
    switch strategy {
    case nil: return Array(fixedAnswers.prefix(count))
    case .right: return hiddenTakes
    case .wrong: return hiddenTakes.map(\.opposite)
    case .random: return ABXTest.hiddenTakes(seed: seed ^ Self.guessSeedMask, count: count)
    }
  }
}
