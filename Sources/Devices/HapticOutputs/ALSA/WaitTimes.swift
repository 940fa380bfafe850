/// Records when the render thread waits and works, to determine whether the thread, the device, or
/// a stopped process causes a delay.
struct WaitTimes {
  /// The minimum duration by which a wait must be too long for the process to count as stopped.
  private static let stoppedProcessThreshold = Duration.milliseconds(250)
  /// The time after the process was stopped within which late frames are attributed to the stop.
  private static let stopAttributionWindow = Duration.milliseconds(100)

  /// The longest time for which calls to the device have blocked the render thread between two
  /// waits.
  private(set) var maximumDeviceCallDuration = Duration.zero
  /// The end of the last wait, at which the thread continued to render.
  private var renderStartTime = Duration.zero
  /// The time at which the sink last returned to the render loop; nil before that.
  private var lastSinkReturnTime: Duration?
  /// The duration by which the most recent overlong wait exceeded its expected end.
  private var oversleepDuration = Duration.zero
  /// The time at which the most recent overlong wait ended.
  private var oversleepEndTime = Duration.zero

  /// Records that the render loop calls the sink. If the thread spent longer than the duration of
  /// the buffer outside the sink, the process was stopped.
  mutating func enterSink(now: Duration, bufferDuration: Duration) {
    if let lastSinkReturnTime {
      recordOversleep(now - lastSinkReturnTime - bufferDuration, end: now)
    }
    renderStartTime = now
  }

  /// Records that the sink returns to the render loop. The return ends the interval in which device
  /// calls can block the thread, as a wait does.
  mutating func leaveSink(now: Duration) {
    beginWait(now: now)
    lastSinkReturnTime = now
  }

  /// Discards the time of the last return, so that the thread may stay outside the sink for any
  /// time.
  mutating func discardLastReturn() { lastSinkReturnTime = nil }

  /// Records the start of a wait. The time since the end of the previous wait counts as blocked by
  /// calls to the device.
  mutating func beginWait(now: Duration) {
    maximumDeviceCallDuration = max(maximumDeviceCallDuration, now - renderStartTime)
  }

  /// Records the end of a wait that was expected to end at a given time.
  mutating func endWait(now: Duration, expectedEnd: Duration) {
    renderStartTime = now
    recordOversleep(now - expectedEnd, end: now)
  }

  /// Excludes the duration of a device call from the time that the thread spent outside the sink.
  mutating func recordDeviceCall(_ duration: Duration) {
    lastSinkReturnTime = lastSinkReturnTime.map { $0 + duration }
  }

  /// Returns whether the process was stopped recently, in which case late frames are not caused by
  /// a slow process.
  func wasProcessStopped(before now: Duration) -> Bool {
    oversleepDuration > Self.stoppedProcessThreshold
      && now - oversleepEndTime < Self.stopAttributionWindow
  }

  private mutating func recordOversleep(_ duration: Duration, end: Duration) {
    if duration > Self.stoppedProcessThreshold {
      oversleepDuration = duration
      oversleepEndTime = end
    }
  }
}
