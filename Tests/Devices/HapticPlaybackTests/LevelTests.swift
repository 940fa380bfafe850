import HapticModel
import HapticPlayback
import Testing

@Suite struct LevelTests {
  /// Returns the maximum magnitude within 400 frames of a frame.
  private func peak(_ samples: [Float], around frame: Int) -> Float {
    samples[frame - 400..<frame + 400].map(abs).max() ?? 0
  }

  @Test func strengthRampStartsAtItsFrame() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2, intensity: 0.5))
    try player.start(at: .frame(0))
    try engine.setStrength(0, over: 0.5, at: .frame(24_000))
    #expect(engine.strength == 0)
    playback.advance(seconds: 1.2)
    let playedSamples = playback.samples()
    let reference = try offline(hum(2, intensity: 0.5), frameCount: playedSamples.count)
    #expect(maximumDifference(Array(playedSamples[..<24_000]), reference).magnitude == 0)
    let halfwayGain =
      peak(playedSamples, around: 36_000 + lookaheadFrameCount)
      / peak(reference, around: 36_000 + lookaheadFrameCount)
    #expect(abs(halfwayGain - 0.5) < 0.04)
    #expect(peak(playedSamples, around: 50_000) < 3e-3)
  }

  @Test func gainRampIsHalfwayAtItsMiddle() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2, intensity: 0.5))
    try player.start(at: .frame(0))
    try player.setGain(0.2, over: 0.5, at: .frame(24_000))
    playback.advance(seconds: 1.2)
    let playedSamples = playback.samples()
    let reference = try offline(hum(2, intensity: 0.5), frameCount: playedSamples.count)
    for (frame, gain) in [(36_000, Float(0.6)), (50_000, 0.2)] {
      let measuredGain =
        peak(playedSamples, around: frame + lookaheadFrameCount)
        / peak(reference, around: frame + lookaheadFrameCount)
      #expect(abs(measuredGain - gain) < 0.04)
    }
  }

  @Test func gainWithoutARampAppliesFromTheFirstFrame() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0]))
    try player.setGain(0.5, over: 0)
    try player.start()
    playback.advance(seconds: 0.2)
    let playedSamples = playback.samples()
    let reference = try offline(taps([0]), frameCount: playedSamples.count).map { $0 * 0.5 }
    #expect(maximumDifference(playedSamples, reference).magnitude < 1e-5)
  }

  @Test func strengthSetWhileMutedAppliesAfterUnmuting() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2, intensity: 0.5))
    try player.start(at: .frame(0))
    engine.isMuted = true
    try engine.setStrength(0.5)
    playback.advance(seconds: 0.5)
    #expect(peak(playback.samples(), around: 20_000) < 3e-3)
    engine.isMuted = false
    playback.advance(seconds: 0.5)
    let reference = try offline(hum(2, intensity: 0.5), frameCount: 48_000)
    let measuredGain = peak(playback.samples(), around: 40_000) / peak(reference, around: 40_000)
    #expect(abs(measuredGain - 0.5) < 0.01)
  }
}
