public import HapticPlayback
internal import SoundFile

/// A playback device of ALSA: one sink for cards, sound servers and files, whatever ALSA has a name
/// for.
///
/// Frames are handed over in whole periods as the device asks for them. A sink keeps time: every
/// frame has the moment at which it is due, and what a device could not play when it was due is
/// passed over, so that all that follows is heard when it should be.
///
/// - An underrun or a suspension is reported as `.missed`: the time from the end of what the device
///   had, by its last measurement, to now by the timekeeper's clock.
/// - A device that went away, or has taken nothing for a second, is looked for twice a second, for
///   the first two seconds four times, with the same request. Until it is back, the clock paces:
///   `.missed` every 20 ms.
/// - Events count every frame that was not heard: those that went by, and those that a device
///   dropped.
/// - A device that takes frames faster than time goes by, such as `null`, is held back by the
///   clock.
///
/// Belongs to one thread at a time. `wait` and `write` allocate nothing while all is well.
public final class ALSASink: AudioSink {
  enum Phase {
    case open
    case resting
    case suspended(since: Duration, nextAttempt: Duration)
    case disconnected(nextAttempt: Duration)
    case ended
  }

  enum Discontinuity {
    /// The device stood still or lost what it had: what follows begins from silence.
    case broken
    /// The device plays on late: what it plays has to end before it can catch up.
    case behind
  }

  /// What was granted when the sink was made. After a reconnection, periods and buffer may differ
  /// inside.
  public let format: SinkFormat
  /// What the device that is open, or was last, granted.
  package internal(set) var granted: PCMConfiguration
  /// What was asked for, at first and at every reconnection.
  package let request: PCMRequest

  let time: FrameTime
  let timekeeper: any TimeSource
  let reopening: DeviceReopening
  var pcm: PCMBindings?
  var phase = Phase.open
  var sinkEvents = SinkEventQueue()
  var encoder: SampleEncoder
  var staged: PendingFrames
  /// The wake signal first, then the device's descriptors.
  var watched: [PollDescriptor]

  /// The moment at which all that the device took will have been heard; nothing before the first
  /// start.
  var end: Duration?
  /// Whether the device has run steadily since its first start.
  var isSettled = false
  var settlingSince: Duration?
  /// Whether the device runs; until it does, what it took only waits.
  var isStarted = false
  /// Frames taken since the device was last prepared, until it is started.
  var waitingCount = 0
  /// How much later than due the device plays, as far as that is not yet made good.
  var lag = Duration.zero
  /// What is known of a lead-in; nil when it is over, or there is none.
  var leadInState: LeadInState?
  var lastFollowed = Duration.zero
  /// What was not yet reported of the last interruption.
  var interruption: Discontinuity?
  /// Frames that went by unheard and are not yet reported.
  var missedCount = 0
  /// Frames of silence to hand over first: because the device is ahead of time, or to lead in.
  var owedSilence = 0
  /// The moment until which the device plays silence of ours, or what is counted as lost.
  var silenceEnd = Duration.zero
  /// Frames of silence the device took before it was started.
  var silentWaitingCount = 0
  /// Frames that were not heard since the device went away.
  var lostCount = 0
  /// What went wrong in a call that could not tell.
  var trouble: PCMFailure?
  /// By how much the last wait was longer than asked for, and when it ended.
  var oversleep = (length: Duration.zero, end: Duration.zero)
  /// When the last call of `wait` returned.
  var lastReturn: Duration?
  /// The longest that calls of the device have kept the thread between two waits for it.
  public internal(set) var longestCall = Duration.zero
  /// When the last such wait ended.
  var workStart = Duration.zero
  /// When the device last took or freed frames.
  var lastProgress = Duration.zero
  /// When the device was last asked how many frames are free.
  var lastLook = Duration.zero
  /// Whether the device was opened again and has not yet played a period.
  var isFresh = false
  /// From when to when sound was interrupted, without a longer pause between.
  var quiet: (since: Duration, until: Duration)?
  /// Whether the device had no space when the sink looked with at most half a period left: it
  /// then comes too late by its own doing.
  var isOverdue = false
  /// Frames that were free when last asked.
  var lastAvailable = 0
  /// Recoveries in a row that led to nothing.
  var recoveryCount = 0
  var recoveriesSince = Duration.zero
  var lastAttempt: Duration?
  var lostMoment = Duration.zero
  /// What was last reported about a device that does not come back.
  var lastAbsence: OutputError?

