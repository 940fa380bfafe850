public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer in its mount, measured from a recording of the sweep signal.
///
/// 1. The two sweeps of the recording are located, checked, and transformed (`SweepRecording`).
/// 2. Resonances are fitted to the mean response of both sweeps (`ResonanceFit`).
/// 3. Each sweep is fitted separately. If a spring stiffens with movement, the fit is repeated with
///    the response extrapolated to small movement (`LevelChange`).
/// 4. A poor fit is rejected, unless the caller accepts it.
/// 5. Polarity, gain, and delay follow from the fit.
public struct Calibration: Equatable, Sendable {
  /// A resonance in addition to the main resonance.
  public struct Mode: Equatable, Sendable {
    /// The resonance frequency, in hertz.
    public let resonance: Double
    /// The quality factor at the resonance.
    public let qualityFactor: Double
    /// The acceleration at this resonance relative to that of the main resonance at its own
    /// frequency; negative for inverted polarity.
    public let gain: Double
  }

  /// Facts about a measurement that its recording does not contain.
  public struct Conditions: Equatable, Sendable {
    /// The day, in the user's words.
    public var date: String
    /// The time from a sample to its movement in seconds, if known.
    public var latencySeconds: Double?
    /// The acceleration in g at the recording's full scale, if known.
    public var fullScaleAcceleration: Double?

    /// Creates conditions.
    public init(date: String, latency: Double? = nil, fullScale: Double? = nil) {
      self.date = date
      self.latencySeconds = latency
      self.fullScaleAcceleration = fullScale
    }
  }

  /// The frequency of the main pole pair, in hertz.
  public let resonance: Double
  /// The quality factor of the main pole pair.
  public let qualityFactor: Double
  /// Up to two further resonances, the stronger first.
  public let modes: [Mode]
  /// The quantity to which the recording is proportional: the requested quantity, or the one that
  /// fits best.
  public let sensor: TransducerMeasurement.Sensor
  /// A Boolean value that indicates whether the recording has inverted polarity.
  public let isInverted: Bool
  /// The amplitude of the recording at resonance for a full-scale sine, relative to its full scale.
  ///
  /// The loss of the recorder's input high-pass is compensated.
  public let gain: Double
  /// The time in the recording at which the signal's first sample moved the transducer, in seconds,
  /// to a fraction of a frame.
  public let signalStartSeconds: Double
  /// The frequency above which the coil's inductance dominates, in hertz, if it is visible.
  public let coilCornerHertz: Double?
  /// The corner frequency of the recorder's input high-pass, in hertz, if it is visible.
  public let inputCornerHertz: Double?
  /// The frequency of the mains hum that was removed, in hertz, if any.
  public let humFrequency: Double?
  /// The half width of the 95 % interval of the resonance, as a fraction.
  public let resonanceHalfWidth: Double
  /// The half width of the 95 % interval of the quality factor, as a fraction.
  public let qualityHalfWidth: Double
  /// The differences between the loud and the quiet sweep.
  public let levelChange: LevelChange
  /// The residual power of the fit relative to the recorded power, in decibels.
  public let residualDecibels: Double
  /// The residual power that noise alone causes, from the difference of the sweeps, relative to the
  /// recorded power, in decibels.
  public let noiseDecibels: Double
  /// The level of the loud sweep above the silence before it, within the band, in decibels.
  public let signalToNoise: Double
  /// The error of the recorder's clock relative to the player's, in parts per million; positive if
  /// it is faster.
  public let clockErrorPartsPerMillion: Double
  /// The measured and the fitted response.
  public let curve: CalibrationCurve

  // MARK: - Limits

