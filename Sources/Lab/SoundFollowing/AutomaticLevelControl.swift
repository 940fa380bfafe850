internal import CMath

/// An automatic level control with a slow gain of ±12 dB toward a target level.
///
/// The gain is constant after each rise of the level, so that an event has a constant gain.
struct AutomaticLevelControl {
  /// The target of the peak level after the gain.
  private static let targetPeakLevel = 0.25
  /// The maximum boost or attenuation, in decibels.
  private static let maximumGainDecibels = 12.0
  /// The maximum rate at which the gain rises, in decibels per second.
  private static let riseDecibelsPerSecond = 2.0
  /// The maximum rate at which the gain falls, in decibels per second.
  private static let fallDecibelsPerSecond = 6.0
  /// The hold time of the gain after the level has risen by 6 dB, in seconds.
  private static let gainHoldSeconds = 0.4
  /// The time constant of the decay of the measured peak level, in seconds.
  private static let peakDecaySeconds = 3.0
  /// The minimum level of perceptible vibration.
  ///
  /// At lower levels, the gain stays constant.
  private static let minimumPerceptibleLevel = 1e-3

  private var gainDecibels = 0.0
  private var peakLevel = 0.0
  private var remainingHoldStepCount = 0
  private var averageLevelFollower: EnvelopeFollower
  private let controlStepRate: Double

  /// Creates a level control with a gain of 0 dB.
  ///
  /// - Parameter controlStepRate: The rate of control steps, in hertz.
  init(controlStepRate: Double) {
    self.controlStepRate = controlStepRate
    averageLevelFollower = EnvelopeFollower(attack: 0.05, release: 0.05, rate: controlStepRate)
  }

  /// Advances by a control step with a given RMS level, and returns the new gain.
  mutating func advanceGain(level: Double) -> Double {
    if level > 2 * averageLevelFollower.currentLevel, level > Self.minimumPerceptibleLevel {
      remainingHoldStepCount = Int(Self.gainHoldSeconds * controlStepRate)
    }
    _ = averageLevelFollower.advance(toward: level)
    if level > Self.minimumPerceptibleLevel {
      peakLevel *= exp(-1 / (Self.peakDecaySeconds * controlStepRate))
    }
    peakLevel = max(level, peakLevel)
    if remainingHoldStepCount > 0 {
      remainingHoldStepCount -= 1
    } else if level > Self.minimumPerceptibleLevel {
      let ratio = 20 * log10(Self.targetPeakLevel / max(peakLevel, 1e-6))
      let target = min(Self.maximumGainDecibels, max(-Self.maximumGainDecibels, ratio))
      gainDecibels += max(
        -Self.fallDecibelsPerSecond / controlStepRate,
        min(Self.riseDecibelsPerSecond / controlStepRate, target - gainDecibels))
    }
    return pow(10, gainDecibels / 20)
  }
}