  /// Opens a device; priorities and locked memory are matters of the thread that renders.
  package init(
    _ request: PCMRequest, timekeeper: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) throws(OutputError) {
    let (pcm, granted) = try PCMNegotiation(request: request).open(interception: interception)
    self.request = request
    self.granted = granted
    self.timekeeper = timekeeper
    reopening = DeviceReopening(request, interception: interception)
    format = SinkFormat(
      rate: Double(granted.rate), channelCount: granted.channelCount,
      periodSize: granted.periodSize,
      bufferSize: granted.bufferSize)
    time = FrameTime(rate: Double(granted.rate))
    encoder = SampleEncoder(granted.encoding)
    staged = Self.stage(for: granted, format: format)
    watched = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    lastProgress = timekeeper.now
    lastAvailable = granted.bufferSize
    self.pcm = pcm
    beginLeadIn()
  }

  /// A sink in the place of one whose calls do not return: its device is away until it can be
  /// opened again.
  init(
    succeeding request: PCMRequest, granted: PCMConfiguration, format: SinkFormat,
    timekeeper: any TimeSource,
    due: Duration, lostCount: Int, interception: PCMInterception? = nil
  ) {
    self.request = request
    self.granted = granted
    self.format = format
    self.timekeeper = timekeeper
    reopening = DeviceReopening(request, interception: interception)
    time = FrameTime(rate: format.rate)
    encoder = SampleEncoder(granted.encoding)
    staged = Self.stage(for: granted, format: format)
    watched = [PollDescriptor(-1)]
    end = due
    self.lostCount = lostCount
    isSettled = true
    lastAttempt = timekeeper.now
    phase = .disconnected(nextAttempt: timekeeper.now + Self.retryInterval)
  }

  /// Goes on with the same device, which it opens again.
  public var successor: SinkSuccessor? {
    let request = request
    let granted = granted
    let format = format
    let timekeeper = timekeeper
    return { due, lostFrameCount in
      ALSASink(
        succeeding: request, granted: granted, format: format, timekeeper: timekeeper, due: due,
        lostCount: lostFrameCount)
    }
  }

  /// The thread by which libpulse speaks with its server, as it names it; libjack and PipeWire see
  /// to theirs.
  public var carrierThreadNames: [String] {
    granted.isHardware || granted.isPaced ? [] : ["threaded-ml"]
  }

  /// Frames handed over and not yet heard, at most a second more than the buffer holds.
  public var delay: Int {
    let bound = granted.bufferSize + granted.rate
    return min(max(0, deviceDelay + owedSilence + staged.count), bound)
  }

  private var deviceDelay: Int {
    guard case .open = phase, let pcm else { return 0 }
    guard isStarted else { return waitingCount }
    if !granted.isPaced, let frames = try? pcm.delay() { return frames }
    return end.map { time.frameCount(touching: $0 - timekeeper.now) } ?? 0
  }

  /// Takes what happened since the last call, oldest first.
  public func takeEvents() -> [SinkEvent] { sinkEvents.take() }

  static func stage(for granted: PCMConfiguration, format: SinkFormat) -> PendingFrames {
    PendingFrames(
      capacity: max(granted.bufferSize, format.bufferSize), silenceCapacity: granted.periodSize,
      channelCount: granted.channelCount, encoding: granted.encoding)
  }

  /// Takes interleaved frames; what the device does not take at once follows as it has space.
  public func write(_ frames: Span<Float>) {
    guard case .open = phase, let pcm else { return }
    let frameCount = frames.count / format.channelCount
    guard frameCount > 0 else { return }
    staged.stage(
      frames.extracting(first: frameCount * format.channelCount), frameCount: frameCount,
      with: &encoder)
    let began = timekeeper.now
    do {
      _ = try push(to: pcm)
    } catch {
      trouble = trouble ?? error
    }
    noteCall(since: began)
  }

