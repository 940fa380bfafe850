/// The result of a blind test, as numbers and as a sentence.
///
/// The sentence depends only on the three counts, by the rules in ``ListeningTests``.
public struct ABXResult: Equatable, Sendable {
  /// The conclusion from the number of correct answers.
  public enum Conclusion: String, Sendable {
    /// Takes A and B are identical, so that no test is possible.
    case identical
    /// The listener answered no trial.
    case noTrials = "nothing"
    /// The number of answers is too small for a significant result.
    ///
    /// Guessing would explain the answers even if all were correct.
    case tooFewTrials
    /// The number of correct answers is highly significant: the p-value is at most 1 %.
    case highlySignificant
    /// The number of correct answers is significant: the p-value is at most 5 %.
    case significant
    /// The number of correct answers is unusually small: at most 5 % of guessers have so few.
    case belowChance
    /// The number of correct answers is not significant: guessing explains the answers.
    case notSignificant
  }

  /// The maximum p-value of a significant result.
  public static let significantPValue = 0.05
  /// The maximum p-value of a highly significant result.
  public static let highlySignificantPValue = 0.01
  /// The minimum number of answers for a significant result.
  ///
  /// A guesser answers 5 of 5 trials correctly in 1 of 32 tests.
  public static let minimumTrialCount = 5

  /// The number of correct answers.
  public var correctAnswerCount: Int
  /// The number of answers.
  public var trialCount: Int
  /// The planned number of trials, or nil if the listener ended the test.
  public var plannedTrialCount: Int?
  /// A Boolean value that indicates whether A and B are identical.
  ///
  /// If they are, the answers are meaningless.
  public var isVoid: Bool

  /// Creates a result.
  public init(
    correctAnswerCount: Int, trialCount: Int, plannedTrialCount: Int?, isVoid: Bool = false
  ) {
    self.correctAnswerCount = correctAnswerCount
    self.trialCount = trialCount
    self.plannedTrialCount = plannedTrialCount
    self.isVoid = isVoid
  }

  /// The p-value: the probability that guessing gives at least this many correct answers.
  public var pValue: Double { BinomialTest.pValue(ofAtLeast: correctAnswerCount, in: trialCount) }

  /// The probability that guessing gives at most this many correct answers.
  public var pValueOfFewer: Double {
    BinomialTest.pValue(ofAtLeast: trialCount - correctAnswerCount, in: trialCount)
  }

  /// A Boolean value that indicates whether all planned trials have been answered.
  ///
  /// The value is false if no number of trials was planned.
  public var isComplete: Bool { plannedTrialCount == trialCount }

  /// The conclusion from the number of correct answers.
  public var conclusion: Conclusion {
    if isVoid { return .identical }
    if trialCount == 0 { return .noTrials }
    if trialCount < Self.minimumTrialCount { return .tooFewTrials }
    if pValue <= Self.highlySignificantPValue { return .highlySignificant }
    if pValue <= Self.significantPValue { return .significant }
    return pValueOfFewer <= Self.significantPValue ? .belowChance : .notSignificant
  }

  /// The conclusion as a sentence.
  ///
  /// A second sentence follows if the number of trials is not the planned number.
  public var sentence: String {
    if isVoid {
      return "A and B are identical, sample for sample. The result is void."
    }
    guard trialCount > 0 else { return "No answers. There is no result." }
    func guessingSentence(_ bound: String, _ probability: Double) -> String {
      let answers = correctAnswerCount == 1 ? "answer" : "answers"
      return """
        \(correctAnswerCount) of \(trialCount) correct. By guessing, the probability of \(bound) \
        \(correctAnswerCount) correct \(answers) is \(Self.percentText(probability)).
        """
    }
    let betterThanChanceText = guessingSentence("at least", pValue) + " "
    let possibleDifferenceText = "The difference may be perceptible."
    let conclusionText =
      switch conclusion {
      case .identical, .noTrials, .tooFewTrials:
        betterThanChanceText + "At least \(Self.minimumTrialCount) trials are needed for a result."
      case .highlySignificant:
        betterThanChanceText
          + (isComplete ? "The difference is very probably perceptible." : possibleDifferenceText)
      case .significant:
        betterThanChanceText
          + (isComplete ? "The difference is probably perceptible." : possibleDifferenceText)
      case .belowChance:
        guessingSentence("at most", pValueOfFewer) + " A and B may be swapped."
      case .notSignificant:
        betterThanChanceText + "The result neither shows nor excludes a perceptible difference."
      }
    guard !isComplete else { return conclusionText }
    let earlyStopReservation =
      plannedTrialCount.map { "The test ended after \(trialCount) of \($0) trials" }
      ?? "The number of trials was not fixed in advance"
    return "\(conclusionText) \(earlyStopReservation): stopping early inflates the result."
  }

  /// Returns a probability as readable text, such as `3.8 %`, `23 %`, or `less than 0.1 %`.
  public static func percentText(_ pValue: Double) -> String {
    if pValue < 0.001 { return "less than 0.1 %" }
    let tenthsOfPercent = Int((pValue * 1_000).rounded())
    return pValue < 0.0995
      ? "\(tenthsOfPercent / 10).\(tenthsOfPercent % 10) %" : "\(Int((pValue * 100).rounded())) %"
  }
}
