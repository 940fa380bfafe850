public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer and what holds it, measured from a recording of the signal.
public struct Calibration: Equatable, Sendable {
  /// A resonance besides the main one.
  public struct Mode: Equatable, Sendable {
    /// Resonance in hertz, and the quality factor there.
    public let resonance, qualityFactor: Double
    /// The acceleration at its resonance relative to that of the main one at its own; below zero
    /// where it is inverted.
    public let gain: Double
  }

  /// How figures of the second sweep differ from those of the first, which is 6 dB weaker.
  public struct LevelChange: Equatable, Sendable {
    /// By what parts the resonance and the quality are higher.
    public let resonance, qualityFactor: Double
    /// Half of the 95 % intervals of both.
    let resonanceInterval, qualityInterval: Double
    /// By what part of the width of the resonance that is.
    let shiftInBandwidths: Double
  }

  /// Resonance in hertz, and the quality factor there: those of the pole pair.
  public let resonance, qualityFactor: Double
  /// Up to two further resonances, the stronger one first.
  public let modes: [Mode]
  /// What the recording is in proportion to, as asked or as it fits best.
  public let sensor: TransducerMeasurement.Sensor
  /// Whether the recording moves down when the signal goes up.
  public let isInverted: Bool
  /// The recording's amplitude at resonance for a full-scale sine, as a factor of its full scale.
  ///
  /// What a high-pass of the recorder's input takes is made good.
  public let gain: Double
  /// Seconds of the recording at which the signal's first sample moved the transducer, to a part of
  /// a frame.
  public let offset: Double
  /// In hertz, where they are seen: above which frequency the coil's inductance takes over, and the
  /// corner of a high-pass of the recorder's input.
  public let coilCorner, inputCorner: Double?
  /// The frequency in hertz of mains hum that was taken out.
  public let humFrequency: Double?
  /// Half of the 95 % intervals of the resonance and of the quality, as fractions of them.
  public let resonanceInterval, qualityInterval: Double
  /// What the louder sweep changes.
  public let levelChange: LevelChange
  /// What the resonances leave unexplained, in decibels of the recorded power.
  public let residual: Double
  /// What noise alone leaves unexplained, from the difference of the sweeps, in the same decibels.
  public let noise: Double
  /// Decibels between the louder sweep and the silence in front of it, in the band.
  public let signalToNoise: Double
  /// By how many parts in a million the recorder's clock is faster than the player's.
  public let clockErrorPartsPerMillion: Double
  /// What was measured against what was fitted.
  public let curve: CalibrationCurve

  /// Decibels below which the noise hides the signal.
  static let minimumSignalToNoise = 6.0
  /// Parts in a million beyond which clocks are not those of sound hardware.
  static let maximumClockError = 200.0
  /// The residual up to which a fit is taken, and the one up to which it can be insisted on.
  static let maximumGoodResidual = -15.0
  static let maximumPoorResidual = -10.0
  /// The part of the power up to which a fit may leave what is not noise: −22 dB. Beyond, echoes
  /// bend the quality by more than its interval shows.
  static let maximumMisfit = 0.0063
  /// The intervals up to which figures are taken: beyond, a brake would be tuned to chance.
  static let maximumResonanceInterval = 0.01
  static let maximumQualityInterval = 0.05
  /// By what the figures may differ between sweeps 6 dB apart: movement that stiffens a spring by a
  /// share at the louder one does so by a quarter of it at the other.
  static let maximumResonanceChange = 0.007
  static let maximumQualityChange = 0.04
  /// The change of the resonance up to which it is taken for a spring's, and how many times as much
  /// the uncertainty covers: four thirds at the sweep's level, four at 4.8 dB more.
  static let maximumStiffening = 0.025
  static let stiffeningUncertaintyFactor = 4.0
  /// The part of the resonance's width up to which a change is in proportion to the square of the
  /// level.
  static let maximumShift = 0.15
  /// What mounting and heat move a resonance by, besides what a fit leaves open; the least factor
  /// on the quality.
  private static let resonanceDrift = 0.02
  private static let minimumQualityUncertainty = 1.05

