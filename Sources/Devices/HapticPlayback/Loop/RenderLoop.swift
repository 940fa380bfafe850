public import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// A loop of the render thread. Each iteration waits for the sink, renders the requested frames,
/// and writes them.
///
/// The loop is the same in real and in virtual time. It is not thread-safe; only `stop` may be
/// called from another thread.
public final class RenderLoop {
  /// The maximum number of frames in a rendered block.
  public static let maximumBlockSize = 4_096
  /// The maximum time to wait until the sink has requested all frames of the final fade-out.
  /// Together with the sink's own closing time, it is less than a second.
  private static let gateClosingTimeout = Duration.milliseconds(500)
  /// The maximum duration of silence that is recorded in place of missed frames, in seconds.
  private static let maximumRecordedSilenceSeconds = 10.0

  /// A closure that is called on the render thread when players changed or the sink reported
  /// events.
  public var changeHandler: (@Sendable () -> Void)?
  /// A Boolean value that indicates whether players changed or the sink reported events. Drivers on
  /// the render thread reset it.
  package var hasUnreportedChange = false
  /// The buffer that receives a copy of the output.
  public var recordingBuffer: RecordingBuffer?
  /// The clock that tracks the frame that is heard.
  public let clock: PlaybackClock
  /// The signal that ends a wait of the loop.
  public let wakeSignal = WakeSignal.makeOrInert()
  /// A Boolean value that indicates whether the device is idle. Any thread may read it.
  let isIdle = Atomic<Bool>(false)

  let engine: PlaybackEngine
  private(set) var sink: any AudioSink
  let time: any TimeSource
  /// A counter that determines which thread owns the loop, so that a thread can detect that another
  /// thread has taken over. It is twice the number of replaced sinks, plus 1 during a call to the
  /// sink, when another thread may take over.
  private let loopOwnershipCounter = Atomic<Int>(0)
  /// The time at which the last call to the sink began, in nanoseconds on the machine's clock.
  private let sinkCallStartNanoseconds = Atomic<Int64>(0)
  /// The sample buffers that a hanging call to a replaced sink may still read.
  private var abandonedBlocks: [[Float]] = []
  var renderer: Renderer
  private var blockSamples: [Float]
  private var isGateOpen = false
  private var remainingGateClosingFrames: Int?
  /// The way in which the next iteration finishes the sink, or nil if the loop is not about to end.
  private var pendingSinkFinishMode: SinkFinishMode?
  private var gateClosingDeadline = Duration.zero
  private var reportedPlayerChangeCount = 0
  let stopRequest = Atomic<Bool>(false)
  /// A Boolean value that indicates whether the output has ended and all its events were reported.
  /// Any thread may read it.
  /// Only the device remains to be closed.
  let hasFinished = Atomic<Bool>(false)
  let blockTimings: RingQueue<BlockTiming>
  private var sinkEvents: [SinkEvent] = []
  var idleState: IdleState

  private enum SinkFinishMode { case draining, discarding }

  /// Creates a loop of an engine and a sink with the same sample rate and channels.
  public init(engine: PlaybackEngine, sink: any AudioSink, time: any TimeSource) {
    precondition(
      sink.format.rate == engine.rate && sink.format.channelCount == engine.routing.channels.count,
      "a sink with the engine's rate and channels")
    self.engine = engine
    self.sink = sink
    self.time = time
    renderer = engine.makeRenderer(isGateOpen: false)
    blockSamples = [Float](
      repeating: 0, count: Self.maximumBlockSize * engine.routing.channels.count)
    clock = PlaybackClock(rate: engine.rate, time: time)
    blockTimings = RingQueue(capacity: 1_024, filler: .empty)
    idleState = IdleState(
      delay: engine.idleDelay, rate: engine.rate, descriptor: wakeSignal.descriptor)
    if engine.idleDelay != nil {
      engine.setWakeHandler { [wakeSignal] in wakeSignal.raise() }
    }
  }

  deinit { engine.markDriverEnded() }

  /// The statistics of the renderer so far.
  public var statistics: RenderStatistics { renderer.statistics }

