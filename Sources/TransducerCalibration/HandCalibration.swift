public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer, found by a person who presses a key where slow tones are felt most.
///
/// Tones rise and fall in turn. A reaction comes late in both, so rising tones give too high a frequency and falling ones
/// too low a one by the same interval; the middle is the resonance.
public struct HandCalibration: Equatable, Sendable {
  /// One slow tone.
  public struct Tone: Equatable, Sendable {
    /// Hertz at its start and at its end.
    public let start, end: Double

    /// Whether it rises.
    public var isRising: Bool { end > start }
    /// Seconds at the pace of all tones.
    public var duration: Double { abs(log2(end / start)) / HandCalibration.pace }

    /// Hertz at a time in seconds, which is clamped to its duration.
    public func hertz(at seconds: Double) -> Double { start * pow(end / start, min(max(seconds / duration, 0), 1)) }
  }

  /// A key pressed in a tone.
  public struct Press: Equatable, Sendable {
    /// The frequency of the tone in hertz.
    public let hertz: Double
    /// Whether the tone rose.
    public let isRising: Bool

    /// Makes a press.
    public init(hertz: Double, isRising: Bool) { (self.hertz, self.isRising) = (hertz, isRising) }
  }

  /// Resonance in hertz, and how far the true one may be off, as a fraction of it.
  public let resonance, uncertainty: Double
  /// The presses that count.
  public let presses: [Press]
  /// The one that was left out, if any.
  public let leftOut: Press?

  /// Octaves a second: a reaction of 0.08 s more or less is half a percent.
  private static let pace = 0.1
  /// Octaves from the stated resonance to where tones start, which differ so that counting seconds does not help, and to
  /// where they end.
  private static let (reaches, farthest) = ([0.75, 0.95, 0.85], 0.95)
  /// Octaves from the stated resonance within which the found one must lie to be between the ends of the tones.
  private static let widest = 0.55
  /// Octaves that presses in one direction may lie apart from their median: 9 %.
  private static let agreement = 0.125
  /// Octaves by which rising tones may be pressed above falling ones: a reaction of 0.25 s and, each way, 1.5 dB behind
  /// the peak of a Q factor of 2.
  private static let lags = -0.1...0.6
  /// The least uncertainty: what heat, mounting and the slope of a person's sensitivity leave. The greatest that is worth
  /// having: half of a data sheet's; keys by the clock leave more.
  private static let (leastUncertainty, greatestUncertainty) = (0.04, 0.075)
  /// Standard errors in an interval of 95 % with three or four degrees of freedom, by Student's distribution.
  private static let width = 3.0

  /// The tones around the resonance that a profile states, six, rising and falling in turn.
  public static func tones(around resonance: Double) -> [Tone] {
    reaches.flatMap { reach in
      [
        Tone(start: resonance * pow(2, -reach), end: resonance * pow(2, farthest)),
        Tone(start: resonance * pow(2, reach), end: resonance * pow(2, -farthest)),
      ]
    }
  }

  /// A profile whose sharpness 0…1 goes through all frequencies of the tones, unfiltered, at a level of full intensity.
  ///
  /// Its level falls with frequency as the acceleration of a free mass and the sensitivity of a person rise, so that a
  /// transducer is felt most at its resonance, and as much less an interval above it as below.
  ///
  /// - Parameters:
  ///   - profile: The transducer with a resonance and a quality.
  ///   - level: The greatest peak in dBFS; it is lowered to what the transducer can take, wherever the profile's
  ///     uncertainty has its resonance.
  /// - Throws: `unsuitableSignal` where the profile has no resonance and quality.
  public static func toneProfile(for profile: TransducerProfile, level: Double) throws(CalibrationError)
    -> TransducerProfile
  {
    guard var hardware = profile.hardware, let model = hardware.model else {
      throw CalibrationError(
        .unsuitableSignal, "\(profile.name) has no resonance and Q factor to start from; add estimates to the profile")
    }
    let band = (model.resonance * pow(2, -farthest))...(model.resonance * pow(2, farthest))
    let doubt = hardware.uncertainty ?? hardware.assumedUncertainty
    var weakest = profile
    weakest.hardware?.resonance =
      model.resonance * (1 - max(doubt.resonance, TransducerUncertainty.estimated.resonance))
    weakest.hardware?.qualityFactor = model.qualityFactor * doubt.qualityFactor
    let excess = SweepLimits(weakest).excess(ofAmplitude: Decibels.factor(level), within: band)
    (hardware.resonance, hardware.modes, hardware.band) = (nil, [], nil)
    hardware.response = [
      ResponsePoint(hertz: band.lowerBound, decibels: 0),
      ResponsePoint(hertz: band.upperBound, decibels: Decibels.of(amplitude: band.upperBound / band.lowerBound)),
    ]
    return TransducerProfile(
      name: profile.name, summary: "", frequency: FrequencyMapping(low: band.lowerBound, high: band.upperBound),
      level: Decibels.factor(level - max(0, excess)), thresholds: profile.thresholds, hardware: hardware,
      drive: DriveSettings(
        isBandMapped: false, reach: 40, isEqualized: false, hasEqualSensation: true, feltBy: profile.drive.feltBy),
      amplifier: profile.amplifier)
  }

