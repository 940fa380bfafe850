public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer, measured from its electrical impedance.
///
///     amplifier ──┬── resistor Rs ──┬── transducer Z ── ground
///             reference         recording
///
/// A resistor is in series with the transducer, and the voltage at the resistor is recorded while
/// the amplifier plays the sweep. The coil that moves in its magnet is a velocity sensor:
///
///     Z = Re + jωLe + Res / (1 + jQms (f/f₀ − f₀/f))
///
/// 1. The sweeps are transformed. With a reference channel, the response is that of the resistor's
///    voltage relative to the amplifier's, free of the recorder's filters.
/// 2. An admittance is fitted to the response (`ImpedanceFit`).
/// 3. The Q factors without the resistor follow from the rise of the impedance at resonance.
///
/// Source: R. H. Small, "Direct-Radiator Loudspeaker System Analysis", JAES 20, 1972.
public struct ImpedanceMeasurement: Equatable, Sendable {
  /// The resonance frequency, in hertz.
  public let resonanceHertz: Double
  /// The Q factor due to mechanical losses only.
  public let mechanicalQualityFactor: Double
  /// The Q factor due to losses in the coil only.
  ///
  /// It applies to an amplifier with zero output resistance, without the series resistor.
  public let electricalQualityFactor: Double
  /// The Q factor due to mechanical and electrical losses, without the series resistor.
  public let qualityFactor: Double
  /// The coil's resistance in ohms.
  ///
  /// It is measured relative to a reference channel. Without a reference channel, it is 85 % of the
  /// nominal impedance.
  public let coilOhms: Double
  /// The inductance of the coil, in henries.
  public let coilHenries: Double
  /// The half width of the resonance's 95 % confidence interval, as a fraction of the resonance.
  public let resonanceIntervalHalfWidthFraction: Double
  /// The half width of the 95 % confidence interval of `qualityFactor`, as a fraction of it.
  public let qualityIntervalHalfWidthFraction: Double
  /// The residual power of the fit, in decibels relative to the motional current.
  ///
  /// The motional current is the component of the current that the resonance causes.
  public let fitResidualDecibels: Double
  /// A warning about a coil resistance that contradicts the profile's nominal impedance, or nil.
  public let resistanceWarning: String?

  /// The maximum ratio between the measured and the expected coil resistance, in either direction.
  private static let maximumResistanceDeviationFactor = 1.5
  /// The maximum residual power of an inexact fit, relative to the power of the resonance.
  ///
  /// A poor fit up to this residual is reported as an inexact resonance, and a poorer fit as a
  /// missing resonance.
  private static let maximumInexactFitResidualRatio = 0.6
  /// The ratio of the coil's resistance to the nominal impedance.
  ///
  /// IEC 60268-5 requires at least 0.8.
  private static let coilToNominalResistanceRatio = 0.85
  /// The uncertainty of `coilToNominalResistanceRatio`, as a fraction.
  private static let coilToNominalUncertaintyFraction = 0.2
  /// The minimum increase in the impedance at the resonance, as a ratio to the resistance.
  ///
  /// The resistance is the sum of the coil's and the resistor's resistance.
  private static let minimumImpedanceRiseRatio = 0.05
  /// The maximum power of the residual, relative to the power of the resonance.
  private static let maximumResidualToResonanceRatio = 0.1

