/// The mean of a sample with its 95 % confidence interval.
///
/// The interval follows from Student's t-distribution.
package struct MeanEstimate: Equatable, Sendable {
  /// The mean of the values.
  package let mean: Double
  /// The half width of the confidence interval; 0 for a single value.
  package let confidenceHalfWidth: Double

  /// The 95 % confidence interval; only the mean for a single value.
  package var confidenceInterval: ClosedRange<Double> {
    (mean - confidenceHalfWidth)...(mean + confidenceHalfWidth)
  }

  /// Estimates the mean of at least one value.
  package init(of values: [Double]) {
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    self.mean = mean
    guard values.count > 1 else {
      confidenceHalfWidth = 0
      return
    }
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
    let studentQuantile = Self.studentTQuantile(degreesOfFreedom: values.count - 1)
    confidenceHalfWidth = studentQuantile * (variance / count).squareRoot()
  }

  /// Returns the two-sided 5 % quantile of Student's t-distribution.
  ///
  /// The asymptotic series is from Abramowitz and Stegun (1964), equation 26.7.5; see also Hill
  /// (1970). It is accurate to 0.1 %. The values for one and two degrees of freedom are exact.
  static func studentTQuantile(degreesOfFreedom: Int) -> Double {
    if degreesOfFreedom == 1 { return 12.7062 }
    if degreesOfFreedom == 2 { return 4.3027 }
    // The 97.5 % quantile of the normal distribution, and its odd powers.
    let z = 1.959_964
    let z3 = z * z * z
    let z5 = z * z * z * z * z
    let z7 = z * z * z * z * z * z * z
    let z9 = z7 * z * z
    let firstOrderTerm = (z3 + z) / 4
    let secondOrderTerm = (5 * z5 + 16 * z3 + 3 * z) / 96
    let thirdOrderTerm = (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384
    let fourthOrderTerm = (79 * z9 + 776 * z7 + 1_482 * z5 - 1_920 * z3 - 945 * z) / 92_160
    let n = Double(degreesOfFreedom)
    return z + firstOrderTerm / n + secondOrderTerm / (n * n) + thirdOrderTerm / (n * n * n)
      + fourthOrderTerm / (n * n * n * n)
  }
}
