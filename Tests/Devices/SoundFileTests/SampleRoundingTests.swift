import TestSupport
import Testing

@testable import SoundFile

/// Integer samples of 24 and 32 bits are rounded to the nearest value.
struct SampleRoundingTests {
  @Test(arguments: [8_388_607.0, 2_147_483_647]) func samplesAreRoundedToTheNearestStep(
    stepCount: Double
  ) {
    var generator = SplitMixGenerator(state: 5)
    for index in 0..<40_000 {
      let random = Float.random(in: -1..<1, using: &generator)
      // Magnitudes from far below a step to beyond full scale, and halves of steps.
      let sample =
        index % 4 == 0
        ? Float((Double(index) + 0.5) / stepCount)
        : random * Float(sign: .plus, exponent: 2 - index % 40, significand: 1)
      let nearest = min(max((Double(sample) * stepCount).rounded(), -stepCount), stepCount)
      #expect(SampleEncoder.quantizedSample(sample, stepCount: stepCount) == Int32(nearest))
    }
    for sample in [Float.infinity, -.infinity, .greatestFiniteMagnitude, -0.0, 1, -1] {
      let nearest = min(max((Double(sample) * stepCount).rounded(), -stepCount), stepCount)
      #expect(SampleEncoder.quantizedSample(sample, stepCount: stepCount) == Int32(nearest))
    }
    #expect(SampleEncoder.quantizedSample(.nan, stepCount: stepCount) == 0)
  }
}
