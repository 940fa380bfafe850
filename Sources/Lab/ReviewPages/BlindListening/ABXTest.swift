internal import Reading
package import SystemSupport

/// A blind test under way: in each trial X is A or B by chance, and the listener says which.
///
/// Every trial is drawn by itself, so that earlier ones say nothing about later ones. Answers are
/// final.
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
  public static let maximumSeed: UInt64 = (1 << 53) - 1

  /// What the draws follow from.
  public let seed: UInt64
  /// Trials that were agreed on, or nil where the listener ends the test.
  public let plannedCount: Int?
  /// Whether A and B are identical, sample for sample, so that the result is void.
  public var isVoid = false
  /// The trials that were answered.
  public private(set) var trials: [Trial] = []
  /// What X is in the running trial; for the sound alone, never to be shown.
  public private(set) var x: Side
  private var generator: SplitMix64
  private var switchCounts = SwitchCounts()
  private var trialStart = 0.0

  /// A test before its first trial, of a planned count of at least 1, or of nil where the listener
  /// ends it.
  public init(seed: UInt64, plannedCount: Int?) {
    self.seed = seed
    self.plannedCount = plannedCount.map { max(1, $0) }
    generator = SplitMix64(seed: seed)
    x = generator.nextSide()
  }

  /// A seed by the system's chance.
  public static func randomSeed() -> UInt64 { UInt64.random(in: 0...maximumSeed) }

  /// The number of the running trial, from 1.
  public var trialNumber: Int { trials.count + 1 }

  /// Whether all trials are answered.
  public var isOver: Bool { plannedCount.map { trials.count >= $0 } ?? false }

  /// Whether X was listened to in the running trial, without which an answer is only a guess.
  public var hasHeardX: Bool { switchCounts.x > 0 }

  /// What has been found so far.
  public var result: ABXResult {
    ABXResult(
      correctCount: trials.count(where: \.isCorrect), trialCount: trials.count,
      plannedCount: plannedCount,
      isVoid: isVoid)
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
  public mutating func recordSwitch(to source: Source) {
    switch source {
    case .a: switchCounts.a += 1
    case .b: switchCounts.b += 1
    case .x: switchCounts.x += 1
    }
  }

  /// Takes the answer of the running trial, in seconds since the beginning of the test, and draws
  /// the next; does nothing when the test is over.
  public mutating func answer(_ answer: Side, at seconds: Double) {
    guard !isOver else { return }
    trials.append(
      Trial(x: x, answer: answer, switchCounts: switchCounts, start: trialStart, end: seconds))
    switchCounts = SwitchCounts()
    trialStart = seconds
    x = generator.nextSide()
  }

  /// What X is in the first trials of a seed: for simulated answers.
  public static func hiddenSides(seed: UInt64, count: Int) -> [Side] {
    var numbers = SplitMix64(seed: seed)
    return (0..<count).map { _ in numbers.nextSide() }
  }
}

/// One trial of a blind test that was answered.
public struct Trial: Equatable, Sendable {
  /// What X was, and what the listener said it was.
  public var x, answer: Side
  /// How often each was listened to.
  public var switchCounts: SwitchCounts
  /// Seconds from the beginning of the test to that of the trial, and to the answer.
  public var start, end: Double

  /// Whether the answer was right.
  public var isCorrect: Bool { x == answer }
}

/// How often a listener turned to each of the three.
public struct SwitchCounts: Equatable, Sendable {
  /// Times that each was chosen.
  public var a = 0, b = 0, x = 0

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
  public var opposite: Side { self == .a ? .b : .a }

  /// The letter people read.
  public var letter: String { rawValue.uppercased() }
}

extension SplitMix64 {
  /// The next of the two sides: A where the highest bit is 0.
  fileprivate mutating func nextSide() -> Side { next() >> 63 == 0 ? .a : .b }
}

/// The result of a blind test, as numbers and as a sentence.
///
/// The words follow from the three counts alone, by the rules of <doc:BlindListening>.
public struct ABXResult: Equatable, Sendable {
  /// What can be said.
  public enum Conclusion: String, Sendable {
    /// A and B are identical.
    case identical
    /// Nothing was answered.
    case nothing
    /// Not even all right answers would be rare by guessing.
    case tooFewTrials
    /// At most 1 % of guessers do as well.
    case highlySignificant
    /// At most 5 % of guessers do as well.
    case significant
    /// At most 5 % of guessers do as badly.
    case belowChance
    /// Guessing explains it.
    case notSignificant
  }