  /// Measures.
  ///
  /// - Parameters:
  ///   - recording: All of the signal, with some silence behind the first sweep.
  ///   - sensors: What the recording may be in proportion to.
  ///   - acceptsPoor: Whether a fit that leaves up to 10 % unexplained, is uncertain or changes
  ///     with the level is taken all the same.
  /// - Throws: Why nothing can be said.
  public init(
    measuring recording: CalibrationRecording, of signal: SweepSignal,
    sensors: [TransducerMeasurement.Sensor] = TransducerMeasurement.Sensor.allCases,
    acceptsPoorFit acceptsPoor: Bool = false
  ) throws(CalibrationError) {
    let take = try SweepRecording(recording, signal: signal)
    let pair = take.pair
    let late = SweepPair.preRoll
    var response = pair.response(removingDelay: late)
    let noise = pair.noiseResponse
    let share = noise.power / max(response.power, 1e-300)
    var fit = ResonanceFit(response, band: signal.band, sensors: sensors, noise: share)
    let change = LevelChange(of: fit.transferFunction, in: pair, band: signal.band)
    if change.indicatesStiffnessChange {
      response = pair.response(.smallSignal, removingDelay: late)
      fit = ResonanceFit(response, band: signal.band, sensors: sensors, noise: share)
    }
    do throws(CalibrationError) {
      try Self.checkFit(
        fit, noise: share, levelChange: change, band: signal.band, acceptsPoorFit: acceptsPoor)
      try take.checkRepeatability()
    } catch {
      throw CalibrationError.attributing(error, to: take.hum)
    }
    let shape = fit.transferFunction
    let main = shape.mainMode
    resonance = main.resonance
    qualityFactor = main.qualityFactor
    modes = zip(shape.modes, fit.gains).dropFirst().map { mode, gain in
      // A sensor of another kind saw it by another power of its frequency.
      let order = Double(2 - shape.derivativeOrder)
      return Mode(
        resonance: mode.resonance, qualityFactor: mode.qualityFactor,
        gain: gain / fit.gains[0] * pow(mode.resonance / main.resonance, order))
    }
    sensor = sensors.first { $0.derivativeOrder == shape.derivativeOrder } ?? .acceleration
    // With ω² in the numerator, movement and signal have one sign above resonance, and −1 is in the
    // fit.
    isInverted = fit.gains[0] < 0
    gain =
      fit.undelayedValue(atHertz: main.resonance).magnitude
      / max(shape.highPassValue(atHertz: main.resonance).magnitude, 1e-9)
    offset = pair.start + late + shape.delay - signal.firstSweepTime
    coilCorner = shape.coilTimeConstant > 0 ? 1 / (2 * .pi * shape.coilTimeConstant) : nil
    inputCorner = shape.highPassOrder > 0 ? shape.highPassCorner : nil
    humFrequency = take.hum?.hertz
    (resonanceInterval, qualityInterval) = fit.intervals[0]
    levelChange = change
    residual = fit.residual
    signalToNoise = take.signalToNoise
    self.noise = Decibels.of(power: share)
    clockErrorPartsPerMillion = (pair.rate / recording.rate - 1) * 1e6
    curve = CalibrationCurve(response, noise: noise, fit: fit)
  }

  /// What is only known with more than the recording.
  public struct Conditions: Equatable, Sendable {
    /// The day, in the user's words.
    public var date: String
    /// Seconds from a sample to its movement, and the acceleration in g that is the recording's
    /// full scale, where known.
    public var latency, fullScale: Double?

    /// Makes circumstances.
    public init(date: String, latency: Double? = nil, fullScale: Double? = nil) {
      self.date = date
      self.latency = latency
      self.fullScale = fullScale
    }
  }

  /// The acceleration in g at resonance for a full-scale sine.
  ///
  /// - Parameter fullScale: The acceleration in g that is the recording's full scale.
  /// - Returns: Nothing where the sensor gave something else than acceleration.
  public func acceleration(fullScale: Double) -> Double? {
    sensor == .acceleration ? gain * fullScale : nil
  }

