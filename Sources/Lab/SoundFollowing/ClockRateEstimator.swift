/// Estimates the rate of a clock that counts frames, from counts at known times.
///
/// Frames arrive in bursts, and a busy machine counts them late, so each count is a little too low.
/// The estimate takes three steps:
///
/// 1. Each window of a second contributes its least delayed count, relative to the nominal rate.
/// 2. The slope is the median of the slopes between all pairs of windows of the last minute (the
///    Theil–Sen estimator), so that windows in which every count was late have no effect.
/// 3. A leap between two windows is a gap, after which the estimate starts again.
public struct ClockRateEstimator: Sendable {
  /// The deviation from the nominal rate, as a fraction; nil until enough windows have passed.
  public private(set) var rateDeviation: Double?

  /// The duration of a window in seconds.
  private static let windowSeconds = 1.0
  /// The maximum number of windows: a minute.
  private static let maximumWindowCount = 60
  /// The minimum number of windows for an estimate.
  private static let minimumWindowCount = 15
  /// The leap in seconds from which frames count as lost or repeated.
  private static let windowGapSeconds = 0.1

  /// The least delayed count of a window.
  private struct Reading {
    /// The time in seconds.
    var time: Double
    /// The difference from the nominal count, in frames.
    var excessFrames: Double
  }

  private let rate: Double
  private var origin: (time: Double, count: Int64)?
  private var windowEnd = 0.0
  private var latest: Reading?
  private var readings: [Reading] = []

  /// Creates an estimator.
  ///
  /// - Parameter rate: The nominal rate of the clock, in hertz.
  public init(rate: Double) { self.rate = rate }

  /// Records a count.
  ///
  /// - Parameters:
  ///   - frameCount: The number of frames since a fixed moment.
  ///   - seconds: The time of the count.
  public mutating func record(frameCount: Int64, at seconds: Double) {
    guard let origin else {
      origin = (seconds, frameCount)
      windowEnd = seconds + Self.windowSeconds
      return
    }
    let time = seconds - origin.time
    let reading = Reading(time: time, excessFrames: Double(frameCount - origin.count) - rate * time)
    if seconds >= windowEnd {
      closeWindow()
      windowEnd = seconds + Self.windowSeconds
    }
    if reading.excessFrames > latest?.excessFrames ?? -.infinity {
      latest = reading
    }
  }

  /// Starts again, after frames were lost. The last estimate remains until there is a new one.
  public mutating func restart() {
    origin = nil
    latest = nil
    readings = []
  }

  private mutating func closeWindow() {
    guard let reading = latest else { return }
    latest = nil
    if let previous = readings.last,
      abs(reading.excessFrames - previous.excessFrames) > Self.windowGapSeconds * rate
    {
      readings = []
    }
    readings.append(reading)
    readings.removeFirst(max(0, readings.count - Self.maximumWindowCount))
    if readings.count >= Self.minimumWindowCount {
      rateDeviation = medianSlope / rate
    }
  }

  private var medianSlope: Double {
    var slopes: [Double] = []
    for (index, first) in readings.enumerated() {
      for second in readings[(index + 1)...] where second.time > first.time {
        slopes.append((second.excessFrames - first.excessFrames) / (second.time - first.time))
      }
    }
    slopes.sort()
    return slopes.isEmpty ? 0 : slopes[slopes.count / 2]
  }
}
