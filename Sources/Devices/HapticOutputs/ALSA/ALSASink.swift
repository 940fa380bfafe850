public import HapticPlayback
internal import SoundFile

/// Plays on a device of ALSA: a sound card, a sound server, a file, or any other name of its
/// configuration.
///
/// Frames are written in whole periods, as the device requests them. The sink keeps time: every
/// frame has a due time, and frames that a device could not play on time are skipped, so that all
/// later frames are heard on time.
///
/// - An underrun or a suspension is reported as `.missed`, with the time from the end of the
///   device's buffer, as last measured, to now.
/// - A device that was disconnected, or accepted nothing for a second, is reopened with the same
///   request: every 250 ms for the first two seconds, then every 500 ms. Until it is back, the
///   clock paces, and `.missed` is reported every 20 ms.
/// - Events count every missed frame: skipped frames and frames that a device lost.
/// - The clock limits a device that is faster than real time, such as `null`.
///
/// A sink belongs to one thread at a time. `wait` and `write` allocate no memory during normal
/// operation.
public final class ALSASink: AudioSink {
  enum Phase {
    case open
    case idle
    case suspended(since: Duration, nextAttempt: Duration)
    case disconnected(nextAttempt: Duration)
    case ended
  }

  enum Discontinuity {
    /// The device stopped or lost its buffer: later frames start from silence.
    case interrupted
    /// The device continues late: its buffer must end before later frames can catch up.
    case late
  }

  /// The format that was granted initially. After a reconnection, the device's periods and buffer
  /// may differ.
  public let format: SinkFormat
  /// The configuration of the device that is open or was open last.
  package internal(set) var configuration: PCMConfiguration
  /// The request for the initial connection and every reconnection.
  package let request: PCMRequest

  let frameTime: FrameTime
  let clock: any TimeSource
  let reconnector: DeviceReconnector
  var pcm: PCM?
  var phase = Phase.open
  var eventQueue = SinkEventQueue()
  var encoder: SampleEncoder
  var pendingFrames: PendingFrames
  /// The wake signal, followed by the device's descriptors.
  var watchedDescriptors: [PollDescriptor]

  /// The time at which all frames of the device will have been heard; nil before the first start.
  var playbackEnd: Duration?
  /// A Boolean value that indicates whether the device has run steadily since its first start.
  var isSteady = false
  var steadySince: Duration?
  /// A Boolean value that indicates whether the device runs; before that, it only stores frames.
  var isStarted = false
  /// The number of frames written since the device was prepared, until it starts.
  var prefillCount = 0
  /// The lateness of the device that is not yet corrected.
  var lag = Duration.zero
  /// The state of the warm-up; nil before, after, or without one.
  var warmUp: WarmUp?
  var lastTrackingTime = Duration.zero
  /// The last discontinuity, until `wait` reports it.
  var pendingDiscontinuity: Discontinuity?
  /// The number of missed frames that `wait` has not yet reported.
  var missedFrameCount = 0
  /// The number of silent frames to write first, because the device is early or to warm it up.
  var pendingSilence = 0
  /// The time until which the device plays silence, or frames that already count as lost.
  var silenceEnd = Duration.zero
  /// The number of silent frames that were written before the start.
  var silentPrefillCount = 0
  /// The number of missed frames since the disconnection.
  var lostFrameCount = 0
  /// The error of a call that could not report it.
  var deferredError: PCMFailure?
  /// The excess duration of the last wait that was too long, and its end.
  var oversleep = (length: Duration.zero, end: Duration.zero)
  /// The time at which `wait` last returned.
  var lastWaitEnd: Duration?
  /// The maximum time for which calls of the device have blocked the thread between two waits.
  public internal(set) var maximumCallDuration = Duration.zero
  /// The end of the last such wait.
  var workStart = Duration.zero
  /// The time at which the device last accepted or played frames.
  var lastProgress = Duration.zero
  /// The time of the last poll for free space.
  var lastPollTime = Duration.zero
  /// A Boolean value that indicates whether the device was reopened and has not yet played a
  /// period.
  var hasJustReconnected = false
  /// The interval in which the sound was interrupted, without a longer stretch of sound.
  var interruptedInterval: (since: Duration, until: Duration)?
  /// A Boolean value that indicates whether the device had no space with at most half a period
  /// left, so that it causes its own lateness.
  var isDeviceLate = false
  /// The number of free frames at the last poll.
  var lastAvailableCount = 0
  /// The number of consecutive recoveries without success.
  var recoveryCount = 0
  var recoveryWindowStart = Duration.zero
  var lastReconnectionAttempt: Duration?
  var disconnectionTime = Duration.zero
  /// The error that was last reported about a disconnected device.
  var lastReportedError: OutputError?

