internal import CMath

/// The growth of sensation in a hand with amplitude, from publications.
enum SensationGrowth {
  /// The exponents of the power law for vibration of a finger.
  ///
  /// Source: S. S. Stevens, "Psychophysics", 1975, table 1.
  private static let exponentsByFrequency = [
    (hertz: 60.0, value: 0.95), (hertz: 250.0, value: 0.6),
  ]
  /// The frequencies with the largest and the smallest exponent, in hertz.
  ///
  /// Source: S. S. Stevens, "Tactile vibration: Change of exponent with frequency", Perception &
  /// Psychophysics 3, 1968, 223–228, with a ratio of roughly 2 : 1. The line through the two
  /// exponents yields 1.87 : 1.
  private static let convergenceHertz = 30.0...250

  /// Returns the exponent n of sensation = (amplitude / threshold)ⁿ at a frequency.
  ///
  /// The exponent is linear over the logarithm of the frequency.
  static func exponent(atHertz hertz: Double) -> Double {
    let clampedHertz = min(max(hertz, convergenceHertz.lowerBound), convergenceHertz.upperBound)
    let lowerPoint = exponentsByFrequency[0]
    let upperPoint = exponentsByFrequency[1]
    let logFrequencyFraction =
      logarithm2(clampedHertz / lowerPoint.hertz) / logarithm2(upperPoint.hertz / lowerPoint.hertz)
    return lowerPoint.value + (upperPoint.value - lowerPoint.value) * logFrequencyFraction
  }

  /// Returns the sensation that a level above the threshold causes, in decibels. For a level below
  /// the threshold, returns the level itself.
  static func sensation(ofDecibels decibels: Double, exponent: Double) -> Double {
    decibels > 0 ? decibels * exponent : decibels
  }

  /// Returns the level above the threshold that causes a sensation, in decibels.
  static func decibels(ofSensation sensation: Double, exponent: Double) -> Double {
    sensation > 0 ? sensation / exponent : sensation
  }
}

/// The perception threshold of the hand as a function of the duration of a vibration.
enum TemporalSummation {
  /// The time over which a Pacinian channel sums energy, in seconds.
  ///
  /// Source: J. J. Zwislocki, "Theory of Temporal Auditory Summation", JASA 32, 1960, 1046–1060,
  /// which predicts the thresholds of Pacinian channels: G. A. Gescheider et al., JASA 95, 1994,
  /// 1006–1016.
  private static let timeConstantSeconds = 0.2
  /// The frequency above which the Pacinian channel is the most sensitive, in hertz.
  ///
  /// Source: R. T. Verrillo, JASA 35, 1963, as cited by G. A. Gescheider and R. T. Verrillo in
  /// "Sensory Functions of the Skin", 1979.
  private static let crossoverHertz = 40.0
  /// The excess slope of the Pacinian channel's threshold, in decibels per octave.
  ///
  /// It is the difference from the slope of the other channels' thresholds above the crossover.
  private static let decibelsPerOctave = 12.0

  /// Returns the threshold shift of a short vibration relative to a long vibration, in decibels.
  ///
  /// The shift is an increase of the perception threshold, and at least 0.
  ///
  /// For a Pacinian channel, the shift is 10·log₁₀(1 / (1 − e^(−t/0.2 s))). Other channels don't
  /// sum sinusoids (G. A. Gescheider, Sensory Processes 1, 1976, 68–76; 1994). The shift ends at
  /// their threshold, which rises above the Pacinian one by 12 dB per octave from 40 Hz on.
  ///
  /// - Parameters:
  ///   - seconds: The duration of the vibration.
  ///   - hertz: The frequency of the vibration.
  static func thresholdShiftDecibels(seconds: Double, hertz: Double) -> Double {
    guard hertz > crossoverHertz, seconds > 0 else { return 0 }
    let pacinianShiftDecibels =
      -10 * logarithm2(1 - exp(-seconds / timeConstantSeconds)) / logarithm2(10)
    return min(pacinianShiftDecibels, decibelsPerOctave * logarithm2(hertz / crossoverHertz))
  }
}

/// The sensitivity of a seated body to vertical vibration of the seat.
///
/// The frequency weighting Wk of ISO 2631-1:1997, annex A, with the corner frequencies and quality
/// factors of its table A.1. Its band limits at 0.4 and 100 Hz are omitted, because they limit
/// measurements rather than perception. The standard covers 0.5–80 Hz; the weighting continues
/// beyond in proportion to 1/f.
enum SeatWeighting {
  /// The transition of the weighting from acceleration to velocity, with its corner in hertz.
  private static let accelerationToVelocityTransition = (corner: 12.5, quality: 0.63)
  /// The upward step of the weighting, with its corners in hertz.
  private static let upwardStep = (from: 2.37, to: 3.35, quality: 0.91)
  /// The peak acceleration that half of the people perceive, weighted by Wk, in m/s².
  ///
  /// Source: ISO 2631-1:1997, annex C.
  private static let perceptionThresholdMetersPerSecondSquared = 0.015

