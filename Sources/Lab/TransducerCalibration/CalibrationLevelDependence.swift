internal import SystemSupport

extension Calibration {
  /// The differences in resonance and quality factor between the loud and the quiet sweep.
  ///
  /// The quiet sweep is 6 dB weaker.
  ///
  /// In a linear system, there are no differences. A spring that stiffens slightly with movement
  /// shifts the resonance; its small-signal response can be extrapolated from both sweeps. Any
  /// other change makes the measurement unreliable.
  public struct LevelDependence: Equatable, Sendable {
    /// The change of the resonance from the quiet to the loud sweep, as a fraction.
    public let relativeResonanceChange: Double
    /// The change of the quality factor from the quiet to the loud sweep, as a fraction.
    public let relativeQualityChange: Double
    /// The half width of the 95 % confidence interval of the resonance change, as a fraction.
    let resonanceChangeIntervalHalfWidth: Double
    /// The half width of the 95 % confidence interval of the quality factor change, as a fraction.
    let qualityChangeIntervalHalfWidth: Double
    /// The change of the resonance in units of its bandwidth.
    let resonanceShiftInBandwidths: Double
  }
}

extension Calibration.LevelDependence {
  /// The minimum significant change, in half widths of its 95 % confidence interval.
  ///
  /// Chance alone exceeds this threshold in 3 of 1,000 measurements.
  private static let significantHalfWidthCount = 1.5

  /// Fits the loud and the quiet sweep separately, and compares the results.
  ///
  /// - Parameters:
  ///   - model: The transfer function of both sweeps.
  ///   - pair: The sweeps.
  ///   - band: The band of the sweeps.
  init(of model: TransferFunction, in pair: SweepPair, band: ClosedRange<Double>) {
    func refinedFit(_ combination: SweepPair.SweepCombination) -> ResonanceFit {
      let response = pair.response(combination, removingDelay: SweepPair.preRollSeconds)
      return ResonanceFit(refining: model, response, band: band)
    }

    func rootSumOfSquares(_ first: Double, _ second: Double) -> Double {
      (first * first + second * second).squareRoot()
    }

    let quietFit = refinedFit(.quiet)
    let loudFit = refinedFit(.loud)
    let quietMode = quietFit.transferFunction.mainMode
    let loudMode = loudFit.transferFunction.mainMode
    relativeResonanceChange = loudMode.resonanceHertz / quietMode.resonanceHertz - 1
    relativeQualityChange = loudMode.qualityFactor / quietMode.qualityFactor - 1
    resonanceShiftInBandwidths = relativeResonanceChange * model.mainMode.qualityFactor
    resonanceChangeIntervalHalfWidth = rootSumOfSquares(
      quietFit.intervalHalfWidths[0].resonance, loudFit.intervalHalfWidths[0].resonance)
    qualityChangeIntervalHalfWidth = rootSumOfSquares(
      quietFit.intervalHalfWidths[0].qualityFactor, loudFit.intervalHalfWidths[0].qualityFactor)
  }

  /// Boolean values that indicate whether the resonance and the quality factor change too much.
  ///
  /// A change is too large if it exceeds the allowed change and is statistically significant.
  var hasSignificantChange: (resonance: Bool, qualityFactor: Bool) {
    let minimumResonanceChange = max(
      Calibration.maximumResonanceChangeFraction,
      Self.significantHalfWidthCount * resonanceChangeIntervalHalfWidth)
    let minimumQualityChange = max(
      Calibration.maximumQualityChangeFraction,
      Self.significantHalfWidthCount * qualityChangeIntervalHalfWidth)
    return (
      abs(relativeResonanceChange) > minimumResonanceChange,
      abs(relativeQualityChange) > minimumQualityChange
    )
  }

  /// A Boolean value that indicates whether the level changes only the stiffness of a spring.
  ///
  /// The change is so small that the small-signal response can be extrapolated.
  var indicatesStiffnessChange: Bool {
    hasSignificantChange.resonance && !hasSignificantChange.qualityFactor
      && abs(relativeResonanceChange) <= Calibration.maximumStiffeningChangeFraction
      && abs(resonanceShiftInBandwidths) <= Calibration.maximumResonanceShiftInBandwidths
  }

  private var summaryText: String {
    let percentText = (abs(relativeResonanceChange) * 100).text(places: 1)
    let directionText =
      relativeResonanceChange > 0
      ? "higher, as if a spring stiffens" : "lower, as if a spring softens"
    return
      """
      changes with the level: the resonance of the louder sweep is \(percentText) % \
      \(directionText) with excursion
      """
  }

  /// A sentence about a spring that stiffens or softens slightly with the level, or nil.
  var stiffnessWarning: String? {
    guard indicatesStiffnessChange else { return nil }
    return
      """
      The recording \(summaryText). The values apply to small excursions; the uncertainty covers \
      levels up to 5 dB above the sweep.
      """
  }

  /// The reason to reject the measurement, or nil.
  var rejectionReason: String? {
    if indicatesStiffnessChange { return nil }
    let levelAdvice = "use a lower '--level', or '--accept-poor'"
    let changeSignificance = hasSignificantChange
    if changeSignificance.resonance { return "\(summaryText); \(levelAdvice)" }
    guard changeSignificance.qualityFactor else { return nil }
    let percentText = (abs(relativeQualityChange) * 100).text(places: 1)
    let qualityChangePhrase =
      "changes with the level: the Q factor of the louder sweep is \(percentText) %"
    if relativeQualityChange < 0 {
      return
        """
        \(qualityChangePhrase) lower, as if the recorder or the amplifier compresses; lower their \
        gains, or \(levelAdvice)
        """
    }
    return
      "\(qualityChangePhrase) higher, as with friction; use a higher '--level', or '--accept-poor'"
  }
}
