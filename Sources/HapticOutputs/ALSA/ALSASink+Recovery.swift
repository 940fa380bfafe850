internal import Glibc
public import HapticPlayback
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
      tellMissed(.suspended, queuedCount: max(0, queued), now: now, text)
    } catch {
      if error.call == .resume, error.code == EAGAIN, now - since < .seconds(5) {
        if case .open = phase { sinkEvents.add(.suspended, text: text) }
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

  /// Sets the sink's time right after an interruption, and reports it.
  ///
  /// - Parameter queuedCount: Frames of before that the device will still play.
  func tellMissed(_ kind: SinkEvent.Kind, queuedCount: Int, now: Duration, _ text: String) {
    let count = passOver(queuedCount: queuedCount, now: now)
    sinkEvents.add(kind, missedFrameCount: max(0, count), text: text)
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

extension ALSASink {
  /// Time between two attempts to open a device that is away.
  static var retryInterval: Duration { .milliseconds(500) }
  /// Time after which frames that went by are reported while a device is disconnected.
  static var absenceInterval: Duration { .milliseconds(20) }

  /// Releases a device that cannot go on; from now on the clock paces.
  func lose(_ failure: PCMFailure, now: Duration) {
    let error = ALSAError(failure, device: request.device)
    pcm = nil
    // Sound that has not begun would begin now.
    if end == nil { end = now + time.duration(of: waitingCount) }
    restart()
    lastAbsence = nil
    phase = .disconnected(
      nextAttempt: lastAttempt.map { max(now, $0 + Self.retryInterval) } ?? now)
    sinkEvents.add(.disconnected, text: "\(request.device): \(error.description)")
  }

  /// Looks for a device that is away, and else lets time go by.
  func waitForReturn(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = timekeeper.now
    if now >= nextAttempt {
      lastAttempt = now
      phase = .disconnected(nextAttempt: now + Self.retryInterval)
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
    let missed = passOver(queuedCount: 0, now: timekeeper.now)
    // What waits in the old form becomes silence.
    owedSilence += staged.count
    staged = Self.stage(for: granted, format: format)
    watched = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    restart()
    sinkEvents.add(
      .reconnected, missedFrameCount: max(0, missed), text: "\(request.device): reconnected")
  }
}

extension ALSASink {
  /// Waits until whole periods are wanted, time went by unheard, or somebody wakes the thread.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    watched[0] = PollDescriptor(wake.descriptor)
    var isFutile = false
    while true {
      if let failure = trouble {
        trouble = nil
        recover(from: failure)
      }
      if let interruption {
        defer {
          missedCount = 0
          self.interruption = nil
        }
        return interruption == .behind
          ? .behind(frameCount: missedCount) : .missed(frameCount: missedCount)
      }
      switch phase {
      case .ended:
        return .ended
      case .disconnected(let nextAttempt):
        if let readiness = waitForReturn(nextAttempt, wake) { return readiness }
      case .suspended(let since, let nextAttempt):
        if let readiness = waitForResumption(since, nextAttempt, wake) { return readiness }
      case .open:
        do {
          if let readiness = try waitForRoom(wake, isFutile: &isFutile) { return readiness }
        } catch {
          trouble = error
        }
      }
    }
  }

  /// One look at an open device, and one wait where there is no space.
  ///
  /// A device that says it is ready and has no space would make the thread spin: after such a wait, the next
  /// one goes by the clock alone.
  private func waitForRoom(
    _ wake: WakeSignal, isFutile: inout Bool
  ) throws(PCMFailure) -> SinkReadiness? {
    guard let pcm else { return .ended }
    let now = timekeeper.now
    var available = try measure(pcm, now: now)
    if interruption != nil { return nil }
    if owedSilence > 0 || staged.count > 0 {
      available -= try push(to: pcm)
    }
    if owedSilence == 0, staged.count == 0 {
      let room = min(available, format.bufferSize) / granted.periodSize * granted.periodSize
      if room > 0 { return .room(frameCount: room) }
    }
    let missing = max(1, granted.periodSize - available)
    if granted.isPaced || isFutile {
      isFutile = false
      return wait(wake, descriptorCount: 0, limit: time.duration(of: missing))
    }
    let limit = stallLimit - (now - lastProgress)
    guard limit > .zero else { throw PCMFailure(.available, code: ETIMEDOUT) }
    try pcm.descriptors(into: &watched, from: 1)
    let readiness = wait(wake, descriptorCount: watched.count - 1, limit: limit)
    if readiness == nil { isFutile = try pcm.receivedEvents(&watched, from: 1) != 0 }
    return readiness
  }

  /// Waits once for the first of the device's descriptors, the signal and a limit in time.
  func wait(_ wake: WakeSignal, descriptorCount: Int, limit: Duration) -> SinkReadiness? {
    for index in watched.indices { watched[index].received = 0 }
    for index in watched.indices.dropFirst(1 + descriptorCount) { watched[index].descriptor = -1 }
    timekeeper.wait(for: &watched, timeout: max(.zero, limit))
    guard watched[0].received != 0 else { return nil }
    wake.lower()
    return .woken
  }

  /// Frames that are free, and with them the moment at which the sound will end.
  private func measure(_ pcm: PCMBindings, now: Duration) throws(PCMFailure) -> Int {
    if granted.isPaced { return measureByClock(now: now) }
    try checkState(of: pcm)
    let available = try min(pcm.available(), granted.bufferSize)
    // Only a device that went on reports how far it is.
    guard available != lastAvailable else { return available }
    lastAvailable = available
    lastProgress = now
    if isStarted { follow(available: available, now: now) }
    return available
  }

  /// Not every plug-in refuses calls in a state that forbids them.
  private func checkState(of pcm: PCMBindings) throws(PCMFailure) {
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

  /// Follows the device's clock, which differs a little from that of the machine; a leap is an interruption.
  ///
  /// Leaps that are too small to be told add up, so that many of them are; and they are forgotten as fast as
  /// clocks may differ, 200 parts in a million. Some sound servers play on without a word when they run dry.
  private func follow(available: Int, now: Duration) {
    defer { lastFollowed = now }
    let queued = granted.bufferSize - available
    let measured = now + time.duration(of: queued)
    let tolerance =
      queued == 0
      ? time.duration(of: granted.periodSize)
      : max(
        .milliseconds(30),
        time.duration(of: max(2 * granted.periodSize, granted.bufferSize / 2))
      )
    let slip = measured - (end ?? measured)
    end = measured
    guard isSettled else {
      // A sound server may take its time to begin; only then is it known when frames are due.
      if settlingSince == nil || slip > tolerance { settlingSince = now }
      isSettled = now - (settlingSince ?? now) > .milliseconds(250)
      return
    }
    lag += slip
    let drift = min(max(lag, .zero - lag), (now - lastFollowed) / 5_000)
    lag -= lag > .zero ? drift : .zero - drift
    if lag > tolerance {
      tellMissed(.underrun, queuedCount: queued, now: now, "the device is late")
    }
  }

  /// The same for a device without a pace of its own: it has space as if it played in time.
  private func measureByClock(now: Duration) -> Int {
    guard isStarted, let end else { return granted.bufferSize - waitingCount }
    // Less than a period is made good by filling the buffer; passing it over would take as long again.
    if end < now, time.frameCount(in: now - end) > granted.periodSize {
      tellMissed(.underrun, queuedCount: 0, now: now, "buffer underrun")
    }
    let queued = time.frameCount(touching: max(.zero, (self.end ?? now) - now))
    return max(0, granted.bufferSize - queued)
  }

  /// How long a device may take nothing before it counts as gone; an idle sound server may need two seconds.
  var stallLimit: Duration { time.duration(of: 2 * granted.bufferSize) + .seconds(3) }
}

/// Frames as time, and back.
struct FrameTime {
  /// Frames per second.
  let rate: Double

  /// How long frames last; a negative number gives a negative time.
  func duration(of frameCount: Int) -> Duration { .seconds(Double(frameCount) / rate) }

  /// Whole frames that a time holds, rounded down but for a hundredth.
  ///
  /// A time that came from frames is a little shorter or longer than they are.
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
