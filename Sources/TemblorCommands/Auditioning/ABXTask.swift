import ReviewPages
import CommandLineKit
import HapticPlayback
import SystemSupport

/// A blind test under way: A, B and X under one play head, and keys that say which of the two X is.
///
/// Every change goes through silence, each trial begins with A from the beginning, and both takes run all the
/// time: nothing but the sound of X depends on what it is.
final class ABXTask: SessionTask {
  private let deck: TakeSwitcher
  private let gains: [Double]
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private(set) var test: ABXTest
  private var source = ABXTest.Source.a
  private var pending: Side?

  /// A test that begins with A.
  ///
  /// - Parameter gains: The factors of A and B.
  init(
    _ test: ABXTest, _ takes: PreparedTakes, gains: [Double], on engine: PlaybackEngine, region: ClosedRange<Double>?,
    gap: Double, session: LiveSession
  ) throws {
    self.test = test
    self.gains = gains
    self.engine = engine
    console = session.console
    deck = try TakeSwitcher(takes.pieces, on: engine, region: region, gap: gap, gains: AuditionTask.only(0, of: gains))
    self.test.note(.a)
  }

  var keys: [KeyHelp] {
    [
      KeyHelp(key: "a b x", meaning: "listen"), KeyHelp(key: "1", meaning: "X is A"),
      KeyHelp(key: "2", meaning: "X is B"), KeyHelp(key: "enter", meaning: "confirm the answer"),
    ] + TakeSwitcher.keys
  }

  var state: PlaybackStatus.State { deck.state }
  var place: (position: Double, duration: Double?) { deck.shownPlace }
  var isBlind: Bool { true }

  var title: SessionTitle? {
    let count = test.plannedCount.map { " of \($0)" } ?? ""
    let question = pending.map { "X is \($0.letter)? enter" }
    return SessionTitle(
      long: source.letter, short: source.letter,
      remarks: [question, "trial \(test.number)\(count)", deck.loopRemark].compactMap { $0 })
  }

  func perform(at now: Duration) throws -> SessionStep { test.isOver ? .over : .wait(nil) }

  func press(_ key: KeyPress) throws -> Bool {
    guard !test.isOver else { return false }
    if try deck.press(key) { return true }
    switch key {
    case .character("a"), .character("A"): try listen(to: .a)
    case .character("b"), .character("B"): try listen(to: .b)
    case .character("x"), .character("X"): try listen(to: .x)
    case .character("1"): propose(.a)
    case .character("2"): propose(.b)
    case .enter: try confirm()
    case .escape: pending = nil
    default: return false
    }
    return true
  }

  private func listen(to source: ABXTest.Source) throws {
    self.source = source
    test.note(source)
    try deck.setGainsViaSilence(gains(of: source))
  }

  private func propose(_ answer: Side) {
    guard test.hasHeardX else { return console.remark("Press x to listen to X first.") }
    pending = answer
  }

  private func confirm() throws {
    guard let answer = pending else { return console.remark("Answer first: 1 for A, 2 for B.") }
    pending = nil
    test.answer(answer, at: engine.seconds)
    guard !test.isOver else { return }
    source = .a
    test.note(.a)
    try deck.restartThroughSilence(gains(of: .a))
  }

  private func gains(of source: ABXTest.Source) -> [Double] {
    AuditionTask.only(test.side(of: source) == .a ? 0 : 1, of: gains)
  }
}

/// Answers that are made up before a test begins, so that no device and no keys are needed.
struct SimulatedListener: Equatable {
  enum Word: String, CaseIterable {
    case right
    case wrong
    /// Each is a guess; the guesses follow from the seed too.
    case random
  }

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
    answers.flatMap { answer -> [KeyPress] in [.character("x"), .character(answer == .a ? "1" : "2"), .enter] }
  }
}