  /// A profile with what was measured in place of what it said.
  ///
  /// Figures are rounded to what the measurement tells: resonance to a hundredth of a hertz,
  /// quality to a hundredth, the band to a tenth.
  public func applied(to profile: TransducerProfile, in circumstances: Conditions)
    -> TransducerProfile
  {
    var profile = profile
    var hardware = profile.hardware ?? TransducerHardware(product: profile.name)
    var known: Set = ["resonance", "qualityFactor", "band", "response"]
    hardware.resonance = Self.rounded(resonance, places: 2)
    hardware.qualityFactor = Self.rounded(qualityFactor, places: 2)
    // The equaliser reaches beyond the band at 10 dB, so what was published stays as far as it was
    // heard.
    let band = hardware.band ?? curve.band
    let low = max(min(curve.band.lowerBound, band.lowerBound), curve.bandAboveNoise.lowerBound)
    let high = min(max(curve.band.upperBound, band.upperBound), curve.bandAboveNoise.upperBound)
    hardware.band = Self.rounded(low, places: 1)...Self.rounded(high, places: 1)
    hardware.modes = modes.map {
      TransducerMode(
        resonance: Self.rounded($0.resonance, places: 2),
        qualityFactor: Self.rounded($0.qualityFactor, places: 2),
        gain: Self.rounded($0.gain, places: 4))
    }
    known.insert("modes")
    // The resonance explains a good recording better than points could that are further apart than
    // it is wide.
    hardware.response = isPoorFit ? curve.response : []
    hardware.measured = TransducerMeasurement(
      date: circumstances.date, residual: max(-120, Self.rounded(residual, places: 1)),
      sensor: sensor)
    if let fullScale = circumstances.fullScale, let most = acceleration(fullScale: fullScale) {
      // The profile's figure is that at continuous power; full scale gives what the amplifier can.
      // No rate changes limits.
      let share = min(
        1, (1 / (profile.transducerSettings(rate: 48_000)?.limits.power ?? 1)).squareRoot())
      hardware.acceleration = Self.rounded(most * share, places: 3)
      known.insert("acceleration")
    }
    hardware.estimated.removeAll { known.contains($0) }
    let stiffening =
      levelChange.indicatesStiffnessChange
      ? Self.stiffeningUncertaintyFactor * abs(levelChange.resonance) : 0
    let uncertainty = Self.uncertainty(
      resonance: resonanceInterval + stiffening, qualityFactor: qualityInterval)
    hardware.uncertainty = isPoorFit ? .estimated : uncertainty
    if isPoorFit {
      hardware.estimated += ["resonance", "qualityFactor"]
    }
    profile.hardware = hardware
    if let latency = circumstances.latency {
      profile.amplifier.latency = Self.rounded(latency, places: 6)
    }
    return profile
  }

  /// What a profile states with intervals of a measurement.
  static func uncertainty(resonance: Double, qualityFactor: Double) -> TransducerUncertainty {
    TransducerUncertainty(
      resonance: rounded(resonance + resonanceDrift, places: 4),
      qualityFactor: rounded(max(1 + qualityFactor, minimumQualityUncertainty), places: 3))
  }

  static func rounded(_ value: Double, places: Int) -> Double {
    let scale = pow(10, Double(places))
    return (value * scale).rounded() / scale
  }

