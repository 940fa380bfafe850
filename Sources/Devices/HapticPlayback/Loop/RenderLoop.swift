public import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// Waits for a sink, renders what it wants, hands it over: the loop of the render thread, an
/// iteration at a time.
///
/// The same in real and in virtual time. Not safe for two threads; only `stop` may come from
/// another.
public final class RenderLoop {
  /// The most frames rendered at a time.
  public static let maximumBlockSize = 4_096
  /// How long a sink may take to want the closing fade; with the time to its end less than a
  /// second.
  private static let closingTimeout = Duration.milliseconds(500)
  /// The most silence that a recording is given for one gap, in seconds.
  private static let maximumRecordedSilence = 10.0

  /// Called on the render thread when players changed or the sink reported events.
  public var changeHandler: (@Sendable () -> Void)?
  /// Whether that was so, for drivers on the render thread, which set it back.
  package var hasChanged = false
  /// Takes a copy of what is handed over.
  public var recording: RecordingBuffer?
  /// The clock of frames that are heard.
  public let clock: PlaybackClock
  /// Raised to end a wait.
  public let wake = WakeSignal.makeOrInert()
  /// Whether the device rests: [any thread].
  let isIdle = Atomic<Bool>(false)

  let engine: PlaybackEngine
  private(set) var sink: any AudioSink
  let time: any TimeSource
  /// Who may touch the loop: twice the number of sinks that were replaced, and one more during a
  /// call of the sink, when another thread may take over.
  private let ownership = Atomic<Int>(0)
  /// When the last call of the sink began, in nanoseconds of the machine's clock.
  private let callStartNanoseconds = Atomic<Int64>(0)
  /// Blocks that a call which did not return may still read.
  private var abandonedBlocks: [[Float]] = []
  var renderer: Renderer
  private var block: [Float]
  private var isGateOpen = false
  private var remainingClosingFrames: Int?
  private var closingDeadline = Duration.zero
  private var reportedChangeCount = 0
  let stopRequest = Atomic<Bool>(false)
  let timings: RingQueue<BlockTiming>
  private var sinkEvents: [SinkEvent] = []
  var idleState: IdleState

  /// A loop over an engine and a sink of its rate and channels.
  public init(engine: PlaybackEngine, sink: any AudioSink, time: any TimeSource) {
    precondition(
      sink.format.rate == engine.rate && sink.format.channelCount == engine.routing.channels.count,
      "a sink with the engine's rate and channels")
    self.engine = engine
    self.sink = sink
    self.time = time
    renderer = engine.makeRenderer(isGateOpen: false)
    block = [Float](repeating: 0, count: Self.maximumBlockSize * engine.routing.channels.count)
    clock = PlaybackClock(rate: engine.rate, time: time)
    timings = RingQueue(capacity: 1_024, filler: .empty)
    idleState = IdleState(delay: engine.idleDelay, rate: engine.rate, descriptor: wake.descriptor)
    if engine.idleDelay != nil {
      engine.setWakeHandler { [wake] in wake.raise() }
    }
  }

  deinit { engine.markDriverEnded() }

  /// What has been rendered.
  public var statistics: RenderStatistics { renderer.statistics }

  /// Asks for an end: what sounds fades out, is heard, and the loop is over: [any thread].
  public func stop() {
    stopRequest.store(true, ordering: .releasing)
    wake.raise()
  }

  var hasEvents: Bool { !sinkEvents.isEmpty }

  /// Takes what happened at the sink: [render thread].
  public func drainEvents() -> [SinkEvent] { exchange(&sinkEvents, with: []) }

  /// Does one iteration; returns whether another may follow: [render thread].
  ///
  /// False also where the sink was replaced during a call of it; the thread has nothing more to do
  /// here then.
  public func runIteration() -> Bool {
    engine.iterations.wrappingAdd(1, ordering: .relaxed)
    if isIdle.load(ordering: .relaxed) { return continueIdle() }
    if remainingClosingFrames == nil, stopRequest.load(ordering: .acquiring) {
      beginClosing()
    }
    let sink = sink
    guard let readiness = call(sink, { $0.wait(wake) }) else { return false }
    engine.recordCall(duration: sink.maximumCallDuration)
    var isOurs = true
    switch readiness {
    case .ready(let frameCount):
      isOurs = renderAndWrite(frameCount)
    case .interrupted:
      wake.lower()
    case .missed(let frameCount):
      skipMissed(frameCount)
    case .late(let frameCount):
      isOurs = fadeOut()
      if isOurs {
        skipMissed(frameCount)
      }
    case .ended:
      reportChanges(always: true)
      return false
    }
    guard isOurs else { return false }
    if let left = remainingClosingFrames, left <= 0 || time.now > closingDeadline {
      if call(sink, { $0.finish(draining: left <= 0) }) != nil {
        reportChanges(always: true)
      }
      return false
    }
    switch readiness {
    case .missed, .late:
      reportChanges(always: true)
      guard let delay = call(sink, { $0.delay }) else { return false }
      clock.update(position: engine.port.position, delay: delay, moment: time.now)
    case .ready, .interrupted, .ended:
      reportChanges(always: false)
    }
    return idleIfSilent()
  }

