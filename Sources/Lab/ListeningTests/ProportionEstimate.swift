/// A proportion of successful trials with its exact 95 % confidence interval.
///
/// The trials are independent. The interval is that of Clopper and Pearson (1934).
///
/// The lower bound is the proportion for which at least as many successes have a probability of
/// 2.5 %, and the upper bound is the proportion for which at most as many have this probability.
package struct ProportionEstimate: Equatable, Sendable {
  /// The observed proportion of successes.
  package let proportion: Double
  /// The 95 % confidence interval of the proportion.
  package let confidenceInterval: ClosedRange<Double>

  /// The probability that the proportion is beyond a bound of the confidence interval.
  private static let tailProbability = 0.025
  /// The number of bisections for a bound with the precision of a `Double`.
  private static let bisectionCount = 60

  /// Estimates a proportion from the number of successes in independent trials.
  ///
  /// - Parameters:
  ///   - successCount: The number of successes, at most `trialCount`.
  ///   - trialCount: The number of trials, at least 1.
  /// - Complexity: O(`trialCount`).
  package init(successCount: Int, trialCount: Int) {
    proportion = Double(successCount) / Double(trialCount)
    var lowerProportion = 0.0
    if successCount > 0 {
      lowerProportion = Self.boundaryProportion { candidate in
        BinomialTest.probability(ofAtLeast: successCount, in: trialCount, proportion: candidate)
          > Self.tailProbability
      }
    }
    var upperProportion = 1.0
    if successCount < trialCount {
      upperProportion = Self.boundaryProportion { candidate in
        1
          - BinomialTest.probability(
            ofAtLeast: successCount + 1, in: trialCount, proportion: candidate)
          < Self.tailProbability
      }
    }
    confidenceInterval = lowerProportion...max(lowerProportion, upperProportion)
  }

  /// Returns the boundary of a monotonic condition on the proportion, found by bisection.
  ///
  /// The condition is true above the boundary.
  private static func boundaryProportion(where isAbove: (Double) -> Bool) -> Double {
    var lowerProportion = 0.0
    var upperProportion = 1.0
    for _ in 0..<bisectionCount {
      let middle = (lowerProportion + upperProportion) / 2
      if isAbove(middle) {
        upperProportion = middle
      } else {
        lowerProportion = middle
      }
    }
    return (lowerProportion + upperProportion) / 2
  }
}
