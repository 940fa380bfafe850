internal import Glibc
internal import HapticPlayback
internal import SoundFile
internal import Synchronization

extension ALSASink {
  /// Recoveries without success, one after the other, after which a device counts as gone.
  private static var recoveryLimit: Int { 64 }

  /// Brings a device back to where it can be filled, or gives it up until it is found again.
  func recover(from failure: PCMFailure) {
    guard case .open = phase, let pcm else { return }
    let now = timekeeper.now
    if now - recoveriesSince > time.duration(of: granted.bufferSize) + .milliseconds(100) {
      recoveriesSince = now
      recoveryCount = 0
    }
    recoveryCount += 1
    if recoveryCount > Self.recoveryLimit { return lose(failure, now: now) }
    switch failure.code {
    case EPIPE: prepare(pcm, .underrun, now: now)
    case ESTRPIPE: resume(pcm, since: now)
    case EAGAIN: break
    case EBADFD:
      switch pcm.state {
      case .underrun, .other: prepare(pcm, .underrun, now: now)
      case .suspended: resume(pcm, since: now)
      case .prepared, .running: break
      case .disconnected: lose(failure, now: now)
      }
    default: lose(failure, now: now)
    }
  }

  /// Empties the device; what it had is lost, and what is overdue by now is passed over.
  private func prepare(_ pcm: PCMBindings, _ kind: SinkEvent.Kind, now: Duration) {
    do {
      try pcm.prepare()
      // More than a period would have been left.
      let isDropped = end.map { time.frameCount(in: $0 - max(now, silenceEnd)) > granted.periodSize } ?? false
      let cause: SinkEvent.Cause = isDropped ? .droppedBuffer : lateCause(now: now)
      tellMissed(
        kind, cause: kind == .underrun ? cause : nil, queuedCount: nil, now: now,
        kind == .suspended
          ? "the device was suspended"
          : isDropped
            ? "the device dropped its buffer" : cause == .lateDevice ? "the device is late" : "buffer underrun")
      restart()
    } catch { lose(error, now: now) }
  }

  /// Why frames came too late: the process did not run, the device did not ask in time, or the thread did not come.
  func lateCause(now: Duration) -> SinkEvent.Cause {
    if oversleep.length > .milliseconds(250), now - oversleep.end < .milliseconds(100) { return .stoppedProcess }
    // A device that runs dry before its time, or before it was started, does so by itself, too.
    let isByItself = isOverdue || !isStarted || now < (end ?? now)
    return isByItself ? .lateDevice : .lateDelivery
  }

  /// Frames in the device that would be lost now: rendered, and not heard yet. A device that stood still when it was
  /// last looked at has played nothing up to then.
  func droppedCount(now: Duration) -> Int {
    guard isStarted, let end else { return max(0, waitingCount - silentWaitingCount) }
    if granted.isPaced { return max(0, time.frameCount(in: end - max(now, silenceEnd))) }
    let played = min(now, lastProgress + (now - lastLook))
    let unplayed = time.frameCount(in: end - max(played, silenceEnd))
    return max(0, min(unplayed, granted.bufferSize - lastAvailable))
  }

  func restart() {
    isStarted = false
    (waitingCount, silentWaitingCount) = (0, 0)
    lastAvailable = granted.bufferSize
    lastProgress = timekeeper.now
    lastLook = lastProgress
    isOverdue = false
    phase = .open
  }

  /// Goes on after a suspension with what the buffer holds where the device can, else from the start.
  private func resume(_ pcm: PCMBindings, since: Duration) {
    let now = timekeeper.now
    let text = "the device was suspended"
    do throws(PCMFailure) {
      try pcm.resume()
      switch pcm.state {
      case .running: break
      case .prepared: if isStarted { try pcm.start() }
      // A plug-in that cannot resume says nothing about it.
      default: throw PCMFailure(.resume, code: ENOSYS)
      }
      phase = .open
      lastProgress = now
      let queued = isStarted ? granted.bufferSize - (try pcm.available()) : waitingCount
      tellMissed(.suspended, cause: nil, queuedCount: max(0, queued), now: now, text)
    } catch {
      if error.call == .resume, error.code == EAGAIN, now - since < .seconds(5) {
        if case .open = phase { sinkEvents.add(.suspended, text: text) }
        phase = .suspended(since: since, nextAttempt: now + .milliseconds(20))
      } else if error.code == ENODEV {
        lose(error, now: now)
      } else {
        prepare(pcm, .suspended, now: now)
      }
    }
  }