  /// Closes the gate: the fade, and what the limiter still holds, are all that follows.
  private func beginClosing() {
    renderer.moveGate(to: 0)
    remainingClosingFrames = renderer.fadeLength + 1
    closingDeadline = time.now + Self.closingTimeout
  }

  /// Renders frames and hands them over; returns whether the loop still belongs to this thread.
  private func renderAndWrite(_ frameCount: Int) -> Bool {
    guard frameCount > 0 else { return true }
    if !isGateOpen && remainingClosingFrames == nil {
      renderer.moveGate(to: 1)
      isGateOpen = true
    }
    let sink = sink
    var left = frameCount
    while left > 0, remainingClosingFrames ?? 1 > 0 {
      let count = min(left, Self.maximumBlockSize)
      let began = time.now
      let position = engine.port.position
      renderBlock(count)
      let rendered = time.now
      let writing = beginCall()
      sink.write(block.span.extracting(first: count * renderer.channelCount))
      let delay = sink.delay
      guard endCall(writing) else { return false }
      recording?.write(block.span.extracting(first: count * renderer.channelCount))
      let timing = BlockTiming(
        position: position, frameCount: count, renderStart: began, renderEnd: rendered,
        writeEnd: time.now,
        delay: delay)
      timings.write(timing)
      engine.recordCall(duration: timing.writeEnd - rendered)
      clock.update(position: position + Int64(count), delay: timing.delay, moment: timing.writeEnd)
      if let closing = remainingClosingFrames {
        remainingClosingFrames = closing - count
      }
      idleState.recordFrames(count, isSilent: renderer.silentUntil > engine.port.position)
      left -= count
    }
    return true
  }

  private func renderBlock(_ frameCount: Int) {
    var whole = block.mutableSpan
    var span = whole._mutatingExtracting(first: frameCount * renderer.channelCount)
    renderer.render(into: &span)
  }

  private func fadeOut() -> Bool {
    guard isGateOpen else { return true }
    renderer.moveGate(to: 0)
    return renderAndWrite(renderer.fadeLength + 1)
  }

  /// Lets missed time go by: what follows comes at its time, and begins from silence.
  private func skipMissed(_ frameCount: Int) {
    renderer.skip(frameCount: frameCount)
    renderer.closeGate()
    isGateOpen = false
    // Time that went by is passed over once, also where a call hangs now.
    clock.update(position: engine.port.position, delay: 0, moment: time.now)
    // Nothing is heard, so there is nothing to fade.
    if remainingClosingFrames != nil {
      remainingClosingFrames = 0
    }
    guard let recording else { return }
    var silent = min(frameCount, Int(Self.maximumRecordedSilence * engine.rate))
    let channelCount = engine.routing.channels.count
    for index in block.indices {
      block[index] = 0
    }
    while silent > 0 {
      let count = min(silent, Self.maximumBlockSize)
      recording.write(block.span.extracting(first: count * channelCount))
      silent -= count
    }
  }

  func reportChanges(always: Bool) {
    let count = engine.port.changeCount
    guard always || count != reportedChangeCount else { return }
    reportedChangeCount = count
    sinkEvents += sink.drainEvents()
    hasChanged = true
    changeHandler?()
  }

  /// The longest time between two looks during a rest.
  private static let idlePollInterval = Duration.milliseconds(500)

  /// Lets the device rest where nothing has sounded for long enough and nothing is about to;
  /// returns whether the loop still belongs to this thread.
  func idleIfSilent() -> Bool {
    // A recording has all frames of time.
    guard idleState.isDue, recording == nil, !stopRequest.load(ordering: .relaxed) else {
      return true
    }
    idleState.recordFrames(0, isSilent: false)
    let position = engine.port.position
    guard renderer.beginIdle() - position > idleState.wakeUpLead else {
      renderer.endIdle()
      return true
    }
    guard let rests = call(sink, { $0.beginIdle() }) else { return false }
    guard rests else {
      renderer.endIdle()
      return true
    }
    engine.idleClock.withLock { $0 = IdleClock(at: position, rate: engine.rate, time: time) }
    isIdle.store(true, ordering: .releasing)
    return true
  }

  func continueIdle() -> Bool {
    let planned = renderer.silentUntil
    let position = engine.port.position
    let left = min(planned - position - idleState.wakeUpLead, Int64(engine.rate))
    time.wait(
      for: &idleState.watchedDescriptors,
      timeout: min(Self.idlePollInterval, .seconds(Double(max(1, left)) / engine.rate)))
    if idleState.watchedDescriptors[0].receivedEvents != 0 {
      wake.lower()
    }
    let now = time.now
    let reached = engine.idleClock.withLock { $0?.freeze() } ?? position
    let quietEnd = renderer.skipIdle(frameCount: Int(reached - position))
    clock.update(position: reached, delay: 0, moment: now)
    let isStopping = stopRequest.load(ordering: .acquiring)
    if !isStopping, quietEnd - reached > idleState.wakeUpLead {
      engine.idleClock.withLock { $0?.unfreeze() }
      reportChanges(always: false)
      return true
    }
    renderer.endIdle()
    engine.idleClock.withLock { $0 = nil }
    isIdle.store(false, ordering: .releasing)
    guard isStopping else {
      reportChanges(always: true)
      return true
    }
    // Nothing sounds, so there is nothing to fade.
    if call(sink, { $0.finish(draining: false) }) != nil {
      reportChanges(always: true)
    }
    return false
  }

