import CoreHaptics
import CoreHapticsTesting
import Foundation
import Testing

/// The clock of a virtual device.
@Suite struct VirtualTimeTests {
  @Test(arguments: [30, 60, 90, 120, 1_000, 44_100]) func stepsOfAnyLengthAddUpExactly(
    perSecond: Int
  ) throws {
    let fixture = try EngineFixture()
    for _ in 0..<10 * perSecond {
      fixture.device.advance(seconds: 1 / Double(perSecond))
    }
    #expect(fixture.device.now == 10)
    #expect(fixture.engine.currentTime == 10)
  }

  @Test func stepsBelowAPeriodAddUp() throws {
    let fixture = try EngineFixture()
    for _ in 0..<1_000 {
      fixture.device.advance(seconds: 0.0006)
    }
    #expect(fixture.device.now == 0.6)
    #expect(fixture.engine.currentTime == 0.6)
  }

  @Test func invalidDurationsDoNotAdvance() throws {
    let fixture = try EngineFixture()
    for seconds in [-1, .nan, .infinity, 0] {
      fixture.device.advance(seconds: seconds)
    }
    #expect(fixture.device.now == 0)
  }

  @Test(arguments: [1.0 / 90, 0.0006, 1]) func samplesDoNotDependOnSteps(step: Double) throws {
    func samples(_ step: Double) throws -> [Float] {
      let fixture = try EngineFixture()
      for _ in 0..<2 {
        try fixture.player(appleSamplePattern()).start(atTime: 0)
        let endTime = fixture.device.now + 2
        while fixture.device.now < endTime - step / 2 {
          fixture.device.advance(seconds: step)
        }
        fixture.device.advance(seconds: endTime - fixture.device.now)
      }
      return fixture.device.samples(of: fixture.engine)
    }
    let samplesOfOneStep = try samples(2)
    let samplesOfSmallSteps = try samples(step)
    #expect(samplesOfOneStep.count == samplesOfSmallSteps.count)
    let isSame = zip(samplesOfOneStep, samplesOfSmallSteps).allSatisfy { $0 == $1 }
    #expect(isSame)
  }

  /// The engine skips silence, which does not change the sound after it.
  @Test func soundAfterSilenceIsTheSame() throws {
    let fixture = try EngineFixture()
    try fixture.player(appleSamplePattern()).start(atTime: 0)
    fixture.device.advance(seconds: 100)
    let onset = 100 * 48_000
    try fixture.player(appleSamplePattern()).start(atTime: 0)
    fixture.device.advance(seconds: 2)
    let samples = fixture.device.samples(of: fixture.engine)
    #expect(samples.count == 102 * 48_000)
    #expect(zip(samples[0..<96_000], samples[onset...]).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(samples[4 * 48_000..<onset].allSatisfy { abs($0) < 1e-6 })
  }

  @Test("Samples, the log, and the played events do not depend on requests for samples")
  func requestsForSamplesChangeNothing() throws {
    func results(requestingEachStep: Bool) throws -> (samples: [Float], texts: [String]) {
      let fixture = try EngineFixture()
      let device = fixture.device
      let player = try fixture.engine.makeAdvancedPlayer(with: appleSamplePattern())
      player.loopEnabled = true
      try player.start(atTime: 0)
      for step in 0..<24 {
        device.advance(seconds: 0.17)
        if requestingEachStep {
          _ = device.samples(of: fixture.engine)
        }
        switch step {
        case 5: player.playbackRate = 1.5
        case 8: try player.seek(toOffset: 0.3)
        case 11: player.isMuted = true
        case 13: player.isMuted = false
        case 15: try player.pause(atTime: 0)
        case 17: try player.resume(atTime: 0)
        case 19: player.loopEnabled = false
        case 20: try player.stop(atTime: fixture.engine.currentTime + 0.05)
        default: break
        }
      }
      let samples = device.samples(of: fixture.engine)
      return (samples, ["\(device.log)", "\(device.played)"] + fixture.handlerLog.entries)
    }
    let resultsWithoutRequests = try results(requestingEachStep: false)
    let resultsWithRequests = try results(requestingEachStep: true)
    #expect(resultsWithoutRequests.samples.count == Int((24 * 0.17 * 48_000).rounded()))
    #expect(resultsWithoutRequests.samples.contains { abs($0) > 0.01 })
    #expect(resultsWithoutRequests.samples == resultsWithRequests.samples)
    #expect(resultsWithoutRequests.texts == resultsWithRequests.texts)
  }

  @Test("Ten hours of continuous haptics are played in full")
  func tenHoursOfHaptics() throws {
    let fixture = try EngineFixture()
    let player = try fixture.engine.makeAdvancedPlayer(with: appleSamplePattern())
    player.loopEnabled = true
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 36_000)
    #expect(fixture.engine.currentTime == 36_000)
    #expect(fixture.device.played.transients.seconds.last == 35_998.5)
    player.completionHandler = { _ in fixture.handlerLog.append("end") }
    try player.stop(atTime: 0)
    fixture.device.advance(seconds: 0.01)
    #expect(fixture.handlerLog.entries == ["end"])
  }

  @Test func hourOfSilenceEndsInAnIdleTimeout() throws {
    let fixture = try EngineFixture(isRunning: false)
    fixture.engine.isAutoShutdownEnabled = true
    try fixture.engine.start()
    fixture.device.advance(seconds: 3_600)
    #expect(fixture.handlerLog.entries == ["stopped 3"])
    #expect(fixture.engine.currentTime == 120)
    #expect(fixture.device.now == 3_600)
  }

  @Test func nestedHandlersAreAwaited() throws {
    let fixture = try EngineFixture(isRunning: false)
    let engine = fixture.engine
    let handlerLog = fixture.handlerLog
    let engineBox = EngineBox(engine)
    engine.start { _ in
      engineBox.engine.stop { _ in
        engineBox.engine.start { _ in engineBox.engine.stop { _ in handlerLog.append("done") } }
      }
    }
    fixture.device.advance(seconds: 0)
    #expect(handlerLog.entries == ["done"])
  }

  /// The device keeps nothing of released engines.
  @Test func releasedEnginesAreForgotten() throws {
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
