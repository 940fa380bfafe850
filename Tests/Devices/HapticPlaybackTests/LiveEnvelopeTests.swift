import HapticModel
import HapticPlayback
import HapticRender
import Testing

/// Attack, decay and release that are sent to a player act on events that start later.
@Suite struct LiveEnvelopeTests {
  private func event(
    at time: Double, _ kind: HapticEvent.Kind = .hapticContinuous, duration: Double = 0.2,
    parameters: EventParameters = [:]
  ) -> HapticEvent {
    HapticEvent(kind: kind, time: time, duration: duration, parameters: parameters)
  }

  /// What is played, its haptics and its audio one behind the other, and the player's end.
  private func play(
    _ pattern: HapticPattern, seconds: Double, period: Int = 64,
    _ commands: (PatternPlayer) throws -> Void = { _ in }
  ) throws -> (samples: [Float], endFrame: Int64, endCount: Int, dropped: Int) {
    let engine = PlaybackEngine(
      routing: OutputRouting(channels: [.init(hapticBus: 0), .init(audioSide: .left)]))
    let playback = VirtualPlayback(engine, periodSize: period)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try commands(player)
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
    ] as [(DynamicParameterID, Float)]) func aTimeSentIsAsThePatternsOwn(
      id: DynamicParameterID, value: Float
    ) throws
  {
    let kind =
      id.rawValue.hasPrefix("Haptic") ? HapticEvent.Kind.hapticContinuous : .audioContinuous
    let isDecay = id == .hapticDecayTimeControl || id == .audioDecayTimeControl
    let parameters: EventParameters = [
      .sustained: isDecay ? 0 : 1, .decayTime: 0.1, .attackTime: 0.1, .releaseTime: 0.1,
    ]
    let plain = HapticPattern(events: [
      event(at: 0, kind, parameters: parameters), event(at: 0.5, kind, parameters: parameters),
    ])
    var own = plain
    own.parameters = [DynamicParameter(id: id, value: value, time: 0.1)]
    let sent = try play(plain, seconds: 1.2) { try $0.set(id, to: value, at: .seconds(0.1)) }
    let written = try play(own, seconds: 1.2)
    #expect(maximumDifference(sent.samples, written.samples).greatest < 2e-5)
    #expect(maximumDifference(sent.samples, try play(plain, seconds: 1.2).samples).greatest > 0.1)
    // An event that sounds keeps its envelope.
    let before = try play(plain, seconds: 0.45)
    #expect(
      maximumDifference(
        try play(plain, seconds: 0.45) { try $0.set(id, to: value, at: .seconds(0.1)) }.samples,
        before.samples
      ).greatest == 0)
  }

  @Test func aCurveActsByItsValueAtTheOnset() throws {
    let plain = HapticPattern(events: [event(at: 0.5)])
    let curve = ParameterCurve(
      id: .hapticReleaseTimeControl, time: 0,
      controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 1)])
    let sent = try play(plain, seconds: 1.2) { try $0.schedule(curve, at: .frame(0)) }
    let written = try play(
      HapticPattern(events: [event(at: 0.5, parameters: [.releaseTime: 0.5])]), seconds: 1.2)
    #expect(maximumDifference(sent.samples, written.samples).greatest < 1e-3)
  }

  @Test func aControlOfThePatternThatStartsLaterWins() throws {
    let parameters = [DynamicParameter(id: .hapticReleaseTimeControl, value: 0, time: 0.4)]
    let pattern = HapticPattern(events: [event(at: 0.1), event(at: 0.5)], parameters: parameters)
    let sent = try play(pattern, seconds: 1.2) {
      try $0.set(.hapticReleaseTimeControl, to: 0.4, at: .frame(0))
    }
    let written = try play(
      HapticPattern(events: [event(at: 0.1, parameters: [.releaseTime: 0.4]), event(at: 0.5)]),
      seconds: 1.2)
    #expect(maximumDifference(sent.samples, written.samples).greatest < 2e-5)
  }

  @Test(arguments: [1, 64, 1_000]) func aPlayerEndsWithTheReleaseThatWasSent(period: Int) throws {
    let sent = try play(HapticPattern(events: [event(at: 0)]), seconds: 3, period: period) {
      try $0.set(.hapticReleaseTimeControl, to: 0.5, at: .frame(0))
    }
    // 0.2 s, and 2 s · (100^0.5 − 1) / 99.
    #expect(abs(sent.endFrame - Int64(48_000 * (0.2 + 2 * 9 / 99.0))) <= 1)
    #expect(sent.endCount == 1)
    let plain = try play(HapticPattern(events: [event(at: 0)]), seconds: 3, period: period)
    #expect(plain.endFrame == 9_648)
  }

  @Test func longReleasesFindTheirVoices() throws {
    let pattern = HapticPattern(
      events: (0..<200).map { event(at: Double($0) * 0.01, duration: 0.01) })
    let sent = try play(pattern, seconds: 4.5) {
      try $0.set(.hapticReleaseTimeControl, to: 1, at: .frame(0))
    }
    #expect(sent.dropped == 0)
    #expect(sent.endFrame == 96_000 + 96_000)
  }

  @Test func whatWasSentIsKeptOverARestart() throws {
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