  /// Requests the end of the loop, after a fade-out that is played to its end. Any thread may call
  /// the method.
  public func stop() {
    stopRequest.store(true, ordering: .releasing)
    wakeSignal.raise()
  }

  var hasSinkEvents: Bool { !sinkEvents.isEmpty }

  /// Returns the sink's events since the last call. Only the render thread may call the method.
  public func drainEvents() -> [SinkEvent] { exchange(&sinkEvents, with: []) }

  /// Runs one iteration of the loop. Only the render thread may call the method.
  ///
  /// - Returns: True if another iteration may follow. The result is also false if the sink was
  ///   replaced during a call to it. In that case, this thread must no longer use the loop.
  public func runIteration() -> Bool {
    engine.renderIterations.wrappingAdd(1, ordering: .relaxed)
    if hasFinished.load(ordering: .relaxed) {
      _ = callSink(sink) { $0.close() }
      return false
    }
    if let pendingSinkFinishMode { return finishSink(pendingSinkFinishMode) }
    if isIdle.load(ordering: .relaxed) { return continueIdle() }
    if remainingGateClosingFrames == nil, stopRequest.load(ordering: .acquiring) {
      beginClosingGate()
    }
    let waitingSink = sink
    guard let sinkReadiness = callSink(waitingSink, { $0.wait(wakeSignal) }) else { return false }
    engine.recordSinkCall(duration: waitingSink.maximumDeviceCallDuration)
    var ownsLoop = true
    switch sinkReadiness {
    case .ready(let frameCount):
      ownsLoop = renderAndWrite(frameCount)
    case .interrupted:
      wakeSignal.lower()
    case .missed(let frameCount):
      skipMissedFrames(frameCount)
    case .late(let frameCount):
      // The sink may be replaced while it plays the fade.
      sinkEvents += waitingSink.drainEvents()
      ownsLoop = fadeOut()
      if ownsLoop {
        skipMissedFrames(frameCount)
      }
    case .ended:
      reportPlayerChanges(always: true)
      return false
    }
    guard ownsLoop else { return false }
    if let remainingFrames = remainingGateClosingFrames,
      remainingFrames <= 0 || time.now > gateClosingDeadline
    {
      return prepareToFinishSink(remainingFrames <= 0 ? .draining : .discarding)
    }
    switch sinkReadiness {
    case .missed, .late:
      reportPlayerChanges(always: true)
      guard let delay = callSink(waitingSink, { $0.delayFrames }) else { return false }
      clock.update(position: engine.port.renderedFrameCount, delay: delay, moment: time.now)
    case .ready, .interrupted, .ended:
      reportPlayerChanges(always: self.sink.hasPendingEvents)
    }
    return idleIfSilent()
  }

  /// Schedules the next iteration to finish the sink, so that the driver receives all earlier
  /// events first, even if a call to the device hangs. Returns true.
  private func prepareToFinishSink(_ ending: SinkFinishMode) -> Bool {
    self.pendingSinkFinishMode = ending
    reportPlayerChanges(always: true)
    return true
  }

  /// Finishes the output of the sink. The next iteration closes its device, so that the driver
  /// receives all events first. Returns whether this thread still owns the loop.
  private func finishSink(_ ending: SinkFinishMode) -> Bool {
    guard callSink(sink, { $0.finish(draining: ending == .draining) }) != nil else { return false }
    reportPlayerChanges(always: true)
    hasFinished.store(true, ordering: .releasing)
    return true
  }

  /// Begins to close the gate of the renderer, so that only the final fade-out and the limiter's
  /// look-ahead are still rendered.
  private func beginClosingGate() {
    renderer.moveGate(to: 0)
    remainingGateClosingFrames = renderer.fadeFrameCount + 1
    gateClosingDeadline = time.now + Self.gateClosingTimeout
  }

