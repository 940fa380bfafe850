import Glibc
import HapticModel
import Testing

@testable import HapticRender

/// Sampled signals on the haptic bus, which no event describes.
@Suite struct SampledSignalTests {
  private func sine(_ hertz: Double, rate: Double, seconds: Double, amplitude: Double = 0.5)
    -> [Float]
  {
    (0..<Int(rate * seconds)).map {
      Float(amplitude * sin(2 * Double.pi * hertz * Double($0) / rate))
    }
  }

  private func composition(
    _ samples: [Float], rate: Double, at time: Double = 0,
    _ pattern: HapticPattern = HapticPattern()
  ) -> HapticComposition {
    HapticComposition(layers: [
      .init(
        pattern, signals: [SampledSignal(startSeconds: time, sampleRate: rate, samples: samples)])
    ])
  }

  private func samples(
    _ composition: HapticComposition, rate: Double = 48_000,
    settings: RenderSettings = RenderSettings(),
    blockLength: Int = 512
  ) throws -> [Float] {
    rendered(try RenderPlan(compiling: composition, rate: rate), settings, blockLength: blockLength)
  }

  /// The level of a full continuous event of the profile `phone`.
  private let phoneLevel = 0.44

  @Test(arguments: [8_000.0, 44_100, 48_000, 192_000]) func keepsFrequencyLevelAndOnsetAtAnyRate(
    rate: Double
  ) throws {
    let signal = composition(sine(100, rate: 8_000, seconds: 0.5), rate: 8_000, at: 0.25)
    let output = try samples(signal, rate: rate)
    #expect(abs(frequency(of: output, rate: rate, from: 0.3, to: 0.7) - 100) < 0.01)
    let measuredAmplitude = amplitude(of: output, rate: rate, at: 0.5, hertz: 100)
    #expect(abs(measuredAmplitude / (0.5 * phoneLevel) - 1) < 0.003)
    let onsetFrame = try #require(output.firstIndex { abs($0) > 0.01 })
    #expect(abs(Double(onsetFrame) / rate - 0.25) < 0.0005)
    #expect(abs(Double(output.count) / rate - 0.75) < 1 / rate)
  }

  @Test func otherRatesAddNoImages() throws {
    let lowRateSine = sine(700, rate: 2_000, seconds: 0.5)
    let resampled = SignalResampler.resampled(lowRateSine, from: 2_000, to: 48_000)
    let expected = sine(700, rate: 48_000, seconds: 0.5)
    #expect(resampled.count == expected.count)
    #expect(maximumDifference(resampled[4_800..<19_200], expected[4_800..<19_200]) < 5e-4)
    // Frequencies above half of the lower rate are removed.
    let aboveNyquist = SignalResampler.resampled(
      sine(1_500, rate: 48_000, seconds: 0.5), from: 48_000, to: 2_000)
    #expect(peak(aboveNyquist[200..<800]) < 5e-4)
    #expect(SignalResampler.resampled(lowRateSine, from: 2_000, to: 2_000) == lowRateSine)
    #expect(SignalResampler.resampled([], from: 2_000, to: 48_000).isEmpty)
  }

  @Test func signalFollowsTheIntensityOfItsLayer() throws {
    let halfIntensity = HapticPattern(parameters: [controlStep(.hapticIntensityControl, 0.5, at: 0)]
    )
    let signal = sine(100, rate: 48_000, seconds: 0.5)
    let output = try samples(composition(signal, rate: 48_000, halfIntensity))
    // The square law of the profile.
    let measuredAmplitude = amplitude(of: output, rate: 48_000, at: 0.25, hertz: 100)
    #expect(abs(measuredAmplitude / (0.25 * 0.5 * phoneLevel) - 1) < 0.003)
    var compositionOfTwoLayers = composition(signal, rate: 48_000)
    compositionOfTwoLayers.layers.append(.init(halfIntensity))
    let amplitudeOfOtherLayer = amplitude(
      of: try samples(compositionOfTwoLayers), rate: 48_000, at: 0.25, hertz: 100)
    #expect(abs(amplitudeOfOtherLayer / (0.5 * phoneLevel) - 1) < 0.003)
  }

  @Test func signalPlaysWithEventsAndInLoops() throws {
    let pattern = HapticPattern(events: [humEvent(0.1, 0.2, intensity: 0.5)])
    let signal = composition(sine(160, rate: 8_000, seconds: 0.5, amplitude: 0.3), rate: 8_000)
    var combined = signal
    combined.layers[0].pattern = pattern
    let combinedSamples = try samples(combined)
    let sumOfSamples = zip(
      try samples(signal), try render(pattern) + [Float](repeating: 0, count: 48_000)
    )
    .map { $0 + $1 }
    #expect(maximumDifference(combinedSamples, sumOfSamples) < 1e-3)
    let twoPasses = try samples(
      signal, settings: RenderSettings(passCount: 2, outputFrameCount: 48_000))
    #expect(maximumDifference(twoPasses[24_500...], twoPasses[500...]) < 2e-3)
    #expect(try samples(combined, blockLength: 7) == combinedSamples)
  }

  @Test func hardEdgesAreRamped() throws {
    let output = try samples(composition([Float](repeating: 1, count: 4_800), rate: 48_000))
    #expect(maximumStep(output) < 0.02)
    #expect(peak(output) > 0.4)
  }

  @Test func signalExtendsTheComposition() throws {
    let signal = composition([0, 1, 0, -1], rate: 100, at: 2)
    #expect(signal.durationSeconds == 2.04)
    #expect(!signal.flattensExactly)
    let plan = try RenderPlan(compiling: signal, rate: 8_000)
    #expect(plan.loopFrameCount == 16_320 && plan.soundEndFrame == 16_320 && plan.hasHaptics)
    var delayedLayer = signal.layers[0]
    delayedLayer.delay(by: 1)
    #expect(delayedLayer.durationSeconds == 3.04)
  }

  @Test func invalidSignalsAreRefused() throws {
    func refusal(_ time: Double, _ rate: Double, count: Int = 1) -> String? {
      let samples = [Float](repeating: 0, count: count)
      do {
        _ = try RenderPlan(compiling: composition(samples, rate: rate, at: time))
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(refusal(0, 100) == nil)
    #expect(refusal(-1, 8_000) == "signal 1: time is negative or not finite")
    #expect(refusal(.nan, 8_000) == "signal 1: time is negative or not finite")
    #expect(refusal(0, 99) == "signal 1: invalid sample rate 99.0 Hz: expected 100 to 192000")
    #expect(refusal(0, .infinity) != nil && refusal(86_400, 8_000) != nil)
    #expect(
      refusal(0, 100, count: 180_001)
        == "signal 1: the signals of a layer can last 1800 s in total, within one day (86400 s)")
  }
}
