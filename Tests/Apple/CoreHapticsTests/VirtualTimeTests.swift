import CoreHaptics
import CoreHapticsTesting
import Foundation
import Testing

/// The clock of a virtual device.
@Suite struct VirtualTimeTests {
  @Test(arguments: [30, 60, 90, 120, 1_000, 44_100]) func tenSecondsAreTenSecondsInAnySteps(
    perSecond: Int
  ) throws {
    let playing = try EngineFixture()
    for _ in 0..<10 * perSecond {
      playing.device.advance(seconds: 1 / Double(perSecond))
    }
    #expect(playing.device.now == 10)
    #expect(playing.engine.currentTime == 10)
  }

  @Test func stepsBelowAPeriodAddUp() throws {
    let playing = try EngineFixture()
    for _ in 0..<1_000 {
      playing.device.advance(seconds: 0.0006)
    }
    #expect(playing.device.now == 0.6)
    #expect(playing.engine.currentTime == 0.6)
  }

  @Test func timeThatIsNoneGoesNowhere() throws {
    let playing = try EngineFixture()
    for seconds in [-1, .nan, .infinity, 0] {
      playing.device.advance(seconds: seconds)
    }
    #expect(playing.device.now == 0)
  }

  @Test(arguments: [1.0 / 90, 0.0006, 1]) func samplesDoNotDependOnSteps(step: Double) throws {
    func samples(_ step: Double) throws -> [Float] {
      let playing = try EngineFixture()
      for _ in 0..<2 {
        try playing.player(appleSamplePattern()).start(atTime: 0)
        let end = playing.device.now + 2
        while playing.device.now < end - step / 2 {
          playing.device.advance(seconds: step)
        }
        playing.device.advance(seconds: end - playing.device.now)
      }
      return playing.device.samples(of: playing.engine)
    }
    let whole = try samples(2)
    let parts = try samples(step)
    #expect(whole.count == parts.count)
    let isSame = zip(whole, parts).allSatisfy { $0 == $1 }
    #expect(isSame)
  }

  /// Silence is skipped, and what follows it sounds as if it had been rendered.
  @Test func soundBehindSilenceIsTheSame() throws {
    let playing = try EngineFixture()
    try playing.player(appleSamplePattern()).start(atTime: 0)
    playing.device.advance(seconds: 100)
    let onset = 100 * 48_000
    try playing.player(appleSamplePattern()).start(atTime: 0)
    playing.device.advance(seconds: 2)
    let samples = playing.device.samples(of: playing.engine)
    #expect(samples.count == 102 * 48_000)
    #expect(zip(samples[0..<96_000], samples[onset...]).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(samples[4 * 48_000..<onset].allSatisfy { abs($0) < 1e-6 })
  }

  @Test("Samples, the log, and the played events do not depend on requests for samples")
  func requestsForSamplesChangeNothing() throws {
    func results(requestingEachStep: Bool) throws -> (samples: [Float], texts: [String]) {
      let playing = try EngineFixture()
      let device = playing.device
      let player = try playing.engine.makeAdvancedPlayer(with: appleSamplePattern())
      player.loopEnabled = true
      try player.start(atTime: 0)
      for step in 0..<24 {
        device.advance(seconds: 0.17)
        if requestingEachStep {
          _ = device.samples(of: playing.engine)
        }
        switch step {
        case 5: player.playbackRate = 1.5
        case 8: try player.seek(toOffset: 0.3)
        case 11: player.isMuted = true
        case 13: player.isMuted = false
        case 15: try player.pause(atTime: 0)
        case 17: try player.resume(atTime: 0)
        case 19: player.loopEnabled = false
        case 20: try player.stop(atTime: playing.engine.currentTime + 0.05)
        default: break
        }
      }
      let samples = device.samples(of: playing.engine)
      return (samples, ["\(device.log)", "\(device.played)"] + playing.handlerLog.entries)
    }
    let whole = try results(requestingEachStep: false)
    let parts = try results(requestingEachStep: true)
    #expect(whole.samples.count == Int((24 * 0.17 * 48_000).rounded()))
    #expect(whole.samples.contains { abs($0) > 0.01 })
    #expect(whole.samples == parts.samples)
    #expect(whole.texts == parts.texts)
  }

  @Test("Ten hours of continuous haptics are played in full")
  func tenHoursOfHaptics() throws {
    let playing = try EngineFixture()
    let player = try playing.engine.makeAdvancedPlayer(with: appleSamplePattern())
    player.loopEnabled = true
    try player.start(atTime: 0)
    playing.device.advance(seconds: 36_000)
    #expect(playing.engine.currentTime == 36_000)
    #expect(playing.device.played.transients.seconds.last == 35_998.5)
    player.completionHandler = { _ in playing.handlerLog.append("end") }
    try player.stop(atTime: 0)
    playing.device.advance(seconds: 0.01)
    #expect(playing.handlerLog.entries == ["end"])
  }

  @Test func anHourOfSilenceEndsInAnIdleTimeout() throws {
    let playing = try EngineFixture(isRunning: false)
    playing.engine.isAutoShutdownEnabled = true
    try playing.engine.start()
    playing.device.advance(seconds: 3_600)
    #expect(playing.handlerLog.entries == ["stopped 3"])
    #expect(playing.engine.currentTime == 120)
    #expect(playing.device.now == 3_600)
  }

  @Test func handlersThatCauseHandlersAreWaitedFor() throws {
    let playing = try EngineFixture(isRunning: false)
    let engine = playing.engine
    let handlerLog = playing.handlerLog
    let box = EngineBox(engine)
    engine.start { _ in
      box.engine.stop { _ in
        box.engine.start { _ in box.engine.stop { _ in handlerLog.append("done") } }
      }
    }
    playing.device.advance(seconds: 0)
    #expect(handlerLog.entries == ["done"])
  }

  /// Engines that were dropped cost nothing: no time is compared, but what is kept of them.
  @Test func droppedEnginesLeaveNothing() throws {
    let device = VirtualHapticDevice()
    for _ in 0..<3_000 {
      _ = device.makeEngine()
    }
    for _ in 0..<30 {
      let engine = device.makeEngine()
      try engine.start()
      try engine.makePlayer(with: tap()).start(atTime: 0)
    }
    device.advance(seconds: 1)
    #expect(device.engines.isEmpty)
  }
}

/// Carries an engine into a handler.
private final class EngineBox: @unchecked Sendable {
  let engine: CHHapticEngine

  init(_ engine: CHHapticEngine) { self.engine = engine }
}
