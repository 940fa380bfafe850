public import HapticPlayback
internal import Glibc
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
    case EPIPE:
      prepare(pcm, .underrun, now: now)
    case ESTRPIPE:
      resume(pcm, since: now)
    case EAGAIN:
      break
    case EBADFD:
      switch pcm.state {
      case .underrun, .other: prepare(pcm, .underrun, now: now)
      case .suspended: resume(pcm, since: now)
      case .prepared, .running: break
      case .disconnected: lose(failure, now: now)
      }
    default:
      lose(failure, now: now)
    }
  }

  /// Empties the device; what it had is lost, and what is overdue by now is passed over.
  private func prepare(_ pcm: PCMBindings, _ kind: SinkEvent.Kind, now: Duration) {
    do {
      try pcm.prepare()
      // More than a period would have been left.
      let isDropped =
        end.map { time.frameCount(in: $0 - max(now, silenceEnd)) > granted.periodSize } ?? false
      let cause: SinkEvent.Cause = isDropped ? .droppedBuffer : lateCause(now: now)
      tellMissed(
        kind, cause: kind == .underrun ? cause : nil, queuedCount: nil, now: now,
        kind == .suspended
          ? "the device was suspended"
          : isDropped
            ? "the device dropped its buffer"
            : cause == .lateDevice ? "the device is late" : "buffer underrun")
      restart()
    } catch {
      lose(error, now: now)
    }
  }

  /// Why frames came too late: the process did not run, the device did not ask in time, or the
  /// thread did not come.
  func lateCause(now: Duration) -> SinkEvent.Cause {
    if oversleep.length > .milliseconds(250), now - oversleep.end < .milliseconds(100) {
      return .stoppedProcess
    }
    // A device that runs dry before its time, or before it was started, does so by itself, too.
    let isByItself = isOverdue || !isStarted || now < (end ?? now)
    return isByItself ? .lateDevice : .lateDelivery
  }

  /// Frames in the device that would be lost now: rendered, and not heard yet. A device that stood
  /// still when it was last looked at has played nothing up to then.
  func droppedCount(now: Duration) -> Int {
    guard isStarted, let end else { return max(0, waitingCount - silentWaitingCount) }
    if granted.isPaced {
      return max(0, time.frameCount(in: end - max(now, silenceEnd)))
    }
    let played = min(now, lastProgress + (now - lastLook))
    let unplayed = time.frameCount(in: end - max(played, silenceEnd))
    return max(0, min(unplayed, granted.bufferSize - lastAvailable))
  }

  func restart() {
    isStarted = false
    waitingCount = 0
    silentWaitingCount = 0
    lastAvailable = granted.bufferSize
    lastProgress = timekeeper.now
    lastLook = lastProgress
    isOverdue = false
    phase = .open
  }

  /// Goes on after a suspension with what the buffer holds where the device can, else from the
  /// start.
  private func resume(_ pcm: PCMBindings, since: Duration) {
    let now = timekeeper.now
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
      let queued = isStarted ? granted.bufferSize - (try pcm.available()) : waitingCount
      tellMissed(.suspended, cause: nil, queuedCount: max(0, queued), now: now, text)
    } catch {
      if error.call == .resume, error.code == EAGAIN, now - since < .seconds(5) {
        if case .open = phase {
          sinkEvents.add(.suspended, text: text)
        }
        phase = .suspended(since: since, nextAttempt: now + .milliseconds(20))
      } else if error.code == ENODEV {
        lose(error, now: now)
      } else {
        prepare(pcm, .suspended, now: now)
      }
    }
  }

  func waitForResumption(_ since: Duration, _ nextAttempt: Duration, _ wake: WakeSignal)
    -> SinkReadiness?
  {
    let now = timekeeper.now
    if now < nextAttempt {
      return wait(wake, descriptorCount: 0, limit: nextAttempt - now)
    }
    guard let pcm else { return .ended }
    resume(pcm, since: since)
    return nil
  }

  /// Sets the sink's time right after an interruption, and reports it with all that was not heard.
  /// The device will still play the frames of before that are queued; nil where it lost them.
  func tellMissed(
    _ kind: SinkEvent.Kind, cause: SinkEvent.Cause?, queuedCount: Int?, now: Duration,
    _ text: String
  ) {
    if leadInState != nil { return restartLeadIn(now: now) }
    let lost = passOver(queuedCount: queuedCount, now: now)
    if lost > 0 || kind != .underrun {
      sinkEvents.add(kind, cause: cause, missedFrameCount: lost, text: text)
    }
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
    quiet = (
      since: quiet.flatMap { since - $0.until < patience ? $0.since : nil } ?? since, until: now
    )
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
    sinkEvents.add(
      .disconnected, text: "\(request.device): \(OutputError(failure, device: request.device))")
  }

  /// How long a device that is being closed is waited for before it is opened again. libjack frees
  /// the clients of a server that is gone when another is opened; one that is just being closed
  /// would be freed twice.
  private var closingPatience: Duration {
    granted.isJACKClient ? .seconds(30) : Self.retryInterval + Self.retryInterval
  }

  /// Looks for a device that is away, and else lets time go by.
  func waitForReturn(_ nextAttempt: Duration, _ wake: WakeSignal) -> SinkReadiness? {
    var now = timekeeper.now
    // A device that is still being closed would be busy.
    let isOccupied =
      reopening.isRunning || (reopening.isClosing && now - lostMoment < closingPatience)
    if now >= nextAttempt, !isOccupied {
      lastAttempt = now
      // A server that was restarted is back within two seconds.
      phase = .disconnected(
        nextAttempt: now + Self.retryInterval / (now - lostMoment < .seconds(2) ? 2 : 1))
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
          """
          reconnected with \(granted.channelCount) channels at \(granted.rate) Hz instead of \
          \(format.channelCount) at \(Int(format.rate)) Hz; restart playback to use it
          """
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
    self.pcm = pcm
    self.granted = granted
    encoder = encoder.continued(as: granted.encoding)
    // What waits in the old form becomes silence.
    lostCount += passOver(silentCount: leadIn, now: timekeeper.now)
    staged = Self.stage(for: granted, format: format)
    watched = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    restart()
    isFresh = true
    sinkEvents.add(
      .reconnected, missedFrameCount: lostCount, text: "\(request.device): reconnected")
    lostCount = 0
  }
}

