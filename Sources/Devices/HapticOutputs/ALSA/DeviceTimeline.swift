/// A timeline that determines when each frame that is written to a device is heard.
///
/// A device plays its frames one after the other, so one time, the end of its last frame,
/// determines the time of every frame before and after it:
///
///     time  ───┬──────────────┬──────────────┬──────────────────┬──────────────────▶
///             now      silenceEndTime playbackEndTime  due time of the next frame
///
///     frames   │◀─ silence ──▶│◀─ rendered ─▶│◀pending silence ▶│◀ pending frames …
///              │◀──── queued in the device ─▶│◀── not yet accepted by the device ──
///
/// 1. Before the start, frames only fill the buffer (`prefilledFrameCount`). `start` sets
///    `playbackEndTime` to the end of the filled buffer.
/// 2. Every frame that the device accepts moves `playbackEndTime` by its duration.
/// 3. `trackDeviceClock` replaces `playbackEndTime` by the device's own measurement. The
///    difference, the slip, comes from the drift between two clocks, or from a leap. It accumulates
///    in `uncorrectedDeviceLag`, which decays at the rate of a drift. A lag beyond a tolerance is a
///    discontinuity.
/// 4. After a discontinuity, `correctDiscontinuity` sets `playbackEndTime` to the end of the frames
///    that the device still plays. The difference to the due time, `uncorrectedDeviceLag`
///    included, is the number of frames to skip, or to replace by silence, so that all later frames
///    are heard on time.
struct DeviceTimeline {
  /// A discontinuity in playback, by its direction.
  enum DiscontinuityDirection: Equatable {
    /// The device plays later than its frames are due.
    case late
    /// The device plays earlier than its frames are due, because it skipped frames.
    case early
  }

  /// The result of correcting the timeline after a discontinuity.
  struct Correction: Equatable {
    /// The number of frames to skip because they are overdue.
    /// A negative number counts the frames of silence that replace lost frames.
    let skippedFrameCount: Int
    /// The number of rendered frames that the device lost.
    let lostFrameCount: Int
    /// The number of frames that the device still plays.
    let queuedFrameCount: Int
    /// The time at which the next frame was due before the correction.
    let dueTime: Duration
  }

  let frameTime: FrameTime
  /// The duration of the silence that is played before the first frame to warm a device up.
  private let warmUpDuration: Duration
  /// The configuration of the open device, or of the device that was open most recently.
  var configuration: PCMConfiguration

  /// The time at which all frames that the device has accepted will have been heard; nil before the
  /// first start.
  private(set) var playbackEndTime: Duration?
  /// The time until which the device plays silence, or frames that already count as lost.
  private(set) var silenceEndTime = Duration.zero
  /// The number of silent frames to write before the next frame, to delay a device that is early or
  /// to warm it up.
  private(set) var pendingSilenceFrameCount = 0

  /// A Boolean value that indicates whether the device is running. Before the start, the device
  /// only stores frames.
  private(set) var isDeviceStarted = false
  /// The number of frames that were written after the device was prepared and before it starts.
  private(set) var prefilledFrameCount = 0
  /// The number of silent frames in `prefilledFrameCount`.
  private var prefilledSilentFrameCount = 0

  /// A Boolean value that indicates whether the device has run steadily since its first start.
  private(set) var isDeviceSteady = false
  private var steadyPlaybackStartTime: Duration?
  /// The state of the warm-up, or nil if no warm-up is in progress.
  private(set) var warmUp: WarmUp?
  /// The duration by which the device is late and that has not been corrected yet.
  private(set) var uncorrectedDeviceLag = Duration.zero
  private var lastClockTrackingTime = Duration.zero

  /// The number of free frames in the device's buffer at the last poll.
  private var lastAvailableFrameCount: Int
  /// The time at which the device last accepted or played frames.
  private(set) var lastDeviceProgressTime: Duration
  /// The time of the last poll for free space.
  private var lastPollTime = Duration.zero
  /// A Boolean value that indicates whether the device, and not the render thread, causes late
  /// frames. Either the device reported no space although at most half a period remained in its
  /// buffer, or a call to the device took too long.
  private(set) var isDeviceLate = false

  /// Creates the timeline of a device that has not started.
  init(configuration: PCMConfiguration, rate: Double, warmUpDuration: Duration, now: Duration) {
    self.configuration = configuration
    self.warmUpDuration = warmUpDuration
    frameTime = FrameTime(sampleRateHertz: rate)
    lastAvailableFrameCount = configuration.bufferSize
    lastDeviceProgressTime = now
  }

