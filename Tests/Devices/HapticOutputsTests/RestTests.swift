import FaultyPCM
import Glibc
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import Testing

/// A device of ALSA that rests while nothing sounds.
@Suite struct RestTests {
  private final class PlaybackFixture {
    let device = FaultyDevice()
    let time: DeviceTime
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let loop: RenderLoop
    let tap: PatternPlayer
    var soundTimes: [Duration] = []
    var onsetTimes: [Duration] = []
    var turnCount = 0

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
        turnCount += 1
        try #require(turnCount < 100_000)
      }
    }
  }

  @Test func aRestIsNoLossAndWhatFollowsIsHeardAtOnce() throws {
    let rig = try PlaybackFixture()
    try rig.tap.start()
    try rig.run(until: .seconds(11))
    let taken = rig.device.acceptedFrameCount
    rig.turnCount = 0
    try rig.run(until: .seconds(71))
    // A minute: nothing is handed over, and two looks a second.
    #expect(rig.device.acceptedFrameCount == taken)
    #expect(rig.turnCount <= 121)
    #expect(abs(rig.engine.positionSeconds - rig.time.now / .seconds(1)) < 0.05)
    try rig.tap.start()
    let asked = rig.time.now
    try rig.run(until: asked + .seconds(1))
    #expect(rig.onsetTimes.count == 2)
    let onset = try #require(rig.onsetTimes.last)
    // The look-ahead, and at most a block of what is listened to.
    #expect(onset - asked < .milliseconds(10))
    #expect(rig.tap.endCount == 2)
    #expect(rig.loop.drainEvents() == [])
  }

  @Test func aDeviceThatWentAwayMeanwhileIsReportedAndFoundAgain() throws {
    let rig = try PlaybackFixture()
    try rig.tap.start()
    rig.device.scheduleFault(.disconnect(duration: .seconds(30), code: ENODEV), at: .seconds(20))
    try rig.run(until: .seconds(40))
    #expect(rig.loop.drainEvents() == [])
    try rig.tap.start()
    try rig.run(until: .seconds(55))
    #expect(rig.loop.drainEvents().map(\.kind) == [.disconnected, .reconnected])
    try rig.tap.start()
    try rig.run(until: .seconds(56))
    #expect(rig.onsetTimes.count == 2)
  }
}
