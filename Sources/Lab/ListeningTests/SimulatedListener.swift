/// Answers that are determined before a test begins, so that no device and no keyboard are needed.
package struct SimulatedListener: Equatable, Sendable {
  /// A rule that determines the answers.
  package enum Strategy: String, CaseIterable, Sendable {
    case right
    case wrong
    /// A guess in each trial. The guesses also follow from the seed.
    case random
  }

  /// The mask that derives the seed of guesses from the seed of the test.
  private static let guessSeedMask: UInt64 = 0x5eed

  private let strategy: Strategy?
  private let fixedAnswers: [Side]

  /// Parses `right`, `wrong`, `random`, or a letter for each trial. Returns nil for any other text.
  package init?(_ text: String) {
    strategy = Strategy(rawValue: text)
    fixedAnswers =
      strategy == nil ? text.lowercased().compactMap { Side(rawValue: String($0)) } : []
    let areLetters = fixedAnswers.count == text.count && !fixedAnswers.isEmpty
    guard strategy != nil || areLetters else { return nil }
  }

  /// The number of fixed answers, or nil for a strategy.
  package var fixedAnswerCount: Int? { strategy == nil ? fixedAnswers.count : nil }

  /// Returns the answers of a test.
  ///
  /// - Parameters:
  ///   - seed: The seed of the test.
  ///   - count: The number of answers. Fixed answers can be fewer.
  package func answers(seed: UInt64, count: Int) -> [Side] {
    let hiddenSides = ABXTest.hiddenSides(seed: seed, count: count)
    switch strategy {
    case nil: return Array(fixedAnswers.prefix(count))
    case .right: return hiddenSides
    case .wrong: return hiddenSides.map(\.opposite)
    case .random: return ABXTest.hiddenSides(seed: seed ^ Self.guessSeedMask, count: count)
    }
  }
}
