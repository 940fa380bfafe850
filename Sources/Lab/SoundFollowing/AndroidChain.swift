internal import CMath
import SignalAnalysis

/// The signal chain of HapticGenerator in Android's open source (frameworks/av,
/// media/libeffects/hapticgenerator), with its constants.
///
/// 1. Band-pass from 50 Hz to 9 kHz, then rectify.
/// 2. Band-pass from 60 Hz to 400 Hz, and resonate at 150 Hz with a quality of 1.
/// 3. Multiply by the envelope to the power of −0.8: slow compression.
/// 4. Stop the resonance: zeros with a quality of 8, poles with a quality of 4.
/// 5. Distort, low-pass at 300 Hz, and limit softly.
struct AndroidChain {
  private var inputFilters: [BiquadCascade] = []
  private var envelopeFilters: [BiquadCascade] = []
  private var resonance: BiquadCascade
  private var envelope: BiquadCascade
  private var bandStop: BiquadCascade
  private var outputFilters: [BiquadCascade] = []

  /// The denominator coefficients of a pair of complex poles.
  private struct PolePair {
    var a1: Double
    var a2: Double

    init(angle: Double, quality: Double) {
      let radius = exp(-angle / (2 * quality))
      a1 = -2 * radius * cos(angle)
      a2 = radius * radius
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
    let radius = resonant.a2.squareRoot()
    resonance = BiquadCascade(1 - radius, 0, radius - 1, resonant.a1, resonant.a2)
    envelope = lowPass(5)
    let zeros = PolePair(angle: angle, quality: 8)
    let poles = PolePair(angle: angle, quality: 4)
    let gain = (1 + poles.a1 + poles.a2) / (1 + zeros.a1 + zeros.a2)
    bandStop = BiquadCascade(gain, gain * zeros.a1, gain * zeros.a2, poles.a1, poles.a2)
    outputFilters = [lowPass(300), lowPass(300)]
  }

  /// Returns the output for the next sample.
  mutating func next(_ sample: Double) -> Double {
    var sample = sample
    for index in inputFilters.indices {
      sample = inputFilters[index].process(sample)
    }
    sample = max(0, sample)
    for index in envelopeFilters.indices {
      sample = envelopeFilters[index].process(sample)
    }
    sample = resonance.process(sample)
    sample *= pow(envelope.process(abs(sample)) + 0.01, -0.8)
    sample = 0.3 * bandStop.process(sample)
    sample = sample * sample * sample / (0.1 + sample * sample)
    for index in outputFilters.indices {
      sample = outputFilters[index].process(sample)
    }
    sample *= 1.5
    return sample / (1 + abs(sample))
  }
}
