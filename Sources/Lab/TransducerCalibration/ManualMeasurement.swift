public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer, measured by a person.
///
/// The person presses a key when a slowly rising or falling tone feels strongest.
///
/// 1. Six slow tones around the stated resonance rise and fall in turn (`tones(around:)`).
/// 2. The person presses a key in each tone. A reaction is late by the same interval in both
///    directions: too high in rising tones, too low in falling ones.
/// 3. A press that disagrees with all others is excluded. The mean of the rising and the falling
///    presses is the resonance; their spread yields its uncertainty.
public struct ManualMeasurement: Equatable, Sendable {
  /// A tone with a frequency that rises or falls slowly through the stated resonance.
  public struct Tone: Equatable, Sendable {
    /// The initial frequency of the tone, in hertz.
    public let startHertz: Double
    /// The final frequency of the tone, in hertz.
    public let endHertz: Double

    /// A Boolean value that indicates whether the frequency rises.
    public var isRising: Bool { endHertz > startHertz }
    /// The duration of the tone, in seconds.
    ///
    /// All tones have equal speed.
    public var durationSeconds: Double {
      abs(log2(endHertz / startHertz)) / ManualMeasurement.toneOctavesPerSecond
    }

    /// Returns the frequency of the tone at a time in seconds, in hertz.
    ///
    /// The time is clamped to the duration.
    public func hertz(at seconds: Double) -> Double {
      startHertz * pow(endHertz / startHertz, min(max(seconds / durationSeconds, 0), 1))
    }
  }

  /// A key press during a tone.
  public struct Press: Equatable, Sendable {
    /// The frequency of the tone at the key press, in hertz.
    public let toneHertz: Double
    /// A Boolean value that indicates whether the tone was rising.
    public let isOnRisingTone: Bool

    /// Creates a key press from the tone's frequency in hertz and its direction.
    public init(toneHertz hertz: Double, isOnRisingTone isRising: Bool) {
      self.toneHertz = hertz
      self.isOnRisingTone = isRising
    }
  }

  /// The measured resonance frequency, in hertz.
  public let resonanceHertz: Double
  /// The maximum deviation of the true from the measured resonance, as a fraction.
  public let uncertaintyFraction: Double
  /// The key presses with frequencies that agree.
  public let agreeingPresses: [Press]
  /// The key press that was excluded because it disagrees with the others, if any.
  public let excludedPress: Press?

  /// The rate of change of the tones' frequency, in octaves per second.
  ///
  /// A variation of the reaction time by 0.08 s shifts the frequency of a press by half a percent.
  private static let toneOctavesPerSecond = 0.1
  /// The distances of the tones' starting frequencies from the stated resonance, in octaves.
  ///
  /// They differ, so that a person cannot find the resonance by counting seconds.
  private static let toneStartOffsetsOctaves = [0.75, 0.95, 0.85]
  /// The distance of the tones' final frequencies from the stated resonance, in octaves.
  private static let toneEndOffsetOctaves = 0.95
  /// The maximum distance of the measured from the stated resonance, in octaves.
  ///
  /// The distance is within the range of the tones.
  private static let maximumResonanceOffsetOctaves = 0.55
  /// The maximum distance of a key press from the median, in octaves: 9 %.
  ///
  /// The median is that of the presses in the same direction.
  private static let maximumPressDistanceOctaves = 0.125
  /// The allowed differences between presses on rising and on falling tones, in octaves.
  ///
  /// A reaction time of 0.25 s and a press 1.5 dB beyond the peak of a resonance with a Q factor of
  /// 2 are allowed in each direction.
  private static let allowedResponseLagOctaves = -0.1...0.6
  /// The minimum uncertainty of the resonance, as a fraction.
  ///
  /// Heat, mounting, and the slope of a person's sensitivity cause this uncertainty.
  private static let minimumUncertaintyFraction = 0.04
  /// The maximum uncertainty of a useful result: half the uncertainty of a data sheet.
  ///
  /// Presses at regular intervals, without regard to the feeling, exceed it.
  private static let maximumUncertaintyFraction = 0.075
  /// The half width of a 95 % confidence interval, in standard errors.
  ///
  /// Source: Student's t-distribution with three or four degrees of freedom.
  private static let intervalStandardErrorCount = 3.0

  // MARK: - Tones

  /// Returns the six tones around a stated resonance, rising and falling in turn.
  public static func tones(around resonance: Double) -> [Tone] {
    toneStartOffsetsOctaves.flatMap { octaves in
      [
        Tone(
          startHertz: resonance * pow(2, -octaves),
          endHertz: resonance * pow(2, toneEndOffsetOctaves)),
        Tone(
          startHertz: resonance * pow(2, octaves),
          endHertz: resonance * pow(2, -toneEndOffsetOctaves)),
      ]
    }
  }

