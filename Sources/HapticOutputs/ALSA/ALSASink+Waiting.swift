internal import Glibc
public import HapticPlayback

extension ALSASink {
  /// Waits until whole periods are wanted, time went by unheard, or somebody wakes the thread.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    watched[0] = PollDescriptor(wake.descriptor)
    noteAbsence()
    workStart = timekeeper.now
    defer { lastReturn = noteWork() }
    let latest = workStart + Self.longestWait
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
        return interruption == .behind ? .behind(frameCount: missedCount) : .missed(frameCount: missedCount)
      }
      switch phase {
      case .ended: return .ended
      case .disconnected(let nextAttempt): if let readiness = waitForReturn(nextAttempt, wake) { return readiness }
      case .suspended(let since, let nextAttempt):
        if let readiness = waitForResumption(since, nextAttempt, wake) { return readiness }
      case .resting: resumeFromRest()
      case .open:
        do { if let readiness = try waitForRoom(wake, isFutile: &isFutile) { return readiness } } catch {
          trouble = error
        }
      }
      if trouble == nil, interruption == nil, timekeeper.now >= latest { return .room(frameCount: 0) }
    }
  }

  /// One look at an open device, and one wait where there is no space. A device that says it is ready and has no space
  /// would make the thread spin: after such a wait, the next one goes by the clock alone.
  private func waitForRoom(_ wake: WakeSignal, isFutile: inout Bool) throws(PCMFailure) -> SinkReadiness? {
    guard let pcm else { return .ended }
    let now = timekeeper.now
    var available = try measure(pcm, now: now)
    if interruption != nil { return nil }
    continueLeadIn(available: available, now: now)
    if owedSilence > 0 || staged.count > 0 { available -= try push(to: pcm) }
    if owedSilence == 0, staged.count == 0 {
      let room = min(available, format.bufferSize) / granted.periodSize * granted.periodSize
      if room > 0 { return .room(frameCount: room) }
    }
    let missing = time.duration(of: max(1, granted.periodSize - available))
    if granted.isPaced { return wait(wake, descriptorCount: 0, limit: missing) }
    var limit = stallLimit - (now - lastProgress)
    guard limit > .zero else { throw PCMFailure(.available, code: ETIMEDOUT) }
    if isStarted, let end, end > now {
      // Looks once more while half a period is left: then it is not this thread that comes too late.
      let left = end - now - time.duration(of: granted.periodSize / 2)
      if left > .zero { limit = min(limit, left) } else { isOverdue = true }
    }
    if isFutile {
      isFutile = false
      // PulseAudio's buffer seems to stay as it is when the server took all of it between two looks: a device
      // that says it is ready and has no space for that long has run dry.
      guard !isStarted || now - lastProgress <= futilityLimit else {
        isOverdue = true
        throw PCMFailure(.available, code: EPIPE)
      }
      return wait(wake, descriptorCount: 0, limit: min(limit, missing))
    }
    try pcm.descriptors(into: &watched, from: 1)
    let readiness = wait(wake, descriptorCount: watched.count - 1, limit: limit)
    if readiness == nil { isFutile = try pcm.receivedEvents(&watched, from: 1) != 0 }
    return readiness
  }

  /// The longest wait in one go, so that the caller sees that the sink responds, and can end it.
  static var longestWait: Duration { .milliseconds(200) }

  /// Notes how long the thread was elsewhere: a stopped process is not a slow one.
  private func noteAbsence() {
    guard let lastReturn else { return }
    let now = timekeeper.now
    note(oversleep: now - lastReturn - time.duration(of: granted.bufferSize), end: now)
  }

  /// Notes how long a call of the device took: what comes too late because of it is the device's doing.
  func noteCall(since began: Duration) {
    let length = timekeeper.now - began
    lastReturn = lastReturn.map { $0 + length }
    if length > time.duration(of: granted.periodSize) { isOverdue = true }
  }

  /// Notes how long the device has kept the thread since it last waited; returns the time.
  private func noteWork() -> Duration {
    let now = timekeeper.now
    longestCall = max(longestCall, now - workStart)
    return now
  }

  private func note(oversleep length: Duration, end: Duration) {
    if length > .milliseconds(250) { oversleep = (length, end) }
  }

  /// Waits once for the first of the device's descriptors, the signal and a limit in time.
  func wait(_ wake: WakeSignal, descriptorCount: Int, limit: Duration) -> SinkReadiness? {
    for index in watched.indices { watched[index].received = 0 }
    for index in watched.indices.dropFirst(1 + descriptorCount) { watched[index].descriptor = -1 }
    let limit = max(.zero, min(limit, Self.longestWait))
    let end = noteWork() + limit
    timekeeper.wait(for: &watched, timeout: limit)
    let now = timekeeper.now
    workStart = now
    note(oversleep: now - end, end: now)
    guard watched[0].received != 0 else { return nil }
    wake.lower()
    return .woken
  }

  private func measure(_ pcm: PCMBindings, now: Duration) throws(PCMFailure) -> Int {
    if granted.isPaced { return measureByClock(now: now) }
    try checkState(of: pcm)
    defer { noteCall(since: now) }
    let available = try pcm.available()
    // A pointer beyond what was written is that of a device with an underrun.
    guard available <= granted.bufferSize else { throw PCMFailure(.available, code: EPIPE) }
    lastLook = timekeeper.now
    // Only a device that went on reports how far it is.
    guard available != lastAvailable else { return available }
    lastAvailable = available
    lastProgress = now
    if isStarted, available >= granted.periodSize { isFresh = false }
    if isStarted { follow(available: available, now: now) }
    return available
  }

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

  /// Follows the device's clock, which differs a little from that of the machine; a leap is an interruption. Leaps that
  /// are too small to be reported add up, so that many of them are; and they are forgotten as fast as clocks may
  /// differ, 200 parts in a million. Some sound servers play on without a word when they run dry.
  private func follow(available: Int, now: Duration) {
    defer { lastFollowed = now }
    let queued = granted.bufferSize - available
    let measured = now + time.duration(of: queued)
    let tolerance =
      queued == 0
      ? time.duration(of: granted.periodSize)
      : max(.milliseconds(30), time.duration(of: max(2 * granted.periodSize, granted.bufferSize / 2)))
    let slip = measured - (end ?? measured)
    end = measured
    if leadInState != nil {
      // Frames that a server swallowed, or had no more of, are silence; so may those be that follow.
      if slip < .zero - earlyTolerance / 2 || slip > tolerance || queued <= 1 { leadInState?.steadySince = now }
      return
    }
    if !isSettled, leadIn > 0, slip < .zero - earlyTolerance {
      lag = slip
      return tellMissed(.underrun, cause: .droppedBuffer, queuedCount: queued, now: now, "the device skipped frames")
    }
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
      tellMissed(.underrun, cause: .lateDevice, queuedCount: queued, now: now, "the device is late")
    } else if slip < .zero - earlyTolerance / 2, lag < .zero - earlyTolerance {
      tellMissed(.underrun, cause: .droppedBuffer, queuedCount: queued, now: now, "the device skipped frames")
    }
  }

  /// The same for a device without a pace of its own: it has space as if it played in time.
  private func measureByClock(now: Duration) -> Int {
    guard isStarted, let end else { return granted.bufferSize - waitingCount }
    // Less than a period is made good by filling the buffer; passing it over would take as long again.
    if end < now, time.frameCount(in: now - end) > granted.periodSize {
      tellMissed(.underrun, cause: lateCause(now: now), queuedCount: nil, now: now, "buffer underrun")
    }
    let queued = time.frameCount(touching: max(.zero, (self.end ?? now) - now))
    return max(0, granted.bufferSize - queued)
  }

  /// By how much a device may be ahead of time: it reports where it is in steps of a period or less.
  private var earlyTolerance: Duration {
    max(.milliseconds(8), time.duration(of: max(2 * granted.periodSize, granted.bufferSize / 2)))
  }

  /// How long a device may say that it is ready, and take nothing.
  private var futilityLimit: Duration { time.duration(of: 2 * granted.bufferSize) + .milliseconds(50) }

  /// How long a device may take nothing before it counts as gone: a second once it runs; before that three, since an
  /// idle null sink of PulseAudio begins up to two seconds late, whatever is opened again.
  var stallLimit: Duration { time.duration(of: 2 * granted.bufferSize) + .seconds(isSettled && !isFresh ? 1 : 3) }
}

struct FrameTime {
  /// Frames per second.
  let rate: Double

  /// How long frames last; a negative number gives a negative time.
  func duration(of frameCount: Int) -> Duration { .seconds(Double(frameCount) / rate) }

  /// Whole frames that a time holds, rounded down but for a hundredth: a time that came from frames is a little off.
  func frameCount(in duration: Duration) -> Int { Int(((seconds(duration) * rate) + 0.01).rounded(.down)) }

  /// Frames that a time touches, rounded up but for a hundredth.
  func frameCount(touching duration: Duration) -> Int { Int(((seconds(duration) * rate) - 0.01).rounded(.up)) }

  private func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
