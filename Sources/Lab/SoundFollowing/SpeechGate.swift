internal import CMath
import SignalAnalysis

/// A gate that suppresses speech and passes low-frequency effects.
///
/// Speech has almost no energy below 60 Hz. So the gate compares the level below 60 Hz with the
/// level from 100 Hz to 4 kHz, and closes below a ratio, the knee. If the sound has the periodicity
/// of a voice, the knee is higher; during a transient without a voice, it is lower. The gate opens
/// in 1 ms and closes in 8 ms.
struct SpeechGate {
  /// The ratio of levels, in decibels, at which the gate begins to close.
  private static let kneeDecibels = -19.0
  /// The attenuation for each decibel below the knee, in decibels.
  private static let attenuationSlope = 4.0
  /// The gain of the closed gate, in decibels.
  private static let closedDecibels = -60.0
  /// The level below 60 Hz below which the gate is closed.
  private static let minimumLevel = 1e-3
  /// The increase of the knee by a voice, in decibels.
  private static let voiceKneeIncrease = 10.0
  /// The decrease of the knee by a transient, in decibels.
  private static let transientKneeDecrease = 14.0
  /// The periodicity above which a sound may be a voice.
  private static let minimumPeriodicity = 0.55
  /// The periodicity from which a sound is certainly a voice.
  private static let certainPeriodicity = 0.85
  /// The minimum ratio of a transient's level to the average of the preceding 30 ms.
  private static let transientRiseRatio = 12.0
  /// The duration of a transient, in seconds.
  private static let transientSeconds = 0.06

  private var lowBand: BandLevelMeter
  private var midBand: BandLevelMeter
  private var lowLevel: EnvelopeFollower
  private var midLevel: EnvelopeFollower
  private var voicePresence: EnvelopeFollower
  private var averageLevel: EnvelopeFollower
  private var gain: EnvelopeFollower
  /// The average levels of the last six control steps.
  private var levelHistory: [Double] = [0, 0, 0, 0, 0, 0]
  private var periodicityDetector: PeriodicityDetector
  private var remainingTransientSteps = 0
  private let controlRate: Double

  /// Creates a gate.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - framesPerStep: The number of frames of a control step.
  init(rate: Double, framesPerStep: Int) {
    controlRate = rate / Double(framesPerStep)
    lowBand = BandLevelMeter(BiquadCascade(.lowPass, order: 4, hertz: 60, rate: rate))
    midBand = BandLevelMeter(
      BiquadCascade(.highPass, order: 1, hertz: 100, rate: rate),
      BiquadCascade(.lowPass, order: 1, hertz: 4_000, rate: rate))
    lowLevel = EnvelopeFollower(rise: 0.001, fall: 0.06, rate: controlRate)
    midLevel = EnvelopeFollower(rise: 0.002, fall: 0.06, rate: controlRate)
    voicePresence = EnvelopeFollower(rise: 0.004, fall: 1, rate: controlRate)
    averageLevel = EnvelopeFollower(rise: 0.03, fall: 0.03, rate: controlRate)
    gain = EnvelopeFollower(rise: 0.0005, fall: 0.008, rate: controlRate, value: 1)
    periodicityDetector = PeriodicityDetector(rate: rate)
  }

  /// Adds a sample without frequencies below 20 Hz.
  mutating func add(_ sample: Double) {
    lowBand.add(sample)
    midBand.add(sample)
    periodicityDetector.add(sample)
  }

  /// Ends a control step, and returns the gain at its end.
  ///
  /// - Parameters:
  ///   - level: The RMS level of the step.
  ///   - count: The number of frames of the step.
  mutating func next(level: Double, count: Int) -> Double {
    let lowBandLevel = lowLevel.next(lowBand.drainLevel(count: count))
    let midBandLevel = midLevel.next(midBand.drainLevel(count: count))
    let voice = voicePresence.next(voiceProbability)
    levelHistory.append(averageLevel.next(level))
    let isTransient = level > Self.transientRiseRatio * levelHistory.removeFirst()
    if isTransient, level > 3 * Self.minimumLevel, voice < 0.15 {
      remainingTransientSteps = Int(Self.transientSeconds * controlRate)
    }
    let remaining = Double(remainingTransientSteps) / (Self.transientSeconds * controlRate)
    let transientShare = min(1, 2 * remaining)
    let isQuiet = lowBandLevel < Self.minimumLevel && remainingTransientSteps == 0
    remainingTransientSteps = max(0, remainingTransientSteps - 1)
    let knee =
      Self.kneeDecibels + Self.voiceKneeIncrease * voice - Self.transientKneeDecrease
      * transientShare
      * (1 - voice)
    let ratioDecibels = 20 * log10((lowBandLevel + 1e-7) / (midBandLevel + 1e-7))
    let attenuation = min(
      0, max(Self.closedDecibels, Self.attenuationSlope * (ratioDecibels - knee)))
    return gain.next(pow(10, (isQuiet ? Self.closedDecibels : attenuation) / 20))
  }

  /// The probability that the sound is a voice, by its periodicity.
  private var voiceProbability: Double {
    let excess = periodicityDetector.periodicity - Self.minimumPeriodicity
    return min(1, max(0, excess / (Self.certainPeriodicity - Self.minimumPeriodicity)))
  }
}

/// Measures the periodicity of a sound at the pitch of a voice, 75 to 400 Hz, within 30 ms.
///
/// The measure is the normalized autocorrelation at its first peak after it has fallen to 0.2.
private struct PeriodicityDetector {
  /// The normalized autocorrelation: 1 if consecutive periods are equal.
  private(set) var periodicity = 0.0

  /// The periods of voices, in samples at 4 kHz.
  private static let voicePeriodLags = 10..<54
  /// The number of correlated samples: 30 ms.
  private static let windowLength = 120
  /// The number of samples between measurements: 4 ms.
  private static let hopLength = 16

  private let decimationFactor: Int
  private var filters: [BiquadCascade]
  private var samples: [Double] = []
  private var count = 0

  init(rate: Double) {
    decimationFactor = max(1, Int((rate / 4_000).rounded()))
    filters = [
      BiquadCascade(.highPass, order: 2, hertz: 100, rate: rate),
      BiquadCascade(.lowPass, order: 2, hertz: 900, rate: rate),
    ]
  }

  mutating func add(_ sample: Double) {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].process(sample)
    }
    count += 1
    guard count % decimationFactor == 0 else { return }
    samples.append(sample)
    guard samples.count == Self.windowLength + Self.voicePeriodLags.upperBound + Self.hopLength
    else { return }
    samples.removeFirst(Self.hopLength)
    periodicity = measuredPeriodicity
  }

  private var measuredPeriodicity: Double {
    let start = Self.voicePeriodLags.upperBound
    let energy = dotProduct(at: start, start)
    guard energy > 1e-6 * Double(Self.windowLength) else { return 0 }
    var maximum = 0.0
    var hasFallen = false
    for lag in Self.voicePeriodLags {
      let laggedEnergy = dotProduct(at: start - lag, start - lag)
      let product = dotProduct(at: start, start - lag)
      let correlation = product / (energy * laggedEnergy + 1e-18).squareRoot()
      if correlation < 0.2 {
        hasFallen = true
      }
      if hasFallen {
        maximum = max(maximum, correlation)
      }
    }
    return maximum
  }

  /// Returns the inner product of two windows.
  private func dotProduct(at firstStart: Int, _ secondStart: Int) -> Double {
    var sum = 0.0
    for index in 0..<Self.windowLength {
      sum += samples[firstStart + index] * samples[secondStart + index]
    }
    return sum
  }
}