  /// Returns a profile that renders the tones without equalization.
  ///
  /// The profile maps the sharpness range 0…1 to all frequencies of the tones.
  ///
  /// The level decreases with frequency as the acceleration of a free mass and the sensitivity of a
  /// person increase. A transducer is then felt most at its resonance, and equally less at equal
  /// intervals above and below it.
  ///
  /// - Parameters:
  ///   - profile: The profile of a transducer with a resonance and a quality factor.
  ///   - level: The maximum peak in dBFS. It is lowered to the limits of the transducer, for all
  ///     resonances within the profile's uncertainty.
  /// - Throws: `unsuitableSignal` if the profile has no resonance and quality factor.
  public static func toneProfile(for profile: TransducerProfile, level: Double)
    throws(CalibrationError) -> TransducerProfile
  {
    guard var hardware = profile.hardware, let model = hardware.model else {
      throw CalibrationError(
        .unsuitableSignal,
        """
        \(profile.name) has no resonance and no Q factor to start from; add estimates to the profile
        """)
    }
    let minimumToneHertz = model.resonanceHertz * pow(2, -toneEndOffsetOctaves)
    let maximumToneHertz = model.resonanceHertz * pow(2, toneEndOffsetOctaves)
    let toneBandHertz = minimumToneHertz...maximumToneHertz
    let uncertainty = hardware.uncertainty ?? hardware.defaultUncertainty
    var minimumStrengthProfile = profile
    minimumStrengthProfile.hardware?.resonanceHertz =
      model.resonanceHertz
      * (1
        - max(
          uncertainty.resonanceDeviationFraction,
          TransducerUncertainty.estimated.resonanceDeviationFraction))
    minimumStrengthProfile.hardware?.qualityFactor =
      model.qualityFactor * uncertainty.trueToStatedQualityFactorRatio
    let excessDecibels = SweepLimits(minimumStrengthProfile).excessDecibels(
      ofAmplitude: Decibels.amplitudeFactor(level), within: toneBandHertz)
    hardware.resonanceHertz = nil
    hardware.additionalResonances = []
    hardware.bandHertz = nil
    hardware.responsePoints = [
      ResponsePoint(hertz: toneBandHertz.lowerBound, relativeAccelerationDecibels: 0),
      ResponsePoint(
        hertz: toneBandHertz.upperBound,
        relativeAccelerationDecibels: Decibels.of(
          amplitude: toneBandHertz.upperBound / toneBandHertz.lowerBound)),
    ]
    return TransducerProfile(
      name: profile.name, summary: "",
      frequency: FrequencyMapping(
        lowHertz: toneBandHertz.lowerBound, highHertz: toneBandHertz.upperBound),
      fullIntensityAmplitude: Decibels.amplitudeFactor(level - max(0, excessDecibels)),
      perceptionThresholds: profile.perceptionThresholds,
      hardware: hardware,
      driveSettings: DriveSettings(
        limitsToUsableBand: false, usableBandLevelDropDecibels: 40, isEqualized: false,
        hasEqualSensation: true,
        contactSite: profile.driveSettings.contactSite),
      amplifier: profile.amplifier)
  }

  // MARK: - Presses

