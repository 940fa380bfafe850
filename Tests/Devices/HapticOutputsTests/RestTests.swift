import FaultyPCM
import Glibc
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import Testing

/// A device of ALSA that rests while nothing sounds.
@Suite struct RestTests {
  private final class Rig {
    let device = FaultyDevice()
    let time: DeviceTime
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let loop: RenderLoop
    let tap: PatternPlayer
    var heard: [Duration] = []
    var onsets: [Duration] = []
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
          if heard.last.map({ time - $0 > .milliseconds(200) }) ?? true {
            onsets.append(time)
          }
          heard.append(time)
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
    let rig = try Rig()
    try rig.tap.start()
    try rig.run(until: .seconds(11))
    let taken = rig.device.takenCount
    rig.turnCount = 0
    try rig.run(until: .seconds(71))
    // A minute: nothing is handed over, and two looks a second.
    #expect(rig.device.takenCount == taken)
    #expect(rig.turnCount <= 121)
    #expect(abs(rig.engine.positionSeconds - rig.time.now / .seconds(1)) < 0.05)
    try rig.tap.start()
    let asked = rig.time.now
    try rig.run(until: asked + .seconds(1))
    #expect(rig.onsets.count == 2)
    let onset = try #require(rig.onsets.last)
    // The look-ahead, and at most a block of what is listened to.
    #expect(onset - asked < .milliseconds(10))
    #expect(rig.tap.endCount == 2)
    #expect(rig.loop.drainEvents() == [])
  }

  @Test func aDeviceThatWentAwayMeanwhileIsReportedAndFoundAgain() throws {
    let rig = try Rig()
    try rig.tap.start()
    rig.device.plan(.disconnect(duration: .seconds(30), code: ENODEV), at: .seconds(20))
    try rig.run(until: .seconds(40))
    #expect(rig.loop.drainEvents() == [])
    try rig.tap.start()
    try rig.run(until: .seconds(55))
    #expect(rig.loop.drainEvents().map(\.kind) == [.disconnected, .reconnected])
    try rig.tap.start()
    try rig.run(until: .seconds(56))
    #expect(rig.onsets.count == 2)
  }
}