  /// The minimum level of the sweeps above the noise, in decibels.
  static let minimumSignalToNoise = 6.0
  /// The maximum error of a clock of sound hardware, in parts per million.
  static let maximumClockError = 200.0
  /// The maximum residual of a good fit, in decibels.
  static let maximumGoodResidual = -15.0
  /// The maximum residual of a fit that a caller can accept as poor, in decibels.
  static let maximumPoorResidual = -10.0
  /// The maximum residual power besides noise: −22 dB. Stronger echoes bias the quality factor by
  /// more than its interval.
  static let maximumExcessResidualPower = 0.0063
  /// The maximum half width of the resonance's interval. With a wider interval, the braking of
  /// transients would be tuned by chance.
  static let maximumResonanceInterval = 0.01
  /// The maximum half width of the quality factor's interval.
  static let maximumQualityInterval = 0.05
  /// The maximum change of the resonance between sweeps 6 dB apart. A spring that is stiffer by
  /// some fraction at the loud sweep is stiffer by a quarter of it at the quiet sweep.
  static let maximumResonanceChange = 0.007
  /// The maximum change of the quality factor between the sweeps.
  static let maximumQualityChange = 0.04
  /// The maximum change of the resonance that is attributed to the stiffness of a spring.
  static let maximumStiffeningChange = 0.025
  /// The ratio of the additional uncertainty to the change of the resonance: 4/3 would cover the
  /// sweep's level, 4 covers 4.8 dB more.
  static let stiffeningUncertaintyFactor = 4.0
  /// The maximum change of the resonance, in bandwidths, that is proportional to the square of the
  /// level.
  static let maximumShiftInBandwidths = 0.15
  /// The shift of a resonance by mounting and heat, besides the interval of the fit.
  private static let resonanceDrift = 0.02
  /// The minimum uncertainty of the quality factor, as a factor.
  private static let minimumQualityUncertainty = 1.05
  /// The minimum residual in a profile, in decibels.
  static let minimumProfileResidual = -120.0

  // MARK: - Measurement

  /// Measures a transducer by the recording of two sweeps.
  ///
  /// - Parameters:
  ///   - recording: The whole signal, with some silence after the first sweep.
  ///   - signal: The signal that was played.
  ///   - sensors: The quantities to which the recording may be proportional.
  ///   - acceptsPoorFit: Pass true to accept a fit that leaves up to 10 % unexplained, is
  ///     uncertain, or changes with the level.
  /// - Throws: A `CalibrationError` that states why the recording cannot be measured.
  public init(
    measuring recording: CalibrationRecording, of signal: SweepSignal,
    sensors: [TransducerMeasurement.Sensor] = TransducerMeasurement.Sensor.allCases,
    acceptsPoorFit: Bool = false
  ) throws(CalibrationError) {
    let sweeps = try SweepRecording(recording, signal: signal)
    let pair = sweeps.pair
    let delay = SweepPair.preRollSeconds
    var response = pair.response(removingDelay: delay)
    let noiseResponse = pair.noiseResponse
    let noiseRatio = noiseResponse.power / max(response.power, 1e-300)
    var fit = ResonanceFit(response, band: signal.band, sensors: sensors, noise: noiseRatio)
    let change = LevelChange(of: fit.transferFunction, in: pair, band: signal.band)
    if change.indicatesStiffnessChange {
      response = pair.response(.smallSignal, removingDelay: delay)
      fit = ResonanceFit(response, band: signal.band, sensors: sensors, noise: noiseRatio)
    }
    do throws(CalibrationError) {
      try Self.checkFit(
        fit, noise: noiseRatio, levelChange: change, band: signal.band,
        acceptsPoorFit: acceptsPoorFit)
      try sweeps.checkRepeatability()
    } catch {
      throw CalibrationError.attributing(error, to: sweeps.hum)
    }

    let model = fit.transferFunction
    let main = model.mainMode
    resonance = main.resonance
    qualityFactor = main.qualityFactor
    modes = Self.furtherModes(of: fit)
    sensor = sensors.first { $0.derivativeOrder == model.derivativeOrder } ?? .acceleration
    // The numerator (jr)² is −r²: above the resonance, movement and signal have equal signs if the
    // gain is positive.
    isInverted = fit.modeGains[0] < 0
    let highPass = model.highPassValue(atHertz: main.resonance).magnitude
    gain = fit.undelayedValue(atHertz: main.resonance).magnitude / max(highPass, 1e-9)
    signalStartSeconds = pair.start + delay + model.delay - signal.firstSweepTime
    let hasCoil = model.coilTimeConstant > 0
    coilCornerHertz = hasCoil ? 1 / (2 * .pi * model.coilTimeConstant) : nil
    inputCornerHertz = model.highPassOrder > 0 ? model.highPassCorner : nil
    humFrequency = sweeps.hum?.hertz
    (resonanceHalfWidth, qualityHalfWidth) = fit.intervals[0]
    levelChange = change
    residualDecibels = fit.residualDecibels
    signalToNoise = sweeps.signalToNoise
    noiseDecibels = Decibels.of(power: noiseRatio)
    clockErrorPartsPerMillion = (pair.rate / recording.rate - 1) * 1e6
    curve = CalibrationCurve(response, noise: noiseResponse, fit: fit)
  }