  static func checkFit(
    _ fit: ResonanceFit, noise: Double, levelChange change: LevelChange, band: ClosedRange<Double>,
    acceptsPoorFit acceptsPoor: Bool
  ) throws(CalibrationError) {
    let unexplained = pow(10, fit.residual / 10)
    let count = fit.transferFunction.modes.count
    let explanation =
      (count == 1 ? "one resonance explains" : "\(count) resonances explain")
        + """
         only \(((1 - unexplained) * 100).text(places: unexplained < 0.03 ? 1 : 0)) % of the recorded \
        power
        """
    let advice =
      """
      a room's echo or a further resonance is in it: put the sensor on the transducer, not near \
      it, or use '--accept-poor'
      """
    let (resonance, quality) = fit.intervals[0]
    let changed = acceptsPoor ? nil : change.rejectionReason
    // The first that holds; those behind the bound are limits of a good fit.
    let refusals: [(Bool, CalibrationError.Kind, String)] = [
      (
        fit.residual <= maximumPoorResidual && !fit.isAtBound && changed != nil, .changesWithLevel,
        changed ?? ""
      ),
      (
        fit.residual > maximumPoorResidual, .noResonance,
        "\(explanation); is the sensor on the transducer?"
      ),
      (
        fit.isAtBound, .noResonance,
        "shows no resonance between \(band.lowerBound.text(places: 1)) and \(band.upperBound.text(places: 1)) Hz"
      ),
      (
        !acceptsPoor && fit.residual > maximumGoodResidual, .noResonance,
        "\(explanation); at least 97 % are required; \(advice)"
      ),
      (
        !acceptsPoor && unexplained - noise > maximumMisfit, .noResonance,
        "\(explanation); at least 99.4 % of what is not noise are required; \(advice)"
      ),
      (
        !acceptsPoor && (resonance > maximumResonanceInterval || quality > maximumQualityInterval),
        .noResonance,
        """
        leaves the resonance uncertain by ±\((resonance * 100).text(places: 2)) % and the Q factor by \
        ±\((quality * 100).text(places: 2)) \
        %, at most 1 % and 5 % are allowed; \(advice)
        """
      ),
    ]
    if let (_, kind, text) = refusals.first(where: \.0) {
      throw CalibrationError(kind, text)
    }
  }

  /// What the resonances explain, and what the rest is: one sentence.
  public var verdict: String {
    let unexplained = pow(10, residual / 10)
    let share =
      unexplained < 1e-5
      ? "more than 99.999" : ((1 - unexplained) * 100).text(places: unexplained < 0.001 ? 3 : 1)
    let explained =
      (modes.isEmpty ? "One resonance explains" : "\(modes.count + 1) resonances explain")
      + " \(share) % of the recorded power"
    // Within 3 dB of what noise leaves, nothing else is seen.
    if residual <= noise + 3 { return explained + "; the rest is noise." }
    return explained + "; most of the rest is not noise but other resonances or distortion."
  }

  /// What speaks against leaning on the figures: a sentence each.
  public var warnings: [String] {
    let changed = levelChange.rejectionReason.map { "The recording \($0.prefix { $0 != ";" })." }
    let clock =
      "\(abs(clockErrorPartsPerMillion).text(places: 0)) ppm \(clockErrorPartsPerMillion > 0 ? "faster" : "slower")"
    let further = modes.map { mode in
      """
      A further resonance is at \(mode.resonance.text(places: 1)) Hz, with a Q factor of \
      \(mode.qualityFactor.text(places: 1)), at 
      """
        + "\(Decibels.of(amplitude: abs(mode.gain)).text(places: 1)) dB."
    }
    return [
      isPoorFit ? "The fit is poor; the values are marked as estimates." : nil,
      signalToNoise < 20
        ? "The sweeps are only \(signalToNoise.text(places: 1)) dB above the noise." : nil,
      changed,
      levelChange.stiffnessWarning,
    ].compactMap(\.self) + further
      + [
        humFrequency.map { "Mains hum at \($0.text(places: 2)) Hz was removed." },
        abs(clockErrorPartsPerMillion) > 20
          ? "The recorder's clock is \(clock) than the player's; this was corrected." : nil,
        inputCorner.map {
          "The recorder's input has a high-pass at \($0.text(places: 1)) Hz; this was corrected."
        },
        coilCorner.map {
          """
          Coil inductance reduces the response above \($0.text(places: 0)) Hz; the drive does not \
          compensate for it.
          """
        },
      ].compactMap(\.self)
  }

  /// Whether the figures are no more than estimates.
  public var isPoorFit: Bool {
    levelChange.rejectionReason != nil || residual > Self.maximumGoodResidual
      || pow(10, residual / 10) - pow(10, noise / 10) > Self.maximumMisfit
      || resonanceInterval > Self.maximumResonanceInterval
      || qualityInterval > Self.maximumQualityInterval
  }
}