  /// Returns the weighting factor Wk of acceleration at a frequency in hertz.
  static func accelerationWeight(atHertz hertz: Double) -> Double {
    /// Returns the squared magnitude of a second-order denominator.
    func denominatorSquare(_ corner: Double, _ quality: Double) -> Double {
      let hertzSquare = hertz * hertz
      let qualitySquare = quality * quality
      let cornerSquare = corner * corner
      return hertzSquare * hertzSquare * qualitySquare
        + hertzSquare * cornerSquare * (1 - 2 * qualitySquare)
        + cornerSquare * cornerSquare * qualitySquare
    }
    let transitionCornerSquare =
      accelerationToVelocityTransition.corner * accelerationToVelocityTransition.corner
    let transitionGainSquare =
      (hertz * hertz + transitionCornerSquare) / transitionCornerSquare
      * transitionCornerSquare * transitionCornerSquare
      * accelerationToVelocityTransition.quality * accelerationToVelocityTransition.quality
      / denominatorSquare(
        accelerationToVelocityTransition.corner, accelerationToVelocityTransition.quality)
    let stepGainSquare =
      denominatorSquare(upwardStep.from, upwardStep.quality)
      / denominatorSquare(upwardStep.to, upwardStep.quality)
    return (transitionGainSquare * stepGainSquare).squareRoot()
  }

  /// The perception thresholds for acceleration, in decibels relative to 1 g.
  ///
  /// They are in thirds of an octave from 0.5 to 400 Hz.
  static let thresholds: [TransducerProfile.Threshold] = (-3...26).map { third in
    let hertz = raised(10, to: Double(third) / 10)
    let accelerationInG =
      perceptionThresholdMetersPerSecondSquared / accelerationWeight(atHertz: hertz) / 9.80665
    return TransducerProfile.Threshold(
      hertz: hertz, accelerationDecibelsRelativeToG: decibels(ofAmplitude: accelerationInG))
  }
}

/// The sound pressure at which tones of up to 400 Hz are equally loud.
///
/// The contour of 80 phon of ISO 226:2003, clause 4.1, from the exponents, transfer functions, and
/// thresholds of its table 1. At this level, in the middle of the range that the standard covers
/// down to 20 Hz, a subwoofer accompanies a shaker. From 20 to 80 Hz, the contour falls by 23.8 dB;
/// those of 60 and 90 phon fall by 27.5 and 22.0 dB.
enum EqualLoudness {
  private static let contourLoudnessLevelPhon = 80.0
  /// The rows of the standard's table: the frequency in hertz, the exponent of loudness, the
  /// transfer function relative to 1 kHz in decibels, and the threshold of hearing in decibels.
  private static let iso226Parameters:
    [(hertz: Double, exponent: Double, transfer: Double, threshold: Double)] = [
      (20, 0.532, -31.6, 78.5), (25, 0.506, -27.2, 68.7), (31.5, 0.480, -23.0, 59.5),
      (40, 0.455, -19.1, 51.1), (50, 0.432, -15.9, 44.0), (63, 0.409, -13.0, 37.5),
      (80, 0.387, -10.3, 31.5), (100, 0.367, -8.1, 26.5), (125, 0.349, -6.2, 22.1),
      (160, 0.330, -4.5, 17.9), (200, 0.315, -3.1, 14.4), (250, 0.301, -2.0, 11.4),
      (315, 0.288, -1.1, 8.6), (400, 0.276, -0.4, 6.2),
    ]

  /// The equal-loudness contour by frequency, in decibels relative to 20 µPa.
  static let equalLoudnessContour: [TransducerProfile.Threshold] = iso226Parameters.map { row in
    let thresholdLoudness = raised(
      0.4 * raised(10, to: (row.threshold + row.transfer) / 10 - 9), to: row.exponent)
    let loudnessSum =
      4.47e-3 * (raised(10, to: 0.025 * contourLoudnessLevelPhon) - 1.15) + thresholdLoudness
    let soundPressureLevel =
      10 / row.exponent * logarithm2(loudnessSum) / logarithm2(10) - row.transfer + 94
    return TransducerProfile.Threshold(
      hertz: row.hertz, accelerationDecibelsRelativeToG: soundPressureLevel)
  }
}
