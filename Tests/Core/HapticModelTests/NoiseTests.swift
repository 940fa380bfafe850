import Foundation
import HapticModel
import Testing

@Suite struct NoiseTests {
  /// Returns the amplitude of a frequency that has a whole number of cycles in the samples.
  private func amplitude(_ samples: [Float], cycles: Int) -> Double {
    var real = 0.0
    var imaginary = 0.0
    for (index, sample) in samples.enumerated() {
      let phase = 2 * Double.pi * Double(index * cycles % samples.count) / Double(samples.count)
      real += Double(sample) * cos(phase)
      imaginary += Double(sample) * sin(phase)
    }
    return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
  }

  @Test(arguments: [(50.0, 1.0), (40, 0.1), (120, 2)]) func noiseIsLimitedToItsBand(
    center: Double, bandwidth: Double
  ) {
    let noise = SampledSignal.noise(center: center, bandwidth: bandwidth, rate: 2_000, seed: 3)
    #expect(noise.samples.count == 8_000)
    #expect(noise.samples.map(abs).max() == 1)
    let power = noise.samples.reduce(0) { $0 + Double($1) * Double($1) } / 8_000
    let firstCycleCount = Int((center * exp2(-bandwidth / 2) * 4).rounded(.up))
    let lastCycleCount = Int(center * exp2(bandwidth / 2) * 4)
    let amplitudes = (firstCycleCount...lastCycleCount).map { amplitude(noise.samples, cycles: $0) }
    let powerInBand = amplitudes.reduce(0) { $0 + $1 * $1 / 2 }
    #expect(abs(powerInBand / power - 1) < 1e-4)
    // The spectrum is flat: all frequencies in the band are equally strong.
    let audibleAmplitudes = amplitudes.filter { $0 > 1e-3 }
    #expect(audibleAmplitudes.count == min(96, amplitudes.count))
    #expect((audibleAmplitudes.max() ?? 0) / (audibleAmplitudes.min() ?? 1) < 1.01)
    #expect((0.15...0.72).contains(power.squareRoot()))
  }

  @Test func noiseDependsOnlyOnTheSeed() {
    let noise = SampledSignal.noise(center: 60, bandwidth: 1, rate: 1_000, seed: 1)
    let noiseOfSameSeed = SampledSignal.noise(center: 60, bandwidth: 1, rate: 1_000, seed: 1)
    let noiseOfOtherSeed = SampledSignal.noise(center: 60, bandwidth: 1, rate: 1_000, seed: 2)
    #expect(noise == noiseOfSameSeed)
    let crossPower = zip(noise.samples, noiseOfOtherSeed.samples).reduce(0) {
      $0 + Double($1.0 * $1.1)
    }
    let power = noise.samples.reduce(0) { $0 + Double($1 * $1) }
    #expect(abs(crossPower / power) < 0.3)
  }

  @Test func noiseStartsAndEndsNearZero() {
    for seed in 0..<10 {
      let samples = SampledSignal.noise(center: 90, bandwidth: 2, rate: 48_000, seed: UInt64(seed))
        .samples
      #expect(abs(samples[0]) < 0.01 && abs(samples[samples.count - 1]) < 0.01)
    }
  }

  @Test(arguments: [(Double.nan, 1.0, 48_000.0), (-5, 99, 100), (1e9, .infinity, 1e9), (50, 0, 0)])
  func argumentsOutOfRangeAreLimited(center: Double, bandwidth: Double, rate: Double) {
    let noise = SampledSignal.noise(center: center, bandwidth: bandwidth, rate: min(rate, 2_000))
    #expect(SampledSignal.supportedSampleRates.contains(noise.sampleRate))
    #expect(noise.samples.allSatisfy { abs($0) <= 1 })
    #expect(noise.samples.contains { $0 != 0 })
  }
}
