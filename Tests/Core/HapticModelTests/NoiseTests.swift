import Foundation
import HapticModel
import Testing

@Suite struct NoiseTests {
  /// The amplitude of a frequency that has a whole number of cycles in the samples.
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

  @Test(arguments: [(50.0, 1.0), (40, 0.1), (120, 2)]) func allOfItIsInItsBand(
    center: Double, bandwidth: Double
  ) {
    let noise = SampledSignal.noise(center: center, bandwidth: bandwidth, rate: 2_000, seed: 3)
    #expect(noise.samples.count == 8_000)
    #expect(noise.samples.map(abs).max() == 1)
    let power = noise.samples.reduce(0) { $0 + Double($1) * Double($1) } / 8_000
    let low = Int((center * exp2(-bandwidth / 2) * 4).rounded(.up))
    let high = Int(center * exp2(bandwidth / 2) * 4)
    let lines = (low...high).map { amplitude(noise.samples, cycles: $0) }
    let inside = lines.reduce(0) { $0 + $1 * $1 / 2 }
    #expect(abs(inside / power - 1) < 1e-4)
    // Flat: what is there is equally strong, from end to end.
    let strong = lines.filter { $0 > 1e-3 }
    #expect(strong.count == min(96, lines.count))
    #expect((strong.max() ?? 0) / (strong.min() ?? 1) < 1.01)
    #expect((0.15...0.72).contains(power.squareRoot()))
  }

  @Test func theSeedDecides() {
    let one = SampledSignal.noise(center: 60, bandwidth: 1, rate: 1_000, seed: 1)
    let same = SampledSignal.noise(center: 60, bandwidth: 1, rate: 1_000, seed: 1)
    let other = SampledSignal.noise(center: 60, bandwidth: 1, rate: 1_000, seed: 2)
    #expect(one == same)
    let product = zip(one.samples, other.samples).reduce(0) { $0 + Double($1.0 * $1.1) }
    let power = one.samples.reduce(0) { $0 + Double($1 * $1) }
    #expect(abs(product / power) < 0.3)
  }

  @Test func itBeginsAndEndsNearZero() {
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
