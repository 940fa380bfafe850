internal import HapticPlayback
internal import PCMSamples

extension ALSASink {
  /// Time between two attempts to open a device that is away.
  static var retryInterval: Duration { .milliseconds(500) }
  /// Time after which frames that went by are told while a device is away.
  static var absenceInterval: Duration { .milliseconds(20) }

  /// Lets go of a device that cannot go on; from now on the clock paces.
  func lose(_ failure: PCMFailure, now: Duration) {
    let error = ALSAError(failure, device: request.device)
    pcm = nil
    // Sound that has not begun would begin now.
    if end == nil { end = now + time.duration(of: waitingCount) }
    restart()
    lastAbsence = nil
    phase = .away(
      nextAttempt: lastAttempt.map { max(now, $0 + Self.retryInterval) } ?? now)
    notices.add(.lost, text: "\(request.device): \(error.description)")
  }

  /// Looks for a device that is away, and else lets time go by.
  func waitForReturn(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = timekeeper.now
    if now >= nextAttempt {
      lastAttempt = now
      phase = .away(nextAttempt: now + Self.retryInterval)
      if reopen() { return nil }
      now = timekeeper.now
    }
    let told = end ?? now
    if now - told >= Self.absenceInterval {
      passOver(queuedCount: 0, now: now)
      return nil
    }
    let limit = min(told + Self.absenceInterval, max(nextAttempt, now)) - now
    return wait(wake, descriptorCount: 0, limit: limit)
  }

  /// Opens the device again where it is as it was.
  private func reopen() -> Bool {
    do throws(ALSAError) {
      let (pcm, granted) = try PCMNegotiation(request).open(interception: interception)
      guard granted.rate == self.granted.rate, granted.channelCount == self.granted.channelCount
      else {
        throw ALSAError(
          kind: .unsupportedFormat, device: request.device,
          description:
            "reconnected with \(granted.channelCount) channels at \(granted.rate) Hz instead of \(self.granted.channelCount) at \(self.granted.rate) Hz; restart playback to use it"
        )
      }
      accept(pcm, granted)
      return true
    } catch {
      if error != lastAbsence, error.kind != .noSuchDevice {
        notices.add(.degraded, text: "\(request.device): \(error.description)")
      }
      lastAbsence = error
      return false
    }
  }

  private func accept(_ pcm: PCMBindings, _ granted: PCMConfiguration) {
    self.pcm = pcm
    self.granted = granted
    encoder = encoder.continued(as: granted.encoding)
    let missed = passOver(queuedCount: 0, now: timekeeper.now)
    // What waits in the old form becomes silence.
    owedSilence += staged.count
    staged = Self.stage(for: granted, format: format)
    watched = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    restart()
    notices.add(
      .returned, missedFrameCount: max(0, missed), text: "\(request.device): reconnected")
  }
}
