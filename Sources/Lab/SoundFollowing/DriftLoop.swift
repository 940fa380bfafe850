internal import CMath

/// Estimates the ratio of two clocks from the number of frames that wait between them.
///
/// A proportional-integral controller keeps the number of waiting frames at a target. With the
/// angular bandwidth ω and the smoothed error e, in frames, its output is
///
/// ratio = 1 + 2 ω e / rate + ∫ ω² e / rate dt
///
/// which is critically damped: after a disturbance, it returns without overshoot.
public struct DriftLoop: Sendable {
  /// The frames of the source for each frame of the output: 1 ± 0.001.
  public private(set) var ratio = 1.0
  /// The deviation of the source's clock in parts per million; positive if it is faster.
  public var partsPerMillion: Double { (ratio - 1) * 1e6 }

  /// The bandwidth of the loop, in hertz.
  private static let bandwidthHertz = 0.02
  /// The maximum deviation of the ratio from 1.
  private static let maximumDeviation = 1e-3
  /// The maximum change of the ratio in one update. Larger changes would be audible.
  private static let maximumStep = 2e-6
  /// The time constant of each of two smoothing stages, in seconds.
  private static let smoothingTime = 0.5

  /// The number of waiting frames after one and after two smoothing stages.
  private struct SmoothedFrames {
    var once: Double
    var twice: Double
  }

  private let rate: Double
  private var smoothedFrames: SmoothedFrames?
  private var integral = 0.0

  /// Creates a loop with a ratio of 1.
  ///
  /// - Parameter rate: The nominal sample rate, in hertz.
  public init(rate: Double) { self.rate = rate }

  /// Updates the ratio.
  ///
  /// - Parameters:
  ///   - waitingFrames: The number of waiting frames. Measure it at varying phases of the devices'
  ///     periods: equal phases would beat with the drift.
  ///   - target: The desired number of waiting frames.
  ///   - elapsedSeconds: The time since the previous update.
  public mutating func update(waitingFrames: Double, target: Double, elapsedSeconds: Double) {
    var smoothed =
      smoothedFrames ?? SmoothedFrames(once: waitingFrames, twice: waitingFrames)
    let coefficient = 1 - exp(-elapsedSeconds / Self.smoothingTime)
    smoothed.once += (waitingFrames - smoothed.once) * coefficient
    smoothed.twice += (smoothed.once - smoothed.twice) * coefficient
    smoothedFrames = smoothed
    let error = smoothed.twice - target
    let omega = 2 * .pi * Self.bandwidthHertz
    integral = Self.clamped(integral + omega * omega / rate * error * elapsedSeconds)
    let targetRatio = 1 + Self.clamped(2 * omega / rate * error + integral)
    ratio += max(-Self.maximumStep, min(Self.maximumStep, targetRatio - ratio))
  }

  private static func clamped(_ deviation: Double) -> Double {
    min(maximumDeviation, max(-maximumDeviation, deviation))
  }

  /// Discards the measurements and keeps the ratio. Call it after a gap.
  public mutating func holdRatio() { smoothedFrames = nil }
}
