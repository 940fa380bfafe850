internal import HapticPlayback
internal import HapticRender
internal import Synchronization

/// An event in a session that affects its rendered samples.
enum SessionEvent: Sendable {
  /// The playback engine has received commands.
  case commands(RecordedCommands)
  /// The session has gained its first active player, or has lost its last one.
  ///
  /// An active player plays, is paused, or waits for its start.
  case playerActivity(Bool)
  /// The session has ended with a fade-out.
  case stop
}

/// A recorder of the events in a session that have not been rendered yet.
///
/// Each event has a position in frames.
final class SessionEventRecorder: Sendable {
  private let events = Locked<[(position: Int64, event: SessionEvent)]>([])

  func append(_ event: SessionEvent, atFrame position: Int64) {
    events.withLock { $0.append((position, event)) }
  }

  func drainEvents() -> [(position: Int64, event: SessionEvent)] {
    events.withLock { exchange(&$0, with: []) }
  }
}

/// A renderer that computes the samples of a session from its events.
///
/// Sound is rendered in periods, and silence in one step.
final class SampleRenderer {
  private let makeEngine: () -> PlaybackEngine
  private lazy var sampleOutput = SampleOutput(engine: makeEngine())

  /// Creates a renderer for a session.
  ///
  /// - Parameter makeEngine: A closure that creates an engine with the parameters of the session's
  ///   engine. It is called for the first samples.
  init(makeEngine: @escaping () -> PlaybackEngine) { self.makeEngine = makeEngine }

  /// Renders the session up to a frame.
  ///
  /// - Parameters:
  ///   - events: The events since the last call, in order.
  ///   - end: The frame.
  func render(_ events: [(position: Int64, event: SessionEvent)], untilFrame end: Int64) {
    for (position, event) in events {
      sampleOutput.render(untilFrame: position)
      sampleOutput.apply(event)
    }
    sampleOutput.render(untilFrame: end)
  }

  /// Returns all rendered samples of a channel.
  func samples(ofChannel channel: Int) -> [Float] {
    sampleOutput.memorySink.samples(ofChannel: channel)
  }
}

/// The render loop of the renderer, which writes the samples to memory.
private final class SampleOutput {
  let memorySink: VirtualSink
  private let engine: PlaybackEngine
  private let timeSource = VirtualTimeSource()
  private let commandReplay = CommandReplay()
  private let renderLoop: RenderLoop
  /// The number of frames to render after skipped silence: 20 ms.
  ///
  /// After these frames, noise gates are open again.
  private let leadInFrameCountAfterSilence: Int
  private var hasActivePlayer = false
  private var isRenderLoopRunning = true

  init(engine: PlaybackEngine) {
    self.engine = engine
    leadInFrameCountAfterSilence = Int(engine.rate / 50)
    memorySink = VirtualSink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count,
        periodSize: VirtualSession.renderPeriodFrameCount,
        bufferSize: VirtualSession.renderPeriodFrameCount))
    renderLoop = RenderLoop(engine: engine, sink: memorySink, time: timeSource)
  }

  func apply(_ event: SessionEvent) {
    switch event {
    case .commands(let commands):
      renderLoop.receiveCommands()
      engine.replay(commands, with: commandReplay)
    case .playerActivity(let isActive):
      self.hasActivePlayer = isActive
    case .stop:
      renderLoop.stop()
      while isRenderLoopRunning {
        runIteration(.ready(frameCount: VirtualSession.renderPeriodFrameCount))
      }
    }
  }

  func render(untilFrame end: Int64) {
    while isRenderLoopRunning {
      let remaining = Int(end - engine.position)
      guard remaining > 0 else { return }
      let silenceLength = min(memorySink.storedFrameCount, Int(engine.rate / 4))
      let isSilent = !hasActivePlayer && memorySink.trailingSilentFrameCount >= silenceLength
      if isSilent, remaining > leadInFrameCountAfterSilence {
        runIteration(.missed(frameCount: remaining - leadInFrameCountAfterSilence))
      } else {
        runIteration(.ready(frameCount: min(remaining, VirtualSession.renderPeriodFrameCount)))
      }
    }
  }

  private func runIteration(_ readiness: SinkReadiness) {
    memorySink.readinessForNextWait = readiness
    let previousPosition = engine.position
    isRenderLoopRunning = renderLoop.runIteration()
    timeSource.advance(by: .seconds(Double(engine.position - previousPosition) / engine.rate))
  }
}

/// A sink that accepts a preset number of frames and stores them in memory.
private final class VirtualSink: AudioSink {
  /// The maximum magnitude of a silent sample: −120 dBFS.
  private static let silenceAmplitudeThreshold: Float = 1e-6

  let format: SinkFormat
  var readinessForNextWait = SinkReadiness.interrupted
  /// The number of silent frames at the end of the stored output.
  private(set) var trailingSilentFrameCount = 0
  private(set) var storedFrameCount = 0
  /// The runs of frames that are not silent, as interleaved samples.
  ///
  /// Each run has the index of its first frame. The frames between runs are silent.
  private var nonSilentFrameRuns: [(start: Int, samples: [Float])] = []
  private var nextWriteExtendsLastRun = false

  init(_ format: SinkFormat) { self.format = format }

  var delayFrames: Int { 0 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let sinkReadiness = readinessForNextWait
    if case .missed(let count) = sinkReadiness {
      storedFrameCount += count
      trailingSilentFrameCount += count
      nextWriteExtendsLastRun = false
      readinessForNextWait = .interrupted
    }
    return sinkReadiness
  }

  func write(_ frames: Span<Float>) {
    if !nextWriteExtendsLastRun {
      nonSilentFrameRuns.append((storedFrameCount, []))
      nextWriteExtendsLastRun = true
    }
    let frameCount = frames.count / format.channelCount
    let isSilent = unsafe frames.withUnsafeBufferPointer { samples in
      unsafe nonSilentFrameRuns[nonSilentFrameRuns.count - 1].samples.append(contentsOf: samples)
      return unsafe !samples.contains { abs($0) > Self.silenceAmplitudeThreshold }
    }
    storedFrameCount += frameCount
    trailingSilentFrameCount = isSilent ? trailingSilentFrameCount + frameCount : 0
  }

  func finish(draining: Bool) {}

  func drainEvents() -> [SinkEvent] { [] }

  func samples(ofChannel channel: Int) -> [Float] {
    var channelSamples = [Float](repeating: 0, count: storedFrameCount)
    let channelCount = format.channelCount
    for run in nonSilentFrameRuns {
      for index in 0..<run.samples.count / channelCount {
        channelSamples[run.start + index] = run.samples[index * channelCount + channel]
      }
    }
    return channelSamples
  }
}
