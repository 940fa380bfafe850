internal import CMath

/// A control loop that matches a resampling ratio to the clocks of a source and an output.
///
/// The loop keeps a constant number of frames in the buffer between the clocks.
///
/// The ratio is that of the clocks, as estimated from counts of frames, and a correction that keeps
/// the number of waiting frames at a target. With the angular bandwidth ω and the smoothed error e,
/// in frames:
///
/// ratio = 1 + estimate + 2 ω e
/// rate
///
/// Bursts and gaps of a source move e for seconds, but neither the estimate nor, beyond a limit,
/// the ratio.
public struct DriftLoop: Sendable {
  /// The resampling ratio: the number of source frames for each output frame.
  public private(set) var resamplingRatio = 1.0

  /// The bandwidth of the control loop, in hertz.
  private static let loopBandwidthHertz = 0.02
  /// The maximum deviation between the rates of the two clocks, as a fraction.
  private static let maximumClockDeviationFraction = 1e-3
  /// The maximum correction of the resampling ratio, as a fraction.
  private static let maximumRatioCorrectionFraction = 3e-4
  /// The maximum change of the resampling ratio per second. Faster changes would be audible.
  private static let maximumRatioChangePerSecond = 1e-4
  /// The time constant of each smoothing stage for the buffered frames, in seconds.
  ///
  /// There are two stages.
  private static let smoothingTimeConstantSeconds = 0.5

  /// The number of buffered frames after one and after two smoothing stages.
  private struct SmoothedFrames {
    var afterFirstStage: Double
    var afterSecondStage: Double
  }

  private let sourceSampleRate: Double
  private var smoothedFrames: SmoothedFrames?

  /// Creates a control loop with a resampling ratio of 1.
  ///
  /// - Parameter rate: The nominal sample rate, in hertz.
  public init(sourceSampleRate rate: Double) { self.sourceSampleRate = rate }

  /// Updates the resampling ratio from the number of frames that wait in the buffer.
  ///
  /// - Parameters:
  ///   - waitingFrames: The number of waiting frames. Measure it at varying phases of the devices'
  ///     periods: equal phases would beat with the drift.
  ///   - target: The desired number of waiting frames.
  ///   - elapsedSeconds: The time since the previous update.
  ///   - estimate: The estimated deviation of the source's clock from that of the output, as a
  ///     fraction; nil while it is unknown.
  public mutating func update(
    waitingFrames: Double, target: Double, elapsedSeconds: Double, estimate: Double? = nil
  ) {
    var smoothedWaitingFrames =
      smoothedFrames
      ?? SmoothedFrames(afterFirstStage: waitingFrames, afterSecondStage: waitingFrames)
    let smoothingCoefficient = 1 - exp(-elapsedSeconds / Self.smoothingTimeConstantSeconds)
    smoothedWaitingFrames.afterFirstStage +=
      (waitingFrames - smoothedWaitingFrames.afterFirstStage) * smoothingCoefficient
    smoothedWaitingFrames.afterSecondStage +=
      (smoothedWaitingFrames.afterFirstStage - smoothedWaitingFrames.afterSecondStage)
      * smoothingCoefficient
    smoothedFrames = smoothedWaitingFrames
    let loopRadiansPerSecond = 2 * .pi * Self.loopBandwidthHertz
    let correctionFraction =
      2 * loopRadiansPerSecond / sourceSampleRate
      * (smoothedWaitingFrames.afterSecondStage - target)
    let targetRatio =
      1 + Self.clamped(estimate ?? 0, to: Self.maximumClockDeviationFraction)
      + Self.clamped(correctionFraction, to: Self.maximumRatioCorrectionFraction)
    resamplingRatio += Self.clamped(
      targetRatio - resamplingRatio, to: Self.maximumRatioChangePerSecond * elapsedSeconds)
  }

  private static func clamped(_ value: Double, to limit: Double) -> Double {
    min(limit, max(-limit, value))
  }

  /// Discards the measurements but keeps the resampling ratio.
  ///
  /// Call this method after a gap in the source.
  public mutating func holdRatio() { smoothedFrames = nil }
}
