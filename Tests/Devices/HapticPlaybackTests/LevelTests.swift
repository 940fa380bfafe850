import HapticModel
import HapticPlayback
import Testing

@Suite struct LevelTests {
  /// The greatest magnitude in some frames around one.
  private func level(_ samples: [Float], around frame: Int) -> Float {
    samples[frame - 400..<frame + 400].map(abs).max() ?? 0
  }

  @Test func strengthMovesAlongItsRampFromItsFrameOn() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2, intensity: 0.5))
    try player.start(at: .frame(0))
    try engine.setStrength(0, over: 0.5, at: .frame(24_000))
    #expect(engine.strength == 0)
    playback.advance(seconds: 1.2)
    let played = playback.samples()
    let plain = try offline(hum(2, intensity: 0.5), frameCount: played.count)
    #expect(maximumDifference(Array(played[..<24_000]), plain).greatest == 0)
    let half =
      level(played, around: 36_000 + lookaheadFrameCount)
      / level(plain, around: 36_000 + lookaheadFrameCount)
    #expect(abs(half - 0.5) < 0.04)
    #expect(level(played, around: 50_000) < 3e-3)
  }

  @Test func aGainRampIsHalfWayInItsMiddle() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2, intensity: 0.5))
    try player.start(at: .frame(0))
    try player.setGain(0.2, over: 0.5, at: .frame(24_000))
    playback.advance(seconds: 1.2)
    let played = playback.samples()
    let plain = try offline(hum(2, intensity: 0.5), frameCount: played.count)
    for (frame, gain) in [(36_000, Float(0.6)), (50_000, 0.2)] {
      let factor =
        level(played, around: frame + lookaheadFrameCount)
        / level(plain, around: frame + lookaheadFrameCount)
      #expect(abs(factor - gain) < 0.04)
    }
  }

  @Test func aGainWithoutRampIsThereFromTheFirstFrame() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0]))
    try player.setGain(0.5, over: 0)
    try player.start()
    playback.advance(seconds: 0.2)
    let played = playback.samples()
    let plain = try offline(taps([0]), frameCount: played.count).map { $0 * 0.5 }
    #expect(maximumDifference(played, plain).greatest < 1e-5)
  }

  @Test func strengthSetWhileMutedIsHeardAfterwards() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2, intensity: 0.5))
    try player.start(at: .frame(0))
    engine.isMuted = true
    try engine.setStrength(0.5)
    playback.advance(seconds: 0.5)
    #expect(level(playback.samples(), around: 20_000) < 3e-3)
    engine.isMuted = false
    playback.advance(seconds: 0.5)
    let plain = try offline(hum(2, intensity: 0.5), frameCount: 48_000)
    let factor = level(playback.samples(), around: 40_000) / level(plain, around: 40_000)
    #expect(abs(factor - 0.5) < 0.01)
  }
}
