import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerCalibration

@Suite struct CalibratedProfileTests {
  private let previousProfile = TransducerProfile(
    name: "chair", summary: "A chair.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
    hardware: TransducerHardware(
      product: "Chair", bandHertz: 10...80, resonanceHertz: 30, qualityFactor: 3,
      continuousWatts: 50,
      peakWatts: 200,
      estimatedValueKeys: ["qualityFactor", "continuousPower"]))

  private func measured() throws -> Calibration {
    var recorder = try SimulatedRecorder()
    recorder.gain = 0.5
    return try Calibration(measuring: recorder.record([(44, 4, 1)]), of: recorder.signal)
  }

  @Test func measuredValuesReplaceStatedValues() throws {
    let calibration = try measured()
    let calibratedProfile = calibration.applied(
      to: previousProfile, in: Calibration.Conditions(dateText: "2026-11-21", latency: 0.0123456789)
    )
    let hardware = try #require(calibratedProfile.hardware)
    #expect(abs((hardware.resonanceHertz ?? 0) - 44) < 0.05)
    #expect(abs((hardware.qualityFactor ?? 0) - 4) < 0.05)
    #expect(hardware.estimatedValueKeys == ["continuousPower"])
    #expect(hardware.measurement?.date == "2026-11-21")
    #expect(hardware.measurement?.sensorQuantity == .acceleration)
    #expect((hardware.measurement?.fitResidualDecibels ?? 0) < -30)
    #expect(calibratedProfile.amplifier.latencySeconds == 0.012346)
    #expect(hardware.maximumAccelerationInG == nil)
    #expect(hardware.continuousWatts == 50)
    #expect(calibratedProfile.frequency == previousProfile.frequency)
    #expect(
      hardware.responsePoints == []
        && (hardware.uncertainty?.resonanceDeviationFraction ?? 1) < 0.022)
    // The band is the previous band, limited to frequencies at which the response is above noise.
    #expect(
      (hardware.bandHertz?.lowerBound ?? 0) < 34 && (hardware.bandHertz?.upperBound ?? 0) >= 80)
  }

  @Test func additionalResonancesAreStoredInTheProfile() throws {
    let recorder = try SimulatedRecorder()
    let calibration = try Calibration(
      measuring: recorder.record([(44, 4, 1), (80, 10, -0.3)]), of: recorder.signal)
    let calibratedProfile = calibration.applied(
      to: previousProfile, in: Calibration.Conditions(dateText: ""))
    let mode = try #require(calibratedProfile.hardware?.additionalResonances.first)
    #expect(calibratedProfile.hardware?.additionalResonances.count == 1)
    #expect(abs(mode.resonanceHertz - 80) < 0.5 && abs(mode.qualityFactor - 10) < 0.5)
    #expect(abs(mode.accelerationToMainModeRatio + 0.3) < 0.02)
  }

  @Test func responseCurveIsThatOfTheResonance() throws {
    let response = try measured().responseCurve.profileResponsePoints
    // Points in the noise at the lower end may be absent.
    #expect((20...24).contains(response.count))
    #expect(response.map(\.hertz) == response.map(\.hertz).sorted())
    #expect(response.map(\.relativeAccelerationDecibels).max() == 0)
    let model = TransducerModel(resonanceHertz: 44, qualityFactor: 4)
    let peakMagnitude = response.map { model.accelerationMagnitude(atHertz: $0.hertz) }.max() ?? 1
    for point in response where point.hertz > 20 {
      let expected = 20 * log10(model.accelerationMagnitude(atHertz: point.hertz) / peakMagnitude)
      #expect(abs(point.relativeAccelerationDecibels - expected) < 1)
    }
  }

  @Test func accelerationIsThatAtContinuousPower() throws {
    // Full scale is the peak power, four times the continuous power, so the amplitude is halved.
    let calibratedProfile = try measured().applied(
      to: previousProfile, in: Calibration.Conditions(dateText: "", fullScale: 16))
    #expect(abs((calibratedProfile.hardware?.maximumAccelerationInG ?? 0) - 4) < 0.05)
  }

  /// The profile is measured and equalized, and evaluated with the true response of the transducer.
  @Test(arguments: [(30.0, 3.0), (36, 6), (45, 12), (65, 20), (120, 1)])
  func calibratedProfileIsFlat(
    resonance: Double, qualityFactor: Double
  ) throws {
    var recorder = try SimulatedRecorder()
    recorder.gain = 0.5
    let calibration = try Calibration(
      measuring: recorder.record([(resonance, qualityFactor, 1)]), of: recorder.signal)
    var profile = calibration.applied(to: previousProfile, in: Calibration.Conditions(dateText: ""))
    profile.frequency = FrequencyMapping(lowHertz: 20, highHertz: min(200, 2 * resonance))
    profile.transient.frequency = profile.frequency
    profile.hardware?.bandHertz = nil
    let rate = 48_000.0
    let limitedProfile = profile.limitedToUsableBand(rate: rate)
    let settings = try #require(profile.transducerSettings(rate: rate))
    let levels = limitedProfile.levelsOverSharpness(count: 33, drive: settings)
    let plant = TransducerModel(resonanceHertz: resonance, qualityFactor: qualityFactor)
    let sensationDecibels = (0..<33).map { index -> Double in
      let hertz = limitedProfile.frequency.hertz(atSharpness: Double(index) / 32)
      let acceleration =
        levels[index] * settings.driveResponse(atHertz: hertz)
        * plant.accelerationMagnitude(atHertz: hertz)
      return 20 * log10(acceleration) - threshold(atHertz: hertz)
    }
    let unevenness = (sensationDecibels.max() ?? 0) - (sensationDecibels.min() ?? 0)
    #expect(unevenness <= 1)
    #expect(limitedProfile.frequency.highHertz > 1.15 * limitedProfile.frequency.lowHertz)
  }

  /// Returns the published threshold, interpolated linearly in octaves between its points.
  private func threshold(atHertz hertz: Double) -> Double {
    let points = TransducerProfile.defaultPerceptionThresholds
    let upperIndex = points.firstIndex { $0.hertz >= hertz } ?? points.count - 1
    let lower = points[max(0, upperIndex - 1)]
    let upper = points[upperIndex]
    guard upper.hertz > lower.hertz else { return upper.accelerationDecibelsRelativeToG }
    let fraction = log(hertz / lower.hertz) / log(upper.hertz / lower.hertz)
    return lower.accelerationDecibelsRelativeToG
      + (upper.accelerationDecibelsRelativeToG - lower.accelerationDecibelsRelativeToG) * fraction
  }

  /// The spring stiffens or softens slightly. The measured values are those of small movements.
  @Test(arguments: [(3.0, -1.0), (3, 2), (6, 1), (6, 2)])
  func nonlinearSpringIncreasesTheUncertainty(
    qualityFactor: Double, stiffening: Double
  ) throws {
    var recorder = try SimulatedRecorder()
    recorder.signalToNoiseDecibels = 40
    var plant = SimulatedCoil(resonance: 40, qualityFactor: qualityFactor)
    plant.springStiffening = stiffening
    let driveSamples = try recorder.signal.samples(rate: recorder.rate, includesTones: false).map(
      Double.init)
    let recording = recorder.makeRecording(
      plant.acceleration(for: driveSamples, rate: recorder.rate))
    let calibration = try Calibration(measuring: recording, of: recorder.signal)
    let resonanceChange = calibration.levelDependence.relativeResonanceChange
    #expect(
      abs(resonanceChange) > 0.007 && (resonanceChange > 0) == (stiffening > 0)
        && !calibration.hasPoorFit)
    #expect(
      abs(calibration.resonanceHertz / 40 - 1) < 0.002
        && abs(calibration.qualityFactor / qualityFactor - 1) < 0.05)
    #expect(
      calibration.warningSentences.contains {
        $0.contains(stiffening > 0 ? "a spring stiffens" : "a spring softens")
      })
    let calibratedProfile = calibration.applied(
      to: previousProfile, in: Calibration.Conditions(dateText: ""))
    let uncertainty = calibratedProfile.hardware?.uncertainty
    #expect((uncertainty?.resonanceDeviationFraction ?? 0) > 0.02 + 4 * abs(resonanceChange))
  }
}
