import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct RoutingTests {
  private let tone = HapticPattern(events: [
    HapticEvent(kind: .hapticContinuous, time: 0, duration: 0.2),
    HapticEvent(kind: .audioContinuous, time: 0, duration: 0.2),
  ])

  private func play(_ routing: OutputRouting, profiles: [TransducerProfile] = [.phone]) throws
    -> VirtualPlayback
  {
    let engine = PlaybackEngine(routing: routing, profiles: profiles)
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: tone)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.3)
    return playback
  }

  private func frequencyHertz(_ samples: [Float]) -> Double {
    let risingCrossings = (2_000..<9_000).filter { samples[$0] < 0 && samples[$0 + 1] >= 0 }
    return Double(risingCrossings.count - 1) * 48_000
      / Double((risingCrossings.last ?? 0) - (risingCrossings.first ?? 0))
  }

  @Test func hapticsAndAudioGoToTheirChannels() throws {
    let playback = try play(
      OutputRouting(channels: [
        .init(hapticBus: 0), .init(audioSide: .left), .init(audioSide: .right), .init(),
      ]))
    #expect(abs(frequencyHertz(playback.samples(ofChannel: 0)) - 125) < 1)
    #expect(abs(frequencyHertz(playback.samples(ofChannel: 1)) - 460) < 1)
    let sideDifference = maximumDifference(
      playback.samples(ofChannel: 1), playback.samples(ofChannel: 2))
    #expect(sideDifference.magnitude == 0)
    #expect(playback.samples(ofChannel: 3).allSatisfy { $0 == 0 })
  }

  @Test func gainDelayAndPolarityApplyPerChannel() throws {
    let playback = try play(
      OutputRouting(channels: [
        .init(hapticBus: 0), .init(hapticBus: 0, delayFrameCount: 37),
        .init(hapticBus: 0, hapticGain: 0.5, isInverted: true),
      ]))
    let direct = playback.samples(ofChannel: 0)
    let delayed = playback.samples(ofChannel: 1)
    #expect(maximumDifference(Array(delayed[37...]), direct).magnitude == 0)
    #expect(delayed[..<37].allSatisfy { $0 == 0 })
    let inverted = playback.samples(ofChannel: 2)
    #expect(maximumDifference(inverted.map { $0 * -2 }, direct).magnitude < 1e-6)
  }

  @Test func eachTransducerHasItsProfile() throws {
    var lowProfile = TransducerProfile.phone
    lowProfile.frequency = FrequencyMapping(lowHertz: 20, highHertz: 60)
    let playback = try play(
      OutputRouting(channels: [.init(hapticBus: 0), .init(hapticBus: 1)]),
      profiles: [.phone, lowProfile])
    #expect(abs(frequencyHertz(playback.samples(ofChannel: 0)) - 125) < 1)
    #expect(abs(frequencyHertz(playback.samples(ofChannel: 1)) - 31.8) < 1)
  }

  @Test func hapticsAndAudioAreMutedSeparately() throws {
    let engine = PlaybackEngine(
      routing: OutputRouting(channels: [.init(hapticBus: 0), .init(audioSide: .both)]))
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: tone)
    try player.loop(passCount: nil)
    try player.start()
    func peaks() -> (haptics: Float, audio: Float) {
      playback.advance(seconds: 0.05)
      _ = (engine.drainPeak(ofChannel: 0), engine.drainPeak(ofChannel: 1))
      playback.advance(seconds: 0.1)
      return (engine.drainPeak(ofChannel: 0), engine.drainPeak(ofChannel: 1))
    }
    #expect(peaks().haptics > 0.1)
    engine.setHapticsMuted(true)
    var peakLevels = peaks()
    #expect(peakLevels.haptics < 3e-3 && peakLevels.audio > 0.3)
    engine.setHapticsMuted(false)
    engine.setAudioMuted(true)
    peakLevels = peaks()
    #expect(peakLevels.haptics > 0.1 && peakLevels.audio < 3e-3)
  }

  @Test func peaksAreDrainedOnce() throws {
    let engine = PlaybackEngine(routing: OutputRouting(channels: [.init(hapticBus: 0), .init()]))
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: hum(0.2))
    try player.start()
    playback.advance(seconds: 0.1)
    #expect(abs(engine.drainPeak(ofChannel: 0) - 0.44) < 0.01)
    #expect(engine.drainPeak(ofChannel: 0) == 0)
    #expect(engine.drainPeak(ofChannel: 1) == 0)
    #expect(engine.voiceCount == 1)
  }
}
