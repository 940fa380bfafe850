internal import Glibc
internal import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// A driver that plays an engine through a sink in real time, with a render thread and a control
/// thread that reports events.
public final class LivePlayback: Sendable {
  /// An event that the control thread reports.
  public enum Event: Equatable, Sendable {
    /// An event that the audio sink reported.
    case sinkEvent(SinkEvent)
    /// The sink has ended on its own, and so has playback.
    case ended
  }

  /// A closure that receives events one at a time, on the control thread.
  public typealias EventHandler = @Sendable (Event) -> Void

  /// The engine whose output is played.
  public let engine: PlaybackEngine
  /// The format that the sink granted.
  public let format: SinkFormat
  /// The duration after which a call to the sink counts as hanging.
  static let hangingCallThreshold = Duration.seconds(1)
  /// The interval between checks for a hanging call.
  private static let hangingCallCheckInterval = Duration.milliseconds(250)

  private let sharedState: SharedState
  private let time: any TimeSource
  private let controlThread: BackgroundThread

  /// The state that the owner and both threads share. It lives until the last of them releases it.
  private final class SharedState: @unchecked Sendable {
    let renderLoop: RenderLoop
    let playbackChangeSignal: WakeSignal
    let hasEnded = Atomic<Bool>(false)
    let isStopping = Atomic<Bool>(false)
    let wantsRealTime: Bool
    let makeReplacement: SinkReplacement?
    let deviceThreadNames: [String]
    let eventHandler: EventHandler
    let pendingEvents = Locked<[SinkEvent]>([])
    let renderThread = Locked<BackgroundThread?>(nil)

    init(
      loop: RenderLoop, wantsRealTime: Bool, makeReplacement: SinkReplacement?,
      deviceThreadNames: [String],
      eventHandler: @escaping EventHandler
    ) throws(PlaybackError) {
      guard loop.wakeSignal.descriptor >= 0 else { throw .fileLimitReached }
      playbackChangeSignal = try WakeSignal()
      self.renderLoop = loop
      self.wantsRealTime = wantsRealTime
      self.makeReplacement = makeReplacement
      self.deviceThreadNames = deviceThreadNames
      self.eventHandler = eventHandler
    }

    /// Adds an event to the queue of the control thread. Any thread may call the method.
    func reportSinkEvent(_ event: SinkEvent) {
      pendingEvents.withLock { $0.append(event) }
      playbackChangeSignal.raise()
    }
  }

