public import HapticPlayback
internal import SoundFile

/// Plays on an ALSA device: a sound card, a sound server, a file, or any other name in ALSA's
/// configuration.
///
/// Frames are written in whole periods, as the device requests them. The sink keeps time: every
/// frame has a due time, and frames that a device could not play on time are skipped, so that all
/// later frames are heard on time.
///
///     render loop ──write──▶ PendingFrames ──────write─────▶ device ──▶ heard
///          ▲                                                   │
///          │                  DeviceTimeline ◀──recordWritten, trackDeviceClock
///          │                        │ late, early, or an error of the device
///          │                        ▼
///          └──wait: readiness── MissedFrames ◀──skipOverdueFrames── recover, reconnect
///
/// - An underrun or a suspension is reported as `.missed`, with the time from the end of the
///   device's buffer, as last measured, to now.
/// - A device that was disconnected, or accepted nothing for a second, is reopened with the same
///   request: every 250 ms for the first two seconds, then every 500 ms. Until it is back, the
///   clock paces the output, and `.missed` is reported every 20 ms.
/// - If the request permits it, the buffer of a sound server's stream doubles after every two
///   underruns, when an underrun has emptied the device.
/// - Events count every missed frame: skipped frames and frames that a device lost.
/// - The clock limits a device that is faster than real time, such as `null`.
///
/// A sink belongs to one thread at a time. `wait` and `write` allocate no memory during normal
/// operation.
public final class ALSASink: AudioSink {
  /// The format that was granted initially.
  /// After a reconnection, the device's periods and buffer may differ.
  public let format: SinkFormat
  /// The request for the initial connection. Later connections request the grown buffer.
  package let request: PCMRequest
  /// The configuration of the open device, or of the device that was open most recently.
  package var configuration: PCMConfiguration { timeline.configuration }

  let clock: any TimeSource
  let reconnector: DeviceReconnector
  var pcm: PCM?
  /// The descriptors that are polled: that of the wake signal, followed by those of the device.
  var watchedDescriptors: [PollDescriptor]

  var encoder: SampleEncoder
  var pendingFrames: PendingFrames
  var timeline: DeviceTimeline
  var bufferGrowth: BufferGrowth
  /// A Boolean value that indicates whether the buffer must be enlarged the next time that the
  /// device is empty.
  var mustGrowBuffer = false
  var missedFrames = MissedFrames()
  var recovery = RecoveryState()
  var waitTimes = WaitTimes()
  var eventQueue = SinkEventQueue()
  /// The error of a device call from a method that cannot throw, to be handled by the next wait.
  var deferredError: PCMFailure?

  /// Opens a device. The render thread sets its own priority and locks memory.
  ///
  /// - Parameters:
  ///   - request: The requested properties.
  ///   - clock: The clock.
  ///   - interception: The results to force in tests.
  package init(
    _ request: PCMRequest, clock: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) throws(OutputError) {
    let (pcm, configuration) = try PCMNegotiation(request: request).open(interception: interception)
    self.request = request
    self.clock = clock
    self.pcm = pcm
    bufferGrowth = Self.bufferGrowth(request)
    reconnector = DeviceReconnector(interception: interception)
    format = SinkFormat(
      rate: Double(configuration.rate), channelCount: configuration.channelCount,
      periodSize: configuration.periodSize, bufferSize: configuration.bufferSize)
    encoder = SampleEncoder(configuration.encoding)
    pendingFrames = Self.makePendingFrames(for: configuration, format: format)
    watchedDescriptors = Array(repeating: PollDescriptor(-1), count: 1 + pcm.descriptorCount)
    timeline = DeviceTimeline(
      configuration: configuration, rate: format.rate, warmUpDuration: request.warmUpDuration,
      now: clock.now)
    timeline.beginWarmUp()
  }