  /// Hands over what waits, and starts the device once it is full: the number of frames it took.
  func push(to pcm: PCMBindings) throws(PCMFailure) -> Int {
    var total = 0
    var isSilence = owedSilence > 0
    while isSilence || staged.count > 0 {
      let taken = try staged.push(
        silentCount: isSilence ? owedSilence : nil, to: pcm, access: granted.access)
      if taken == 0 { break }
      if isSilence {
        owedSilence -= taken
      }
      total += taken
      count(taken, isSilence: isSilence)
      isSilence = owedSilence > 0
      // Full when there is no space for another period.
      if !isStarted, waitingCount + granted.periodSize > granted.bufferSize {
        try start(pcm)
      }
    }
    return total
  }

  private func count(_ frameCount: Int, isSilence: Bool) {
    if !isStarted {
      waitingCount += frameCount
      if isSilence {
        silentWaitingCount += frameCount
      }
    }
    end = end.map { $0 + time.duration(of: frameCount) }
    if isSilence, let end {
      silenceEnd = end
    }
    lastAvailable -= frameCount
    lastProgress = timekeeper.now
    isOverdue = false
  }

  func start(_ pcm: PCMBindings) throws(PCMFailure) {
    try pcm.start()
    isStarted = true
    let now = timekeeper.now
    let begun = now + time.duration(of: waitingCount)
    // After an interruption the buffer took a moment to fill; the next one makes good for it.
    if let end {
      lag += begun - end
    }
    end = begun
    silenceEnd = begun - time.duration(of: waitingCount - silentWaitingCount)
    waitingCount = 0
    silentWaitingCount = 0
    lastProgress = now
  }

  /// Ends: lets what was handed over be heard, for at most the buffer and 100 ms, or drops it.
  ///
  /// What was not heard until then is an event.
  public func finish(draining: Bool) {
    switch phase {
    case .open:
      let now = timekeeper.now
      let isStill = (isSettled || draining) && now - lastProgress > patience
      // A device that fails now has nothing more to be waited for.
      let overdue = max(0, time.frameCount(in: now - (end ?? now)))
      var left = droppedCount(now: now) + staged.count
      if draining, !isStill, trouble == nil, let pcm {
        left = min(left, (try? drain(pcm)) ?? left)
      }
      let hasBroken =
        !isStarted || quiet.map { now - $0.until <= time.duration(of: granted.bufferSize) } ?? false
      let isQuiet = hasBroken && quiet.map { $0.until - $0.since > patience } ?? false
      if isStill || isQuiet || draining && left > 0 {
        sinkEvents.add(
          .failed, missedFrameCount: left + overdue,
          text:
            """
            \(request.device): the device \
            \(isStill ? "stopped accepting frames" : "did not play the end")
            """
        )
      }
      if !granted.isPaced {
        pcm?.drop()
      }
    case .suspended, .disconnected:
      lostCount += passOver(now: timekeeper.now)
      sinkEvents.add(
        .failed, missedFrameCount: lostCount,
        text: "\(request.device): the device did not return until the end")
    case .resting, .ended:
      break
    }
    pcm = nil
    phase = .ended
  }

  var patience: Duration { time.duration(of: granted.bufferSize) + .milliseconds(250) }

