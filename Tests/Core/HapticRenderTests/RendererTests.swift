import Glibc
import HapticModel
import Testing

@testable import HapticRender

/// The splash of the earthquake drill, which uses most of the model at once.
let earthquakePattern = HapticPattern(
  events: [
    humEvent(0, 0.8, intensity: 0.3, sharpness: 0.15),
    humEvent(0.8, 1, intensity: 0.9, sharpness: 0.6),
    tapEvent(0.9, intensity: 1, sharpness: 0.8), tapEvent(1.2, intensity: 0.9, sharpness: 0.7),
    tapEvent(1.5, intensity: 0.7, sharpness: 0.5),
    humEvent(1.8, 0.4, intensity: 0.4, sharpness: 0.2),
  ],
  curves: [
    curve(
      .hapticIntensityControl, [(0, 0.4), (0.4, 0.6), (0.8, 1), (1.3, 1), (1.8, 0.5), (2.2, 0)]),
    curve(.hapticSharpnessControl, [(0, 0.2), (0.8, 0.8), (1.3, 0.7), (2.2, 0)]),
  ])

@Suite struct RendererTests {
  @Test(arguments: [0, 0.25, 0.422601, 0.5, 0.75, 1]) func frequencyFollowsSharpness(
    sharpness: Float
  ) throws {
    let samples = try render(HapticPattern(events: [humEvent(sharpness: sharpness)]))
    let expected = 80 * pow(230.0 / 80, Double(sharpness))
    let measured = frequency(of: samples, rate: 48_000, from: 0.1, to: 0.9)
    #expect(abs(measured / expected - 1) < 1e-4)
  }