  /// Creates a replacement for a sink in which a call hangs. Its device is disconnected until it
  /// can be reopened.
  init(
    replacing request: PCMRequest, configuration: PCMConfiguration, format: SinkFormat,
    clock: any TimeSource, due: Duration, lostFrameCount: Int,
    interception: PCMInterception? = nil
  ) {
    self.request = request
    self.format = format
    self.clock = clock
    bufferGrowth = Self.bufferGrowth(request)
    reconnector = DeviceReconnector(interception: interception)
    encoder = SampleEncoder(configuration.encoding)
    pendingFrames = Self.makePendingFrames(for: configuration, format: format)
    watchedDescriptors = [PollDescriptor(-1)]
    let now = clock.now
    timeline = DeviceTimeline(
      configuration: configuration, rate: format.rate, warmUpDuration: request.warmUpDuration,
      now: now)
    timeline.resume(at: due)
    missedFrames.beginDisconnection(lostCount: lostFrameCount)
    recovery.startDisconnected(now: now)
  }

  /// Creates a sink for a device that is absent.
  /// The device is opened as soon as possible, with the requested rate and channels. A device with
  /// another rate or other channels ends the sink, so that its caller can open it again.
  ///
  /// - Parameters:
  ///   - request: The requested properties.
  ///   - clock: The clock.
  ///   - interception: The results to force in tests.
  package convenience init(
    waitingFor request: PCMRequest, clock: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) {
    let configuration = PCMConfiguration(
      rate: request.rate, channelCount: request.channels.count,
      encoding: request.encoding ?? .float, access: .readWrite, periodSize: request.periodSize,
      bufferSize: request.bufferSize, isHardware: false, isFasterThanRealTime: false,
      isServerStream: false, isJACKClient: false)
    let format = SinkFormat(
      rate: Double(request.rate), channelCount: request.channels.count,
      periodSize: request.periodSize, bufferSize: request.bufferSize)
    self.init(
      replacing: request, configuration: configuration, format: format, clock: clock,
      due: clock.now, lostFrameCount: 0, interception: interception)
    recovery.isWaitingForFirstDevice = true
  }

  /// Creates a replacement that reopens the same device.
  public var makeReplacement: SinkReplacement? {
    let request = currentRequest
    let configuration = configuration
    let format = format
    let clock = clock
    return { due, lostFrameCount in
      ALSASink(
        replacing: request, configuration: configuration, format: format, clock: clock, due: due,
        lostFrameCount: lostFrameCount)
    }
  }

  /// The request with which the device is reopened, including the grown buffer size.
  var currentRequest: PCMRequest {
    var reopeningRequest = request
    reopeningRequest.bufferSize = bufferGrowth.bufferFrameCount
    return reopeningRequest
  }

  /// Returns the initial and maximum buffer sizes, in frames at the requested rate; by default, 20
  /// ms and 160 ms.
  private static func bufferGrowth(_ request: PCMRequest) -> BufferGrowth {
    BufferGrowth(initial: request.bufferSize, adaptsBuffer: request.adaptsBuffer)
  }

  static func makePendingFrames(for configuration: PCMConfiguration, format: SinkFormat)
    -> PendingFrames
  {
    PendingFrames(
      frameCapacity: max(configuration.bufferSize, format.bufferSize),
      silenceFrameCapacity: configuration.periodSize, channelCount: configuration.channelCount,
      encoding: configuration.encoding)
  }

  /// The name of the thread by which libpulse communicates with its server.
  /// libjack and PipeWire set their own priority.
  public var deviceThreadNames: [String] {
    configuration.isHardware || configuration.isFasterThanRealTime ? [] : ["threaded-ml"]
  }

  /// The longest time for which calls to the device have blocked the render thread between two
  /// waits.
  public var maximumDeviceCallDuration: Duration { waitTimes.maximumDeviceCallDuration }

  /// Removes and returns the events since the last call, oldest first.
  public func drainEvents() -> [SinkEvent] { eventQueue.drain() }

  /// The number of frames that were written and not yet heard, limited to the buffer size plus one
  /// second.
  public var delayFrames: Int {
    let maximumDelayFrames = configuration.bufferSize + configuration.rate
    return min(
      max(
        0,
        deviceDelayFrameCount + timeline.pendingSilenceFrameCount
          + pendingFrames.pendingFrameCount),
      maximumDelayFrames)
  }

