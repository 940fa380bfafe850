public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer in its mount, measured from a recording of the sweep signal.
///
/// 1. The two sweeps of the recording are located, checked, and transformed (`SweepRecording`).
/// 2. Resonances are fitted to the mean response of both sweeps (`ResonanceFit`).
/// 3. Each sweep is fitted separately. If a spring stiffens with movement, the fit is repeated with
///    the response extrapolated to small movement (`LevelDependence`).
/// 4. A poor fit is rejected, unless the caller accepts it.
/// 5. Polarity, gain, and delay follow from the fit.
public struct Calibration: Equatable, Sendable {
  /// A resonance in addition to the main resonance.
  public struct FurtherResonance: Equatable, Sendable {
    /// The frequency of the additional resonance, in hertz.
    public let resonanceHertz: Double
    /// The quality factor at the resonance.
    public let qualityFactor: Double
    /// The acceleration at this resonance relative to that at the main resonance.
    ///
    /// Each acceleration is that at its own resonance frequency. The ratio is negative for inverted
    /// polarity.
    public let accelerationToMainModeRatio: Double
  }

  /// The date, the latency, and the sensitivity of a measurement.
  ///
  /// These values cannot be derived from the recording.
  public struct Conditions: Equatable, Sendable {
    /// The date of the measurement, as the user wrote it.
    public var dateText: String
    /// The latency from the sample output to the transducer's movement in seconds, if known.
    public var latencySeconds: Double?
    /// The acceleration, in g, that corresponds to the recording's full scale, if known.
    public var fullScaleAccelerationInG: Double?

    /// Creates measurement conditions from a date, a latency, and the full-scale acceleration.
    public init(dateText date: String, latency: Double? = nil, fullScale: Double? = nil) {
      self.dateText = date
      self.latencySeconds = latency
      self.fullScaleAccelerationInG = fullScale
    }
  }

  /// The frequency of the main pole pair, in hertz.
  public let resonanceHertz: Double
  /// The quality factor of the main pole pair.
  public let qualityFactor: Double
  /// The additional resonances, at most two, the stronger first.
  public let furtherResonances: [FurtherResonance]
  /// The quantity that the sensor records: displacement, velocity, or acceleration.
  ///
  /// It is the requested quantity or, without a request, the quantity that fits best.
  public let sensorQuantity: TransducerMeasurement.SensorQuantity
  /// A Boolean value that indicates whether the recording has inverted polarity.
  public let hasInvertedPolarity: Bool
  /// The recorded amplitude of a full-scale sine at the resonance.
  ///
  /// The amplitude is relative to the recording's full scale.
  ///
  /// The loss of the recorder's input high-pass is compensated.
  public let fullScaleSineAmplitude: Double
  /// The time in the recording at which the transducer starts to move, in seconds.
  ///
  /// The signal's first sample causes the movement. The time is accurate to a fraction of a frame.
  public let signalStartSeconds: Double
  /// The corner frequency of the coil's inductance, in hertz, if it is visible.
  ///
  /// The inductance dominates above this frequency.
  public let coilCornerHertz: Double?
  /// The corner frequency of the recorder's input high-pass, in hertz, if it is visible.
  public let recorderHighPassCornerHertz: Double?
  /// The frequency of the mains hum that was removed, in hertz, if any.
  public let humHertz: Double?
  /// The half width of the resonance's 95 % confidence interval, as a fraction of the resonance.
  public let resonanceIntervalHalfWidthFraction: Double
  /// The half width of the quality factor's 95 % confidence interval, as a fraction of its value.
  public let qualityIntervalHalfWidthFraction: Double
  /// The differences between the resonances measured with the loud and with the quiet sweep.
  public let levelDependence: LevelDependence
  /// The residual power of the fit relative to the recorded power, in decibels.
  public let fitResidualDecibels: Double
  /// The residual power that noise alone causes, in decibels relative to the recorded power.
  ///
  /// It is estimated from the difference between the sweeps.
  public let residualFromNoiseDecibels: Double
  /// The level of the loud sweep above the preceding silence, in decibels.
  ///
  /// Both levels are measured within the band of the sweep.
  public let signalToNoiseDecibels: Double
  /// The error of the recorder's clock relative to the player's, in parts per million.
  ///
  /// The error is positive if the recorder's clock is faster.
  public let clockErrorPartsPerMillion: Double
  /// The measured and the fitted acceleration response by frequency.
  public let responseCurve: CalibrationCurve

