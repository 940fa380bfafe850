import HapticFormats
import CoreHaptics
import CoreHapticsTesting
import Foundation
import HapticRender
import ShippedFiles
import Testing

/// Players in virtual time, according to Apple's documentation and tests.
@Suite struct PlayerTests {
  @Test func playerStartsAtItsTimeAndCallsItsCompletionHandler() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(appleSamplePattern())
    #expect(player.loopEnd == 1.5)
    try player.start(atTime: 0.25)
    fixture.device.advance(seconds: 1.7)
    #expect((12_000...12_002).contains(fixture.onset() ?? 0))
    #expect(fixture.handlerLog.entries.isEmpty)
    fixture.device.advance(seconds: 0.15)
    #expect(fixture.handlerLog.entries == ["completed"])
  }

  @Test func pausedPlayerDelaysItsCompletion() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(0.5))
    let handlerLog = fixture.handlerLog
    fixture.engine.notifyWhenPlayersFinished { _ in
      handlerLog.append("finished")
      return .leaveEngineRunning
    }
    fixture.device.advance(seconds: 0.1)
    // Nothing played, so the handler was called at once. The next handler waits for the player.
    #expect(handlerLog.entries == ["finished"])
    try player.start(atTime: CHHapticTimeImmediate)
    fixture.engine.notifyWhenPlayersFinished { _ in
      handlerLog.append("finished")
      return .leaveEngineRunning
    }
    fixture.device.advance(seconds: 0.2)
    try player.pause(atTime: 0)
    fixture.device.advance(seconds: 5)
    #expect(handlerLog.entries == ["finished"])
    try player.resume(atTime: 0)
    fixture.device.advance(seconds: 0.2)
    #expect(handlerLog.entries == ["finished"])
    fixture.device.advance(seconds: 0.2)
    #expect(handlerLog.entries == ["finished", "completed", "finished"])
  }

  @Test func stoppedPlayerFinishesWithinATenthOfASecond() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(10))
    let handlerLog = fixture.handlerLog
    try player.start(atTime: 0)
    fixture.engine.notifyWhenPlayersFinished { _ in
      handlerLog.append("finished")
      return .stopEngine
    }
    fixture.device.advance(seconds: 1)
    try player.stop(atTime: 0)
    fixture.device.advance(seconds: 0.1)
    #expect(handlerLog.entries == ["completed", "finished", "stopped 4"])
    #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
    try fixture.engine.start()
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.2)
    #expect(fixture.peak(0.05, 0.2) > 0.4)
  }

  @Test func seekingBeforeTheStartSetsTheStartOffset() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(appleSamplePattern())
    try player.seek(toOffset: 0.4)
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 1.2)
    #expect(fixture.handlerLog.entries == ["completed"])
    #expect((4_700...4_900).contains(fixture.onset() ?? 0))
  }

  @Test func loopsRepeatUntilTheyAreDisabled() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(tap())
    player.loopEnabled = true
    player.loopEnd = 0.25
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 2.1)
    for pass in 0..<8 {
      #expect(fixture.peak(Double(pass) * 0.25, Double(pass) * 0.25 + 0.04) > 0.1)
      #expect(fixture.peak(Double(pass) * 0.25 + 0.06, Double(pass) * 0.25 + 0.25) < 0.01)
    }
    #expect(fixture.handlerLog.entries.isEmpty)
    player.loopEnabled = false
    fixture.device.advance(seconds: 0.5)
    #expect(fixture.handlerLog.entries == ["completed"])
  }

  @Test func theRateScalesTimes() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(appleSamplePattern())
    player.playbackRate = -1
    #expect(player.playbackRate == 1)
    player.playbackRate = 2
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.7)
    #expect(fixture.handlerLog.entries.isEmpty)
    fixture.device.advance(seconds: 0.1)
    #expect(fixture.handlerLog.entries == ["completed"])
  }

  @Test func mutedPlayersContinueSilently() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(1))
    player.isMuted = true
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    #expect(fixture.peak(0, 0.5) < 1e-3)
    player.isMuted = false
    fixture.device.advance(seconds: 0.6)
    #expect(fixture.peak(0.55, 0.9) > 0.4)
    #expect(fixture.handlerLog.entries == ["completed"])
  }

  @Test func envelopeTimesActOnEventsThatStartLater() throws {
    let fixture = try EngineFixture()
    let events = [0, 0.5].map {
      CHHapticEvent(eventType: .hapticContinuous, parameters: [], relativeTime: $0, duration: 0.1)
    }
    let player = try fixture.player(CHHapticPattern(events: events, parameters: []))
    try player.start(atTime: 0)
    try player.sendParameters(
      [
        CHHapticDynamicParameter(
          parameterID: .hapticReleaseTimeControl, value: 0.5, relativeTime: 0.05)
      ], atTime: 0)
    fixture.device.advance(seconds: 1)
    #expect(fixture.peak(0.11, 0.49) < 3e-3)
    #expect(fixture.peak(0.65, 0.7) > 0.1)
    #expect(fixture.peak(0.8, 0.9) < 3e-3)
  }

  @Test func parametersAndCurvesActAtTheirTimes() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(2))
    try player.start(atTime: 0)
    try player.sendParameters(
      [
        CHHapticDynamicParameter(
          parameterID: .hapticIntensityControl, value: 0.5, relativeTime: 0.25)
      ], atTime: 0.25)
    try player.scheduleParameterCurve(
      CHHapticParameterCurve(
        parameterID: .hapticIntensityControl,
        controlPoints: [.init(relativeTime: 0, value: 0.5), .init(relativeTime: 0.5, value: 1)],
        relativeTime: 99),
      atTime: 1)
    fixture.device.advance(seconds: 2)
    #expect(abs(fixture.peak(0.1, 0.49) - 0.44) < 0.005)
    #expect(abs(fixture.peak(0.52, 1) - 0.11) < 0.005)
    #expect(abs(fixture.peak(1.6, 1.9) - 0.44) < 0.005)
  }

  @Test func cancelDiscardsScheduledEvents() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(tap())
    try player.start(atTime: 1)
    try player.cancel()
    let handlerLog = fixture.handlerLog
    fixture.engine.notifyWhenPlayersFinished { _ in
      handlerLog.append("finished")
      return .leaveEngineRunning
    }
    fixture.device.advance(seconds: 2)
    #expect(fixture.onset() == nil)
    #expect(handlerLog.entries == ["finished"])
  }

  @Test func releasedPlayerContinues() throws {
    let fixture = try EngineFixture()
    try fixture.engine.makePlayer(with: tap(at: 0.5)).start(atTime: 0)
    fixture.device.advance(seconds: 1)
    #expect((24_000...24_002).contains(fixture.onset() ?? 0))
  }

  @Test func tenThousandTapsLeaveNothingBehind() throws {
    let fixture = try EngineFixture()
    var refusedCount = 0
    for _ in 0..<10_000 {
      do {
        try fixture.engine.makePlayer(with: tap(intensity: 0.1)).start(atTime: 0)
      } catch {
        refusedCount += 1
      }
      fixture.device.advance(seconds: 0.002)
    }
    fixture.device.advance(seconds: 1)
    #expect(refusedCount == 0)
    #expect(fixture.peak(0, 30) <= 0.892)
    let handlerLog = fixture.handlerLog
    fixture.engine.notifyWhenPlayersFinished { _ in
      handlerLog.append("finished")
      return .leaveEngineRunning
    }
    fixture.device.advance(seconds: 0.1)
    #expect(handlerLog.entries == ["finished"])
  }

  @Test func apiFileAndTextGiveTheSameSamples() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).ahap")
    let text = """
      {"Version": 1, "Pattern": [
        {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": []}},
        {"Event": {"Time": 0.5, "EventType": "HapticContinuous", "EventDuration": 1,
          "EventParameters": [
            {"ParameterID": "HapticIntensity", "ParameterValue": 1},
            {"ParameterID": "HapticSharpness", "ParameterValue": 0.5}]}}]}
      """
    try Data(text.utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    func samples(_ play: (CHHapticEngine) throws -> Void) throws -> [Float] {
      let fixture = try EngineFixture()
      try play(fixture.engine)
      fixture.device.advance(seconds: 1.7)
      return fixture.device.samples(of: fixture.engine)
    }
    let built = try samples { try $0.makePlayer(with: appleSamplePattern()).start(atTime: 0) }
    let read = try samples { try $0.playPattern(from: url) }
    let parsed = try samples { try $0.playPattern(from: Data(text.utf8)) }
    #expect(built.contains { $0 > 0.4 })
    #expect(built.elementsEqual(read))
    #expect(built.elementsEqual(parsed))
  }
}