  private var deviceDelayFrameCount: Int {
    guard recovery.phase == .open, let pcm else { return 0 }
    guard timeline.isDeviceStarted else { return timeline.prefilledFrameCount }
    if !configuration.isFasterThanRealTime, let frames = try? pcm.delay() { return frames }
    guard let playbackEndTime = timeline.playbackEndTime else { return 0 }
    return timeline.frameTime.frameCount(touching: playbackEndTime - clock.now)
  }

  /// The duration of the device's buffer.
  var bufferDuration: Duration { timeline.frameTime.duration(of: configuration.bufferSize) }

  /// The duration without progress after which a device counts as stalled.
  var deviceStallTolerance: Duration { bufferDuration + .milliseconds(250) }

  // MARK: - Writing

  /// Writes interleaved frames. Frames that the device does not accept at once follow when the
  /// device has space.
  public func write(_ frames: Span<Float>) {
    guard recovery.phase == .open, let pcm else { return }
    let frameCount = frames.count / format.channelCount
    guard frameCount > 0 else { return }
    pendingFrames.append(
      frames.extracting(first: frameCount * format.channelCount), frameCount: frameCount,
      with: &encoder)
    let callStartTime = clock.now
    do {
      _ = try writePendingFrames(to: pcm)
    } catch {
      deferredError = deferredError ?? error
    }
    recordDeviceCall(since: callStartTime)
  }

  /// Writes pending silence and frames, and starts the device when it is full. Returns the number
  /// of accepted frames.
  func writePendingFrames(to pcm: PCM) throws(PCMFailure) -> Int {
    var acceptedTotal = 0
    var isWritingSilence = timeline.pendingSilenceFrameCount > 0
    while isWritingSilence || pendingFrames.pendingFrameCount > 0 {
      let acceptedCount = try pendingFrames.write(
        silentCount: isWritingSilence ? timeline.pendingSilenceFrameCount : nil, to: pcm,
        access: configuration.access)
      if acceptedCount == 0 { break }
      acceptedTotal += acceptedCount
      timeline.recordWritten(acceptedCount, isSilence: isWritingSilence, now: clock.now)
      isWritingSilence = timeline.pendingSilenceFrameCount > 0
      if timeline.isBufferFilled {
        try startDevice(pcm)
      }
    }
    return acceptedTotal
  }

  func startDevice(_ pcm: PCM) throws(PCMFailure) {
    try pcm.start()
    timeline.start(now: clock.now)
  }

  // MARK: - Idle

  /// Stops the device, so that it and its server may sleep. The next wait restarts the device.
  ///
  /// All written frames have been heard. The next sound follows a warm-up, like the first frame.
  public func beginIdle() -> Bool {
    guard recovery.phase == .open, timeline.isDeviceStarted, let pcm, deferredError == nil,
      !missedFrames.hasUnreportedDiscontinuity, pendingFrames.pendingFrameCount == 0,
      !configuration.isJACKClient
    else { return false }
    pcm.drop()
    recovery.phase = .idle
    return true
  }

  /// Prepares the idle device to be filled again, as if it had just been opened.
  func resumeFromIdle() {
    guard let pcm else {
      recovery.phase = .ended
      return
    }
    let now = clock.now
    timeline.discardDueTimes()
    waitTimes.discardLastReturn()
    do {
      try pcm.prepare()
      resetDevice()
      timeline.beginWarmUp()
    } catch {
      handleDisconnection(error, now: now)
    }
  }

  // MARK: - End

  /// Ends playback on the device.
  ///
  /// Frames that were not heard by then are reported as an event.
  ///
  /// - Parameter draining: True to play the written frames for at most the buffer and 100 ms; false
  ///   to discard them.
  public func finish(draining: Bool) {
    switch recovery.phase {
    case .open:
      finishOpenDevice(draining: draining, now: clock.now)
    case .suspended, .disconnected:
      missedFrames.addMissedWhileDisconnected(skipOverdueFrames(now: clock.now))
      eventQueue.add(
        .failed, missedFrameCount: missedFrames.missedCountSinceDisconnection,
        text: "\(request.device): the device did not return before playback ended")
    case .idle, .ended:
      break
    }
    recovery.phase = .ended
  }

