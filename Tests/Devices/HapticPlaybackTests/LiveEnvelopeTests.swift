import HapticModel
import HapticPlayback
import HapticRender
import Testing

/// Attack, decay, and release times that are sent to a player act on events that start later.
@Suite struct LiveEnvelopeTests {
  private func event(
    at time: Double, _ kind: HapticEvent.Kind = .hapticContinuous, duration: Double = 0.2,
    parameters: EventParameters = [:]
  ) -> HapticEvent {
    HapticEvent(kind: kind, time: time, duration: duration, parameters: parameters)
  }

  /// Plays a pattern, and returns its haptic samples followed by its audio samples, and the final
  /// state of its player.
  private func play(
    _ pattern: HapticPattern, seconds: Double, period: Int = 64,
    _ sendCommands: (PatternPlayer) throws -> Void = { _ in }
  ) throws -> (samples: [Float], endFrame: Int64, endCount: Int, droppedVoiceCount: Int) {
    let engine = PlaybackEngine(
      routing: OutputRouting(channels: [.init(hapticBus: 0), .init(audioSide: .left)]))
    let playback = VirtualPlayback(engine, periodSize: period)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try sendCommands(player)
    playback.advance(seconds: seconds)
    return (
      playback.samples(ofChannel: 0) + playback.samples(ofChannel: 1), player.endFrame,
      player.endCount,
      player.droppedVoiceCount
    )
  }

  @Test(
    arguments: [
      (DynamicParameterID.hapticAttackTimeControl, 0.6), (.hapticDecayTimeControl, 0.4),
      (.hapticReleaseTimeControl, 0.5), (.audioAttackTimeControl, 0.6),
      (.audioDecayTimeControl, 0.4),
      (.audioReleaseTimeControl, 0.5),
    ] as [(DynamicParameterID, Float)]) func sentTimeEqualsATimeInThePattern(
      id: DynamicParameterID, value: Float
    ) throws
  {
    let kind =
      id.rawValue.hasPrefix("Haptic") ? HapticEvent.Kind.hapticContinuous : .audioContinuous
    let isDecay = id == .hapticDecayTimeControl || id == .audioDecayTimeControl
    let parameters: EventParameters = [
      .sustained: isDecay ? 0 : 1, .decayTime: 0.1, .attackTime: 0.1, .releaseTime: 0.1,
    ]
    let pattern = HapticPattern(events: [
      event(at: 0, kind, parameters: parameters), event(at: 0.5, kind, parameters: parameters),
    ])
    var patternWithParameter = pattern
    patternWithParameter.parameters = [DynamicParameter(id: id, value: value, time: 0.1)]
    let live = try play(pattern, seconds: 1.2) { try $0.set(id, to: value, at: .seconds(0.1)) }
    let expected = try play(patternWithParameter, seconds: 1.2)
    #expect(maximumDifference(live.samples, expected.samples).magnitude < 2e-5)
    #expect(
      maximumDifference(live.samples, try play(pattern, seconds: 1.2).samples).magnitude > 0.1)
    // A sounding event keeps its envelope.
    let withoutControl = try play(pattern, seconds: 0.45)
    #expect(
      maximumDifference(
        try play(pattern, seconds: 0.45) { try $0.set(id, to: value, at: .seconds(0.1)) }.samples,
        withoutControl.samples
      ).magnitude == 0)
  }

  @Test func curveActsThroughItsValueAtTheOnset() throws {
    let pattern = HapticPattern(events: [event(at: 0.5)])
    let curve = ParameterCurve(
      id: .hapticReleaseTimeControl, time: 0,
      controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 1)])
    let live = try play(pattern, seconds: 1.2) { try $0.schedule(curve, at: .frame(0)) }
    let expected = try play(
      HapticPattern(events: [event(at: 0.5, parameters: [.releaseTime: 0.5])]), seconds: 1.2)
    #expect(maximumDifference(live.samples, expected.samples).magnitude < 1e-3)
  }

  @Test func laterParameterOfThePatternReplacesASentValue() throws {
    let parameters = [DynamicParameter(id: .hapticReleaseTimeControl, value: 0, time: 0.4)]
    let pattern = HapticPattern(events: [event(at: 0.1), event(at: 0.5)], parameters: parameters)
    let live = try play(pattern, seconds: 1.2) {
      try $0.set(.hapticReleaseTimeControl, to: 0.4, at: .frame(0))
    }
    let expected = try play(
      HapticPattern(events: [event(at: 0.1, parameters: [.releaseTime: 0.4]), event(at: 0.5)]),
      seconds: 1.2)
    #expect(maximumDifference(live.samples, expected.samples).magnitude < 2e-5)
  }

  @Test(arguments: [1, 64, 1_000]) func playerEndsAfterTheSentRelease(period: Int) throws {
    let live = try play(HapticPattern(events: [event(at: 0)]), seconds: 3, period: period) {
      try $0.set(.hapticReleaseTimeControl, to: 0.5, at: .frame(0))
    }
    // The event lasts 0.2 s, and its release 2 s · (100^0.5 − 1) / 99.
    #expect(abs(live.endFrame - Int64(48_000 * (0.2 + 2 * 9 / 99.0))) <= 1)
    #expect(live.endCount == 1)
    let withoutControl = try play(HapticPattern(events: [event(at: 0)]), seconds: 3, period: period)
    #expect(withoutControl.endFrame == 9_648)
  }

  @Test func longReleasesDropNoVoices() throws {
    let pattern = HapticPattern(
      events: (0..<200).map { event(at: Double($0) * 0.01, duration: 0.01) })
    let live = try play(pattern, seconds: 4.5) {
      try $0.set(.hapticReleaseTimeControl, to: 1, at: .frame(0))
    }
    #expect(live.droppedVoiceCount == 0)
    #expect(live.endFrame == 96_000 + 96_000)
  }

  @Test func sentValuesAreKeptAfterARestart() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: HapticPattern(events: [event(at: 0)]))
    try player.set(.hapticReleaseTimeControl, to: 0.5)
    try player.start(at: .frame(0))
    playback.advance(seconds: 1)
    #expect(abs(player.endFrame - 18_327) <= 1)
    try player.start(at: .frame(96_000))
    playback.advance(seconds: 2)
    #expect(abs(player.endFrame - (96_000 + 18_327)) <= 1)
  }
}
