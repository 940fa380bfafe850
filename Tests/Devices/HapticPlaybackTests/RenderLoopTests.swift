import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct RenderLoopTests {
  private func loop(_ engine: PlaybackEngine, _ sink: ScriptedSink) -> RenderLoop {
    RenderLoop(engine: engine, sink: sink, time: VirtualTimeSource())
  }

  @Test("Events of a sink that missed no frames are reported at once")
  func eventsWithoutMissedFrames() {
    let sink = ScriptedSink()
    let loop = loop(PlaybackEngine(), sink)
    #expect(loop.runIteration())
    sink.announcesNotices = true
    sink.notices = [SinkEvent(.reconnected, text: "reconnected")]
    #expect(loop.runIteration())
    #expect(loop.drainEvents().map(\.kind) == [.reconnected])
  }

  @Test func missedTimeIsCutAndLaterEventsAreOnTime() throws {
    let engine = PlaybackEngine()
    let times = [0, 0.1, 0.2, 0.3, 0.4]
    let readyPeriods = Array(repeating: SinkReadiness.ready(frameCount: 64), count: 100)
    let sink = ScriptedSink(
      readyPeriods + [.missed(frameCount: 7_001)] + readyPeriods + readyPeriods)
    let loop = loop(engine, sink)
    let player = try engine.player(for: taps(times))
    try player.start(at: .frame(0))
    for _ in 0..<400 {
      #expect(loop.runIteration())
    }
    let reference = try offline(taps(times), frameCount: sink.samples.count)
    #expect(maximumDifference(Array(sink.samples[..<6_400]), reference).magnitude == 0)
    #expect(sink.samples[6_400..<13_401].allSatisfy { $0 == 0 })
    let remainderDifference = maximumDifference(
      Array(sink.samples[13_600...]), Array(reference[13_600...]))
    // The limiter and the DC blocker restart after missed time.
    #expect(remainderDifference.magnitude < 1e-4)
    #expect(player.endCount == 1)
  }

  @Test func humFadesInAfterMissedTime() throws {
    let engine = PlaybackEngine()
    let readyPeriods = Array(repeating: SinkReadiness.ready(frameCount: 64), count: 100)
    let sink = ScriptedSink(readyPeriods + [.missed(frameCount: 3_333)] + readyPeriods)
    let loop = loop(engine, sink)
    let player = try engine.player(for: hum(1))
    try player.start(at: .frame(0))
    for _ in 0..<201 {
      _ = loop.runIteration()
    }
    #expect(maximumSlopeChange(Array(sink.samples[(6_400 + 3_333)...])) < 1e-3)
    let reference = try offline(hum(1), frameCount: sink.samples.count)
    let remainderDifference = maximumDifference(
      Array(sink.samples[10_000...]), Array(reference[10_000...]))
    #expect(remainderDifference.magnitude < 3e-3)
  }

  @Test func catchingUpWithALateDeviceDoesNotClick() throws {
    let engine = PlaybackEngine()
    let readyPeriods = Array(repeating: SinkReadiness.ready(frameCount: 64), count: 100)
    let sink = ScriptedSink(readyPeriods + [.late(frameCount: 3_333)] + readyPeriods)
    let loop = loop(engine, sink)
    let player = try engine.player(for: hum(1))
    try player.start(at: .frame(0))
    for _ in 0..<201 {
      _ = loop.runIteration()
    }
    // The sink keeps all frames before the delay. A fade of 97 frames follows, and then the engine
    // skips 3,333 frames.
    #expect(sink.samples.count == 200 * 64 + 97)
    #expect(engine.position == 200 * 64 + 97 + 3_333)
    #expect(maximumSlopeChange(Array(sink.samples[1_000...])) < 1e-3)
  }

  @Test func commandsDuringMissedTimeAreExecuted() throws {
    let engine = PlaybackEngine()
    let sink = ScriptedSink([.ready(frameCount: 64), .missed(frameCount: 48_000)])
    let loop = loop(engine, sink)
    let humPlayer = try engine.player(for: hum(10))
    try humPlayer.start(at: .frame(100))
    try humPlayer.set(.hapticIntensityControl, to: 0.5, at: .frame(2_000))
    let tapPlayer = try engine.player(for: taps([0]))
    try tapPlayer.start(at: .frame(30_000))
    for _ in 0..<50 {
      _ = loop.runIteration()
    }
    #expect(humPlayer.phase == .playing)
    #expect(humPlayer.startFrame == 100)
    #expect(tapPlayer.startFrame == 30_000)
    #expect(tapPlayer.endCount == 1)
    let peak = sink.samples.suffix(2_000).map(abs).max() ?? 0
    #expect(abs(peak - 0.11) < 0.005)
  }

  @Test func stoppingFadesAndFinishesTheSink() throws {
    let engine = PlaybackEngine()
    let sink = ScriptedSink()
    let loop = loop(engine, sink)
    let player = try engine.player(for: hum(10))
    try player.start()
    for _ in 0..<100 {
      _ = loop.runIteration()
    }
    loop.stop()
    var iterationCount = 0
    while loop.runIteration() {
      iterationCount += 1
    }
    #expect(iterationCount <= 3)
    #expect(sink.isFinished)
    #expect(sink.samples.last == 0)
    #expect(maximumSlopeChange(Array(sink.samples[1_000...])) < 1e-3)
  }

  @Test func loopEndsWithItsSink() {
    let engine = PlaybackEngine()
    let sink = ScriptedSink([.ready(frameCount: 64), .ended])
    sink.notices = [SinkEvent(.failed, text: "gone for good")]
    let loop = loop(engine, sink)
    #expect(loop.runIteration())
    #expect(!loop.runIteration())
    #expect(loop.drainEvents() == [SinkEvent(.failed, text: "gone for good")])
  }

  @Test func recordingContainsThePlayedSamples() throws {
    let engine = PlaybackEngine()
    let sink = ScriptedSink([
      .ready(frameCount: 64), .ready(frameCount: 5_000), .missed(frameCount: 700),
      .ready(frameCount: 64),
    ])
    let loop = loop(engine, sink)
    let recording = RecordingBuffer(sink.format)
    loop.recordingBuffer = recording
    let player = try engine.player(for: hum(10))
    try player.start()
    for _ in 0..<4 {
      _ = loop.runIteration()
    }
    var samples = [Float](repeating: 1, count: 10_000)
    let count = recording.drain(into: &samples)
    #expect(count == 64 + 5_000 + 700 + 64)
    #expect(maximumDifference(Array(samples.prefix(count)), sink.samples).magnitude == 0)
    #expect(recording.droppedSampleCount == 0)
  }
}
