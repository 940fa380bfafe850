internal import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// Runs an engine as fast as the machine can, on a clock that is advanced by hand: for tests and CI.
///
/// The very loop and renderer of live playback, a period at a time. Handlers are called between periods, so
/// a run is the same every time.
public final class VirtualPlayback {
  /// The clock the engine goes by.
  public let time: VirtualTimeSource
  /// All that was rendered.
  public let sink: MemorySink
  private let loop: RenderLoop
  private let engine: PlaybackEngine
  private var isRunning = true
  private let changes = Changes()

  private final class Changes: Sendable { let areNew = Atomic<Bool>(false) }

  /// A run over an engine that has no other driver.
  public init(_ engine: PlaybackEngine, periodSize: Int = 64) {
    self.engine = engine
    time = VirtualTimeSource()
    sink = MemorySink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count, periodSize: periodSize, bufferSize: periodSize),
      time: time)
    loop = RenderLoop(engine: engine, sink: sink, time: time)
    let changes = changes
    loop.changeHandler = { changes.areNew.store(true, ordering: .relaxed) }
  }

  /// Which frame of the engine is heard.
  public var playbackClock: PlaybackClock { loop.clock }

  /// Renders the periods up to a time from now.
  public func advance(seconds: Double) {
    let end = engine.position + Int64((seconds * engine.rate).rounded())
    while isRunning, engine.position < end { turn() }
  }

  /// Ends as live playback does: what sounds fades out.
  public func stop() {
    loop.stop()
    while isRunning { turn() }
  }

  /// The rendered samples of a channel.
  public func samples(ofChannel channel: Int = 0) -> [Float] {
    let count = sink.format.channelCount
    return stride(from: channel, to: sink.samples.count, by: count).map { sink.samples[$0] }
  }

  private func turn() {
    isRunning = loop.turn()
    if changes.areNew.exchange(false, ordering: .relaxed) { engine.update() }
    if !isRunning { engine.noteDriverEnded() }
  }
}

/// A copy of all that is handed to a sink, for another thread to write away.
///
/// Missed time is in it as silence. What the other thread is too slow for is dropped and counted.
public final class RecordingBuffer: Sendable {
  /// Seconds that fit while the other thread is busy.
  public static let capacity = 8.0

  /// Interleaved channels.
  public let channelCount: Int
  private let ring: RingQueue<Float>
  private let dropped = Atomic<Int>(0)

  /// A recording of what a sink of this format is given.
  public init(_ format: SinkFormat) {
    channelCount = format.channelCount
    ring = RingQueue(capacity: Int(Self.capacity * format.rate) * format.channelCount, filler: 0)
  }

  /// Samples that found no space, in all.
  public var droppedSampleCount: Int { dropped.load(ordering: .relaxed) }

  /// Takes samples, oldest first, into the beginning of an array; returns how many: [one thread].
  public func take(into samples: inout [Float]) -> Int { ring.take(into: &samples) }

  /// Puts frames in: [render thread].
  func write(_ frames: Span<Float>) { if !ring.write(frames) { dropped.wrappingAdd(frames.count, ordering: .relaxed) } }
}