  // MARK: - Limits

  /// The minimum level of the sweeps above the noise, in decibels.
  static let minimumSignalToNoiseDecibels = 6.0
  /// The maximum plausible error of a sound device's clock, in parts per million.
  static let maximumClockErrorPartsPerMillion = 200.0
  /// The maximum residual of a good fit, in decibels.
  static let maximumGoodResidualDecibels = -15.0
  /// The maximum residual of a fit that a caller can accept as poor, in decibels.
  static let maximumPoorResidualDecibels = -10.0
  /// The maximum residual power in excess of the noise, relative to the recorded power: −22 dB.
  ///
  /// Stronger echoes bias the quality factor by more than its interval.
  static let maximumResidualPowerBeyondNoise = 0.0063
  /// The maximum half width of the resonance's confidence interval, as a fraction.
  ///
  /// With a wider interval, the braking of transients would be tuned by chance.
  static let maximumResonanceIntervalHalfWidth = 0.01
  /// The maximum half width of the quality factor's confidence interval, as a fraction.
  static let maximumQualityIntervalHalfWidth = 0.05
  /// The maximum relative change of the resonance between sweeps 6 dB apart.
  ///
  /// If a spring's stiffness increases by some fraction during the loud sweep, it increases by a
  /// quarter of this fraction during the quiet sweep.
  static let maximumResonanceChangeFraction = 0.007
  /// The maximum relative change of the quality factor between the sweeps.
  static let maximumQualityChangeFraction = 0.04
  /// The maximum relative change of the resonance that is attributed to a spring's stiffness.
  static let maximumStiffeningChangeFraction = 0.025
  /// The ratio of a stiffening spring's additional uncertainty to its measured resonance change.
  ///
  /// The change is the difference between the two sweeps. A ratio of 4/3 would cover the loud
  /// sweep's level, and 4 covers levels up to 4.8 dB higher.
  static let stiffeningUncertaintyFactor = 4.0
  /// The maximum resonance change of a model with a stiffening spring, in bandwidths.
  ///
  /// Up to this change, the resonance is assumed to shift in proportion to the square of the level.
  static let maximumResonanceShiftInBandwidths = 0.15
  /// The resonance drift due to mounting and heat, as a fraction of the resonance.
  ///
  /// It is added to the confidence interval of the fit.
  private static let resonanceDriftFraction = 0.02
  /// The minimum uncertainty of the quality factor, as a multiplicative factor.
  private static let minimumQualityUncertaintyFactor = 1.05
  /// The minimum residual that a profile states, in decibels.
  static let minimumProfileResidualDecibels = -120.0

  // MARK: - Measurement

