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
    // The region contains frames 4,800 to 9,601 of the recording.
    try player.loop(passCount: nil, from: 0.1, end: 9_601.0 / 48_000)
    try player.start(at: .frame(100))
    playback.advance(seconds: 0.6)
    let playedSamples = Array(playback.samples().dropFirst(100 + lookaheadFrameCount))
    // The first pass starts at the beginning of the recording.
    expect(Array(playedSamples[..<9_600]), is: samples)
    var passStart = 9_601
    while passStart + 4_801 < playedSamples.count {
      // The comparison starts after the fade, which is as long as the look-ahead.
      expect(Array(playedSamples[passStart + 96..<passStart + 4_801]), is: samples, from: 4_896)
      passStart += 4_801
    }
    #expect(passStart > 20_000)
  }

  @Test func loopedHumHasNoClick() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1))
    try player.loop(passCount: nil, from: 0.31, end: 0.57)
    try player.start(at: .frame(100), from: 0.31)
    playback.advance(seconds: 1.2)
    let samples = playback.samples()
    // The slope of the hum changes by up to 0.0002 per frame, and by slightly more in a fade of 96
    // frames.
    let slopeChange = maximumSlopeChange(samples)
    #expect(slopeChange < 0.003)
    let passFrameCount = 12_480
    let (difference, _) = maximumDifference(
      Array(samples[20_000..<32_000]), Array(samples[20_000 + passFrameCount..<44_480]))
    #expect(difference < 2e-3)
    #expect(player.phase == .playing)
  }

  @Test func loopPointsOfACompositionDefineTheRegion() throws {
    let loopedComposition = HapticComposition(
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
    let unlooped = try play(HapticComposition(taps([0, 0.1, 0.25, 0.4])), passCount: 1)
    expect(try play(loopedComposition, passCount: 3), is: unlooped)
    let unloopedAfterEarlyEnd = try play(HapticComposition(taps([0, 0.1, 0.2, 0.3])), passCount: 1)
    expect(try play(loopedComposition, passCount: 3, end: 0.2), is: unloopedAfterEarlyEnd)
  }

  @Test func lastPassPlaysToTheEnd() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let samples = noise(9_600)
    let player = try recordingPlayer(samples, on: engine)
    try player.loop(passCount: 3, from: 0.05, end: 0.1)
    try player.start(at: .frame(0))
    playback.advance(seconds: 1)
    // The passes play frames 0–4,800, 2,400–4,800, and 2,400–9,600.
    #expect(player.endFrame == 4_800 + 2_400 + 7_200)
  }

  @Test func regionBeforeThePositionStartsAtOnce() throws {
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

  @Test func seekPastTheRegionStartsTheRegion() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let samples = noise(48_000)
    let player = try recordingPlayer(samples, on: engine)
    try player.loop(passCount: nil, from: 0.1, end: 0.2)
    try player.start(at: .frame(0), from: 0.7)
    try player.seek(to: 0.9, at: .frame(2_400))
    playback.advance(seconds: 0.1)
    let playedSamples = playback.samples()
    for seekFrame in [0, 2_400] {
      expect(
        Array(playedSamples[seekFrame + 96 + lookaheadFrameCount..<seekFrame + 2_400]), is: samples,
        from: 4_896)
    }
  }

  @Test func emptyRegionIsTheShortestLoop() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try recordingPlayer(noise(48_000), on: engine)
    try player.loop(passCount: nil, from: 0.5, end: 0.1)
    try player.setPlaybackRate(64)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.5)
    #expect(player.phase == .playing)
    #expect((0.5...0.51).contains(player.position))
    // A loop start after the end of the pattern has no effect.
    try player.loop(passCount: nil, from: 5)
    playback.advance(seconds: 0.1)
    #expect(player.phase == .playing)
  }
}
