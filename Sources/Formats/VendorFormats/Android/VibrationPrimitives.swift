/// Approximations of the predefined vibrations.
///
/// Each device has its own waveforms for them. Android publishes their names and descriptions, but
/// no waveforms. The events follow the descriptions, and the durations are estimates.
enum VibrationPrimitives {
  /// An approximation of one predefined vibration: transients with delays in milliseconds, and a
  /// continuous event whose intensity is linear between points.
  struct VibrationApproximation: Sendable {
    /// The duration of the vibration, after which the next vibration can begin, in milliseconds.
    var vibrationDurationMilliseconds: Int
    var transients: [(delay: Int, intensity: Float, sharpness: Float)] = []
    var intensityPoints: [(time: Int, intensity: Float)] = []
    var continuousSharpness: Float = 0.5

    static func transient(_ intensity: Float, sharpness: Float, durationMilliseconds: Int)
      -> VibrationApproximation
    {
      VibrationApproximation(
        vibrationDurationMilliseconds: durationMilliseconds, transients: [(0, intensity, sharpness)]
      )
    }
  }

  /// The names of composable primitives in vibration XML.
  static let primitiveNames = [
    "low_tick", "tick", "click", "slow_rise", "quick_rise", "quick_fall", "spin", "thud",
  ]
  static let predefinedNames = ["tick", "click", "heavy_click", "double_click"]

  private static let approximations: [String: VibrationApproximation] = [
    "click": .transient(1, sharpness: 0.5, durationMilliseconds: 12),
    "tick": .transient(0.6, sharpness: 0.8, durationMilliseconds: 8),
    "low_tick": .transient(0.4, sharpness: 0.3, durationMilliseconds: 12),
    "heavy_click": .transient(1, sharpness: 0.35, durationMilliseconds: 16),
    "double_click": VibrationApproximation(
      vibrationDurationMilliseconds: 112, transients: [(0, 1, 0.5), (100, 1, 0.5)]),
    "thud": VibrationApproximation(
      vibrationDurationMilliseconds: 80, transients: [(0, 1, 0.05)],
      intensityPoints: [(0, 1), (80, 0)],
      continuousSharpness: 0.05),
    "slow_rise": VibrationApproximation(
      vibrationDurationMilliseconds: 500, intensityPoints: [(0, 0), (500, 1)]),
    "quick_rise": VibrationApproximation(
      vibrationDurationMilliseconds: 150, intensityPoints: [(0, 0), (150, 1)]),
    "quick_fall": VibrationApproximation(
      vibrationDurationMilliseconds: 100, intensityPoints: [(0, 1), (100, 0)]),
    "spin": VibrationApproximation(
      vibrationDurationMilliseconds: 150,
      intensityPoints: [(0, 0), (38, 1), (75, 0), (113, 1), (150, 0)]),
  ]

  static func approximation(of name: String) -> VibrationApproximation {
    approximations[name] ?? VibrationApproximation(vibrationDurationMilliseconds: 0)
  }

  /// Returns the primitive that is closest to a transient, and its scale.
  ///
  /// Also returns the larger of its differences in intensity and sharpness.
  static func nearestPrimitive(intensity: Double, sharpness: Double) -> (
    primitive: String, scale: Float, error: Double
  ) {
    let primitiveCandidates = ["click", "tick", "low_tick"].flatMap { name in
      approximation(of: name).transients.map { tap in
        let scale = min(intensity / Double(tap.intensity), 1)
        let error = max(
          abs(intensity - scale * Double(tap.intensity)), abs(sharpness - Double(tap.sharpness)))
        return (primitive: name, scale: Float(scale), error: error)
      }
    }
    return primitiveCandidates.min { $0.error < $1.error } ?? ("click", Float(intensity), 1)
  }
}