  /// Computes the resonance from the key presses, one for each tone.
  ///
  /// - Parameters:
  ///   - presses: At least two presses in each direction.
  ///   - statedResonance: The center of the tones, in hertz.
  /// - Throws: `pressesDisagree` if the presses do not agree on a frequency.
  public init(agreeingPresses presses: [Press], around statedResonance: Double)
    throws(CalibrationError)
  {
    func offsetOctaves(_ press: Press) -> Double { log2(press.toneHertz / statedResonance) }

    /// Returns the distance of each key press from the median in its direction, in octaves.
    func medianDistancesOctaves(_ presses: [Press]) -> [Double] {
      presses.map { press in
        let sameDirection = presses.filter { $0.isOnRisingTone == press.isOnRisingTone }
        return abs(offsetOctaves(press) - Self.median(sameDirection.map(offsetOctaves)))
      }
    }

    var agreeingPresses = presses
    var excludedPress: Press?
    let distancesFromMedian = medianDistancesOctaves(agreeingPresses)
    if let worstIndex = distancesFromMedian.indices.max(by: {
      distancesFromMedian[$0] < distancesFromMedian[$1]
    }),
      distancesFromMedian[worstIndex] > Self.maximumPressDistanceOctaves
    {
      excludedPress = agreeingPresses.remove(at: worstIndex)
    }
    let risingOffsetsOctaves = agreeingPresses.filter(\.isOnRisingTone).map(offsetOctaves)
    let fallingOffsetsOctaves = agreeingPresses.filter { !$0.isOnRisingTone }.map(offsetOctaves)
    let risingMeanOctaves = Statistics.mean(of: risingOffsetsOctaves)
    let fallingMeanOctaves = Statistics.mean(of: fallingOffsetsOctaves)
    uncertaintyFraction = Self.uncertainty(
      rising: risingOffsetsOctaves, falling: fallingOffsetsOctaves)
    guard risingOffsetsOctaves.count > 1, fallingOffsetsOctaves.count > 1,
      medianDistancesOctaves(agreeingPresses).allSatisfy({ $0 <= Self.maximumPressDistanceOctaves }
      ),
      Self.allowedResponseLagOctaves.contains(risingMeanOctaves - fallingMeanOctaves),
      uncertaintyFraction <= Self.maximumUncertaintyFraction
    else { throw Self.disagreementError(presses) }
    let meanOffsetOctaves = (risingMeanOctaves + fallingMeanOctaves) / 2
    resonanceHertz = statedResonance * pow(2, meanOffsetOctaves)
    guard abs(meanOffsetOctaves) <= Self.maximumResonanceOffsetOctaves else {
      throw CalibrationError(
        .pressesDisagree,
        """
        the tone is strongest at \(resonanceHertz.text(places: 1)) Hz, close to the edge of the \
        range; \
        set the profile's resonance to that frequency and repeat
        """)
    }
    self.agreeingPresses = agreeingPresses
    self.excludedPress = excludedPress
  }

  /// Returns the uncertainty of the resonance, as a fraction.
  ///
  /// The resonance is the mean of the rising and the falling presses.
  ///
  /// - Parameters:
  ///   - rising: The offsets of presses in rising tones, in octaves.
  ///   - falling: The offsets of presses in falling tones, in octaves.
  private static func uncertainty(rising: [Double], falling: [Double]) -> Double {
    let squaredDeviationSum = [rising, falling].reduce(0) { sum, values in
      values.reduce(sum) {
        $0 + ($1 - Statistics.mean(of: values)) * ($1 - Statistics.mean(of: values))
      }
    }
    let degreesOfFreedom = Double(rising.count + falling.count - 2)
    let inverseCountSum = 1 / Double(rising.count) + 1 / Double(falling.count)
    let meanOffsetVariance = squaredDeviationSum / degreesOfFreedom * inverseCountSum / 4
    return max(
      minimumUncertaintyFraction,
      pow(2, intervalStandardErrorCount * meanOffsetVariance.squareRoot()) - 1)
  }

  private static func median(_ values: [Double]) -> Double {
    let sortedValues = values.sorted()
    guard !sortedValues.isEmpty else { return 0 }
    return (sortedValues[sortedValues.count / 2] + sortedValues[(sortedValues.count - 1) / 2]) / 2
  }

  private static func disagreementError(_ presses: [Press]) -> CalibrationError {
    func frequencyListText(isRising: Bool) -> String {
      let frequencies = presses.filter { $0.isOnRisingTone == isRising }.map {
        $0.toneHertz.text(places: 1)
      }
      return frequencies.joined(separator: ", ")
    }

    return CalibrationError(
      .pressesDisagree,
      """
      the key presses disagree: at \(frequencyListText(isRising: true)) Hz in rising tones and \
      \(frequencyListText(isRising: false)) Hz in falling tones; press once in each tone, \
      when it is strongest; raise the level with + if you can hardly feel it
      """)
  }

  // MARK: - Result for a profile

  /// Returns a profile with the measured resonance, rounded to a tenth of a hertz.
  ///
  /// The profile has no measured response, because the response would belong to another resonance.
  /// The quality factor and its uncertainty are kept.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - date: The day of the measurement, in the user's words.
  public func applied(to profile: TransducerProfile, date: String) -> TransducerProfile {
    let previousUncertainty =
      profile.hardware?.uncertainty ?? profile.hardware?.defaultUncertainty ?? .estimated
    var measuredProfile = profile.withResonance(
      Calibration.rounded(resonanceHertz, places: 1),
      uncertainty: TransducerUncertainty(
        resonanceDeviationFraction: (uncertaintyFraction * 1_000).rounded(.up) / 1_000,
        trueToStatedQualityFactorRatio: previousUncertainty.trueToStatedQualityFactorRatio))
    measuredProfile.sources.append("Resonance measured by hand, \(date)")
    return measuredProfile
  }
}
