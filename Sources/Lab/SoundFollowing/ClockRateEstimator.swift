/// An estimator of the actual rate of a sound clock from frame counts at known times.
///
/// Frames arrive in bursts, and a busy machine counts them late, so each count is a little too low.
/// The estimate takes three steps:
///
/// 1. Each window of a second contributes its least delayed count, relative to the nominal rate.
/// 2. The slope is the median of the slopes between all pairs of windows of the last minute (the
/// Theil–Sen estimator), so that windows in which every count was late have no effect.
/// 3. A leap between two windows is a gap, after which the estimate starts again.
public struct ClockRateEstimator: Sendable {
  /// The relative deviation of the clock from its nominal rate, as a fraction.
  ///
  /// The value is nil until enough windows have passed.
  public private(set) var rateDeviationFraction: Double?

  /// The duration of each window for comparing counts, in seconds.
  private static let windowSeconds = 1.0
  /// The maximum number of windows in an estimate, which together span a minute.
  private static let maximumWindowCount = 60
  /// The minimum number of windows for an estimate.
  private static let minimumWindowCount = 15
  /// The minimum jump between two windows due to lost or repeated frames, in seconds.
  private static let minimumLeapSeconds = 0.1

  /// The least delayed frame count in a window.
  private struct FrameCountReading {
    /// The time of the count, in seconds.
    var seconds: Double
    /// The frame count minus the count at the nominal rate, in frames.
    var excessFrameCount: Double
  }

  private let nominalRate: Double
  private var firstFrameCount: (time: Double, count: Int64)?
  private var windowEndSeconds = 0.0
  private var leastDelayedReadingInWindow: FrameCountReading?
  private var leastDelayedReadings: [FrameCountReading] = []

  /// Creates an estimator.
  ///
  /// - Parameter rate: The nominal rate of the clock, in hertz.
  public init(nominalRate rate: Double) { self.nominalRate = rate }

  /// Records the number of frames at a time in seconds.
  ///
  /// - Parameters:
  ///   - frameCount: The number of frames since a fixed moment.
  ///   - seconds: The time of the count.
  public mutating func record(frameCount: Int64, atSeconds seconds: Double) {
    guard let firstFrameCount else {
      firstFrameCount = (seconds, frameCount)
      windowEndSeconds = seconds + Self.windowSeconds
      return
    }
    let elapsedSeconds = seconds - firstFrameCount.time
    let reading = FrameCountReading(
      seconds: elapsedSeconds,
      excessFrameCount: Double(frameCount - firstFrameCount.count) - nominalRate * elapsedSeconds)
    if seconds >= windowEndSeconds {
      closeWindow()
      windowEndSeconds = seconds + Self.windowSeconds
    }
    if reading.excessFrameCount > leastDelayedReadingInWindow?.excessFrameCount ?? -.infinity {
      leastDelayedReadingInWindow = reading
    }
  }

  /// Restarts the estimate after a loss of frames.
  ///
  /// The previous result remains until there is a new one.
  public mutating func restart() {
    firstFrameCount = nil
    leastDelayedReadingInWindow = nil
    leastDelayedReadings = []
  }

  private mutating func closeWindow() {
    guard let reading = leastDelayedReadingInWindow else { return }
    leastDelayedReadingInWindow = nil
    if let previousReading = leastDelayedReadings.last,
      abs(reading.excessFrameCount - previousReading.excessFrameCount) > Self.minimumLeapSeconds
        * nominalRate
    {
      leastDelayedReadings = []
    }
    leastDelayedReadings.append(reading)
    leastDelayedReadings.removeFirst(max(0, leastDelayedReadings.count - Self.maximumWindowCount))
    if leastDelayedReadings.count >= Self.minimumWindowCount {
      rateDeviationFraction = medianSlope / nominalRate
    }
  }

  private var medianSlope: Double {
    var pairSlopes: [Double] = []
    for (index, first) in leastDelayedReadings.enumerated() {
      for second in leastDelayedReadings[(index + 1)...] where second.seconds > first.seconds {
        pairSlopes.append(
          (second.excessFrameCount - first.excessFrameCount) / (second.seconds - first.seconds))
      }
    }
    pairSlopes.sort()
    return pairSlopes.isEmpty ? 0 : pairSlopes[pairSlopes.count / 2]
  }
}
