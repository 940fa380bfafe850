public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer, found by a person who presses a key where slow tones feel
/// strongest.
///
/// 1. Six slow tones around the stated resonance rise and fall in turn (`tones(around:)`).
/// 2. The person presses a key in each tone. A reaction is late by the same interval in both
///    directions: too high in rising tones, too low in falling ones.
/// 3. A press that disagrees with all others is excluded. The mean of the rising and the falling
///    presses is the resonance; their spread yields its uncertainty.
public struct ManualMeasurement: Equatable, Sendable {
  /// A slow tone that rises or falls through the stated resonance.
  public struct Tone: Equatable, Sendable {
    /// The frequency at the start, in hertz.
    public let startHertz: Double
    /// The frequency at the end, in hertz.
    public let endHertz: Double

    /// A Boolean value that indicates whether the frequency rises.
    public var isRising: Bool { endHertz > startHertz }
    /// The duration, in seconds. All tones have equal speed.
    public var duration: Double {
      abs(log2(endHertz / startHertz)) / ManualMeasurement.octavesPerSecond
    }

    /// Returns the frequency in hertz at a time in seconds, which is clamped to the duration.
    public func hertz(at seconds: Double) -> Double {
      startHertz * pow(endHertz / startHertz, min(max(seconds / duration, 0), 1))
    }
  }

  /// A key press during a tone.
  public struct Press: Equatable, Sendable {
    /// The frequency of the tone, in hertz.
    public let hertz: Double
    /// A Boolean value that indicates whether the tone was rising.
    public let isRising: Bool

    /// Creates a press.
    public init(hertz: Double, isRising: Bool) {
      self.hertz = hertz
      self.isRising = isRising
    }
  }

  /// The measured resonance frequency, in hertz.
  public let resonance: Double
  /// The maximum deviation of the true resonance, as a fraction.
  public let uncertainty: Double
  /// The key presses whose frequencies agree.
  public let presses: [Press]
  /// The press that was excluded, if any.
  public let excludedPress: Press?

  /// The speed of the tones. A reaction time that varies by 0.08 s shifts a press by half a
  /// percent.
  private static let octavesPerSecond = 0.1
  /// The distances of the tones' starts from the stated resonance, in octaves. They differ, so that
  /// counting seconds does not help.
  private static let toneStartOctaves = [0.75, 0.95, 0.85]
  /// The distance of the tones' ends from the stated resonance, in octaves.
  private static let toneEndOctaves = 0.95
  /// The maximum distance of the result from the stated resonance in octaves, within the tones.
  private static let maximumOffsetOctaves = 0.55
  /// The maximum distance of a press from the median of its direction, in octaves: 9 %.
  private static let maximumSpreadOctaves = 0.125
  /// The interval of rising above falling presses, in octaves: a reaction time of 0.25 s, and 1.5
  /// dB beyond the peak of a Q factor of 2 in each direction.
  private static let responseLagOctaves = -0.1...0.6
  /// The minimum uncertainty, caused by heat, mounting, and the slope of a person's sensitivity.
  private static let minimumUncertainty = 0.04
  /// The maximum uncertainty of a useful result: half of a data sheet's. Presses at regular
  /// intervals, without feeling, have more.
  private static let maximumUncertainty = 0.075
  /// The number of standard errors in a 95 % interval with three or four degrees of freedom, by
  /// Student's distribution.
  private static let studentFactor = 3.0

  // MARK: - Tones

  /// Returns the six tones around a stated resonance, rising and falling in turn.
  public static func tones(around resonance: Double) -> [Tone] {
    toneStartOctaves.flatMap { octaves in
      [
        Tone(
          startHertz: resonance * pow(2, -octaves), endHertz: resonance * pow(2, toneEndOctaves)),
        Tone(
          startHertz: resonance * pow(2, octaves), endHertz: resonance * pow(2, -toneEndOctaves)),
      ]
    }
  }

