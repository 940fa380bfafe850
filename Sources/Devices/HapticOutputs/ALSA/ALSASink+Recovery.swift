public import HapticPlayback
internal import Glibc
internal import SoundFile
internal import Synchronization

extension ALSASink {
  /// The maximum number of consecutive recoveries without success, after which a device counts as
  /// disconnected.
  private static var maximumRecoveryCount: Int { 64 }

  /// Recovers a device so that it accepts frames again, or disconnects it.
  func recover(from failure: PCMFailure) {
    guard case .open = phase, let pcm else { return }
    let now = clock.now
    if now - recoveryWindowStart > frameTime.duration(of: configuration.bufferSize)
      + .milliseconds(100)
    {
      recoveryWindowStart = now
      recoveryCount = 0
    }
    recoveryCount += 1
    if recoveryCount > Self.maximumRecoveryCount { return handleDisconnection(failure, now: now) }
    switch failure.code {
    case EPIPE:
      restartEmpty(pcm, .underrun, now: now)
    case ESTRPIPE:
      resumeAfterSuspension(pcm, since: now)
    case EAGAIN:
      break
    case EBADFD:
      switch pcm.state {
      case .underrun, .other: restartEmpty(pcm, .underrun, now: now)
      case .suspended: resumeAfterSuspension(pcm, since: now)
      case .prepared, .running: break
      case .disconnected: handleDisconnection(failure, now: now)
      }
    default:
      handleDisconnection(failure, now: now)
    }
  }

  /// Empties and restarts the device, whose buffer is lost, and skips overdue frames.
  private func restartEmpty(_ pcm: PCM, _ kind: SinkEvent.Kind, now: Duration) {
    do {
      try pcm.prepare()
      // An underrun would have left less than a period.
      let isDropped =
        playbackEnd.map {
          frameTime.frameCount(in: $0 - max(now, silenceEnd)) > configuration.periodSize
        } ?? false
      let cause: SinkEvent.Cause = isDropped ? .droppedBuffer : lateCause(now: now)
      reportMissed(
        kind, cause: kind == .underrun ? cause : nil, queuedCount: nil, now: now,
        kind == .suspended
          ? "the device was suspended"
          : isDropped
            ? "the device dropped its buffer"
            : cause == .lateDevice ? "the device is late" : "buffer underrun")
      resetDeviceState()
    } catch {
      handleDisconnection(error, now: now)
    }
  }

  /// Returns the cause of late frames: a stopped process, a late device, or late delivery.
  func lateCause(now: Duration) -> SinkEvent.Cause {
    if oversleep.length > .milliseconds(250), now - oversleep.end < .milliseconds(100) {
      return .stoppedProcess
    }
    // A device is also late if it runs dry before its time or before it was started.
    let isByItself = isDeviceLate || !isStarted || now < (playbackEnd ?? now)
    return isByItself ? .lateDevice : .lateDelivery
  }

  /// Returns the number of frames in the device that are rendered, not yet heard, and would now be
  /// lost. A device that was stalled at the last poll had played nothing until then.
  func droppedFrameCount(now: Duration) -> Int {
    guard isStarted, let playbackEnd else { return max(0, prefillCount - silentPrefillCount) }
    if configuration.isFasterThanRealTime {
      return max(0, frameTime.frameCount(in: playbackEnd - max(now, silenceEnd)))
    }
    let played = min(now, lastProgress + (now - lastPollTime))
    let unplayed = frameTime.frameCount(in: playbackEnd - max(played, silenceEnd))
    return max(0, min(unplayed, configuration.bufferSize - lastAvailableCount))
  }

  func resetDeviceState() {
    isStarted = false
    prefillCount = 0
    silentPrefillCount = 0
    lastAvailableCount = configuration.bufferSize
    lastProgress = clock.now
    lastPollTime = lastProgress
    isDeviceLate = false
    phase = .open
  }