  /// Opens a device. The render thread sets its own priority and locks memory.
  ///
  /// - Parameters:
  ///   - request: The requested properties.
  ///   - timekeeper: The clock.
  ///   - interception: The results to force in tests.
  package init(
    _ request: PCMRequest, clock: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) throws(OutputError) {
    let (pcm, configuration) = try PCMNegotiation(request: request).open(interception: interception)
    self.request = request
    self.configuration = configuration
    self.clock = clock
    reconnector = DeviceReconnector(request, interception: interception)
    format = SinkFormat(
      rate: Double(configuration.rate), channelCount: configuration.channelCount,
      periodSize: configuration.periodSize,
      bufferSize: configuration.bufferSize)
    frameTime = FrameTime(rate: Double(configuration.rate))
    encoder = SampleEncoder(configuration.encoding)
    pendingFrames = Self.makePendingFrames(for: configuration, format: format)
    watchedDescriptors = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    lastProgress = clock.now
    lastAvailableCount = configuration.bufferSize
    self.pcm = pcm
    beginWarmUp()
  }

  /// Creates a replacement for a sink in which a call hangs. Its device is disconnected until it
  /// can be reopened.
  init(
    replacing request: PCMRequest, configuration: PCMConfiguration, format: SinkFormat,
    clock: any TimeSource,
    due: Duration, lostFrameCount: Int, interception: PCMInterception? = nil
  ) {
    self.request = request
    self.configuration = configuration
    self.format = format
    self.clock = clock
    reconnector = DeviceReconnector(request, interception: interception)
    frameTime = FrameTime(rate: format.rate)
    encoder = SampleEncoder(configuration.encoding)
    pendingFrames = Self.makePendingFrames(for: configuration, format: format)
    watchedDescriptors = [PollDescriptor(-1)]
    playbackEnd = due
    self.lostFrameCount = lostFrameCount
    isSteady = true
    lastReconnectionAttempt = clock.now
    phase = .disconnected(nextAttempt: clock.now + Self.retryInterval)
  }

  /// Creates a replacement that reopens the same device.
  public var makeReplacement: SinkReplacement? {
    let request = request
    let configuration = configuration
    let format = format
    let clock = clock
    return { due, lostFrameCount in
      ALSASink(
        replacing: request, configuration: configuration, format: format, clock: clock, due: due,
        lostFrameCount: lostFrameCount)
    }
  }

  /// The name of the thread by which libpulse communicates with its server; libjack and PipeWire
  /// set their own priority.
  public var deviceThreadNames: [String] {
    configuration.isHardware || configuration.isFasterThanRealTime ? [] : ["threaded-ml"]
  }

  /// The number of frames that were written and not yet heard, at most the buffer and one second.
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

  /// Returns the events since the last call, oldest first.
  public func drainEvents() -> [SinkEvent] { eventQueue.drain() }

  static func makePendingFrames(for granted: PCMConfiguration, format: SinkFormat) -> PendingFrames
  {
    PendingFrames(
      capacity: max(granted.bufferSize, format.bufferSize), silenceCapacity: granted.periodSize,
      channelCount: granted.channelCount, encoding: granted.encoding)
  }

  /// Writes interleaved frames. Frames that the device does not accept at once follow when it has
  /// space.
  public func write(_ frames: Span<Float>) {
    guard case .open = phase, let pcm else { return }
    let frameCount = frames.count / format.channelCount
    guard frameCount > 0 else { return }
    pendingFrames.append(
      frames.extracting(first: frameCount * format.channelCount), frameCount: frameCount,
      with: &encoder)
    let start = clock.now
    do {
      _ = try writePending(to: pcm)
    } catch {
      deferredError = deferredError ?? error
    }
    recordCall(since: start)
  }

