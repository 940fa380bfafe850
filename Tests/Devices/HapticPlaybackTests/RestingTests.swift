import HapticModel
import HapticPlayback
import HapticRender
import Synchronization
import Testing

/// A device that sleeps while nothing sounds, and a machine that hardly wakes.
@Suite struct RestingTests {
  /// A sink that counts rests.
  private final class RestCountingSink: AudioSink {
    let sink: NullSink
    private(set) var restCount = 0
    var mayRest = true

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
      restCount += 1
      return mayRest && sink.beginIdle()
    }
  }

  /// Time that counts the waits in it.
  private final class WaitCountingTimeSource: TimeSource {
    private let time = VirtualTimeSource()
    private let counter = Atomic(0)
    var waitCount: Int { counter.load(ordering: .relaxed) }
    var now: Duration { time.now }
    func advance(by duration: Duration) { time.advance(by: duration) }
    func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
      counter.add(1, ordering: .relaxed)
      time.wait(for: &descriptors, timeout: timeout)
    }
  }

  private final class PlaybackFixture {
    let time = WaitCountingTimeSource()
    let engine: PlaybackEngine
    let sink: RestCountingSink
    let loop: RenderLoop

    init(restDelay: Duration? = .seconds(10)) {
      engine = PlaybackEngine()
      engine.idleDelay = restDelay
      sink = RestCountingSink(time)
      loop = RenderLoop(engine: engine, sink: sink, time: time)
    }

    func run(seconds: Double) {
      let end = time.now + .seconds(seconds)
      while time.now < end, loop.runIteration() {
        engine.update()
      }
    }
  }

  @Test(arguments: [true, false]) func anIdleEngineWakesTwiceASecond(mayRest: Bool) {
    let rig = PlaybackFixture()
    rig.sink.mayRest = mayRest
    rig.run(seconds: 12)
    let before = rig.time.waitCount
    rig.run(seconds: 60)
    let waits = rig.time.waitCount - before
    // Each wait is a wake-up: 200 a second for a period of 5 ms.
    #expect(mayRest ? (119...121).contains(waits) : waits > 11_900)
    #expect(abs(rig.engine.positionSeconds - rig.time.now / .seconds(1)) < 0.025)
  }

  @Test func whatSoundsOrIsRecordedKeepsTheDeviceAwake() throws {
    let hums = PlaybackFixture()
    let player = try hums.engine.player(for: hum(1))
    try player.loop(passCount: nil)
    try player.start()
    hums.run(seconds: 30)
    #expect(hums.sink.restCount == 0)

    let recorded = PlaybackFixture()
    recorded.loop.recordingBuffer = RecordingBuffer(recorded.sink.format)
    recorded.run(seconds: 30)
    #expect(recorded.sink.restCount == 0)

    let never = PlaybackFixture(restDelay: nil)
    never.run(seconds: 30)
    #expect(never.sink.restCount == 0)
  }

  /// A pattern whose events are far apart plays on, although nothing sounds.
  @Test func aSilentPartOfAPatternIsNoRest() throws {
    let rig = PlaybackFixture()
    let player = try rig.engine.player(for: taps([0, 25]))
    try player.start()
    rig.run(seconds: 26)
    #expect(rig.sink.restCount == 0)
    #expect(player.endCount == 1)
  }

  @Test func whatIsPlannedComesAtItsFrame() throws {
    let rig = PlaybackFixture()
    let player = try rig.engine.player(for: taps([0]))
    let frame: Int64 = 60 * 48_000 + 77
    try player.start(at: .frame(frame))
    rig.run(seconds: 58.9)
    #expect(rig.sink.restCount == 1)
    #expect(rig.time.waitCount < 2_300)
    rig.run(seconds: 2)
    #expect(player.startFrame == frame)
    #expect(rig.sink.restCount == 1)
  }

  @Test func timeGoesOnBetweenLooksAndCommandsAreForNow() throws {
    let rig = PlaybackFixture()
    let player = try rig.engine.player(for: taps([0]))
    rig.run(seconds: 20)
    let position = rig.engine.position
    // Between two looks.
    rig.time.advance(by: .milliseconds(123))
    #expect(rig.engine.position == position + 5_904)
    try player.start()
    rig.run(seconds: 0.1)
    // It does not begin at the last look, long gone by.
    #expect(player.startFrame == position + 5_904)
    #expect(player.endCount == 1)
    #expect(rig.engine.position >= position + 5_904 + 4_800 - 240)
  }

  @Test func strengthAndPausesAreWhereTheyWouldBe() throws {
    let rig = PlaybackFixture()
    let player = try rig.engine.player(for: hum(100))
    try player.start()
    try player.pause(at: .seconds(1))
    rig.run(seconds: 15)
    #expect(rig.sink.restCount == 1)
    try player.resume()
    rig.run(seconds: 1)
    #expect(abs(player.position - 2) < 0.03)
    #expect(rig.engine.voiceCount == 1)
  }

  /// Real threads: a rest wakes for every command, and for the end.
  @Test func commandsWakeThreadsThatRest() throws {
    let engine = PlaybackEngine()
    engine.idleDelay = .zero
    let sink = NullSink(SinkFormat(rate: 48_000, channelCount: 1, periodSize: 240, bufferSize: 960))
    let playback = try LivePlayback(engine, sink: sink)
    let ended = try WakeSignal()
    let player = try engine.player(for: taps([0]))
    player.endHandler = { ended.raise() }
    for count in 1...20 {
      try player.start()
      try #require(ended.waitUntilRaised(), "start \(count)")
      ended.lower()
    }
    #expect(playback.stopPlayback())
  }
}
