import SoundFile
import Testing

@Suite struct DitherTests {
  private static let count = 100_000

  /// How often each value comes out for one sample.
  private func ditheredValueFrequencies(_ sample: Float) -> [Int16: Double] {
    var dither = Dither()
    var counts: [Int16: Double] = [:]
    for _ in 0..<Self.count {
      counts[dither.quantize(sample), default: 0] += 1
    }
    return counts.mapValues { $0 / Double(Self.count) }
  }

  /// Triangular noise of two steps leaves 3/4 of its area within half a step, 1/8 beyond on each
  /// side.
  @Test func spreadsAWholeStepTriangularly() {
    let shares = ditheredValueFrequencies(100 / 32_767)
    #expect(Set(shares.keys) == [99, 100, 101])
    #expect(abs((shares[99] ?? 0) - 0.125) < 0.005)
    #expect(abs((shares[100] ?? 0) - 0.75) < 0.005)
    #expect(abs((shares[101] ?? 0) - 0.125) < 0.005)
  }

  /// The variance of the noise, 1/6 of a step squared, and that of rounding, 1/12, add up to 1/4.
  @Test(arguments: [0.1, 100.25, -7.5, -20_000.4, 3_000.9]) func errorHasNoMeanAndOneVariance(
    steps: Double
  ) {
    let sample = Float(steps / 32_767)
    let exact = Double(sample) * 32_767
    let shares = ditheredValueFrequencies(sample)
    let mean = shares.reduce(0) { $0 + (Double($1.key) - exact) * $1.value }
    let square = shares.reduce(0) {
      $0 + (Double($1.key) - exact) * (Double($1.key) - exact) * $1.value
    }
    #expect(abs(mean) < 0.008)
    #expect(abs(square - 0.25) < 0.005)
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

  @Test func equalSeedsGiveEqualNumbers() {
    func numbers(_ dither: Dither) -> [Int16] {
      var dither = dither
      return (0..<64).map { _ in dither.quantize(0.5) }
    }
    #expect(numbers(Dither(seed: 1)) == numbers(Dither(seed: 1)))
    #expect(numbers(Dither(seed: 1)) != numbers(Dither(seed: 2)))
  }
}
