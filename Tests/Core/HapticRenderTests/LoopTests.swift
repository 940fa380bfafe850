import HapticModel
import TestSupport
import Testing

@testable import HapticRender

@Suite struct LoopTests {
  /// What the passes of a pattern should be: its single rendering, laid over itself.
  private func overlaidPasses(
    _ pattern: HapticPattern, passes: Int, every length: Int, rate: Double
  ) throws
    -> [Float]
  {
    let once = try render(pattern, rate: rate)
    var sum = [Float](repeating: 0, count: length * (passes - 1) + once.count)
    for pass in 0..<passes {
      for (index, sample) in once.enumerated() {
        sum[pass * length + index] += sample
      }
    }
    return sum
  }

  private func loopedSamples(_ pattern: HapticPattern, passes: Int, count: Int, rate: Double) throws
    -> [Float]
  {
    let settings = RenderSettings(passCount: passes, outputFrameCount: Int64(count))
    return try render(pattern, rate: rate, settings: settings)
  }

  @Test(arguments: [0.001, 0.002, 0.01, 0.1]) func everyPassSoundsHoweverShort(duration: Double)
    throws
  {
    let pattern = HapticPattern(events: [humEvent(0, duration, intensity: 0.5)])
    let expected = try overlaidPasses(
      pattern, passes: 20, every: Int(duration * 8_000), rate: 8_000)
    let samples = try loopedSamples(pattern, passes: 20, count: expected.count, rate: 8_000)
    // The single rendering lacks what the high-pass still gives back behind its end.
    #expect(maximumDifference(samples.dropLast(1), expected.dropLast(1)) < 0.03)
    #expect(peak(samples[(samples.count / 2)...]) > 0.02)
  }

  @Test func releasesRingIntoTheNextPass() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.1, [.releaseTime: 0.7], intensity: 0.4)])
    let expected = try overlaidPasses(pattern, passes: 6, every: 800, rate: 8_000)
    let samples = try loopedSamples(pattern, passes: 6, count: expected.count, rate: 8_000)
    #expect(maximumDifference(samples, expected) < 0.01)
  }

  @Test func controlsBeginAnewWithEveryPass() throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 0.25)], curves: [curve(.hapticIntensityControl, [(0, 1), (0.25, 0)])])
    let samples = try loopedSamples(pattern, passes: 3, count: 6_000, rate: 8_000)
    let once = try loopedSamples(pattern, passes: 1, count: 2_000, rate: 8_000)
    for pass in 0..<3 {
      let part = samples[(pass * 2_000)..<((pass + 1) * 2_000)]
      #expect(maximumDifference(part.dropLast(10), once.dropLast(10)) < 0.003)
    }
  }

  @Test func thereIsNoClickBetweenPasses() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.237, sharpness: 1)])
    let samples = try loopedSamples(pattern, passes: 5, count: 48_000, rate: 48_000)
    let steepest = 0.44 * 2 * Float.pi * 230 / 48_000 * 2
    #expect(maximumStep(samples) < steepest)
  }

  @Test func endlessPassesGoOn() throws {
    let pattern = HapticPattern(events: [tapEvent(0), humEvent(0.05, 0.05)])
    let settings = RenderSettings(passCount: nil, outputFrameCount: 80_000)
    let samples = try render(pattern, rate: 8_000, settings: settings)
    #expect(peak(samples[79_200...]) > 0.4)
  }

  @Test func aLoopIsAsLongAsItsLongestPart() throws {
    #expect(
      try RenderPlan(compiling: HapticPattern(events: [tapEvent()]), rate: 8_000).loopFrameCount
        == 118)
    var long = tapEvent()
    long.duration = 0.5
    #expect(
      try RenderPlan(compiling: HapticPattern(events: [long]), rate: 8_000).loopFrameCount == 4_000)
    let endless = HapticEvent(kind: .hapticContinuous, time: 1)
    #expect(
      try RenderPlan(compiling: HapticPattern(events: [endless]), rate: 8_000).loopFrameCount
        == 248_000
    )
    let sound = AudioBuffer(interleaved: [Float](repeating: 0.1, count: 700), channelCount: 1)
    let file = HapticEvent(kind: .audioCustom, time: 1, waveform: AudioWaveform(path: "a"))
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [file]), rate: 8_000, samples: ["a": sound])
    #expect(plan.loopFrameCount == 8_700)
  }

  @Test func passesRepeatWhatLiesBetweenLoopPoints() throws {
    let once = HapticPattern(events: [tapEvent(0), tapEvent(0.1)])
    let loop = HapticComposition(
      layers: [.init(once)], loop: .init(startSeconds: 0.1, endSeconds: 0.2))
    let plan = try RenderPlan(compiling: loop, rate: 8_000)
    #expect(plan.loopRange == 800..<1_600 && plan.passFrameCount == 800)
    let settings = RenderSettings(passCount: 3, outputFrameCount: 4_000)
    let expected = try render(
      HapticPattern(events: [0, 0.1, 0.2, 0.3].map { tapEvent($0) }), rate: 8_000,
      settings: RenderSettings(outputFrameCount: 4_000))
    #expect(maximumDifference(rendered(plan, settings), expected) < 1e-4)
    #expect(rendered(plan) == (try render(once, rate: 8_000)), "one pass has no loop")
    let empty = HapticComposition(
      layers: [.init(once)], loop: .init(startSeconds: 0.2, endSeconds: 0.2))
    #expect(try RenderPlan(compiling: empty, rate: 8_000).loopRange == nil)
  }

  @Test(arguments: [nil, 0, -3, 5]) func anEmptyPatternLoopsInSilence(passes: Int?) throws {
    let settings = RenderSettings(passCount: passes, outputFrameCount: 500)
    let samples = try render(HapticPattern(), rate: 8_000, settings: settings)
    #expect(samples == [Float](repeating: 0, count: 500))
  }

  @Test func noPassAtAllIsOne() throws {
    let settings = RenderSettings(passCount: 0)
    #expect(
      try render(earthquakePattern, rate: 8_000, settings: settings)
        == render(earthquakePattern, rate: 8_000))
  }
}

