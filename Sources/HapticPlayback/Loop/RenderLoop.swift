public import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// Waits for a sink, renders what it wants, hands it over: the loop of the render thread, an iteration at a time.
///
/// The same in real and in virtual time. Not safe for two threads; only `stop` may come from another.
public final class RenderLoop {
  /// The most frames rendered at a time.
  public static let longestBlock = 4_096
  /// How long a sink may take to want the closing fade.
  private static let closingLimit = Duration.seconds(1)
  /// The most silence that a recording is given for one gap, in seconds.
  private static let longestSilence = 10.0

  /// Called on the render thread when players changed or the sink reported events.
  public var changeHandler: (@Sendable () -> Void)?
  /// Takes a copy of what is handed over.
  public var recording: RecordingBuffer?
  /// The clock of frames that are heard.
  public let clock: PlaybackClock
  /// Raised to end a wait.
  public let wake = WakeSignal()

  private let engine: PlaybackEngine
  private let sink: any AudioSink
  private let time: any TimeSource
  private var renderer: Renderer
  private var block: [Float]
  private var isOpen = false
  private var closingFrameCount: Int?
  private var closingEnd = Duration.zero
  private var changeCount = 0
  private let stopRequest = Atomic<Bool>(false)
  let timings: RingQueue<BlockTiming>
  private var notices: [SinkEvent] = []

  /// A loop over an engine and a sink of its rate and channels.
  public init(engine: PlaybackEngine, sink: any AudioSink, time: any TimeSource) {
    precondition(
      sink.format.rate == engine.rate
        && sink.format.channelCount == engine.routing.channels.count,
      "a sink with the engine's rate and channels")
    self.engine = engine
    self.sink = sink
    self.time = time
    renderer = engine.makeRenderer(isOpen: false)
    block = [Float](repeating: 0, count: Self.longestBlock * engine.routing.channels.count)
    clock = PlaybackClock(rate: engine.rate, time: time)
    timings = RingQueue(capacity: 1_024, filler: .empty)
  }

  deinit { engine.noteDriverEnded() }

  /// What has been rendered.
  public var statistics: RenderStatistics { renderer.statistics }

  /// Asks for an end: what sounds fades out, is heard, and the loop is over: [any thread].
  public func stop() {
    stopRequest.store(true, ordering: .releasing)
    wake.raise()
  }

  /// Whether something happened at the sink that was not taken.
  var hasNotices: Bool { !notices.isEmpty }

  /// Takes what happened at the sink: [render thread].
  public func takeEvents() -> [SinkEvent] {
    let taken = notices
    notices.removeAll()
    return taken
  }

  /// Does one iteration; returns whether another may follow.
  public func turn() -> Bool {
    if closingFrameCount == nil, stopRequest.load(ordering: .acquiring) { beginClosing() }
    let readiness = sink.wait(wake)
    switch readiness {
    case .room(let frameCount): render(frameCount)
    case .woken: wake.lower()
    case .missed(let frameCount): miss(frameCount)
    case .behind(let frameCount):
      fadeOut()
      miss(frameCount)
    case .ended:
      noteChanges(always: true)
      return false
    }
    if let left = closingFrameCount, left <= 0 || time.now > closingEnd {
      sink.finish(draining: left <= 0)
      noteChanges(always: true)
      return false
    }
    switch readiness {
    case .missed, .behind: noteChanges(always: true)
    case .room, .woken, .ended: noteChanges(always: false)
    }
    return true
  }

  /// Closes the gate: the fade, and what the limiter still holds, are all that follows.
  private func beginClosing() {
    renderer.moveGate(to: 0)
    closingFrameCount = renderer.fadeLength + 1
    closingEnd = time.now + Self.closingLimit
  }

  private func render(_ frameCount: Int) {
    if !isOpen && closingFrameCount == nil {
      renderer.moveGate(to: 1)
      isOpen = true
    }
    var left = frameCount
    while left > 0, closingFrameCount ?? 1 > 0 {
      let count = min(left, Self.longestBlock)
      let began = time.now
      let position = engine.position
      fill(count)
      let rendered = time.now
      let frames = block.span.extracting(first: count * renderer.channelCount)
      sink.write(frames)
      recording?.write(frames)
      let timing = BlockTiming(
        position: position, frameCount: count, began: began, rendered: rendered, handed: time.now,
        delay: sink.delay)
      timings.write(timing)
      clock.note(position: position + Int64(count), delay: timing.delay, moment: timing.handed)
      if let closing = closingFrameCount { closingFrameCount = closing - count }
      left -= count
    }
  }

  private func fill(_ frameCount: Int) {
    var whole = block.mutableSpan
    var span = whole._mutatingExtracting(first: frameCount * renderer.channelCount)
    renderer.render(into: &span)
  }

  /// Lets what the device plays end in silence.
  private func fadeOut() {
    guard isOpen else { return }
    renderer.moveGate(to: 0)
    render(renderer.fadeLength + 1)
  }

  /// Lets missed time go by: what follows comes at its time, and begins from silence.
  private func miss(_ frameCount: Int) {
    renderer.skip(frameCount: frameCount)
    renderer.closeGate()
    isOpen = false
    // Nothing is heard, so there is nothing to fade.
    if closingFrameCount != nil { closingFrameCount = 0 }
    guard let recording else { return }
    var silent = min(frameCount, Int(Self.longestSilence * engine.rate))
    let channelCount = engine.routing.channels.count
    for index in block.indices { block[index] = 0 }
    while silent > 0 {
      let count = min(silent, Self.longestBlock)
      recording.write(block.span.extracting(first: count * channelCount))
      silent -= count
    }
  }

  private func noteChanges(always: Bool) {
    let count = engine.link.changeCount
    guard always || count != changeCount else { return }
    changeCount = count
    notices += sink.takeEvents()
    changeHandler?()
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

  /// A place for a record.
  static let empty = BlockTiming(
    position: 0, frameCount: 0, began: .zero, rendered: .zero, handed: .zero, delay: 0)
}