extension Calibration.LevelChange {
  init(of shape: TransferFunction, in pair: SweepPair, band: ClosedRange<Double>) {
    func fit(_ part: SweepPair.Combination) -> ResonanceFit {
      ResonanceFit(
        refining: shape, pair.response(part, removingDelay: SweepPair.preRoll), band: band)
    }
    let quiet = fit(.quiet)
    let loud = fit(.loud)
    resonance =
      loud.transferFunction.mainMode.resonance / quiet.transferFunction.mainMode.resonance - 1
    qualityFactor =
      loud.transferFunction.mainMode.qualityFactor / quiet.transferFunction.mainMode.qualityFactor
      - 1
    shiftInBandwidths = resonance * shape.mainMode.qualityFactor
    func both(_ left: Double, _ right: Double) -> Double {
      (left * left + right * right).squareRoot()
    }
    resonanceInterval = both(quiet.intervals[0].resonance, loud.intervals[0].resonance)
    qualityInterval = both(quiet.intervals[0].qualityFactor, loud.intervals[0].qualityFactor)
  }

  /// How many intervals a difference must be to be more than chance: 3 in 1,000 are wider.
  private static let significanceFactor = 1.5

  /// Whether the resonance or the quality differs by more than is allowed, and by more than chance.
  var isSignificant: (resonance: Bool, qualityFactor: Bool) {
    (
      abs(resonance)
        > max(Calibration.maximumResonanceChange, Self.significanceFactor * resonanceInterval),
      abs(qualityFactor)
        > max(Calibration.maximumQualityChange, Self.significanceFactor * qualityInterval)
    )
  }

  /// Whether a spring stiffens or softens so little that the figures of small movement follow from
  /// both sweeps.
  var indicatesStiffnessChange: Bool {
    isSignificant.resonance && !isSignificant.qualityFactor
      && abs(resonance) <= Calibration.maximumStiffening
      && abs(shiftInBandwidths) <= Calibration.maximumShift
  }

  private var summary: String {
    """
    changes with the level: the resonance of the louder sweep is \
    \((abs(resonance) * 100).text(places: 1)) % 
    """
      + (resonance > 0 ? "higher, as where a spring stiffens" : "lower, as where a spring softens")
      + " with movement"
  }

  /// What is to be known of a spring that stiffens or softens a little.
  var stiffnessWarning: String? {
    guard indicatesStiffnessChange else { return nil }
    return
      """
      The recording \(summary). The figures are those of small movement; the uncertainty covers \
      levels up to 5 dB above the sweep's.
      """
  }

  var rejectionReason: String? {
    if indicatesStiffnessChange { return nil }
    let advice = "use a lower '--level', or '--accept-poor'"
    let seen = isSignificant
    if seen.resonance { return "\(summary); \(advice)" }
    guard seen.qualityFactor else { return nil }
    return
      """
      changes with the level: the Q factor of the louder sweep is \
      \((abs(qualityFactor) * 100).text(places: 1)) % 
      """
        + (qualityFactor < 0
          ? """
          lower, as where the recorder or the amplifier compresses; lower their gains, or \
          \(advice)
          """
          : "higher, as with friction; use a higher '--level', or '--accept-poor'")
  }
}

/// How far a transducer's resonance and quality are from what its profile states.
public struct CalibrationDrift: Equatable, Sendable {
  /// A figure of the profile against what was measured.
  public struct Comparison: Equatable, Sendable {
    /// What the profile states, and what was measured.
    public let stated, measured: Double
    /// Half of the 95 % interval of what was measured, as a fraction of it.
    public let interval: Double
    /// What the measured may be of the stated, by the profile's uncertainty.
    public let allowedRatio: ClosedRange<Double>

    /// By what part the measured is above the stated.
    public var relativeChange: Double { measured / stated - 1 }
    /// Whether the measured is within what the profile states.
    public var isWithinUncertainty: Bool { allowedRatio.contains(measured / stated) }
  }

  /// Resonance in hertz, and quality factor.
  public let resonance, qualityFactor: Comparison

  /// Whether both are within what the profile states.
  public var isWithinUncertainty: Bool {
    resonance.isWithinUncertainty && qualityFactor.isWithinUncertainty
  }