  /// Returns the resonances after the main one, with gains of acceleration.
  private static func furtherModes(of fit: ResonanceFit) -> [Mode] {
    let model = fit.transferFunction
    let main = model.mainMode
    // The number of derivatives from the sensor's quantity to acceleration.
    let order = Double(2 - model.derivativeOrder)
    return zip(model.modes, fit.modeGains).dropFirst().map { mode, gain in
      Mode(
        resonance: mode.resonance, qualityFactor: mode.qualityFactor,
        gain: gain / fit.modeGains[0] * pow(mode.resonance / main.resonance, order))
    }
  }

  // MARK: - Judgment of the fit

  /// Rejects a fit that is too poor to be used.
  ///
  /// - Parameters:
  ///   - fit: The fitted resonances.
  ///   - noise: The power of the noise relative to the response.
  ///   - levelChange: The differences between the sweeps.
  ///   - band: The band of the sweep.
  ///   - acceptsPoorFit: Pass true to accept a poor fit.
  static func checkFit(
    _ fit: ResonanceFit, noise: Double, levelChange: LevelChange, band: ClosedRange<Double>,
    acceptsPoorFit: Bool
  ) throws(CalibrationError) {
    let changeReason = acceptsPoorFit ? nil : levelChange.rejectionReason
    if let changeReason, fit.residualDecibels <= maximumPoorResidual, !fit.isAtBound {
      throw CalibrationError(.changesWithLevel, changeReason)
    }
    let unexplained = pow(10, fit.residualDecibels / 10)
    let explanation = explanation(of: fit, unexplained: unexplained)
    if fit.residualDecibels > maximumPoorResidual {
      throw CalibrationError(
        .noResonance, "\(explanation); check that the sensor is on the transducer")
    }
    if fit.isAtBound {
      let low = band.lowerBound.text(places: 1)
      let high = band.upperBound.text(places: 1)
      throw CalibrationError(.noResonance, "shows no resonance between \(low) and \(high) Hz")
    }
    if !acceptsPoorFit {
      try checkQuality(of: fit, unexplained: unexplained, noise: noise, explanation: explanation)
    }
  }

  /// Rejects a fit with a large residual or wide intervals.
  private static func checkQuality(
    of fit: ResonanceFit, unexplained: Double, noise: Double, explanation: String
  ) throws(CalibrationError) {
    let advice =
      """
      the cause is an echo of the room or another resonance; put the sensor on the transducer, or \
      use '--accept-poor'
      """
    if fit.residualDecibels > maximumGoodResidual {
      throw CalibrationError(
        .noResonance, "\(explanation); at least 97 % is required; \(advice)")
    }
    if unexplained - noise > maximumExcessResidualPower {
      throw CalibrationError(
        .noResonance,
        "\(explanation); at least 99.4 % of the power without noise is required; \(advice)")
    }
    let interval = fit.intervals[0]
    if interval.resonance > maximumResonanceInterval
      || interval.qualityFactor > maximumQualityInterval
    {
      let resonance = (interval.resonance * 100).text(places: 2)
      let qualityFactor = (interval.qualityFactor * 100).text(places: 2)
      throw CalibrationError(
        .noResonance,
        """
        determines the resonance only to ±\(resonance) % and the Q factor only to \
        ±\(qualityFactor) %; the limits are ±1 % and ±5 %; \(advice)
        """)
    }
  }

