import Glibc
import SignalAnalysis
import Testing

struct BiquadTests {
  /// Returns the gain for a sine after a second, in decibels.
  private func gain(of filter: BiquadCascade, atHertz hertz: Double) -> Double {
    var filter = filter
    let rate = 8_000.0
    let output = (0..<16_000).map { filter.process(sin(2 * .pi * hertz / rate * Double($0))) }
    let power = output.suffix(8_000).reduce(0) { $0 + $1 * $1 } / 8_000
    return 10 * log10(2 * power)
  }

  @Test("A Butterworth filter attenuates its corner frequency by 3 dB", arguments: [1, 2, 4])
  func cornerIsAttenuatedByThreeDecibels(order: Int) {
    for band in [PassBand.lowPass, .highPass] {
      let filter = BiquadCascade(band, order: order, hertz: 500, rate: 8_000)
      #expect(abs(gain(of: filter, atHertz: 500) + 3.01) < 0.01)
    }
  }

  @Test("A Butterworth filter falls by 6 dB per octave and order")
  func slopeFollowsTheOrder() {
    for (order, slope) in [(2, 12.0), (4, 24)] {
      let filter = BiquadCascade(.highPass, order: order, hertz: 800, rate: 8_000)
      let octave = gain(of: filter, atHertz: 50) - gain(of: filter, atHertz: 25)
      #expect(abs(octave - slope) < 0.3)
    }
  }

  @Test("Coefficients are those of the difference equation")
  func coefficientsAreThoseOfTheDifferenceEquation() {
    var filter = Biquad<Double>(
      numeratorB0: 1, numeratorB1: 2, numeratorB2: 3, denominatorA1: 0.5, denominatorA2: 0.25)
    let output = [1.0, 0, 0, 0].map { filter.process($0) }
    #expect(output == [1, 1.5, 2, -1.375])
  }

  @Test("Filtering forward and backward has no delay")
  func zeroPhaseFilterHasNoDelay() {
    var samples = [Float](repeating: 0, count: 401)
    samples[200] = 1
    let output = Biquad<Float>(.lowPass, hertz: 400, rate: 8_000).zeroPhaseFiltered(samples)
    #expect(output.indices.max { output[$0] < output[$1] } == 200)
    #expect((0...200).allSatisfy { abs(output[200 - $0] - output[200 + $0]) < 1e-6 })
  }
}
