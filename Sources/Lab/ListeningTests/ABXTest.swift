internal import SystemSupport

/// An ABX test in progress, in which a listener identifies a hidden take.
///
/// In each trial, X is either A or B at random, and the listener decides which.
///
/// Each trial is drawn independently, so that earlier trials give no information about later
/// trials. Answers are final.
public struct ABXTest: Sendable {
  /// A sound that the listener can select.
  public enum SoundSelection: String, CaseIterable, Sendable {
    /// Take A, the first take.
    case a
    /// Take B, the second take.
    case b
    /// X: one of the two takes, unknown to the listener.
    case x

    /// The letter that identifies the sound for people.
    public var letter: String { rawValue.uppercased() }
  }

  /// The maximum seed, which every JSON reader represents exactly.
  public static let maximumSeed: UInt64 = (1 << 53) - 1

  /// The seed of the random sequence of hidden takes.
  public let seed: UInt64
  /// The planned number of trials, or nil if the listener ends the test.
  public let plannedTrialCount: Int?
  /// A Boolean value that indicates whether takes A and B are identical.
  ///
  /// If they are, the result is void.
  public var isVoid = false
  /// The trials with the listener's answers so far.
  public private(set) var trials: [Trial] = []
  /// The hidden take X of the current trial.
  ///
  /// The take selects the sound and is never shown.
  public private(set) var hiddenTake: ABXTake
  private var randomGenerator: SplitMix64
  private var switchCounts = SwitchCounts()
  private var trialStartSeconds = 0.0

  /// Creates a test before its first trial.
  ///
  /// - Parameters:
  ///   - seed: The seed of the random draws.
  ///   - plannedTrialCount: The planned number of trials, at least 1, or nil if the listener ends
  ///     the test.
  public init(seed: UInt64, plannedTrialCount: Int?) {
    self.seed = seed
    self.plannedTrialCount = plannedTrialCount.map { max(1, $0) }
    randomGenerator = SplitMix64(seed: seed)
    hiddenTake = randomGenerator.nextTake()
  }

  /// Returns a random seed.
  public static func randomSeed() -> UInt64 { UInt64.random(in: 0...maximumSeed) }

  /// The number of the current trial, from 1.
  public var currentTrialNumber: Int { trials.count + 1 }

  /// A Boolean value that indicates whether all planned trials are answered.
  public var isFinished: Bool { plannedTrialCount.map { trials.count >= $0 } ?? false }

  /// A Boolean value that indicates whether the listener has selected X in the current trial.
  ///
  /// Without X, an answer is only a guess.
  public var hasHeardX: Bool { switchCounts.x > 0 }

  /// The result of the answered trials.
  public var result: ABXResult {
    ABXResult(
      correctAnswerCount: trials.count(where: \.isCorrect), trialCount: trials.count,
      plannedTrialCount: plannedTrialCount, isVoid: isVoid)
  }

  /// Returns the take that plays for a selection.
  public func take(for selection: SoundSelection) -> ABXTake {
    switch selection {
    case .a: .a
    case .b: .b
    case .x: hiddenTake
    }
  }

  /// Counts the selection of a sound by the listener.
  public mutating func recordSwitch(to selection: SoundSelection) {
    switch selection {
    case .a: switchCounts.a += 1
    case .b: switchCounts.b += 1
    case .x: switchCounts.x += 1
    }
  }

  /// Records the answer of the current trial, and draws the next trial.
  ///
  /// The method has no effect after the end of the test.
  ///
  /// - Parameters:
  ///   - answer: The answer of the listener.
  ///   - seconds: The time since the beginning of the test, in seconds.
  public mutating func recordAnswer(_ answer: ABXTake, at seconds: Double) {
    guard !isFinished else { return }
    trials.append(
      Trial(
        hiddenTake: hiddenTake, answer: answer, switchCounts: switchCounts,
        startSeconds: trialStartSeconds, endSeconds: seconds))
    switchCounts = SwitchCounts()
    trialStartSeconds = seconds
    hiddenTake = randomGenerator.nextTake()
  }

  /// Returns the hidden take X of each trial in a test with a seed.
  ///
  /// Simulated answers are derived from these takes.
  public static func hiddenTakes(seed: UInt64, count: Int) -> [ABXTake] {
    var randomGenerator = SplitMix64(seed: seed)
    return (0..<count).map { _ in randomGenerator.nextTake() }
  }
}

/// An answered trial of a blind test.
public struct Trial: Equatable, Sendable {
  /// The take that was hidden as X.
  public var hiddenTake: ABXTake
  /// The take that the listener chose as X.
  public var answer: ABXTake
  /// The number of times that the listener selected each sound in the trial.
  public var switchCounts: SwitchCounts
  /// The start of the trial, in seconds since the beginning of the test.
  public var startSeconds: Double
  /// The time of the answer, in seconds since the beginning of the test.
  public var endSeconds: Double

  /// A Boolean value that indicates whether the answer is correct.
  public var isCorrect: Bool { hiddenTake == answer }
}

/// The number of times that a listener selected each sound.
public struct SwitchCounts: Equatable, Sendable {
  /// The number of selections of A.
  public var a = 0
  /// The number of selections of B.
  public var b = 0
  /// The number of selections of X.
  public var x = 0

  /// Creates selection counts of zero.
  public init() {}
}

/// A take of a blind test: A or B.
public enum ABXTake: String, CaseIterable, Sendable {
  /// Take A, the first take.
  case a
  /// Take B, the second take.
  case b

  /// The other take of the pair.
  public var opposite: ABXTake { self == .a ? .b : .a }

  /// The letter that identifies the take for people.
  public var letter: String { rawValue.uppercased() }
}

extension SplitMix64 {
  /// Returns a random take: A if the highest bit of the random number is 0.
  fileprivate mutating func nextTake() -> ABXTake { next() >> 63 == 0 ? .a : .b }
}
