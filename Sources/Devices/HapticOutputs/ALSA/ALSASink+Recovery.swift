internal import Glibc
internal import HapticPlayback
internal import SoundFile

extension ALSASink {
  /// Recovers a device so that it accepts frames again, or disconnects it.
  func recover(from failure: PCMFailure) {
    guard recovery.phase == .open, let pcm else { return }
    let now = clock.now
    let recoveryWindow = bufferDuration + .milliseconds(100)
    guard recovery.beginRecovery(now: now, window: recoveryWindow) else {
      return handleDisconnection(failure, now: now)
    }
    switch failure.errnoCode {
    case EPIPE:
      restartEmptyDevice(pcm, .underrun, now: now)
    case ESTRPIPE:
      resumeAfterSuspension(pcm, since: now)
    case EAGAIN:
      break
    case EBADFD:
      switch pcm.state {
      case .underrun, .other: restartEmptyDevice(pcm, .underrun, now: now)
      case .suspended: resumeAfterSuspension(pcm, since: now)
      case .prepared, .running: break
      case .disconnected: handleDisconnection(failure, now: now)
      }
    default:
      handleDisconnection(failure, now: now)
    }
  }

  /// Records that the device is empty, stopped, and open.
  func resetDevice() {
    timeline.recordDeviceStop(now: clock.now)
    recovery.phase = .open
  }

  // MARK: - Missed frames

  /// Corrects the sink's timeline after a discontinuity, and reports the discontinuity with all
  /// frames that it caused to be missed.
  ///
  /// - Parameters:
  ///   - kind: The type of the event.
  ///   - cause: The cause of the missed frames.
  ///   - queuedCount: The number of queued frames that the device will still play; nil if it lost
  ///     them.
  ///   - now: The current time.
  ///   - text: The message.
  func reportMissedFrames(
    _ kind: SinkEvent.Kind, cause: SinkEvent.Cause?, queuedCount: Int?, now: Duration,
    _ text: String
  ) {
    if timeline.warmUp != nil { return timeline.restartWarmUp(now: now) }
    let missedCount = skipOverdueFrames(queuedCount: queuedCount, now: now)
    if missedCount > 0 || kind != .underrun {
      eventQueue.add(kind, cause: cause, missedFrameCount: missedCount, text: text)
      countUnderrun(kind, cause)
    }
  }

  /// Skips overdue frames, with pending frames first and then frames that are not yet rendered.
  /// Silence replaces frames that the device lost before they were due.
  ///
  /// - Parameters:
  ///   - queuedCount: The number of queued frames that the device will still play; nil if it lost
  ///     them.
  ///   - silentCount: The number of silent frames to play before the next frames.
  ///   - now: The current time.
  /// - Returns: The number of missed frames, rendered or not, that have not been counted before.
  func skipOverdueFrames(queuedCount: Int? = nil, silentCount: Int = 0, now: Duration) -> Int {
    let correction = timeline.correctDiscontinuity(
      queuedCount: queuedCount, silentCount: silentCount, now: now)
    guard let correction else { return 0 }
    missedFrames.extendInterruption(
      from: min(now, correction.dueTime), to: now, tolerance: deviceStallTolerance)

    let lateCount = max(0, correction.skippedFrameCount)
    let overdueCount = min(lateCount, pendingFrames.pendingFrameCount)
    pendingFrames.removeFirst(overdueCount)
    let isPlaybackContinuous =
      correction.queuedFrameCount > 0 && correction.skippedFrameCount > 0 && overdueCount == 0
      && pendingFrames.pendingFrameCount == 0
    missedFrames.record(lateCount - overdueCount, as: isPlaybackContinuous ? .late : .interrupted)
    if isPlaybackContinuous { return lateCount + correction.lostFrameCount }

    // The pending frames were rendered to follow lost frames, so silence replaces them.
    let replacedCount = pendingFrames.pendingFrameCount
    let earlyCount = max(0, -correction.skippedFrameCount)
    timeline.addPendingSilence(min(earlyCount + replacedCount, 2 * configuration.bufferSize))
    pendingFrames.removeFirst(replacedCount)
    return lateCount + correction.lostFrameCount + replacedCount
  }

  /// Returns the cause of late frames: a stopped process, a late device, or late delivery.
  func causeOfLateFrames(now: Duration) -> SinkEvent.Cause {
    if waitTimes.wasProcessStopped(before: now) { return .stoppedProcess }
    // A device is also late if its buffer empties too early or before the start.
    let isDeviceBufferEmpty = !timeline.isDeviceStarted || now < (timeline.playbackEndTime ?? now)
    return timeline.isDeviceLate || isDeviceBufferEmpty ? .lateDevice : .lateDelivery
  }

  // MARK: - Underrun and suspension