  /// Renders frames and writes them to the sink. Returns whether this thread still owns the loop.
  private func renderAndWrite(_ frameCount: Int) -> Bool {
    guard frameCount > 0 else { return true }
    if !isGateOpen && remainingGateClosingFrames == nil {
      renderer.moveGate(to: 1)
      isGateOpen = true
    }
    let currentSink = sink
    var remainingFrameCount = frameCount
    while remainingFrameCount > 0, remainingGateClosingFrames ?? 1 > 0 {
      let count = min(remainingFrameCount, Self.maximumBlockSize)
      let renderStart = time.now
      let position = engine.port.renderedFrameCount
      renderBlock(count)
      let renderEnd = time.now
      let ownershipBefore = beginSinkCall()
      currentSink.write(blockSamples.span.extracting(first: count * renderer.channelCount))
      let delay = currentSink.delayFrames
      guard endSinkCall(ownershipBefore) else {
        abandonSink(currentSink)
        return false
      }
      recordingBuffer?.write(blockSamples.span.extracting(first: count * renderer.channelCount))
      let timing = BlockTiming(
        position: position, frameCount: count, renderStart: renderStart, renderEnd: renderEnd,
        writeEnd: time.now,
        delayFrameCount: delay)
      blockTimings.write(timing)
      engine.recordSinkCall(duration: timing.writeEnd - renderEnd)
      clock.update(
        position: position + Int64(count), delay: timing.delayFrameCount, moment: timing.writeEnd)
      if let closing = remainingGateClosingFrames {
        remainingGateClosingFrames = closing - count
      }
      idleState.recordFrames(
        count, isSilent: renderer.silenceEndFrame > engine.port.renderedFrameCount)
      remainingFrameCount -= count
    }
    return true
  }

  private func renderBlock(_ frameCount: Int) {
    var blockSpan = blockSamples.mutableSpan
    var renderedSpan = blockSpan._mutatingExtracting(first: frameCount * renderer.channelCount)
    renderer.render(into: &renderedSpan)
  }

  /// Processes the pending commands without rendering, to free space for more commands. Only the
  /// render thread may call the method.
  package func receiveCommands() { renderer.skip(frameCount: 0) }

  private func fadeOut() -> Bool {
    guard isGateOpen else { return true }
    renderer.moveGate(to: 0)
    return renderAndWrite(renderer.fadeFrameCount + 1)
  }

  /// Skips the frames that were missed, so that later frames are on time, and continues from
  /// silence.
  private func skipMissedFrames(_ frameCount: Int) {
    renderer.skip(frameCount: frameCount)
    renderer.closeGate()
    isGateOpen = false
    // The clock is updated now, so that the time is skipped only once even if a call hangs.
    clock.update(position: engine.port.renderedFrameCount, delay: 0, moment: time.now)
    // No sound is playing, so no fade is necessary.
    if remainingGateClosingFrames != nil {
      remainingGateClosingFrames = 0
    }
    guard let recordingBuffer else { return }
    var silentFrameCount = min(frameCount, Int(Self.maximumRecordedSilenceSeconds * engine.rate))
    let channelCount = engine.routing.channels.count
    for index in blockSamples.indices {
      blockSamples[index] = 0
    }
    while silentFrameCount > 0 {
      let count = min(silentFrameCount, Self.maximumBlockSize)
      recordingBuffer.write(blockSamples.span.extracting(first: count * channelCount))
      silentFrameCount -= count
    }
  }

  func reportPlayerChanges(always: Bool) {
    let changeCount = engine.port.playerChangeCount
    guard always || changeCount != reportedPlayerChangeCount else { return }
    reportedPlayerChangeCount = changeCount
    sinkEvents += sink.drainEvents()
    hasUnreportedChange = true
    changeHandler?()
  }

  /// The maximum interval between checks while the device is idle.
  private static let idlePollInterval = Duration.milliseconds(500)

  /// Stops the device if the output has been silent for long enough and no sound is due. Returns
  /// whether this thread still owns the loop.
  func idleIfSilent() -> Bool {
    // A recording needs every frame.
    guard idleState.isIdleDue, recordingBuffer == nil, !stopRequest.load(ordering: .relaxed) else {
      return true
    }
    idleState.recordFrames(0, isSilent: false)
    let renderedPosition = engine.port.renderedFrameCount
    guard renderer.beginIdle() - renderedPosition > idleState.wakeUpLeadFrameCount else {
      renderer.endIdle()
      return true
    }
    guard let hasPaused = callSink(sink, { $0.beginIdle() }) else { return false }
    guard hasPaused else {
      renderer.endIdle()
      return true
    }
    engine.idlePositionClock.withLock {
      $0 = IdlePositionClock(at: renderedPosition, rate: engine.rate, time: time)
    }
    isIdle.store(true, ordering: .releasing)
    return true
  }