  /// Calls the sink; nil where it was replaced meanwhile, and nothing of the loop may be touched.
  @inline(__always) private func call<Result>(
    _ sink: any AudioSink, _ body: (any AudioSink) -> Result
  ) -> Result? {
    let held = beginCall()
    let result = body(sink)
    return endCall(held) ? result : nil
  }

  private func beginCall() -> Int {
    let held = ownership.load(ordering: .relaxed)
    callStartNanoseconds.store(SystemTimeSource().nanoseconds, ordering: .relaxed)
    ownership.store(held + 1, ordering: .releasing)
    return held
  }

  private func endCall(_ held: Int) -> Bool {
    ownership.compareExchange(expected: held + 1, desired: held, ordering: .acquiringAndReleasing)
      .exchanged
  }

  /// How often the sink was replaced: [any thread].
  var replacementCount: Int { ownership.load(ordering: .acquiring) / 2 }

  /// How long a call of the sink has lasted by the machine's clock, or nil between calls: [any
  /// thread].
  var callDuration: Duration? {
    guard ownership.load(ordering: .acquiring) % 2 == 1 else { return nil }
    return .nanoseconds(
      SystemTimeSource().nanoseconds - callStartNanoseconds.load(ordering: .relaxed))
  }

  /// Puts another sink in the place of one in which a call does not return: [one control thread].
  ///
  /// The thread of that call finds out when it returns, and touches nothing.
  /// - Parameter makeSink: Makes the sink from when and from which frame on frames are due.
  /// - Returns: False where the call has returned.
  func replaceSink(_ makeSink: (_ due: Duration, _ lostFrameCount: Int) -> any AudioSink) -> Bool {
    let held = ownership.load(ordering: .acquiring)
    guard held % 2 == 1 else { return false }
    // First of all: from here on nobody else touches anything.
    let (isOurs, _) = ownership.compareExchange(
      expected: held, desired: held + 1, ordering: .acquiringAndReleasing)
    guard isOurs else { return false }
    let reading = clock.reading
    let lost = Int(engine.port.position - reading.position)
    let ahead = Double(reading.delay + lost) / engine.rate
    let begin = reading.moment == .zero ? time.now : reading.moment
    abandonedBlocks.append(block)
    block = [Float](repeating: 0, count: block.count)
    sink = makeSink(begin + .seconds(ahead), lost)
    renderer.closeGate()
    isGateOpen = false
    return true
  }
}

/// What one iteration of the render loop did, for measurements.
public struct BlockTiming: BitwiseCopyable, Sendable {
  /// The engine's frame of the block's first frame.
  public var position: Int64
  /// Frames in the block.
  public var frameCount: Int
  /// When rendering began.
  public var renderStart: Duration
  /// When rendering was done.
  public var renderEnd: Duration
  /// When the sink had taken the block.
  public var writeEnd: Duration
  /// Frames handed over and not yet heard, the block included.
  public var delay: Int

  static let empty = BlockTiming(
    position: 0, frameCount: 0, renderStart: .zero, renderEnd: .zero, writeEnd: .zero, delay: 0)
}

/// When a device may rest, and since when it could.
struct IdleState {
  /// Frames of quiet before a rest; nil where there is none.
  let delay: Int?
  /// Frames before what is planned at which a rest is over: a sound server takes its time to start.
  let wakeUpLead: Int64
  private(set) var silentFrameCount = 0
  /// The wake signal, to wait for.
  var watchedDescriptors: [PollDescriptor]

  init(delay: Duration?, rate: Double, descriptor: Int32) {
    self.delay = delay.map { Int($0 / .seconds(1) * rate) }
    wakeUpLead = Int64(rate)
    watchedDescriptors = [PollDescriptor(descriptor)]
  }

  var isDue: Bool { delay.map { silentFrameCount >= $0 } ?? false }

  /// Counts frames, where there are rests at all.
  mutating func recordFrames(_ frameCount: Int, isSilent isQuiet: @autoclosure () -> Bool) {
    if delay == nil { return }
    silentFrameCount = isQuiet() ? silentFrameCount + frameCount : 0
  }
}

/// The frames that go by while a device rests, by the clock.
struct IdleClock {
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
    // A time that came from frames may be a little shorter than they are.
    frozenPosition ?? startPosition + Int64((time.now - startTime) / .seconds(1) * rate + 0.01)
  }

  /// Holds the position, while the renderer comes to it; it never goes back.
  mutating func freeze() -> Int64 {
    let position = position
    frozenPosition = position
    return position
  }

  mutating func unfreeze() { frozenPosition = nil }
}
