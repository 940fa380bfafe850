internal import CMath

/// How sensation on a hand grows with amplitude and with time, by published figures.
enum SensationGrowth {
  /// The exponents of the power law for vibration of a finger: S. S. Stevens, "Psychophysics", 1975, table 1.
  private static let exponents = [(hertz: 60.0, value: 0.95), (hertz: 250.0, value: 0.6)]
  /// Where the exponent is greatest and least, by roughly 2 : 1: S. S. Stevens, "Tactile vibration: Change of exponent
  /// with frequency", Perception & Psychophysics 3, 1968, 223–228. The line through the two exponents makes 1.87 : 1.
  private static let turns = 30.0...250

  /// The exponent n of sensation = (amplitude / threshold)ⁿ: a line over the logarithm of frequency.
  static func exponent(atHertz hertz: Double) -> Double {
    let held = min(max(hertz, turns.lowerBound), turns.upperBound)
    let (low, high) = (exponents[0], exponents[1])
    let part = logarithm2(held / low.hertz) / logarithm2(high.hertz / low.hertz)
    return low.value + (high.value - low.value) * part
  }

  /// Sensation in decibels of a level above threshold; what is not felt grows as the level does.
  static func sensation(ofDecibels decibels: Double, exponent: Double) -> Double {
    decibels > 0 ? decibels * exponent : decibels
  }

  /// The level above threshold of a sensation, both in decibels.
  static func decibels(ofSensation sensation: Double, exponent: Double) -> Double {
    sensation > 0 ? sensation / exponent : sensation
  }
}

/// How much stronger a short vibration of a hand must be than a long one to be felt alike.
enum TemporalSummation {
  /// The time over which a Pacinian channel sums energy, in seconds: J. J. Zwislocki, "Theory of Temporal Auditory
  /// Summation", JASA 32, 1960, 1046–1060, which predicts the thresholds of Pacinian channels: G. A. Gescheider et al.,
  /// JASA 95, 1994, 1006–1016.
  private static let time = 0.2
  /// Where a Pacinian channel becomes the more sensitive one, and by how many decibels an octave: R. T. Verrillo,
  /// JASA 35, 1963, as G. A. Gescheider and R. T. Verrillo repeat it in "Sensory Functions of the Skin", 1979.
  private static let crossing = (hertz: 40.0, perOctave: 12.0)

  /// Decibels by which the threshold lies above that of a long vibration, 0 or more.
  ///
  /// 10·log₁₀(1 / (1 − e^(−t/0.2 s))) for a Pacinian channel. Other channels do not sum sinusoids (G. A. Gescheider,
  /// Sensory Processes 1, 1976, 68–76; 1994), so they feel what has become too short for it: the shift ends at their
  /// threshold, 12 dB an octave above the Pacinian one from 40 Hz on.
  static func decibels(seconds: Double, hertz: Double) -> Double {
    guard hertz > crossing.hertz, seconds > 0 else { return 0 }
    let summed = -10 * logarithm2(1 - exp(-seconds / time)) / logarithm2(10)
    return min(summed, crossing.perOctave * logarithm2(hertz / crossing.hertz))
  }
}
