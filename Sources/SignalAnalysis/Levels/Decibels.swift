internal import Glibc

/// Levels of amplitudes and powers.
public enum Decibels {
  /// What silence is given instead of negative infinity.
  public static let silence = -200.0

  /// The factor on amplitudes that decibels stand for: 10^(decibels / 20).
  public static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }

  /// 20 · log10 of an amplitude, at least −200.
  public static func of(amplitude: Double) -> Double {
    amplitude > 1e-10 ? 20 * log10(amplitude) : silence
  }

  /// 10 · log10 of a power, at least −200.
  public static func of(power: Double) -> Double {
    power > 1e-20 ? 10 * log10(power) : silence
  }
}