/// An engine plays exactly the samples that the renderer produces for the same text, as written by
/// `temblor render`.
@Suite struct SameSamplesTests {
  @Test(arguments: ["earthquake-splash", "heartbeat", "perfect-score", "trigger-pattern"])
  func engineEqualsTheOfflineRendering(name: String) throws {
    let text = ShippedPatterns.text(named: name) ?? []
    let fixture = try EngineFixture()
    try fixture.engine.playPattern(from: Data(text))
    fixture.device.advance(seconds: 3)
    let plan = try RenderPlan(compiling: AHAPDocument(text: text, name: name).read().pattern)
    var renderer = Renderer(plan: plan, settings: RenderSettings(channelCount: 2))
    for channel in 0..<2 {
      let played = fixture.device.samples(of: fixture.engine, channel: channel)
      if channel == 0 {
        #expect(played.contains { abs($0) > 0.05 })
      }
      var offline = [Float](repeating: 0, count: 2 * played.count)
      if channel == 1 {
        renderer = Renderer(plan: plan, settings: RenderSettings(channelCount: 2))
      }
      var span = offline.mutableSpan
      renderer.render(into: &span)
      let rendered = played.indices.map { offline[2 * $0 + channel] }
      // Silence at the end, below −120 dBFS, is skipped.
      let isSame = zip(played, rendered).allSatisfy { $0 == $1 || ($0 == 0 && abs($1) < 1e-6) }
      #expect(isSame)
    }
  }
}