  /// Continues after a suspension with the contents of the buffer if the device can; otherwise,
  /// with an empty buffer.
  private func resumeAfterSuspension(_ pcm: PCM, since: Duration) {
    let now = clock.now
    let text = "the device was suspended"
    do throws(PCMFailure) {
      try pcm.resume()
      switch pcm.state {
      case .running:
        break
      case .prepared:
        if isStarted {
          try pcm.start()
        }
      // A plug-in that cannot resume may not report an error.
      default:
        throw PCMFailure(.resume, code: ENOSYS)
      }
      phase = .open
      lastProgress = now
      let queued = isStarted ? configuration.bufferSize - (try pcm.available()) : prefillCount
      reportMissed(.suspended, cause: nil, queuedCount: max(0, queued), now: now, text)
    } catch {
      if error.call == .resume, error.code == EAGAIN, now - since < .seconds(5) {
        if case .open = phase {
          eventQueue.add(.suspended, text: text)
        }
        phase = .suspended(since: since, nextAttempt: now + .milliseconds(20))
      } else if error.code == ENODEV {
        handleDisconnection(error, now: now)
      } else {
        restartEmpty(pcm, .suspended, now: now)
      }
    }
  }

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

  /// Corrects the sink's timeline after a discontinuity, and reports it with all missed frames.
  ///
  /// - Parameters:
  ///   - kind: The type of the event.
  ///   - cause: The cause of the missed frames.
  ///   - queuedCount: The number of queued frames that the device will still play; nil if it lost
  ///     them.
  ///   - now: The current time.
  ///   - text: The message.
  func reportMissed(
    _ kind: SinkEvent.Kind, cause: SinkEvent.Cause?, queuedCount: Int?, now: Duration,
    _ text: String
  ) {
    if warmUp != nil { return restartWarmUp(now: now) }
    let lost = skipOverdue(queuedCount: queuedCount, now: now)
    if lost > 0 || kind != .underrun {
      eventQueue.add(kind, cause: cause, missedFrameCount: lost, text: text)
    }
  }

  /// Skips overdue frames: pending frames first, then frames that are not yet rendered. Silence
  /// replaces frames that the device lost before they were due.
  ///
  /// - Parameters:
  ///   - queuedCount: The number of queued frames that the device will still play; nil if it lost
  ///     them.
  ///   - silentCount: The number of silent frames to play before the next frames.
  ///   - now: The current time.
  /// - Returns: The number of missed frames, rendered or not, that have not been counted before.
  func skipOverdue(queuedCount: Int? = nil, silentCount: Int = 0, now: Duration) -> Int {
    guard let playbackEnd else {
      pendingSilence = max(pendingSilence, silentCount)
      return 0
    }
    let due = playbackEnd + frameTime.duration(of: pendingSilence)
    let queued = queuedCount ?? 0
    let gap = now + frameTime.duration(of: queued + silentCount) - due + lag
    let count = frameTime.frameCount(in: gap)
    // A device that continues without a gap needs no correction.
    if queuedCount != nil, count == 0, pendingSilence == 0 { return 0 }
    let skipped = queued > 0 ? max(0, -count) : 0
    let silent = frameTime.frameCount(in: max(.zero, silenceEnd - now))
    let dropped = queuedCount == nil ? droppedFrameCount(now: now) : max(0, skipped - silent)
    let moved = frameTime.duration(of: count)
    let since = min(now, due)
    interruptedInterval = (
      since: interruptedInterval.flatMap { since - $0.until < stallTolerance ? $0.since : nil }
        ?? since, until: now
    )
    self.playbackEnd = now + frameTime.duration(of: queued)
    silenceEnd = skipped > 0 ? silenceEnd - frameTime.duration(of: skipped) : min(silenceEnd, now)
    lag = gap - moved
    pendingSilence = silentCount
    let overdue = min(max(0, count), pendingFrames.count)
    pendingFrames.removeFirst(overdue)
    missedFrameCount += max(0, count) - overdue
    let continues = queued > 0 && count > 0 && overdue == 0 && pendingFrames.count == 0
    pendingDiscontinuity = continues && pendingDiscontinuity != .interrupted ? .late : .interrupted
    let silenced = continues ? 0 : pendingFrames.count
    if !continues {
      // The pending frames were rendered to follow lost frames, so silence replaces them.
      pendingSilence += min(max(0, -count) + silenced, 2 * configuration.bufferSize)
      pendingFrames.removeFirst(silenced)
    }
    return max(0, count) + dropped + silenced
  }

  static var retryInterval: Duration { .milliseconds(500) }
  /// The interval between reports of missed frames while a device is disconnected.
  static var missedReportInterval: Duration { .milliseconds(20) }