  // MARK: - Changes by the sink

  /// Continues the timeline of the sink that this sink replaces. The next frame is due at the given
  /// time.
  mutating func resume(at due: Duration) {
    playbackEndTime = due
    isDeviceSteady = true
  }

  /// Records the number of frames that the device has accepted.
  mutating func recordWritten(_ frameCount: Int, isSilence: Bool, now: Duration) {
    if !isDeviceStarted {
      prefilledFrameCount += frameCount
      if isSilence {
        prefilledSilentFrameCount += frameCount
      }
    }
    playbackEndTime = playbackEndTime.map { $0 + frameTime.duration(of: frameCount) }
    if isSilence {
      pendingSilenceFrameCount -= frameCount
      if let playbackEndTime {
        silenceEndTime = playbackEndTime
      }
    }
    lastAvailableFrameCount -= frameCount
    lastDeviceProgressTime = now
    isDeviceLate = false
  }

  /// A Boolean value that indicates whether the device has not started and its buffer has no space
  /// for another period.
  var isBufferFilled: Bool {
    !isDeviceStarted && prefilledFrameCount + configuration.periodSize > configuration.bufferSize
  }

  /// Records the start of the device.
  mutating func start(now: Duration) {
    isDeviceStarted = true
    let bufferEndTime = now + frameTime.duration(of: prefilledFrameCount)
    // After a discontinuity, filling the buffer took time; the next correction includes it.
    if let playbackEndTime {
      uncorrectedDeviceLag += bufferEndTime - playbackEndTime
    }
    playbackEndTime = bufferEndTime
    silenceEndTime =
      bufferEndTime - frameTime.duration(of: prefilledFrameCount - prefilledSilentFrameCount)
    prefilledFrameCount = 0
    prefilledSilentFrameCount = 0
    lastDeviceProgressTime = now
  }

  /// Records that the device is empty and stopped.
  mutating func recordDeviceStop(now: Duration) {
    isDeviceStarted = false
    prefilledFrameCount = 0
    prefilledSilentFrameCount = 0
    lastAvailableFrameCount = configuration.bufferSize
    lastDeviceProgressTime = now
    lastPollTime = now
    isDeviceLate = false
  }

  /// Discards the due times of frames, so that the next frame is played as soon as possible, like
  /// the first frame.
  mutating func discardDueTimes() {
    playbackEndTime = nil
    isDeviceSteady = false
    steadyPlaybackStartTime = nil
    uncorrectedDeviceLag = .zero
  }

  /// Marks the frames of a disconnected device as lost. If playback has not started, its start time
  /// becomes the current time.
  mutating func recordDisconnection(now: Duration) {
    let resumptionTime = playbackEndTime ?? now + frameTime.duration(of: prefilledFrameCount)
    playbackEndTime = resumptionTime
    silenceEndTime = resumptionTime
    warmUp = nil
  }

  mutating func addPendingSilence(_ frameCount: Int) { pendingSilenceFrameCount += frameCount }

  mutating func markDeviceLate() { isDeviceLate = true }

  // MARK: - Measurements of the device

  /// Records the free space in the device's buffer.
  ///
  /// - Parameters:
  ///   - available: The free space in frames.
  ///   - start: The time before the call to the device.
  ///   - end: The time after the call.
  /// - Returns: True if the device has moved on since the last poll; only then does it report its
  ///   position.
  mutating func recordPoll(available: Int, start: Duration, end: Duration) -> Bool {
    lastPollTime = end
    guard available != lastAvailableFrameCount else { return false }
    lastAvailableFrameCount = available
    lastDeviceProgressTime = start
    return true
  }

  mutating func recordDeviceProgress(now: Duration) { lastDeviceProgressTime = now }

  /// Returns the number of rendered frames in the device's buffer that have not been heard and
  /// would be lost if the device stopped now. A device that was stalled at the last poll had played
  /// nothing until then.
  func droppedFrameCount(now: Duration) -> Int {
    guard isDeviceStarted, let playbackEndTime else {
      return max(0, prefilledFrameCount - prefilledSilentFrameCount)
    }
    if configuration.isFasterThanRealTime {
      return max(0, frameTime.frameCount(in: playbackEndTime - max(now, silenceEndTime)))
    }
    let playedUntilTime = min(now, lastDeviceProgressTime + (now - lastPollTime))
    let unplayedFrameCount = frameTime.frameCount(
      in: playbackEndTime - max(playedUntilTime, silenceEndTime))
    return max(0, min(unplayedFrameCount, configuration.bufferSize - lastAvailableFrameCount))
  }