  private static func explanation(of fit: ResonanceFit, unexplained: Double) -> String {
    let count = fit.transferFunction.modes.count
    let subject = count == 1 ? "one resonance explains" : "\(count) resonances explain"
    let places = unexplained < 0.03 ? 1 : 0
    let percentage = ((1 - unexplained) * 100).text(places: places)
    return "\(subject) only \(percentage) % of the recorded power"
  }

  /// A Boolean value that indicates whether the results are only estimates.
  public var isPoorFit: Bool {
    levelChange.rejectionReason != nil || residualDecibels > Self.maximumGoodResidual
      || pow(10, residualDecibels / 10) - pow(10, noiseDecibels / 10)
        > Self.maximumExcessResidualPower
      || resonanceHalfWidth > Self.maximumResonanceInterval
      || qualityHalfWidth > Self.maximumQualityInterval
  }

  // MARK: - Results for a profile

  /// Returns the acceleration in g at resonance for a full-scale sine.
  ///
  /// - Parameter fullScale: The acceleration in g at the recording's full scale.
  /// - Returns: The acceleration, or nil if the sensor measured another quantity.
  public func acceleration(fullScale: Double) -> Double? {
    sensor == .acceleration ? gain * fullScale : nil
  }

  /// Returns a profile with the measured values.
  ///
  /// Values are rounded to the precision of the measurement: the resonance to a hundredth of a
  /// hertz, the quality factor to a hundredth, the band to a tenth of a hertz.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - conditions: Facts that the recording does not contain.
  public func applied(to profile: TransducerProfile, in conditions: Conditions)
    -> TransducerProfile
  {
    var profile = profile
    var hardware = profile.hardware ?? TransducerHardware(product: profile.name)
    hardware.resonance = Self.rounded(resonance, places: 2)
    hardware.qualityFactor = Self.rounded(qualityFactor, places: 2)
    hardware.band = measuredBand(published: hardware.band)
    hardware.modes = modes.map {
      TransducerMode(
        resonance: Self.rounded($0.resonance, places: 2),
        qualityFactor: Self.rounded($0.qualityFactor, places: 2),
        gain: Self.rounded($0.gain, places: 4))
    }
    // In a good recording, the resonance is more exact than points that are further apart than its
    // width.
    hardware.response = isPoorFit ? curve.response : []
    hardware.measured = TransducerMeasurement(
      date: conditions.date,
      residual: max(Self.minimumProfileResidual, Self.rounded(residualDecibels, places: 1)),
      sensor: sensor)
    var measuredKeys: Set = ["resonance", "qualityFactor", "band", "response", "modes"]
    if let fullScale = conditions.fullScaleAcceleration,
      let acceleration = acceleration(fullScale: fullScale)
    {
      let ratio = Self.continuousAmplitude(of: profile)
      hardware.acceleration = Self.rounded(acceleration * ratio, places: 3)
      measuredKeys.insert("acceleration")
    }
    hardware.estimated.removeAll { measuredKeys.contains($0) }
    hardware.uncertainty = isPoorFit ? .estimated : uncertainty
    if isPoorFit {
      hardware.estimated += ["resonance", "qualityFactor"]
    }
    profile.hardware = hardware
    if let latencySeconds = conditions.latencySeconds {
      profile.amplifier.latencySeconds = Self.rounded(latencySeconds, places: 6)
    }
    return profile
  }

  /// Returns the union of the measured and the published band, as far as the response is above the
  /// noise. The equalizer acts beyond the −10 dB points of the measured band.
  private func measuredBand(published: ClosedRange<Double>?) -> ClosedRange<Double> {
    let published = published ?? curve.band
    let audible = curve.bandAboveNoise
    let low = max(min(curve.band.lowerBound, published.lowerBound), audible.lowerBound)
    let high = min(max(curve.band.upperBound, published.upperBound), audible.upperBound)
    return Self.rounded(low, places: 1)...Self.rounded(high, places: 1)
  }

  /// Returns the amplitude of a sine of the hardware's continuous power, relative to full scale,
  /// at most 1. A profile states the acceleration at continuous power.
  private static func continuousAmplitude(of profile: TransducerProfile) -> Double {
    // The limits do not depend on the rate.
    let power = profile.transducerSettings(rate: 48_000)?.limits.fullScalePowerRatio ?? 1
    return min(1, (1 / power).squareRoot())
  }

