internal import Glibc
internal import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// Plays an engine through a sink in real time: the render thread, and one that reports what
/// happened.
public final class LivePlayback: Sendable {
  /// What the threads can report.
  public enum Event: Equatable, Sendable {
    /// Something happened at the sink.
    case sinkEvent(SinkEvent)
    /// The sink has ended by itself; nothing is played any more.
    case ended
  }

  /// Called for every event, on the control thread, one at a time.
  public typealias EventHandler = @Sendable (Event) -> Void

  /// What is played.
  public let engine: PlaybackEngine
  /// What the sink was granted.
  public let format: SinkFormat
  /// How long a call of the sink may last before it counts as hanging.
  static let hangThreshold = Duration.seconds(1)
  /// Time between two looks at whether the sink's calls return.
  private static let callCheckInterval = Duration.milliseconds(250)

  private let shared: Shared
  private let time: any TimeSource
  private let controlThread: BackgroundThread

  /// What all threads and the owner use; it outlives whichever is last.
  private final class Shared: @unchecked Sendable {
    let loop: RenderLoop
    let changeSignal: WakeSignal
    let hasEnded = Atomic<Bool>(false)
    let isStopping = Atomic<Bool>(false)
    let wantsRealTime: Bool
    let makeReplacement: SinkReplacement?
    let deviceThreadNames: [String]
    let eventHandler: EventHandler
    let pendingEvents = Locked<[SinkEvent]>([])
    let renderThread = Locked<BackgroundThread?>(nil)

    init(
      loop: RenderLoop, wantsRealTime: Bool, makeReplacement successor: SinkReplacement?,
      deviceThreadNames carrierThreadNames: [String],
      eventHandler handler: @escaping EventHandler
    ) throws(PlaybackError) {
      guard loop.wake.descriptor >= 0 else { throw .noDescriptors }
      changeSignal = try WakeSignal()
      self.loop = loop
      self.wantsRealTime = wantsRealTime
      self.makeReplacement = successor
      self.deviceThreadNames = carrierThreadNames
      self.eventHandler = handler
    }

    /// Reports something in its turn: [any thread].
    func report(_ event: SinkEvent) {
      pendingEvents.withLock { $0.append(event) }
      changeSignal.raise()
    }
  }

  /// Starts playing: the sink belongs to the render thread from now on.
  ///
  /// A call of the sink that does not return within a second is reported as `.unresponsive`. Where
  /// the sink has a successor, another render thread goes on with that: time passes, and the device
  /// is opened again as soon as it can be.
  ///
  /// - Parameters:
  ///   - wantsRealTime: Whether to ask for real-time priority, also for the threads by which the
  ///     sink's libraries carry frames; a refusal is reported once.
  ///   - recording: Takes a copy of all that is handed over.
  ///   - eventHandler: Called on the control thread, one event at a time.
  /// - Throws: `noResources` where the process has no file descriptor left, or may start no more
  ///   threads.
  public init(
    _ engine: PlaybackEngine, sink: sending any AudioSink,
    time: any TimeSource = SystemTimeSource(),
    wantsRealTime: Bool = false, recording: RecordingBuffer? = nil,
    eventHandler: @escaping EventHandler = { _ in }
  ) throws(PlaybackError) {
    self.engine = engine
    format = sink.format
    self.time = time
    engine.temperatureRises = ThermalStateStore.shared.temperatureRise(
      of: engine.routing, at: time.now)
    let successor = sink.makeReplacement
    let carrierThreadNames = sink.deviceThreadNames
    let loop = RenderLoop(engine: engine, sink: sink, time: time)
    loop.recording = recording
    let shared = try Shared(
      loop: loop, wantsRealTime: wantsRealTime, makeReplacement: successor,
      deviceThreadNames: carrierThreadNames,
      eventHandler: eventHandler)
    self.shared = shared
    let changes = shared.changeSignal
    loop.changeHandler = { changes.raise() }
    controlThread = try BackgroundThread { Self.runControlThread(shared) }
    do throws(PlaybackError) {
      let thread = try BackgroundThread { Self.runRenderThread(shared) }
      shared.renderThread.withLock { $0 = thread }
    } catch {
      shared.hasEnded.store(true, ordering: .releasing)
      changes.raise()
      throw error
    }
  }

  deinit { stop() }

