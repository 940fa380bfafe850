import BlindListening
import CommandLineKit
import SystemSupport

/// Answers that are made up before a test begins, so that no device and no keys are needed.
struct SimulatedListener: Equatable {
  /// The words that stand for a whole test.
  enum Word: String, CaseIterable {
    /// All answers are right.
    case right
    /// All are wrong.
    case wrong
    /// Each is a guess; the guesses follow from the seed too.
    case random
  }

  /// Kept apart from the draws of the test.
  private static let guessing: UInt64 = 0x5eed

  private let word: Word?
  private let letters: [Side]

  /// Reads `right`, `wrong`, `random`, or a letter for each trial.
  init(_ text: String) throws(UsageError) {
    word = Word(rawValue: text)
    letters = word == nil ? text.lowercased().compactMap { Side(rawValue: String($0)) } : []
    guard word != nil || (letters.count == text.count && !letters.isEmpty) else {
      throw UsageError(
        .invalidValue,
        "'--simulate' takes \(Word.allCases.map(\.rawValue).joinedWithOr), or one letter per trial, such as 'abba', not \(text.inQuotes)"
      )
    }
  }

  /// How many trials the answers are for, where they say so.
  var count: Int? { word == nil ? letters.count : nil }

  /// The answers to the trials of a seed.
  func answers(seed: UInt64, count: Int) -> [Side] {
    let draws = ABXTest.draws(seed: seed, count: count)
    switch word {
    case nil: return Array(letters.prefix(count))
    case .right: return draws
    case .wrong: return draws.map(\.other)
    case .random: return ABXTest.draws(seed: seed ^ Self.guessing, count: count)
    }
  }

  /// The keys that give answers: for each trial X is listened to, then the answer, then its confirmation.
  static func keys(for answers: [Side]) -> [KeyPress] {
    answers.flatMap { answer -> [KeyPress] in
      [.character("x"), .character(answer == .a ? "1" : "2"), .enter]
    }
  }
}
