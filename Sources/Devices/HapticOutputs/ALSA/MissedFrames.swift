internal import HapticPlayback

/// Counts the frames that were not heard, until they have been reported to the render loop and as
/// events.
struct MissedFrames {
  /// The effect of a discontinuity on the frames that follow.
  enum Discontinuity {
    /// The device stopped or lost its buffer, so that later frames start from silence.
    case interrupted
    /// The device continues late, so that its buffer must end before later frames can catch up.
    case late
  }

  /// The most recent discontinuity that `popReadiness()` has not reported yet, or nil.
  private var discontinuity: Discontinuity?
  /// The number of missed frames that `popReadiness()` has not yet reported.
  private var unreportedFrameCount = 0
  /// The number of frames that have been missed since the device was disconnected.
  private(set) var missedCountSinceDisconnection = 0
  /// The time interval of the most recent interruption, which may contain short stretches of sound.
  private var latestInterruption: (start: Duration, end: Duration)?

  /// A Boolean value that indicates whether a discontinuity has not been reported.
  var hasUnreportedDiscontinuity: Bool { discontinuity != nil }

  /// Records frames that the render loop must skip.
  ///
  /// - Parameters:
  ///   - count: The number of frames.
  ///   - kind: The discontinuity. A late device does not replace an unreported interruption.
  mutating func record(_ count: Int, as kind: Discontinuity) {
    unreportedFrameCount += count
    discontinuity = kind == .late && discontinuity != .interrupted ? .late : .interrupted
  }

  /// Returns the discontinuity that has not been reported, with the number of frames that the
  /// render loop must skip; nil if there is none.
  mutating func popReadiness() -> SinkReadiness? {
    guard let discontinuity else { return nil }
    let missedFrameCount = unreportedFrameCount
    self.discontinuity = nil
    unreportedFrameCount = 0
    return discontinuity == .late
      ? .late(frameCount: missedFrameCount) : .missed(frameCount: missedFrameCount)
  }

  // MARK: - Disconnection

  mutating func beginDisconnection(lostCount: Int) { missedCountSinceDisconnection = lostCount }

  mutating func addMissedWhileDisconnected(_ count: Int) { missedCountSinceDisconnection += count }

  /// Returns the number of frames missed since the device was disconnected, and resets the number.
  mutating func endDisconnection() -> Int {
    defer { missedCountSinceDisconnection = 0 }
    return missedCountSinceDisconnection
  }

  // MARK: - Interruption

  /// Extends the current interruption, or begins a new interruption after a sufficiently long
  /// stretch of sound.
  ///
  /// - Parameters:
  ///   - start: The start of the silence.
  ///   - end: Its end.
  ///   - tolerance: The minimum duration of sound between two interruptions.
  mutating func extendInterruption(
    from start: Duration, to end: Duration, tolerance: Duration
  ) {
    if let latestInterruption, start - latestInterruption.end < tolerance {
      self.latestInterruption = (latestInterruption.start, end)
    } else {
      latestInterruption = (start, end)
    }
  }

  /// Returns whether the most recent interruption ended at most the given duration ago.
  func wasInterrupted(within window: Duration, before now: Duration) -> Bool {
    guard let latestInterruption else { return false }
    return now - latestInterruption.end <= window
  }

  /// The duration of the most recent interruption.
  var interruptionDuration: Duration {
    guard let latestInterruption else { return .zero }
    return latestInterruption.end - latestInterruption.start
  }
}