  /// Fades out, lets the rest be heard, and returns when the threads have ended. Once is enough;
  /// not from a handler.
  ///
  /// - Parameter limit: How long to wait at most for the sink, by the machine's clock; by default
  ///   as long as its buffer may take to be heard, and two seconds.
  /// - Returns: Whether the sink ended; else its thread is left behind.
  @discardableResult public func stop(within limit: Duration? = nil) -> Bool {
    // Together, so that no other thread takes over from the one that is waited for.
    let (isFirst, thread) = shared.renderThread.withLock { thread in
      let isFirst = !shared.isStopping.exchange(true, ordering: .acquiringAndReleasing)
      return (isFirst, thread)
    }
    shared.loop.stop()
    let usual = Duration.seconds(2 * Double(format.bufferSize) / format.rate + 2)
    let hasEnded = thread?.wait(within: isFirst ? limit ?? usual : .zero) ?? true
    guard isFirst else { return hasEnded }
    if !hasEnded {
      shared.report(
        SinkEvent(
          .failed, missedFrameCount: overdueFrameCount,
          text: "the device does not respond; it was left without being closed"))
      shared.hasEnded.store(true, ordering: .releasing)
      shared.changeSignal.raise()
    }
    // Only a handler could keep it, and nobody may wait for ever for one.
    controlThread.wait(within: .seconds(1))
    ThermalStateStore.shared.store(engine.temperatureRises, of: engine.routing, at: time.now)
    return hasEnded
  }

  /// Frames that became due since the device last took any.
  private var overdueFrameCount: Int {
    let reading = shared.loop.clock.reading
    guard reading.moment != .zero else { return 0 }
    return max(0, Int((time.now - reading.moment) / .seconds(1) * engine.rate) - reading.delay)
  }

  /// Which frame of the engine is heard.
  public var clock: PlaybackClock { shared.loop.clock }

  /// Whether the sink has ended.
  public var hasEnded: Bool { shared.hasEnded.load(ordering: .acquiring) }

  /// Takes the timings of blocks since the last call, oldest first; more than about 1,000 are
  /// dropped.
  public func drainBlockTimings() -> [BlockTiming] {
    var timings = [BlockTiming](repeating: .empty, count: 1_024)
    let count = shared.loop.timings.drain(into: &timings)
    return Array(timings.prefix(count))
  }

  private static func runRenderThread(_ shared: Shared) {
    let number = shared.loop.replacementCount
    if shared.wantsRealTime {
      // A refusal is the same for every thread, and reported once.
      RealTimePriority.request { refusal in
        if number == 0 {
          shared.report(SinkEvent(.degraded, cause: .refusedPriority, text: refusal))
        }
      }
      RealTimePriority.request(forThreadsNamed: shared.deviceThreadNames)
    }
    while shared.loop.runIteration() {
      forwardEvents(shared)
    }
    // Another thread may have taken over meanwhile.
    guard shared.loop.replacementCount == number else { return }
    forwardEvents(shared)
    shared.hasEnded.store(true, ordering: .releasing)
    shared.changeSignal.raise()
  }

  /// Hands events to the control thread; where it is just taking some, the next iteration does.
  private static func forwardEvents(_ shared: Shared) {
    guard shared.loop.hasEvents else { return }
    let passed: Void? = shared.pendingEvents.withLockIfAvailable { pending in
      pending += shared.loop.drainEvents()
    }
    if passed != nil {
      shared.changeSignal.raise()
    }
  }

  private static func runControlThread(_ shared: Shared) {
    var watched = [PollDescriptor(shared.changeSignal.descriptor)]
    var isOver = false
    var hanging: Int?
    while !isOver {
      // During a rest no call of the device can hang, and its end is a change.
      let isResting = shared.loop.isIdle.load(ordering: .acquiring)
      SystemTimeSource().wait(for: &watched, timeout: isResting ? nil : callCheckInterval)
      shared.changeSignal.lower()
      isOver = shared.hasEnded.load(ordering: .acquiring)
      if !isOver {
        checkForHangingCall(shared, &hanging)
      }
      shared.loop.engine.update()
      let notices = shared.pendingEvents.withLock { exchange(&$0, with: []) }
      // A device that was opened again has new threads.
      if shared.wantsRealTime, notices.contains(where: { $0.kind == .reconnected }) {
        RealTimePriority.request(forThreadsNamed: shared.deviceThreadNames)
      }
      for notice in notices {
        shared.eventHandler(.sinkEvent(notice))
      }
    }
    shared.loop.engine.markDriverEnded()
    shared.eventHandler(.ended)
  }

