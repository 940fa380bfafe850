import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct LoopRegionTests {
  @Test(arguments: [1, 64, 999]) func passesAreExactToTheFrame(period: Int) throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    let samples = noise(24_000)
    let player = try recordingPlayer(samples, on: engine)
    // Frames 4,800 to 9,601 of the sound.
    try player.loop(passCount: nil, from: 0.1, end: 9_601.0 / 48_000)
    try player.start(at: .frame(100))
    playback.advance(seconds: 0.6)
    let played = Array(playback.samples().dropFirst(100 + lookaheadFrameCount))
    // The first pass begins at the beginning.
    expect(Array(played[..<9_600]), is: samples)
    var pass = 9_601
    while pass + 4_801 < played.count {
      // Behind the fade, which is as long as the look-ahead.
      expect(Array(played[pass + 96..<pass + 4_801]), is: samples, from: 4_896)
      pass += 4_801
    }
    #expect(pass > 20_000)
  }

  @Test func aHumReturnsWithoutACorner() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1))
    try player.loop(passCount: nil, from: 0.31, end: 0.57)
    try player.start(at: .frame(100), from: 0.31)
    playback.advance(seconds: 1.2)
    let samples = playback.samples()
    // The hum itself turns by 0.0002 a frame; a fade of 96 frames by a little more.
    let corner = maximumSlopeChange(samples)
    #expect(corner < 0.003)
    let length = 12_480
    let (change, _) = maximumDifference(
      Array(samples[20_000..<32_000]), Array(samples[20_000 + length..<44_480]))
    #expect(change < 2e-3)
    #expect(player.phase == .playing)
  }

  @Test func loopPointsOfACompositionAreTheRegion() throws {
    let loop = HapticComposition(
      layers: [.init(taps([0, 0.1]))], loop: .init(startSeconds: 0.1, endSeconds: 0.25))
    func play(_ composition: HapticComposition, passCount: Int, end: Double? = nil) throws
      -> [Float]
    {
      let engine = PlaybackEngine()
      let playback = VirtualPlayback(engine, periodSize: 64)
      let player = try engine.player(for: composition)
      try player.loop(passCount: passCount, end: end)
      try player.start(at: .frame(0))
      playback.advance(seconds: 0.8)
      return playback.samples()
    }
    let plain = try play(HapticComposition(taps([0, 0.1, 0.25, 0.4])), passCount: 1)
    expect(try play(loop, passCount: 3), is: plain)
    let shorter = try play(HapticComposition(taps([0, 0.1, 0.2, 0.3])), passCount: 1)
    expect(try play(loop, passCount: 3, end: 0.2), is: shorter)
  }

  @Test func theLastPassGoesOnToTheEnd() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let samples = noise(9_600)
    let player = try recordingPlayer(samples, on: engine)
    try player.loop(passCount: 3, from: 0.05, end: 0.1)
    try player.start(at: .frame(0))
    playback.advance(seconds: 1)
    // 0–4,800, 2,400–4,800, 2,400–9,600.
    #expect(player.endFrame == 4_800 + 2_400 + 7_200)
  }

  @Test func aRegionSetBehindThePlaceBeginsAtOnce() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let samples = noise(48_000)
    let player = try recordingPlayer(samples, on: engine)
    try player.start(at: .frame(0))
    try player.loop(passCount: nil, from: 0.1, end: 0.2, at: .frame(24_000))
    playback.advance(seconds: 0.6)
    expect(
      Array(playback.samples()[24_096 + lookaheadFrameCount..<28_800]), is: samples, from: 4_896)
  }

  @Test func whatIsSoughtBehindTheEndIsTheStart() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let samples = noise(48_000)
    let player = try recordingPlayer(samples, on: engine)
    try player.loop(passCount: nil, from: 0.1, end: 0.2)
    try player.start(at: .frame(0), from: 0.7)
    try player.seek(to: 0.9, at: .frame(2_400))
    playback.advance(seconds: 0.1)
    let played = playback.samples()
    for start in [0, 2_400] {
      expect(
        Array(played[start + 96 + lookaheadFrameCount..<start + 2_400]), is: samples, from: 4_896)
    }
  }

  @Test func aRegionOfNothingIsTheShortestLoop() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try recordingPlayer(noise(48_000), on: engine)
    try player.loop(passCount: nil, from: 0.5, end: 0.1)
    try player.setPlaybackRate(64)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.5)
    #expect(player.phase == .playing)
    #expect((0.5...0.51).contains(player.position))
    // A start behind the pattern's own end is none.
    try player.loop(passCount: nil, from: 5)
    playback.advance(seconds: 0.1)
    #expect(player.phase == .playing)
  }
}