  func continueIdle() -> Bool {
    let silenceEndFrame = renderer.silenceEndFrame
    let renderedPosition = engine.port.renderedFrameCount
    let idleFrameCount = min(
      silenceEndFrame - renderedPosition - idleState.wakeUpLeadFrameCount, Int64(engine.rate))
    time.wait(
      for: &idleState.watchedDescriptors,
      timeout: min(Self.idlePollInterval, .seconds(Double(max(1, idleFrameCount)) / engine.rate)))
    if idleState.watchedDescriptors[0].receivedEvents != 0 {
      wakeSignal.lower()
    }
    let now = time.now
    let reachedPosition =
      engine.idlePositionClock.withLock { $0?.freezePosition() } ?? renderedPosition
    let quietEndFrame = renderer.skipIdle(frameCount: Int(reachedPosition - renderedPosition))
    clock.update(position: reachedPosition, delay: 0, moment: now)
    let isStopRequested = stopRequest.load(ordering: .acquiring)
    if !isStopRequested, quietEndFrame - reachedPosition > idleState.wakeUpLeadFrameCount {
      engine.idlePositionClock.withLock { $0?.unfreezePosition() }
      reportPlayerChanges(always: false)
      return true
    }
    renderer.endIdle()
    engine.idlePositionClock.withLock { $0 = nil }
    isIdle.store(false, ordering: .releasing)
    guard isStopRequested else {
      reportPlayerChanges(always: true)
      return true
    }
    // The output is silent, so no fade is necessary.
    return prepareToFinishSink(.discarding)
  }

  /// Calls the sink. Returns nil if the sink was replaced in the meantime. In that case, this
  /// thread must no longer use the loop.
  @inline(__always) private func callSink<Result>(
    _ sink: any AudioSink, _ body: (any AudioSink) -> Result
  ) -> Result? {
    let ownershipCount = beginSinkCall()
    let callResult = body(sink)
    if endSinkCall(ownershipCount) { return callResult }
    abandonSink(sink)
    return nil
  }

  /// Closes a sink that was replaced while a call to it was hanging, on the thread of that call. No
  /// other thread waits for the sink, whose device may be busy until it is closed.
  private func abandonSink(_ sink: any AudioSink) {
    sink.finish(draining: false)
    sink.close()
  }

  private func beginSinkCall() -> Int {
    let ownershipCount = loopOwnershipCounter.load(ordering: .relaxed)
    sinkCallStartNanoseconds.store(SystemTimeSource().monotonicNanoseconds, ordering: .relaxed)
    loopOwnershipCounter.store(ownershipCount + 1, ordering: .releasing)
    return ownershipCount
  }

  private func endSinkCall(_ ownershipBefore: Int) -> Bool {
    loopOwnershipCounter.compareExchange(
      expected: ownershipBefore + 1, desired: ownershipBefore, ordering: .acquiringAndReleasing
    )
    .exchanged
  }

  /// The number of sinks that have been replaced because a call to them hung. Any thread may read
  /// it.
  var sinkReplacementCount: Int { loopOwnershipCounter.load(ordering: .acquiring) / 2 }

  /// The elapsed time of the current call to the sink, on the machine's clock; nil between calls.
  /// Any thread may read it.
  var sinkCallDuration: Duration? {
    guard loopOwnershipCounter.load(ordering: .acquiring) % 2 == 1 else { return nil }
    return .nanoseconds(
      SystemTimeSource().monotonicNanoseconds - sinkCallStartNanoseconds.load(ordering: .relaxed))
  }