  /// The p-value up to which a result is significant.
  public static let significantPValue = 0.05
  /// The p-value up to which it is highly significant.
  public static let highlySignificantPValue = 0.01
  /// The fewest trials of which all right are rare: 1 in 32.
  public static let minimumTrialCount = 5

  /// Right answers.
  public var correctCount: Int
  /// Answers.
  public var trialCount: Int
  /// Trials that were agreed on, or nil where the listener ended the test.
  public var plannedCount: Int?
  /// Whether A and B are identical, so that answers say nothing.
  public var isVoid: Bool

  /// Makes a result.
  public init(correctCount: Int, trialCount: Int, plannedCount: Int?, isVoid: Bool = false) {
    self.correctCount = correctCount
    self.trialCount = trialCount
    self.plannedCount = plannedCount
    self.isVoid = isVoid
  }

  /// The probability of as many right answers or more by guessing.
  public var pValue: Double { BinomialTest.pValue(ofAtLeast: correctCount, in: trialCount) }

  /// The probability of as few right answers or fewer by guessing.
  public var pValueOfFewer: Double {
    BinomialTest.pValue(ofAtLeast: trialCount - correctCount, in: trialCount)
  }

  /// Whether as many trials were answered as were agreed on.
  public var isComplete: Bool { plannedCount == trialCount }

  /// What can be said.
  public var conclusion: Conclusion {
    if isVoid { return .identical }
    if trialCount == 0 { return .nothing }
    if trialCount < Self.minimumTrialCount { return .tooFewTrials }
    if pValue <= Self.highlySignificantPValue { return .highlySignificant }
    if pValue <= Self.significantPValue { return .significant }
    return pValueOfFewer <= Self.significantPValue ? .belowChance : .notSignificant
  }

  /// What it means: one sentence, and a second where the number of trials was not kept to.
  public var sentence: String {
    if isVoid {
      return "A and B are identical, sample for sample: the result is void."
    }
    guard trialCount > 0 else { return "No trials were answered; there is no result." }
    let count = "\(correctCount) of \(trialCount) correct; a guesser would do"
    let better = "\(count) this well \(Self.percentText(pValue)) of the time; "
    let maybe = "a difference may have been heard."
    let said =
      switch conclusion {
      case .identical, .nothing, .tooFewTrials:
        better + "at least \(Self.minimumTrialCount) trials are needed for a result."
      case .highlySignificant:
        better + (isComplete ? "a difference was very probably heard." : maybe)
      case .significant:
        better + (isComplete ? "a difference was probably heard." : maybe)
      case .belowChance:
        """
        \(count) this badly \(Self.percentText(pValueOfFewer)) of the time; A and B may have been \
        swapped.
        """
      case .notSignificant:
        better + "this neither shows nor rules out a perceptible difference."
      }
    guard !isComplete else { return said }
    let reservation =
      plannedCount.map { "The test ended after \(trialCount) of \($0) trials" }
      ?? "The number of trials was not fixed in advance"
    return "\(said) \(reservation): stopping early inflates the result."
  }

  /// A chance as people read it: `3.8 %`, `23 %`, `less than 0.1 %`.
  public static func percentText(_ pValue: Double) -> String {
    if pValue < 0.001 { return "less than 0.1 %" }
    let tenths = Int((pValue * 1_000).rounded())
    return pValue < 0.0995
      ? "\(tenths / 10).\(tenths % 10) %" : "\(Int((pValue * 100).rounded())) %"
  }
}

/// How likely a count of right answers is by guessing alone.
public enum BinomialTest {
  /// The probability of at least `successCount` right answers in `trialCount` trials with two
  /// choices each.
  ///
  /// One-sided, exact: the sum of C(n, k) / 2ⁿ for k from `successCount` to n. The cost grows in
  /// line with the trials.
  public static func pValue(ofAtLeast successCount: Int, in trialCount: Int) -> Double {
    guard successCount > 0 else { return 1 }
    guard successCount <= trialCount else { return 0 }
    // From the rarest count upwards, so that small terms are not lost; scaled against underflow.
    var term = 1.0
    var sum = 1.0
    var halvings = trialCount
    for count in stride(from: trialCount, to: successCount, by: -1) {
      term *= Double(count) / Double(trialCount - count + 1)
      sum += term
      while sum > 1e200 {
        term /= 2
        sum /= 2
        halvings -= 1
      }
    }
    for _ in 0..<halvings {
      sum /= 2
    }
    return min(1, sum)
  }
}

/// A blind test with all that is needed to look at it later, as JSON.
public struct ABXRecord: Sendable {
  /// One of the two takes.
  public struct Take: Equatable, Sendable {
    /// What messages call it.
    public var name: String
    /// The SHA-256 of the file's bytes, in hexadecimal digits.
    public var sha256: String
    /// The factor it was played at.
    public var gain: Double
    /// Seconds it lasts.
    public var duration: Double