  /// Returns the number of queued frames, estimated by the clock for a device that does not measure
  /// them.
  func queuedFrameCount(now: Duration) -> Int {
    frameTime.frameCount(touching: max(.zero, (playbackEndTime ?? now) - now))
  }

  /// Returns the number of frames that should have been played since the device ran out of frames.
  func overdueFrameCount(now: Duration) -> Int {
    max(0, frameTime.frameCount(in: now - (playbackEndTime ?? now)))
  }

  /// Tracks the device's clock, which drifts slightly from the machine's clock.
  ///
  /// Some sound servers run dry without reporting it. Leaps that are too small to report therefore
  /// accumulate in `uncorrectedDeviceLag`, which decays as fast as clocks may drift, 200 ppm.
  ///
  /// - Parameters:
  ///   - queued: The number of frames in the device, as measured by it.
  ///   - now: The time of the measurement.
  /// - Returns: The direction of a discontinuity; nil for a device that plays on time.
  mutating func trackDeviceClock(queuedCount queued: Int, now: Duration) -> DiscontinuityDirection?
  {
    defer { lastClockTrackingTime = now }
    let measuredEndTime = now + frameTime.duration(of: queued)
    let slipTolerance = deviceLagTolerance(queuedCount: queued)
    let slipDuration = measuredEndTime - (playbackEndTime ?? measuredEndTime)
    playbackEndTime = measuredEndTime
    if warmUp != nil {
      // Frames that a server dropped or did not have were silence; later ones may be as well.
      if slipDuration < .zero - deviceLeadTolerance / 2 || slipDuration > slipTolerance
        || queued <= 1
      {
        warmUp?.steadyPlaybackStartTime = now
      }
      return nil
    }
    guard isDeviceSteady else {
      return settleDeviceClock(slip: slipDuration, slipTolerance: slipTolerance, now: now)
    }
    return accumulateDeviceLag(slip: slipDuration, slipTolerance: slipTolerance, now: now)
  }

  /// Follows the clock of a device that has just started, until the device runs steadily. A sound
  /// server may start slowly, and the due times of frames are known only afterward.
  private mutating func settleDeviceClock(slip: Duration, slipTolerance: Duration, now: Duration)
    -> DiscontinuityDirection?
  {
    if warmUpFrameCount > 0, slip < .zero - deviceLeadTolerance {
      uncorrectedDeviceLag = slip
      return .early
    }
    if steadyPlaybackStartTime == nil || slip > slipTolerance {
      steadyPlaybackStartTime = now
    }
    isDeviceSteady = now - (steadyPlaybackStartTime ?? now) > .milliseconds(250)
    return nil
  }

  private mutating func accumulateDeviceLag(slip: Duration, slipTolerance: Duration, now: Duration)
    -> DiscontinuityDirection?
  {
    uncorrectedDeviceLag += slip
    let driftDuration = min(
      max(uncorrectedDeviceLag, .zero - uncorrectedDeviceLag), (now - lastClockTrackingTime) / 5_000
    )
    uncorrectedDeviceLag -= uncorrectedDeviceLag > .zero ? driftDuration : .zero - driftDuration
    if uncorrectedDeviceLag > slipTolerance { return .late }
    let isDeviceEarly =
      slip < .zero - deviceLeadTolerance / 2 && uncorrectedDeviceLag < .zero - deviceLeadTolerance
    return isDeviceEarly ? .early : nil
  }

  /// The duration by which a device may be ahead of the timeline without a discontinuity. A device
  /// reports its position in steps of a period or less.
  private var deviceLeadTolerance: Duration {
    max(.milliseconds(8), frameTime.duration(of: positionStepFrameCount))
  }

  private func deviceLagTolerance(queuedCount: Int) -> Duration {
    queuedCount == 0
      ? frameTime.duration(of: configuration.periodSize)
      : max(.milliseconds(30), frameTime.duration(of: positionStepFrameCount))
  }

  /// The step in which a device reports its position, in frames.
  private var positionStepFrameCount: Int {
    max(2 * configuration.periodSize, configuration.bufferSize / 2)
  }

  // MARK: - Correction

