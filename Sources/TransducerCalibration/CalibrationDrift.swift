public import HapticRender

/// How far a transducer's resonance and quality are from what its profile states.
public struct CalibrationDrift: Equatable, Sendable {
  /// A figure of the profile against what was measured.
  public struct Figure: Equatable, Sendable {
    /// What the profile states.
    public let stated: Double
    /// What was measured.
    public let measured: Double
    /// Half of the 95 % interval of what was measured, as a fraction of it.
    public let interval: Double
    /// What the measured may be of the stated, by the profile's uncertainty.
    public let allowed: ClosedRange<Double>

    /// By what part the measured is above the stated.
    public var change: Double { measured / stated - 1 }
    /// Whether the measured is within what the profile states.
    public var isWithin: Bool { allowed.contains(measured / stated) }
  }

  /// Resonance in hertz.
  public let resonance: Figure
  /// Quality factor.
  public let qualityFactor: Figure

  /// Whether both are within what the profile states.
  public var isWithin: Bool { resonance.isWithin && qualityFactor.isWithin }

  /// Compares; nothing where the profile has no resonance and quality.
  public init?(_ calibration: Calibration, from profile: TransducerProfile) {
    guard let hardware = profile.hardware, let model = hardware.model else { return nil }
    let doubt = hardware.uncertainty ?? hardware.assumedUncertainty
    resonance = Figure(
      stated: model.resonance, measured: calibration.resonance, interval: calibration.resonanceInterval,
      allowed: (1 - doubt.resonance)...(1 + doubt.resonance))
    qualityFactor = Figure(
      stated: model.qualityFactor, measured: calibration.qualityFactor, interval: calibration.qualityInterval,
      allowed: (1 / doubt.qualityFactor)...doubt.qualityFactor)
  }
}