  /// Releases a device that cannot continue; from now on, the clock paces.
  func handleDisconnection(_ failure: PCMFailure, now: Duration) {
    lostFrameCount = droppedFrameCount(now: now)
    if let lost = pcm {
      pcm = nil
      reconnector.close(lost)
    }
    // Sound that has not started would start now.
    let due = playbackEnd ?? now + frameTime.duration(of: prefillCount)
    playbackEnd = due
    silenceEnd = due
    resetDeviceState()
    warmUp = nil
    lastReportedError = nil
    disconnectionTime = now
    phase = .disconnected(
      nextAttempt: lastReconnectionAttempt.map { max(now, $0 + Self.retryInterval) } ?? now)
    eventQueue.add(
      .disconnected, text: "\(request.device): \(OutputError(failure, device: request.device))")
  }

  /// The maximum wait for a device that is being closed before it is reopened. libjack frees the
  /// clients of a lost server when it opens another client; it would free a client that is being
  /// closed twice.
  private var closingTimeout: Duration {
    configuration.isJACKClient ? .seconds(30) : Self.retryInterval + Self.retryInterval
  }

  /// Polls for a disconnected device, and otherwise waits while time passes.
  func waitForReconnection(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = clock.now
    // A device that is still being closed would be busy.
    let isOccupied =
      reconnector.isOpening || (reconnector.isClosing && now - disconnectionTime < closingTimeout)
    if now >= nextAttempt, !isOccupied {
      lastReconnectionAttempt = now
      // A restarted server is back within two seconds.
      phase = .disconnected(
        nextAttempt: now + Self.retryInterval / (now - disconnectionTime < .seconds(2) ? 2 : 1))
      reconnector.beginOpening()
    }
    if let result = reconnector.popResult(), acceptReopened(result) { return nil }
    now = clock.now
    let reportedUntil = playbackEnd ?? now
    if now - reportedUntil >= Self.missedReportInterval {
      lostFrameCount += skipOverdue(now: now)
      return nil
    }
    let limit = min(reportedUntil + Self.missedReportInterval - now, Self.missedReportInterval)
    let timeout = isOccupied ? limit : max(.zero, min(limit, nextAttempt - now))
    return wait(wake, descriptorCount: 0, limit: timeout)
  }

  /// Accepts a reopened device if its format has not changed.
  private func acceptReopened(_ result: Result<DeviceReconnector.OpenedDevice, OutputError>) -> Bool
  {
    do throws(OutputError) {
      let opened = try result.get()
      let granted = opened.granted
      // The comparison uses the sink's own format, not that of devices in between.
      guard Double(granted.rate) == format.rate, granted.channelCount == format.channelCount else {
        reconnector.close(opened.pcm)
        throw OutputError(
          .unsupportedFormat, output: request.device,
          """
          reconnected with \(granted.channelCount) channels at \(granted.rate) Hz instead of \
          \(format.channelCount) at \(Int(format.rate)) Hz; restart playback to use it
          """
        )
      }
      install(opened.pcm, granted)
      return true
    } catch {
      if error != lastReportedError, error.kind != .notFound {
        eventQueue.add(.degraded, text: "\(request.device): \(error.description)")
      }
      lastReportedError = error
      return false
    }
  }

  private func install(_ pcm: PCM, _ granted: PCMConfiguration) {
    self.pcm = pcm
    self.configuration = granted
    encoder = encoder.continued(as: granted.encoding)
    // Pending frames in the old encoding become silence.
    lostFrameCount += skipOverdue(silentCount: warmUpFrameCount, now: clock.now)
    pendingFrames = Self.makePendingFrames(for: granted, format: format)
    watchedDescriptors = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    resetDeviceState()
    hasJustReconnected = true
    eventQueue.add(
      .reconnected, missedFrameCount: lostFrameCount, text: "\(request.device): reconnected")
    lostFrameCount = 0
  }
}

/// Reopens a device and closes lost ones on separate threads, since either may take seconds or
/// never return. With an interception, as in tests, both happen immediately on the caller's thread.
final class DeviceReconnector: Sendable {
  typealias OpenedDevice = (pcm: PCM, granted: PCMConfiguration)

  private struct Outcome: @unchecked Sendable { var result: Result<OpenedDevice, OutputError> }

  private enum State {
    case idle, running
    case done(Outcome)
  }

  /// The maximum number of closing calls that may hang; beyond it, no device is opened any more.
  private static let maximumClosingCount = 8

  private let request: PCMRequest
  private let interception: PCMInterception?
  private let state = Mutex(State.idle)
  private let closingCount = Atomic<Int>(0)

  init(_ request: PCMRequest, interception: PCMInterception?) {
    self.request = request
    self.interception = interception
  }