  /// Reports a call that does not return, once for each sink by its number, and lets a successor
  /// take over.
  private static func checkForHangingCall(_ shared: Shared, _ hanging: inout Int?) {
    guard let duration = shared.loop.callDuration, duration > hangThreshold else { return }
    shared.loop.engine.recordCall(duration: duration)
    let number = shared.loop.replacementCount
    if hanging != number {
      hanging = number
      shared.report(
        SinkEvent(
          .unresponsive,
          text: shared.makeReplacement == nil
            ? "the device does not respond" : "the device does not respond; it will be reopened"))
    }
    guard let successor = shared.makeReplacement else { return }
    shared.renderThread.withLock { thread in
      guard !shared.isStopping.load(ordering: .acquiring),
        shared.loop.replaceSink({ successor($0, $1) })
      else {
        return
      }
      do throws(PlaybackError) {
        thread = try BackgroundThread { runRenderThread(shared) }
      } catch {
        shared.report(SinkEvent(.failed, text: error.description))
        shared.hasEnded.store(true, ordering: .releasing)
      }
    }
  }
}

/// Runs an engine as fast as the machine can, on a clock that is advanced by hand: for tests and
/// CI.
///
/// The loop and renderer of live playback. Handlers are called between periods: a run is the same
/// every time.
public final class VirtualPlayback {
  /// The clock the engine goes by.
  public let time: VirtualTimeSource
  /// All that was rendered.
  public let sink: MemorySink
  private let loop: RenderLoop
  private let engine: PlaybackEngine
  private var isRunning = true

  /// A run over an engine that has no other driver.
  public init(_ engine: PlaybackEngine, periodSize: Int = 64) {
    self.engine = engine
    time = VirtualTimeSource()
    sink = MemorySink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count, periodSize: periodSize,
        bufferSize: periodSize),
      time: time)
    loop = RenderLoop(engine: engine, sink: sink, time: time)
  }

  /// Which frame of the engine is heard.
  public var playbackClock: PlaybackClock { loop.clock }

  /// Renders the periods up to a time from now.
  public func advance(seconds: Double) {
    let end = engine.position + Int64((seconds * engine.rate).rounded())
    while isRunning, engine.position < end {
      runIteration()
    }
  }

  /// Ends as live playback does: what sounds fades out.
  public func stop() {
    loop.stop()
    while isRunning {
      runIteration()
    }
  }

  /// The rendered samples of a channel.
  public func samples(ofChannel channel: Int = 0) -> [Float] {
    let count = sink.format.channelCount
    return stride(from: channel, to: sink.samples.count, by: count).map { sink.samples[$0] }
  }

  private func runIteration() {
    isRunning = loop.runIteration()
    if exchange(&loop.hasChanged, with: false) {
      engine.update()
    }
    if !isRunning {
      engine.markDriverEnded()
    }
  }
}

/// A copy of all that is handed to a sink, for another thread to write away.
///
/// Missed time is in it as silence. What the other thread is too slow for is dropped and counted.
public final class RecordingBuffer: Sendable {
  /// Seconds that fit while the other thread is busy.
  public static let capacitySeconds = 8.0

  /// Interleaved channels.
  public let channelCount: Int
  private let ring: RingQueue<Float>
  private let droppedCount = Atomic<Int>(0)

  /// A recording of what a sink of this format is given.
  public init(_ format: SinkFormat) {
    channelCount = format.channelCount
    ring = RingQueue(
      capacity: Int(Self.capacitySeconds * format.rate) * format.channelCount, filler: 0)
  }

  /// Samples that found no space, in all.
  public var droppedSampleCount: Int { droppedCount.load(ordering: .relaxed) }

  /// Takes samples, oldest first, into the beginning of an array; returns how many: [one thread].
  public func drain(into samples: inout [Float]) -> Int { ring.drain(into: &samples) }

  /// Puts frames in: [render thread].
  func write(_ frames: Span<Float>) {
    if !ring.write(frames) {
      droppedCount.wrappingAdd(frames.count, ordering: .relaxed)
    }
  }
}
