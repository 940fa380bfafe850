/// The times at which the render thread waits and works, which show whether it, the device, or the
/// process causes a delay.
struct WaitTimes {
  /// The excess duration of a wait from which the process counts as stopped.
  private static let processStopThreshold = Duration.milliseconds(250)
  /// The time after a stop within which late frames are attributed to it.
  private static let stopAttributionWindow = Duration.milliseconds(100)

  /// The maximum time for which calls of the device have blocked the thread between two waits.
  private(set) var maximumCallDuration = Duration.zero
  /// The end of the last wait, at which the thread continued to render.
  private var workStartTime = Duration.zero
  /// The time at which the sink last returned to the render loop; nil before that.
  private var lastReturnTime: Duration?
  /// The excess duration of the last wait that was too long.
  private var oversleepDuration = Duration.zero
  /// The end of the wait that overslept.
  private var oversleepEnd = Duration.zero

  /// Records that the render loop calls the sink. A thread that was elsewhere for longer than the
  /// buffer was stopped.
  mutating func enter(now: Duration, bufferDuration: Duration) {
    if let lastReturnTime {
      recordOversleep(now - lastReturnTime - bufferDuration, end: now)
    }
    workStartTime = now
  }

  /// Records that the sink returns to the render loop. The return ends the sink's device calls, as
  /// a wait does.
  mutating func leave(now: Duration) {
    beginWait(now: now)
    lastReturnTime = now
  }

  /// Forgets the last return, after which the thread may be elsewhere for any time.
  mutating func restart() { lastReturnTime = nil }

  /// Records the start of a wait. Since the end of the last wait, calls of the device have blocked
  /// the thread.
  mutating func beginWait(now: Duration) {
    maximumCallDuration = max(maximumCallDuration, now - workStartTime)
  }

  /// Records the end of a wait that should have ended at a time.
  mutating func endWait(now: Duration, expectedEnd: Duration) {
    workStartTime = now
    recordOversleep(now - expectedEnd, end: now)
  }

  /// Excludes a call of the device from the time that the thread was elsewhere.
  mutating func recordCall(_ duration: Duration) {
    lastReturnTime = lastReturnTime.map { $0 + duration }
  }

  /// Returns whether the process was stopped recently: a stopped process is not a slow one.
  func wasStopped(before now: Duration) -> Bool {
    oversleepDuration > Self.processStopThreshold && now - oversleepEnd < Self.stopAttributionWindow
  }

  private mutating func recordOversleep(_ duration: Duration, end: Duration) {
    if duration > Self.processStopThreshold {
      oversleepDuration = duration
      oversleepEnd = end
    }
  }
}
