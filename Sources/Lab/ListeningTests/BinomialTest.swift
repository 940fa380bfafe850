/// The one-sided exact binomial test against guessing, and the tails of binomial distributions.
public enum BinomialTest {
  /// Returns the probability that guessing gives at least a number of correct answers.
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

  /// Returns the probability of at least a given number of successes, for any success probability.
  ///
  /// Unlike `pValue`, the result is rounded.
  ///
  /// The terms of the binomial distribution are relative to the largest term, and their total
  /// normalizes them. The distant terms underflow to 0 without a loss.
  static func probability(ofAtLeast successCount: Int, in trialCount: Int, proportion: Double)
    -> Double
  {
    guard successCount > 0 else { return 1 }
    guard successCount <= trialCount else { return 0 }
    guard proportion > 0 else { return 0 }
    guard proportion < 1 else { return 1 }
    let odds = proportion / (1 - proportion)
    let mode = min(trialCount, Int(Double(trialCount + 1) * proportion))
    var upperTail = mode >= successCount ? 1.0 : 0
    var total = 1.0
    var term = 1.0
    for count in mode..<trialCount {
      term *= odds * Double(trialCount - count) / Double(count + 1)
      total += term
      if count + 1 >= successCount {
        upperTail += term
      }
    }
    term = 1
    for count in stride(from: mode, to: 0, by: -1) {
      term *= Double(count) / (odds * Double(trialCount - count + 1))
      total += term
      if count - 1 >= successCount {
        upperTail += term
      }
    }
    return upperTail / total
  }
}
