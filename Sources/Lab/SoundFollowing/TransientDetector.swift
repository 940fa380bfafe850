import SignalAnalysis

/// A detector of transients in a sound, based on sudden rises of the level.
///
/// The level of a transient within 1 ms is at least twice the average level of the preceding 40 ms.
struct TransientDetector {
  /// The minimum level of a transient relative to the average of the preceding 40 ms.
  private static let minimumTransientToAverageRatio = 2.0
  /// The minimum level of a transient.
  private static let minimumTransientLevel = 2e-3
  /// The measurement time for the strength of a transient, in seconds.
  private static let strengthMeasurementSeconds = 0.002
  /// The minimum time between two transients, in seconds.
  private static let minimumTransientSpacingSeconds = 0.05

  /// The average and the peak level in an earlier control step.
  private struct ControlStepLevels {
    var averageLevel = 0.0
    var peakLevel = 0.0
  }

  private var lowBandMeter: BandLevelMeter
  private var highBandMeter: BandLevelMeter
  private var averageLevelFollower: EnvelopeFollower
  private var peakLevelFollower: EnvelopeFollower
  /// The levels in the control steps of the most recent 10 ms.
  private var levelHistory: [ControlStepLevels]
  private var peakTransientStrength = 0.0
  private var stepCountSinceOnset: Int
  private let controlStepRate: Double

  /// Creates a detector for a sample rate and a rate of control steps.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - framesPerStep: The number of frames of a control step.
  init(rate: Double, framesPerStep: Int) {
    controlStepRate = rate / Double(framesPerStep)
    func makeBandMeter(_ low: Double, _ high: Double) -> BandLevelMeter {
      BandLevelMeter(
        BiquadCascade(.highPass, order: 1, hertz: low, rate: rate),
        BiquadCascade(.lowPass, order: 1, hertz: high, rate: rate))
    }
    lowBandMeter = makeBandMeter(25, 250)
    highBandMeter = makeBandMeter(250, 5_000)
    averageLevelFollower = EnvelopeFollower(attack: 0.04, release: 0.04, rate: controlStepRate)
    peakLevelFollower = EnvelopeFollower(attack: 0.0005, release: 0.2, rate: controlStepRate)
    levelHistory = Array(repeating: ControlStepLevels(), count: Int(0.01 * controlStepRate))
    stepCountSinceOnset = Int(controlStepRate)
  }

  /// Adds a sample of the sound to the current control step.
  mutating func addSample(_ sample: Double) {
    lowBandMeter.addSample(sample)
    highBandMeter.addSample(sample)
  }

  /// Ends a control step, and returns the strength of a completely measured transient.
  ///
  /// Returns nil in all other steps.
  ///
  /// - Parameter count: The number of sample frames in the control step.
  mutating func finishControlStep(count: Int) -> Double? {
    let lowBandLevel = lowBandMeter.drainLevel(count: count)
    let highBandLevel = highBandMeter.drainLevel(count: count)
    let weightedLevel = (lowBandLevel * lowBandLevel + 0.25 * highBandLevel * highBandLevel)
      .squareRoot()
    levelHistory.append(
      ControlStepLevels(
        averageLevel: averageLevelFollower.advance(toward: weightedLevel),
        peakLevel: peakLevelFollower.advance(toward: weightedLevel)))
    let delayStepCount = min(levelHistory.count, Int(0.002 * controlStepRate) + 1)
    let earlierAverageLevel = levelHistory[levelHistory.count - delayStepCount].averageLevel
    let earlierPeakLevel = levelHistory.removeFirst().peakLevel
    stepCountSinceOnset += 1
    if stepCountSinceOnset > Int(Self.minimumTransientSpacingSeconds * controlStepRate),
      weightedLevel > Self.minimumTransientLevel,
      weightedLevel > Self.minimumTransientToAverageRatio
        * max(earlierAverageLevel, 0.25 * earlierPeakLevel)
    {
      stepCountSinceOnset = 0
      peakTransientStrength = 0
    }
    peakTransientStrength = max(peakTransientStrength, weightedLevel)
    return stepCountSinceOnset == Int(Self.strengthMeasurementSeconds * controlStepRate)
      ? peakTransientStrength : nil
  }
}