  /// Compares; nothing where the profile has no resonance and quality.
  public init?(_ calibration: Calibration, from profile: TransducerProfile) {
    guard let hardware = profile.hardware, let model = hardware.model else { return nil }
    let doubt = hardware.uncertainty ?? hardware.defaultUncertainty
    resonance = Comparison(
      stated: model.resonance, measured: calibration.resonance,
      interval: calibration.resonanceInterval,
      allowedRatio: (1 - doubt.resonance)...(1 + doubt.resonance))
    qualityFactor = Comparison(
      stated: model.qualityFactor, measured: calibration.qualityFactor,
      interval: calibration.qualityInterval,
      allowedRatio: (1 / doubt.qualityFactor)...doubt.qualityFactor)
  }
}

/// Why a transducer cannot be measured from a recording, or a signal not be made for one.
public struct CalibrationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The signal cannot be as asked: change its figures.
    case unsuitableSignal
    /// The transducer cannot take the signal: lower its level or narrow its band.
    case tooStrong
    /// The recording does not hold what the signal needs: record all of it again.
    case unsuitableRecording
    /// The recorder was driven too hard: lower its gain.
    case clipped
    /// The noise hides the signal: raise the level or the gain, or record where it is quieter.
    case tooQuiet
    /// The recorder's clock is not the player's: record on the device that plays.
    case clockMismatch
    /// The recording does not show the resonance of a transducer: check where the sensor is.
    case noResonance
    /// The movement is not in proportion to the signal: lower the level.
    case changesWithLevel
    /// A person's presses do not lead to one frequency: repeat, at a level that is clearly felt.
    case pressesDisagree
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user that goes behind the name of what is wrong.
  public var description: String

  /// Makes an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  static func attributing(_ error: CalibrationError, to hum: MainsHum?) -> CalibrationError {
    guard let hum, hum.isDrifting else { return error }
    return CalibrationError(
      .unsuitableRecording,
      """
      has mains hum whose frequency moves, at \(hum.hertz.text(places: 1)) Hz, which cannot be taken \
      out; keep the sensor's leads away from mains leads, or record on battery power
      """
    )
  }
}

/// A measured acceleration response with the fitted one, by frequency.
///
/// What a sensor of velocity or displacement gave is brought to acceleration; the greatest of what
/// was measured and stands out of the noise is 0 dB.
public struct CalibrationCurve: Equatable, Sendable {
  /// A place on the curve.
  public struct Point: Equatable, Sendable {
    /// Frequency in hertz.
    public let hertz: Double
    /// In decibels: what was measured, what the resonances give, and what is left when that is
    /// taken from it, phase and all.
    public let measured, fitted, residual: Double
    /// Whether what was measured stands out of the noise, from here to the resonance.
    public let isAboveNoise: Bool
  }

  /// The points by rising frequency, up to 96 in an octave.
  public let points: [Point]
  /// The frequencies around the peak at which no more than 10 dB are lost.
  public let band: ClosedRange<Double>
  /// The frequencies around the resonance that stand out of the noise; the band where none do.
  public let bandAboveNoise: ClosedRange<Double>
  /// Whether the band may go on below or above what the sweep went through.
  public let mayExtendBelow, mayExtendAbove: Bool

  /// Decibels that are lost at the ends of the band, and points to both sides that it is judged by:
  /// a twelfth of an octave.
  private static let bandEdgeLoss = 10.0
  private static let smoothingHalfWidth = 4
  /// How many times the power of noise is heard, and points of a response in a profile.
  private static let minimumPowerOverNoise = 4.0
  private static let responsePointCount = 24

