internal import Glibc

/// Decibels and what they stand for.
enum Decibels {
  /// The factor on amplitudes.
  static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }

  /// The decibels of a power ratio; nothing is −300.
  static func ofPower(_ ratio: Double) -> Double { ratio > 1e-30 ? 10 * log10(ratio) : -300 }

  /// The decibels of an amplitude; nothing is −300.
  static func ofAmplitude(_ amplitude: Double) -> Double { ofPower(amplitude * amplitude) }
}
