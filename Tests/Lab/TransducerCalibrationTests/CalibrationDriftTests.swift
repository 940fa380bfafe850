import HapticRender
import TestSupport
import Testing
import TransducerCalibration

/// A quick check of a profile against a transducer that has moved.
@Suite struct CalibrationDriftTests {
  private func profile(
    _ resonance: Double, _ qualityFactor: Double, _ doubt: TransducerUncertainty? = nil
  )
    -> TransducerProfile
  {
    TransducerProfile(
      name: "chair", summary: "A chair.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(
        product: "Chair", resonanceHertz: resonance, qualityFactor: qualityFactor,
        uncertainty: doubt))
  }

  @Test func theSignalTakesFiveSeconds() throws {
    for resonance in [20.0, 44, 230] {
      let signal = try SweepSignal(checking: profile(resonance, 4))
      #expect(signal.totalSeconds == 5)
      #expect(try signal.samples(rate: 8_000).count == 40_000)
      #expect(
        signal.bandHertz.contains(resonance / 2.8) && signal.bandHertz.contains(resonance * 3.9))
    }
  }

  /// Resonance and quality as stated and as they are now, with noise 20 dB below the sweep.
  @Test(arguments: [
    (25.0, 3.0, 0.97, 1.1), (44, 4, 1.05, 0.8), (44, 4, 1, 1), (65, 20, 0.9, 1.2), (120, 1, 1.1, 1),
    (200, 10, 0.85, 0.7),
  ]) func theChangeIsFound(resonance: Double, qualityFactor: Double, moved: Double, widened: Double)
    throws
  {
    let stated = profile(resonance, qualityFactor)
    let signal = try SweepSignal(checking: stated)
    let studio = try RecordingStudio(signal)
    let recording = try studio.record([(moved * resonance, widened * qualityFactor, 1)])
    let drift = try #require(
      CalibrationDrift(Calibration(measuring: recording, of: signal), from: stated))
    #expect(abs(drift.resonanceComparison.relativeChange - (moved - 1)) < 0.01)
    #expect(abs(drift.qualityFactorComparison.relativeChange - (widened - 1)) < 0.05 * widened)
    #expect(
      abs(drift.resonanceComparison.measuredValue / (moved * resonance) - 1)
        < max(0.002, 2 * drift.resonanceComparison.intervalHalfWidthFraction))
    #expect(
      abs(drift.qualityFactorComparison.measuredValue / (widened * qualityFactor) - 1)
        < max(0.01, 2 * drift.qualityFactorComparison.intervalHalfWidthFraction))
  }

  @Test func theProfileSaysHowFarIsTooFar() throws {
    let doubt = TransducerUncertainty(
      resonanceDeviationFraction: 0.03, trueToStatedQualityFactorRatio: 1.1)
    let stated = profile(44, 4, doubt)
    let signal = try SweepSignal(checking: stated)
    func drift(_ resonance: Double, _ qualityFactor: Double) throws -> CalibrationDrift {
      var studio = try RecordingStudio(signal)
      studio.signalToNoiseDecibels = 40
      let recording = try studio.record([(resonance, qualityFactor, 1)])
      return try #require(
        CalibrationDrift(Calibration(measuring: recording, of: signal), from: stated))
    }
    #expect(try drift(45, 3.8).isWithinUncertainty)
    let higher = try drift(46, 4)
    #expect(
      !higher.resonanceComparison.isWithinUncertainty
        && higher.qualityFactorComparison.isWithinUncertainty
        && !higher.isWithinUncertainty)
    let duller = try drift(44, 3.5)
    #expect(
      duller.resonanceComparison.isWithinUncertainty
        && !duller.qualityFactorComparison.isWithinUncertainty)
    let wide = TransducerUncertainty(
      resonanceDeviationFraction: 0.15, trueToStatedQualityFactorRatio: 1.5)
    #expect(try drift(44, 4).resonanceComparison.allowedMeasuredToStatedRatio == 0.97...1.03)
    #expect(
      CalibrationDrift(
        try Calibration(measuring: RecordingStudio(signal).record([(49, 3, 1)]), of: signal),
        from: profile(44, 4, wide)
      )?.isWithinUncertainty == true)
  }

  @Test func aProfileWithoutFiguresHasNothingToCheck() {
    #expect(
      throws: CalibrationError(
        .unsuitableSignal, "phone has no resonance and no Q factor to check; calibrate it first")
    ) { try SweepSignal(checking: .phone) }
  }
}