  /// Corrects the timeline after a discontinuity.
  ///
  /// - Parameters:
  ///   - queuedCount: The number of queued frames that the device will still play; nil if it lost
  ///     them.
  ///   - silentCount: The number of silent frames to play before the next frames.
  ///   - now: The current time.
  /// - Returns: The correction; nil before the first start, and for a device that continues without
  ///   a gap.
  mutating func correctDiscontinuity(queuedCount: Int?, silentCount: Int, now: Duration)
    -> Correction?
  {
    guard let playbackEndTime else {
      pendingSilenceFrameCount = max(pendingSilenceFrameCount, silentCount)
      return nil
    }
    let dueTime = playbackEndTime + frameTime.duration(of: pendingSilenceFrameCount)
    let playableFrameCount = queuedCount ?? 0
    let gapDuration =
      now + frameTime.duration(of: playableFrameCount + silentCount) - dueTime
      + uncorrectedDeviceLag
    let gapFrameCount = frameTime.frameCount(in: gapDuration)
    if queuedCount != nil, gapFrameCount == 0, pendingSilenceFrameCount == 0 { return nil }

    // A device that is ahead of its frames skipped the difference.
    let deviceSkippedFrameCount = playableFrameCount > 0 ? max(0, -gapFrameCount) : 0
    let silentFrameCount = frameTime.frameCount(in: max(.zero, silenceEndTime - now))
    let lostFrameCount =
      queuedCount == nil
      ? droppedFrameCount(now: now) : max(0, deviceSkippedFrameCount - silentFrameCount)

    self.playbackEndTime = now + frameTime.duration(of: playableFrameCount)
    silenceEndTime =
      deviceSkippedFrameCount > 0
      ? silenceEndTime - frameTime.duration(of: deviceSkippedFrameCount) : min(silenceEndTime, now)
    uncorrectedDeviceLag = gapDuration - frameTime.duration(of: gapFrameCount)
    pendingSilenceFrameCount = silentCount
    return Correction(
      skippedFrameCount: gapFrameCount, lostFrameCount: lostFrameCount,
      queuedFrameCount: playableFrameCount,
      dueTime: dueTime)
  }

  // MARK: - Warm-up

  /// The maximum duration of a warm-up, after which frames are played even on an unsteady device.
  static let maximumWarmUpDuration = Duration.seconds(2)

  /// The number of silent frames that precede the first frame, because a sound server may drop
  /// frames when it starts.
  var warmUpFrameCount: Int {
    configuration.isHardware || configuration.isFasterThanRealTime
      ? 0 : frameTime.frameCount(in: warmUpDuration)
  }

  /// Starts a warm-up before the first frame of a stream. A buffer much longer than the warm-up
  /// needs no warm-up: the buffer covers the frames that a server drops, and the wait for the first
  /// frame would be long.
  mutating func beginWarmUp() {
    pendingSilenceFrameCount = warmUpFrameCount
    let needsWarmUp = warmUpFrameCount > 0 && configuration.bufferSize <= 2 * warmUpFrameCount
    warmUp = needsWarmUp ? WarmUp() : nil
  }

  /// Restarts the warm-up of a device that does not run steadily yet. The lost frames were only
  /// silence.
  mutating func restartWarmUp(now: Duration) {
    warmUp?.steadyPlaybackStartTime = now
    playbackEndTime = nil
    uncorrectedDeviceLag = .zero
  }

  /// Requests silence until the device has accepted frames on time for the required duration.
  ///
  /// - Parameters:
  ///   - available: The free space in frames.
  ///   - now: The current time.
  mutating func continueWarmUp(available: Int, now: Duration) {
    guard var warmUpState = warmUp else { return }
    if isDeviceStarted {
      if warmUpState.startTime == nil {
        warmUpState.startTime = now
        warmUpState.steadyPlaybackStartTime = now
      }
      let start = warmUpState.startTime ?? now
      if now - warmUpState.steadyPlaybackStartTime >= warmUpDuration
        || now - start >= Self.maximumWarmUpDuration
      {
        warmUp = nil
        pendingSilenceFrameCount = 0
        return
      }
      warmUp = warmUpState
    }
    pendingSilenceFrameCount = max(pendingSilenceFrameCount, available)
  }
}

/// The progress of a warm-up: silence is played until a sound server runs steadily.
struct WarmUp {
  /// The time at which a poll first found the device running.
  var startTime: Duration?
  /// The time from which on the device has accepted all frames on time.
  var steadyPlaybackStartTime = Duration.zero
}