  /// A Boolean value that indicates whether an attempt has begun and its result has not been
  /// received.
  var isOpening: Bool {
    state.withLock {
      if case .idle = $0 {
        false
      } else {
        true
      }
    }
  }

  var isClosing: Bool { closingCount.load(ordering: .acquiring) > 0 }

  /// Begins an attempt, one at a time.
  func beginOpening() {
    guard !isOpening, closingCount.load(ordering: .relaxed) < Self.maximumClosingCount else {
      return
    }
    state.withLock { $0 = .running }
    if let interception { return interception.callReturns(.open) ? open() : () }
    // If no thread can be started, a later attempt follows.
    if (try? BackgroundThread { self.open() }) == nil {
      state.withLock { $0 = .idle }
    }
  }

  private func open() {
    let outcome = Outcome(
      result: Result { () throws(OutputError) in
        try PCMNegotiation(request: request).open(interception: interception)
      }
    )
    state.withLock { $0 = .done(outcome) }
  }

  func popResult() -> Result<OpenedDevice, OutputError>? {
    state.withLock { state -> Outcome? in
      guard case .done(let outcome) = state else { return nil }
      state = .idle
      return outcome
    }?.result
  }

  /// Closes a device that is no longer used.
  ///
  /// An explicit call closes it, not the release of the last reference: the thread's reference may
  /// outlive its work, and libjack frees a client twice if another one is opened in the meantime.
  func close(_ pcm: PCM) {
    nonisolated(unsafe) let pcm = pcm
    closingCount.add(1, ordering: .relaxed)
    let close: @Sendable () -> Void = { [self] in
      unsafe pcm.close()
      closingCount.subtract(1, ordering: .releasing)
    }
    if let interception { return interception.callReturns(.close) ? close() : () }
    if (try? BackgroundThread(close)) == nil {
      close()
    }
  }
}

