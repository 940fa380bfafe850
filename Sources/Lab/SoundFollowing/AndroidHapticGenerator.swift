internal import CMath
import SignalAnalysis

/// The signal chain of HapticGenerator in Android's open-source code.
///
/// The constants are the same as in frameworks/av, media/libeffects/hapticgenerator.
///
/// 1. Band-pass from 50 Hz to 9 kHz, then rectify.
/// 2. Band-pass from 60 Hz to 400 Hz, and resonate at 150 Hz with a quality of 1.
/// 3. Multiply by the envelope to the power of −0.8: slow compression.
/// 4. Stop the resonance: zeros with a quality of 8, poles with a quality of 4.
/// 5. Distort, low-pass at 300 Hz, and limit softly.
struct AndroidHapticGenerator {
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
    func poleCoefficient(_ hertz: Double) -> Double { exp(-2 * .pi * hertz / rate) }
    func makeLowPass(_ hertz: Double) -> BiquadCascade {
      BiquadCascade(1 - poleCoefficient(hertz), 0, 0, -poleCoefficient(hertz), 0)
    }
    func makeHighPass(_ hertz: Double) -> BiquadCascade {
      BiquadCascade(
        (1 + poleCoefficient(hertz)) / 2, -(1 + poleCoefficient(hertz)) / 2, 0,
        -poleCoefficient(hertz), 0)
    }
    inputFilters = [makeHighPass(50), makeHighPass(50), makeLowPass(9_000), makeLowPass(9_000)]
    envelopeFilters =
      [makeHighPass(60), makeHighPass(60)] + [700.0, 700, 400, 400, 500, 500].map(makeLowPass)
    let resonanceAngle = 2 * .pi * 150 / rate
    let resonancePoles = PolePair(angle: resonanceAngle, quality: 1)
    let resonancePoleRadius = resonancePoles.secondDenominatorCoefficient.squareRoot()
    resonanceFilter = BiquadCascade(
      1 - resonancePoleRadius, 0, resonancePoleRadius - 1,
      resonancePoles.firstDenominatorCoefficient,
      resonancePoles.secondDenominatorCoefficient)
    envelopeSmoother = makeLowPass(5)
    let bandStopZeros = PolePair(angle: resonanceAngle, quality: 8)
    let bandStopPoles = PolePair(angle: resonanceAngle, quality: 4)
    let bandStopGain =
      (1 + bandStopPoles.firstDenominatorCoefficient + bandStopPoles.secondDenominatorCoefficient)
      / (1 + bandStopZeros.firstDenominatorCoefficient + bandStopZeros.secondDenominatorCoefficient)
    bandStopFilter = BiquadCascade(
      bandStopGain, bandStopGain * bandStopZeros.firstDenominatorCoefficient,
      bandStopGain * bandStopZeros.secondDenominatorCoefficient,
      bandStopPoles.firstDenominatorCoefficient, bandStopPoles.secondDenominatorCoefficient)
    outputFilters = [makeLowPass(300), makeLowPass(300)]
  }

  /// Returns the output sample for the next input sample.
  mutating func process(_ sample: Double) -> Double {
    var filteredSample = sample
    for index in inputFilters.indices {
      filteredSample = inputFilters[index].process(filteredSample)
    }
    filteredSample = max(0, filteredSample)
    for index in envelopeFilters.indices {
      filteredSample = envelopeFilters[index].process(filteredSample)
    }
    filteredSample = resonanceFilter.process(filteredSample)
    filteredSample *= pow(envelopeSmoother.process(abs(filteredSample)) + 0.01, -0.8)
    filteredSample = 0.3 * bandStopFilter.process(filteredSample)
    filteredSample =
      filteredSample * filteredSample * filteredSample / (0.1 + filteredSample * filteredSample)
    for index in outputFilters.indices {
      filteredSample = outputFilters[index].process(filteredSample)
    }
    filteredSample *= 1.5
    return filteredSample / (1 + abs(filteredSample))
  }
}
