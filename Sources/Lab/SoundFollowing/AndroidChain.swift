internal import CMath
import SignalAnalysis

/// The signal chain of HapticGenerator from Android's open-source code (frameworks/av,
/// media/libeffects/hapticgenerator), with the same constants.
///
/// 1. Band-pass from 50 Hz to 9 kHz, then rectify.
/// 2. Band-pass from 60 Hz to 400 Hz, and resonate at 150 Hz with a quality of 1.
/// 3. Multiply by the envelope to the power of −0.8: slow compression.
/// 4. Stop the resonance: zeros with a quality of 8, poles with a quality of 4.
/// 5. Distort, low-pass at 300 Hz, and limit softly.
struct AndroidChain {
  private var inputFilters: [BiquadCascade] = []
  private var envelopeFilters: [BiquadCascade] = []
  private var resonanceFilter: BiquadCascade
  private var envelopeSmoother: BiquadCascade
  private var bandStopFilter: BiquadCascade
  private var outputFilters: [BiquadCascade] = []

  /// The denominator coefficients of a filter with a pair of complex poles.
  private struct PolePair {
    var firstDenominatorCoefficient: Double
    var secondDenominatorCoefficient: Double

    init(angle: Double, quality: Double) {
      let radius = exp(-angle / (2 * quality))
      firstDenominatorCoefficient = -2 * radius * cos(angle)
      secondDenominatorCoefficient = radius * radius
    }
  }

  init(rate: Double) {
    func pole(_ hertz: Double) -> Double { exp(-2 * .pi * hertz / rate) }
    func lowPass(_ hertz: Double) -> BiquadCascade {
      BiquadCascade(1 - pole(hertz), 0, 0, -pole(hertz), 0)
    }
    func highPass(_ hertz: Double) -> BiquadCascade {
      BiquadCascade((1 + pole(hertz)) / 2, -(1 + pole(hertz)) / 2, 0, -pole(hertz), 0)
    }
    inputFilters = [highPass(50), highPass(50), lowPass(9_000), lowPass(9_000)]
    envelopeFilters =
      [highPass(60), highPass(60)] + [700.0, 700, 400, 400, 500, 500].map(lowPass)
    let angle = 2 * .pi * 150 / rate
    let resonant = PolePair(angle: angle, quality: 1)
    let radius = resonant.secondDenominatorCoefficient.squareRoot()
    resonanceFilter = BiquadCascade(
      1 - radius, 0, radius - 1, resonant.firstDenominatorCoefficient,
      resonant.secondDenominatorCoefficient)
    envelopeSmoother = lowPass(5)
    let zeros = PolePair(angle: angle, quality: 8)
    let poles = PolePair(angle: angle, quality: 4)
    let gain =
      (1 + poles.firstDenominatorCoefficient + poles.secondDenominatorCoefficient)
      / (1 + zeros.firstDenominatorCoefficient + zeros.secondDenominatorCoefficient)
    bandStopFilter = BiquadCascade(
      gain, gain * zeros.firstDenominatorCoefficient, gain * zeros.secondDenominatorCoefficient,
      poles.firstDenominatorCoefficient, poles.secondDenominatorCoefficient)
    outputFilters = [lowPass(300), lowPass(300)]
  }

  /// Returns the output sample for the next input sample.
  mutating func process(_ sample: Double) -> Double {
    var sample = sample
    for index in inputFilters.indices {
      sample = inputFilters[index].process(sample)
    }
    sample = max(0, sample)
    for index in envelopeFilters.indices {
      sample = envelopeFilters[index].process(sample)
    }
    sample = resonanceFilter.process(sample)
    sample *= pow(envelopeSmoother.process(abs(sample)) + 0.01, -0.8)
    sample = 0.3 * bandStopFilter.process(sample)
    sample = sample * sample * sample / (0.1 + sample * sample)
    for index in outputFilters.indices {
      sample = outputFilters[index].process(sample)
    }
    sample *= 1.5
    return sample / (1 + abs(sample))
  }
}
