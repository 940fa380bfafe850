internal import CMath
import SignalAnalysis

/// A gate that suppresses speech and passes low-frequency effects.
///
/// Speech has almost no energy below 60 Hz. So the gate compares the level below 60 Hz with the
/// level from 100 Hz to 4 kHz, and closes below a ratio, the knee. If the sound has the periodicity
/// of a voice, the knee is higher; during a transient without a voice, it is lower. The gate opens
/// in 1 ms and closes in 8 ms.
struct SpeechGate {
  /// The knee of the gate: the level ratio at which the gate begins to close, in decibels.
  ///
  /// The ratio is that of the level below 60 Hz to the level from 100 Hz to 4 kHz.
  private static let closingKneeLevelRatioDecibels = -19.0
  /// The attenuation for each decibel of the level ratio below the knee, in decibels.
  private static let attenuationDecibelsPerDecibel = 4.0
  /// The gain of the closed gate, in decibels.
  private static let closedGainDecibels = -60.0
  /// The minimum level below 60 Hz of an open gate, as a fraction of full scale.
  private static let minimumLowBandLevel = 1e-3
  /// The increase of the knee for a voice, in decibels.
  private static let voiceKneeIncreaseDecibels = 10.0
  /// The decrease of the knee during a transient, in decibels.
  private static let transientKneeDecreaseDecibels = 14.0
  /// The minimum periodicity of a possible voice, as a normalized autocorrelation.
  private static let minimumVoicePeriodicity = 0.55
  /// The minimum periodicity of a certain voice, as a normalized autocorrelation.
  private static let certainVoicePeriodicity = 0.85
  /// The minimum level of a transient relative to the average of the preceding 30 ms.
  private static let minimumTransientToAverageRatio = 12.0
  /// The duration of a transient after its onset, in seconds.
  private static let transientSeconds = 0.06

  private var lowBandMeter: BandLevelMeter
  private var midBandMeter: BandLevelMeter
  private var lowBandFollower: EnvelopeFollower
  private var midBandFollower: EnvelopeFollower
  private var voiceFollower: EnvelopeFollower
  private var averageLevelFollower: EnvelopeFollower
  private var gainFollower: EnvelopeFollower
  /// The average levels in the most recent six control steps.
  private var recentAverageLevels: [Double] = [0, 0, 0, 0, 0, 0]
  private var periodicityDetector: PeriodicityDetector
  private var remainingTransientStepCount = 0
  private let controlStepRate: Double

  /// Creates a gate for a sample rate and a rate of control steps.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - framesPerStep: The number of frames of a control step.
  init(rate: Double, framesPerStep: Int) {
    controlStepRate = rate / Double(framesPerStep)
    lowBandMeter = BandLevelMeter(BiquadCascade(.lowPass, order: 4, hertz: 60, rate: rate))
    midBandMeter = BandLevelMeter(
      BiquadCascade(.highPass, order: 1, hertz: 100, rate: rate),
      BiquadCascade(.lowPass, order: 1, hertz: 4_000, rate: rate))
    lowBandFollower = EnvelopeFollower(attack: 0.001, release: 0.06, rate: controlStepRate)
    midBandFollower = EnvelopeFollower(attack: 0.002, release: 0.06, rate: controlStepRate)
    voiceFollower = EnvelopeFollower(attack: 0.004, release: 1, rate: controlStepRate)
    averageLevelFollower = EnvelopeFollower(attack: 0.03, release: 0.03, rate: controlStepRate)
    gainFollower = EnvelopeFollower(
      attack: 0.0005, release: 0.008, rate: controlStepRate, initialLevel: 1)
    periodicityDetector = PeriodicityDetector(rate: rate)
  }

  /// Adds a sample of the sound. The sound has no frequencies below 20 Hz.
  mutating func addSample(_ sample: Double) {
    lowBandMeter.addSample(sample)
    midBandMeter.addSample(sample)
    periodicityDetector.addSample(sample)
  }

