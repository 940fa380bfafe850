import HapticPlayback
import SystemSupport

/// What went wrong at a device while commands were taken.
struct DeviceEventCounter {
  /// Times that the device ran dry.
  var underrunCount = 0
  /// Frames that could not be heard.
  var missedFrameCount = 0
  /// Under-runs that no event has told of.
  var untoldCount = 0
  /// Frames that could not be heard because of them.
  var untoldFrameCount = 0
  /// When an event last told of under-runs, in seconds of the session.
  var lastTold: Double?
}

extension ListenSession {
  /// Seconds between two events of under-runs: a device in trouble has hundreds, which nobody wants to read.
  static let underrunInterval = 1.0

  /// Tells of something that happened at the device.
  func note(_ notice: SinkEvent) {
    trouble.missedFrameCount += notice.missedFrameCount
    let name: String
    switch notice.kind {
    case .underrun:
      trouble.underrunCount += 1
      trouble.untoldCount += 1
      trouble.untoldFrameCount += notice.missedFrameCount
      let isSoon = trouble.lastTold.map { engine.seconds - $0 < Self.underrunInterval } ?? false
      return isSoon ? () : reportUnderruns()
    case .suspended: name = "suspended"
    case .lost: name = "lost"
    case .returned: name = "returned"
    case .failed: name = "failed"
    // Nothing a script could act on; standard error has it.
    case .degraded: return
    }
    let missed = Double(notice.missedFrameCount) / engine.rate
    tell(name, [.number("missed", missed), .pair("text", notice.text)])
  }

  /// Tells of under-runs that were not told yet.
  func reportUnderruns() {
    guard trouble.untoldCount > 0 else { return }
    tell(
      "underrun",
      [
        .number("missed", Double(trouble.untoldFrameCount) / engine.rate),
        .count("count", trouble.untoldCount),
      ])
    trouble.untoldCount = 0
    trouble.untoldFrameCount = 0
    trouble.lastTold = engine.seconds
  }
}
