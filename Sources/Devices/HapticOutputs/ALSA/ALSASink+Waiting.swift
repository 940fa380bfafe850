public import HapticPlayback
internal import Glibc

extension ALSASink {
  /// The maximum duration of one wait. The caller can thus see that the sink responds, and can end
  /// the sink.
  private static var maximumWaitDuration: Duration { .milliseconds(200) }

  /// Waits until the device has space for whole periods, frames were missed, or the thread is
  /// woken.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    watchedDescriptors[0] = PollDescriptor(wake.descriptor)
    let waitStartTime = clock.now
    waitTimes.enterSink(now: waitStartTime, bufferDuration: bufferDuration)
    defer { waitTimes.leaveSink(now: clock.now) }
    let waitDeadline = waitStartTime + Self.maximumWaitDuration
    var isWaitUnproductive = false
    while true {
      if let failure = deferredError {
        deferredError = nil
        recover(from: failure)
      }
      if let readiness = missedFrames.popReadiness() { return readiness }
      let readiness = performNextStep(wake, isUnproductive: &isWaitUnproductive)
      if let readiness { return readiness }
      if deferredError == nil, !missedFrames.hasUnreportedDiscontinuity, clock.now >= waitDeadline {
        return .ready(frameCount: 0)
      }
    }
  }

  /// Performs the next step of the current phase.
  /// Returns nil if the phase or the device has changed, so that another step follows.
  private func performNextStep(_ wake: WakeSignal, isUnproductive: inout Bool) -> SinkReadiness? {
    switch recovery.phase {
    case .ended:
      return .ended
    case .disconnected(let nextAttemptTime):
      return waitForReconnection(nextAttemptTime, wake)
    case .suspended(let suspensionTime, let nextAttemptTime):
      return waitForResumption(suspensionTime, nextAttemptTime, wake)
    case .idle:
      resumeFromIdle()
      return nil
    case .open:
      do {
        return try waitForSpace(wake, isUnproductive: &isUnproductive)
      } catch {
        deferredError = error
        return nil
      }
    }
  }

  /// Polls an open device once and waits once if there is no space.
  ///
  /// A device that signals readiness without having space would make the thread spin: after such an
  /// unproductive wait, the next one uses the clock only.
  private func waitForSpace(_ wake: WakeSignal, isUnproductive: inout Bool)
    throws(PCMFailure) -> SinkReadiness?
  {
    guard let pcm else { return .ended }
    let now = clock.now
    var availableFrameCount = try measureAvailableFrames(pcm, now: now)
    if missedFrames.hasUnreportedDiscontinuity { return nil }
    timeline.continueWarmUp(available: availableFrameCount, now: now)
    if timeline.pendingSilenceFrameCount > 0 || pendingFrames.pendingFrameCount > 0 {
      availableFrameCount -= try writePendingFrames(to: pcm)
    } else if timeline.isBufferFilled {
      // An earlier attempt to start the device failed.
      try startDevice(pcm)
    }
    if let readiness = readiness(available: availableFrameCount) { return readiness }

    let missingDuration = timeline.frameTime.duration(
      of: max(1, configuration.periodSize - availableFrameCount))
    if configuration.isFasterThanRealTime {
      return wait(wake, descriptorCount: 0, limit: missingDuration)
    }
    let waitTimeout = try waitLimit(now: now)
    if isUnproductive {
      isUnproductive = false
      try checkDeviceProgress(now: now)
      return wait(wake, descriptorCount: 0, limit: min(waitTimeout, missingDuration))
    }
    try pcm.pollDescriptors(into: &watchedDescriptors, from: 1)
    let readiness = wait(wake, descriptorCount: watchedDescriptors.count - 1, limit: waitTimeout)
    if readiness == nil {
      isUnproductive = try pcm.receivedEvents(&watchedDescriptors, from: 1) != 0
    }
    return readiness
  }

  /// Returns the number of frames, in whole periods, that the render loop may write, or nil if
  /// there is no space.
  private func readiness(available: Int) -> SinkReadiness? {
    guard timeline.pendingSilenceFrameCount == 0, pendingFrames.pendingFrameCount == 0 else {
      return nil
    }
    let writablePeriodCount = min(available, format.bufferSize) / configuration.periodSize
    guard writablePeriodCount > 0 else { return nil }
    return .ready(frameCount: writablePeriodCount * configuration.periodSize)
  }

  /// Returns the maximum duration of the next wait for the device.
  ///
  /// - Throws: `ETIMEDOUT` if the device has stalled.
  private func waitLimit(now: Duration) throws(PCMFailure) -> Duration {
    let stallWaitLimit = deviceStallTimeout - (now - timeline.lastDeviceProgressTime)
    guard stallWaitLimit > .zero else { throw PCMFailure(.available, errnoCode: ETIMEDOUT) }
    guard timeline.isDeviceStarted, let playbackEndTime = timeline.playbackEndTime else {
      return stallWaitLimit
    }
    // Polls once more with half a period left: if there is still no space, the device is late, not
    // this thread.
    let periodDuration = timeline.frameTime.duration(of: configuration.periodSize)
    let remainingDuration = playbackEndTime - now - periodDuration / 2
    if remainingDuration > .zero { return min(stallWaitLimit, remainingDuration) }
    if playbackEndTime > now {
      timeline.markDeviceLate()
    }
    // While a device is late, every period shows whether it still has its frames, so that they are
    // counted if it drops them.
    return min(stallWaitLimit, periodDuration)
  }

  /// Checks that a device that signals readiness makes progress.
  ///
  /// PulseAudio's buffer seems unchanged when the server consumed all of it between two polls. A
  /// device that signals readiness without space for this long has run dry.
  private func checkDeviceProgress(now: Duration) throws(PCMFailure) {
    let stallTimeLimit =
      timeline.frameTime.duration(of: 2 * configuration.bufferSize) + .milliseconds(50)
    guard timeline.isDeviceStarted, now - timeline.lastDeviceProgressTime > stallTimeLimit else {
      return
    }
    timeline.markDeviceLate()
    throw PCMFailure(.available, errnoCode: EPIPE)
  }

  /// The maximum time for which a device may accept no frames before it counts as disconnected.
  /// It is one second while the device runs, and three seconds before, since an idle null sink of
  /// PulseAudio starts up to two seconds late even after it is reopened.
  private var deviceStallTimeout: Duration {
    let isRunningSteadily = timeline.isDeviceSteady && !recovery.hasJustReconnected
    return timeline.frameTime.duration(of: 2 * configuration.bufferSize)
      + .seconds(isRunningSteadily ? 1 : 3)
  }

  /// Waits for the device's descriptors, the signal, or a timeout.
  func wait(_ wake: WakeSignal, descriptorCount: Int, limit: Duration) -> SinkReadiness? {
    for index in watchedDescriptors.indices {
      watchedDescriptors[index].receivedEvents = 0
    }
    for index in watchedDescriptors.indices.dropFirst(1 + descriptorCount) {
      watchedDescriptors[index].descriptor = -1
    }
    let waitTimeout = max(.zero, min(limit, Self.maximumWaitDuration))
    let waitStartTime = clock.now
    waitTimes.beginWait(now: waitStartTime)
    clock.wait(for: &watchedDescriptors, timeout: waitTimeout)
    waitTimes.endWait(now: clock.now, expectedEnd: waitStartTime + waitTimeout)
    guard watchedDescriptors[0].receivedEvents != 0 else { return nil }
    wake.lower()
    return .interrupted
  }

  /// Records the duration of a call to the device. If the call took longer than a period, the
  /// device counts as late.
  func recordDeviceCall(since start: Duration) {
    let callDuration = clock.now - start
    waitTimes.recordDeviceCall(callDuration)
    if callDuration > timeline.frameTime.duration(of: configuration.periodSize) {
      timeline.markDeviceLate()
    }
  }

  // MARK: - Measurement

  /// Returns the free space in the device's buffer in frames, and updates the timeline from this
  /// measurement.
  private func measureAvailableFrames(_ pcm: PCM, now: Duration) throws(PCMFailure) -> Int {
    if configuration.isFasterThanRealTime { return availableFramesByClock(now: now) }
    try checkState(of: pcm)
    defer { recordDeviceCall(since: now) }
    let availableFrameCount = try pcm.available()
    // More space than the buffer holds means that the device's pointer passed the written frames:
    // an underrun.
    guard availableFrameCount <= configuration.bufferSize else {
      throw PCMFailure(.available, errnoCode: EPIPE)
    }
    let hasDeviceProgressed = timeline.recordPoll(
      available: availableFrameCount, start: now, end: clock.now)
    guard hasDeviceProgressed, timeline.isDeviceStarted else { return availableFrameCount }
    if availableFrameCount >= configuration.periodSize {
      recovery.hasJustReconnected = false
    }
    trackDeviceClock(queuedCount: configuration.bufferSize - availableFrameCount, now: now)
    return availableFrameCount
  }

  private func checkState(of pcm: PCM) throws(PCMFailure) {
    let delayErrorCode: Int32
    switch pcm.state {
    case .prepared, .running: return
    case .underrun: delayErrorCode = EPIPE
    case .suspended: delayErrorCode = ESTRPIPE
    case .disconnected: delayErrorCode = ENODEV
    case .other: delayErrorCode = EBADFD
    }
    throw PCMFailure(.available, errnoCode: delayErrorCode)
  }

  /// Tracks the device's clock, and reports a sudden jump of the clock.
  private func trackDeviceClock(queuedCount: Int, now: Duration) {
    switch timeline.trackDeviceClock(queuedCount: queuedCount, now: now) {
    case .late?:
      reportMissedFrames(
        .underrun, cause: .lateDevice, queuedCount: queuedCount, now: now,
        "the device missed its deadline")
    case .early?:
      reportMissedFrames(
        .underrun, cause: causeOfLostBuffer, queuedCount: queuedCount, now: now,
        "the device skipped frames")
    case nil:
      break
    }
  }

  /// Returns the free space that a device would have if it played in real time.
  ///
  /// The value slows down a device that accepts frames faster than real time.
  private func availableFramesByClock(now: Duration) -> Int {
    guard timeline.isDeviceStarted, timeline.playbackEndTime != nil else {
      return configuration.bufferSize - timeline.prefilledFrameCount
    }
    // A lag of less than a period is corrected by filling the buffer, which takes no longer than
    // skipping.
    if timeline.overdueFrameCount(now: now) > configuration.periodSize {
      reportMissedFrames(
        .underrun, cause: causeOfLateFrames(now: now), queuedCount: nil, now: now, "buffer underrun"
      )
    }
    return max(0, configuration.bufferSize - timeline.queuedFrameCount(now: now))
  }
}
