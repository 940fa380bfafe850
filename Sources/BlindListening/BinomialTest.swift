/// How likely a count of right answers is by guessing alone.
public enum BinomialTest {
  /// The probability of at least `successCount` right answers in `trialCount` trials with two choices each.
  ///
  /// One-sided, exact: the sum of C(n, k) / 2ⁿ for k from `successCount` to n.
  ///
  /// - Parameters:
  ///   - successCount: Right answers; below 1 the probability is 1, above `trialCount` it is 0.
  ///   - trialCount: Trials, 0 or more. The cost grows in line with it.
  public static func chance(ofAtLeast successCount: Int, in trialCount: Int) -> Double {
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
