internal import CMath

/// A slow gain of ±12 dB toward one level. It holds after each rise of the level, so that an event
/// has a constant gain.
struct AutomaticLevel {
  /// The target of the peak level.
  private static let targetLevel = 0.25
  /// The maximum magnitude of the gain, in decibels.
  private static let maximumGainDecibels = 12.0
  /// The maximum rise of the gain, in decibels per second.
  private static let riseDecibelsPerSecond = 2.0
  /// The maximum fall of the gain, in decibels per second.
  private static let fallDecibelsPerSecond = 6.0
  /// The time in which the gain holds after a rise of the level by 6 dB, in seconds.
  private static let holdSeconds = 0.4
  /// The time constant with which the peak level decays, in seconds.
  private static let peakDecayTime = 3.0
  /// The level below which vibration is imperceptible and the gain holds.
  private static let minimumLevel = 1e-3

  private var decibels = 0.0
  private var peakLevel = 0.0
  private var remainingHoldSteps = 0
  private var averageLevel: EnvelopeFollower
  private let rate: Double

  /// Creates a level control with a gain of 0 dB.
  ///
  /// - Parameter rate: The rate of control steps, in hertz.
  init(rate: Double) {
    self.rate = rate
    averageLevel = EnvelopeFollower(rise: 0.05, fall: 0.05, rate: rate)
  }

  /// Returns the gain after a control step with a level.
  mutating func next(_ level: Double) -> Double {
    if level > 2 * averageLevel.value, level > Self.minimumLevel {
      remainingHoldSteps = Int(Self.holdSeconds * rate)
    }
    _ = averageLevel.next(level)
    if level > Self.minimumLevel {
      peakLevel *= exp(-1 / (Self.peakDecayTime * rate))
    }
    peakLevel = max(level, peakLevel)
    if remainingHoldSteps > 0 {
      remainingHoldSteps -= 1
    } else if level > Self.minimumLevel {
      let ratio = 20 * log10(Self.targetLevel / max(peakLevel, 1e-6))
      let target = min(Self.maximumGainDecibels, max(-Self.maximumGainDecibels, ratio))
      decibels += max(
        -Self.fallDecibelsPerSecond / rate,
        min(Self.riseDecibelsPerSecond / rate, target - decibels))
    }
    return pow(10, decibels / 20)
  }
}
