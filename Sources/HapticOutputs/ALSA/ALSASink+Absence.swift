internal import HapticPlayback
internal import SoundFile

extension ALSASink {
  /// Time between two attempts to open a device that is away.
  static var retryInterval: Duration { .milliseconds(500) }
  /// Time after which frames that went by are reported while a device is disconnected.
  static var absenceInterval: Duration { .milliseconds(20) }

  /// Releases a device that cannot go on; from now on the clock paces.
  func lose(_ failure: PCMFailure, now: Duration) {
    let error = ALSAError(failure, device: request.device)
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
    sinkEvents.add(.disconnected, text: "\(request.device): \(error.description)")
  }

  /// How long a device that is being closed is waited for before it is opened again.
  ///
  /// libjack frees the clients of a server that is gone when another is opened; one that is just being closed
  /// would be freed twice.
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
      phase = .disconnected(nextAttempt: now + Self.retryInterval)
      reopening.begin()
    }
    if let result = reopening.take(), accept(result) { return nil }
    now = timekeeper.now
    let told = end ?? now
    if now - told >= Self.absenceInterval {
      lostCount += passOver(queuedCount: 0, now: now)
      return nil
    }
    let limit = min(told + Self.absenceInterval - now, Self.absenceInterval)
    let next = isOccupied ? limit : max(.zero, min(limit, nextAttempt - now))
    return wait(wake, descriptorCount: 0, limit: next)
  }

  /// Takes a device that was opened again where it is as it was.
  private func accept(_ result: Result<DeviceReopening.Opened, ALSAError>) -> Bool {
    do throws(ALSAError) {
      let opened = try result.get()
      let granted = opened.granted
      // What the sink promised when it was made, not what a device had in between.
      guard Double(granted.rate) == format.rate, granted.channelCount == format.channelCount else {
        reopening.close(opened.pcm)
        throw ALSAError(
          kind: .unsupportedFormat, device: request.device,
          description:
            "reconnected with \(granted.channelCount) channels at \(granted.rate) Hz instead of \(format.channelCount) at \(Int(format.rate)) Hz; restart playback to use it"
        )
      }
      accept(opened.pcm, granted)
      return true
    } catch {
      if error != lastAbsence, error.kind != .noSuchDevice {
        sinkEvents.add(.degraded, text: "\(request.device): \(error.description)")
      }
      lastAbsence = error
      return false
    }
  }

  private func accept(_ pcm: PCMBindings, _ granted: PCMConfiguration) {
    self.pcm = pcm
    self.granted = granted
    encoder = encoder.continued(as: granted.encoding)
    // What waits in the old form becomes silence.
    lostCount += passOver(queuedCount: 0, silentCount: leadIn, now: timekeeper.now)
    staged = Self.stage(for: granted, format: format)
    watched = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    restart()
    sinkEvents.add(.reconnected, missedFrameCount: lostCount, text: "\(request.device): reconnected")
    lostCount = 0
  }
}