  private var uncertainty: TransducerUncertainty {
    let stiffening =
      levelChange.indicatesStiffnessChange
      ? Self.stiffeningUncertaintyFactor * abs(levelChange.relativeResonanceChange) : 0
    return Self.uncertainty(
      resonance: resonanceHalfWidth + stiffening, qualityFactor: qualityHalfWidth)
  }

  /// Returns the uncertainty that a profile states for the intervals of a measurement.
  ///
  /// - Parameters:
  ///   - resonance: The half width of the resonance's interval, as a fraction.
  ///   - qualityFactor: The half width of the quality factor's interval, as a fraction.
  static func uncertainty(resonance: Double, qualityFactor: Double) -> TransducerUncertainty {
    TransducerUncertainty(
      resonance: rounded(resonance + resonanceDrift, places: 4),
      qualityFactor: rounded(max(1 + qualityFactor, minimumQualityUncertainty), places: 3))
  }

  /// Rounds a value to a number of decimal places.
  static func rounded(_ value: Double, places: Int) -> Double {
    let scale = pow(10, Double(places))
    return (value * scale).rounded() / scale
  }
}

// MARK: - Sentences

extension Calibration {
  /// A sentence about the part of the recorded power that the resonances explain.
  public var verdict: String {
    let unexplained = pow(10, residualDecibels / 10)
    let decimalPlaces = unexplained < 0.001 ? 3 : 1
    let percentage =
      unexplained < 1e-5
      ? "more than 99.999" : ((1 - unexplained) * 100).text(places: decimalPlaces)
    let subject =
      modes.isEmpty ? "One resonance explains" : "\(modes.count + 1) resonances explain"
    let explained = "\(subject) \(percentage) % of the recorded power"
    // Within 3 dB of the noise's residual, other causes are not visible.
    if residualDecibels <= noiseDecibels + 3 { return explained + "; the rest is noise." }
    return explained + "; most of the rest is other resonances or distortion, not noise."
  }

  /// The sentences about limitations of the result and corrections that were made.
  public var warnings: [String] {
    var warnings: [String] = []
    if isPoorFit {
      warnings.append("The fit is poor; the values are marked as estimates.")
    }
    if signalToNoise < 20 {
      warnings.append(
        "The sweeps are only \(signalToNoise.text(places: 1)) dB above the noise.")
    }
    if let reason = levelChange.rejectionReason {
      warnings.append("The recording \(reason.prefix { $0 != ";" }).")
    }
    if let warning = levelChange.stiffnessWarning {
      warnings.append(warning)
    }
    warnings += modes.map(Self.modeSentence)
    return warnings + corrections
  }

  private static func modeSentence(_ mode: Mode) -> String {
    let hertz = mode.resonance.text(places: 1)
    let qualityFactor = mode.qualityFactor.text(places: 1)
    let level = Decibels.of(amplitude: abs(mode.gain)).text(places: 1)
    return
      "Another resonance is at \(hertz) Hz, with a Q factor of \(qualityFactor), at \(level) dB."
  }

  /// The sentences about corrections of the recording.
  private var corrections: [String] {
    var corrections: [String] = []
    if let humFrequency {
      corrections.append("Mains hum at \(humFrequency.text(places: 2)) Hz was removed.")
    }
    if abs(clockErrorPartsPerMillion) > 20 {
      let error = abs(clockErrorPartsPerMillion).text(places: 0)
      let direction = clockErrorPartsPerMillion > 0 ? "faster" : "slower"
      corrections.append(
        """
        The clock of the recorder is \(error) ppm \(direction) than the clock of the player; this \
        was corrected.
        """)
    }
    if let inputCornerHertz {
      let hertz = inputCornerHertz.text(places: 1)
      corrections.append(
        "The input of the recorder has a high-pass filter at \(hertz) Hz; this was corrected.")
    }
    if let coilCornerHertz {
      corrections.append(
        """
        Coil inductance reduces the response above \
        \(coilCornerHertz.text(places: 0)) Hz; the drive \
        does not compensate for it.
        """)
    }
    return corrections
  }
}
