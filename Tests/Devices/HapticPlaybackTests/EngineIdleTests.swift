import HapticModel
import HapticPlayback
import HapticRender
import PlayRig
import Testing

/// An idle engine: its device sleeps, and its threads rarely wake.
@Suite struct EngineIdleTests {
  /// A sink that counts its idle periods.
  private final class IdleCountingSink: AudioSink {
    let sink: NullSink
    private(set) var idleCount = 0
    var supportsIdle = true

    init(_ time: any TimeSource) {
      sink = NullSink(
        SinkFormat(rate: 48_000, channelCount: 1, periodSize: 240, bufferSize: 960), time: time)
    }
    var format: SinkFormat { sink.format }
    var delayFrames: Int { sink.delayFrames }
    func wait(_ wake: WakeSignal) -> SinkReadiness { sink.wait(wake) }
    func write(_ frames: Span<Float>) { sink.write(frames) }
    func finish(draining: Bool) { sink.finish(draining: draining) }
    func drainEvents() -> [SinkEvent] { [] }
    func beginIdle() -> Bool {
      idleCount += 1
      return supportsIdle && sink.beginIdle()
    }
  }

  private final class PlaybackFixture {
    let time = WaitCountingTimeSource()
    let engine: PlaybackEngine
    let sink: IdleCountingSink
    let loop: RenderLoop

    init(idleDelay: Duration? = .seconds(10)) {
      engine = PlaybackEngine()
      engine.idleDelay = idleDelay
      sink = IdleCountingSink(time)
      loop = RenderLoop(engine: engine, sink: sink, time: time)
    }

    func run(seconds: Double) {
      let end = time.now + .seconds(seconds)
      while time.now < end, loop.runIteration() {
        engine.update()
      }
    }
  }

  @Test(arguments: [true, false]) func idleEngineWakesTwiceASecond(supportsIdle: Bool) {
    let fixture = PlaybackFixture()
    fixture.sink.supportsIdle = supportsIdle
    fixture.run(seconds: 12)
    let initialWaitCount = fixture.time.waitCount
    fixture.run(seconds: 60)
    let waitCount = fixture.time.waitCount - initialWaitCount
    // Every wait is a wake-up. A device that is not idle has 200 a second, at periods of 5 ms.
    #expect(supportsIdle ? (119...121).contains(waitCount) : waitCount > 11_900)
    #expect(abs(fixture.engine.positionSeconds - fixture.time.now / .seconds(1)) < 0.025)
  }

  @Test func soundAndRecordingKeepTheDeviceActive() throws {
    let humming = PlaybackFixture()
    let player = try humming.engine.player(for: hum(1))
    try player.loop(passCount: nil)
    try player.start()
    humming.run(seconds: 30)
    #expect(humming.sink.idleCount == 0)

    let recording = PlaybackFixture()
    recording.loop.recordingBuffer = RecordingBuffer(recording.sink.format)
    recording.run(seconds: 30)
    #expect(recording.sink.idleCount == 0)

    let withoutIdleDelay = PlaybackFixture(idleDelay: nil)
    withoutIdleDelay.run(seconds: 30)
    #expect(withoutIdleDelay.sink.idleCount == 0)
  }

  /// A pattern keeps playing between events that are far apart.
  @Test func silenceWithinAPatternIsNotIdle() throws {
    let fixture = PlaybackFixture()
    let player = try fixture.engine.player(for: taps([0, 25]))
    try player.start()
    fixture.run(seconds: 26)
    #expect(fixture.sink.idleCount == 0)
    #expect(player.endCount == 1)
  }

  @Test func plannedStartIsOnTime() throws {
    let fixture = PlaybackFixture()
    let player = try fixture.engine.player(for: taps([0]))
    let frame: Int64 = 60 * 48_000 + 77
    try player.start(at: .frame(frame))
    fixture.run(seconds: 58.9)
    #expect(fixture.sink.idleCount == 1)
    #expect(fixture.time.waitCount < 2_300)
    fixture.run(seconds: 2)
    #expect(player.startFrame == frame)
    #expect(fixture.sink.idleCount == 1)
  }

  @Test func timeAdvancesBetweenWakeUpsOfAnIdleEngine() throws {
    let fixture = PlaybackFixture()
    let player = try fixture.engine.player(for: taps([0]))
    fixture.run(seconds: 20)
    let position = fixture.engine.position
    // This time is between two wake-ups of the idle loop.
    fixture.time.advance(by: .milliseconds(123))
    #expect(fixture.engine.position == position + 5_904)
    try player.start()
    fixture.run(seconds: 0.1)
    // The start is at the current position, not at that of the last wake-up.
    #expect(player.startFrame == position + 5_904)
    #expect(player.endCount == 1)
    #expect(fixture.engine.position >= position + 5_904 + 4_800 - 240)
  }

  @Test func pausedPlayerResumesAfterIdleTime() throws {
    let fixture = PlaybackFixture()
    let player = try fixture.engine.player(for: hum(100))
    try player.start()
    try player.pause(at: .seconds(1))
    fixture.run(seconds: 15)
    #expect(fixture.sink.idleCount == 1)
    try player.resume()
    fixture.run(seconds: 1)
    #expect(abs(player.position - 2) < 0.03)
    #expect(fixture.engine.voiceCount == 1)
  }

  /// With real threads, an idle loop wakes for every command, and for the end of playback.
  @Test func commandsWakeIdleThreads() throws {
    let engine = PlaybackEngine()
    engine.idleDelay = .zero
    let sink = NullSink(SinkFormat(rate: 48_000, channelCount: 1, periodSize: 240, bufferSize: 960))
    let playback = try LivePlayback(engine, sink: sink)
    let endSignal = try WakeSignal()
    let player = try engine.player(for: taps([0]))
    player.endHandler = { endSignal.raise() }
    for startNumber in 1...20 {
      try player.start()
      try #require(endSignal.waitUntilRaised(), "start \(startNumber)")
      endSignal.lower()
    }
    #expect(playback.stopPlayback())
  }
}
