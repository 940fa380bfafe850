internal import Glibc
public import HapticPlayback

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
      case .away(let nextAttempt):
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

  /// One look at an open device, and one wait where there is no room.
  ///
  /// A device that says it is ready and has no room would make the thread spin: after such a wait, the next
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
    // Only a device that went on tells how far it is.
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

  /// The same for a device without a pace of its own: it has room as if it played in time.
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
