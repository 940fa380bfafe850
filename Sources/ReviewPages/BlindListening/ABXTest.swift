internal import SystemSupport

/// A blind test under way: in each trial X is A or B by chance, and the listener says which.
///
/// Every trial is drawn by itself, so that earlier ones say nothing about later ones. Answers are final.
public struct ABXTest: Sendable {
  /// One of the three that can be listened to.
  public enum Source: String, CaseIterable, Sendable {
    /// The first, known.
    case a
    /// The second, known.
    case b
    /// One of the two, unknown.
    case x

    /// The letter people read.
    public var letter: String { rawValue.uppercased() }
  }

  /// The greatest seed: every reader of JSON holds it exactly.
  public static let greatestSeed: UInt64 = (1 << 53) - 1

  /// What the draws follow from.
  public let seed: UInt64
  /// Trials that were agreed on, or nil where the listener ends the test.
  public let plannedCount: Int?
  /// The trials that were answered.
  public private(set) var trials: [Trial] = []
  /// What X is in the running trial; for the sound alone, never to be shown.
  public private(set) var x: Side
  private var numbers: SplitMix64
  private var switchCounts = SwitchCounts()
  private var start = 0.0

  /// A test before its first trial.
  ///
  /// - Parameters:
  ///   - seed: Decides the order of the trials.
  ///   - plannedCount: At least 1, or nothing for a test that the listener ends.
  public init(seed: UInt64, plannedCount: Int?) {
    self.seed = seed
    self.plannedCount = plannedCount.map { max(1, $0) }
    numbers = SplitMix64(seed: seed)
    x = numbers.nextSide()
  }

  /// A seed by the system's chance.
  public static func randomSeed() -> UInt64 {
    var system = SystemRandomNumberGenerator()
    return system.next() & greatestSeed
  }

  /// The number of the running trial, from 1.
  public var number: Int { trials.count + 1 }

  /// Whether all trials are answered.
  public var isOver: Bool { plannedCount.map { trials.count >= $0 } ?? false }

  /// Whether X was listened to in the running trial, without which an answer is only a guess.
  public var hasHeardX: Bool { switchCounts.x > 0 }

  /// What has been found so far.
  public var result: ABXResult {
    ABXResult(correctCount: trials.count(where: \.isCorrect), trialCount: trials.count, plannedCount: plannedCount)
  }

  /// What is heard where one of the three is chosen.
  public func side(of source: Source) -> Side {
    switch source {
    case .a: .a
    case .b: .b
    case .x: x
    }
  }

  /// Counts that the listener turned to one of the three.
  public mutating func note(_ source: Source) {
    switch source {
    case .a: switchCounts.a += 1
    case .b: switchCounts.b += 1
    case .x: switchCounts.x += 1
    }
  }

  /// Takes the answer of the running trial and draws the next; does nothing when the test is over.
  ///
  /// - Parameters:
  ///   - answer: What the listener takes X for.
  ///   - seconds: Since the beginning of the test.
  public mutating func answer(_ answer: Side, at seconds: Double) {
    guard !isOver else { return }
    trials.append(Trial(x: x, answer: answer, switchCounts: switchCounts, start: start, end: seconds))
    switchCounts = SwitchCounts()
    start = seconds
    x = numbers.nextSide()
  }

  /// What X is in the first trials of a seed: for simulated answers.
  public static func draws(seed: UInt64, count: Int) -> [Side] {
    var numbers = SplitMix64(seed: seed)
    return (0..<count).map { _ in numbers.nextSide() }
  }
}

/// One trial of a blind test that was answered.
public struct Trial: Equatable, Sendable {
  /// What X was.
  public var x: Side
  /// What the listener said it was.
  public var answer: Side
  /// How often each was listened to.
  public var switchCounts: SwitchCounts
  /// Seconds from the beginning of the test to that of the trial.
  public var start: Double
  /// Seconds from the beginning of the test to the answer.
  public var end: Double

  /// Makes a trial.
  public init(x: Side, answer: Side, switchCounts: SwitchCounts, start: Double, end: Double) {
    self.x = x
    self.answer = answer
    self.switchCounts = switchCounts
    self.start = start
    self.end = end
  }

  /// Whether the answer was right.
  public var isCorrect: Bool { x == answer }
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

/// One of the two things that are resolved.
public enum Side: String, CaseIterable, Sendable {
  /// The first.
  case a
  /// The second.
  case b

  /// The other one.
  public var other: Side {
    switch self {
    case .a: .b
    case .b: .a
    }
  }

  /// The letter people read.
  public var letter: String { rawValue.uppercased() }
}

extension SplitMix64 {
  /// The next of the two sides: A where the highest bit is 0.
  fileprivate mutating func nextSide() -> Side { next() >> 63 == 0 ? .a : .b }
}
