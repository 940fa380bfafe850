public import HapticPlayback
internal import Glibc
internal import SoundFile
internal import Synchronization

extension ALSASink {
  /// Recoveries without success, one after the other, after which a device counts as gone.
  private static var maximumRecoveryCount: Int { 64 }

  /// Brings a device back to where it can be filled, or gives it up until it is found again.
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

  /// Empties the device; what it had is lost, and what is overdue by now is passed over.
  private func restartEmpty(_ pcm: PCM, _ kind: SinkEvent.Kind, now: Duration) {
    do {
      try pcm.prepare()
      // More than a period would have been left.
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

  /// Why frames came too late: the process did not run, the device did not ask in time, or the
  /// thread did not come.
  func lateCause(now: Duration) -> SinkEvent.Cause {
    if oversleep.length > .milliseconds(250), now - oversleep.end < .milliseconds(100) {
      return .stoppedProcess
    }
    // A device that runs dry before its time, or before it was started, does so by itself, too.
    let isByItself = isDeviceLate || !isStarted || now < (playbackEnd ?? now)
    return isByItself ? .lateDevice : .lateDelivery
  }

  /// Frames in the device that would be lost now: rendered, and not heard yet. A device that stood
  /// still when it was last looked at has played nothing up to then.
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

  /// Goes on after a suspension with what the buffer holds where the device can, else from the
  /// start.
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
      // A plug-in that cannot resume says nothing about it.
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

  /// Sets the sink's time right after an interruption, and reports it with all that was not heard.
  /// The device will still play the frames of before that are queued; nil where it lost them.
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

  /// Passes over what is overdue: frames that wait first, then those not yet rendered.
  ///
  /// Where the device lost frames that were not yet due, as much silence takes their place.
  ///
  /// - Parameter silentCount: Frames of silence that are to lead in to what follows.
  /// - Returns: Rendered or not, the frames that are not heard and were not counted before.
  func skipOverdue(queuedCount: Int? = nil, silentCount: Int = 0, now: Duration) -> Int {
    guard let playbackEnd else {
      pendingSilence = max(pendingSilence, silentCount)
      return 0
    }
    let due = playbackEnd + frameTime.duration(of: pendingSilence)
    let queued = queuedCount ?? 0
    let gap = now + frameTime.duration(of: queued + silentCount) - due + lag
    let count = frameTime.frameCount(in: gap)
    // A device that goes on as if nothing had been needs nothing made good.
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
      // What waits was rendered to follow what is lost: silence takes its place.
      pendingSilence += min(max(0, -count) + silenced, 2 * configuration.bufferSize)
      pendingFrames.removeFirst(silenced)
    }
    return max(0, count) + dropped + silenced
  }

  static var retryInterval: Duration { .milliseconds(500) }
  /// Time after which frames that went by are reported while a device is disconnected.
  static var missedReportInterval: Duration { .milliseconds(20) }

  /// Releases a device that cannot go on; from now on the clock paces.
  func handleDisconnection(_ failure: PCMFailure, now: Duration) {
    lostFrameCount = droppedFrameCount(now: now)
    if let lost = pcm {
      pcm = nil
      reconnector.close(lost)
    }
    // Sound that has not begun would begin now.
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

  /// How long a device that is being closed is waited for before it is opened again. libjack frees
  /// the clients of a server that is gone when another is opened; one that is just being closed
  /// would be freed twice.
  private var closingTimeout: Duration {
    configuration.isJACKClient ? .seconds(30) : Self.retryInterval + Self.retryInterval
  }

  /// Looks for a device that is away, and else lets time go by.
  func waitForReconnection(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = clock.now
    // A device that is still being closed would be busy.
    let isOccupied =
      reconnector.isOpening || (reconnector.isClosing && now - disconnectionTime < closingTimeout)
    if now >= nextAttempt, !isOccupied {
      lastReconnectionAttempt = now
      // A server that was restarted is back within two seconds.
      phase = .disconnected(
        nextAttempt: now + Self.retryInterval / (now - disconnectionTime < .seconds(2) ? 2 : 1))
      reconnector.beginOpening()
    }
    if let result = reconnector.popResult(), acceptReopened(result) { return nil }
    now = clock.now
    let told = playbackEnd ?? now
    if now - told >= Self.missedReportInterval {
      lostFrameCount += skipOverdue(now: now)
      return nil
    }
    let limit = min(told + Self.missedReportInterval - now, Self.missedReportInterval)
    let next = isOccupied ? limit : max(.zero, min(limit, nextAttempt - now))
    return wait(wake, descriptorCount: 0, limit: next)
  }

  /// Takes a device that was opened again where it is as it was.
  private func acceptReopened(_ result: Result<DeviceReconnector.OpenedDevice, OutputError>) -> Bool
  {
    do throws(OutputError) {
      let opened = try result.get()
      let granted = opened.granted
      // What the sink promised when it was made, not what a device had in between.
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
    // What waits in the old form becomes silence.
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

/// Opens a device again and closes what was lost, beside the thread that renders: either may take
/// seconds, or never return. With an interception, as tests have, both happen at once on the
/// caller's thread.
final class DeviceReconnector: Sendable {
  typealias OpenedDevice = (pcm: PCM, granted: PCMConfiguration)

  private struct Outcome: @unchecked Sendable { var result: Result<OpenedDevice, OutputError> }

  private enum State {
    case idle, running
    case done(Outcome)
  }

  /// Closing calls that may hang at once; beyond, nothing is opened any more.
  private static let maximumClosingCount = 8

  private let request: PCMRequest
  private let interception: PCMInterception?
  private let state = Mutex(State.idle)
  private let closingCount = Atomic<Int>(0)

  init(_ request: PCMRequest, interception: PCMInterception?) {
    self.request = request
    self.interception = interception
  }

  /// Whether an attempt has begun and its result was not taken.
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

  /// Begins an attempt; one at a time.
  func beginOpening() {
    guard !isOpening, closingCount.load(ordering: .relaxed) < Self.maximumClosingCount else {
      return
    }
    state.withLock { $0 = .running }
    if let interception { return interception.callReturns(.open) ? open() : () }
    // Without a thread for it, the device is looked for again later.
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

  /// Closes a device that can no longer be used; the caller has no other use for it. Closed by a
  /// call of its own, not with its last reference: the thread's own may outlive the thread's work,
  /// and libjack frees a client twice where another is opened meanwhile.
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
  /// Waits until whole periods are wanted, time went by unheard, or somebody wakes the thread.
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

  /// One look at an open device, and one wait where there is no space. A device that says it is
  /// ready and has no space would make the thread spin: after such a wait, the next one goes by the
  /// clock alone.
  private func waitForSpace(_ wake: WakeSignal, isUnproductive isFutile: inout Bool)
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
      let room =
        min(available, format.bufferSize) / configuration.periodSize * configuration.periodSize
      if room > 0 { return .ready(frameCount: room) }
    }
    let missing = frameTime.duration(of: max(1, configuration.periodSize - available))
    if configuration.isFasterThanRealTime { return wait(wake, descriptorCount: 0, limit: missing) }
    var limit = stallTimeout - (now - lastProgress)
    guard limit > .zero else { throw PCMFailure(.available, code: ETIMEDOUT) }
    if isStarted, let playbackEnd, playbackEnd > now {
      // Looks once more while half a period is left: then it is not this thread that comes too
      // late.
      let left = playbackEnd - now - frameTime.duration(of: configuration.periodSize / 2)
      if left > .zero {
        limit = min(limit, left)
      } else {
        isDeviceLate = true
      }
    }
    if isFutile {
      isFutile = false
      // PulseAudio's buffer seems to stay as it is when the server took all of it between two
      // looks: a device that says it is ready and has no space for that long has run dry.
      guard !isStarted || now - lastProgress <= unproductiveWaitLimit else {
        isDeviceLate = true
        throw PCMFailure(.available, code: EPIPE)
      }
      return wait(wake, descriptorCount: 0, limit: min(limit, missing))
    }
    try pcm.pollDescriptors(into: &watchedDescriptors, from: 1)
    let readiness = wait(wake, descriptorCount: watchedDescriptors.count - 1, limit: limit)
    if readiness == nil {
      isFutile = try pcm.receivedEvents(&watchedDescriptors, from: 1) != 0
    }
    return readiness
  }

  /// The longest wait in one go, so that the caller sees that the sink responds, and can end it.
  static var maximumWait: Duration { .milliseconds(200) }

  /// Notes how long the thread was elsewhere: a stopped process is not a slow one.
  private func recordAbsence() {
    guard let lastWaitEnd else { return }
    let now = clock.now
    recordOversleep(now - lastWaitEnd - frameTime.duration(of: configuration.bufferSize), end: now)
  }

  /// Notes how long a call of the device took: what comes too late because of it is the device's
  /// doing.
  func recordCall(since began: Duration) {
    let length = clock.now - began
    lastWaitEnd = lastWaitEnd.map { $0 + length }
    if length > frameTime.duration(of: configuration.periodSize) {
      isDeviceLate = true
    }
  }

  /// Notes how long the device has kept the thread since it last waited; returns the time.
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

  /// Waits once for the first of the device's descriptors, the signal and a limit in time.
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
    // A pointer beyond what was written is that of a device with an underrun.
    guard available <= configuration.bufferSize else { throw PCMFailure(.available, code: EPIPE) }
    lastPollTime = clock.now
    // Only a device that went on reports how far it is.
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

  /// Follows the device's clock, which differs a little from that of the machine; a leap is an
  /// interruption. Leaps that are too small to be reported add up, so that many of them are; and
  /// they are forgotten as fast as clocks may differ, 200 parts in a million. Some sound servers
  /// play on without a word when they run dry.
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
      // Frames that a server swallowed, or had no more of, are silence; so may those be that
      // follow.
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
      // A sound server may take its time to begin; only then is it known when frames are due.
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

  /// The same for a device without a pace of its own: it has space as if it played in time.
  private func measureByClock(now: Duration) -> Int {
    guard isStarted, let playbackEnd else { return configuration.bufferSize - prefillCount }
    // Less than a period is made good by filling the buffer; passing it over would take as long
    // again.
    if playbackEnd < now, frameTime.frameCount(in: now - playbackEnd) > configuration.periodSize {
      reportMissed(
        .underrun, cause: lateCause(now: now), queuedCount: nil, now: now, "buffer underrun")
    }
    let queued = frameTime.frameCount(touching: max(.zero, (self.playbackEnd ?? now) - now))
    return max(0, configuration.bufferSize - queued)
  }

  /// By how much a device may be ahead of time: it reports where it is in steps of a period or
  /// less.
  private var earlyTolerance: Duration {
    max(
      .milliseconds(8),
      frameTime.duration(of: max(2 * configuration.periodSize, configuration.bufferSize / 2)))
  }

  /// How long a device may say that it is ready, and take nothing.
  private var unproductiveWaitLimit: Duration {
    frameTime.duration(of: 2 * configuration.bufferSize) + .milliseconds(50)
  }

  /// How long a device may take nothing before it counts as gone: a second once it runs; before
  /// that three, since an idle null sink of PulseAudio begins up to two seconds late, whatever is
  /// opened again.
  var stallTimeout: Duration {
    frameTime.duration(of: 2 * configuration.bufferSize)
      + .seconds(isSteady && !hasJustReconnected ? 1 : 3)
  }
}

struct FrameTime {
  /// Frames per second.
  let rate: Double

  /// How long frames last; a negative number gives a negative time.
  func duration(of frameCount: Int) -> Duration { .seconds(Double(frameCount) / rate) }

  /// Whole frames that a time holds, rounded down but for a hundredth: a time that came from frames
  /// is a little off.
  func frameCount(in duration: Duration) -> Int {
    Int(((seconds(duration) * rate) + 0.01).rounded(.down))
  }

  /// Frames that a time touches, rounded up but for a hundredth.
  func frameCount(touching duration: Duration) -> Int {
    Int(((seconds(duration) * rate) - 0.01).rounded(.up))
  }

  private func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