  /// Measures a transducer's resonance from a recording of two sweeps.
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
    sensors: [TransducerMeasurement.SensorQuantity] = TransducerMeasurement.SensorQuantity.allCases,
    acceptsPoorFit: Bool = false
  ) throws(CalibrationError) {
    let sweepRecording = try SweepRecording(recording, signal: signal)
    let sweepPair = sweepRecording.sweepPair
    let preRollSeconds = SweepPair.preRollSeconds
    var measuredResponse = sweepPair.response(removingDelay: preRollSeconds)
    let noiseResponse = sweepPair.noiseResponse
    let noisePowerRatio = noiseResponse.responsePower / max(measuredResponse.responsePower, 1e-300)
    var resonanceFit = ResonanceFit(
      measuredResponse, band: signal.bandHertz, sensors: sensors, noise: noisePowerRatio)
    let levelChange = LevelDependence(
      of: resonanceFit.transferFunction, in: sweepPair, band: signal.bandHertz)
    if levelChange.indicatesStiffnessChange {
      measuredResponse = sweepPair.response(.smallSignal, removingDelay: preRollSeconds)
      resonanceFit = ResonanceFit(
        measuredResponse, band: signal.bandHertz, sensors: sensors, noise: noisePowerRatio)
    }
    do throws(CalibrationError) {
      try Self.checkFit(
        resonanceFit, noise: noisePowerRatio, levelDependence: levelChange, band: signal.bandHertz,
        acceptsPoorFit: acceptsPoorFit)
      try sweepRecording.checkRepeatability()
    } catch {
      throw CalibrationError.attributing(error, to: sweepRecording.removedHum)
    }

    let transferFunction = resonanceFit.transferFunction
    let mainResonance = transferFunction.mainMode
    resonanceHertz = mainResonance.resonanceHertz
    qualityFactor = mainResonance.qualityFactor
    furtherResonances = Self.furtherModes(of: resonanceFit)
    sensorQuantity =
      sensors.first { $0.derivativeOrder == transferFunction.derivativeOrder } ?? .acceleration
    // The numerator (jr)² is −r²: above the resonance, movement and signal have equal signs if the
    // gain is positive.
    hasInvertedPolarity = resonanceFit.gainsByResonance[0] < 0
    let highPassMagnitude = transferFunction.highPassResponse(atHertz: mainResonance.resonanceHertz)
      .magnitude
    fullScaleSineAmplitude =
      resonanceFit.undelayedResponse(atHertz: mainResonance.resonanceHertz).magnitude
      / max(highPassMagnitude, 1e-9)
    signalStartSeconds =
      sweepPair.excerptStartSeconds + preRollSeconds + transferFunction.delaySeconds
      - signal.firstSweepStartSeconds
    let hasCoilInductance = transferFunction.coilTimeConstantSeconds > 0
    coilCornerHertz =
      hasCoilInductance ? 1 / (2 * .pi * transferFunction.coilTimeConstantSeconds) : nil
    recorderHighPassCornerHertz =
      transferFunction.highPassOrder > 0 ? transferFunction.highPassHertz : nil
    humHertz = sweepRecording.removedHum?.frequencyHertz
    (resonanceIntervalHalfWidthFraction, qualityIntervalHalfWidthFraction) =
      resonanceFit.intervalHalfWidths[0]
    self.levelDependence = levelChange
    fitResidualDecibels = resonanceFit.residualDecibels
    signalToNoiseDecibels = sweepRecording.signalToNoiseDecibels
    residualFromNoiseDecibels = Decibels.of(power: noisePowerRatio)
    clockErrorPartsPerMillion = (sweepPair.recorderSampleRate / recording.sampleRate - 1) * 1e6
    responseCurve = CalibrationCurve(measuredResponse, noise: noiseResponse, fit: resonanceFit)
  }

  /// Returns the resonances after the main resonance, with their relative accelerations.
  private static func furtherModes(of fit: ResonanceFit) -> [FurtherResonance] {
    let transferFunction = fit.transferFunction
    let mainResonance = transferFunction.mainMode
    // The number of derivatives from the sensor's quantity to acceleration.
    let frequencyExponent = Double(2 - transferFunction.derivativeOrder)
    return zip(transferFunction.modes, fit.gainsByResonance).dropFirst().map { mode, gain in
      FurtherResonance(
        resonanceHertz: mode.resonanceHertz, qualityFactor: mode.qualityFactor,
        accelerationToMainModeRatio: gain / fit.gainsByResonance[0]
          * pow(mode.resonanceHertz / mainResonance.resonanceHertz, frequencyExponent))
    }
  }

  // MARK: - Judgment of the fit

  /// Throws an error for a fit that is too poor to be used.
  ///
  /// - Parameters:
  ///   - fit: The fitted resonances.
  ///   - noise: The power of the noise relative to the response.
  ///   - levelDependence: The differences between the sweeps.
  ///   - band: The band of the sweep.
  ///   - acceptsPoorFit: Pass true to accept a poor fit.
  static func checkFit(
    _ fit: ResonanceFit, noise: Double, levelDependence: LevelDependence,
    band: ClosedRange<Double>,
    acceptsPoorFit: Bool
  ) throws(CalibrationError) {
    let levelChangeReason = acceptsPoorFit ? nil : levelDependence.rejectionReason
    if let levelChangeReason, fit.residualDecibels <= maximumPoorResidualDecibels,
      !fit.hasMainResonanceAtBound
    {
      throw CalibrationError(.changesWithLevel, levelChangeReason)
    }
    let unexplainedPowerFraction = pow(10, fit.residualDecibels / 10)
    let explanation = explainedPowerText(of: fit, unexplained: unexplainedPowerFraction)
    if fit.residualDecibels > maximumPoorResidualDecibels {
      throw CalibrationError(
        .noResonance, "\(explanation); check that the sensor is on the transducer")
    }
    if fit.hasMainResonanceAtBound {
      let low = band.lowerBound.text(places: 1)
      let high = band.upperBound.text(places: 1)
      throw CalibrationError(.noResonance, "shows no resonance between \(low) and \(high) Hz")
    }
    if !acceptsPoorFit {
      try checkQuality(
        of: fit, unexplained: unexplainedPowerFraction, noise: noise, explanation: explanation)
    }
  }

  /// Throws an error for a fit with a large residual or wide intervals.
  private static func checkQuality(
    of fit: ResonanceFit, unexplained: Double, noise: Double, explanation: String
  ) throws(CalibrationError) {
    let placementAdvice =
      """
      the cause is an echo of the room or another resonance; put the sensor on the transducer, or \
      use '--accept-poor'
      """
    if fit.residualDecibels > maximumGoodResidualDecibels {
      throw CalibrationError(
        .noResonance, "\(explanation); at least 97 % is required; \(placementAdvice)")
    }
    if unexplained - noise > maximumResidualPowerBeyondNoise {
      throw CalibrationError(
        .noResonance,
        "\(explanation); at least 99.4 % of the power without noise is required; \(placementAdvice)"
      )
    }
    let mainIntervalHalfWidths = fit.intervalHalfWidths[0]
    if mainIntervalHalfWidths.resonance > maximumResonanceIntervalHalfWidth
      || mainIntervalHalfWidths.qualityFactor > maximumQualityIntervalHalfWidth
    {
      let resonance = (mainIntervalHalfWidths.resonance * 100).text(places: 2)
      let qualityFactor = (mainIntervalHalfWidths.qualityFactor * 100).text(places: 2)
      throw CalibrationError(
        .noResonance,
        """
        determines the resonance only to ±\(resonance) % and the Q factor only to \
        ±\(qualityFactor) %; the limits are ±1 % and ±5 %; \(placementAdvice)
        """)
    }
  }

  private static func explainedPowerText(of fit: ResonanceFit, unexplained: Double) -> String {
    let resonanceCount = fit.transferFunction.modes.count
    let resonancePhrase =
      resonanceCount == 1 ? "one resonance explains" : "\(resonanceCount) resonances explain"
    let decimalPlaces = unexplained < 0.03 ? 1 : 0
    let explainedPercentText = ((1 - unexplained) * 100).text(places: decimalPlaces)
    return "\(resonancePhrase) only \(explainedPercentText) % of the recorded power"
  }

  /// A Boolean value that indicates whether the fit is poor and its values are only estimates.
  public var hasPoorFit: Bool {
    levelDependence.rejectionReason != nil || fitResidualDecibels > Self.maximumGoodResidualDecibels
      || pow(10, fitResidualDecibels / 10) - pow(10, residualFromNoiseDecibels / 10)
        > Self.maximumResidualPowerBeyondNoise
      || resonanceIntervalHalfWidthFraction > Self.maximumResonanceIntervalHalfWidth
      || qualityIntervalHalfWidthFraction > Self.maximumQualityIntervalHalfWidth
  }

  // MARK: - Results for a profile

  /// Returns the acceleration in g at resonance for a full-scale sine.
  ///
  /// - Parameter fullScale: The acceleration in g at the recording's full scale.
  /// - Returns: The acceleration, or nil if the sensor measured another quantity.
  public func resonanceAccelerationInG(fullScale: Double) -> Double? {
    sensorQuantity == .acceleration ? fullScaleSineAmplitude * fullScale : nil
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
    var calibratedProfile = profile
    var hardware = calibratedProfile.hardware ?? TransducerHardware(product: calibratedProfile.name)
    hardware.resonanceHertz = Self.rounded(resonanceHertz, places: 2)
    hardware.qualityFactor = Self.rounded(qualityFactor, places: 2)
    hardware.bandHertz = measuredBand(published: hardware.bandHertz)
    hardware.additionalResonances = furtherResonances.map {
      TransducerMode(
        resonanceHertz: Self.rounded($0.resonanceHertz, places: 2),
        qualityFactor: Self.rounded($0.qualityFactor, places: 2),
        accelerationToMainModeRatio: Self.rounded($0.accelerationToMainModeRatio, places: 4))
    }
    // In a good recording, the resonance is more exact than points that are further apart than its
    // width.
    hardware.responsePoints = hasPoorFit ? responseCurve.profileResponsePoints : []
    hardware.measurement = TransducerMeasurement(
      date: conditions.dateText,
      fitResidualDecibels: max(
        Self.minimumProfileResidualDecibels, Self.rounded(fitResidualDecibels, places: 1)),
      sensorQuantity: sensorQuantity)
    var measuredKeys: Set = ["resonance", "qualityFactor", "band", "response", "modes"]
    if let fullScaleInG = conditions.fullScaleAccelerationInG,
      let acceleration = resonanceAccelerationInG(fullScale: fullScaleInG)
    {
      let ratio = Self.continuousAmplitude(of: calibratedProfile)
      hardware.maximumAccelerationInG = Self.rounded(acceleration * ratio, places: 3)
      measuredKeys.insert("acceleration")
    }
    hardware.estimatedValueKeys.removeAll { measuredKeys.contains($0) }
    hardware.uncertainty = hasPoorFit ? .estimated : uncertainty
    if hasPoorFit {
      hardware.estimatedValueKeys += ["resonance", "qualityFactor"]
    }
    calibratedProfile.hardware = hardware
    if let latencySeconds = conditions.latencySeconds {
      calibratedProfile.amplifier.latencySeconds = Self.rounded(latencySeconds, places: 6)
    }
    return calibratedProfile
  }

  /// Returns the measured and the published band, combined and limited to levels above the noise.
  ///
  /// The equalizer acts beyond the −10 dB points of the measured band.
  private func measuredBand(published: ClosedRange<Double>?) -> ClosedRange<Double> {
    let publishedBandHertz = published ?? responseCurve.bandHertz
    let audibleBandHertz = responseCurve.bandAboveNoiseHertz
    let minimumHertz = max(
      min(responseCurve.bandHertz.lowerBound, publishedBandHertz.lowerBound),
      audibleBandHertz.lowerBound)
    let maximumHertz = min(
      max(responseCurve.bandHertz.upperBound, publishedBandHertz.upperBound),
      audibleBandHertz.upperBound)
    return Self.rounded(minimumHertz, places: 1)...Self.rounded(maximumHertz, places: 1)
  }

  /// Returns the amplitude of a sine at the hardware's continuous power rating.
  ///
  /// The amplitude is relative to full scale and at most 1. A profile states the acceleration at
  /// continuous power.
  private static func continuousAmplitude(of profile: TransducerProfile) -> Double {
    // The limits do not depend on the rate.
    let fullScalePowerRatio =
      profile.transducerSettings(rate: 48_000)?.limits.fullScaleToContinuousPowerRatio ?? 1
    return min(1, (1 / fullScalePowerRatio).squareRoot())
  }

  private var uncertainty: TransducerUncertainty {
    let stiffeningFraction =
      levelDependence.indicatesStiffnessChange
      ? Self.stiffeningUncertaintyFactor * abs(levelDependence.relativeResonanceChange) : 0
    return Self.uncertainty(
      resonance: resonanceIntervalHalfWidthFraction + stiffeningFraction,
      qualityFactor: qualityIntervalHalfWidthFraction)
  }

  /// Returns the uncertainty to state in a profile, from a measurement's confidence intervals.
  ///
  /// - Parameters:
  ///   - resonance: The half width of the resonance's interval, as a fraction.
  ///   - qualityFactor: The half width of the quality factor's interval, as a fraction.
  static func uncertainty(resonance: Double, qualityFactor: Double) -> TransducerUncertainty {
    TransducerUncertainty(
      resonanceDeviationFraction: rounded(resonance + resonanceDriftFraction, places: 4),
      trueToStatedQualityFactorRatio: rounded(
        max(1 + qualityFactor, minimumQualityUncertaintyFactor), places: 3)
    )
  }

  /// Returns a value rounded to a number of decimal places.
  static func rounded(_ value: Double, places: Int) -> Double {
    let decimalScale = pow(10, Double(places))
    return (value * decimalScale).rounded() / decimalScale
  }
}

