import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct PlayerGroupTests {
  private let engine = PlaybackEngine()
  private let playback: VirtualPlayback
  private let firstSamples = noise(48_000, seed: 1)
  private let secondSamples = noise(36_000, seed: 2)
  private let group: PlayerGroup

  init() throws {
    playback = VirtualPlayback(engine, periodSize: 64)
    group = PlayerGroup(
      [
        try recordingPlayer(firstSamples, on: engine),
        try recordingPlayer(secondSamples, on: engine),
      ], of: engine)
    try group.setGains([1, 0], over: 0)
  }

  /// Returns the samples that were played in a range of frames of the engine.
  private func playedSamples(_ range: Range<Int>) -> [Float] {
    Array(
      playback.samples()[
        range.lowerBound + lookaheadFrameCount..<range.upperBound + lookaheadFrameCount])
  }

  private func expectPlayed(
    _ samples: [Float], at frames: Range<Int>, from first: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) { expect(playedSamples(frames), is: samples, from: first, sourceLocation: sourceLocation) }

  @Test func switchIsExactAndSmooth() throws {
    try group.start(at: .frame(100))
    try group.setGains([0, 1], over: 0.01, at: .frame(5_000))
    playback.advance(seconds: 0.3)
    expectPlayed(firstSamples, at: 100..<5_000, from: 0)
    expectPlayed(secondSamples, at: 5_480..<12_000, from: 5_380)
    // The two gains add up to 1 at every frame of the ramp.
    for frame in 5_000..<5_480 {
      let rampPosition = Float(frame - 5_000) / 480
      let secondGain = rampPosition * rampPosition * (3 - 2 * rampPosition)
      let expected =
        firstSamples[frame - 100] * (1 - secondGain) + secondSamples[frame - 100] * secondGain
      #expect(abs(playedSamples(frame..<frame + 1)[0] - expected) < 2e-4)
    }
  }

  @Test func switchThroughSilencePlaysOnePlayerAtATime() throws {
    try group.start(at: .frame(100))
    try group.setGainsThroughSilence([0, 0.5], over: 0.01, at: .frame(5_000))
    try group.setGainsThroughSilence([0, 0.5], over: 0.01, at: .frame(9_000))
    playback.advance(seconds: 0.3)
    #expect(abs(playedSamples(5_480..<5_481)[0]) < 2e-4)
    expectPlayed(secondSamples.map { $0 / 2 }, at: 5_960..<9_000, from: 5_860)
    // A switch to the same player also passes through silence.
    #expect(abs(playedSamples(9_480..<9_481)[0]) < 2e-4)
    expectPlayed(secondSamples.map { $0 / 2 }, at: 9_960..<12_000, from: 9_860)
  }

  @Test func allPlayersLoopTogetherEvenAfterTheirEnds() throws {
    try group.loop(from: 0.25, end: 0.9)
    try group.setGains([0, 1], over: 0)
    try group.start(at: .frame(0))
    playback.advance(seconds: 2)
    // The second recording ends at frame 36,000, and silence follows up to the loop end at 43,200;
    // then both players continue at frame 12,000.
    expectPlayed([Float](repeating: 0, count: 7_000), at: 36_000..<43_000, from: 0)
    expectPlayed(secondSamples, at: 43_300..<67_000, from: 12_100)
    #expect(group.position == group.players[1].position)
    #expect(group.phase == .playing)
  }

  @Test func pausesAndSeeksApplyToAllPlayers() throws {
    try group.loop(end: 100)
    try group.start(at: .frame(0))
    try group.pause(at: .frame(4_800))
    try group.resume(at: .frame(9_600))
    try group.seek(to: 0.5, at: .frame(14_400))
    try group.setGains([0, 1], over: 0.001, at: .frame(16_000))
    playback.advance(seconds: 0.5)
    expectPlayed(firstSamples, at: 9_700..<14_400, from: 4_900)
    expectPlayed(firstSamples, at: 14_500..<16_000, from: 24_100)
    expectPlayed(secondSamples, at: 16_048..<20_000, from: 25_648)
    #expect(group.startFrame == 0)
  }

  @Test func immediateStartsAreInOneBlock() throws {
    playback.advance(seconds: 0.01)
    try group.loop(from: 0.1, end: 0.2)
    try group.start(from: 0.1)
    playback.advance(seconds: 0.05)
    #expect(group.players.map(\.startFrame) == [512, 512])
    #expect(group.players.map(\.position) == [group.position, group.position])
  }
}
