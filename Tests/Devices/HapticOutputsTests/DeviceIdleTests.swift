import FaultyPCM
import Glibc
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import Testing

/// An ALSA device that is idle during silence.
@Suite struct DeviceIdleTests {
  private final class PlaybackFixture {
    let device = FaultyDevice()
    let time: DeviceTime
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let loop: RenderLoop
    let tap: PatternPlayer
    var soundTimes: [Duration] = []
    var onsetTimes: [Duration] = []
    var iterationCount = 0

    init() throws {
      time = DeviceTime(device)
      let sink = try ALSASink(
        PCMRequest(device: "faulty", channels: .exactly(2)), clock: time,
        interception: device.interception())
      engine.idleDelay = .seconds(10)
      loop = RenderLoop(engine: engine, sink: sink, time: time)
      tap = try engine.player(
        for: HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)]))
      device.listener = { [unowned self] time, samples, _ in
        if samples.indices.contains(where: { abs(samples[$0]) > 1e-3 }) {
          if soundTimes.last.map({ time - $0 > .milliseconds(200) }) ?? true {
            onsetTimes.append(time)
          }
          soundTimes.append(time)
        }
      }
    }

    func run(until end: Duration) throws {
      while time.now < end {
        try #require(loop.runIteration())
        engine.update()
        iterationCount += 1
        try #require(iterationCount < 100_000)
      }
    }
  }

  @Test func idleTimeIsNotALossAndLaterSoundIsHeardAtOnce() throws {
    let fixture = try PlaybackFixture()
    try fixture.tap.start()
    try fixture.run(until: .seconds(11))
    let acceptedFrameCount = fixture.device.acceptedFrameCount
    fixture.iterationCount = 0
    try fixture.run(until: .seconds(71))
    // For a minute, no frames are written, and the loop wakes twice a second.
    #expect(fixture.device.acceptedFrameCount == acceptedFrameCount)
    #expect(fixture.iterationCount <= 121)
    #expect(abs(fixture.engine.positionSeconds - fixture.time.now / .seconds(1)) < 0.05)
    try fixture.tap.start()
    let requestTime = fixture.time.now
    try fixture.run(until: requestTime + .seconds(1))
    #expect(fixture.onsetTimes.count == 2)
    let onset = try #require(fixture.onsetTimes.last)
    // The delay is the look-ahead of the limiter, and at most a block of the listener.
    #expect(onset - requestTime < .milliseconds(10))
    #expect(fixture.tap.endCount == 2)
    #expect(fixture.loop.drainEvents() == [])
  }

  @Test func disconnectionDuringIdleTimeIsReportedLater() throws {
    let fixture = try PlaybackFixture()
    try fixture.tap.start()
    fixture.device.scheduleFault(
      .disconnect(duration: .seconds(30), code: ENODEV), at: .seconds(20))
    try fixture.run(until: .seconds(40))
    #expect(fixture.loop.drainEvents() == [])
    try fixture.tap.start()
    try fixture.run(until: .seconds(55))
    #expect(fixture.loop.drainEvents().map(\.kind) == [.disconnected, .reconnected])
    try fixture.tap.start()
    try fixture.run(until: .seconds(56))
    #expect(fixture.onsetTimes.count == 2)
  }
}
