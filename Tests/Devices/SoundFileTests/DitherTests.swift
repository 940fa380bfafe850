import SoundFile
import Testing

@Suite struct DitherTests {
  private static let count = 100_000

  /// Returns the relative frequency of every quantized value of a sample.
  private func ditheredValueFrequencies(_ sample: Float) -> [Int16: Double] {
    var dither = Dither()
    var counts: [Int16: Double] = [:]
    for _ in 0..<Self.count {
      counts[dither.quantize(sample), default: 0] += 1
    }
    return counts.mapValues { $0 / Double(Self.count) }
  }

  /// Triangular noise with a width of two steps has 3/4 of its area within half a step, and 1/8
  /// beyond it on each side.
  @Test func wholeStepsAreSpreadTriangularly() {
    let frequencies = ditheredValueFrequencies(100 / 32_767)
    #expect(Set(frequencies.keys) == [99, 100, 101])
    #expect(abs((frequencies[99] ?? 0) - 0.125) < 0.005)
    #expect(abs((frequencies[100] ?? 0) - 0.75) < 0.005)
    #expect(abs((frequencies[101] ?? 0) - 0.125) < 0.005)
  }

  /// The variances of the noise, 1/6 of a squared step, and of rounding, 1/12, add up to 1/4.
  @Test(arguments: [0.1, 100.25, -7.5, -20_000.4, 3_000.9])
  func errorHasZeroMeanAndConstantVariance(
    steps: Double
  ) {
    let sample = Float(steps / 32_767)
    let exactSteps = Double(sample) * 32_767
    let frequencies = ditheredValueFrequencies(sample)
    let mean = frequencies.reduce(0) { $0 + (Double($1.key) - exactSteps) * $1.value }
    let meanSquare = frequencies.reduce(0) {
      $0 + (Double($1.key) - exactSteps) * (Double($1.key) - exactSteps) * $1.value
    }
    #expect(abs(mean) < 0.008)
    #expect(abs(meanSquare - 0.25) < 0.005)
  }

  @Test func silenceStaysSilent() {
    var dither = Dither()
    #expect((0..<1_000).allSatisfy { _ in dither.quantize(0) == 0 && dither.quantize(-0.0) == 0 })
  }

  @Test func fullScaleStaysInRange() {
    #expect(Set(ditheredValueFrequencies(1).keys).isSubset(of: [32_766, 32_767]))
    #expect(Set(ditheredValueFrequencies(-1).keys).isSubset(of: [-32_768, -32_767, -32_766]))
    #expect(ditheredValueFrequencies(9) == [32_767: 1])
    #expect(ditheredValueFrequencies(-9) == [-32_768: 1])
  }

  @Test func equalSeedsGiveEqualSamples() {
    func quantizedSamples(_ dither: Dither) -> [Int16] {
      var dither = dither
      return (0..<64).map { _ in dither.quantize(0.5) }
    }
    #expect(quantizedSamples(Dither(seed: 1)) == quantizedSamples(Dither(seed: 1)))
    #expect(quantizedSamples(Dither(seed: 1)) != quantizedSamples(Dither(seed: 2)))
  }
}
