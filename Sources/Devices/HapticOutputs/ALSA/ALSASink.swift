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
    case idle
    case suspended(since: Duration, nextAttempt: Duration)
    case disconnected(nextAttempt: Duration)
    case ended
  }

  enum Discontinuity {
    /// The device stood still or lost what it had: what follows begins from silence.
    case interrupted
    /// The device plays on late: what it plays has to end before it can catch up.
    case late
  }

  /// What was granted when the sink was made. After a reconnection, periods and buffer may differ
  /// inside.
  public let format: SinkFormat
  /// What the device that is open, or was last, granted.
  package internal(set) var configuration: PCMConfiguration
  /// What was asked for, at first and at every reconnection.
  package let request: PCMRequest

  let frameTime: FrameTime
  let clock: any TimeSource
  let reconnector: DeviceReconnector
  var pcm: PCM?
  var phase = Phase.open
  var eventQueue = SinkEventQueue()
  var encoder: SampleEncoder
  var pendingFrames: PendingFrames
  /// The wake signal first, then the device's descriptors.
  var watchedDescriptors: [PollDescriptor]

  /// The moment at which all that the device took will have been heard; nothing before the first
  /// start.
  var playbackEnd: Duration?
  /// Whether the device has run steadily since its first start.
  var isSteady = false
  var steadySince: Duration?
  /// Whether the device runs; until it does, what it took only waits.
  var isStarted = false
  /// Frames taken since the device was last prepared, until it is started.
  var prefillCount = 0
  /// How much later than due the device plays, as far as that is not yet made good.
  var lag = Duration.zero
  /// What is known of a lead-in; nil when it is over, or there is none.
  var warmUp: WarmUp?
  var lastTrackingTime = Duration.zero
  /// What was not yet reported of the last interruption.
  var pendingDiscontinuity: Discontinuity?
  /// Frames that went by unheard and are not yet reported.
  var missedFrameCount = 0
  /// Frames of silence to hand over first: because the device is ahead of time, or to lead in.
  var pendingSilence = 0
  /// The moment until which the device plays silence of ours, or what is counted as lost.
  var silenceEnd = Duration.zero
  /// Frames of silence the device took before it was started.
  var silentPrefillCount = 0
  /// Frames that were not heard since the device went away.
  var lostFrameCount = 0
  /// What went wrong in a call that could not tell.
  var deferredError: PCMFailure?
  /// By how much the last wait was longer than asked for, and when it ended.
  var oversleep = (length: Duration.zero, end: Duration.zero)
  /// When the last call of `wait` returned.
  var lastWaitEnd: Duration?
  /// The longest that calls of the device have kept the thread between two waits for it.
  public internal(set) var maximumCallDuration = Duration.zero
  /// When the last such wait ended.
  var workStart = Duration.zero
  /// When the device last took or freed frames.
  var lastProgress = Duration.zero
  /// When the device was last asked how many frames are free.
  var lastPollTime = Duration.zero
  /// Whether the device was opened again and has not yet played a period.
  var hasJustReconnected = false
  /// From when to when sound was interrupted, without a longer pause between.
  var interruptedInterval: (since: Duration, until: Duration)?
  /// Whether the device had no space when the sink looked with at most half a period left: it
  /// then comes too late by its own doing.
  var isDeviceLate = false
  /// Frames that were free when last asked.
  var lastAvailableCount = 0
  /// Recoveries in a row that led to nothing.
  var recoveryCount = 0
  var recoveryWindowStart = Duration.zero
  var lastReconnectionAttempt: Duration?
  var disconnectionTime = Duration.zero
  /// What was last reported about a device that does not come back.
  var lastReportedError: OutputError?

  /// Opens a device; priorities and locked memory are matters of the thread that renders.
  package init(
    _ request: PCMRequest, clock timekeeper: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) throws(OutputError) {
    let (pcm, granted) = try PCMNegotiation(request: request).open(interception: interception)
    self.request = request
    self.configuration = granted
    self.clock = timekeeper
    reconnector = DeviceReconnector(request, interception: interception)
    format = SinkFormat(
      rate: Double(granted.rate), channelCount: granted.channelCount,
      periodSize: granted.periodSize,
      bufferSize: granted.bufferSize)
    frameTime = FrameTime(rate: Double(granted.rate))
    encoder = SampleEncoder(granted.encoding)
    pendingFrames = Self.makePendingFrames(for: granted, format: format)
    watchedDescriptors = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    lastProgress = timekeeper.now
    lastAvailableCount = granted.bufferSize
    self.pcm = pcm
    beginWarmUp()
  }

  /// A sink in the place of one whose calls do not return: its device is away until it can be
  /// opened again.
  init(
    replacing request: PCMRequest, configuration granted: PCMConfiguration, format: SinkFormat,
    clock timekeeper: any TimeSource,
    due: Duration, lostFrameCount lostCount: Int, interception: PCMInterception? = nil
  ) {
    self.request = request
    self.configuration = granted
    self.format = format
    self.clock = timekeeper
    reconnector = DeviceReconnector(request, interception: interception)
    frameTime = FrameTime(rate: format.rate)
    encoder = SampleEncoder(granted.encoding)
    pendingFrames = Self.makePendingFrames(for: granted, format: format)
    watchedDescriptors = [PollDescriptor(-1)]
    playbackEnd = due
    self.lostFrameCount = lostCount
    isSteady = true
    lastReconnectionAttempt = timekeeper.now
    phase = .disconnected(nextAttempt: timekeeper.now + Self.retryInterval)
  }

  /// Goes on with the same device, which it opens again.
  public var makeReplacement: SinkReplacement? {
    let request = request
    let granted = configuration
    let format = format
    let timekeeper = clock
    return { due, lostFrameCount in
      ALSASink(
        replacing: request, configuration: granted, format: format, clock: timekeeper, due: due,
        lostFrameCount: lostFrameCount)
    }
  }

  /// The thread by which libpulse speaks with its server, as it names it; libjack and PipeWire see
  /// to theirs.
  public var deviceThreadNames: [String] {
    configuration.isHardware || configuration.isFasterThanRealTime ? [] : ["threaded-ml"]
  }

  /// Frames handed over and not yet heard, at most a second more than the buffer holds.
  public var delay: Int {
    let bound = configuration.bufferSize + configuration.rate
    return min(max(0, deviceDelay + pendingSilence + pendingFrames.count), bound)
  }

  private var deviceDelay: Int {
    guard case .open = phase, let pcm else { return 0 }
    guard isStarted else { return prefillCount }
    if !configuration.isFasterThanRealTime, let frames = try? pcm.delay() { return frames }
    return playbackEnd.map { frameTime.frameCount(touching: $0 - clock.now) } ?? 0
  }

  /// Takes what happened since the last call, oldest first.
  public func drainEvents() -> [SinkEvent] { eventQueue.drain() }

  static func makePendingFrames(for granted: PCMConfiguration, format: SinkFormat) -> PendingFrames
  {
    PendingFrames(
      capacity: max(granted.bufferSize, format.bufferSize), silenceCapacity: granted.periodSize,
      channelCount: granted.channelCount, encoding: granted.encoding)
  }

  /// Takes interleaved frames; what the device does not take at once follows as it has space.
  public func write(_ frames: Span<Float>) {
    guard case .open = phase, let pcm else { return }
    let frameCount = frames.count / format.channelCount
    guard frameCount > 0 else { return }
    pendingFrames.append(
      frames.extracting(first: frameCount * format.channelCount), frameCount: frameCount,
      with: &encoder)
    let began = clock.now
    do {
      _ = try writePending(to: pcm)
    } catch {
      deferredError = deferredError ?? error
    }
    recordCall(since: began)
  }

  /// Hands over what waits, and starts the device once it is full: the number of frames it took.
  func writePending(to pcm: PCM) throws(PCMFailure) -> Int {
    var total = 0
    var isSilence = pendingSilence > 0
    while isSilence || pendingFrames.count > 0 {
      let taken = try pendingFrames.write(
        silentCount: isSilence ? pendingSilence : nil, to: pcm, access: configuration.access)
      if taken == 0 { break }
      if isSilence {
        pendingSilence -= taken
      }
      total += taken
      recordWritten(taken, isSilence: isSilence)
      isSilence = pendingSilence > 0
      // Full when there is no space for another period.
      if !isStarted, prefillCount + configuration.periodSize > configuration.bufferSize {
        try start(pcm)
      }
    }
    return total
  }

  private func recordWritten(_ frameCount: Int, isSilence: Bool) {
    if !isStarted {
      prefillCount += frameCount
      if isSilence {
        silentPrefillCount += frameCount
      }
    }
    playbackEnd = playbackEnd.map { $0 + frameTime.duration(of: frameCount) }
    if isSilence, let playbackEnd {
      silenceEnd = playbackEnd
    }
    lastAvailableCount -= frameCount
    lastProgress = clock.now
    isDeviceLate = false
  }

  func start(_ pcm: PCM) throws(PCMFailure) {
    try pcm.start()
    isStarted = true
    let now = clock.now
    let begun = now + frameTime.duration(of: prefillCount)
    // After an interruption the buffer took a moment to fill; the next one makes good for it.
    if let playbackEnd {
      lag += begun - playbackEnd
    }
    playbackEnd = begun
    silenceEnd = begun - frameTime.duration(of: prefillCount - silentPrefillCount)
    prefillCount = 0
    silentPrefillCount = 0
    lastProgress = now
  }

  /// Ends: lets what was handed over be heard, for at most the buffer and 100 ms, or drops it.
  ///
  /// What was not heard until then is an event.
  public func finish(draining: Bool) {
    switch phase {
    case .open:
      let now = clock.now
      let isStill = (isSteady || draining) && now - lastProgress > stallTolerance
      // A device that fails now has nothing more to be waited for.
      let overdue = max(0, frameTime.frameCount(in: now - (playbackEnd ?? now)))
      var left = droppedFrameCount(now: now) + pendingFrames.count
      if draining, !isStill, deferredError == nil, let pcm {
        left = min(left, (try? drain(pcm)) ?? left)
      }
      let hasBroken =
        !isStarted
        || interruptedInterval.map {
          now - $0.until <= frameTime.duration(of: configuration.bufferSize)
        } ?? false
      let isQuiet =
        hasBroken && interruptedInterval.map { $0.until - $0.since > stallTolerance } ?? false
      if isStill || isQuiet || draining && left > 0 {
        eventQueue.add(
          .failed, missedFrameCount: left + overdue,
          text:
            """
            \(request.device): the device \
            \(isStill ? "stopped accepting frames" : "did not play the end")
            """
        )
      }
      if !configuration.isFasterThanRealTime {
        pcm?.drop()
      }
    case .suspended, .disconnected:
      lostFrameCount += skipOverdue(now: clock.now)
      eventQueue.add(
        .failed, missedFrameCount: lostFrameCount,
        text: "\(request.device): the device did not return until the end")
    case .idle, .ended:
      break
    }
    pcm = nil
    phase = .ended
  }

  var stallTolerance: Duration {
    frameTime.duration(of: configuration.bufferSize) + .milliseconds(250)
  }

  /// Waits for the end of the sound, and returns how many frames were not heard by then.
  private func drain(_ pcm: PCM) throws(PCMFailure) -> Int {
    var now = clock.now
    // Some devices play whole periods only; servers count what they have taken, not what is heard.
    let tail =
      configuration.isFasterThanRealTime ? 0 : max(configuration.periodSize, warmUpFrameCount)
    var padding = tail
    let limit =
      now + frameTime.duration(of: configuration.bufferSize + warmUpFrameCount) + .milliseconds(100)
    while now < limit {
      _ = try writePending(to: pcm)
      while pendingFrames.count == 0, padding > 0 {
        let taken = try pendingFrames.write(
          silentCount: padding, to: pcm, access: configuration.access)
        if taken == 0 { break }
        padding -= taken
      }
      if !isStarted, prefillCount > 0 {
        try start(pcm)
      }
      let left = try remainingDuration(pcm, now: now)
      guard left > .zero || pendingFrames.count > 0 else { return 0 }
      for index in watchedDescriptors.indices {
        watchedDescriptors[index].descriptor = -1
      }
      clock.wait(
        for: &watchedDescriptors,
        timeout: min(max(left, .milliseconds(1)), limit - now, .milliseconds(5)))
      now = clock.now
    }
    // Padding is behind the sound.
    let padded = tail - padding
    return max(0, frameTime.frameCount(in: try remainingDuration(pcm, now: now)) - padded)
      + pendingFrames.count
  }

  /// How long the device will still be heard; by the clock where it does not know.
  private func remainingDuration(_ pcm: PCM, now: Duration) throws(PCMFailure) -> Duration {
    if configuration.isFasterThanRealTime { return (playbackEnd ?? now) - now }
    guard isStarted, pcm.state == .running else { return .zero }
    guard let delay = try? pcm.delay(),
      (0...configuration.bufferSize + configuration.rate).contains(delay)
    else {
      return (playbackEnd ?? now) - now
    }
    return frameTime.duration(of: delay)
  }

  /// Stops the device, so that it and its server may sleep; the next wait starts it again.
  ///
  /// Nothing that was handed over is still to be heard. What sounds after a rest is led in like the
  /// first frame.
  public func beginIdle() -> Bool {
    guard case .open = phase, isStarted, let pcm, deferredError == nil, pendingDiscontinuity == nil,
      pendingFrames.count == 0,
      !configuration.isJACKClient
    else { return false }
    pcm.drop()
    phase = .idle
    return true
  }

  /// Makes the device ready to be filled, as if it had just been opened.
  func resumeFromIdle() {
    guard let pcm else { return phase = .ended }
    let now = clock.now
    playbackEnd = nil
    isSteady = false
    steadySince = nil
    lag = .zero
    lastWaitEnd = nil
    do {
      try pcm.prepare()
      resetDeviceState()
      beginWarmUp()
    } catch {
      handleDisconnection(error, now: now)
    }
  }

  /// The longest lead-in: what comes then is played however unsteady the device is.
  private static var maximumWarmUp: Duration { .seconds(2) }

  /// Frames of silence before the first frame where a sound server may swallow them.
  var warmUpFrameCount: Int {
    configuration.isHardware || configuration.isFasterThanRealTime
      ? 0 : frameTime.frameCount(in: request.warmUpDuration)
  }

  /// Leads in to the first frame of a stream. A buffer that is much longer than the lead-in bridges
  /// what a server swallows, and would make the wait for the first frame long.
  func beginWarmUp() {
    pendingSilence = warmUpFrameCount
    warmUp =
      warmUpFrameCount > 0 && configuration.bufferSize <= 2 * warmUpFrameCount ? WarmUp() : nil
  }

  /// Notes that the device is not steady yet; only silence was lost.
  func restartWarmUp(now: Duration) {
    warmUp?.steadySince = now
    playbackEnd = nil
    lag = .zero
  }

  /// Goes on with silence until the device, which has space for some frames, has taken them in time
  /// for long enough.
  func continueWarmUp(available: Int, now: Duration) {
    guard var state = warmUp else { return }
    if isStarted {
      if state.startTime == nil {
        state.startTime = now
        state.steadySince = now
      }
      let start = state.startTime ?? now
      if now - state.steadySince >= request.warmUpDuration || now - start >= Self.maximumWarmUp {
        warmUp = nil
        pendingSilence = 0
        return
      }
      warmUp = state
    }
    pendingSilence = max(pendingSilence, available)
  }
}