  /// Starts playback; from now on, the sink belongs to the render thread.
  ///
  /// A call to the sink that does not return within a second is reported as `.unresponsive`. If the
  /// sink has a replacement, another render thread continues with it, and the device is reopened as
  /// soon as possible.
  ///
  /// - Parameters:
  ///   - engine: The engine to play.
  ///   - sink: The output.
  ///   - time: The clock.
  ///   - wantsRealTime: A Boolean value that indicates whether to request real-time priority, also
  ///     for the threads of the sink's libraries; a refusal is reported once.
  ///   - recording: The buffer that receives a copy of the output.
  ///   - eventHandler: The closure that receives events, one at a time, on the control thread.
  /// - Throws: `noResources` if the process has no free file descriptor or may not start more
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
    engine.temperatureRises = ThermalStateStore.shared.thermalStates(
      of: engine.routing, at: time.now)
    let makeReplacement = sink.makeReplacement
    let deviceThreadNames = sink.deviceThreadNames
    let renderLoop = RenderLoop(engine: engine, sink: sink, time: time)
    renderLoop.recordingBuffer = recording
    let initialState = try SharedState(
      loop: renderLoop, wantsRealTime: wantsRealTime, makeReplacement: makeReplacement,
      deviceThreadNames: deviceThreadNames,
      eventHandler: eventHandler)
    self.sharedState = initialState
    let changeSignal = initialState.playbackChangeSignal
    renderLoop.changeHandler = { changeSignal.raise() }
    controlThread = try BackgroundThread { Self.runControlThread(initialState) }
    do throws(PlaybackError) {
      let thread = try BackgroundThread { Self.runRenderThread(initialState) }
      initialState.renderThread.withLock { $0 = thread }
    } catch {
      initialState.hasEnded.store(true, ordering: .releasing)
      changeSignal.raise()
      throw error
    }
  }

  deinit { stopPlayback() }

  /// Fades out, plays the remaining frames, and returns when the threads have ended. Call it once,
  /// and not from a handler.
  ///
  /// - Parameter limit: The maximum time to wait for the sink, on the machine's clock; nil for two
  ///   seconds plus the duration of two buffers.
  /// - Returns: True if the output has ended. Otherwise, the sink hangs, and its thread is
  ///   abandoned. A device that plays to the end but then fails to close is also abandoned.
  @discardableResult public func stopPlayback(within limit: Duration? = nil) -> Bool {
    // Both steps happen under one lock, so that no other thread replaces the render thread in
    // between.
    let (isFirst, thread) = sharedState.renderThread.withLock { thread in
      let isFirst = !sharedState.isStopping.exchange(true, ordering: .acquiringAndReleasing)
      return (isFirst, thread)
    }
    let requestTime = time.now
    sharedState.renderLoop.stop()
    let defaultTimeout = Duration.seconds(2 * Double(format.bufferSize) / format.rate + 2)
    let threadHasEnded = thread?.wait(within: isFirst ? limit ?? defaultTimeout : .zero) ?? true
    let hasPlaybackEnded =
      threadHasEnded || sharedState.renderLoop.hasFinished.load(ordering: .acquiring)
    guard isFirst else { return hasPlaybackEnded }
    if !threadHasEnded {
      sharedState.reportSinkEvent(
        SinkEvent(
          hasPlaybackEnded ? .degraded : .failed,
          missedFrameCount: hasPlaybackEnded ? 0 : overdueFrameCount(at: requestTime),
          text: "the device does not respond; Temblor exits without closing it"))
      sharedState.hasEnded.store(true, ordering: .releasing)
      sharedState.playbackChangeSignal.raise()
    }
    // A handler could block the control thread, so the wait has a timeout.
    controlThread.wait(within: .seconds(1))
    ThermalStateStore.shared.store(engine.temperatureRises, of: engine.routing, at: time.now)
    return hasPlaybackEnded
  }

  /// Returns the number of frames that became due between the last time at which the device
  /// accepted frames and the given time. After the request to stop, no frames become due.
  private func overdueFrameCount(at moment: Duration) -> Int {
    let clockReading = sharedState.renderLoop.clock.reading
    guard clockReading.readingTime != .zero else { return 0 }
    let delayFrameCount = min(clockReading.delayFrameCount, format.bufferSize)
    return max(
      0, Int((moment - clockReading.readingTime) / .seconds(1) * engine.rate) - delayFrameCount)
  }

  /// The clock that tracks the frame that is currently heard.
  public var clock: PlaybackClock { sharedState.renderLoop.clock }

  /// A Boolean value that indicates whether the sink has ended.
  public var hasEnded: Bool { sharedState.hasEnded.load(ordering: .acquiring) }

  /// Returns the timings of the blocks since the last call, oldest first. If there are more than
  /// about 1,000, the rest are dropped.
  public func drainBlockTimings() -> [BlockTiming] {
    var blockTimings = [BlockTiming](repeating: .empty, count: 1_024)
    let timingCount = sharedState.renderLoop.blockTimings.drain(into: &blockTimings)
    return Array(blockTimings.prefix(timingCount))
  }

  private static func runRenderThread(_ shared: SharedState) {
    let replacementCount = shared.renderLoop.sinkReplacementCount
    if shared.wantsRealTime {
      // The refusal is the same for every thread and is reported once.
      RealTimePriority.request { refusal in
        if replacementCount == 0 {
          shared.reportSinkEvent(SinkEvent(.degraded, cause: .refusedPriority, text: refusal))
        }
      }
      RealTimePriority.request(forThreadsNamed: shared.deviceThreadNames)
    }
    while shared.renderLoop.runIteration() {
      forwardSinkEvents(shared)
    }
    // Another thread may have replaced this one in the meantime.
    guard shared.renderLoop.sinkReplacementCount == replacementCount else { return }
    forwardSinkEvents(shared)
    shared.hasEnded.store(true, ordering: .releasing)
    shared.playbackChangeSignal.raise()
  }

  /// Forwards the sink's events to the control thread. If that thread holds the lock, the next
  /// iteration forwards them.
  private static func forwardSinkEvents(_ shared: SharedState) {
    guard shared.renderLoop.hasSinkEvents else { return }
    let eventTransfer: Void? = shared.pendingEvents.withLockIfAvailable { pending in
      pending += shared.renderLoop.drainEvents()
    }
    if eventTransfer != nil {
      shared.playbackChangeSignal.raise()
    }
  }

  private static func runControlThread(_ shared: SharedState) {
    var watchedDescriptors = [PollDescriptor(shared.playbackChangeSignal.descriptor)]
    var hasPlaybackEnded = false
    var hangingCallNumber: Int?
    var stopDetector = StopDetector(checkInterval: hangingCallCheckInterval)
    while !hasPlaybackEnded {
      // While the device is idle, no call to it can hang, and the end of the idle time raises the
      // signal.
      let isIdle = shared.renderLoop.isIdle.load(ordering: .acquiring)
      SystemTimeSource().wait(
        for: &watchedDescriptors, timeout: isIdle ? nil : hangingCallCheckInterval)
      shared.playbackChangeSignal.lower()
      hasPlaybackEnded = shared.hasEnded.load(ordering: .acquiring)
      let wasStopped = stopDetector.detectsStop(at: SystemTimeSource().now)
      if !hasPlaybackEnded, !wasStopped {
        checkForHangingCall(shared, &hangingCallNumber)
      }
      shared.renderLoop.engine.update()
      let events = shared.pendingEvents.withLock { exchange(&$0, with: []) }
      // A reopened device has new threads.
      if shared.wantsRealTime, events.contains(where: { $0.kind == .reconnected }) {
        RealTimePriority.request(forThreadsNamed: shared.deviceThreadNames)
      }
      for event in events {
        shared.eventHandler(.sinkEvent(event))
      }
    }
    shared.renderLoop.engine.markDriverEnded()
    shared.eventHandler(.ended)
  }

  /// Replaces a sink whose call does not return.
  ///
  /// The call is reported once for each sink.
  ///
  /// - Parameters:
  ///   - shared: The shared state.
  ///   - hangingCallNumber: The number of the sink that was last reported as hanging.
  private static func checkForHangingCall(_ shared: SharedState, _ hangingCallNumber: inout Int?) {
    guard let callDuration = shared.renderLoop.sinkCallDuration, callDuration > hangingCallThreshold
    else {
      return
    }
    shared.renderLoop.engine.recordSinkCall(duration: callDuration)
    let replacementCount = shared.renderLoop.sinkReplacementCount
    if hangingCallNumber != replacementCount {
      hangingCallNumber = replacementCount
      shared.reportSinkEvent(
        SinkEvent(
          .unresponsive,
          text: shared.makeReplacement == nil || shared.isStopping.load(ordering: .acquiring)
            ? "the device does not respond" : "the device does not respond; it will be reopened"))
    }
    guard let makeReplacement = shared.makeReplacement else { return }
    shared.renderThread.withLock { thread in
      guard !shared.isStopping.load(ordering: .acquiring),
        shared.renderLoop.replaceSink({ makeReplacement($0, $1) })
      else {
        return
      }
      do throws(PlaybackError) {
        thread = try BackgroundThread { runRenderThread(shared) }
      } catch {
        shared.reportSinkEvent(SinkEvent(.failed, text: error.description))
        shared.hasEnded.store(true, ordering: .releasing)
      }
    }
  }
}