  /// Prepares the device to restart with an empty buffer, whose content is lost, and skips overdue
  /// frames.
  private func restartEmptyDevice(_ pcm: PCM, _ kind: SinkEvent.Kind, now: Duration) {
    do {
      try pcm.prepare()
    } catch {
      return handleDisconnection(error, now: now)
    }
    let cause = underrunCause(now: now)
    reportMissedFrames(
      kind, cause: kind == .underrun ? cause : nil, queuedCount: nil, now: now,
      Self.eventMessage(kind, cause))
    do {
      try growBufferIfRequired(pcm)
    } catch {
      return handleDisconnection(error, now: now)
    }
    resetDevice()
  }

  // MARK: - Buffer growth

  /// Counts an underrun of a sound server's stream. The buffer does not grow after a stopped
  /// process.
  private func countUnderrun(_ kind: SinkEvent.Kind, _ cause: SinkEvent.Cause?) {
    guard kind == .underrun, cause != .stoppedProcess, configuration.isServerStream else { return }
    if bufferGrowth.recordUnderrun() {
      mustGrowBuffer = true
    }
  }

  /// Configures an empty device with a larger buffer. A stream of a sound server is created again
  /// after an underrun in any case.
  private func growBufferIfRequired(_ pcm: PCM) throws(PCMFailure) {
    guard mustGrowBuffer, pendingFrames.pendingFrameCount == 0 else { return }
    mustGrowBuffer = false
    try pcm.endConfiguration()
    let grantedConfiguration: PCMConfiguration
    do {
      grantedConfiguration = try PCMNegotiation(request: currentRequest).negotiate(pcm)
    } catch {
      throw error as? PCMFailure ?? PCMFailure(.hardwareParameters, errnoCode: EINVAL)
    }
    guard matchesSinkFormat(of: grantedConfiguration) else {
      throw PCMFailure(.hardwareParameters, errnoCode: EINVAL)
    }
    applyConfiguration(grantedConfiguration, of: pcm)
    eventQueue.add(
      .degraded,
      text: BufferGrowth.growthMessage(
        request.device, frameCount: grantedConfiguration.bufferSize, rate: format.rate))
  }

  /// Adapts the sink to the configuration of a newly opened or reconfigured device.
  private func applyConfiguration(_ configuration: PCMConfiguration, of pcm: PCM) {
    timeline.configuration = configuration
    encoder = encoder.changingEncoding(to: configuration.encoding)
    pendingFrames = Self.makePendingFrames(for: configuration, format: format)
    watchedDescriptors = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
  }

  /// Returns the cause of an underrun.
  private func underrunCause(now: Duration) -> SinkEvent.Cause {
    hasDroppedBuffer(now: now) ? causeOfLostBuffer : causeOfLateFrames(now: now)
  }

  /// The cause of an event in which the device did not play frames that it had accepted. A sound
  /// server that reads a stream late also ends it early, so lost frames of a server stream have no
  /// other cause.
  var causeOfLostBuffer: SinkEvent.Cause {
    configuration.isServerStream ? .lateDevice : .droppedBuffer
  }

  /// Returns whether the device lost frames without playing them. After an underrun, less than a
  /// period would remain.
  private func hasDroppedBuffer(now: Duration) -> Bool {
    guard let playbackEndTime = timeline.playbackEndTime else { return false }
    let unplayedDuration = playbackEndTime - max(now, timeline.silenceEndTime)
    return timeline.frameTime.frameCount(in: unplayedDuration) > configuration.periodSize
  }

  private static func eventMessage(_ kind: SinkEvent.Kind, _ cause: SinkEvent.Cause) -> String {
    if kind == .suspended { return "the device was suspended" }
    switch cause {
    case .droppedBuffer: return "the device dropped its buffer"
    case .lateDevice: return "the device missed its deadline"
    case .lateDelivery, .stoppedProcess, .refusedPriority: return "buffer underrun"
    }
  }

  /// Continues after a suspension with the contents of the buffer if the device can do so, or else
  /// with an empty buffer.
  private func resumeAfterSuspension(_ pcm: PCM, since: Duration) {
    let now = clock.now
    let suspensionMessage = "the device was suspended"
    do throws(PCMFailure) {
      try pcm.resume()
      try restartIfPrepared(pcm, now: now)
      recovery.phase = .open
      timeline.recordDeviceProgress(now: now)
      let queuedCount =
        timeline.isDeviceStarted
        ? configuration.bufferSize - (try pcm.available()) : timeline.prefilledFrameCount
      reportMissedFrames(
        .suspended, cause: nil, queuedCount: max(0, queuedCount), now: now, suspensionMessage)
    } catch {
      if error.call == .resume, error.errnoCode == EAGAIN, now - since < .seconds(5) {
        if recovery.phase == .open {
          eventQueue.add(.suspended, text: suspensionMessage)
        }
        recovery.phase = .suspended(since: since, nextAttempt: now + .milliseconds(20))
      } else if error.errnoCode == ENODEV {
        handleDisconnection(error, now: now)
      } else {
        restartEmptyDevice(pcm, .suspended, now: now)
      }
    }
  }