/// Events that wait to be taken: a bounded number, so that a device in trouble cannot flood.
struct SinkEventQueue {
  /// Events that are kept; of what comes beyond, each kind is counted.
  static let capacity = 16

  private var events: [SinkEvent] = []
  private var droppedEventCount = 0
  private var droppedEventFrameCount = 0

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
        droppedEventCount += 1
        droppedEventFrameCount += missedFrameCount
        return
      }
      droppedEventCount += 1
      droppedEventFrameCount += events.remove(at: index).missedFrameCount
    }
    events.append(SinkEvent(kind, cause: cause, missedFrameCount: missedFrameCount, text: text))
  }

  /// Takes all, oldest first; the number of those that found no place comes last.
  mutating func drain() -> [SinkEvent] {
    guard !events.isEmpty else { return [] }
    var taken = events
    if droppedEventCount > 0 {
      taken.append(
        SinkEvent(
          .degraded, missedFrameCount: droppedEventFrameCount,
          text: "\(droppedEventCount) more interruptions in the same time"))
    }
    events.removeAll(keepingCapacity: true)
    droppedEventCount = 0
    droppedEventFrameCount = 0
    return taken
  }
}

struct WarmUp {
  /// When the device was first seen to run.
  var startTime: Duration?
  /// Since when it has taken frames in time.
  var steadySince = Duration.zero
}