  /// Measures a transducer's impedance from a recording of two sweeps.
  ///
  /// - Parameters:
  ///   - recording: The voltage at the resistor.
  ///   - reference: The voltage at the amplifier, with equal gain. It yields the coil's resistance
  ///     and cancels the filters of amplifier and recorder.
  ///   - signal: The signal that was played.
  ///   - resistor: The resistance of the resistor, in ohms.
  ///   - nominal: The nominal impedance in ohms, which is required without a reference.
  /// - Throws: A `CalibrationError` that states why the recording cannot be measured.
  public init(
    measuring recording: CalibrationRecording, reference: CalibrationRecording?,
    of signal: SweepSignal, resistor: Double, nominal: Double?
  ) throws(CalibrationError) {
    guard reference != nil || nominal != nil else {
      throw CalibrationError(
        .unsuitableSignal,
        """
        requires '--reference-channel', or hardware.impedance in the profile, to determine the \
        resistance of the coil
        """)
    }
    let measuredResponse = try Self.voltageResponse(
      of: recording, reference: reference, signal: signal)
    let hasReference = reference != nil
    let impedanceFit = try Self.impedanceFit(
      measuredResponse, band: signal.bandHertz, hasReference: hasReference)
    let admittanceModel = impedanceFit.admittanceModel
    fitResidualDecibels = Decibels.of(
      power: impedanceFit.squaredResidualSum / impedanceFit.motionalCurrentPower)
    let voltageGain = abs(impedanceFit.modelGain)
    guard !hasReference || voltageGain > 0 && voltageGain < 1 else {
      throw CalibrationError(
        .unsuitableRecording,
        """
        shows a higher voltage across the resistor than at the amplifier; swap \
        '--sensor-channel' and '--reference-channel'
        """)
    }
    coilOhms =
      hasReference
      ? resistor * (1 / voltageGain - 1) : Self.coilToNominalResistanceRatio * (nominal ?? 0)
    resistanceWarning = Self.resistanceWarning(measured: coilOhms, nominal: nominal)
    let resistorToCoilRatio = resistor / coilOhms
    let impedanceRiseRatio = admittanceModel.impedanceRiseRatio
    resonanceHertz = admittanceModel.resonanceHertz
    mechanicalQualityFactor = admittanceModel.loadedQualityFactor * (1 + impedanceRiseRatio)
    electricalQualityFactor =
      mechanicalQualityFactor / (impedanceRiseRatio * (1 + resistorToCoilRatio))
    qualityFactor = mechanicalQualityFactor / (1 + impedanceRiseRatio * (1 + resistorToCoilRatio))
    coilHenries = admittanceModel.coilTimeConstantSeconds * (resistor + coilOhms)
    resonanceIntervalHalfWidthFraction = impedanceFit.parameterIntervalHalfWidths[0]
    qualityIntervalHalfWidthFraction = Self.qualityInterval(
      of: impedanceFit, ratio: resistorToCoilRatio, hasReference: hasReference)
    try checkAccuracy(hasReference: hasReference)
  }

  /// Returns a warning about a coil resistance that contradicts a nominal impedance, or nil.
  private static func resistanceWarning(measured: Double, nominal: Double?) -> String? {
    guard let nominal else { return nil }
    let measuredToExpectedRatio = measured / (coilToNominalResistanceRatio * nominal)
    guard
      max(measuredToExpectedRatio, 1 / measuredToExpectedRatio) > maximumResistanceDeviationFactor
    else {
      return nil
    }
    return """
      The resistance of \(measured.text(places: 2)) ohm does not match the impedance of \
      \(nominal.text(places: 2)) ohm in the profile; check the value of the resistor, voltage \
      dividers at the inputs, and the channel numbers.
      """
  }

  /// Returns the frequency response of the voltage across the resistor.
  ///
  /// The response is relative to the reference channel, if there is one.
  private static func voltageResponse(
    of recording: CalibrationRecording, reference: CalibrationRecording?, signal: SweepSignal
  ) throws(CalibrationError) -> MeasuredResponse {
    let resistorRecording = try SweepRecording(recording, signal: signal)
    try resistorRecording.checkRepeatability()
    let resistorResponse = resistorRecording.sweepPair.response(
      removingDelay: SweepPair.preRollSeconds)
    guard let reference else { return resistorResponse }
    let amplifierRecording = try SweepRecording(reference, signal: signal)
    try amplifierRecording.checkRepeatability()
    let firstSweepSeconds =
      resistorRecording.sweepPair.excerptStartSeconds + SweepPair.preRollSeconds
    let amplifierPair = SweepPair(
      amplifierRecording.cleanRecording, signal: signal,
      recorderSampleRate: resistorRecording.sweepPair.recorderSampleRate,
      firstSweep: firstSweepSeconds)
    return resistorResponse.divided(
      by: amplifierPair.response(removingDelay: SweepPair.preRollSeconds))
  }

  private static func impedanceFit(
    _ response: MeasuredResponse, band: ClosedRange<Double>, hasReference: Bool
  ) throws(CalibrationError) -> ImpedanceFit {
    // With a reference, the recorder's high-pass cancels.
    let highPassOrders = hasReference ? 0...0 : 0...2
    guard
      let bestFit = ImpedanceFit.bestFit(for: response, band: band, highPassOrders: highPassOrders),
      bestFit.admittanceModel.impedanceRiseRatio > minimumImpedanceRiseRatio,
      bestFit.squaredResidualSum < maximumInexactFitResidualRatio * bestFit.motionalCurrentPower
    else {
      throw CalibrationError(
        .noResonance,
        """
        shows no impedance resonance between \(band.lowerBound.text(places: 1)) and \
        \(band.upperBound.text(places: 1)) Hz; check that the recording is the voltage across the \
        resistor
        """)
    }
    guard
      bestFit.squaredResidualSum < maximumResidualToResonanceRatio * bestFit.motionalCurrentPower
    else {
      let residualPercent = (100 * bestFit.squaredResidualSum / bestFit.motionalCurrentPower).text(
        places: 0)
      throw CalibrationError(
        .noResonance,
        """
        shows a resonance near \(bestFit.admittanceModel.resonanceHertz.text(places: 1)) Hz, but \
        \(residualPercent) % \
        of its power does not fit a single resonance: another resonance is close, or the peak is \
        weak; measure the transducer without its mounting, or with a sensor
        """)
    }
    return bestFit
  }