/// Detects that the process was stopped between two checks, for example with Ctrl-Z in a shell.
///
/// A call that began before a stop had no time to return, so it counts as hanging only if it still
/// lasts one check interval after the stop. Checks that are late for another reason, for example on
/// a busy machine, are also detected as a stop, which only delays the decision.
struct StopDetector {
  /// The maximum time between two checks of a process that was not stopped, in intervals.
  private static let maximumIntervalCount = 2

  private let checkInterval: Duration
  private var lastCheckTime: Duration?
  /// The time of the last check that followed a stop.
  private var stopDetectionTime: Duration?

  /// - Parameter interval: The interval between the checks of a process that runs.
  init(checkInterval interval: Duration) { checkInterval = interval }

  /// Records a check, and returns whether this check, or another less than an interval before it,
  /// follows a stop. The first check detects no stop.
  mutating func detectsStop(at checkTime: Duration) -> Bool {
    if let lastCheckTime,
      checkTime - lastCheckTime > checkInterval * Self.maximumIntervalCount
    {
      stopDetectionTime = checkTime
    }
    lastCheckTime = checkTime
    return stopDetectionTime.map { checkTime - $0 < checkInterval } ?? false
  }
}

/// A driver that runs an engine on a virtual clock, which advances on request, as fast as the
/// machine can. It is for tests and CI.
///
/// It uses the loop and the renderer of live playback. Handlers are called between periods, so all
/// runs are identical.
public final class VirtualPlayback {
  /// The virtual clock that drives the engine.
  public let time: VirtualTimeSource
  /// The sink that stores all rendered frames.
  public let sink: MemorySink
  private let renderLoop: RenderLoop
  private let engine: PlaybackEngine
  private var isRunning = true

