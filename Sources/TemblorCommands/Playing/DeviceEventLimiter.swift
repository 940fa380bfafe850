import HapticPlayback
import SystemSupport

/// What went wrong at a device, counted, and told no more often than somebody can read.
struct DeviceEventLimiter {
  /// The least time between two messages about under-runs.
  static let interval = Duration.seconds(1)

  /// Times that the device ran dry.
  private(set) var underrunCount = 0
  /// Frames that could not be heard.
  private(set) var missedFrameCount = 0
  private var untoldCount = 0
  private var untoldFrameCount = 0
  private var lastTold: Duration?

  /// Counts a notice; answers what to tell of it now.
  mutating func add(_ notice: SinkEvent, at now: Duration, rate: Double) -> String? {
    missedFrameCount += notice.missedFrameCount
    guard notice.kind == .underrun else { return notice.text.printable + gap(notice, rate) }
    underrunCount += 1
    untoldCount += 1
    untoldFrameCount += notice.missedFrameCount
    if let lastTold, now - lastTold < Self.interval { return nil }
    lastTold = now
    return takeUntold(rate: rate)
  }

  /// What was counted and not yet told.
  mutating func takeUntold(rate: Double) -> String? {
    guard untoldCount > 0 else { return nil }
    let what = untoldCount == 1 ? "underrun" : "\(untoldCount) underruns"
    let milliseconds = NumberFormatting.rounded(Double(untoldFrameCount) * 1_000 / rate, places: 1)
    untoldCount = 0
    untoldFrameCount = 0
    return "\(what): \(milliseconds) ms of audio lost; use a larger '--buffer'"
  }

  private func gap(_ notice: SinkEvent, _ rate: Double) -> String {
    guard notice.missedFrameCount > 0 else { return "" }
    let seconds = NumberFormatting.rounded(Double(notice.missedFrameCount) / rate, places: 3)
    return "; \(seconds) s of audio lost"
  }
}
