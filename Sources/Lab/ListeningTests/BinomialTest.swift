/// The one-sided exact binomial test against guessing, and the tails of binomial distributions.
public enum BinomialTest {
  /// Returns the probability that a guesser has at least a number of correct answers.
  ///
  /// The value is exact: the sum of C(n, k) / 2ⁿ for k from `successCount` to n.
  ///
  /// - Parameters:
  ///   - successCount: The number of correct answers.
  ///   - trialCount: The number of trials n, each with two choices.
  /// - Complexity: O(n).
  public static func pValue(ofAtLeast successCount: Int, in trialCount: Int) -> Double {
    guard successCount > 0 else { return 1 }
    guard successCount <= trialCount else { return 0 }
    // The sum begins with the smallest term, so that small terms are not lost. Scaling by powers of
    // two prevents overflow and underflow.
    var binomialCoefficient = 1.0
    var coefficientSum = 1.0
    var remainingHalvingCount = trialCount
    for count in stride(from: trialCount, to: successCount, by: -1) {
      binomialCoefficient *= Double(count) / Double(trialCount - count + 1)
      coefficientSum += binomialCoefficient
      while coefficientSum > 1e200 {
        binomialCoefficient /= 2
        coefficientSum /= 2
        remainingHalvingCount -= 1
      }
    }
    for _ in 0..<remainingHalvingCount {
      coefficientSum /= 2
    }
    return min(1, coefficientSum)
  }

  /// Returns the probability of at least a number of successes in a binomial experiment.
  ///
  /// The success probability is arbitrary. Unlike `pValue`, the result is rounded.
  ///
  /// Unlike `pValue`, the result is rounded.
  ///
  /// The terms of the binomial distribution are relative to the term of the mode, the largest term,
  /// and their total normalizes them. The distant terms underflow to 0 without a loss.
  static func probability(ofAtLeast successCount: Int, in trialCount: Int, proportion: Double)
    -> Double
  {
    guard successCount > 0 else { return 1 }
    guard successCount <= trialCount else { return 0 }
    guard proportion > 0 else { return 0 }
    guard proportion < 1 else { return 1 }
    let successOdds = proportion / (1 - proportion)
    let mode = min(trialCount, Int(Double(trialCount + 1) * proportion))
    var upperTailWeight = mode >= successCount ? 1.0 : 0
    var totalWeight = 1.0
    var relativeWeight = 1.0
    for count in mode..<trialCount {
      relativeWeight *= successOdds * Double(trialCount - count) / Double(count + 1)
      totalWeight += relativeWeight
      if count + 1 >= successCount {
        upperTailWeight += relativeWeight
      }
    }
    relativeWeight = 1
    for count in stride(from: mode, to: 0, by: -1) {
      relativeWeight *= Double(count) / (successOdds * Double(trialCount - count + 1))
      totalWeight += relativeWeight
      if count - 1 >= successCount {
        upperTailWeight += relativeWeight
      }
    }
    return upperTailWeight / totalWeight
  }
}