  func waitForResumption(_ since: Duration, _ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    let now = timekeeper.now
    if now < nextAttempt { return wait(wake, descriptorCount: 0, limit: nextAttempt - now) }
    guard let pcm else { return .ended }
    resume(pcm, since: since)
    return nil
  }

  /// Sets the sink's time right after an interruption, and reports it with all that was not heard. The device will
  /// still play the frames of before that are queued; nil where it lost them.
  func tellMissed(_ kind: SinkEvent.Kind, cause: SinkEvent.Cause?, queuedCount: Int?, now: Duration, _ text: String) {
    if leadInState != nil { return restartLeadIn(now: now) }
    let lost = passOver(queuedCount: queuedCount, now: now)
    if lost > 0 || kind != .underrun { sinkEvents.add(kind, cause: cause, missedFrameCount: lost, text: text) }
  }

  /// Passes over what is overdue: frames that wait first, then those not yet rendered.
  ///
  /// Where the device lost frames that were not yet due, as much silence takes their place.
  ///
  /// - Parameter silentCount: Frames of silence that are to lead in to what follows.
  /// - Returns: Rendered or not, the frames that are not heard and were not counted before.
  func passOver(queuedCount: Int? = nil, silentCount: Int = 0, now: Duration) -> Int {
    guard let end else {
      owedSilence = max(owedSilence, silentCount)
      return 0
    }
    let due = end + time.duration(of: owedSilence)
    let queued = queuedCount ?? 0
    let gap = now + time.duration(of: queued + silentCount) - due + lag
    let count = time.frameCount(in: gap)
    // A device that goes on as if nothing had been needs nothing made good.
    if queuedCount != nil, count == 0, owedSilence == 0 { return 0 }
    let skipped = queued > 0 ? max(0, -count) : 0
    let silent = time.frameCount(in: max(.zero, silenceEnd - now))
    let dropped = queuedCount == nil ? droppedCount(now: now) : max(0, skipped - silent)
    let moved = time.duration(of: count)
    let since = min(now, due)
    quiet = (since: quiet.flatMap { since - $0.until < patience ? $0.since : nil } ?? since, until: now)
    self.end = now + time.duration(of: queued)
    silenceEnd = skipped > 0 ? silenceEnd - time.duration(of: skipped) : min(silenceEnd, now)
    lag = gap - moved
    owedSilence = silentCount
    let overdue = min(max(0, count), staged.count)
    staged.drop(overdue)
    missedCount += max(0, count) - overdue
    let continues = queued > 0 && count > 0 && overdue == 0 && staged.count == 0
    interruption = continues && interruption != .broken ? .behind : .broken
    let silenced = continues ? 0 : staged.count
    if !continues {
      // What waits was rendered to follow what is lost: silence takes its place.
      owedSilence += min(max(0, -count) + silenced, 2 * granted.bufferSize)
      staged.drop(silenced)
    }
    return max(0, count) + dropped + silenced
  }

  static var retryInterval: Duration { .milliseconds(500) }
  /// Time after which frames that went by are reported while a device is disconnected.
  static var absenceInterval: Duration { .milliseconds(20) }

  /// Releases a device that cannot go on; from now on the clock paces.
  func lose(_ failure: PCMFailure, now: Duration) {
    lostCount = droppedCount(now: now)
    if let lost = pcm {
      pcm = nil
      reopening.close(lost)
    }
    // Sound that has not begun would begin now.
    let due = end ?? now + time.duration(of: waitingCount)
    end = due
    silenceEnd = due
    restart()
    leadInState = nil
    lastAbsence = nil
    lostMoment = now
    phase = .disconnected(nextAttempt: lastAttempt.map { max(now, $0 + Self.retryInterval) } ?? now)
    sinkEvents.add(.disconnected, text: "\(request.device): \(OutputError(failure, device: request.device))")
  }

  /// How long a device that is being closed is waited for before it is opened again. libjack frees the clients of a
  /// server that is gone when another is opened; one that is just being closed would be freed twice.
  private var closingPatience: Duration {
    granted.isJACKClient ? .seconds(30) : Self.retryInterval + Self.retryInterval
  }

