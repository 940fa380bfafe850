import Testing
import TestSupport

@testable import HapticRender

#if arch(x86_64)
  import CSampleKernels
#endif

/// Steps of protection that are passed together, held against each taken by itself, bit for bit.
struct TransducerPassTests {
  /// Bursts between rests, of which the loud ones move the transducer too far.
  private func signal(_ count: Int, period: Int, loudness: Float, _ numbers: inout SeededGenerator) -> [Float] {
    var level: Float = 0
    return (0..<count).map { frame in
      if frame % 1_400 == 0 { level = [0, 0.01, 0.2, loudness].randomElement(using: &numbers) ?? 0 }
      let hum: Float = frame % period < period / 2 ? -1 : 1
      let noise = Float(numbers.next() >> 40) / 0x1p23 - 1
      return level * (0.9 * hum + 0.1 * noise)
    }
  }

  @Test(arguments: [40.0, 170], [false, true]) func stepsTogetherAreThoseTakenAlone(
    resonance: Double, isUncertain: Bool
  ) throws {
    var rig = TransducerRig(resonance: resonance, amplifierPower: 400)
    if isUncertain { rig.uncertainty = .estimated }
    let settings = try #require(rig.profile.transducerSettings(rate: rig.rate))
    var numbers = SeededGenerator(seed: 21)
    for loudness in [0.3, 0.891] as [Float] {
      // Nearly warm at the start, so that power is held too.
      let warm = TransducerThermalState(coil: 0.1, magnet: 0.83)
      var together = TransducerLimiter(settings, temperatureRise: warm)
      var alone = TransducerLimiter(settings, temperatureRise: warm)
      var (first, second) = (RenderStatistics(), RenderStatistics())
      var highest: Float = 0
      for _ in 0..<50 {
        let samples = signal(
          .random(in: 1...3_000, using: &numbers), period: Int(rig.rate / resonance), loudness: loudness, &numbers)
        var (a, b) = (samples, samples)
        var span = a.mutableSpan
        together.process(&span, count: samples.count, statistics: &first)
        span = b.mutableSpan
        alone.process(&span, count: samples.count, statistics: &second, isStepwise: true)
        #expect(a.map(\.bitPattern) == b.map(\.bitPattern))
        highest = max(highest, a.map(abs).max() ?? 0)
      }
      #expect(first == second)
      #expect(together.temperatureRise == alone.temperatureRise)
      #expect(highest > 0)
      #expect(first.peakExcursion > 0)
      if loudness > 0.8 { #expect(first.excursionLimitedFrameCount > 0) }
      if loudness > 0.8 { #expect(first.powerLimitedFrameCount > 0) }
    }
  }

  #if arch(x86_64)
    @Test(arguments: SampleKernelTests.levels) func everySetOfInstructionsPassesSteps(level: Int) throws {
      let kernels = try #require(unsafe temblor_kernels_of(Int32(level))?.pointee)
      var rig = TransducerRig(resonance: 60)
      rig.uncertainty = .estimated
      let settings = try #require(rig.profile.transducerSettings(rate: rig.rate))
      let inC = TransducerLimiter(settings, temperatureRise: TransducerThermalState())
      var inSwift = TransducerLimiter(settings, temperatureRise: TransducerThermalState())
      var guarding = unsafe inC.lent()
      var statistics = RenderStatistics()
      var numbers = SeededGenerator(seed: 23)
      for _ in 0..<100 {
        let steps = Int.random(in: 1...9, using: &numbers)
        let count = steps * inC.delay / 2
        var samples = signal(count, period: 800, loudness: 0.1, &numbers)
        var others = samples
        #expect(unsafe kernels.pass(&guarding, &samples, steps) == steps)
        var span = others.mutableSpan
        inSwift.process(&span, count: count, statistics: &statistics, isStepwise: true)
        #expect(samples.map(\.bitPattern) == others.map(\.bitPattern))
        let expected = unsafe inSwift.lent()
        unsafe #expect(guarding.latest.square == expected.latest.square)
        unsafe #expect(guarding.latest.rising_tilt == expected.latest.rising_tilt)
        unsafe #expect(guarding.asked == expected.asked)
        unsafe #expect(guarding.coil == expected.coil)
        unsafe #expect(guarding.newest == expected.newest)
        unsafe #expect(guarding.older == expected.older)
        unsafe #expect(guarding.bucket_place == expected.bucket_place)
        unsafe #expect(guarding.excursion == statistics.peakExcursion)
      }
      unsafe #expect(guarding.coil > 0 && guarding.excursion > 0)
    }
  #endif
}
