internal import Glibc
internal import RealtimeMemory
internal import Synchronization

/// Plays an engine through a sink in real time: the render thread, and one that reports what happened.
public final class LivePlayback: Sendable {
  /// What the threads can report.
  public enum Event: Equatable, Sendable {
    /// Something happened at the sink.
    case notice(SinkEvent)
    /// The sink has ended by itself; nothing is played any more.
    case ended
  }

  /// Called for every event, on the control thread, one at a time.
  public typealias EventHandler = @Sendable (Event) -> Void

  /// What is played.
  public let engine: PlaybackEngine
  /// What the sink was granted.
  public let format: SinkFormat
  private let shared: Shared
  private let time: any TimeSource

  /// What both threads and the owner use; it outlives whichever is last.
  private final class Shared: @unchecked Sendable {
    let loop: RenderLoop
    let engine: PlaybackEngine
    let changes = WakeSignal()
    let isOver = Atomic<Bool>(false)
    let wantsRealTime: Bool
    let handler: EventHandler
    let pending = Locked<[SinkEvent]>([])
    let threads = Locked<[pthread_t]>([])

    init(
      loop: RenderLoop, engine: PlaybackEngine, wantsRealTime: Bool,
      handler: @escaping EventHandler
    ) {
      self.loop = loop
      self.engine = engine
      self.wantsRealTime = wantsRealTime
      self.handler = handler
    }
  }

  /// Starts playing: the sink belongs to the render thread from now on.
  ///
  /// - Parameters:
  ///   - wantsRealTime: Whether to ask for real-time priority and locked memory; a refusal is reported once.
  ///   - recording: Takes a copy of all that is handed over.
  public init(
    _ engine: PlaybackEngine, sink: sending any AudioSink,
    time: any TimeSource = SystemTimeSource(),
    wantsRealTime: Bool = false, recording: RecordingBuffer? = nil,
    eventHandler: @escaping EventHandler = { _ in }
  ) {
    self.engine = engine
    format = sink.format
    self.time = time
    engine.temperatureRise = ThermalStateStore.shared.temperatureRise(
      of: engine.routing, at: time.now)
    let loop = RenderLoop(engine: engine, sink: sink, time: time)
    loop.recording = recording
    shared = Shared(
      loop: loop, engine: engine, wantsRealTime: wantsRealTime, handler: eventHandler)
    let changes = shared.changes
    loop.changeHandler = { changes.raise() }
    unsafe start(Self.render)
    unsafe start(Self.tell)
  }

  deinit { stop() }

  /// Fades out, lets the rest be heard, and returns when both threads have ended. Once is enough.
  ///
  /// Not to be called from a handler.
  public func stop() {
    shared.loop.stop()
    let threads = shared.threads.withLock { threads in
      let all = threads
      threads.removeAll()
      return all
    }
    for thread in threads { pthread_join(thread, nil) }
    guard !threads.isEmpty else { return }
    ThermalStateStore.shared.keep(engine.temperatureRise, of: engine.routing, at: time.now)
  }

  /// Which frame of the engine is heard.
  public var clock: PlaybackClock { shared.loop.clock }

  /// Whether the sink has ended.
  public var isOver: Bool { shared.isOver.load(ordering: .acquiring) }

  /// Takes the timings of blocks since the last call, oldest first; more than about 1,000 are dropped.
  public func takeBlockTimings() -> [BlockTiming] {
    var timings = [BlockTiming](repeating: .empty, count: 1_024)
    let count = shared.loop.timings.take(into: &timings)
    return Array(timings.prefix(count))
  }

  // MARK: Threads

  private typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

  private func start(_ body: Body) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(shared).toOpaque()
    let result = unsafe pthread_create(&thread, nil, body, context)
    precondition(result == 0, "this process can start no more threads")
    shared.threads.withLock { $0.append(thread) }
  }

  private static let render: Body = { context in
    guard let context = unsafe context else { return nil }
    let shared = unsafe Unmanaged<Shared>.fromOpaque(context).takeRetainedValue()
    // Signals are for the threads that wait for them.
    blockSignals()
    if shared.wantsRealTime, let refusal = RealTimePriority.ask() {
      shared.pending.withLock { $0.append(SinkEvent(.degraded, text: refusal)) }
      shared.changes.raise()
    }
    while shared.loop.turn() { pass(shared) }
    pass(shared)
    shared.isOver.store(true, ordering: .releasing)
    shared.changes.raise()
    return nil
  }

  /// Hands events to the control thread; where it is just taking some, the next iteration does.
  private static func pass(_ shared: Shared) {
    guard shared.loop.hasNotices else { return }
    let passed: Void? = shared.pending.withLockIfAvailable { pending in
      pending += shared.loop.takeEvents()
    }
    if passed != nil { shared.changes.raise() }
  }

  private static let tell: Body = { context in
    guard let context = unsafe context else { return nil }
    let shared = unsafe Unmanaged<Shared>.fromOpaque(context).takeRetainedValue()
    blockSignals()
    var watched = [PollDescriptor(shared.changes.descriptor)]
    var isOver = false
    while !isOver {
      SystemTimeSource().wait(for: &watched, timeout: nil)
      shared.changes.lower()
      isOver = shared.isOver.load(ordering: .acquiring)
      shared.engine.update()
      let notices = shared.pending.withLock { pending in
        let all = pending
        pending.removeAll()
        return all
      }
      for notice in notices { shared.handler(.notice(notice)) }
    }
    shared.engine.noteDriverEnded()
    shared.handler(.ended)
    return nil
  }

  private static func blockSignals() {
    var all = sigset_t()
    _ = unsafe sigfillset(&all)
    _ = unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
  }
}

/// Requests real-time priority for the calling thread, and locked memory.
enum RealTimePriority {
  /// The requested priority: above ordinary threads, below the kernel's interrupt threads at 50.
  private static let priority: Int32 = 20

  /// Requests it; returns why it was refused, as a line for the user, or nil.
  static func ask() -> String? {
    var parameters = sched_param()
    parameters.sched_priority = priority
    let result = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
    // Only what is there now: memory to come is not the render thread's, and may be much.
    let isLocked = mlockall(MCL_CURRENT) == 0
    if result == 0 && isLocked { return nil }
    let refused =
      result != 0
      ? (isLocked ? "real-time priority was" : "real-time priority and locked memory were")
      : "locked memory was"
    return "\(refused) refused; playback continues without it. "
      + "To allow it, add your user to the group 'audio' with rtprio and memlock limits"
  }
}