  /// Writes pending frames, and starts the device once it is full. Returns the number of frames
  /// that it accepted.
  func writePending(to pcm: PCM) throws(PCMFailure) -> Int {
    var total = 0
    var isSilence = pendingSilence > 0
    while isSilence || pendingFrames.count > 0 {
      let acceptedCount = try pendingFrames.write(
        silentCount: isSilence ? pendingSilence : nil, to: pcm, access: configuration.access)
      if acceptedCount == 0 { break }
      if isSilence {
        pendingSilence -= acceptedCount
      }
      total += acceptedCount
      recordWritten(acceptedCount, isSilence: isSilence)
      isSilence = pendingSilence > 0
      // The buffer is full when there is no space for another period.
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
    // After a discontinuity, filling the buffer took time; the next correction includes it.
    if let playbackEnd {
      lag += begun - playbackEnd
    }
    playbackEnd = begun
    silenceEnd = begun - frameTime.duration(of: prefillCount - silentPrefillCount)
    prefillCount = 0
    silentPrefillCount = 0
    lastProgress = now
  }

  /// Ends playback.
  ///
  /// Frames that were not heard by then are reported as an event.
  ///
  /// - Parameter draining: True to play the written frames for at most the buffer and 100 ms; false
  ///   to discard them.
  public func finish(draining: Bool) {
    switch phase {
    case .open:
      let now = clock.now
      let isStalled = (isSteady || draining) && now - lastProgress > stallTolerance
      // A failing device is not waited for.
      let overdue = max(0, frameTime.frameCount(in: now - (playbackEnd ?? now)))
      var unheardCount = droppedFrameCount(now: now) + pendingFrames.count
      if draining, !isStalled, deferredError == nil, let pcm {
        unheardCount = min(unheardCount, (try? drain(pcm)) ?? unheardCount)
      }
      let isInterrupted =
        !isStarted
        || interruptedInterval.map {
          now - $0.until <= frameTime.duration(of: configuration.bufferSize)
        } ?? false
      let isSilenced =
        isInterrupted && interruptedInterval.map { $0.until - $0.since > stallTolerance } ?? false
      if isStalled || isSilenced || draining && unheardCount > 0 {
        eventQueue.add(
          .failed, missedFrameCount: unheardCount + overdue,
          text:
            """
            \(request.device): the device \
            \(isStalled ? "stopped accepting frames" : "did not play the end")
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

  /// Waits for the end of the sound, and returns the number of frames that were not heard by then.
  private func drain(_ pcm: PCM) throws(PCMFailure) -> Int {
    var now = clock.now
    // Some devices play only whole periods; servers report frames that they accepted, not frames
    // that are heard.
    let tail =
      configuration.isFasterThanRealTime ? 0 : max(configuration.periodSize, warmUpFrameCount)
    var padding = tail
    let limit =
      now + frameTime.duration(of: configuration.bufferSize + warmUpFrameCount) + .milliseconds(100)
    while now < limit {
      _ = try writePending(to: pcm)
      while pendingFrames.count == 0, padding > 0 {
        let acceptedCount = try pendingFrames.write(
          silentCount: padding, to: pcm, access: configuration.access)
        if acceptedCount == 0 { break }
        padding -= acceptedCount
      }
      if !isStarted, prefillCount > 0 {
        try start(pcm)
      }
      let remaining = try remainingDuration(pcm, now: now)
      guard remaining > .zero || pendingFrames.count > 0 else { return 0 }
      for index in watchedDescriptors.indices {
        watchedDescriptors[index].descriptor = -1
      }
      clock.wait(
        for: &watchedDescriptors,
        timeout: min(max(remaining, .milliseconds(1)), limit - now, .milliseconds(5)))
      now = clock.now
    }
    // The padding follows the sound.
    let padded = tail - padding
    return max(0, frameTime.frameCount(in: try remainingDuration(pcm, now: now)) - padded)
      + pendingFrames.count
  }

  /// Returns the remaining duration of the device's frames, by the clock if the device does not
  /// know it.
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

  /// Stops the device, so that it and its server may sleep; the next wait restarts it.
  ///
  /// All written frames have been heard. The next sound follows a warm-up, like the first frame.
  public func beginIdle() -> Bool {
    guard case .open = phase, isStarted, let pcm, deferredError == nil, pendingDiscontinuity == nil,
      pendingFrames.count == 0,
      !configuration.isJACKClient
    else { return false }
    pcm.drop()
    phase = .idle
    return true
  }

  /// Prepares the device to be filled, as if it had just been opened.
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

  /// The maximum duration of a warm-up; after it, frames are played even on an unsteady device.
  private static var maximumWarmUp: Duration { .seconds(2) }

  /// The number of silent frames before the first frame, where a sound server may drop frames.
  var warmUpFrameCount: Int {
    configuration.isHardware || configuration.isFasterThanRealTime
      ? 0 : frameTime.frameCount(in: request.warmUpDuration)
  }

  /// Starts a warm-up before the first frame of a stream. A buffer much longer than the warm-up
  /// needs none: it covers the frames that a server drops, and the wait for the first frame would
  /// be long.
  func beginWarmUp() {
    pendingSilence = warmUpFrameCount
    warmUp =
      warmUpFrameCount > 0 && configuration.bufferSize <= 2 * warmUpFrameCount ? WarmUp() : nil
  }

  /// Restarts the warm-up of a device that is not steady yet; only silence was lost.
  func restartWarmUp(now: Duration) {
    warmUp?.steadySince = now
    playbackEnd = nil
    lag = .zero
  }

  /// Writes silence until the device has accepted frames in time for long enough.
  ///
  /// - Parameters:
  ///   - available: The free space in frames.
  ///   - now: The current time.
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

/// A bounded queue of events, so that a failing device cannot flood its reader.
struct SinkEventQueue {
  /// The maximum number of events.
  static let capacity = 16

  private var events: [SinkEvent] = []
  private var droppedEventCount = 0
  private var droppedEventFrameCount = 0

  init() { events.reserveCapacity(Self.capacity + 1) }

  /// Adds an event. A full queue drops an event other than a disconnection, a reconnection, or a
  /// failure, and keeps count of its frames.
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

  /// Returns and removes all events, oldest first, followed by the number of dropped events.
  mutating func drain() -> [SinkEvent] {
    guard !events.isEmpty else { return [] }
    var drained = events
    if droppedEventCount > 0 {
      drained.append(
        SinkEvent(
          .degraded, missedFrameCount: droppedEventFrameCount,
          text: "\(droppedEventCount) more interruptions in the same time"))
    }
    events.removeAll(keepingCapacity: true)
    droppedEventCount = 0
    droppedEventFrameCount = 0
    return drained
  }
}

struct WarmUp {
  /// The time at which the device was first found running.
  var startTime: Duration?
  /// The time since which the device has accepted frames in time.
  var steadySince = Duration.zero
}

/// A queue of frames in the device's encoding, with memory that is allocated once.
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
    // Writing to the memory avoids page faults in the first period.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    // Zero is silence in every encoding.
    unsafe silence.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe bytes.deallocate()
    unsafe silence.deallocate()
  }

  /// Appends frames, which must fit into the capacity.
  mutating func append(_ samples: Span<Float>, frameCount: Int, with encoder: inout SampleEncoder) {
    if count == 0 {
      firstIndex = 0
    }
    precondition(firstIndex + count + frameCount <= capacity, "more frames than the buffer holds")
    let offset = (firstIndex + count) * frameSize
    unsafe encoder.encode(samples, into: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
    count += frameCount
  }

  mutating func removeFirst(_ frameCount: Int) {
    let dropped = min(frameCount, count)
    firstIndex += dropped
    count -= dropped
  }

  /// Writes the oldest frames, or silence, to a device. Returns the number of frames that it
  /// accepted.
  mutating func write(silentCount: Int? = nil, to pcm: PCM, access: PCMAccess)
    throws(PCMFailure) -> Int
  {
    let frameCount = silentCount.map { min($0, silenceCapacity) } ?? count
    guard frameCount > 0 else { return 0 }
    let source = unsafe silentCount == nil ? bytes : silence
    let start =
      unsafe source.baseAddress.unsafelyUnwrapped
      + (silentCount == nil ? firstIndex * frameSize : 0)
    var acceptedCount = 0
    switch access {
    case .readWrite:
      acceptedCount = try unsafe min(frameCount, pcm.write(start, frameCount: frameCount))
    case .memoryMapped:
      guard let area = try unsafe pcm.mapBegin(frameCount: frameCount) else { return 0 }
      let count = unsafe min(frameCount, area.frameCount)
      unsafe area.start.copyMemory(from: start, byteCount: count * frameSize)
      acceptedCount = try unsafe min(count, pcm.mapCommit(offset: area.offset, frameCount: count))
    }
    if silentCount == nil {
      removeFirst(acceptedCount)
    }
    return acceptedCount
  }
}
