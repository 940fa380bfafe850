internal import Glibc
internal import HapticPlayback
internal import SoundFile

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
      let isDropped = droppedCount(now: now) > granted.periodSize
      let cause: SinkEvent.Cause = isDropped ? .droppedBuffer : lateCause(now: now)
      restart()
      tellMissed(
        kind, cause: kind == .underrun ? cause : nil, queuedCount: 0, now: now,
        kind == .suspended
          ? "the device was suspended"
          : isDropped
            ? "the device dropped its buffer" : cause == .lateDevice ? "the device is late" : "buffer underrun")
    } catch { lose(error, now: now) }
  }

  /// Why frames came too late: the process did not run, the device did not ask for them in time, or the
  /// thread did not come to them.
  func lateCause(now: Duration) -> SinkEvent.Cause {
    if oversleep.length > .milliseconds(250), now - oversleep.end < .milliseconds(100) { return .stoppedProcess }
    // A device that runs dry before its time, or before it was started, does so by itself, too.
    let isByItself = isOverdue || !isStarted || now < (end ?? now)
    return isByItself ? .lateDevice : .lateDelivery
  }

  /// Frames in the device that would be lost now: rendered, and not heard yet.
  func droppedCount(now: Duration) -> Int {
    guard let end else { return max(0, waitingCount - silentWaitingCount) }
    return max(0, time.frameCount(in: end - max(now, silenceEnd)))
  }

  /// The state of a device that waits to be filled.
  func restart() {
    isStarted = false
    waitingCount = 0
    silentWaitingCount = 0
    lastAvailable = 0
    lastProgress = timekeeper.now
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

  /// Waits for a device that is about to resume.
  func waitForResumption(_ since: Duration, _ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    let now = timekeeper.now
    if now < nextAttempt { return wait(wake, descriptorCount: 0, limit: nextAttempt - now) }
    guard let pcm else { return .ended }
    resume(pcm, since: since)
    return nil
  }

  /// Sets the sink's time right after an interruption, and reports it with all that was not heard.
  ///
  /// - Parameter queuedCount: Frames of before that the device will still play.
  func tellMissed(_ kind: SinkEvent.Kind, cause: SinkEvent.Cause?, queuedCount: Int, now: Duration, _ text: String) {
    if leadInState != nil { return restartLeadIn(now: now) }
    let lost = passOver(queuedCount: queuedCount, now: now)
    sinkEvents.add(kind, cause: cause, missedFrameCount: lost, text: text)
  }

  /// Passes over what is overdue: frames that wait first, then those not yet rendered.
  ///
  /// Where the device lost frames that were not yet due, as much silence takes their place.
  ///
  /// - Parameter silentCount: Frames of silence that are to lead in to what follows.
  /// - Returns: Rendered or not, the frames that are not heard and were not counted before.
  func passOver(queuedCount: Int, silentCount: Int = 0, now: Duration) -> Int {
    guard let end else {
      owedSilence = max(owedSilence, silentCount)
      return 0
    }
    let due = end + time.duration(of: owedSilence)
    let gap = now + time.duration(of: queuedCount + silentCount) - due + lag
    let count = time.frameCount(in: gap)
    // A device that goes on as if nothing had been needs nothing made good.
    if queuedCount > 0, count == 0, owedSilence == 0 { return 0 }
    let skipped = queuedCount > 0 ? max(0, -count) : 0
    let silent = time.frameCount(in: max(.zero, silenceEnd - now))
    let dropped = queuedCount > 0 ? max(0, skipped - silent) : droppedCount(now: now)
    let moved = time.duration(of: count)
    self.end = now + time.duration(of: queuedCount)
    silenceEnd = skipped > 0 ? silenceEnd - time.duration(of: skipped) : min(silenceEnd, now)
    lag = gap - moved
    owedSilence = silentCount
    let overdue = min(max(0, count), staged.count)
    staged.drop(overdue)
    missedCount += max(0, count) - overdue
    let continues = queuedCount > 0 && count > 0 && overdue == 0 && staged.count == 0
    interruption = continues && interruption != .broken ? .behind : .broken
    let silenced = continues ? 0 : staged.count
    if !continues {
      // What waits was rendered to follow what is lost: silence takes its place.
      owedSilence += min(max(0, -count) + silenced, 2 * granted.bufferSize)
      staged.drop(silenced)
    }
    return max(0, count) + dropped + silenced
  }
}