  private func restartIfPrepared(_ pcm: PCM, now: Duration) throws(PCMFailure) {
    switch pcm.state {
    case .running:
      // A plug-in may run after a suspension before it was started.
      if !timeline.isDeviceStarted {
        timeline.start(now: now)
      }
    case .prepared:
      if timeline.isDeviceStarted {
        try pcm.start()
      }
    // A plug-in that cannot resume may not report an error.
    default:
      throw PCMFailure(.resume, errnoCode: ENOSYS)
    }
  }

  /// Waits until the next attempt to resume a suspended device, and makes the attempt.
  func waitForResumption(_ since: Duration, _ nextAttempt: Duration, _ wake: WakeSignal)
    -> SinkReadiness?
  {
    let now = clock.now
    if now < nextAttempt {
      return wait(wake, descriptorCount: 0, limit: nextAttempt - now)
    }
    guard let pcm else { return .ended }
    resumeAfterSuspension(pcm, since: since)
    return nil
  }

  // MARK: - Disconnection

  /// The interval between reports of missed frames while a device is disconnected.
  private static var missedFrameReportInterval: Duration { .milliseconds(20) }

  /// Closes a device that cannot continue. From now on, the clock paces the output.
  func handleDisconnection(_ failure: PCMFailure, now: Duration) {
    missedFrames.beginDisconnection(lostCount: timeline.droppedFrameCount(now: now))
    if let lostDevice = pcm {
      pcm = nil
      reconnector.close(lostDevice)
    }
    timeline.recordDisconnection(now: now)
    resetDevice()
    recovery.recordDisconnection(now: now)
    eventQueue.add(
      .disconnected, text: "\(request.device): \(OutputError(failure, device: request.device))")
  }

  /// Tries to reopen a disconnected device when an attempt is due, and otherwise waits while the
  /// clock paces the output.
  func waitForReconnection(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = clock.now
    let waitsForClosing =
      reconnector.isClosing
      && recovery.mustWaitForDeviceClosing(isJACKClient: configuration.isJACKClient, now: now)
    let isReconnectorBusy = reconnector.isOpening || waitsForClosing
    if now >= nextAttempt, !isReconnectorBusy {
      recovery.beginReopening(now: now)
      mustGrowBuffer = false
      reconnector.beginOpening(currentRequest)
    }
    if let openingResult = reconnector.popOpeningResult(),
      acceptReopened(openingResult) || recovery.phase == .ended
    {
      return nil
    }
    now = clock.now
    let reportedEndTime = timeline.playbackEndTime ?? now
    if now - reportedEndTime >= Self.missedFrameReportInterval {
      missedFrames.addMissedWhileDisconnected(skipOverdueFrames(now: now))
      return nil
    }
    let reportTimeout = min(
      reportedEndTime + Self.missedFrameReportInterval - now, Self.missedFrameReportInterval)
    let waitTimeout =
      isReconnectorBusy ? reportTimeout : max(.zero, min(reportTimeout, nextAttempt - now))
    return wait(wake, descriptorCount: 0, limit: waitTimeout)
  }

  /// Accepts a reopened device if its format has not changed.
  private func acceptReopened(_ result: Result<DeviceReconnector.OpenedDevice, OutputError>) -> Bool
  {
    do throws(OutputError) {
      let opened = try result.get()
      let granted = opened.configuration
      // The comparison uses the sink's own format, not that of devices in between.
      guard matchesSinkFormat(of: granted) else {
        reconnector.close(opened.pcm)
        if recovery.isWaitingForFirstDevice {
          recovery.phase = .ended
        }
        throw OutputError(
          .unsupportedFormat, output: request.device,
          """
          reconnected with \(granted.channelCount) channels at \(granted.rate) Hz instead of \
          \(format.channelCount) at \(Int(format.rate)) Hz; restart playback to use the new format
          """
        )
      }
      installDevice(opened.pcm, granted)
      return true
    } catch {
      if recovery.shouldReport(error) {
        eventQueue.add(.degraded, text: "\(request.device): \(error.description)")
      }
      return false
    }
  }

  /// Returns whether a reopened device has the same sample rate and number of channels as the sink.
  private func matchesSinkFormat(of granted: PCMConfiguration) -> Bool {
    Double(granted.rate) == format.rate && granted.channelCount == format.channelCount
  }

  private func installDevice(_ pcm: PCM, _ configuration: PCMConfiguration) {
    self.pcm = pcm
    recovery.isWaitingForFirstDevice = false
    timeline.configuration = configuration
    // Pending frames in the old encoding become silence.
    missedFrames.addMissedWhileDisconnected(
      skipOverdueFrames(silentCount: timeline.warmUpFrameCount, now: clock.now))
    applyConfiguration(configuration, of: pcm)
    resetDevice()
    recovery.hasJustReconnected = true
    eventQueue.add(
      .reconnected, missedFrameCount: missedFrames.endDisconnection(),
      text: "\(request.device): reconnected")
  }
}