  /// Combines presses, one for each tone; the one that is farthest off is left out where it disagrees with all others.
  ///
  /// - Parameters:
  ///   - presses: At least two in each direction.
  ///   - stated: The resonance in hertz that the tones were around.
  /// - Throws: `pressesDisagree` where they do not lead to one frequency.
  public init(presses: [Press], around stated: Double) throws(CalibrationError) {
    func place(_ press: Press) -> Double { log2(press.hertz / stated) }
    func median(_ places: [Double]) -> Double {
      let sorted = places.sorted()
      return sorted.isEmpty ? 0 : (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
    }
    func distances(_ presses: [Press]) -> [Double] {
      presses.map { press in abs(place(press) - median(presses.filter { $0.isRising == press.isRising }.map(place))) }
    }
    var kept = presses
    var leftOut: Press?
    let apart = distances(kept)
    if let worst = apart.indices.max(by: { apart[$0] < apart[$1] }), apart[worst] > Self.agreement {
      leftOut = kept.remove(at: worst)
    }
    let (rising, falling) = (kept.filter(\.isRising).map(place), kept.filter { !$0.isRising }.map(place))
    func mean(_ places: [Double]) -> Double { places.reduce(0, +) / Double(places.count) }
    func refusal(_ text: String) -> CalibrationError { CalibrationError(.pressesDisagree, text) }
    let squares = [rising, falling].reduce(0) { sum, places in
      places.reduce(sum) { $0 + ($1 - mean(places)) * ($1 - mean(places)) }
    }
    let variance = squares / Double(kept.count - 2) * (1 / Double(rising.count) + 1 / Double(falling.count)) / 4
    uncertainty = max(Self.leastUncertainty, pow(2, Self.width * variance.squareRoot()) - 1)
    guard rising.count > 1, falling.count > 1, distances(kept).allSatisfy({ $0 <= Self.agreement }),
      Self.lags.contains(mean(rising) - mean(falling)), uncertainty <= Self.greatestUncertainty
    else {
      func list(_ isRising: Bool) -> String {
        presses.filter { $0.isRising == isRising }.map { $0.hertz.text(1) }.joined(separator: ", ")
      }
      throw refusal(
        "the presses do not agree: at \(list(true)) Hz in rising tones and \(list(false)) Hz in falling ones; press once in each tone, where it is strongest; raise the level with + if it is hardly felt"
      )
    }
    let found = (mean(rising) + mean(falling)) / 2
    resonance = stated * pow(2, found)
    guard abs(found) <= Self.widest else {
      throw refusal(
        "the strongest buzz is at \(resonance.text(1)) Hz, too near the end of the tones; set the resonance of the profile to that and repeat"
      )
    }
    (self.presses, self.leftOut) = (kept, leftOut)
  }

  /// A profile with the resonance in place of what it said; the quality and its uncertainty stay.
  ///
  /// The resonance is rounded to a tenth of a hertz. A measured response, which has another resonance, is dropped.
  public func applied(to profile: TransducerProfile, date: String) -> TransducerProfile {
    let doubt = profile.hardware?.uncertainty ?? profile.hardware?.assumedUncertainty ?? .estimated
    var profile = profile.with(
      resonance: Calibration.rounded(resonance, places: 1),
      TransducerUncertainty(resonance: (uncertainty * 1_000).rounded(.up) / 1_000, qualityFactor: doubt.qualityFactor))
    profile.sources.append("Resonance found by hand, \(date)")
    return profile
  }
}