  /// Ends a control step, and returns the gain at the end of the step.
  ///
  /// - Parameters:
  ///   - level: The RMS level of the step.
  ///   - count: The number of frames of the step.
  mutating func finishControlStep(level: Double, count: Int) -> Double {
    let lowBandLevel = lowBandFollower.advance(toward: lowBandMeter.drainLevel(count: count))
    let midBandLevel = midBandFollower.advance(toward: midBandMeter.drainLevel(count: count))
    let smoothedVoiceProbability = voiceFollower.advance(toward: voiceProbability)
    recentAverageLevels.append(averageLevelFollower.advance(toward: level))
    let isTransient =
      level > Self.minimumTransientToAverageRatio * recentAverageLevels.removeFirst()
    if isTransient, level > 3 * Self.minimumLowBandLevel, smoothedVoiceProbability < 0.15 {
      remainingTransientStepCount = Int(Self.transientSeconds * controlStepRate)
    }
    let remainingTransientFraction =
      Double(remainingTransientStepCount) / (Self.transientSeconds * controlStepRate)
    let transientWeight = min(1, 2 * remainingTransientFraction)
    let isQuiet = lowBandLevel < Self.minimumLowBandLevel && remainingTransientStepCount == 0
    remainingTransientStepCount = max(0, remainingTransientStepCount - 1)
    let shiftedKneeDecibels =
      Self.closingKneeLevelRatioDecibels + Self.voiceKneeIncreaseDecibels * smoothedVoiceProbability
      - Self
      .transientKneeDecreaseDecibels
      * transientWeight
      * (1 - smoothedVoiceProbability)
    let lowToMidBandDecibels = 20 * log10((lowBandLevel + 1e-7) / (midBandLevel + 1e-7))
    let attenuationDecibels = min(
      0,
      max(
        Self.closedGainDecibels,
        Self.attenuationDecibelsPerDecibel * (lowToMidBandDecibels - shiftedKneeDecibels)))
    return gainFollower.advance(
      toward: pow(10, (isQuiet ? Self.closedGainDecibels : attenuationDecibels) / 20))
  }

  /// The probability that the sound is a voice, by its periodicity.
  private var voiceProbability: Double {
    let excessPeriodicity = periodicityDetector.latestPeriodicity - Self.minimumVoicePeriodicity
    return min(
      1, max(0, excessPeriodicity / (Self.certainVoicePeriodicity - Self.minimumVoicePeriodicity)))
  }
}

/// A detector of the periodicity of a voice at a pitch of 75 to 400 Hz, within 30 ms.
///
/// The measure is the normalized autocorrelation at its first peak after it has fallen to 0.2.
private struct PeriodicityDetector {
  /// The normalized autocorrelation of the sound; 1 if consecutive periods are equal.
  private(set) var latestPeriodicity = 0.0

  /// The range of the periods of voices, in samples at 4 kHz.
  private static let voicePeriodLagSamples = 10..<54
  /// The length of the correlated window in samples, for 30 ms.
  private static let windowSampleCount = 120
  /// The interval between two periodicity measurements in samples, for 4 ms.
  private static let hopSampleCount = 16

  private let decimationFactor: Int
  private var filters: [BiquadCascade]
  private var samples: [Double] = []
  private var inputSampleCount = 0

  init(rate: Double) {
    decimationFactor = max(1, Int((rate / 4_000).rounded()))
    filters = [
      BiquadCascade(.highPass, order: 2, hertz: 100, rate: rate),
      BiquadCascade(.lowPass, order: 2, hertz: 900, rate: rate),
    ]
  }

  mutating func addSample(_ sample: Double) {
    var filteredSample = sample
    for index in filters.indices {
      filteredSample = filters[index].process(filteredSample)
    }
    inputSampleCount += 1
    guard inputSampleCount % decimationFactor == 0 else { return }
    samples.append(filteredSample)
    guard
      samples.count == Self.windowSampleCount + Self.voicePeriodLagSamples.upperBound
        + Self.hopSampleCount
    else { return }
    samples.removeFirst(Self.hopSampleCount)
    latestPeriodicity = measuredPeriodicity
  }

  private var measuredPeriodicity: Double {
    let windowStartIndex = Self.voicePeriodLagSamples.upperBound
    let windowEnergy = dotProduct(at: windowStartIndex, windowStartIndex)
    guard windowEnergy > 1e-6 * Double(Self.windowSampleCount) else { return 0 }
    var maximumCorrelation = 0.0
    var hasCorrelationFallen = false
    for lag in Self.voicePeriodLagSamples {
      let laggedEnergy = dotProduct(at: windowStartIndex - lag, windowStartIndex - lag)
      let product = dotProduct(at: windowStartIndex, windowStartIndex - lag)
      let correlation = product / (windowEnergy * laggedEnergy + 1e-18).squareRoot()
      if correlation < 0.2 {
        hasCorrelationFallen = true
      }
      if hasCorrelationFallen {
        maximumCorrelation = max(maximumCorrelation, correlation)
      }
    }
    return maximumCorrelation
  }

  /// Returns the inner product of two windows of samples.
  private func dotProduct(at firstStart: Int, _ secondStart: Int) -> Double {
    var productSum = 0.0
    for index in 0..<Self.windowSampleCount {
      productSum += samples[firstStart + index] * samples[secondStart + index]
    }
    return productSum
  }
}
