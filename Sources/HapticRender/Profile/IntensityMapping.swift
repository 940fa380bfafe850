/// How intensity becomes amplitude, before the profile's level.
public enum IntensityMapping: Equatable, Sendable {
  /// amplitude = intensity^exponent; the exponent is positive.
  case power(exponent: Double)
  /// Equal steps of intensity are equal steps of sensation: intensity 1 lies `decibels` above the
  /// detection threshold at each frequency, intensity 0 is silence.
  case sensation(decibels: Double)

  /// The amplitude, 0…1, of an intensity, which is clamped to 0…1.
  public func amplitude(atIntensity intensity: Double) -> Double {
    let i = min(max(intensity, 0), 1)
    switch self {
    case .power(let exponent): return raised(i, to: exponent)
    case .sensation(let decibels): return i == 0 ? 0 : raised(10, to: decibels * (i - 1) / 20)
    }
  }
}
