internal import Glibc
internal import HapticPlayback

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
    case EPIPE:
      prepare(pcm, .underrun, "buffer underrun", now: now)
    case ESTRPIPE:
      resume(pcm, since: now)
    case EAGAIN:
      break
    case EBADFD:
      switch pcm.state {
      case .underrun, .other: prepare(pcm, .underrun, "the device stopped", now: now)
      case .suspended: resume(pcm, since: now)
      case .prepared, .running: break
      case .disconnected: lose(failure, now: now)
      }
    default:
      lose(failure, now: now)
    }
  }

  /// Empties the device; what it had is lost, and what is overdue by now is passed over.
  private func prepare(_ pcm: PCMBindings, _ kind: SinkEvent.Kind, _ text: String, now: Duration) {
    do {
      try pcm.prepare()
      restart()
      tellMissed(kind, queuedCount: 0, now: now, text)
    } catch {
      lose(error, now: now)
    }
  }

  /// The state of a device that waits to be filled.
  func restart() {
    isStarted = false
    waitingCount = 0
    lastAvailable = 0
    lastProgress = timekeeper.now
    phase = .open
  }

  /// Goes on after a suspension with what the buffer holds where the device can, else anew.
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
      tellMissed(.suspended, queuedCount: max(0, queued), now: now, text)
    } catch {
      if error.call == .resume, error.code == EAGAIN, now - since < .seconds(5) {
        if case .open = phase { notices.add(.suspended, text: text) }
        phase = .suspended(since: since, nextAttempt: now + .milliseconds(20))
      } else if error.code == ENODEV {
        lose(error, now: now)
      } else {
        prepare(pcm, .suspended, text, now: now)
      }
    }
  }

  /// Waits for a device that is about to resume.
  func waitForResumption(
    _ since: Duration, _ nextAttempt: Duration, _ wake: WakeSignal
  ) -> SinkReadiness? {
    let now = timekeeper.now
    if now < nextAttempt {
      return wait(wake, descriptorCount: 0, limit: nextAttempt - now)
    }
    guard let pcm else { return .ended }
    resume(pcm, since: since)
    return nil
  }

  /// Sets the sink's time right after an interruption, and tells of it.
  ///
  /// - Parameter queuedCount: Frames of before that the device will still play.
  func tellMissed(_ kind: SinkEvent.Kind, queuedCount: Int, now: Duration, _ text: String) {
    let count = passOver(queuedCount: queuedCount, now: now)
    notices.add(kind, missedFrameCount: max(0, count), text: text)
  }

  /// Passes over what is overdue: frames that wait first, then those not yet rendered.
  ///
  /// Where the device lost frames that were not yet due, as much silence takes their place.
  @discardableResult
  func passOver(queuedCount: Int, now: Duration) -> Int {
    guard let end else { return 0 }
    let due = end + time.duration(of: owedSilence)
    let gap = now + time.duration(of: queuedCount) - due + lag
    let count = time.frameCount(in: gap)
    // A device that goes on as if nothing had been needs nothing made good.
    if queuedCount > 0, count == 0, owedSilence == 0 { return 0 }
    let moved = time.duration(of: count)
    self.end = now + time.duration(of: queuedCount)
    lag = gap - moved
    owedSilence = 0
    let overdue = min(max(0, count), staged.count)
    staged.drop(overdue)
    missedCount += max(0, count) - overdue
    let continues = queuedCount > 0 && count > 0 && overdue == 0 && staged.count == 0
    interruption = continues && interruption != .broken ? .behind : .broken
    if !continues {
      // What waits was rendered to follow what is lost: silence takes its place.
      owedSilence = min(max(0, -count) + staged.count, 2 * granted.bufferSize)
      staged.drop(staged.count)
    }
    return count
  }
}
