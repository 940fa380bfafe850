import CoreHaptics
import CoreHapticsTesting
import Foundation
import HapticRender
import ShippedFiles
import TestSupport
import Testing

/// A comparison of the record with the rendered samples.
@Suite struct PlayedHapticsTests {
  /// The delay of the limiter, in frames.
  private static let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)

  /// The number of sequences of random calls; set TEMBLOR_TEST_PLAYED for more.
  private static let caseCount =
    ProcessInfo.processInfo.environment["TEMBLOR_TEST_PLAYED"].flatMap(UInt64.init) ?? 16

  /// Returns the times at which sound begins after 9 ms of silence, in seconds of the device, from
  /// the samples alone.
  ///
  /// The differences of samples are examined, because a cut leaves a constant that fades slowly.
  private func onsets(in samples: [Float], from origin: Double) -> [Double] {
    let differences = zip(samples.dropFirst(), samples).map { $0 - $1 }
    return differences.onsetFrames(above: 2e-4, afterSilence: 432).map { index in
      origin + Double(index + 1 - Self.lookaheadFrameCount) / 48_000
    }
  }

  private func taps(_ times: [Double]) throws -> CHHapticPattern {
    try CHHapticPattern(
      events: times.map {
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [
            CHHapticEventParameter(parameterID: .hapticIntensity, value: 1),
            CHHapticEventParameter(parameterID: .hapticSharpness, value: 1),
          ], relativeTime: $0)
      }, parameters: [])
  }

  /// Random calls on two players of taps. The recorded events begin exactly at the times at which
  /// sound begins.
  @Test(arguments: 0..<caseCount) func eventsBeginWithTheSound(seed: UInt64) throws {
    var generator = SplitMixGenerator(state: seed)
    let fixture = try EngineFixture()
    let device = fixture.device
    let engine = fixture.engine
    let patterns = [try taps([0, 0.05, 0.13]), try taps([0.02, 0.3])]
    let players = try patterns.map { try fixture.player($0) }
    var calls: [String] = []
    func call(_ name: String, _ body: () throws -> Void) rethrows {
      calls.append("\(device.now) \(name)")
      try body()
    }
    for _ in 0..<14 {
      let index = Int.random(in: 0..<2, using: &generator)
      let player = players[index]
      let isLater = Bool.random(using: &generator)
      let time = isLater ? engine.currentTime + Double.random(in: 0...0.1, using: &generator) : 0
      switch Int.random(in: 0..<13, using: &generator) {
      case 0...2:
        try call("\(index) start \(time)") { try player.start(atTime: time) }
      case 3:
        try call("\(index) stop \(time)") { try player.stop(atTime: time) }
      case 4:
        try call("\(index) pause \(time)") { try player.pause(atTime: time) }
      case 5:
        try call("\(index) resume \(time)") { try player.resume(atTime: time) }
      case 6:
        let offset = Double.random(in: 0...0.4, using: &generator)
        try call("\(index) seek \(offset)") { try player.seek(toOffset: offset) }
      case 7:
        call("\(index) loop") { player.loopEnabled.toggle() }
      case 8:
        let end = Double.random(in: 0...0.4, using: &generator)
        call("\(index) loop end \(end)") { player.loopEnd = end }
      case 9:
        let rate = Float.random(in: 0.5...2, using: &generator)
        call("\(index) rate \(rate)") { player.playbackRate = rate }
      case 10:
        call("\(index) mute") { player.isMuted.toggle() }
      case 11:
        try call("\(index) cancel") { try player.cancel() }
      default:
        let value: Float = Bool.random(using: &generator) ? 0 : 1
        try call("\(index) send \(value) \(time)") {
          try player.sendParameters(
            [
              CHHapticDynamicParameter(
                parameterID: .hapticIntensityControl, value: value, relativeTime: 0)
            ],
            atTime: time)
        }
      }
      device.advance(seconds: Double.random(in: 0...0.2, using: &generator))
    }
    device.advance(seconds: 0.4)
    let soundTimes = onsets(in: device.samples(of: engine), from: 0)
    let played = device.played
    let eventTimes = played.filter(\.isFelt).map(\.time)
    // Events that are closer than the silence between sounds are one sound.
    let contains = { (times: [Double], time: Double, tolerance: Double) in
      times.contains { abs($0 - time) < tolerance }
    }
    for time in soundTimes {
      #expect(contains(eventTimes, time, 0.0006), "sound at \(time): \(calls) played \(played)")
    }
    for (index, time) in eventTimes.enumerated() where time < device.now - 0.01 {
      let isFirst = !eventTimes[..<index].contains { time - $0 < 0.05 }
      if isFirst {
        #expect(
          contains(soundTimes, time, 0.0006), "event at \(time): \(calls) heard \(soundTimes)")
      }
    }
  }

  @Test func loopIsASeriesOfEvents() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(taps([0]))
    player.loopEnabled = true
    player.loopEnd = 0.5
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 1.1)
    #expect(fixture.device.played.transients == [0, 0.5, 1])
    try fixture.engine.start()
    try player.stop(atTime: 0)
    fixture.device.advance(seconds: 1)
    #expect(fixture.device.played.transients == (0..<3).map { Double($0) / 2 })
    #expect(fixture.device.played.isSilent(from: 1.1))
    #expect(!fixture.device.played.isSilent(from: 0.9))
  }

  @Test func continuousEventsFollowCurvesAndParameters() throws {
    let fixture = try EngineFixture()
    let event = CHHapticEvent(
      eventType: .hapticContinuous,
      parameters: [
        CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.8),
        CHHapticEventParameter(parameterID: .hapticSharpness, value: 0.5),
      ], relativeTime: 0, duration: 2)
    let curve = CHHapticParameterCurve(
      parameterID: .hapticIntensityControl,
      controlPoints: [.init(relativeTime: 0, value: 0), .init(relativeTime: 1, value: 1)],
      relativeTime: 0)
    let player = try fixture.engine.makePlayer(
      with: CHHapticPattern(events: [event], parameterCurves: [curve]))
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 1.5)
    try player.sendParameters(
      [
        CHHapticDynamicParameter(parameterID: .hapticIntensityControl, value: 0.5, relativeTime: 0),
        CHHapticDynamicParameter(
          parameterID: .hapticSharpnessControl, value: 0.25, relativeTime: 0),
      ], atTime: 0)
    fixture.device.advance(seconds: 1)
    let played = fixture.device.played
    #expect(played.count == 1)
    #expect(played[0].time == 0)
    #expect(played[0].duration == 2)
    #expect(abs(played.strength(at: 0.25) - 0.2) < 1e-3)
    #expect(abs(played.strength(at: 0.5) - 0.4) < 1e-3)
    #expect(abs(played.strength(at: 1.25) - 0.8) < 1e-3)
    #expect(abs(played.strength(at: 1.75) - 0.4) < 1e-3)
    #expect(played[0].level(at: 1.75).sharpness == 0.75)
    #expect(played.strength(at: 2.1) == 0)
    #expect(fixture.device.log.values(of: .hapticIntensityControl) == [0.5])
  }

  @Test func pausesMutesAndStopsEndEvents() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(2))
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    try player.pause(atTime: 0)
    fixture.device.advance(seconds: 1)
    try player.resume(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    fixture.engine.isMutedForHaptics = true
    fixture.device.advance(seconds: 0.5)
    fixture.engine.isMutedForHaptics = false
    fixture.engine.stop()
    fixture.device.advance(seconds: 1)
    let played = fixture.device.played
    #expect(played.map(\.time) == [0, 1.5])
    #expect(played.map(\.duration) == [0.5, 1])
    #expect(played.strength(at: 0.25) == 1)
    #expect(played.isSilent(from: 0.5, to: 1.5))
    #expect(played.strength(at: 1.75) == 1)
    #expect(played.isSilent(from: 2.01, to: 2.5))
    #expect(fixture.device.log.stops == [nil])
  }

  @Test(arguments: ["earthquake-splash", "heartbeat", "perfect-score"])
  func playedPatternsEqualTheirFiles(
    name: String
  ) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).ahap")
    defer { try? FileManager.default.removeItem(at: url) }
    try Data(ShippedPatterns.text(named: name) ?? []).write(to: url)
    let fixture = try EngineFixture()
    try fixture.engine.playPattern(from: url)
    fixture.device.advance(seconds: 6)
    let expected = try PlayedHaptics(contentsOf: url)
    #expect(fixture.device.played.differences(from: expected, within: .exact) == [])
    #expect(expected.count > 1)
    // A snapshot has no perceptible difference.
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).ahap")
    defer { try? FileManager.default.removeItem(at: file) }
    try fixture.device.played.ahap().write(to: file)
    let snapshot = try PlayedHaptics(contentsOf: file)
    #expect(fixture.device.played.differences(from: snapshot) == [])
    #expect(snapshot.differences(from: fixture.device.played) == [])
  }

  @Test func differencesHaveDescriptions() {
    let expected: PlayedHaptics = [
      .transient(at: 0, intensity: 0.7), .transient(at: 0.5), .transient(at: 1),
      .continuous(at: 2, for: 1, intensity: 0.5, sharpness: 0.2),
    ]
    let played: PlayedHaptics = [
      .transient(at: 0, intensity: 0.4), .transient(at: 0.55),
      .continuous(at: 2, for: 1.1, intensity: 0.5, sharpness: 0.5), .transient(at: 4),
    ]
    #expect(
      played.differences(from: expected) == [
        "The transient at 0.000 s has intensity 0.400 instead of 0.700.",
        "The transient at 0.500 s is 50 ms late.",
        "The transient at 1.000 s is missing.",
        "The continuous event at 2.000 s lasts 1.100 s instead of 1.000 s.",
        "The continuous event at 2.000 s has sharpness 0.500 instead of 0.200.",
        "The transient at 4.000 s is unexpected.",
      ])
    #expect(expected.differences(from: expected, within: .exact) == [])
  }

  @Test func logIsReadable() throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    engine.resetHandler = {}
    try engine.start()
    device.advance(seconds: 0.5)
    let player = try engine.makePlayer(with: taps([0]))
    try player.start(atTime: CHHapticTimeImmediate)
    device.stop(engine, reason: .audioSessionInterrupt)
    #expect(
      device.log.description == """
        0.000 s  engine 1: made
        0.000 s  engine 1: started
        0.500 s  engine 1, player 1: created with 1 event
        0.500 s  engine 1, player 1: started at 0.500 s
        0.500 s  engine 1: stopped by audioSessionInterrupt
        0.500 s  engine 1: completion handler called
        0.500 s  engine 1: stopped handler called
        """)
    #expect(device.log.engineCount == 1)
    #expect(
      device.engines.description == "[engine 1: stopped, 0.500 s, 0 active players, reset handler]")
  }
}
