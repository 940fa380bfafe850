/// How far what was played may be from what is expected.
public struct HapticTolerance: Equatable, Sendable {
  /// Seconds by which onsets and durations may differ.
  public var seconds: Double
  /// By how much intensities, 0…1, may differ.
  public var intensity: Double
  /// By how much sharpnesses, 0…1, may differ.
  public var sharpness: Double

  /// Makes a tolerance.
  public init(seconds: Double, intensity: Double, sharpness: Double) {
    (self.seconds, self.intensity, self.sharpness) = (seconds, intensity, sharpness)
  }

  /// Roundings alone: 1 ms, 0.001, 0.001.
  public static let exact = HapticTolerance(seconds: 0.001, intensity: 0.001, sharpness: 0.001)

  /// What a hand does not notice: 5 ms, 0.05, 0.1.
  public static let perceptible = HapticTolerance(seconds: 0.005, intensity: 0.05, sharpness: 0.1)
}