  @Test(arguments: [0.1, 0.3, 0.5, 0.75, 1]) func levelIsTheSquareOfIntensity(intensity: Float)
    throws
  {
    let samples = try render(HapticPattern(events: [humEvent(intensity: intensity)]))
    let hertz = TransducerProfile.phone.frequency.hertz(atSharpness: 0.5)
    let measured = amplitude(of: samples, rate: 48_000, at: 0.5, hertz: hertz, cycles: 40)
    #expect(
      abs(
        decibels(
          measured, TransducerProfile.defaultFullIntensityAmplitude * Double(intensity * intensity))
      ) < 0.02
    )
  }

  @Test(arguments: [8_000, 44_100, 48_000, 96_000, 192_000]) func onsetsAreExactToTheFrame(
    rate: Double
  ) throws {
    for time in [0.1, 0.2503, 0.33333] {
      for event in [tapEvent(time), humEvent(time, 0.1)] {
        let samples = try render(HapticPattern(events: [event]), rate: rate)
        let onset = Int((time * rate).rounded())
        #expect(samples[...onset].allSatisfy { $0 == 0 })
        #expect(samples[onset + 1] != 0)
      }
    }
  }

  @Test(arguments: [1, 7, 64, 255, 256, 257, 4096]) func blocksOfAnyLengthGiveEqualSamples(
    length: Int
  ) throws {
    let expected = try render(earthquakePattern, blockLength: 100_000)
    #expect(try render(earthquakePattern, blockLength: length) == expected)
  }

  /// Within one block, the first pass ends, the second is in its release, and the third begins.
  @Test(arguments: [1, 63, 200]) func blocksOfAnyLengthGiveEqualPasses(length: Int) throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.02, [.releaseTime: 0.1])])
    let settings = RenderSettings(passCount: 3, outputFrameCount: 480)
    let expected = try render(pattern, rate: 8_000, settings: settings, blockLength: 256)
    #expect(expected[330..<480].contains { abs($0) > 0.3 })
    #expect(try render(pattern, rate: 8_000, settings: settings, blockLength: length) == expected)
  }

  @Test func aRenderingEndsWithThePattern() throws {
    let plan = try RenderPlan(compiling: earthquakePattern)
    #expect(plan.loopFrameCount == 105_600)
    // The last release is the shortest edge, 1 ms.
    #expect(plan.soundEndFrame == 105_648)
    #expect(try render(earthquakePattern).count == 105_648)
  }

  @Test func twoHundredEventsAtOnceStayBelowTheCeiling() throws {
    let pattern = HapticPattern(
      events: (0..<100).flatMap { _ in [tapEvent(0.1), humEvent(0.1, 0.5)] })
    let samples = try render(pattern)
    let peak = samples.map(abs).max() ?? 0
    #expect(peak <= pow(10, -1.0 / 20))
    #expect(peak > 0.85)
  }

  @Test func aSteadyEventIsNotLimited() throws {
    let plan = try RenderPlan(compiling: HapticPattern(events: [humEvent(), tapEvent(0.5)]))
    var rendering = OfflineRenderer(plan: plan)
    _ = rendering.samples()
    #expect(rendering.statistics.limitedFrameCount == 0)
    #expect(rendering.statistics.peakVoiceCount == 2)
  }

  @Test(arguments: [1, 3]) func samplesReturnsTheRemainingFrames(channelCount: Int) throws {
    let plan = try RenderPlan(compiling: earthquakePattern, rate: 8_000)
    let settings = RenderSettings(channelCount: channelCount)
    let expected = rendered(plan, settings)
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    #expect(rendering.samples() == expected)
    #expect(rendering.samples().isEmpty)
    rendering = OfflineRenderer(plan: plan, settings: settings)
    var block = [Float](repeating: 0, count: 100 * channelCount)
    do {
      var span = block.mutableSpan
      #expect(rendering.read(into: &span) == 100)
    }
    #expect(block + rendering.samples() == expected)
    var emptyRendering = OfflineRenderer(plan: try RenderPlan(compiling: HapticPattern()))
    #expect(emptyRendering.samples().isEmpty)
  }

  @Test func aFadeEndsInSilence() throws {
    let settings = RenderSettings(outputFrameCount: 24_000, fadeOutFrameCount: 480)
    let samples = try render(HapticPattern(events: [humEvent()]), settings: settings)
    #expect(samples.count == 24_000)
    #expect(samples.last == 0)
    #expect(samples[23_000..<23_520].contains { abs($0) > 0.35 })
  }

  @Test func everyChannelCarriesTheHaptics() throws {
    let mono = try render(earthquakePattern)
    let threeChannels = try render(earthquakePattern, settings: RenderSettings(channelCount: 3))
    for channel in 0..<3 {
      #expect(
        stride(from: channel, to: threeChannels.count, by: 3).map { threeChannels[$0] } == mono)
    }
  }

  @Test func passesHaveNoGap() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.25, sharpness: 0)])
    let settings = RenderSettings(passCount: 3, outputFrameCount: 36_000)
    let samples = try render(pattern, settings: settings)
    let singlePass = try render(pattern)
    #expect(samples[..<12_000] == singlePass[..<12_000])
    for pass in [1, 2] {
      let middleFrame = pass * 12_000 + 6_000
      #expect(abs(samples[middleFrame + 150] - samples[6_150]) < 0.01)
    }
  }
}

/// Regression tests for errors of other renderers of haptic patterns.
@Suite struct ProbeTests {
  private func rendered(_ pattern: HapticPattern) throws -> [Float] {
    try render(pattern, rate: 8_000)
  }

  @Test func sharpnessChangesATransient() throws {
    let lowSharpness = try rendered(HapticPattern(events: [tapEvent(sharpness: 0)]))
    let highSharpness = try rendered(HapticPattern(events: [tapEvent(sharpness: 1)]))
    #expect(lowSharpness.count > 2 * highSharpness.count)
  }

  @Test func attackAndReleaseChangeAContinuousEvent() throws {
    let withoutTimes = try rendered(HapticPattern(events: [humEvent()]))
    let withTimes = try rendered(
      HapticPattern(events: [humEvent(0, 1, [.attackTime: 0.5, .releaseTime: 0.2])]))
    #expect(withTimes.count > withoutTimes.count)
    #expect(peak(withTimes[..<400]) < 0.3 * peak(withoutTimes[..<400]))
  }

  @Test func anIntensityOfZeroSilencesFromItsTime() throws {
    let samples = try rendered(
      HapticPattern(
        events: [humEvent()], parameters: [controlStep(.hapticIntensityControl, 0, at: 0.5)]))
    #expect(peak(samples[..<4_000]) > 0.43)
    #expect(peak(samples[4_016...]) < 0.003)
  }

  @Test func aSharpnessCurveOfZerosChangesNothing() throws {
    let constantPattern = HapticPattern(events: [humEvent(0, 1, sharpness: 0.4)])
    var curvedPattern = constantPattern
    curvedPattern.curves = [curve(.hapticSharpnessControl, [(0, 0), (1, 0)])]
    #expect(maximumDifference(try rendered(constantPattern), try rendered(curvedPattern)) < 1e-6)
  }

