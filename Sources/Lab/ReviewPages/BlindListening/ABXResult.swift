/// The result of an ABX test, as numbers and as a sentence.
///
/// The sentence follows from the three counts by the rules in <doc:BlindListening>.
public struct ABXResult: Equatable, Sendable {
  /// The conclusion of a test. The raw value is written to records.
  public enum Conclusion: String, Sendable {
    /// A and B are identical.
    case identical
    /// No trial was answered.
    case noTrials = "nothing"
    /// Even if all answers are correct, guessing cannot be ruled out.
    case tooFewTrials
    /// The p-value is at most 1 %.
    case highlySignificant
    /// The p-value is at most 5 %.
    case significant
    /// The probability of as few correct answers by guessing is at most 5 %.
    case belowChance
    /// Guessing explains the result.
    case notSignificant
  }

  /// The maximum p-value of a significant result.
  public static let significantPValue = 0.05
  /// The maximum p-value of a highly significant result.
  public static let highlySignificantPValue = 0.01
  /// The minimum number of trials of a significant result: 1 in 32 guessers has 5 correct answers.
  public static let minimumTrialCount = 5

  /// The number of correct answers.
  public var correctCount: Int
  /// The number of answers.
  public var trialCount: Int
  /// The planned number of trials, or nil if the listener ended the test.
  public var plannedCount: Int?
  /// A Boolean value that indicates whether A and B are identical, so that answers are meaningless.
  public var isVoid: Bool

  /// Creates a result.
  ///
  /// - Parameters:
  ///   - correctCount: The number of correct answers.
  ///   - trialCount: The number of answers.
  ///   - plannedCount: The planned number of trials, or nil if the listener ended the test.
  ///   - isVoid: True if A and B are identical.
  public init(correctCount: Int, trialCount: Int, plannedCount: Int?, isVoid: Bool = false) {
    self.correctCount = correctCount
    self.trialCount = trialCount
    self.plannedCount = plannedCount
    self.isVoid = isVoid
  }

  /// The probability of at least as many correct answers by guessing.
  public var pValue: Double { BinomialTest.pValue(ofAtLeast: correctCount, in: trialCount) }

  /// The probability of at most as many correct answers by guessing.
  public var pValueOfFewer: Double {
    BinomialTest.pValue(ofAtLeast: trialCount - correctCount, in: trialCount)
  }

  /// A Boolean value that indicates whether exactly the planned number of trials was answered.
  public var isComplete: Bool { plannedCount == trialCount }

  /// The conclusion of the test.
  public var conclusion: Conclusion {
    if isVoid { return .identical }
    if trialCount == 0 { return .noTrials }
    if trialCount < Self.minimumTrialCount { return .tooFewTrials }
    if pValue <= Self.highlySignificantPValue { return .highlySignificant }
    if pValue <= Self.significantPValue { return .significant }
    return pValueOfFewer <= Self.significantPValue ? .belowChance : .notSignificant
  }

  /// The conclusion as a sentence, followed by a reservation if the test was not completed as
  /// planned.
  public var sentence: String {
    if isVoid {
      return "A and B are identical, sample for sample: the result is void."
    }
    guard trialCount > 0 else { return "No trials were answered; there is no result." }
    let counts = "\(correctCount) of \(trialCount) correct; a guesser would do"
    let probability = "\(counts) this well \(Self.percentText(pValue)) of the time; "
    let reservedConclusion = "a difference may have been heard."
    let sentence =
      switch conclusion {
      case .identical, .noTrials, .tooFewTrials:
        probability + "at least \(Self.minimumTrialCount) trials are needed for a result."
      case .highlySignificant:
        probability
          + (isComplete ? "a difference was very probably heard." : reservedConclusion)
      case .significant:
        probability + (isComplete ? "a difference was probably heard." : reservedConclusion)
      case .belowChance:
        """
        \(counts) this badly \(Self.percentText(pValueOfFewer)) of the time; A and B may have been \
        swapped.
        """
      case .notSignificant:
        probability + "this neither shows nor rules out a perceptible difference."
      }
    guard !isComplete else { return sentence }
    let reservation =
      plannedCount.map { "The test ended after \(trialCount) of \($0) trials" }
      ?? "The number of trials was not fixed in advance"
    return "\(sentence) \(reservation): stopping early inflates the result."
  }

  /// Returns a probability as text, such as `3.8 %`, `23 %`, or `less than 0.1 %`.
  public static func percentText(_ pValue: Double) -> String {
    if pValue < 0.001 { return "less than 0.1 %" }
    let tenths = Int((pValue * 1_000).rounded())
    return pValue < 0.0995
      ? "\(tenths / 10).\(tenths % 10) %" : "\(Int((pValue * 100).rounded())) %"
  }
}

/// The exact one-sided binomial test for a probability of success of 1/2.
public enum BinomialTest {
  /// Returns the probability of at least a number of correct answers by guessing.
  ///
  /// For n trials and s successes, it is the sum of C(n, k) / 2ⁿ for k from s to n. The sum starts
  /// at the smallest term, k = n, with C(n, k − 1) = C(n, k) · k / (n − k + 1).
  ///
  /// - Parameters:
  ///   - successCount: The number of correct answers.
  ///   - trialCount: The number of trials with two choices each.
  /// - Complexity: Linear in the number of trials.
  public static func pValue(ofAtLeast successCount: Int, in trialCount: Int) -> Double {
    guard successCount > 0 else { return 1 }
    guard successCount <= trialCount else { return 0 }
    // The ascending order keeps small terms from being rounded away. The sum is scaled by powers of
    // two against overflow; `halvings` is the number of remaining divisions by two.
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