  /// Stops and closes the device. Either call may hang, so all events precede them.
  public func close() {
    recovery.phase = .ended
    guard let pcm else { return }
    self.pcm = nil
    if !configuration.isFasterThanRealTime {
      pcm.drop()
    }
    pcm.close()
  }

  private func finishOpenDevice(draining: Bool, now: Duration) {
    let isProgressExpected = timeline.isDeviceSteady || draining || recovery.hasJustReconnected
    let isStalled =
      isProgressExpected && now - timeline.lastDeviceProgressTime > deviceStallTolerance
    let overdueCount = timeline.overdueFrameCount(now: now)
    var unheardCount = timeline.droppedFrameCount(now: now) + pendingFrames.pendingFrameCount
    // The sink does not wait for a failing device.
    if draining, !isStalled, deferredError == nil, let pcm {
      unheardCount = min(unheardCount, (try? drain(pcm)) ?? unheardCount)
    }
    let isInterrupted =
      !timeline.isDeviceStarted || missedFrames.wasInterrupted(within: bufferDuration, before: now)
    let isSilenced = isInterrupted && missedFrames.interruptionDuration > deviceStallTolerance
    if isStalled || isSilenced || draining && unheardCount > 0 {
      let problem = isStalled ? "stopped accepting frames" : "did not play the end"
      eventQueue.add(
        .failed, missedFrameCount: unheardCount + overdueCount,
        text: "\(request.device): the device \(problem)")
    }
  }

  /// Waits for the end of the sound, and returns the number of frames that were not heard by then.
  private func drain(_ pcm: PCM) throws(PCMFailure) -> Int {
    var currentTime = clock.now
    // Some devices play only whole periods; servers report frames that they accepted, not frames
    // that are heard. Silence therefore follows the sound.
    let warmUpFrameCount = timeline.warmUpFrameCount
    let paddingFrameCount =
      configuration.isFasterThanRealTime ? 0 : max(configuration.periodSize, warmUpFrameCount)
    var remainingPaddingCount = paddingFrameCount
    let maximumFrameCount = configuration.bufferSize + warmUpFrameCount
    let drainDeadline =
      currentTime + timeline.frameTime.duration(of: maximumFrameCount) + .milliseconds(100)
    while currentTime < drainDeadline {
      _ = try writePendingFrames(to: pcm)
      while pendingFrames.pendingFrameCount == 0, remainingPaddingCount > 0 {
        let acceptedCount = try pendingFrames.write(
          silentCount: remainingPaddingCount, to: pcm, access: configuration.access)
        if acceptedCount == 0 { break }
        remainingPaddingCount -= acceptedCount
      }
      if !timeline.isDeviceStarted, timeline.prefilledFrameCount > 0 {
        try startDevice(pcm)
      }
      let remaining = try remainingPlaybackDuration(pcm, now: currentTime)
      guard remaining > .zero || pendingFrames.pendingFrameCount > 0 else { return 0 }
      for index in watchedDescriptors.indices {
        watchedDescriptors[index].descriptor = -1
      }
      clock.wait(
        for: &watchedDescriptors,
        timeout: min(
          max(remaining, .milliseconds(1)), drainDeadline - currentTime, .milliseconds(5)))
      currentTime = clock.now
    }
    let writtenPaddingCount = paddingFrameCount - remainingPaddingCount
    let remainingFrameCount = timeline.frameTime.frameCount(
      in: try remainingPlaybackDuration(pcm, now: currentTime))
    return max(0, remainingFrameCount - writtenPaddingCount) + pendingFrames.pendingFrameCount
  }

  /// Returns the time until the device has played all its frames, estimated by the clock if the
  /// device does not report it.
  private func remainingPlaybackDuration(_ pcm: PCM, now: Duration) throws(PCMFailure) -> Duration {
    let remainingTimeByClock = (timeline.playbackEndTime ?? now) - now
    if configuration.isFasterThanRealTime { return remainingTimeByClock }
    guard timeline.isDeviceStarted, pcm.state == .running else { return .zero }
    guard let delayFrameCount = try? pcm.delay(),
      (0...configuration.bufferSize + configuration.rate).contains(delayFrameCount)
    else { return remainingTimeByClock }
    return timeline.frameTime.duration(of: delayFrameCount)
  }
}
