public import HapticRender

/// The deviation of a transducer's resonance and quality factor from its profile.
public struct CalibrationDrift: Equatable, Sendable {
  /// The comparison of a stated with a measured value.
  public struct Comparison: Equatable, Sendable {
    /// The value that the profile states.
    public let statedValue: Double
    /// The value that the calibration measured.
    public let measuredValue: Double
    /// The half width of the 95 % interval of the measured value, as a fraction.
    public let intervalHalfWidth: Double
    /// The range of the ratio of measured to stated value, by the profile's uncertainty.
    public let allowedRatio: ClosedRange<Double>

    /// The change of the measured from the stated value, as a fraction.
    public var relativeChange: Double { measuredValue / statedValue - 1 }
    /// A Boolean value that indicates whether the measured value is within the uncertainty.
    public var isWithinUncertainty: Bool { allowedRatio.contains(measuredValue / statedValue) }
  }

  /// The comparison of the resonance, in hertz.
  public let resonance: Comparison
  /// The comparison of the quality factor.
  public let qualityFactor: Comparison

  /// A Boolean value that indicates whether both values are within the profile's uncertainty.
  public var isWithinUncertainty: Bool {
    resonance.isWithinUncertainty && qualityFactor.isWithinUncertainty
  }

  /// Compares a calibration with a profile; nil if the profile has no resonance and quality factor.
  ///
  /// - Parameters:
  ///   - calibration: The measurement.
  ///   - profile: The profile of the transducer.
  public init?(_ calibration: Calibration, from profile: TransducerProfile) {
    guard let hardware = profile.hardware, let model = hardware.model else { return nil }
    let uncertainty = hardware.uncertainty ?? hardware.defaultUncertainty
    resonance = Comparison(
      statedValue: model.resonance, measuredValue: calibration.resonance,
      intervalHalfWidth: calibration.resonanceHalfWidth,
      allowedRatio: (1 - uncertainty.resonance)...(1 + uncertainty.resonance))
    qualityFactor = Comparison(
      statedValue: model.qualityFactor, measuredValue: calibration.qualityFactor,
      intervalHalfWidth: calibration.qualityHalfWidth,
      allowedRatio: (1 / uncertainty.qualityFactor)...uncertainty.qualityFactor)
  }
}
