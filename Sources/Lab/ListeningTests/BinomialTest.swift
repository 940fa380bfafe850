/// The one-sided exact binomial test against guessing.
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
}