  /// Returns a profile that renders the tones without equalization, with the sharpness 0…1 over all
  /// frequencies.
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
    let band =
      (model.resonance * pow(2, -toneEndOctaves))...(model.resonance * pow(2, toneEndOctaves))
    let uncertainty = hardware.uncertainty ?? hardware.defaultUncertainty
    var weakest = profile
    weakest.hardware?.resonance =
      model.resonance * (1 - max(uncertainty.resonance, TransducerUncertainty.estimated.resonance))
    weakest.hardware?.qualityFactor = model.qualityFactor * uncertainty.qualityFactor
    let excess = SweepLimits(weakest).excessDecibels(
      ofAmplitude: Decibels.amplitudeFactor(level), within: band)
    hardware.resonance = nil
    hardware.modes = []
    hardware.band = nil
    hardware.response = [
      ResponsePoint(hertz: band.lowerBound, decibels: 0),
      ResponsePoint(
        hertz: band.upperBound,
        decibels: Decibels.of(amplitude: band.upperBound / band.lowerBound)),
    ]
    return TransducerProfile(
      name: profile.name, summary: "",
      frequency: FrequencyMapping(low: band.lowerBound, high: band.upperBound),
      level: Decibels.amplitudeFactor(level - max(0, excess)), thresholds: profile.thresholds,
      hardware: hardware,
      drive: DriveSettings(
        isBandMapped: false, reachDecibels: 40, isEqualized: false, hasEqualSensation: true,
        contactSite: profile.drive.contactSite),
      amplifier: profile.amplifier)
  }

  // MARK: - Presses

  /// Combines presses, one for each tone.
  ///
  /// - Parameters:
  ///   - presses: At least two presses in each direction.
  ///   - statedResonance: The center of the tones, in hertz.
  /// - Throws: `pressesDisagree` if the presses do not agree on a frequency.
  public init(presses: [Press], around statedResonance: Double) throws(CalibrationError) {
    func octaves(_ press: Press) -> Double { log2(press.hertz / statedResonance) }

    /// Returns the distance of each press from the median of its direction.
    func distances(_ presses: [Press]) -> [Double] {
      presses.map { press in
        let sameDirection = presses.filter { $0.isRising == press.isRising }
        return abs(octaves(press) - Self.median(sameDirection.map(octaves)))
      }
    }

    var agreeing = presses
    var excluded: Press?
    let spread = distances(agreeing)
    if let worst = spread.indices.max(by: { spread[$0] < spread[$1] }),
      spread[worst] > Self.maximumSpreadOctaves
    {
      excluded = agreeing.remove(at: worst)
    }
    let rising = agreeing.filter(\.isRising).map(octaves)
    let falling = agreeing.filter { !$0.isRising }.map(octaves)
    let risingMean = Statistics.mean(of: rising)
    let fallingMean = Statistics.mean(of: falling)
    uncertainty = Self.uncertainty(rising: rising, falling: falling)
    guard rising.count > 1, falling.count > 1,
      distances(agreeing).allSatisfy({ $0 <= Self.maximumSpreadOctaves }),
      Self.responseLagOctaves.contains(risingMean - fallingMean),
      uncertainty <= Self.maximumUncertainty
    else { throw Self.disagreementError(presses) }
    let offset = (risingMean + fallingMean) / 2
    resonance = statedResonance * pow(2, offset)
    guard abs(offset) <= Self.maximumOffsetOctaves else {
      throw CalibrationError(
        .pressesDisagree,
        """
        the tone is strongest at \(resonance.text(places: 1)) Hz, close to the edge of the range; \
        set the profile's resonance to that frequency and repeat
        """)
    }
    self.presses = agreeing
    excludedPress = excluded
  }

  /// Returns the uncertainty of the mean of both directions, as a fraction.
  ///
  /// - Parameters:
  ///   - rising: The offsets of presses in rising tones, in octaves.
  ///   - falling: The offsets of presses in falling tones, in octaves.
  private static func uncertainty(rising: [Double], falling: [Double]) -> Double {
    let squares = [rising, falling].reduce(0) { sum, values in
      values.reduce(sum) {
        $0 + ($1 - Statistics.mean(of: values)) * ($1 - Statistics.mean(of: values))
      }
    }
    let degreesOfFreedom = Double(rising.count + falling.count - 2)
    let inverseCounts = 1 / Double(rising.count) + 1 / Double(falling.count)
    let variance = squares / degreesOfFreedom * inverseCounts / 4
    return max(minimumUncertainty, pow(2, studentFactor * variance.squareRoot()) - 1)
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
  }

  private static func disagreementError(_ presses: [Press]) -> CalibrationError {
    func list(isRising: Bool) -> String {
      let frequencies = presses.filter { $0.isRising == isRising }.map { $0.hertz.text(places: 1) }
      return frequencies.joined(separator: ", ")
    }

    return CalibrationError(
      .pressesDisagree,
      """
      the key presses disagree: at \(list(isRising: true)) Hz in rising tones and \
      \(list(isRising: false)) Hz in falling tones; press once in each tone, when it is strongest; \
      raise the level with + if you can hardly feel it
      """)
  }

  // MARK: - Result for a profile

  /// Returns a profile with the measured resonance, rounded to a tenth of a hertz, and without a
  /// measured response, which would belong to another resonance. The quality factor and its
  /// uncertainty are kept.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - date: The day of the measurement, in the user's words.
  public func applied(to profile: TransducerProfile, date: String) -> TransducerProfile {
    let previous =
      profile.hardware?.uncertainty ?? profile.hardware?.defaultUncertainty ?? .estimated
    var profile = profile.withResonance(
      Calibration.rounded(resonance, places: 1),
      uncertainty: TransducerUncertainty(
        resonance: (uncertainty * 1_000).rounded(.up) / 1_000,
        qualityFactor: previous.qualityFactor))
    profile.sources.append("Resonance measured by hand, \(date)")
    return profile
  }
}
