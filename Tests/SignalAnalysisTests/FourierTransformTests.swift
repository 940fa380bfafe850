import Glibc
import SignalAnalysis
import Testing

struct FourierTransformTests {
  @Test(arguments: [2, 10, 64, 360, 4_096]) func roundTripKeepsSamples(length: Int) {
    var transform = FourierTransform(length: length)
    let samples = Array(Tone.noise(seconds: 1).prefix(length))
    let again = transform.backward(transform.forward(samples))
    #expect(zip(samples, again).allSatisfy { abs($0 - $1) < 2e-6 })
  }

  @Test func binsHoldTheDefinition() {
    var transform = FourierTransform(length: 6)
    let samples: [Float] = [1, -2, 3, 0.5, 0, 4]
    for (k, bin) in transform.forward(samples).enumerated() {
      var (real, imaginary) = (0.0, 0.0)
      for (n, sample) in samples.enumerated() {
        real += Double(sample) * cos(2 * .pi * Double(k * n) / 6)
        imaginary -= Double(sample) * sin(2 * .pi * Double(k * n) / 6)
      }
      #expect(abs(Double(bin.real) - real) < 1e-5)
      #expect(abs(Double(bin.imaginary) - imaginary) < 1e-5)
    }
  }

  @Test func shortSamplesAreFollowedBySilence() {
    var transform = FourierTransform(length: 4)
    #expect(transform.forward([1]) == [ComplexNumber(1), ComplexNumber(1), ComplexNumber(1)])
  }

  @Test func fastLengthsAreEvenAndSmooth() {
    #expect(FourierTransform.fastLength(atLeast: 0) == 2)
    #expect(FourierTransform.fastLength(atLeast: 7) == 8)
    #expect(FourierTransform.fastLength(atLeast: 4_801) == 4_860)
  }
}
