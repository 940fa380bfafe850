internal import HapticPlayback
internal import HapticRender
internal import Synchronization

/// An event of a session that determines its samples.
enum SessionEvent: Sendable {
  /// Commands that the engine received.
  case commands(RecordedCommands)
  /// The session has, or no longer has, a player that plays, is paused, or waits for its start.
  case activity(Bool)
  /// The end, with a fade-out.
  case stop
}

/// The events of a session that were not rendered yet, each with its frame.
final class SessionRecorder: Sendable {
  private let events = Locked<[(position: Int64, event: SessionEvent)]>([])

  func append(_ event: SessionEvent, at position: Int64) {
    events.withLock { $0.append((position, event)) }
  }

  func drainEvents() -> [(position: Int64, event: SessionEvent)] {
    events.withLock { exchange(&$0, with: []) }
  }
}

/// Renders the samples of a session from its events: sound by periods, silence in one step.
final class SampleRenderer {
  private let makeEngine: () -> PlaybackEngine
  private lazy var output = SampleOutput(engine: makeEngine())

  /// Creates a renderer.
  ///
  /// - Parameter makeEngine: A closure that creates an engine with the parameters of the session's
  ///   engine. It is called for the first samples.
  init(makeEngine: @escaping () -> PlaybackEngine) { self.makeEngine = makeEngine }

  /// Renders up to a frame.
  ///
  /// - Parameters:
  ///   - events: The events since the last call, in order.
  ///   - end: The frame.
  func render(_ events: [(position: Int64, event: SessionEvent)], until end: Int64) {
    for (position, event) in events {
      output.render(until: position)
      output.perform(event)
    }
    output.render(until: end)
  }

  /// Returns all rendered samples of a channel.
  func samples(ofChannel channel: Int) -> [Float] { output.sink.samples(ofChannel: channel) }
}

/// A render loop that renders into memory.
private final class SampleOutput {
  let sink: VirtualSink
  private let engine: PlaybackEngine
  private let timeSource = VirtualTimeSource()
  private let commandReplay = CommandReplay()
  private let loop: RenderLoop
  /// The number of frames that are rendered after skipped silence so that noise gates are open
  /// again: 20 ms.
  private let leadInFrameCount: Int
  private var isActive = false
  private var isRunning = true

  init(engine: PlaybackEngine) {
    self.engine = engine
    leadInFrameCount = Int(engine.rate / 50)
    sink = VirtualSink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count,
        periodSize: VirtualSession.periodSize, bufferSize: VirtualSession.periodSize))
    loop = RenderLoop(engine: engine, sink: sink, time: timeSource)
  }

  func perform(_ event: SessionEvent) {
    switch event {
    case .commands(let commands):
      loop.receiveCommands()
      engine.replay(commands, with: commandReplay)
    case .activity(let isActive):
      self.isActive = isActive
    case .stop:
      loop.stop()
      while isRunning {
        runIteration(.ready(frameCount: VirtualSession.periodSize))
      }
    }
  }

  func render(until end: Int64) {
    while isRunning {
      let remaining = Int(end - engine.position)
      guard remaining > 0 else { return }
      let silenceLength = min(sink.frameCount, Int(engine.rate / 4))
      let isSilent = !isActive && sink.silentFrameCount >= silenceLength
      if isSilent, remaining > leadInFrameCount {
        runIteration(.missed(frameCount: remaining - leadInFrameCount))
      } else {
        runIteration(.ready(frameCount: min(remaining, VirtualSession.periodSize)))
      }
    }
  }

  private func runIteration(_ readiness: SinkReadiness) {
    sink.nextReadiness = readiness
    let previousPosition = engine.position
    isRunning = loop.runIteration()
    timeSource.advance(by: .seconds(Double(engine.position - previousPosition) / engine.rate))
  }
}

/// A sink that accepts a preset number of frames and stores them.
private final class VirtualSink: AudioSink {
  /// The magnitude below which a sample is silent: −120 dBFS.
  private static let silenceThreshold: Float = 1e-6

  let format: SinkFormat
  var nextReadiness = SinkReadiness.interrupted
  /// The number of silent frames at the end of the output.
  private(set) var silentFrameCount = 0
  private(set) var frameCount = 0
  /// The interleaved samples of each sounding run, with its first frame. Between runs is silence.
  private var soundingRuns: [(start: Int, samples: [Float])] = []
  private var isContiguous = false

  init(_ format: SinkFormat) { self.format = format }

  var delay: Int { 0 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = nextReadiness
    if case .missed(let count) = readiness {
      frameCount += count
      silentFrameCount += count
      isContiguous = false
      nextReadiness = .interrupted
    }
    return readiness
  }

  func write(_ frames: Span<Float>) {
    if !isContiguous {
      soundingRuns.append((frameCount, []))
      isContiguous = true
    }
    let count = frames.count / format.channelCount
    let isSilent = unsafe frames.withUnsafeBufferPointer { samples in
      unsafe soundingRuns[soundingRuns.count - 1].samples.append(contentsOf: samples)
      return unsafe !samples.contains { abs($0) > Self.silenceThreshold }
    }
    frameCount += count
    silentFrameCount = isSilent ? silentFrameCount + count : 0
  }

  func finish(draining: Bool) {}

  func drainEvents() -> [SinkEvent] { [] }

  func samples(ofChannel channel: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: frameCount)
    let channelCount = format.channelCount
    for run in soundingRuns {
      for index in 0..<run.samples.count / channelCount {
        samples[run.start + index] = run.samples[index * channelCount + channel]
      }
    }
    return samples
  }
}