  /// Looks for a device that is away, and else lets time go by.
  func waitForReturn(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = timekeeper.now
    // A device that is still being closed would be busy.
    let isOccupied = reopening.isRunning || (reopening.isClosing && now - lostMoment < closingPatience)
    if now >= nextAttempt, !isOccupied {
      lastAttempt = now
      // A server that was restarted is back within two seconds.
      phase = .disconnected(nextAttempt: now + Self.retryInterval / (now - lostMoment < .seconds(2) ? 2 : 1))
      reopening.begin()
    }
    if let result = reopening.take(), accept(result) { return nil }
    now = timekeeper.now
    let told = end ?? now
    if now - told >= Self.absenceInterval {
      lostCount += passOver(now: now)
      return nil
    }
    let limit = min(told + Self.absenceInterval - now, Self.absenceInterval)
    let next = isOccupied ? limit : max(.zero, min(limit, nextAttempt - now))
    return wait(wake, descriptorCount: 0, limit: next)
  }

  /// Takes a device that was opened again where it is as it was.
  private func accept(_ result: Result<DeviceReopening.Opened, OutputError>) -> Bool {
    do throws(OutputError) {
      let opened = try result.get()
      let granted = opened.granted
      // What the sink promised when it was made, not what a device had in between.
      guard Double(granted.rate) == format.rate, granted.channelCount == format.channelCount else {
        reopening.close(opened.pcm)
        throw OutputError(
          .unsupportedFormat, output: request.device,
          "reconnected with \(granted.channelCount) channels at \(granted.rate) Hz instead of \(format.channelCount) at \(Int(format.rate)) Hz; restart playback to use it"
        )
      }
      accept(opened.pcm, granted)
      return true
    } catch {
      if error != lastAbsence, error.kind != .notFound {
        sinkEvents.add(.degraded, text: "\(request.device): \(error.description)")
      }
      lastAbsence = error
      return false
    }
  }

  private func accept(_ pcm: PCMBindings, _ granted: PCMConfiguration) {
    (self.pcm, self.granted) = (pcm, granted)
    encoder = encoder.continued(as: granted.encoding)
    // What waits in the old form becomes silence.
    lostCount += passOver(silentCount: leadIn, now: timekeeper.now)
    staged = Self.stage(for: granted, format: format)
    watched = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    restart()
    isFresh = true
    sinkEvents.add(.reconnected, missedFrameCount: lostCount, text: "\(request.device): reconnected")
    lostCount = 0
  }
}

/// Opens a device again and closes what was lost, beside the thread that renders: either may take seconds, or never
/// return. With an interception, as tests have, both happen at once on the caller's thread.
final class DeviceReopening: Sendable {
  typealias Opened = (pcm: PCMBindings, granted: PCMConfiguration)

  private struct Outcome: @unchecked Sendable { var result: Result<Opened, OutputError> }

  private enum State {
    case idle, running
    case done(Outcome)
  }

  /// Closing calls that may hang at once; beyond, nothing is opened any more.
  private static let closingLimit = 8

  private let request: PCMRequest
  private let interception: PCMInterception?
  private let state = Mutex(State.idle)
  private let closing = Atomic<Int>(0)

  init(_ request: PCMRequest, interception: PCMInterception?) {
    (self.request, self.interception) = (request, interception)
  }

  /// Whether an attempt has begun and its result was not taken.
  var isRunning: Bool { state.withLock { if case .idle = $0 { false } else { true } } }

  var isClosing: Bool { closing.load(ordering: .acquiring) > 0 }

  /// Begins an attempt; one at a time.
  func begin() {
    guard !isRunning, closing.load(ordering: .relaxed) < Self.closingLimit else { return }
    state.withLock { $0 = .running }
    if let interception { return interception.returns(.open) ? attempt() : () }
    // Without a thread for it, the device is looked for again later.
    if (try? BackgroundThread { self.attempt() }) == nil { state.withLock { $0 = .idle } }
  }

  private func attempt() {
    let outcome = Outcome(
      result: Result { () throws(OutputError) in try PCMNegotiation(request: request).open(interception: interception) }
    )
    state.withLock { $0 = .done(outcome) }
  }

  func take() -> Result<Opened, OutputError>? {
    state.withLock { state -> Outcome? in
      guard case .done(let outcome) = state else { return nil }
      state = .idle
      return outcome
    }?.result
  }

  /// Closes a device that can no longer be used; the caller has no other use for it. Closed by a call of its own, not
  /// with its last reference: the thread's own may outlive the thread's work, and libjack frees a client twice where
  /// another is opened meanwhile.
  func close(_ pcm: PCMBindings) {
    nonisolated(unsafe) let pcm = pcm
    closing.add(1, ordering: .relaxed)
    let close: @Sendable () -> Void = { [self] in
      unsafe pcm.close()
      closing.subtract(1, ordering: .releasing)
    }
    if let interception { return interception.returns(.close) ? close() : () }
    if (try? BackgroundThread(close)) == nil { close() }
  }
}