/// Opens a device again and closes what was lost, beside the thread that renders: either may take
/// seconds, or never return. With an interception, as tests have, both happen at once on the
/// caller's thread.
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
    self.request = request
    self.interception = interception
  }

  /// Whether an attempt has begun and its result was not taken.
  var isRunning: Bool {
    state.withLock {
      if case .idle = $0 {
        false
      } else {
        true
      }
    }
  }

  var isClosing: Bool { closing.load(ordering: .acquiring) > 0 }

  /// Begins an attempt; one at a time.
  func begin() {
    guard !isRunning, closing.load(ordering: .relaxed) < Self.closingLimit else { return }
    state.withLock { $0 = .running }
    if let interception { return interception.returns(.open) ? attempt() : () }
    // Without a thread for it, the device is looked for again later.
    if (try? BackgroundThread { self.attempt() }) == nil {
      state.withLock { $0 = .idle }
    }
  }

  private func attempt() {
    let outcome = Outcome(
      result: Result { () throws(OutputError) in
        try PCMNegotiation(request: request).open(interception: interception)
      }
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

  /// Closes a device that can no longer be used; the caller has no other use for it. Closed by a
  /// call of its own, not with its last reference: the thread's own may outlive the thread's work,
  /// and libjack frees a client twice where another is opened meanwhile.
  func close(_ pcm: PCMBindings) {
    nonisolated(unsafe) let pcm = pcm
    closing.add(1, ordering: .relaxed)
    let close: @Sendable () -> Void = { [self] in
      unsafe pcm.close()
      closing.subtract(1, ordering: .releasing)
    }
    if let interception { return interception.returns(.close) ? close() : () }
    if (try? BackgroundThread(close)) == nil {
      close()
    }
  }
}

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
        return interruption == .behind
          ? .behind(frameCount: missedCount) : .missed(frameCount: missedCount)
      }
      switch phase {
      case .ended:
        return .ended
      case .disconnected(let nextAttempt):
        if let readiness = waitForReturn(nextAttempt, wake) {
          return readiness
        }
      case .suspended(let since, let nextAttempt):
        if let readiness = waitForResumption(since, nextAttempt, wake) {
          return readiness
        }
      case .resting:
        resumeFromRest()
      case .open:
        do {
          if let readiness = try waitForRoom(wake, isFutile: &isFutile) {
            return readiness
          }
        } catch {
          trouble = error
        }
      }
      if trouble == nil, interruption == nil, timekeeper.now >= latest {
        return .room(frameCount: 0)
      }
    }
  }

  /// One look at an open device, and one wait where there is no space. A device that says it is
  /// ready and has no space would make the thread spin: after such a wait, the next one goes by the
  /// clock alone.
  private func waitForRoom(_ wake: WakeSignal, isFutile: inout Bool) throws(PCMFailure)
    -> SinkReadiness?
  {
    guard let pcm else { return .ended }
    let now = timekeeper.now
    var available = try measure(pcm, now: now)
    if interruption != nil { return nil }
    continueLeadIn(available: available, now: now)
    if owedSilence > 0 || staged.count > 0 {
      available -= try push(to: pcm)
    }
    if owedSilence == 0, staged.count == 0 {
      let room = min(available, format.bufferSize) / granted.periodSize * granted.periodSize
      if room > 0 { return .room(frameCount: room) }
    }
    let missing = time.duration(of: max(1, granted.periodSize - available))
    if granted.isPaced { return wait(wake, descriptorCount: 0, limit: missing) }
    var limit = stallLimit - (now - lastProgress)
    guard limit > .zero else { throw PCMFailure(.available, code: ETIMEDOUT) }
    if isStarted, let end, end > now {
      // Looks once more while half a period is left: then it is not this thread that comes too
      // late.
      let left = end - now - time.duration(of: granted.periodSize / 2)
      if left > .zero {
        limit = min(limit, left)
      } else {
        isOverdue = true
      }
    }
    if isFutile {
      isFutile = false
      // PulseAudio's buffer seems to stay as it is when the server took all of it between two
      // looks: a device that says it is ready and has no space for that long has run dry.
      guard !isStarted || now - lastProgress <= futilityLimit else {
        isOverdue = true
        throw PCMFailure(.available, code: EPIPE)
      }
      return wait(wake, descriptorCount: 0, limit: min(limit, missing))
    }
    try pcm.descriptors(into: &watched, from: 1)
    let readiness = wait(wake, descriptorCount: watched.count - 1, limit: limit)
    if readiness == nil {
      isFutile = try pcm.receivedEvents(&watched, from: 1) != 0
    }
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

  /// Notes how long a call of the device took: what comes too late because of it is the device's
  /// doing.
  func noteCall(since began: Duration) {
    let length = timekeeper.now - began
    lastReturn = lastReturn.map { $0 + length }
    if length > time.duration(of: granted.periodSize) {
      isOverdue = true
    }
  }

  /// Notes how long the device has kept the thread since it last waited; returns the time.
  private func noteWork() -> Duration {
    let now = timekeeper.now
    longestCall = max(longestCall, now - workStart)
    return now
  }

  private func note(oversleep length: Duration, end: Duration) {
    if length > .milliseconds(250) {
      oversleep = (length, end)
    }
  }

  /// Waits once for the first of the device's descriptors, the signal and a limit in time.
  func wait(_ wake: WakeSignal, descriptorCount: Int, limit: Duration) -> SinkReadiness? {
    for index in watched.indices {
      watched[index].received = 0
    }
    for index in watched.indices.dropFirst(1 + descriptorCount) {
      watched[index].descriptor = -1
    }
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
    if isStarted, available >= granted.periodSize {
      isFresh = false
    }
    if isStarted {
      follow(available: available, now: now)
    }
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

  /// Follows the device's clock, which differs a little from that of the machine; a leap is an
  /// interruption. Leaps that are too small to be reported add up, so that many of them are; and
  /// they are forgotten as fast as clocks may differ, 200 parts in a million. Some sound servers
  /// play on without a word when they run dry.
  private func follow(available: Int, now: Duration) {
    defer { lastFollowed = now }
    let queued = granted.bufferSize - available
    let measured = now + time.duration(of: queued)
    let tolerance =
      queued == 0
      ? time.duration(of: granted.periodSize)
      : max(
        .milliseconds(30), time.duration(of: max(2 * granted.periodSize, granted.bufferSize / 2)))
    let slip = measured - (end ?? measured)
    end = measured
    if leadInState != nil {
      // Frames that a server swallowed, or had no more of, are silence; so may those be that
      // follow.
      if slip < .zero - earlyTolerance / 2 || slip > tolerance || queued <= 1 {
        leadInState?.steadySince = now
      }
      return
    }
    if !isSettled, leadIn > 0, slip < .zero - earlyTolerance {
      lag = slip
      return tellMissed(
        .underrun, cause: .droppedBuffer, queuedCount: queued, now: now, "the device skipped frames"
      )
    }
    guard isSettled else {
      // A sound server may take its time to begin; only then is it known when frames are due.
      if settlingSince == nil || slip > tolerance {
        settlingSince = now
      }
      isSettled = now - (settlingSince ?? now) > .milliseconds(250)
      return
    }
    lag += slip
    let drift = min(max(lag, .zero - lag), (now - lastFollowed) / 5_000)
    lag -= lag > .zero ? drift : .zero - drift
    if lag > tolerance {
      tellMissed(.underrun, cause: .lateDevice, queuedCount: queued, now: now, "the device is late")
    } else if slip < .zero - earlyTolerance / 2, lag < .zero - earlyTolerance {
      tellMissed(
        .underrun, cause: .droppedBuffer, queuedCount: queued, now: now, "the device skipped frames"
      )
    }
  }

  /// The same for a device without a pace of its own: it has space as if it played in time.
  private func measureByClock(now: Duration) -> Int {
    guard isStarted, let end else { return granted.bufferSize - waitingCount }
    // Less than a period is made good by filling the buffer; passing it over would take as long
    // again.
    if end < now, time.frameCount(in: now - end) > granted.periodSize {
      tellMissed(
        .underrun, cause: lateCause(now: now), queuedCount: nil, now: now, "buffer underrun")
    }
    let queued = time.frameCount(touching: max(.zero, (self.end ?? now) - now))
    return max(0, granted.bufferSize - queued)
  }

  /// By how much a device may be ahead of time: it reports where it is in steps of a period or
  /// less.
  private var earlyTolerance: Duration {
    max(.milliseconds(8), time.duration(of: max(2 * granted.periodSize, granted.bufferSize / 2)))
  }

  /// How long a device may say that it is ready, and take nothing.
  private var futilityLimit: Duration {
    time.duration(of: 2 * granted.bufferSize) + .milliseconds(50)
  }

  /// How long a device may take nothing before it counts as gone: a second once it runs; before
  /// that three, since an idle null sink of PulseAudio begins up to two seconds late, whatever is
  /// opened again.
  var stallLimit: Duration {
    time.duration(of: 2 * granted.bufferSize) + .seconds(isSettled && !isFresh ? 1 : 3)
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