  @Test func aCurveThatEndedBeforeTheEventStillHolds() throws {
    let pattern = HapticPattern(
      events: [humEvent(0.5, 0.5)], curves: [curve(.hapticIntensityControl, [(0, 1), (0.3, 0.2)])])
    #expect(abs(peak(try rendered(pattern)) - 0.44 * 0.04) < 0.0005)
  }

  @Test func curvesInAnotherOrderAreTheSame() throws {
    var reversedPattern = earthquakePattern
    reversedPattern.curves.reverse()
    reversedPattern.events.reverse()
    #expect(
      maximumDifference(try rendered(reversedPattern), try rendered(earthquakePattern)) < 1e-6)
  }

  @Test func transientWithoutParametersHasTheDefaults() throws {
    let withoutParameters = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)])
    let withDefaults = HapticPattern(events: [tapEvent(0, intensity: 0.75, sharpness: 0.5)])
    #expect(try rendered(withoutParameters) == rendered(withDefaults))
  }

  @Test func valuesBeyondTheRangeAreClamped() throws {
    let outOfRangePattern = HapticPattern(events: [humEvent(0, 1, intensity: 5, sharpness: 9)])
    #expect(
      try rendered(outOfRangePattern)
        == rendered(HapticPattern(events: [humEvent(0, 1, sharpness: 1)])))
  }

  @Test func fourFullVoicesAreLimitedWithoutClipping() throws {
    let fourHums = HapticPattern(events: (0..<4).map { _ in humEvent(0, 2) })
    let samples = try render(fourHums)
    #expect(peak(samples) <= 0.891)
    let hertz = TransducerProfile.phone.frequency.hertz(atSharpness: 0.5)
    let settledSamples = samples[48_000..<90_000]
    let thirdHarmonic = amplitude(of: settledSamples, hertz: 3 * hertz, rate: 48_000)
    #expect(
      decibels(thirdHarmonic, amplitude(of: settledSamples, hertz: hertz, rate: 48_000)) < -45)
  }

  @Test func frequenciesAreNotRoundedToWholeHertz() throws {
    let sharpness = Float(0.780_95)
    let expectedHertz = TransducerProfile.phone.frequency.hertz(atSharpness: Double(sharpness))
    #expect(abs(expectedHertz - 182.5) < 0.01)
    let samples = try rendered(HapticPattern(events: [humEvent(0, 5, sharpness: sharpness)]))
    #expect(abs(frequency(of: samples, rate: 8_000, from: 0.5, to: 4.5) - expectedHertz) < 0.001)
  }

  @Test func curveTimesAreNotRoundedToMilliseconds() throws {
    let shortCurve = curve(.hapticIntensityControl, at: 0.100_2, [(0, 1), (0.000_25, 0)])
    let control = ControlTimeline(
      of: .hapticIntensityControl, in: HapticPattern(curves: [shortCurve]),
      grid: .frames(rate: 192_000))
    #expect(control.segments.map(\.startPosition) == [0, 19_238, 19_286])
  }

  @Test func audioTonesAreHeard() throws {
    let tone = HapticEvent(kind: .audioContinuous, time: 0, duration: 0.2)
    #expect(peak(try rendered(HapticPattern(events: [tone]))) > 0.4)
  }

  @Test func framesAfterTheEndAreSilent() throws {
    let plan = try RenderPlan(compiling: HapticPattern(events: [tapEvent()]), rate: 8_000)
    var rendering = OfflineRenderer(plan: plan)
    var block = [Float](repeating: 0, count: 512)
    var span = block.mutableSpan
    var counts: [Int] = []
    for _ in 0..<3 {
      counts.append(rendering.read(into: &span))
    }
    #expect(counts == [118, 0, 0])
    var renderer = Renderer(plan: plan)
    for _ in 0..<200 {
      renderer.render(into: &span)
    }
    #expect(peak(block) < 1e-6)
  }

  @Test func theEarthquakeIsNeitherClippedNorSteep() throws {
    let samples = try render(earthquakePattern)
    #expect(peak(samples) <= 0.891)
    #expect(maximumStep(samples) < 0.05)
  }
}
