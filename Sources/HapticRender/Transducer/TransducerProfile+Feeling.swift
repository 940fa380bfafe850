extension TransducerProfile {
  /// Whether the hardware's response is known, so that something can be fitted to it.
  public var hasKnownResponse: Bool {
    guard let hardware else { return false }
    return hardware.response.count > 1 || hardware.model != nil
  }

  /// Whether the drive is filtered by the inverse of the hardware's resonance.
  public var isEqualized: Bool { hardware?.model != nil && (drive.isEqualized ?? true) }

  /// Whether equal intensity is made to be felt equally at each sharpness.
  ///
  /// Usual where the response is known or the profile has a threshold curve of its own; asked for
  /// without a response, the hardware counts as even.
  public var hasEqualSensation: Bool {
    if hardware == nil { return thresholds.count > 1 }
    return drive.hasEqualSensation ?? (hasKnownResponse || thresholds.count > 1)
  }

  /// Whether the laws of frequency are narrowed to what the hardware makes felt.
  public var isBandMapped: Bool { hardware != nil && (drive.isBandMapped ?? true) }

  /// The acceleration of the hardware for a full-scale sine, in decibels relative to any one level.
  ///
  /// Measured points decide where there are any, then the model of the resonance; else it is even.
  public func hardwareDecibels(atHertz hertz: Double) -> Double {
    guard let hardware else { return 0 }
    if hardware.response.count > 1 {
      return Self.line(through: hardware.response.map { ($0.hertz, $0.decibels) }, at: hertz)
    }
    guard let model = hardware.model else { return 0 }
    return 20 * logarithm2(max(1e-15, model.acceleration(atHertz: hertz))) / logarithm2(10)
  }

  /// The threshold of feeling at a frequency, in decibels relative to 1 g.
  func threshold(atHertz hertz: Double) -> Double {
    let curve = thresholds.count > 1 ? thresholds : Self.defaultThresholds
    return Self.line(through: curve.map { ($0.hertz, $0.decibels) }, at: hertz)
  }

  /// How far above the threshold a full-scale sine lies behind a drive, but for a constant.
  ///
  /// The acceleration itself where equal sensation is not asked for.
  func feltDecibels(atHertz hertz: Double, drive: TransducerSettings?) -> Double {
    var felt = hardwareDecibels(atHertz: hertz)
    if let drive {
      felt += 20 * logarithm2(max(1e-15, drive.driveResponse(atHertz: hertz))) / logarithm2(10)
    }
    return hasEqualSensation ? felt - threshold(atHertz: hertz) : felt
  }

  /// Linear between points on a logarithmic axis, and level outside; points rise in frequency.
  private static func line(through points: [(hertz: Double, decibels: Double)], at hertz: Double)
    -> Double
  {
    guard let first = points.first, let last = points.last else { return 0 }
    if hertz <= first.hertz { return first.decibels }
    for (low, high) in zip(points, points.dropFirst()) where hertz <= high.hertz {
      let part = logarithm2(hertz / low.hertz) / logarithm2(high.hertz / low.hertz)
      return low.decibels + (high.decibels - low.decibels) * part
    }
    return last.decibels
  }
}
