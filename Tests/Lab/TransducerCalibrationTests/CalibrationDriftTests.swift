import HapticRender
import TestSupport
import Testing
import TransducerCalibration

/// Quick checks of profiles against transducers whose resonance has changed.
@Suite struct CalibrationDriftTests {
  private func profile(
    _ resonance: Double, _ qualityFactor: Double, _ uncertainty: TransducerUncertainty? = nil
  )
    -> TransducerProfile
  {
    TransducerProfile(
      name: "chair", summary: "A chair.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(
        product: "Chair", resonanceHertz: resonance, qualityFactor: qualityFactor,
        uncertainty: uncertainty))
  }

  @Test func checkSignalLastsFiveSeconds() throws {
    for resonance in [20.0, 44, 230] {
      let signal = try SweepSignal(checking: profile(resonance, 4))
      #expect(signal.totalSeconds == 5)
      #expect(try signal.samples(rate: 8_000).count == 40_000)
      #expect(
        signal.bandHertz.contains(resonance / 2.8) && signal.bandHertz.contains(resonance * 3.9))
    }
  }

  /// The stated resonance and Q factor, and the ratios of the current values to the stated values.
  /// The noise is 20 dB below the sweep.
  @Test(arguments: [
    (25.0, 3.0, 0.97, 1.1), (44, 4, 1.05, 0.8), (44, 4, 1, 1), (65, 20, 0.9, 1.2), (120, 1, 1.1, 1),
    (200, 10, 0.85, 0.7),
  ]) func changeIsMeasured(
    resonance: Double, qualityFactor: Double, resonanceRatio: Double, qualityFactorRatio: Double
  )
    throws
  {
    let statedProfile = profile(resonance, qualityFactor)
    let signal = try SweepSignal(checking: statedProfile)
    let recorder = try SimulatedRecorder(signal)
    let recording = try recorder.record([
      (resonanceRatio * resonance, qualityFactorRatio * qualityFactor, 1)
    ])
    let drift = try #require(
      CalibrationDrift(Calibration(measuring: recording, of: signal), from: statedProfile))
    #expect(abs(drift.resonanceComparison.relativeChange - (resonanceRatio - 1)) < 0.01)
    let qualityFactorError = drift.qualityFactorComparison.relativeChange - (qualityFactorRatio - 1)
    #expect(abs(qualityFactorError) < 0.05 * qualityFactorRatio)
    #expect(
      abs(drift.resonanceComparison.measuredValue / (resonanceRatio * resonance) - 1)
        < max(0.002, 2 * drift.resonanceComparison.intervalHalfWidthFraction))
    #expect(
      abs(drift.qualityFactorComparison.measuredValue / (qualityFactorRatio * qualityFactor) - 1)
        < max(0.01, 2 * drift.qualityFactorComparison.intervalHalfWidthFraction))
  }

  @Test func statedUncertaintyLimitsTheChange() throws {
    let uncertainty = TransducerUncertainty(
      resonanceDeviationFraction: 0.03, trueToStatedQualityFactorRatio: 1.1)
    let statedProfile = profile(44, 4, uncertainty)
    let signal = try SweepSignal(checking: statedProfile)
    func drift(_ resonance: Double, _ qualityFactor: Double) throws -> CalibrationDrift {
      var recorder = try SimulatedRecorder(signal)
      recorder.signalToNoiseDecibels = 40
      let recording = try recorder.record([(resonance, qualityFactor, 1)])
      return try #require(
        CalibrationDrift(Calibration(measuring: recording, of: signal), from: statedProfile))
    }
    #expect(try drift(45, 3.8).isWithinUncertainty)
    let resonanceDrift = try drift(46, 4)
    #expect(
      !resonanceDrift.resonanceComparison.isWithinUncertainty
        && resonanceDrift.qualityFactorComparison.isWithinUncertainty
        && !resonanceDrift.isWithinUncertainty)
    let qualityFactorDrift = try drift(44, 3.5)
    #expect(
      qualityFactorDrift.resonanceComparison.isWithinUncertainty
        && !qualityFactorDrift.qualityFactorComparison.isWithinUncertainty)
    let wideUncertainty = TransducerUncertainty(
      resonanceDeviationFraction: 0.15, trueToStatedQualityFactorRatio: 1.5)
    #expect(try drift(44, 4).resonanceComparison.allowedMeasuredToStatedRatio == 0.97...1.03)
    #expect(
      CalibrationDrift(
        try Calibration(measuring: SimulatedRecorder(signal).record([(49, 3, 1)]), of: signal),
        from: profile(44, 4, wideUncertainty)
      )?.isWithinUncertainty == true)
  }

  @Test func profileWithoutResonanceIsRejected() {
    #expect(
      throws: CalibrationError(
        .unsuitableSignal, "phone has no resonance and no Q factor to check; calibrate it first")
    ) { try SweepSignal(checking: .phone) }
  }
}
