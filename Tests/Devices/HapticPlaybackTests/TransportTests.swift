import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct TransportTests {
  @Test(arguments: [1, 7, 64, 480, 1_000]) func playsWhatAFileWouldHoldAtTheFrameAsked(period: Int)
    throws
  {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    let pattern = hum(0.3)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(1_234))
    playback.advance(seconds: 0.5)
    let played = playback.samples()
    let file = try offline(pattern, frameCount: played.count, silence: 1_234)
    // Offsets are followed in groups of four frames, counted from the engine's first.
    #expect(maximumDifference(played, file).greatest < 3e-6)
    #expect(player.startFrame == 1_234)
    #expect(player.phase == .idle)
    #expect(player.endCount == 1)
    // The release of a millisecond lies behind the pattern's end.
    #expect(player.endFrame == 1_234 + 14_400 + 48)
  }

  @Test func nowIsTheNextBlock() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 100)
    let player = try engine.player(for: taps([0]))
    playback.advance(seconds: 0.01)
    try player.start()
    playback.advance(seconds: 0.1)
    #expect(player.startFrame == 500)
  }

  @Test func pausedTimeIsCutOutOfThePattern() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = taps([0, 0.1, 0.2])
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(100))
    try player.pause(at: .frame(4_000))
    try player.resume(at: .frame(10_000))
    playback.advance(seconds: 0.5)
    let plain = try offline(pattern, frameCount: 24_000)
    let played = playback.samples()
    // Nothing sounds at frame 4,000, so the rest is the same, 6,000 frames late.
    #expect(maximumDifference(Array(played[100..<4_000]), plain).greatest == 0)
    let rest = maximumDifference(
      Array(played[10_000 + lookaheadFrameCount..<20_000]),
      Array(plain[3_900 + lookaheadFrameCount..<13_900]))
    // The DC blocker forgets a little in the pause.
    #expect(rest.greatest < 1e-4)
    #expect(player.endCount == 1)
  }

  @Test func aPausedHumFadesAndKeepsItsPhase() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = hum(1)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try player.pause(at: .frame(4_001))
    try player.resume(at: .frame(9_000))
    playback.advance(seconds: 1.3)
    let plain = try offline(pattern, frameCount: 48_200)
    let played = playback.samples()
    #expect(maximumDifference(Array(played[..<(4_001 + lookaheadFrameCount)]), plain).greatest == 0)
    // What is left is the offset that the DC blocker followed.
    #expect(
      (played[4_001 + 96 + lookaheadFrameCount..<9_000 + lookaheadFrameCount].map(abs).max() ?? 1)
        < 3e-3)
    let after = maximumDifference(
      Array(played[(9_000 + 96 + lookaheadFrameCount)..<48_000]),
      Array(plain[(4_001 + 96 + lookaheadFrameCount)..<43_001]))
    #expect(after.greatest < 4e-3)
    #expect(maximumSlopeChange(played) < 1e-2)
  }

  @Test func stoppingFadesWithinTwoMilliseconds() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2))
    try player.start(at: .frame(0))
    try player.stop(at: .frame(24_017))
    playback.advance(seconds: 0.6)
    let played = playback.samples()
    #expect(played[24_017 + 96 + lookaheadFrameCount..<28_000].allSatisfy { abs($0) < 2e-3 })
    #expect(maximumSlopeChange(Array(played[20_000...])) < 1e-3)
    #expect(player.endCount == 1)
    #expect(player.endFrame == 24_017)
  }

  @Test func aSeekGoesOnInTheMiddleOfAnEvent() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = HapticPattern(
      events: hum(1, sharpness: 0).events + taps([0.6]).events,
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 1)])
      ])
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try player.seek(to: 0.5, at: .frame(4_800))
    playback.advance(seconds: 0.7)
    let played = playback.samples()
    #expect(player.endCount == 1)
    // A second of pattern less the four tenths that were left out.
    #expect(player.endFrame == 4_800 + 24_000 + 48)
    // The tap at 0.6 s comes a tenth of a second after the seek, at the level the curve has there.
    let plain = try offline(pattern, frameCount: 48_000)
    let late = Array(
      played[(4_800 + 4_700 + lookaheadFrameCount)...(4_800 + 6_000 + lookaheadFrameCount)]
    ).map(abs).max()
    let known = Array(plain[(28_700 + lookaheadFrameCount)...(30_000 + lookaheadFrameCount)]).map(
      abs
    ).max()
    #expect(abs((late ?? 0) - (known ?? 0)) < 0.15)
    #expect(maximumSlopeChange(Array(played[4_700..<9_000])) < 2e-3)
  }

  @Test func aSeekBeforeTheStartIsWhereItBegins() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0, 0.1, 0.2, 0.3]))
    try player.seek(to: 0.15)
    try player.start(at: .frame(640))
    playback.advance(seconds: 0.1)
    let first = playback.samples().firstIndex { $0 != 0 } ?? -1
    // The tap at 0.2 s is first, 2,400 frames after the start.
    #expect(
      (640 + 2_400 + lookaheadFrameCount...640 + 2_400 + lookaheadFrameCount + 2).contains(first))
  }

  @Test func aSeekBehindTheEndEnds() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1))
    try player.start(at: .frame(0))
    try player.seek(to: 1.5, at: .frame(1_000))
    playback.advance(seconds: 0.1)
    #expect(player.endFrame == 1_000)
    #expect(player.phase == .idle)
  }

  @Test func aLoopIsWhatAFileWouldHold() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = taps([0, 0.1])
    let player = try engine.player(for: pattern)
    try player.loop(passCount: 4)
    try player.start(at: .frame(0))
    playback.advance(seconds: 1)
    let played = playback.samples()
    let file = try offline(pattern, frameCount: played.count, passCount: 4)
    #expect(maximumDifference(played, file).greatest == 0)
    #expect(player.endCount == 1)
  }

  @Test func anEarlyLoopEndCutsThePatternOff() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1, sharpness: 0))
    try player.loop(passCount: nil, end: 0.25)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.9)
    // Switching it off lets the running pass, the fourth, play to the pattern's end.
    try player.loop(passCount: 1)
    playback.advance(seconds: 1)
    #expect(abs(player.endFrame - (36_000 + 48_000 + 48)) <= 1)
    #expect(player.endCount == 1)
    #expect(maximumSlopeChange(playback.samples()) < 1e-2)
  }

  @Test func startingAgainBeginsAnew() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = hum(0.2)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try player.start(at: .frame(5_000))
    playback.advance(seconds: 0.5)
    #expect(player.endCount == 1)
    #expect(player.endFrame == 5_000 + 9_600 + 48)
  }

  @Test func twiceAsFastHalvesTheTimesAndKeepsThePitch() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1, sharpness: 0.422601))
    try player.setPlaybackRate(2)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.7)
    #expect(abs(player.endFrame - (24_000 + 24)) <= 1)
    let played = playback.samples()
    let rises = (2_000..<22_000).filter { played[$0] < 0 && played[$0 + 1] >= 0 }
    let hertz = Double(rises.count - 1) * 48_000 / Double((rises.last ?? 0) - (rises.first ?? 0))
    #expect(abs(hertz - 125) < 0.1)
  }

  @Test func tapsComeAtTheirTimesAtAnyRate() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0, 0.3, 0.6]))
    try player.setPlaybackRate(1.5)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.6)
    let played = playback.samples()
    for onset in [0, 9_600, 19_200] {
      let start = onset + lookaheadFrameCount
      let first = (start - 10..<start + 200).first { abs(played[$0]) > 1e-4 } ?? -1
      #expect((start...start + 4).contains(first), "\(onset)")
    }
  }

  @Test func releasingAPlayerLetsItPlayOnAndThenFreesIt() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = hum(0.3)
    do {
      let player = try engine.player(for: pattern)
      try player.start(at: .frame(960))
    }
    playback.advance(seconds: 0.5)
    let played = playback.samples()
    let file = try offline(pattern, frameCount: played.count, silence: 960)
    #expect(maximumDifference(played, file).greatest == 0)
    #expect(engine.loadedPlayerCount == 0)
  }

  @Test func cancellingForgetsWhatWasToCome() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    do {
      let player = try engine.player(for: hum(0.3))
      try player.start(at: .frame(960))
      try player.start(at: .frame(24_000))
      playback.advance(seconds: 0.1)
      try player.cancel()
      playback.advance(seconds: 0.1)
      #expect(player.phase == .idle)
      #expect(player.endCount == 1)
    }
    playback.advance(seconds: 1)
    #expect(playback.samples().suffix(40_000).allSatisfy { abs($0) < 2e-3 })
    #expect(engine.loadedPlayerCount == 0)
  }

  @Test func theEndHandlerIsCalledOnceForEachEnd() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0]))
    let count = Counter()
    player.endHandler = { count.increase() }
    for start in [0, 4_800, 9_600] {
      try player.start(at: .frame(Int64(start)))
    }
    playback.advance(seconds: 0.5)
    #expect(count.value == 3)
  }
}