@Suite struct TempoMapTests {
  @Test(arguments: [0.1, 1.0 / 3, 0.5, 0.999, 1, 1.1, 1.5, 2.7, 64])
  func bothDirectionsAgreeToTheFrame(rate: Double) {
    var tempoMap = TempoMap()
    var numbers = SplitMixGenerator(state: UInt64(rate * 1_000))
    tempoMap.setAnchor(position: 1_234, at: 77)
    for change in 0..<5 {
      let frame = Int64(77 + change * 10_007)
      tempoMap.setPlaybackRate(change == 3 ? 1.7 : rate, at: frame)
      for _ in 0..<500 {
        // Up to a year at 192 kHz.
        let reach = Int64(1) << Int64.random(in: 1...42, using: &numbers)
        let line = tempoMap.position(at: frame) + Int64.random(in: 0...reach, using: &numbers)
        let met = tempoMap.frame(at: line)
        #expect(tempoMap.position(at: met) >= line)
        #expect(met == frame || tempoMap.position(at: met - 1) < line)
      }
    }
  }

  @Test func aChangeOfRateKeepsThePlace() {
    var tempoMap = TempoMap()
    tempoMap.setAnchor(position: 0, at: 0)
    tempoMap.setPlaybackRate(0.5, at: 1_000)
    #expect(tempoMap.position(at: 1_000) == 1_000)
    tempoMap.setPlaybackRate(2, at: 1_001)
    #expect(tempoMap.position(at: 1_001) == 1_000)
    // The half frame is not lost.
    #expect(tempoMap.position(at: 1_002) == 1_002)
    tempoMap.setPlaybackRate(1, at: 1_002)
    #expect(!tempoMap.isUnityRate)
    #expect(tempoMap.position(at: 2_002) == 2_002)
  }

  @Test func ratesAreBounded() {
    var tempoMap = TempoMap()
    tempoMap.setPlaybackRate(1e9, at: 0)
    #expect(tempoMap.playbackRate == 64)
    tempoMap.setPlaybackRate(1e-9, at: 0)
    #expect(tempoMap.playbackRate == 1.0 / 64)
  }
}
