internal import SystemSupport

/// The state of an ABX test: in each trial, X is A or B at random, and the listener identifies it.
///
/// Trials are independent, so that previous trials give no information about later trials. Answers
/// are final.
public struct ABXTest: Sendable {
  /// A stimulus that the listener can select.
  public enum Source: String, CaseIterable, Sendable {
    /// The known stimulus A.
    case a
    /// The known stimulus B.
    case b
    /// The unknown stimulus X: A or B.
    case x

    /// The displayed letter.
    public var letter: String { rawValue.uppercased() }
  }

  /// The maximum seed: the largest integer that every JSON reader represents exactly.
  public static let maximumSeed: UInt64 = (1 << 53) - 1

  /// The seed of the random sequence.
  public let seed: UInt64
  /// The planned number of trials, or nil if the listener ends the test.
  public let plannedCount: Int?
  /// A Boolean value that indicates whether A and B are identical, so that the result is void.
  public var isVoid = false
  /// The answered trials.
  public private(set) var trials: [Trial] = []
  /// The identity of X in the current trial. Use it to play sound only; do not display it.
  public private(set) var x: Side
  private var generator: SplitMix64
  /// The selections in the current trial.
  private var switchCounts = SwitchCounts()
  /// The start of the current trial, in seconds from the start of the test.
  private var trialStart = 0.0

  /// Creates a test at its first trial.
  ///
  /// - Parameters:
  ///   - seed: The seed of the random sequence.
  ///   - plannedCount: The number of trials, at least 1, or nil if the listener ends the test.
  public init(seed: UInt64, plannedCount: Int?) {
    self.seed = seed
    self.plannedCount = plannedCount.map { max(1, $0) }
    generator = SplitMix64(seed: seed)
    x = generator.nextSide()
  }

  /// Returns a seed from the random source of the system.
  public static func randomSeed() -> UInt64 { UInt64.random(in: 0...maximumSeed) }

  /// The number of the current trial, from 1.
  public var trialNumber: Int { trials.count + 1 }

  /// A Boolean value that indicates whether all planned trials are answered.
  public var isOver: Bool { plannedCount.map { trials.count >= $0 } ?? false }

  /// A Boolean value that indicates whether X was selected in the current trial. Without listening
  /// to X, an answer is a guess.
  public var hasHeardX: Bool { switchCounts.x > 0 }

  /// The result of the answered trials.
  public var result: ABXResult {
    ABXResult(
      correctCount: trials.count(where: \.isCorrect), trialCount: trials.count,
      plannedCount: plannedCount, isVoid: isVoid)
  }

  /// Returns the take that plays for a source.
  public func side(of source: Source) -> Side {
    switch source {
    case .a: .a
    case .b: .b
    case .x: x
    }
  }

  /// Counts a selection of a source.
  public mutating func recordSwitch(to source: Source) {
    switch source {
    case .a: switchCounts.a += 1
    case .b: switchCounts.b += 1
    case .x: switchCounts.x += 1
    }
  }

  /// Records the answer of the current trial and starts the next trial. Has no effect after the end
  /// of the test.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - seconds: The time since the start of the test, in seconds.
  public mutating func answer(_ answer: Side, at seconds: Double) {
    guard !isOver else { return }
    trials.append(
      Trial(x: x, answer: answer, switchCounts: switchCounts, start: trialStart, end: seconds))
    switchCounts = SwitchCounts()
    trialStart = seconds
    x = generator.nextSide()
  }

  /// Returns the identities of X in the first trials of a seed, for simulated answers.
  public static func hiddenSides(seed: UInt64, count: Int) -> [Side] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in generator.nextSide() }
  }
}

/// An answered trial of an ABX test.
public struct Trial: Equatable, Sendable {
  /// The identity of X.
  public var x: Side
  /// The answer of the listener.
  public var answer: Side
  /// The numbers of selections of each source.
  public var switchCounts: SwitchCounts
  /// The time from the start of the test to the start of the trial, in seconds.
  public var start: Double
  /// The time from the start of the test to the answer, in seconds.
  public var end: Double

  /// A Boolean value that indicates whether the answer is correct.
  public var isCorrect: Bool { x == answer }
}

/// The numbers of selections of each source in a trial.
public struct SwitchCounts: Equatable, Sendable {
  /// The number of selections of A.
  public var a = 0
  /// The number of selections of B.
  public var b = 0
  /// The number of selections of X.
  public var x = 0

  /// Creates counts of 0.
  public init() {}
}

/// One of the two compared takes.
public enum Side: String, CaseIterable, Sendable {
  /// Take A.
  case a
  /// Take B.
  case b

  /// The other take.
  public var opposite: Side { self == .a ? .b : .a }

  /// The displayed letter.
  public var letter: String { rawValue.uppercased() }
}

extension SplitMix64 {
  /// Returns A if the most significant bit of the next number is 0, and B otherwise.
  fileprivate mutating func nextSide() -> Side { next() >> 63 == 0 ? .a : .b }
}
