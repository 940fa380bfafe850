/// The result of a blind test, as numbers and as a sentence.
///
/// The words follow from the three counts alone, by the rules of ``BlindListening``.
public struct ABXResult: Equatable, Sendable {
  /// What can be said.
  public enum Conclusion: String, Sendable {
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

  /// Makes a result.
  public init(correctCount: Int, trialCount: Int, plannedCount: Int?) {
    self.correctCount = correctCount
    self.trialCount = trialCount
    self.plannedCount = plannedCount
  }

  /// The probability of as many right answers or more by guessing.
  public var pValue: Double { BinomialTest.pValue(ofAtLeast: correctCount, in: trialCount) }

  /// The probability of as few right answers or fewer by guessing.
  public var pValueOfFewer: Double { BinomialTest.pValue(ofAtLeast: trialCount - correctCount, in: trialCount) }

  /// Whether as many trials were answered as were agreed on.
  public var isComplete: Bool { plannedCount == trialCount }

  /// What can be said.
  public var conclusion: Conclusion {
    if trialCount == 0 { return .nothing }
    if trialCount < Self.minimumTrialCount { return .tooFewTrials }
    if pValue <= Self.highlySignificantPValue { return .highlySignificant }
    if pValue <= Self.significantPValue { return .significant }
    return pValueOfFewer <= Self.significantPValue ? .belowChance : .notSignificant
  }

  /// What it means: one sentence, and a second where the number of trials was not kept to.
  public var sentence: String {
    guard trialCount > 0 else { return "No trials were answered; there is no result." }
    let count = "\(correctCount) of \(trialCount) correct; a guesser would do"
    let better = "\(count) this well \(Self.percent(pValue)) of the time; "
    let said =
      switch conclusion {
      case .nothing, .tooFewTrials: better + "at least \(Self.minimumTrialCount) trials are needed for a result."
      case .highlySignificant: better + (isComplete ? "a difference was very probably heard." : Self.maybe)
      case .significant: better + (isComplete ? "a difference was probably heard." : Self.maybe)
      case .belowChance:
        "\(count) this badly \(Self.percent(pValueOfFewer)) of the time; A and B may have been swapped."
      case .notSignificant: better + "this neither shows nor rules out a perceptible difference."
      }
    return [said, reservation].compactMap { $0 }.joined(separator: " ")
  }

  private static let maybe = "a difference may have been heard."

  /// What weakens the result where the number of trials was not fixed and kept to.
  private var reservation: String? {
    guard !isComplete else { return nil }
    let why =
      plannedCount.map { "The test ended after \(trialCount) of \($0) trials" }
      ?? "The number of trials was not fixed in advance"
    return why + ": stopping early inflates the result."
  }

  /// A chance as people read it: `3.8 %`, `23 %`, `less than 0.1 %`.
  public static func percent(_ pValue: Double) -> String {
    if pValue < 0.001 { return "less than 0.1 %" }
    if pValue < 0.0995 {
      let tenths = Int((pValue * 1_000).rounded())
      return "\(tenths / 10).\(tenths % 10) %"
    }
    return "\(Int((pValue * 100).rounded())) %"
  }
}

/// How likely a count of right answers is by guessing alone.
public enum BinomialTest {
  /// The probability of at least `successCount` right answers in `trialCount` trials with two choices each.
  ///
  /// One-sided, exact: the sum of C(n, k) / 2ⁿ for k from `successCount` to n.
  ///
  /// - Parameters:
  ///   - successCount: Right answers; below 1 the probability is 1, above `trialCount` it is 0.
  ///   - trialCount: Trials, 0 or more. The cost grows in line with it.
  public static func pValue(ofAtLeast successCount: Int, in trialCount: Int) -> Double {
    guard successCount > 0 else { return 1 }
    guard successCount <= trialCount else { return 0 }
    // From the rarest count upwards, so that small terms are not lost; scaled against underflow.
    var term = 1.0
    var sum = 1.0
    var halvings = trialCount
    var count = trialCount
    while count > successCount {
      term *= Double(count) / Double(trialCount - count + 1)
      sum += term
      count -= 1
      while sum > 1e200 {
        term /= 2
        sum /= 2
        halvings -= 1
      }
    }
    while halvings > 0 {
      sum /= 2
      halvings -= 1
    }
    return min(1, sum)
  }
}