  /// Waits for the end of the sound, and returns how many frames were not heard by then.
  private func drain(_ pcm: PCMBindings) throws(PCMFailure) -> Int {
    var now = timekeeper.now
    // Some devices play whole periods only; servers count what they have taken, not what is heard.
    let tail = granted.isPaced ? 0 : max(granted.periodSize, leadIn)
    var padding = tail
    let limit = now + time.duration(of: granted.bufferSize + leadIn) + .milliseconds(100)
    while now < limit {
      _ = try push(to: pcm)
      while staged.count == 0, padding > 0 {
        let taken = try staged.push(silentCount: padding, to: pcm, access: granted.access)
        if taken == 0 { break }
        padding -= taken
      }
      if !isStarted, waitingCount > 0 {
        try start(pcm)
      }
      let left = try remaining(pcm, now: now)
      guard left > .zero || staged.count > 0 else { return 0 }
      for index in watched.indices {
        watched[index].descriptor = -1
      }
      timekeeper.wait(
        for: &watched, timeout: min(max(left, .milliseconds(1)), limit - now, .milliseconds(5)))
      now = timekeeper.now
    }
    // Padding is behind the sound.
    let padded = tail - padding
    return max(0, time.frameCount(in: try remaining(pcm, now: now)) - padded) + staged.count
  }

  /// How long the device will still be heard; by the clock where it does not know.
  private func remaining(_ pcm: PCMBindings, now: Duration) throws(PCMFailure) -> Duration {
    if granted.isPaced { return (end ?? now) - now }
    guard isStarted, pcm.state == .running else { return .zero }
    guard let delay = try? pcm.delay(), (0...granted.bufferSize + granted.rate).contains(delay)
    else {
      return (end ?? now) - now
    }
    return time.duration(of: delay)
  }

  /// Stops the device, so that it and its server may sleep; the next wait starts it again.
  ///
  /// Nothing that was handed over is still to be heard. What sounds after a rest is led in like the
  /// first frame.
  public func rest() -> Bool {
    guard case .open = phase, isStarted, let pcm, trouble == nil, interruption == nil,
      staged.count == 0,
      !granted.isJACKClient
    else { return false }
    pcm.drop()
    phase = .resting
    return true
  }

  /// Makes the device ready to be filled, as if it had just been opened.
  func resumeFromRest() {
    guard let pcm else { return phase = .ended }
    let now = timekeeper.now
    end = nil
    isSettled = false
    settlingSince = nil
    lag = .zero
    lastReturn = nil
    do {
      try pcm.prepare()
      restart()
      beginLeadIn()
    } catch {
      lose(error, now: now)
    }
  }

  /// The longest lead-in: what comes then is played however unsteady the device is.
  private static var longestLeadIn: Duration { .seconds(2) }

  /// Frames of silence before the first frame where a sound server may swallow them.
  var leadIn: Int {
    granted.isHardware || granted.isPaced ? 0 : time.frameCount(in: request.leadIn)
  }

  /// Leads in to the first frame of a stream. A buffer that is much longer than the lead-in bridges
  /// what a server swallows, and would make the wait for the first frame long.
  func beginLeadIn() {
    owedSilence = leadIn
    leadInState = leadIn > 0 && granted.bufferSize <= 2 * leadIn ? LeadInState() : nil
  }

  /// Notes that the device is not steady yet; only silence was lost.
  func restartLeadIn(now: Duration) {
    leadInState?.steadySince = now
    end = nil
    lag = .zero
  }

  /// Goes on with silence until the device, which has space for some frames, has taken them in time
  /// for long enough.
  func continueLeadIn(available: Int, now: Duration) {
    guard var state = leadInState else { return }
    if isStarted {
      if state.start == nil {
        state.start = now
        state.steadySince = now
      }
      let start = state.start ?? now
      if now - state.steadySince >= request.leadIn || now - start >= Self.longestLeadIn {
        leadInState = nil
        owedSilence = 0
        return
      }
      leadInState = state
    }
    owedSilence = max(owedSilence, available)
  }
}

/// Events that wait to be taken: a bounded number, so that a device in trouble cannot flood.
struct SinkEventQueue {
  /// Events that are kept; of what comes beyond, each kind is counted.
  static let capacity = 16

  private var events: [SinkEvent] = []
  private var surplus = 0
  private var surplusFrames = 0

  init() { events.reserveCapacity(Self.capacity + 1) }

