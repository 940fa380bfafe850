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
  public static let longestBlock = 4_096
  /// How long a sink may take to want the closing fade; with the time to its end less than a
  /// second.
  private static let closingLimit = Duration.milliseconds(500)
  /// The most silence that a recording is given for one gap, in seconds.
  private static let longestSilence = 10.0

  /// Called on the render thread when players changed or the sink reported events.
  public var changeHandler: (@Sendable () -> Void)?
  /// Whether that was so, for drivers on the render thread, which set it back.
  package var hasChanged = false
  /// Takes a copy of what is handed over.
  public var recording: RecordingBuffer?
  /// The clock of frames that are heard.
  public let clock: PlaybackClock
  /// Raised to end a wait.
  public let wake = WakeSignal.ifPossible()
  /// Whether the device rests: [any thread].
  let isResting = Atomic<Bool>(false)

  let engine: PlaybackEngine
  private(set) var sink: any AudioSink
  let time: any TimeSource
  /// Who may touch the loop: twice the number of sinks that were replaced, and one more during a
  /// call of the sink, when another thread may take over.
  private let custody = Atomic<Int>(0)
  /// When the last call of the sink began, in nanoseconds of the machine's clock.
  private let callStart = Atomic<Int64>(0)
  /// Blocks that a call which did not return may still read.
  private var abandonedBlocks: [[Float]] = []
  var renderer: Renderer
  private var block: [Float]
  private var isOpen = false
  private var closingFrameCount: Int?
  private var closingEnd = Duration.zero
  private var changeCount = 0
  let stopRequest = Atomic<Bool>(false)
  let timings: RingQueue<BlockTiming>
  private var notices: [SinkEvent] = []
  var resting: RestingState

  /// A loop over an engine and a sink of its rate and channels.
  public init(engine: PlaybackEngine, sink: any AudioSink, time: any TimeSource) {
    precondition(
      sink.format.rate == engine.rate && sink.format.channelCount == engine.routing.channels.count,
      "a sink with the engine's rate and channels")
    self.engine = engine
    self.sink = sink
    self.time = time
    renderer = engine.makeRenderer(isOpen: false)
    block = [Float](repeating: 0, count: Self.longestBlock * engine.routing.channels.count)
    clock = PlaybackClock(rate: engine.rate, time: time)
    timings = RingQueue(capacity: 1_024, filler: .empty)
    resting = RestingState(delay: engine.restDelay, rate: engine.rate, descriptor: wake.descriptor)
    if engine.restDelay != nil {
      engine.setWakeHandler { [wake] in wake.raise() }
    }
  }

  deinit { engine.noteDriverEnded() }

  /// What has been rendered.
  public var statistics: RenderStatistics { renderer.statistics }

  /// Asks for an end: what sounds fades out, is heard, and the loop is over: [any thread].
  public func stop() {
    stopRequest.store(true, ordering: .releasing)
    wake.raise()
  }

  var hasNotices: Bool { !notices.isEmpty }

  /// Takes what happened at the sink: [render thread].
  public func takeEvents() -> [SinkEvent] { exchange(&notices, with: []) }

  /// Does one iteration; returns whether another may follow: [render thread].
  ///
  /// False also where the sink was replaced during a call of it; the thread has nothing more to do
  /// here then.
  public func turn() -> Bool {
    engine.turns.wrappingAdd(1, ordering: .relaxed)
    if isResting.load(ordering: .relaxed) { return restOn() }
    if closingFrameCount == nil, stopRequest.load(ordering: .acquiring) {
      beginClosing()
    }
    let sink = sink
    guard let readiness = call(sink, { $0.wait(wake) }) else { return false }
    engine.note(call: sink.longestCall)
    var isOurs = true
    switch readiness {
    case .room(let frameCount):
      isOurs = render(frameCount)
    case .woken:
      wake.lower()
    case .missed(let frameCount):
      miss(frameCount)
    case .behind(let frameCount):
      isOurs = fadeOut()
      if isOurs {
        miss(frameCount)
      }
    case .ended:
      noteChanges(always: true)
      return false
    }
    guard isOurs else { return false }
    if let left = closingFrameCount, left <= 0 || time.now > closingEnd {
      if call(sink, { $0.finish(draining: left <= 0) }) != nil {
        noteChanges(always: true)
      }
      return false
    }
    switch readiness {
    case .missed, .behind:
      noteChanges(always: true)
      guard let delay = call(sink, { $0.delay }) else { return false }
      clock.note(position: engine.link.position, delay: delay, moment: time.now)
    case .room, .woken, .ended:
      noteChanges(always: false)
    }
    return restIfQuiet()
  }

  /// Closes the gate: the fade, and what the limiter still holds, are all that follows.
  private func beginClosing() {
    renderer.moveGate(to: 0)
    closingFrameCount = renderer.fadeLength + 1
    closingEnd = time.now + Self.closingLimit
  }

  /// Renders frames and hands them over; returns whether the loop still belongs to this thread.
  private func render(_ frameCount: Int) -> Bool {
    guard frameCount > 0 else { return true }
    if !isOpen && closingFrameCount == nil {
      renderer.moveGate(to: 1)
      isOpen = true
    }
    let sink = sink
    var left = frameCount
    while left > 0, closingFrameCount ?? 1 > 0 {
      let count = min(left, Self.longestBlock)
      let began = time.now
      let position = engine.link.position
      fill(count)
      let rendered = time.now
      let writing = beginCall()
      sink.write(block.span.extracting(first: count * renderer.channelCount))
      let delay = sink.delay
      guard endCall(writing) else { return false }
      recording?.write(block.span.extracting(first: count * renderer.channelCount))
      let timing = BlockTiming(
        position: position, frameCount: count, began: began, rendered: rendered, handed: time.now,
        delay: delay)
      timings.write(timing)
      engine.note(call: timing.handed - rendered)
      clock.note(position: position + Int64(count), delay: timing.delay, moment: timing.handed)
      if let closing = closingFrameCount {
        closingFrameCount = closing - count
      }
      resting.note(count, isQuiet: renderer.quietEnd > engine.link.position)
      left -= count
    }
    return true
  }

  private func fill(_ frameCount: Int) {
    var whole = block.mutableSpan
    var span = whole._mutatingExtracting(first: frameCount * renderer.channelCount)
    renderer.render(into: &span)
  }

  private func fadeOut() -> Bool {
    guard isOpen else { return true }
    renderer.moveGate(to: 0)
    return render(renderer.fadeLength + 1)
  }

  /// Lets missed time go by: what follows comes at its time, and begins from silence.
  private func miss(_ frameCount: Int) {
    renderer.skip(frameCount: frameCount)
    renderer.closeGate()
    isOpen = false
    // Time that went by is passed over once, also where a call hangs now.
    clock.note(position: engine.link.position, delay: 0, moment: time.now)
    // Nothing is heard, so there is nothing to fade.
    if closingFrameCount != nil {
      closingFrameCount = 0
    }
    guard let recording else { return }
    var silent = min(frameCount, Int(Self.longestSilence * engine.rate))
    let channelCount = engine.routing.channels.count
    for index in block.indices {
      block[index] = 0
    }
    while silent > 0 {
      let count = min(silent, Self.longestBlock)
      recording.write(block.span.extracting(first: count * channelCount))
      silent -= count
    }
  }

  func noteChanges(always: Bool) {
    let count = engine.link.changeCount
    guard always || count != changeCount else { return }
    changeCount = count
    notices += sink.takeEvents()
    hasChanged = true
    changeHandler?()
  }

  /// The longest time between two looks during a rest.
  private static let restInterval = Duration.milliseconds(500)

  /// Lets the device rest where nothing has sounded for long enough and nothing is about to;
  /// returns whether the loop still belongs to this thread.
  func restIfQuiet() -> Bool {
    // A recording has all frames of time.
    guard resting.isDue, recording == nil, !stopRequest.load(ordering: .relaxed) else {
      return true
    }
    resting.note(0, isQuiet: false)
    let position = engine.link.position
    guard renderer.beginIdle() - position > resting.lead else {
      renderer.endIdle()
      return true
    }
    guard let rests = call(sink, { $0.rest() }) else { return false }
    guard rests else {
      renderer.endIdle()
      return true
    }
    engine.rest.withLock { $0 = RestingClock(at: position, rate: engine.rate, time: time) }
    isResting.store(true, ordering: .releasing)
    return true
  }

  func restOn() -> Bool {
    let planned = renderer.quietEnd
    let position = engine.link.position
    let left = min(planned - position - resting.lead, Int64(engine.rate))
    time.wait(
      for: &resting.watched,
      timeout: min(Self.restInterval, .seconds(Double(max(1, left)) / engine.rate)))
    if resting.watched[0].received != 0 {
      wake.lower()
    }
    let now = time.now
    let reached = engine.rest.withLock { $0?.hold() } ?? position
    let quietEnd = renderer.skipIdle(frameCount: Int(reached - position))
    clock.note(position: reached, delay: 0, moment: now)
    let isStopping = stopRequest.load(ordering: .acquiring)
    if !isStopping, quietEnd - reached > resting.lead {
      engine.rest.withLock { $0?.release() }
      noteChanges(always: false)
      return true
    }
    renderer.endIdle()
    engine.rest.withLock { $0 = nil }
    isResting.store(false, ordering: .releasing)
    guard isStopping else {
      noteChanges(always: true)
      return true
    }
    // Nothing sounds, so there is nothing to fade.
    if call(sink, { $0.finish(draining: false) }) != nil {
      noteChanges(always: true)
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
    let held = custody.load(ordering: .relaxed)
    callStart.store(SystemTimeSource().nanoseconds, ordering: .relaxed)
    custody.store(held + 1, ordering: .releasing)
    return held
  }

  private func endCall(_ held: Int) -> Bool {
    custody.compareExchange(expected: held + 1, desired: held, ordering: .acquiringAndReleasing)
      .exchanged
  }

  /// How often the sink was replaced: [any thread].
  var replacementCount: Int { custody.load(ordering: .acquiring) / 2 }

  /// How long a call of the sink has lasted by the machine's clock, or nil between calls: [any
  /// thread].
  var callDuration: Duration? {
    guard custody.load(ordering: .acquiring) % 2 == 1 else { return nil }
    return .nanoseconds(SystemTimeSource().nanoseconds - callStart.load(ordering: .relaxed))
  }

  /// Puts another sink in the place of one in which a call does not return: [one control thread].
  ///
  /// The thread of that call finds out when it returns, and touches nothing.
  /// - Parameter makeSink: Makes the sink from when and from which frame on frames are due.
  /// - Returns: False where the call has returned.
  func replaceSink(_ makeSink: (_ due: Duration, _ lostFrameCount: Int) -> any AudioSink) -> Bool {
    let held = custody.load(ordering: .acquiring)
    guard held % 2 == 1 else { return false }
    // First of all: from here on nobody else touches anything.
    let (isOurs, _) = custody.compareExchange(
      expected: held, desired: held + 1, ordering: .acquiringAndReleasing)
    guard isOurs else { return false }
    let reading = clock.reading
    let lost = Int(engine.link.position - reading.position)
    let ahead = Double(reading.delay + lost) / engine.rate
    let begin = reading.moment == .zero ? time.now : reading.moment
    abandonedBlocks.append(block)
    block = [Float](repeating: 0, count: block.count)
    sink = makeSink(begin + .seconds(ahead), lost)
    renderer.closeGate()
    isOpen = false
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
  public var began: Duration
  /// When rendering was done.
  public var rendered: Duration
  /// When the sink had taken the block.
  public var handed: Duration
  /// Frames handed over and not yet heard, the block included.
  public var delay: Int

  static let empty = BlockTiming(
    position: 0, frameCount: 0, began: .zero, rendered: .zero, handed: .zero, delay: 0)
}

/// When a device may rest, and since when it could.
struct RestingState {
  /// Frames of quiet before a rest; nil where there is none.
  let delay: Int?
  /// Frames before what is planned at which a rest is over: a sound server takes its time to start.
  let lead: Int64
  private(set) var quietCount = 0
  /// The wake signal, to wait for.
  var watched: [PollDescriptor]

  init(delay: Duration?, rate: Double, descriptor: Int32) {
    self.delay = delay.map { Int($0 / .seconds(1) * rate) }
    lead = Int64(rate)
    watched = [PollDescriptor(descriptor)]
  }

  var isDue: Bool { delay.map { quietCount >= $0 } ?? false }

  /// Counts frames, where there are rests at all.
  mutating func note(_ frameCount: Int, isQuiet: @autoclosure () -> Bool) {
    if delay == nil { return }
    quietCount = isQuiet() ? quietCount + frameCount : 0
  }
}

/// The frames that go by while a device rests, by the clock.
struct RestingClock {
  private let start: Int64
  private let moment: Duration
  private let rate: Double
  private let time: any TimeSource
  private var held: Int64?

  init(at position: Int64, rate: Double, time: any TimeSource) {
    start = position
    moment = time.now
    self.rate = rate
    self.time = time
  }

  var position: Int64 {
    // A time that came from frames may be a little shorter than they are.
    held ?? start + Int64((time.now - moment) / .seconds(1) * rate + 0.01)
  }

  /// Holds the position, while the renderer comes to it; it never goes back.
  mutating func hold() -> Int64 {
    let position = position
    held = position
    return position
  }

  mutating func release() { held = nil }
}
