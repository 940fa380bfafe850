internal import Glibc

extension Calibration {
  /// What the resonance explains, and what the rest is: one sentence.
  public var verdict: String {
    let rest = pow(10, residual / 10)
    let share =
      rest < 1e-5
      ? "more than 99.999"
      : MeasurementFormatting.number((1 - rest) * 100, places: rest < 0.001 ? 3 : 1)
    let explained = "One resonance explains \(share) % of the recorded power"
    // Within 3 dB of what noise leaves, nothing else is seen.
    if residual <= noise + 3 { return explained + "; the rest is noise." }
    return explained + "; most of the rest is not noise but other resonances or distortion."
  }

  /// What speaks against leaning on the figures: a sentence each.
  public var warnings: [String] {
    var found: [String] = []
    if residual > Self.goodResidual {
      found.append("The fit is poor; the values are marked as estimates.")
    }
    if signalToNoise < 20 {
      found.append(
        "The sweeps are only \(MeasurementFormatting.number(signalToNoise, places: 1)) dB above the noise."
      )
    }
    if abs(clockError) > 20 {
      found.append(
        "The recorder's clock is \(MeasurementFormatting.number(abs(clockError), places: 0)) ppm "
          + "\(clockError > 0 ? "faster" : "slower") than the player's; this was corrected.")
    }
    if let coilCorner {
      found.append(
        "Coil inductance reduces the response above \(MeasurementFormatting.number(coilCorner, places: 0)) Hz; the drive does not compensate for it."
      )
    }
    return found
  }

  /// Whether the figures are no more than estimates.
  public var isPoor: Bool { residual > Self.goodResidual }
}
