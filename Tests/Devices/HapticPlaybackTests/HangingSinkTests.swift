import HapticModel
import HapticPlayback
import HapticRender
import Synchronization
import Testing

/// Calls of a sink that do not return: the clock goes on, and nobody waits for ever.
@Suite(.timeLimit(.minutes(30))) struct HangingSinkTests {
  /// Which call of a sink hangs.
  enum Call: CaseIterable { case wait, write, finish }

  /// A sink in real time of which one call waits for a signal.
  private final class HangingSink: AudioSink {
    let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 480, bufferSize: 1_920)
    let call: Call
    let release: WakeSignal
    /// Raised when the call hangs.
    let hangSignal: WakeSignal
    let makeReplacement: SinkReplacement?
    private var count = 0
    private var pace: SinkPacer

    init(
      _ call: Call, release: WakeSignal, hangSignal: WakeSignal,
      successor: SinkReplacement? = nil
    ) {
      self.call = call
      self.release = release
      self.hangSignal = hangSignal
      self.makeReplacement = successor
      pace = SinkPacer(format, time: SystemTimeSource())
    }

    var delayFrames: Int { pace.delayFrameCount }

    private func hang(in call: Call) {
      count += 1
      guard call == self.call, call == .finish || count > 20 else { return }
      hangSignal.raise()
      release.waitUntilRaised()
    }

    /// Waits for space. Frames that come late on a busy machine are not lost.
    func wait(_ wake: WakeSignal) -> SinkReadiness {
      hang(in: .wait)
      let readiness = pace.wait(wake)
      guard case .missed = readiness else { return readiness }
      return .ready(frameCount: Int(format.periodSize))
    }

    func write(_ frames: Span<Float>) {
      hang(in: .write)
      pace.recordWritten(frames.count)
    }

    func finish(draining: Bool) { hang(in: .finish) }
    func drainEvents() -> [SinkEvent] { [] }
  }

  /// Events as they come.
  private final class Events: Sendable {
    let stream: AsyncStream<LivePlayback.Event>
    let continuation: AsyncStream<LivePlayback.Event>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(of: LivePlayback.Event.self) }
  }

  @Test(arguments: Call.allCases) func stoppingNeverWaitsForACallThatHangs(call: Call) async throws
  {
    let release = try WakeSignal()
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 1))
    let events = Events()
    let hangSignal = try WakeSignal()
    let sink = HangingSink(call, release: release, hangSignal: hangSignal)
    let playback = try LivePlayback(engine, sink: sink) {
      events.continuation.yield($0)
      if $0 == .ended {
        events.continuation.finish()
      }
    }
    var told: [SinkEvent] = []
    var iterator = events.stream.makeAsyncIterator()
    if call != .finish {
      let first = await iterator.next()
      #expect(first == .sinkEvent(SinkEvent(.unresponsive, text: "the device does not respond")))
      // On a busy machine, an earlier call may have taken as long.
      hangSignal.waitUntilRaised()
    }
    #expect(!playback.stopPlayback(within: .milliseconds(1_200)))
    while let event = await iterator.next() {
      if case .sinkEvent(let notice) = event {
        told.append(notice)
      }
    }
    let last = try #require(told.last)
    #expect(last.kind == .failed)
    #expect(last.text == "the device does not respond; Temblor exits without closing it")
    // More than a second went by, and at most 40 ms of it were in the device.
    #expect(call == .finish || last.missedFrameCount > 46_000)
    #expect(call == .finish || engine.maximumSinkCallDuration > .seconds(1))
    #expect(playback.hasEnded)
    release.raise()
  }

  @Test(arguments: [Call.wait, .write]) func theSuccessorGoesOnInTime(call: Call) async throws {
    let release = try WakeSignal()
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 1))
    let player = try engine.player(for: taps([0]))
    let due = Mutex<(due: Duration, lost: Int, position: Int64)?>(nil)
    let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 480, bufferSize: 1_920)
    let sink = HangingSink(call, release: release, hangSignal: try WakeSignal()) { moment, lost in
      due.withLock { $0 = (moment, lost, engine.position) }
      return NullSink(format)
    }
    let playback = try LivePlayback(engine, sink: sink)
    // Played by the successor alone.
    try player.start(at: .seconds(0.9))
    await player.ended(after: 0)
    let (moment, lost, position) = try #require(due.withLock { $0 })
    #expect(player.startFrame == 43_200)
    #expect(position < 43_200)
    #expect(lost == (call == .write ? 480 : 0) || lost % 480 == 0)
    #expect(moment < SystemTimeSource().now)
    // The thread of the call finds another in its place.
    release.raise()
    #expect(playback.stopPlayback())
    #expect(playback.hasEnded)
  }
}