extension ALSASink {
  /// Waits until whole periods are requested, time was missed, or the thread is woken.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    watchedDescriptors[0] = PollDescriptor(wake.descriptor)
    recordAbsence()
    workStart = clock.now
    defer { lastWaitEnd = recordWork() }
    let latest = workStart + Self.maximumWait
    var isFutile = false
    while true {
      if let failure = deferredError {
        deferredError = nil
        recover(from: failure)
      }
      if let pendingDiscontinuity {
        defer {
          missedFrameCount = 0
          self.pendingDiscontinuity = nil
        }
        return pendingDiscontinuity == .late
          ? .late(frameCount: missedFrameCount) : .missed(frameCount: missedFrameCount)
      }
      switch phase {
      case .ended:
        return .ended
      case .disconnected(let nextAttempt):
        if let readiness = waitForReconnection(nextAttempt, wake) {
          return readiness
        }
      case .suspended(let since, let nextAttempt):
        if let readiness = waitForResumption(since, nextAttempt, wake) {
          return readiness
        }
      case .idle:
        resumeFromIdle()
      case .open:
        do {
          if let readiness = try waitForSpace(wake, isUnproductive: &isFutile) {
            return readiness
          }
        } catch {
          deferredError = error
        }
      }
      if deferredError == nil, pendingDiscontinuity == nil, clock.now >= latest {
        return .ready(frameCount: 0)
      }
    }
  }

  /// Polls an open device once and waits once if there is no space. A device that signals readiness
  /// without having space would make the thread spin: after such a wait, the next one uses the
  /// clock only.
  private func waitForSpace(_ wake: WakeSignal, isUnproductive: inout Bool)
    throws(PCMFailure)
    -> SinkReadiness?
  {
    guard let pcm else { return .ended }
    let now = clock.now
    var available = try measureAvailable(pcm, now: now)
    if pendingDiscontinuity != nil { return nil }
    continueWarmUp(available: available, now: now)
    if pendingSilence > 0 || pendingFrames.count > 0 {
      available -= try writePending(to: pcm)
    }
    if pendingSilence == 0, pendingFrames.count == 0 {
      let frameCount =
        min(available, format.bufferSize) / configuration.periodSize * configuration.periodSize
      if frameCount > 0 { return .ready(frameCount: frameCount) }
    }
    let missing = frameTime.duration(of: max(1, configuration.periodSize - available))
    if configuration.isFasterThanRealTime { return wait(wake, descriptorCount: 0, limit: missing) }
    var limit = stallTimeout - (now - lastProgress)
    guard limit > .zero else { throw PCMFailure(.available, code: ETIMEDOUT) }
    if isStarted, let playbackEnd, playbackEnd > now {
      // Polls once more with half a period left: if there is still no space, the device is late,
      // not this thread.
      let remaining = playbackEnd - now - frameTime.duration(of: configuration.periodSize / 2)
      if remaining > .zero {
        limit = min(limit, remaining)
      } else {
        isDeviceLate = true
      }
    }
    if isUnproductive {
      isUnproductive = false
      // PulseAudio's buffer seems unchanged when the server consumed all of it between two polls: a
      // device that signals readiness without space for this long has run dry.
      guard !isStarted || now - lastProgress <= unproductiveWaitLimit else {
        isDeviceLate = true
        throw PCMFailure(.available, code: EPIPE)
      }
      return wait(wake, descriptorCount: 0, limit: min(limit, missing))
    }
    try pcm.pollDescriptors(into: &watchedDescriptors, from: 1)
    let readiness = wait(wake, descriptorCount: watchedDescriptors.count - 1, limit: limit)
    if readiness == nil {
      isUnproductive = try pcm.receivedEvents(&watchedDescriptors, from: 1) != 0
    }
    return readiness
  }

  /// The maximum duration of one wait, so that the caller sees that the sink responds, and can end
  /// it.
  static var maximumWait: Duration { .milliseconds(200) }

  /// Measures how long the thread was elsewhere: a stopped process is not a slow one.
  private func recordAbsence() {
    guard let lastWaitEnd else { return }
    let now = clock.now
    recordOversleep(now - lastWaitEnd - frameTime.duration(of: configuration.bufferSize), end: now)
  }

  /// Measures a call of the device; if it took longer than a period, the device is late.
  func recordCall(since start: Duration) {
    let length = clock.now - start
    lastWaitEnd = lastWaitEnd.map { $0 + length }
    if length > frameTime.duration(of: configuration.periodSize) {
      isDeviceLate = true
    }
  }

  /// Measures how long the device has blocked the thread since the last wait, and returns the
  /// current time.
  private func recordWork() -> Duration {
    let now = clock.now
    maximumCallDuration = max(maximumCallDuration, now - workStart)
    return now
  }

  private func recordOversleep(_ length: Duration, end: Duration) {
    if length > .milliseconds(250) {
      oversleep = (length, end)
    }
  }

  /// Waits once for the device's descriptors, the signal, or a timeout.
  func wait(_ wake: WakeSignal, descriptorCount: Int, limit: Duration) -> SinkReadiness? {
    for index in watchedDescriptors.indices {
      watchedDescriptors[index].receivedEvents = 0
    }
    for index in watchedDescriptors.indices.dropFirst(1 + descriptorCount) {
      watchedDescriptors[index].descriptor = -1
    }
    let limit = max(.zero, min(limit, Self.maximumWait))
    let end = recordWork() + limit
    clock.wait(for: &watchedDescriptors, timeout: limit)
    let now = clock.now
    workStart = now
    recordOversleep(now - end, end: now)
    guard watchedDescriptors[0].receivedEvents != 0 else { return nil }
    wake.lower()
    return .interrupted
  }

  private func measureAvailable(_ pcm: PCM, now: Duration) throws(PCMFailure) -> Int {
    if configuration.isFasterThanRealTime { return measureByClock(now: now) }
    try checkState(of: pcm)
    defer { recordCall(since: now) }
    let available = try pcm.available()
    // More space than the buffer holds means that the device's pointer passed the written frames:
    // an underrun.
    guard available <= configuration.bufferSize else { throw PCMFailure(.available, code: EPIPE) }
    lastPollTime = clock.now
    // Only a device that moved on reports its position.
    guard available != lastAvailableCount else { return available }
    lastAvailableCount = available
    lastProgress = now
    if isStarted, available >= configuration.periodSize {
      hasJustReconnected = false
    }
    if isStarted {
      trackDeviceClock(available: available, now: now)
    }
    return available
  }

  private func checkState(of pcm: PCM) throws(PCMFailure) {
    let code: Int32
    switch pcm.state {
    case .prepared, .running: return
    case .underrun: code = EPIPE
    case .suspended: code = ESTRPIPE
    case .disconnected: code = ENODEV
    case .other: code = EBADFD
    }
    throw PCMFailure(.available, code: code)
  }

  /// Tracks the device's clock, which drifts slightly from the machine's clock; a leap is a
  /// discontinuity.
  ///
  /// Some sound servers run dry without reporting it. Leaps that are too small to report therefore
  /// accumulate in `lag`, which decays as fast as clocks may drift, 200 ppm.
  private func trackDeviceClock(available: Int, now: Duration) {
    defer { lastTrackingTime = now }
    let queued = configuration.bufferSize - available
    let measured = now + frameTime.duration(of: queued)
    let tolerance =
      queued == 0
      ? frameTime.duration(of: configuration.periodSize)
      : max(
        .milliseconds(30),
        frameTime.duration(of: max(2 * configuration.periodSize, configuration.bufferSize / 2)))
    let slip = measured - (playbackEnd ?? measured)
    playbackEnd = measured
    if warmUp != nil {
      // Frames that a server dropped or did not have were silence; later ones may be as well.
      if slip < .zero - earlyTolerance / 2 || slip > tolerance || queued <= 1 {
        warmUp?.steadySince = now
      }
      return
    }
    if !isSteady, warmUpFrameCount > 0, slip < .zero - earlyTolerance {
      lag = slip
      return reportMissed(
        .underrun, cause: .droppedBuffer, queuedCount: queued, now: now, "the device skipped frames"
      )
    }
    guard isSteady else {
      // A sound server may start slowly; the due time of frames is known only afterward.
      if steadySince == nil || slip > tolerance {
        steadySince = now
      }
      isSteady = now - (steadySince ?? now) > .milliseconds(250)
      return
    }
    lag += slip
    let drift = min(max(lag, .zero - lag), (now - lastTrackingTime) / 5_000)
    lag -= lag > .zero ? drift : .zero - drift
    if lag > tolerance {
      reportMissed(
        .underrun, cause: .lateDevice, queuedCount: queued, now: now, "the device is late")
    } else if slip < .zero - earlyTolerance / 2, lag < .zero - earlyTolerance {
      reportMissed(
        .underrun, cause: .droppedBuffer, queuedCount: queued, now: now, "the device skipped frames"
      )
    }
  }

  /// Simulates the space of a device that is faster than real time, as if it played at the pace of
  /// the clock.
  private func measureByClock(now: Duration) -> Int {
    guard isStarted, let playbackEnd else { return configuration.bufferSize - prefillCount }
    // Less than a period is corrected by filling the buffer; skipping it would take as long.
    if playbackEnd < now, frameTime.frameCount(in: now - playbackEnd) > configuration.periodSize {
      reportMissed(
        .underrun, cause: lateCause(now: now), queuedCount: nil, now: now, "buffer underrun")
    }
    let queued = frameTime.frameCount(touching: max(.zero, (self.playbackEnd ?? now) - now))
    return max(0, configuration.bufferSize - queued)
  }

  /// The tolerance for a device that is ahead: it reports its position in steps of a period or
  /// less.
  private var earlyTolerance: Duration {
    max(
      .milliseconds(8),
      frameTime.duration(of: max(2 * configuration.periodSize, configuration.bufferSize / 2)))
  }

  /// The maximum time for which a device may signal readiness and accept no frames.
  private var unproductiveWaitLimit: Duration {
    frameTime.duration(of: 2 * configuration.bufferSize) + .milliseconds(50)
  }

  /// The maximum time for which a device may accept no frames before it counts as disconnected: one
  /// second while it runs; three seconds before, since an idle null sink of PulseAudio starts up to
  /// two seconds late even after it is reopened.
  var stallTimeout: Duration {
    frameTime.duration(of: 2 * configuration.bufferSize)
      + .seconds(isSteady && !hasJustReconnected ? 1 : 3)
  }
}

struct FrameTime {
  /// The sample rate in hertz.
  let rate: Double

  /// Returns the duration of a number of frames; negative for a negative number.
  func duration(of frameCount: Int) -> Duration { .seconds(Double(frameCount) / rate) }

  /// Returns the number of whole frames in a duration. A hundredth of a frame is added first,
  /// because durations that were computed from frames may be slightly short.
  func frameCount(in duration: Duration) -> Int {
    Int(((seconds(duration) * rate) + 0.01).rounded(.down))
  }

  /// Returns the number of frames that a duration touches, rounded up after a hundredth of a frame
  /// is subtracted.
  func frameCount(touching duration: Duration) -> Int {
    Int(((seconds(duration) * rate) - 0.01).rounded(.up))
  }

  private func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
