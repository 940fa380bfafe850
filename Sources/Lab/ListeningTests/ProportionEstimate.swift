/// A proportion of independent trials with its exact 95 % confidence interval (Clopper and Pearson
/// 1934).
///
/// The lower bound is the proportion for which at least as many successes have a probability of
/// 2.5 %, and the upper bound is the proportion for which at most as many have this probability.
package struct ProportionEstimate: Equatable, Sendable {
  /// The observed proportion of successes.
  package let proportion: Double
  /// The 95 % confidence interval of the proportion.
  package let interval: ClosedRange<Double>

  /// The probability beyond each bound of the confidence interval.
  private static let tailProbability = 0.025
  /// The number of bisections that determine a bound to the precision of a `Double`.
  private static let bisectionCount = 60

  /// Estimates a proportion.
  ///
  /// - Parameters:
  ///   - successCount: The number of successes, at most `trialCount`.
  ///   - trialCount: The number of trials, at least 1.
  /// - Complexity: O(`trialCount`).
  package init(successCount: Int, trialCount: Int) {
    proportion = Double(successCount) / Double(trialCount)
    var lower = 0.0
    if successCount > 0 {
      lower = Self.boundaryProportion { candidate in
        BinomialTest.probability(ofAtLeast: successCount, in: trialCount, proportion: candidate)
          > Self.tailProbability
      }
    }
    var upper = 1.0
    if successCount < trialCount {
      upper = Self.boundaryProportion { candidate in
        1
          - BinomialTest.probability(
            ofAtLeast: successCount + 1, in: trialCount, proportion: candidate)
          < Self.tailProbability
      }
    }
    interval = lower...max(lower, upper)
  }

  /// Returns the proportion above which a monotonic condition is true, found by bisection.
  private static func boundaryProportion(where isAbove: (Double) -> Bool) -> Double {
    var lower = 0.0
    var upper = 1.0
    for _ in 0..<bisectionCount {
      let middle = (lower + upper) / 2
      if isAbove(middle) {
        upper = middle
      } else {
        lower = middle
      }
    }
    return (lower + upper) / 2
  }
}
