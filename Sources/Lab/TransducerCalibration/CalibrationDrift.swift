public import HapticRender

/// The deviation of a transducer's resonance and quality factor from its profile.
public struct CalibrationDrift: Equatable, Sendable {
  /// The comparison of a value in a profile with the value that a calibration measured.
  public struct Comparison: Equatable, Sendable {
    /// The value that the profile states.
    public let statedValue: Double
    /// The value that the calibration measured.
    public let measuredValue: Double
    /// The half width of the measured value's 95 % confidence interval, as a fraction of the value.
    public let intervalHalfWidthFraction: Double
    /// The allowed ratios of the measured to the stated value, from the profile's uncertainty.
    public let allowedMeasuredToStatedRatio: ClosedRange<Double>

    /// The relative change from the stated to the measured value, as a fraction.
    public var relativeChange: Double { measuredValue / statedValue - 1 }
    /// A Boolean value that indicates whether the measured value is within the profile's
    /// uncertainty.
    public var isWithinUncertainty: Bool {
      allowedMeasuredToStatedRatio.contains(measuredValue / statedValue)
    }
  }

  /// The comparison of the stated and the measured resonance, in hertz.
  public let resonanceComparison: Comparison
  /// The comparison of the stated and the measured quality factor.
  public let qualityFactorComparison: Comparison

  /// A Boolean value that indicates whether both values are within the profile's uncertainty.
  public var isWithinUncertainty: Bool {
    resonanceComparison.isWithinUncertainty && qualityFactorComparison.isWithinUncertainty
  }

  /// Compares a calibration with a profile; nil if the profile has no resonance and quality factor.
  ///
  /// - Parameters:
  ///   - calibration: The measurement.
  ///   - profile: The profile of the transducer.
  public init?(_ calibration: Calibration, from profile: TransducerProfile) {
    guard let hardware = profile.hardware, let model = hardware.model else { return nil }
    let uncertainty = hardware.uncertainty ?? hardware.defaultUncertainty
    resonanceComparison = Comparison(
      statedValue: model.resonanceHertz, measuredValue: calibration.resonanceHertz,
      intervalHalfWidthFraction: calibration.resonanceIntervalHalfWidthFraction,
      allowedMeasuredToStatedRatio: (1 - uncertainty.resonanceDeviationFraction)...(1
        + uncertainty.resonanceDeviationFraction))
    qualityFactorComparison = Comparison(
      statedValue: model.qualityFactor, measuredValue: calibration.qualityFactor,
      intervalHalfWidthFraction: calibration.qualityIntervalHalfWidthFraction,
      allowedMeasuredToStatedRatio: (1 / uncertainty.trueToStatedQualityFactorRatio)...uncertainty
        .trueToStatedQualityFactorRatio)
  }
}