// MARK: - Sentences

extension Calibration {
  /// A sentence that states how much of the recorded power the resonances explain.
  public var verdictSentence: String {
    let unexplainedFraction = pow(10, fitResidualDecibels / 10)
    let decimalPlaces = unexplainedFraction < 0.001 ? 3 : 1
    let explainedPercentText =
      unexplainedFraction < 1e-5
      ? "more than 99.999" : ((1 - unexplainedFraction) * 100).text(places: decimalPlaces)
    let resonancePhrase =
      furtherResonances.isEmpty
      ? "One resonance explains" : "\(furtherResonances.count + 1) resonances explain"
    let explainedPowerPhrase = "\(resonancePhrase) \(explainedPercentText) % of the recorded power"
    // Within 3 dB of the noise's residual, other causes are not visible.
    if fitResidualDecibels <= residualFromNoiseDecibels + 3 {
      return explainedPowerPhrase + "; the rest is noise."
    }
    return explainedPowerPhrase + "; most of the rest is other resonances or distortion, not noise."
  }

  /// The sentences about limitations of the result and corrections of the recording.
  public var warningSentences: [String] {
    var warnings: [String] = []
    if hasPoorFit {
      warnings.append("The fit is poor; the values are marked as estimates.")
    }
    if signalToNoiseDecibels < 20 {
      warnings.append(
        "The sweeps are only \(signalToNoiseDecibels.text(places: 1)) dB above the noise.")
    }
    if let rejectionReason = levelDependence.rejectionReason {
      warnings.append("The recording \(rejectionReason.prefix { $0 != ";" }).")
    }
    if let stiffnessWarning = levelDependence.stiffnessWarning {
      warnings.append(stiffnessWarning)
    }
    warnings += furtherResonances.map(Self.modeSentence)
    return warnings + correctionSentences
  }

  private static func modeSentence(_ mode: FurtherResonance) -> String {
    let hertzText = mode.resonanceHertz.text(places: 1)
    let qualityFactorText = mode.qualityFactor.text(places: 1)
    let levelText = Decibels.of(amplitude: abs(mode.accelerationToMainModeRatio)).text(places: 1)
    return
      """
      Another resonance is at \(hertzText) Hz, with a Q factor of \(qualityFactorText), at \
      \(levelText) dB.
      """
  }

  /// The sentences about corrections of the recording, such as the removal of hum.
  private var correctionSentences: [String] {
    var corrections: [String] = []
    if let humHertz {
      corrections.append("Mains hum at \(humHertz.text(places: 2)) Hz was removed.")
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
    if let recorderHighPassCornerHertz {
      let hertz = recorderHighPassCornerHertz.text(places: 1)
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