  /// Replaces a sink in which a call hangs. Only the control thread may call the method.
  ///
  /// When the call returns, its thread detects the replacement and no longer uses the loop.
  ///
  /// - Parameter makeSink: A closure that creates the sink, given the due time of its first frame
  ///   and the number of frames lost before that frame.
  /// - Returns: False if the call has returned.
  func replaceSink(_ makeSink: (_ due: Duration, _ lostFrameCount: Int) -> any AudioSink) -> Bool {
    let ownershipCount = loopOwnershipCounter.load(ordering: .acquiring)
    guard ownershipCount % 2 == 1 else { return false }
    // This step is the first: after it, no other thread uses the loop.
    let (isOurs, _) = loopOwnershipCounter.compareExchange(
      expected: ownershipCount, desired: ownershipCount + 1, ordering: .acquiringAndReleasing)
    guard isOurs else { return false }
    let clockReading = clock.reading
    let lostFrameCount = Int(engine.port.renderedFrameCount - clockReading.position)
    // Latency after the device's buffer does not change the time at which frames are due.
    let deviceDelayFrameCount = min(clockReading.delayFrameCount, sink.format.bufferSize)
    let unheardSeconds = Double(deviceDelayFrameCount + lostFrameCount) / engine.rate
    let readingTime = clockReading.readingTime == .zero ? time.now : clockReading.readingTime
    abandonedBlocks.append(blockSamples)
    blockSamples = [Float](repeating: 0, count: blockSamples.count)
    sink = makeSink(readingTime + .seconds(unheardSeconds), lostFrameCount)
    renderer.closeGate()
    isGateOpen = false
    return true
  }
}

/// The timing of one rendered block, for measurements.
public struct BlockTiming: BitwiseCopyable, Sendable {
  /// The frame of the engine at the start of the block.
  public var position: Int64
  /// The number of frames in the block.
  public var frameCount: Int
  /// The time at which rendering began.
  public var renderStart: Duration
  /// The time at which rendering ended.
  public var renderEnd: Duration
  /// The time at which the sink had accepted the block.
  public var writeEnd: Duration
  /// The number of frames that were written and not yet heard, including this block.
  public var delayFrameCount: Int

  static let empty = BlockTiming(
    position: 0, frameCount: 0, renderStart: .zero, renderEnd: .zero, writeEnd: .zero,
    delayFrameCount: 0)
}

/// Counts silent frames, to determine when the device becomes idle.
struct IdleState {
  /// The number of silent frames after which the device becomes idle; nil to disable idling.
  let idleDelayFrameCount: Int?
  /// The number of frames before the next scheduled sound at which the device is restarted, because
  /// a sound server takes time to start.
  let wakeUpLeadFrameCount: Int64
  private(set) var silentFrameCount = 0
  /// The descriptor of the loop's wake signal, in an array as waits expect it.
  var watchedDescriptors: [PollDescriptor]

  init(delay: Duration?, rate: Double, descriptor: Int32) {
    self.idleDelayFrameCount = delay.map { Int($0 / .seconds(1) * rate) }
    wakeUpLeadFrameCount = Int64(rate)
    watchedDescriptors = [PollDescriptor(descriptor)]
  }

  var isIdleDue: Bool { idleDelayFrameCount.map { silentFrameCount >= $0 } ?? false }

  /// Counts silent frames, if the device may become idle.
  mutating func recordFrames(_ frameCount: Int, isSilent: @autoclosure () -> Bool) {
    if idleDelayFrameCount == nil { return }
    silentFrameCount = isSilent() ? silentFrameCount + frameCount : 0
  }
}

/// A clock that derives the engine's position from elapsed time while the device is idle.
struct IdlePositionClock {
  private let startPosition: Int64
  private let startTime: Duration
  private let rate: Double
  private let time: any TimeSource
  private var frozenPosition: Int64?

  init(at position: Int64, rate: Double, time: any TimeSource) {
    startPosition = position
    startTime = time.now
    self.rate = rate
    self.time = time
  }

  var position: Int64 {
    // A time that was computed from frames may be slightly too short.
    frozenPosition ?? startPosition + Int64((time.now - startTime) / .seconds(1) * rate + 0.01)
  }

  /// Stops the clock at the current position, until the renderer has reached this position, and
  /// returns the position. The position never decreases.
  mutating func freezePosition() -> Int64 {
    let heldPosition = position
    frozenPosition = heldPosition
    return heldPosition
  }

  mutating func unfreezePosition() { frozenPosition = nil }
}
