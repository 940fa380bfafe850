import HapticModel
import TestSupport
import Testing

@testable import HapticRender

@Suite struct LoopTests {
  /// Returns the expected samples of several passes: the sum of shifted copies of a single pass.
  private func overlaidPasses(
    _ pattern: HapticPattern, passes: Int, every length: Int, rate: Double
  ) throws
    -> [Float]
  {
    let singlePass = try render(pattern, rate: rate)
    var sum = [Float](repeating: 0, count: length * (passes - 1) + singlePass.count)
    for pass in 0..<passes {
      for (index, sample) in singlePass.enumerated() {
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

  @Test(arguments: [0.001, 0.002, 0.01, 0.1]) func passesOfAnyLengthAreAudible(duration: Double)
    throws
  {
    let pattern = HapticPattern(events: [humEvent(0, duration, intensity: 0.5)])
    let expected = try overlaidPasses(
      pattern, passes: 20, every: Int(duration * 8_000), rate: 8_000)
    let samples = try loopedSamples(pattern, passes: 20, count: expected.count, rate: 8_000)
    // A single pass ends before the high-pass filter has settled.
    #expect(maximumDifference(samples.dropLast(1), expected.dropLast(1)) < 0.03)
    #expect(peak(samples[(samples.count / 2)...]) > 0.02)
  }

  @Test func releasesContinueInTheNextPass() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.1, [.releaseTime: 0.7], intensity: 0.4)])
    let expected = try overlaidPasses(pattern, passes: 6, every: 800, rate: 8_000)
    let samples = try loopedSamples(pattern, passes: 6, count: expected.count, rate: 8_000)
    #expect(maximumDifference(samples, expected) < 0.01)
  }

  @Test func controlsRestartWithEveryPass() throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 0.25)], curves: [curve(.hapticIntensityControl, [(0, 1), (0.25, 0)])])
    let samples = try loopedSamples(pattern, passes: 3, count: 6_000, rate: 8_000)
    let singlePass = try loopedSamples(pattern, passes: 1, count: 2_000, rate: 8_000)
    for pass in 0..<3 {
      let passSamples = samples[(pass * 2_000)..<((pass + 1) * 2_000)]
      #expect(maximumDifference(passSamples.dropLast(10), singlePass.dropLast(10)) < 0.003)
    }
  }

  @Test func passesHaveNoClickBetweenThem() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.237, sharpness: 1)])
    let samples = try loopedSamples(pattern, passes: 5, count: 48_000, rate: 48_000)
    let maximumSineStep = 0.44 * 2 * Float.pi * 230 / 48_000 * 2
    #expect(maximumStep(samples) < maximumSineStep)
  }

  @Test func unlimitedPassesContinue() throws {
    let pattern = HapticPattern(events: [tapEvent(0), humEvent(0.05, 0.05)])
    let settings = RenderSettings(passCount: nil, outputFrameCount: 80_000)
    let samples = try render(pattern, rate: 8_000, settings: settings)
    #expect(peak(samples[79_200...]) > 0.4)
  }

  @Test func loopIsAsLongAsItsLongestEvent() throws {
    #expect(
      try RenderPlan(compiling: HapticPattern(events: [tapEvent()]), rate: 8_000).loopFrameCount
        == 118)
    var longTap = tapEvent()
    longTap.duration = 0.5
    #expect(
      try RenderPlan(compiling: HapticPattern(events: [longTap]), rate: 8_000).loopFrameCount
        == 4_000)
    let unboundedHum = HapticEvent(kind: .hapticContinuous, time: 1)
    #expect(
      try RenderPlan(compiling: HapticPattern(events: [unboundedHum]), rate: 8_000).loopFrameCount
        == 248_000
    )
    let audioBuffer = AudioBuffer(interleaved: [Float](repeating: 0.1, count: 700), channelCount: 1)
    let soundEvent = HapticEvent(kind: .audioCustom, time: 1, waveform: AudioWaveform(path: "a"))
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [soundEvent]), rate: 8_000, samples: ["a": audioBuffer])
    #expect(plan.loopFrameCount == 8_700)
  }

  @Test func passesRepeatTheRangeBetweenLoopPoints() throws {
    let twoTaps = HapticPattern(events: [tapEvent(0), tapEvent(0.1)])
    let loopedComposition = HapticComposition(
      layers: [.init(twoTaps)], loop: .init(startSeconds: 0.1, endSeconds: 0.2))
    let plan = try RenderPlan(compiling: loopedComposition, rate: 8_000)
    #expect(plan.loopRange == 800..<1_600 && plan.passFrameCount == 800)
    let settings = RenderSettings(passCount: 3, outputFrameCount: 4_000)
    let expected = try render(
      HapticPattern(events: [0, 0.1, 0.2, 0.3].map { tapEvent($0) }), rate: 8_000,
      settings: RenderSettings(outputFrameCount: 4_000))
    #expect(maximumDifference(rendered(plan, settings), expected) < 1e-4)
    #expect(rendered(plan) == (try render(twoTaps, rate: 8_000)), "one pass has no loop")
    let compositionWithEmptyLoop = HapticComposition(
      layers: [.init(twoTaps)], loop: .init(startSeconds: 0.2, endSeconds: 0.2))
    #expect(try RenderPlan(compiling: compositionWithEmptyLoop, rate: 8_000).loopRange == nil)
  }

  @Test(arguments: [nil, 0, -3, 5]) func anEmptyPatternLoopsInSilence(passes: Int?) throws {
    let settings = RenderSettings(passCount: passes, outputFrameCount: 500)
    let samples = try render(HapticPattern(), rate: 8_000, settings: settings)
    #expect(samples == [Float](repeating: 0, count: 500))
  }

  @Test func passCountOfZeroPlaysOnePass() throws {
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
    var generator = SplitMixGenerator(state: UInt64(rate * 1_000))
    tempoMap.setAnchor(position: 1_234, at: 77)
    for change in 0..<5 {
      let frame = Int64(77 + change * 10_007)
      tempoMap.setPlaybackRate(change == 3 ? 1.7 : rate, at: frame)
      for _ in 0..<500 {
        // Up to a year at 192 kHz.
        let maximumDistance = Int64(1) << Int64.random(in: 1...42, using: &generator)
        let targetPosition =
          tempoMap.position(at: frame) + Int64.random(in: 0...maximumDistance, using: &generator)
        let firstFrame = tempoMap.frame(at: targetPosition)
        #expect(tempoMap.position(at: firstFrame) >= targetPosition)
        #expect(firstFrame == frame || tempoMap.position(at: firstFrame - 1) < targetPosition)
      }
    }
  }

  @Test func changingTheRateKeepsThePosition() {
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