  /// Adds an event; of a full queue only its frames are kept, but for a lost or found device, and
  /// the end.
  mutating func add(
    _ kind: SinkEvent.Kind, cause: SinkEvent.Cause? = nil, missedFrameCount: Int = 0, text: String
  ) {
    if events.count >= Self.capacity {
      guard kind != .underrun, kind != .suspended,
        let index = events.firstIndex(where: { $0.kind == .underrun || $0.kind == .suspended })
          ?? events.indices.first
      else {
        surplus += 1
        surplusFrames += missedFrameCount
        return
      }
      surplus += 1
      surplusFrames += events.remove(at: index).missedFrameCount
    }
    events.append(SinkEvent(kind, cause: cause, missedFrameCount: missedFrameCount, text: text))
  }

  /// Takes all, oldest first; the number of those that found no place comes last.
  mutating func take() -> [SinkEvent] {
    guard !events.isEmpty else { return [] }
    var taken = events
    if surplus > 0 {
      taken.append(
        SinkEvent(
          .degraded, missedFrameCount: surplusFrames,
          text: "\(surplus) more interruptions in the same time"))
    }
    events.removeAll(keepingCapacity: true)
    surplus = 0
    surplusFrames = 0
    return taken
  }
}

struct LeadInState {
  /// When the device was first seen to run.
  var start: Duration?
  /// Since when it has taken frames in time.
  var steadySince = Duration.zero
}

/// Frames in the form a device takes, until it takes them: memory taken once.
@safe struct PendingFrames: ~Copyable {
  private(set) var count = 0
  private var first = 0
  private let bytes: UnsafeMutableRawBufferPointer
  private let silence: UnsafeMutableRawBufferPointer
  private let frameSize: Int
  private let capacity: Int
  private let silenceCapacity: Int

  init(capacity: Int, silenceCapacity: Int, channelCount: Int, encoding: SampleEncoding) {
    frameSize = channelCount * encoding.byteCount
    self.capacity = capacity
    self.silenceCapacity = silenceCapacity
    unsafe bytes = .allocate(byteCount: capacity * frameSize, alignment: 16)
    unsafe silence = .allocate(byteCount: silenceCapacity * frameSize, alignment: 16)
    // Touched, so that the first period meets no page fault.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    // Zero is silence in every encoding.
    unsafe silence.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe bytes.deallocate()
    unsafe silence.deallocate()
  }

  /// Lays frames down behind those that wait; none are beyond the capacity.
  mutating func stage(_ samples: Span<Float>, frameCount: Int, with encoder: inout SampleEncoder) {
    if count == 0 {
      first = 0
    }
    precondition(first + count + frameCount <= capacity, "more frames than the buffer holds")
    let place = (first + count) * frameSize
    unsafe encoder.encode(samples, into: UnsafeMutableRawBufferPointer(rebasing: bytes[place...]))
    count += frameCount
  }

  mutating func drop(_ frameCount: Int) {
    let dropped = min(frameCount, count)
    first += dropped
    count -= dropped
  }

  /// Hands the oldest frames, or some of silence, to a device: the number it took.
  mutating func push(silentCount: Int? = nil, to pcm: PCMBindings, access: PCMAccess)
    throws(PCMFailure) -> Int
  {
    let frameCount = silentCount.map { min($0, silenceCapacity) } ?? count
    guard frameCount > 0 else { return 0 }
    let source = unsafe silentCount == nil ? bytes : silence
    let start =
      unsafe source.baseAddress.unsafelyUnwrapped + (silentCount == nil ? first * frameSize : 0)
    var taken = 0
    switch access {
    case .readWrite:
      taken = try unsafe min(frameCount, pcm.write(start, frameCount: frameCount))
    case .memoryMapped:
      guard let area = try unsafe pcm.mapBegin(frameCount: frameCount) else { return 0 }
      let count = unsafe min(frameCount, area.frameCount)
      unsafe area.start.copyMemory(from: start, byteCount: count * frameSize)
      taken = try unsafe min(count, pcm.mapCommit(offset: area.offset, frameCount: count))
    }
    if silentCount == nil {
      drop(taken)
    }
    return taken
  }
}
