internal import HapticPlayback

/// The state of a sink's connection to its device, including the attempts to recover or reopen the
/// device.
struct RecoveryState {
  enum Phase: Equatable {
    case open
    case idle
    case suspended(since: Duration, nextAttempt: Duration)
    case disconnected(nextAttempt: Duration)
    case ended
  }

  /// The maximum number of consecutive recoveries without success, after which a device counts as
  /// disconnected.
  static let maximumFailedRecoveryCount = 64
  /// The interval between attempts to reopen a device. In the first two seconds, attempts are twice
  /// as frequent, because a restarted server usually returns within this time.
  static let reopeningInterval = Duration.milliseconds(500)

  var phase = Phase.open
  /// A Boolean value that indicates whether the device was reopened and has not yet played a
  /// period.
  var hasJustReconnected = false
  /// A Boolean value that indicates whether the device has never been open.
  var isWaitingForFirstDevice = false
  /// The number of consecutive recoveries without success.
  private var failedRecoveryCount = 0
  private var recoveryCountStartTime = Duration.zero
  private var lastReopeningTime: Duration?
  private var disconnectionTime = Duration.zero
  /// The error that was last reported about a disconnected device.
  private var lastReportedError: OutputError?

  /// Counts an attempt to recover the device, and returns whether another attempt is permitted.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - window: The duration after which a recovery counts as successful.
  /// - Returns: False if there were too many recoveries without success.
  mutating func beginRecovery(now: Duration, window: Duration) -> Bool {
    if now - recoveryCountStartTime > window {
      recoveryCountStartTime = now
      failedRecoveryCount = 0
    }
    failedRecoveryCount += 1
    return failedRecoveryCount <= Self.maximumFailedRecoveryCount
  }

  /// Records a disconnection. The first attempt to reopen the device follows at once, unless the
  /// previous attempt was too recent.
  mutating func recordDisconnection(now: Duration) {
    lastReportedError = nil
    disconnectionTime = now
    let nextAttemptTime = lastReopeningTime.map { max(now, $0 + Self.reopeningInterval) } ?? now
    phase = .disconnected(nextAttempt: nextAttemptTime)
  }

  /// Initializes the state of a sink that replaces a hanging sink. The device starts as
  /// disconnected, and the first attempt to reopen it follows after the retry interval.
  mutating func startDisconnected(now: Duration) {
    lastReopeningTime = now
    phase = .disconnected(nextAttempt: now + Self.reopeningInterval)
  }

  /// Records an attempt to reopen the device, and schedules the next attempt.
  mutating func beginReopening(now: Duration) {
    lastReopeningTime = now
    let intervalDivisor = now - disconnectionTime < .seconds(2) ? 2 : 1
    phase = .disconnected(nextAttempt: now + Self.reopeningInterval / intervalDivisor)
  }

  /// Returns whether the sink must wait until the lost device is closed before it reopens the
  /// device, which would otherwise be busy.
  ///
  /// libjack frees the clients of a lost server when it opens another client; it would free a
  /// client that is being closed twice. The wait for a JACK client is therefore longer.
  func mustWaitForDeviceClosing(isJACKClient: Bool, now: Duration) -> Bool {
    let closingTimeout =
      isJACKClient ? Duration.seconds(30) : Self.reopeningInterval + Self.reopeningInterval
    return now - disconnectionTime < closingTimeout
  }

  /// Returns whether the error of an attempt to reopen the device is new and must be reported. A
  /// device that is still missing is not reported.
  mutating func shouldReport(_ error: OutputError) -> Bool {
    defer { lastReportedError = error }
    return error != lastReportedError && error.kind != .notFound
  }
}