  /// - Parameter noise: What noise adds to the response, in the same groups.
  init(_ response: MeasuredResponse, noise: MeasuredResponse, fit: ResonanceFit) {
    let order = Double(2 - fit.transferFunction.derivativeOrder)
    func power(_ response: MeasuredResponse, _ index: Int) -> Double {
      Self.smoothedPower(of: response, around: index, exponent: order)
        / max(fit.transferFunction.highPassValue(atHertz: response.groups[index].hertz).power, 1e-9)
    }
    let levels = response.groups.indices.map { power(response, $0) }
    let noises = noise.groups.indices.map { power(noise, $0) }
    let heard = Self.contiguousRun(
      of: zip(levels, noises).map { $0 > Self.minimumPowerOverNoise * $1 },
      around: response.groups.lastIndex { $0.hertz <= fit.transferFunction.mainMode.resonance } ?? 0
    )
    let greatest = max(zip(levels, heard).map { $1 ? $0 : 0 }.max() ?? 0, 1e-300).squareRoot()
    let points = zip(response.groups, heard).map { group, isAboveNoise in
      let fitted = fit.value(atHertz: group.hertz)
      let passed = fit.transferFunction.highPassValue(atHertz: group.hertz).magnitude
      let factor = pow(group.hertz, order) / (greatest * max(passed, 1e-5))
      return Point(
        hertz: group.hertz, measured: Decibels.of(amplitude: group.gain.magnitude * factor),
        fitted: Decibels.of(amplitude: fitted.magnitude * factor),
        residual: Decibels.of(amplitude: (group.gain - fitted).magnitude * factor),
        isAboveNoise: isAboveNoise)
    }
    self.points = points
    let reached = levels.indices.map { heard[$0] ? levels[$0] : 0 }
    guard let peak = reached.indices.max(by: { reached[$0] < reached[$1] }) else {
      band = 1...1
      self.bandAboveNoise = 1...1
      mayExtendBelow = true
      mayExtendAbove = true
      return
    }
    let least = reached[peak] * pow(10, -Self.bandEdgeLoss / 10)
    let low = (reached[..<peak].lastIndex { !($0 >= least) } ?? -1) + 1
    let high = (reached[peak...].firstIndex { !($0 >= least) } ?? reached.count) - 1
    band = points[low].hertz...points[high].hertz
    let first = heard.firstIndex(of: true) ?? low
    let last = heard.lastIndex(of: true) ?? high
    self.bandAboveNoise = points[min(first, low)].hertz...points[max(last, high)].hertz
    mayExtendBelow = low == 0 || !heard[low - 1]
    mayExtendAbove = high == points.count - 1 || !heard[high + 1]
  }

  /// The measured response in few points for a profile: equally far apart, the greatest at 0 dB.
  ///
  /// What noise hides is left out.
  public var response: [ResponsePoint] {
    guard let first = points.first?.hertz, let last = points.last?.hertz, first < last else {
      return []
    }
    let width = log2(last / first) / Double(Self.responsePointCount)
    var found: [ResponsePoint] = []
    for index in 0..<Self.responsePointCount {
      let low = first * pow(2, Double(index) * width)
      let high = low * pow(2, width)
      let inside = points.filter { $0.hertz >= low && $0.hertz < high }
      guard !inside.isEmpty, inside.allSatisfy(\.isAboveNoise) else { continue }
      let power = inside.reduce(0) { $0 + pow(10, $1.measured / 10) } / Double(inside.count)
      found.append(
        ResponsePoint(
          hertz: Self.rounded((low * high).squareRoot()), decibels: Decibels.of(power: power)))
    }
    let most = found.map(\.decibels).max() ?? 0
    return found.map { ResponsePoint(hertz: $0.hertz, decibels: Self.rounded($0.decibels - most)) }
  }

  /// What holds without a break around a place.
  private static func contiguousRun(of matches: [Bool], around place: Int) -> [Bool] {
    let first = (matches.prefix(place).lastIndex(of: false) ?? -1) + 1
    let end = matches.dropFirst(place).firstIndex(of: false) ?? matches.count
    return matches.indices.map { end > place && (first..<end).contains($0) }
  }

  /// The mean power around a group, brought to acceleration.
  private static func smoothedPower(
    of response: MeasuredResponse, around index: Int, exponent order: Double
  )
    -> Double
  {
    let groups = response.groups
    let range =
      max(0, index - smoothingHalfWidth)...min(groups.count - 1, index + smoothingHalfWidth)
    let power = range.reduce(0) { $0 + groups[$1].gain.power * pow(groups[$1].hertz, 2 * order) }
    return power / Double(range.count)
  }

  private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
