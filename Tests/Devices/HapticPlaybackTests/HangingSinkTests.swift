import HapticModel
import HapticPlayback
import HapticRender
import Synchronization
import Testing

/// Sink calls that do not return: time advances, and no thread waits for them indefinitely.
@Suite(.timeLimit(.minutes(30))) struct HangingSinkTests {
  /// A call of a sink that can hang.
  enum Call: CaseIterable { case wait, write, finish }

  /// A real-time sink, one call of which waits for a signal.
  private final class HangingSink: AudioSink {
    let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 480, bufferSize: 1_920)
    let call: Call
    let releaseSignal: WakeSignal
    /// Raised when the call hangs.
    let hangSignal: WakeSignal
    let makeReplacement: SinkReplacement?
    private var callCount = 0
    private var pacer: SinkPacer

    init(
      _ call: Call, releaseSignal: WakeSignal, hangSignal: WakeSignal,
      makeReplacement: SinkReplacement? = nil
    ) {
      self.call = call
      self.releaseSignal = releaseSignal
      self.hangSignal = hangSignal
      self.makeReplacement = makeReplacement
      pacer = SinkPacer(format, time: SystemTimeSource())
    }

    var delayFrames: Int { pacer.delayFrameCount }

    private func hang(in call: Call) {
      callCount += 1
      guard call == self.call, call == .finish || callCount > 20 else { return }
      hangSignal.raise()
      releaseSignal.waitUntilRaised()
    }

    /// Waits for space. Frames that are late on a busy machine do not count as missed.
    func wait(_ wake: WakeSignal) -> SinkReadiness {
      hang(in: .wait)
      let readiness = pacer.wait(wake)
      guard case .missed = readiness else { return readiness }
      return .ready(frameCount: Int(format.periodSize))
    }

    func write(_ frames: Span<Float>) {
      hang(in: .write)
      pacer.recordWritten(frames.count)
    }

    func finish(draining: Bool) { hang(in: .finish) }
    func drainEvents() -> [SinkEvent] { [] }
  }

  /// The events of a playback, as a stream.
  private final class EventStream: Sendable {
    let stream: AsyncStream<LivePlayback.Event>
    let continuation: AsyncStream<LivePlayback.Event>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(of: LivePlayback.Event.self) }
  }

  @Test(arguments: Call.allCases) func stoppingDoesNotWaitForAHangingCall(call: Call) async throws {
    let releaseSignal = try WakeSignal()
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 1))
    let events = EventStream()
    let hangSignal = try WakeSignal()
    let sink = HangingSink(call, releaseSignal: releaseSignal, hangSignal: hangSignal)
    let playback = try LivePlayback(engine, sink: sink) {
      events.continuation.yield($0)
      if $0 == .ended {
        events.continuation.finish()
      }
    }
    var sinkEvents: [SinkEvent] = []
    var iterator = events.stream.makeAsyncIterator()
    if call != .finish {
      let firstEvent = await iterator.next()
      #expect(
        firstEvent == .sinkEvent(SinkEvent(.unresponsive, text: "the device does not respond")))
      // On a busy machine, the event may be about an earlier slow call.
      hangSignal.waitUntilRaised()
    }
    #expect(!playback.stopPlayback(within: .milliseconds(1_200)))
    while let event = await iterator.next() {
      if case .sinkEvent(let sinkEvent) = event {
        sinkEvents.append(sinkEvent)
      }
    }
    let lastEvent = try #require(sinkEvents.last)
    #expect(lastEvent.kind == .failed)
    #expect(lastEvent.text == "the device does not respond; Temblor exits without closing it")
    // More than a second passed, and the device had at most 40 ms in its buffer.
    #expect(call == .finish || lastEvent.missedFrameCount > 46_000)
    #expect(call == .finish || engine.maximumSinkCallDuration > .seconds(1))
    #expect(playback.hasEnded)
    releaseSignal.raise()
  }

  @Test(arguments: [Call.wait, .write]) func replacementContinuesOnTime(call: Call) async throws {
    let releaseSignal = try WakeSignal()
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 1))
    let player = try engine.player(for: taps([0]))
    let replacement = Mutex<(dueTime: Duration, lostFrameCount: Int, position: Int64)?>(nil)
    let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 480, bufferSize: 1_920)
    let sink = HangingSink(call, releaseSignal: releaseSignal, hangSignal: try WakeSignal()) {
      dueTime, lostFrameCount in
      replacement.withLock { $0 = (dueTime, lostFrameCount, engine.position) }
      return NullSink(format)
    }
    // The start is due after the hang, so that only the replacement can play it.
    try player.start(at: .seconds(0.9))
    let playback = try LivePlayback(engine, sink: sink)
    await player.ended(after: 0)
    let (dueTime, lostFrameCount, position) = try #require(replacement.withLock { $0 })
    #expect(player.startFrame == 43_200)
    #expect(position < 43_200)
    #expect(lostFrameCount == (call == .write ? 480 : 0) || lostFrameCount % 480 == 0)
    #expect(dueTime < SystemTimeSource().now)
    // The hanging call returns, and its thread finds that its sink was replaced.
    releaseSignal.raise()
    #expect(playback.stopPlayback())
    #expect(playback.hasEnded)
  }
}