/// Frames in the form a device takes, until it takes them: memory taken once.
@safe struct PendingFrames: ~Copyable {
  private(set) var count = 0
  private var firstIndex = 0
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
  mutating func append(_ samples: Span<Float>, frameCount: Int, with encoder: inout SampleEncoder) {
    if count == 0 {
      firstIndex = 0
    }
    precondition(firstIndex + count + frameCount <= capacity, "more frames than the buffer holds")
    let place = (firstIndex + count) * frameSize
    unsafe encoder.encode(samples, into: UnsafeMutableRawBufferPointer(rebasing: bytes[place...]))
    count += frameCount
  }

  mutating func removeFirst(_ frameCount: Int) {
    let dropped = min(frameCount, count)
    firstIndex += dropped
    count -= dropped
  }

  /// Hands the oldest frames, or some of silence, to a device: the number it took.
  mutating func write(silentCount: Int? = nil, to pcm: PCM, access: PCMAccess)
    throws(PCMFailure) -> Int
  {
    let frameCount = silentCount.map { min($0, silenceCapacity) } ?? count
    guard frameCount > 0 else { return 0 }
    let source = unsafe silentCount == nil ? bytes : silence
    let start =
      unsafe source.baseAddress.unsafelyUnwrapped
      + (silentCount == nil ? firstIndex * frameSize : 0)
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
      removeFirst(taken)
    }
    return taken
  }
}
