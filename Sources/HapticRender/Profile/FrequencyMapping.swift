/// How sharpness becomes frequency.
public struct FrequencyMapping: Equatable, Sendable {
  /// Whether equal steps of sharpness are equal intervals or equal differences of frequency.
  public enum Scale: String, CaseIterable, Sendable {
    /// f = low · (high / low)^S.
    case logarithmic
    /// f = low + (high − low) · S.
    case linear
  }

  /// Hertz at sharpness 0.
  public var low: Double
  /// Hertz at sharpness 1.
  public var high: Double
  /// What lies between.
  public var scale: Scale

  /// Makes a law between two positive frequencies.
  public init(low: Double, high: Double, scale: Scale = .logarithmic) {
    self.low = low
    self.high = high
    self.scale = scale
  }

  /// Hertz at a sharpness, which is clamped to 0…1.
  public func hertz(atSharpness sharpness: Double) -> Double {
    let s = min(max(sharpness, 0), 1)
    switch scale {
    case .logarithmic: return low * raised(high / low, to: s)
    case .linear: return low + (high - low) * s
    }
  }
}