  /// Creates a driver for an engine that has no other driver.
  public init(_ engine: PlaybackEngine, periodSize: Int = 64) {
    self.engine = engine
    time = VirtualTimeSource()
    sink = MemorySink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count, periodSize: periodSize,
        bufferSize: periodSize),
      time: time)
    renderLoop = RenderLoop(engine: engine, sink: sink, time: time)
  }

  /// The clock that tracks the frame that is currently heard.
  public var playbackClock: PlaybackClock { renderLoop.clock }

  /// Renders all periods in the following seconds.
  public func advance(seconds: Double) {
    let endFrame = engine.position + Int64((seconds * engine.rate).rounded())
    while isRunning, engine.position < endFrame {
      runIteration()
    }
  }

  /// Fades out and ends playback, as live playback does.
  public func stop() {
    renderLoop.stop()
    while isRunning {
      runIteration()
    }
  }

  /// Returns the rendered samples of a channel.
  public func samples(ofChannel channel: Int = 0) -> [Float] {
    let channelCount = sink.format.channelCount
    return stride(from: channel, to: sink.samples.count, by: channelCount).map { sink.samples[$0] }
  }

  private func runIteration() {
    isRunning = renderLoop.runIteration()
    if exchange(&renderLoop.hasUnreportedChange, with: false) {
      engine.update()
    }
    if !isRunning {
      engine.markDriverEnded()
    }
  }
}

/// A buffer for a copy of all output, which another thread can write to a file.
///
/// Missed time is stored as silence. Frames for which the buffer has no space are dropped and
/// counted.
public final class RecordingBuffer: Sendable {
  /// The duration of audio that the buffer can store, in seconds.
  public static let capacitySeconds = 8.0

  /// The number of interleaved channels of the buffer.
  public let channelCount: Int
  private let sampleQueue: RingQueue<Float>
  private let droppedSampleCounter = Atomic<Int>(0)

  /// Creates a buffer for the output of a sink.
  public init(_ format: SinkFormat) {
    channelCount = format.channelCount
    sampleQueue = RingQueue(
      capacity: Int(Self.capacitySeconds * format.rate) * format.channelCount, filler: 0)
  }

  /// The total number of samples that were dropped because the buffer was full.
  public var droppedSampleCount: Int { droppedSampleCounter.load(ordering: .relaxed) }

  /// Moves the oldest samples to the start of an array and returns their number. Only one thread
  /// may call the method.
  public func drain(into samples: inout [Float]) -> Int { sampleQueue.drain(into: &samples) }

  /// Appends frames. Only the render thread may call the method.
  func write(_ frames: Span<Float>) {
    if !sampleQueue.write(frames) {
      droppedSampleCounter.wrappingAdd(frames.count, ordering: .relaxed)
    }
  }
}