    /// Makes a take.
    public init(name: String, sha256 hash: String, gain: Double, duration: Double) {
      self.name = name
      self.sha256 = hash
      self.gain = gain
      self.duration = duration
    }
  }

  /// The version of the format of the record.
  public static let formatVersion = 2

  /// The test.
  public var test: ABXTest
  /// The two things.
  public var a, b: Take
  /// What levels were matched by: `loudness`, `felt` or `none`.
  public var levelMatch: String
  /// The profile that patterns were rendered with.
  public var profile: String
  /// The factor on both takes, 0 to 1.
  public var strength: Double
  /// The program with its version.
  public var program: String
  /// The version of the rendering model.
  public var renderingModel: Int
  /// When the test began, as `2026-01-31T12:00:00Z`; nil where no clock was looked at.
  public var startTime: String?
  /// The output that played, or nil where nobody listened.
  public var device: String?
  /// Whether the answers were simulated.
  public var isSimulated: Bool

  /// Makes a record.
  public init(
    test: ABXTest, a: Take, b: Take, levelMatch match: String, profile: String, strength: Double,
    program: String, renderingModel: Int, startTime: String?, device: String?, isSimulated: Bool
  ) {
    self.test = test
    self.a = a
    self.b = b
    self.levelMatch = match
    self.profile = profile
    self.strength = strength
    self.program = program
    self.renderingModel = renderingModel
    self.startTime = startTime
    self.device = device
    self.isSimulated = isSimulated
  }

  /// The record as a text of its own.
  public func json() -> [UInt8] {
    var json = JSONWriter()
    json.object(fields.write)
    return json.finish()
  }

  /// The trials as rows, with the seed and the conditions, so that records of several tests can be
  /// joined; times in seconds.
  package var trialTable: CSVTable {
    var table = CSVTable(columns: [
      "a", "b", "seed", "trial", "x", "answer", "correct", "heardA", "heardB", "heardX", "onset",
      "answered",
      "responseTime", "match", "gainA", "gainB", "strength", "profile", "device", "program",
      "simulated",
    ])
    let levels = [a.gain, b.gain, strength].map(NumberFormatting.plain)
    let conditions = [levelMatch] + levels + [profile, device ?? "", program, "\(isSimulated)"]
    for (index, trial) in test.trials.enumerated() {
      let onset = Self.roundedToMilliseconds(trial.start)
      let end = Self.roundedToMilliseconds(trial.end)
      let heard = trial.switchCounts
      let times = [onset, end, Self.roundedToMilliseconds(end - onset)].map(NumberFormatting.plain)
      table.append(
        [a.name, b.name, "\(test.seed)", "\(index + 1)", trial.x.rawValue, trial.answer.rawValue]
          + [
            "\(trial.isCorrect)", "\(heard.a)", "\(heard.b)", "\(heard.x)",
          ] + times + conditions)
    }
    return table
  }

  private var fields: JSONObject {
    func fields(_ take: Take) -> JSONObject {
      ["name": take.name, "sha256": take.sha256, "gain": take.gain, "seconds": take.duration]
    }
    let result = test.result
    return [
      "formatVersion": Self.formatVersion, "test": "abx", "program": program,
      "renderingModel": renderingModel,
      "startTime": startTime, "device": device, "simulated": isSimulated, "profile": profile,
      "strength": strength,
      "match": levelMatch, "a": fields(a), "b": fields(b), "seed": Int(test.seed),
      "plannedTrials": test.plannedCount?.json ?? JSONElement.null,
      "trials": test.trials.map { trial -> JSONElement in
        .inlineObject([
          "x": trial.x.rawValue, "answer": trial.answer.rawValue, "correct": trial.isCorrect,
          "switchCounts": [
            "a": trial.switchCounts.a, "b": trial.switchCounts.b, "x": trial.switchCounts.x,
          ]
            as JSONObject, "from": Self.roundedToMilliseconds(trial.start),
          "to": Self.roundedToMilliseconds(trial.end),
        ])
      },
      "result": [
        "correctCount": result.correctCount, "trials": result.trialCount,
        "complete": result.isComplete,
        "pValue": result.pValue, "conclusion": result.conclusion.rawValue,
        "sentence": result.sentence,
      ] as JSONObject,
    ]
  }

  /// Seconds to the millisecond, finer than anybody presses a key.
  private static func roundedToMilliseconds(_ seconds: Double) -> Double {
    (seconds * 1_000).rounded() / 1_000
  }
}
