import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

@Suite struct TransportTests {
  @Test(arguments: [1, 7, 64, 480, 1_000]) func playbackEqualsOfflineRenderingFromTheStartFrame(
    period: Int
  )
    throws
  {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    let pattern = hum(0.3)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(1_234))
    playback.advance(seconds: 0.5)
    let playedSamples = playback.samples()
    let expected = try offline(pattern, frameCount: playedSamples.count, silentFrameCount: 1_234)
    // The DC blocker updates its offset in groups of four frames, counted from the engine's first
    // frame.
    #expect(maximumDifference(playedSamples, expected).magnitude < 3e-6)
    #expect(player.startFrame == 1_234)
    #expect(player.phase == .idle)
    #expect(player.endCount == 1)
    // The release of 1 ms follows the end of the pattern.
    #expect(player.endFrame == 1_234 + 14_400 + 48)
  }

  @Test func immediateStartIsAtTheNextBlock() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 100)
    let player = try engine.player(for: taps([0]))
    playback.advance(seconds: 0.01)
    try player.start()
    playback.advance(seconds: 0.1)
    #expect(player.startFrame == 500)
  }

  @Test func pauseDelaysTheRemainingPattern() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = taps([0, 0.1, 0.2])
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(100))
    try player.pause(at: .frame(4_000))
    try player.resume(at: .frame(10_000))
    playback.advance(seconds: 0.5)
    let reference = try offline(pattern, frameCount: 24_000)
    let playedSamples = playback.samples()
    // No event sounds at frame 4,000, so the remainder is the same, 6,000 frames later.
    #expect(maximumDifference(Array(playedSamples[100..<4_000]), reference).magnitude == 0)
    let remainderDifference = maximumDifference(
      Array(playedSamples[10_000 + lookaheadFrameCount..<20_000]),
      Array(reference[3_900 + lookaheadFrameCount..<13_900]))
    // The offset of the DC blocker decays slightly during the pause.
    #expect(remainderDifference.magnitude < 1e-4)
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
    let reference = try offline(pattern, frameCount: 48_200)
    let playedSamples = playback.samples()
    #expect(
      maximumDifference(Array(playedSamples[..<(4_001 + lookaheadFrameCount)]), reference).magnitude
        == 0)
    // The residual is the offset that the DC blocker had followed.
    #expect(
      (playedSamples[4_001 + 96 + lookaheadFrameCount..<9_000 + lookaheadFrameCount].map(abs).max()
        ?? 1)
        < 3e-3)
    let resumedDifference = maximumDifference(
      Array(playedSamples[(9_000 + 96 + lookaheadFrameCount)..<48_000]),
      Array(reference[(4_001 + 96 + lookaheadFrameCount)..<43_001]))
    #expect(resumedDifference.magnitude < 4e-3)
    #expect(maximumSlopeChange(playedSamples) < 1e-2)
  }

  @Test func stoppingFadesWithinTwoMilliseconds() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2))
    try player.start(at: .frame(0))
    try player.stop(at: .frame(24_017))
    playback.advance(seconds: 0.6)
    let playedSamples = playback.samples()
    #expect(playedSamples[24_017 + 96 + lookaheadFrameCount..<28_000].allSatisfy { abs($0) < 2e-3 })
    #expect(maximumSlopeChange(Array(playedSamples[20_000...])) < 1e-3)
    #expect(player.endCount == 1)
    #expect(player.endFrame == 24_017)
  }

  @Test func seekContinuesWithinAnEvent() throws {
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
    let playedSamples = playback.samples()
    #expect(player.endCount == 1)
    // The pattern lasts 1 s, of which the seek skips 0.4 s.
    #expect(player.endFrame == 4_800 + 24_000 + 48)
    // The tap at 0.6 s follows the seek by 0.1 s, at the level that the curve has at 0.6 s.
    let reference = try offline(pattern, frameCount: 48_000)
    let playedPeak = Array(
      playedSamples[(4_800 + 4_700 + lookaheadFrameCount)...(4_800 + 6_000 + lookaheadFrameCount)]
    ).map(abs).max()
    let referencePeak = Array(
      reference[(28_700 + lookaheadFrameCount)...(30_000 + lookaheadFrameCount)]
    ).map(
      abs
    ).max()
    #expect(abs((playedPeak ?? 0) - (referencePeak ?? 0)) < 0.15)
    #expect(maximumSlopeChange(Array(playedSamples[4_700..<9_000])) < 2e-3)
  }

  @Test func seekBeforeTheStartSetsTheFirstPosition() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0, 0.1, 0.2, 0.3]))
    try player.seek(to: 0.15)
    try player.start(at: .frame(640))
    playback.advance(seconds: 0.1)
    let firstSoundFrame = playback.samples().firstIndex { $0 != 0 } ?? -1
    // The tap at 0.2 s is first, 2,400 frames after the start.
    #expect(
      (640 + 2_400 + lookaheadFrameCount...640 + 2_400 + lookaheadFrameCount + 2).contains(
        firstSoundFrame))
  }

  @Test func seekPastTheEndEndsPlayback() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1))
    try player.start(at: .frame(0))
    try player.seek(to: 1.5, at: .frame(1_000))
    playback.advance(seconds: 0.1)
    #expect(player.endFrame == 1_000)
    #expect(player.phase == .idle)
  }

  @Test func loopEqualsOfflineRendering() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = taps([0, 0.1])
    let player = try engine.player(for: pattern)
    try player.loop(passCount: 4)
    try player.start(at: .frame(0))
    playback.advance(seconds: 1)
    let playedSamples = playback.samples()
    let expected = try offline(pattern, frameCount: playedSamples.count, passCount: 4)
    #expect(maximumDifference(playedSamples, expected).magnitude == 0)
    #expect(player.endCount == 1)
  }

  @Test func earlyLoopEndShortensThePasses() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1, sharpness: 0))
    try player.loop(passCount: nil, end: 0.25)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.9)
    // Without a loop, the current pass, the fourth, plays to the end of the pattern.
    try player.loop(passCount: 1)
    playback.advance(seconds: 1)
    #expect(abs(player.endFrame - (36_000 + 48_000 + 48)) <= 1)
    #expect(player.endCount == 1)
    #expect(maximumSlopeChange(playback.samples()) < 1e-2)
  }

  @Test func secondStartRestartsThePattern() throws {
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

  @Test func doubleRateHalvesTheTimesAndKeepsThePitch() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(1, sharpness: 0.422601))
    try player.setPlaybackRate(2)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.7)
    #expect(abs(player.endFrame - (24_000 + 24)) <= 1)
    let playedSamples = playback.samples()
    let risingCrossings = (2_000..<22_000).filter {
      playedSamples[$0] < 0 && playedSamples[$0 + 1] >= 0
    }
    let hertz =
      Double(risingCrossings.count - 1) * 48_000
      / Double((risingCrossings.last ?? 0) - (risingCrossings.first ?? 0))
    #expect(abs(hertz - 125) < 0.1)
  }

  @Test func tapsAreOnTimeAtAnyPlaybackRate() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0, 0.3, 0.6]))
    try player.setPlaybackRate(1.5)
    try player.start(at: .frame(0))
    playback.advance(seconds: 0.6)
    let playedSamples = playback.samples()
    for onset in [0, 9_600, 19_200] {
      let expectedFrame = onset + lookaheadFrameCount
      let firstSoundFrame =
        (expectedFrame - 10..<expectedFrame + 200).first { abs(playedSamples[$0]) > 1e-4 } ?? -1
      #expect((expectedFrame...expectedFrame + 4).contains(firstSoundFrame), "\(onset)")
    }
  }

  @Test func releasedPlayerFinishesAndIsFreed() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let pattern = hum(0.3)
    do {
      let player = try engine.player(for: pattern)
      try player.start(at: .frame(960))
    }
    playback.advance(seconds: 0.5)
    let playedSamples = playback.samples()
    let expected = try offline(pattern, frameCount: playedSamples.count, silentFrameCount: 960)
    #expect(maximumDifference(playedSamples, expected).magnitude == 0)
    #expect(engine.loadedPlayerCount == 0)
  }

  @Test func cancelingRemovesPlannedStarts() throws {
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
    let endCounter = Counter()
    player.endHandler = { endCounter.increment() }
    for start in [0, 4_800, 9_600] {
      try player.start(at: .frame(Int64(start)))
    }
    playback.advance(seconds: 0.5)
    #expect(endCounter.count == 3)
  }
}