  /// Returns the confidence interval of the Q factor, computed by error propagation.
  ///
  /// With the loaded Q factor Q′, the rise ρ, and r = Rs / Re, Q = Q′ (1 + ρ) / (1 + ρ (1 + r)).
  /// Its logarithmic derivatives by ρ and Re are the factors of their relative errors.
  private static func qualityInterval(
    of fit: ImpedanceFit, ratio: Double, hasReference: Bool
  ) -> Double {
    let impedanceRiseRatio = fit.admittanceModel.impedanceRiseRatio
    let riseWeight = impedanceRiseRatio / (1 + impedanceRiseRatio * (1 + ratio))
    let riseSensitivity =
      riseWeight * (1 / (1 + impedanceRiseRatio) - ratio / (1 + impedanceRiseRatio))
    let coilErrorFraction =
      hasReference ? 0 : riseWeight * ratio * coilToNominalUncertaintyFraction
    let relativeErrors = [
      fit.parameterIntervalHalfWidths[1], riseSensitivity * fit.parameterIntervalHalfWidths[2],
      coilErrorFraction,
    ]
    return relativeErrors.reduce(0) { $0 + $1 * $1 }.squareRoot()
  }

  /// Throws an error with the possible remedies if the measurement is inexact.
  private func checkAccuracy(hasReference: Bool) throws(CalibrationError) {
    guard resonanceIntervalHalfWidthFraction <= Calibration.maximumResonanceIntervalHalfWidth,
      qualityIntervalHalfWidthFraction <= Calibration.maximumQualityIntervalHalfWidth,
      fitResidualDecibels <= Calibration.maximumGoodResidualDecibels
    else {
      let resonance = (resonanceIntervalHalfWidthFraction * 100).text(places: 2)
      let qualityFactor = (qualityIntervalHalfWidthFraction * 100).text(places: 2)
      let referenceRemedyText = hasReference ? "" : "'--reference-channel', "
      throw CalibrationError(
        .noResonance,
        """
        determines the resonance only to ±\(resonance) % and the Q factor only to \
        ±\(qualityFactor) %; the limits are ±1 % and ±5 %; use \(referenceRemedyText)a smaller \
        resistor or a higher '--level'; if the peak is weak or another resonance is close, measure \
        with a sensor
        """)
    }
  }

  /// Returns a profile with the measured resonance and Q factor.
  ///
  /// The profile has no measured response, because the response would belong to another resonance.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - date: The day of the measurement, in the user's words.
  public func applied(to profile: TransducerProfile, date: String) -> TransducerProfile {
    let uncertainty = Calibration.uncertainty(
      resonance: resonanceIntervalHalfWidthFraction, qualityFactor: qualityIntervalHalfWidthFraction
    )
    var measuredProfile = profile.withResonance(
      Calibration.rounded(resonanceHertz, places: 2), uncertainty: uncertainty)
    measuredProfile.hardware?.qualityFactor = Calibration.rounded(qualityFactor, places: 2)
    measuredProfile.hardware?.estimatedValueKeys.removeAll { $0 == "qualityFactor" }
    measuredProfile.hardware?.measurement = TransducerMeasurement(
      date: date,
      fitResidualDecibels: max(
        Calibration.minimumProfileResidualDecibels,
        Calibration.rounded(fitResidualDecibels, places: 1)
      ),
      sensorQuantity: .velocity)
    return measuredProfile
  }
}

extension TransducerProfile {
  /// Returns a profile with a new resonance, without data measured at the previous resonance.
  ///
  /// - Parameters:
  ///   - resonance: The resonance, in hertz.
  ///   - uncertainty: The uncertainty of resonance and quality factor.
  func withResonance(_ resonance: Double, uncertainty: TransducerUncertainty) -> TransducerProfile {
    var updatedProfile = self
    var updatedHardware = hardware ?? TransducerHardware(product: name)
    updatedHardware.resonanceHertz = resonance
    updatedHardware.bandHertz = updatedHardware.bandHertz.map {
      min($0.lowerBound, resonance)...max($0.upperBound, resonance)
    }
    updatedHardware.responsePoints = []
    updatedHardware.measurement = nil
    updatedHardware.estimatedValueKeys.removeAll { $0 == "resonance" }
    updatedHardware.uncertainty = uncertainty
    updatedProfile.hardware = updatedHardware
    return updatedProfile
  }
}
