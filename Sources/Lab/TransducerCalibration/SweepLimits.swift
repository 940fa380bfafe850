public import HapticRender
internal import SignalAnalysis
internal import SystemSupport

/// The excursion and power limits of a profile's transducer for a sweep signal.
///
/// A sweep is so slow that the movement of the transducer is the steady-state response of its
/// model.
public struct SweepLimits: Equatable, Sendable {
  private let profileName: String
  private let transducerLimits: TransducerLimits?
  private let resonanceModel: TransducerModel?

  /// The margin that a signal must keep to the limits, in decibels.
  private static let headroomDecibels = 1.0

  /// Reads the limits of a profile. A profile without hardware has no limits.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - rate: The sample rate in hertz, which does not affect the limits of a sweep.
  public init(_ profile: TransducerProfile, rate: Double = 48_000) {
    let transducerSettings = profile.transducerSettings(rate: rate)
    profileName = profile.name
    transducerLimits = transducerSettings?.limits
    resonanceModel = transducerSettings?.protectionModel
  }

  /// A Boolean value that indicates whether the profile has a limit of excursion or power.
  public var hasLimits: Bool {
    transducerLimits?.excursionLimitToFullScaleRatio != nil
      || transducerLimits?.fullScaleToContinuousPowerRatio != nil
  }

  /// Returns the level of a signal above the limits, in decibels; negative below the limits.
  public func excessDecibels(of signal: SweepSignal) -> Double {
    excessDecibels(ofAmplitude: signal.peakAmplitude, within: signal.bandHertz)
  }

  /// Returns the level of a sine above the limits, in decibels; negative below the limits.
  ///
  /// - Parameters:
  ///   - amplitude: The amplitude, relative to full scale.
  ///   - band: The frequencies, in hertz.
  func excessDecibels(ofAmplitude amplitude: Double, within band: ClosedRange<Double>) -> Double {
    var maximumExcessDecibels = -Double.infinity
    if let maximumExcursionRatio = transducerLimits?.excursionLimitToFullScaleRatio,
      let resonanceModel
    {
      let displacement = amplitude * resonanceModel.maximumDisplacement(in: band)
      maximumExcessDecibels = max(
        maximumExcessDecibels,
        Decibels.of(amplitude: displacement / maximumExcursionRatio) + Self.headroomDecibels)
    }
    if let fullScalePowerRatio = transducerLimits?.fullScaleToContinuousPowerRatio {
      maximumExcessDecibels = max(
        maximumExcessDecibels,
        Decibels.of(power: amplitude * amplitude * fullScalePowerRatio) + Self.headroomDecibels)
    }
    return maximumExcessDecibels
  }

  /// Checks that a signal is within the limits.
  ///
  /// - Throws: `tooStrong` for a signal beyond the limits.
  public func check(_ signal: SweepSignal) throws(CalibrationError) {
    let excessDecibels = self.excessDecibels(of: signal)
    guard excessDecibels > 0 else { return }
    let suitableLevelDecibels = ((signal.levelDecibels - excessDecibels) * 10).rounded(.down) / 10
    let levelAdvice =
      suitableLevelDecibels >= SweepSignal.supportedLevelDecibels.lowerBound
      ? "use '--level \(suitableLevelDecibels.text(places: 1))'"
      : "lower the gain of the amplifier and set amplifier.power in the profile"
    throw CalibrationError(
      .tooStrong,
      """
      a sweep at \(signal.levelDecibels.text(places: 1)) dBFS is \
      \(excessDecibels.text(places: 1)) dB too \
      strong \
      for \(profileName); \(levelAdvice)
      """)
  }
}
