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
    var studio = try RecordingStudio()
    studio.gain = 0.5
    return try Calibration(measuring: studio.record([(44, 4, 1)]), of: studio.signal)
  }

  @Test func whatWasMeasuredTakesThePlaceOfWhatWasSaid() throws {
    let found = try measured()
    let new = found.applied(
      to: previousProfile, in: Calibration.Conditions(dateText: "2026-11-21", latency: 0.0123456789)
    )
    let hardware = try #require(new.hardware)
    #expect(abs((hardware.resonanceHertz ?? 0) - 44) < 0.05)
    #expect(abs((hardware.qualityFactor ?? 0) - 4) < 0.05)
    #expect(hardware.estimatedValueKeys == ["continuousPower"])
    #expect(hardware.measurement?.date == "2026-11-21")
    #expect(hardware.measurement?.sensorQuantity == .acceleration)
    #expect((hardware.measurement?.fitResidualDecibels ?? 0) < -30)
    #expect(new.amplifier.latencySeconds == 0.012346)
    #expect(hardware.maximumAccelerationInG == nil)
    #expect(hardware.continuousWatts == 50)
    #expect(new.frequency == previousProfile.frequency)
    #expect(
      hardware.responsePoints == []
        && (hardware.uncertainty?.resonanceDeviationFraction ?? 1) < 0.022)
    // The band of before, as far as it stands out of the noise.
    #expect(
      (hardware.bandHertz?.lowerBound ?? 0) < 34 && (hardware.bandHertz?.upperBound ?? 0) >= 80)
  }

  @Test func furtherResonancesGoIntoTheProfile() throws {
    let studio = try RecordingStudio()
    let found = try Calibration(
      measuring: studio.record([(44, 4, 1), (80, 10, -0.3)]), of: studio.signal)
    let new = found.applied(to: previousProfile, in: Calibration.Conditions(dateText: ""))
    let mode = try #require(new.hardware?.additionalResonances.first)
    #expect(new.hardware?.additionalResonances.count == 1)
    #expect(abs(mode.resonanceHertz - 80) < 0.5 && abs(mode.qualityFactor - 10) < 0.5)
    #expect(abs(mode.accelerationToMainModeRatio + 0.3) < 0.02)
  }

  @Test func theResponseIsThatOfTheResonance() throws {
    let response = try measured().responseCurve.profileResponsePoints
    // Points in the noise at the lower end may be absent.
    #expect((20...24).contains(response.count))
    #expect(response.map(\.hertz) == response.map(\.hertz).sorted())
    #expect(response.map(\.relativeAccelerationDecibels).max() == 0)
    let model = TransducerModel(resonanceHertz: 44, qualityFactor: 4)
    let top = response.map { model.accelerationMagnitude(atHertz: $0.hertz) }.max() ?? 1
    for point in response where point.hertz > 20 {
      let expected = 20 * log10(model.accelerationMagnitude(atHertz: point.hertz) / top)
      #expect(abs(point.relativeAccelerationDecibels - expected) < 1)
    }
  }

  @Test func accelerationIsThatAtContinuousPower() throws {
    // Full scale is peak power, four times the continuous: half the amplitude.
    let new = try measured().applied(
      to: previousProfile, in: Calibration.Conditions(dateText: "", fullScale: 16))
    #expect(abs((new.hardware?.maximumAccelerationInG ?? 0) - 4) < 0.05)
  }

  /// Resonance and quality of transducers that are measured, levelled, and looked at as they are.
  @Test(arguments: [(30.0, 3.0), (36, 6), (45, 12), (65, 20), (120, 1)])
  func aCalibratedProfileIsFlat(
    resonance: Double, qualityFactor: Double
  ) throws {
    var studio = try RecordingStudio()
    studio.gain = 0.5
    let found = try Calibration(
      measuring: studio.record([(resonance, qualityFactor, 1)]), of: studio.signal)
    var profile = found.applied(to: previousProfile, in: Calibration.Conditions(dateText: ""))
    profile.frequency = FrequencyMapping(lowHertz: 20, highHertz: min(200, 2 * resonance))
    profile.transient.frequency = profile.frequency
    profile.hardware?.bandHertz = nil
    let rate = 48_000.0
    let placed = profile.limitedToUsableBand(rate: rate)
    let settings = try #require(profile.transducerSettings(rate: rate))
    let levels = placed.levelsOverSharpness(count: 33, drive: settings)
    let plant = TransducerModel(resonanceHertz: resonance, qualityFactor: qualityFactor)
    let felt = (0..<33).map { index -> Double in
      let hertz = placed.frequency.hertz(atSharpness: Double(index) / 32)
      let moved =
        levels[index] * settings.driveResponse(atHertz: hertz)
        * plant.accelerationMagnitude(atHertz: hertz)
      return 20 * log10(moved) - threshold(atHertz: hertz)
    }
    let unevenness = (felt.max() ?? 0) - (felt.min() ?? 0)
    #expect(unevenness <= 1)
    #expect(placed.frequency.highHertz > 1.15 * placed.frequency.lowHertz)
  }

  /// The published threshold, linear in octaves between its points.
  private func threshold(atHertz hertz: Double) -> Double {
    let points = TransducerProfile.defaultPerceptionThresholds
    let above = points.firstIndex { $0.hertz >= hertz } ?? points.count - 1
    let low = points[max(0, above - 1)]
    let high = points[above]
    guard high.hertz > low.hertz else { return high.accelerationDecibelsRelativeToG }
    let part = log(hertz / low.hertz) / log(high.hertz / low.hertz)
    return low.accelerationDecibelsRelativeToG
      + (high.accelerationDecibelsRelativeToG - low.accelerationDecibelsRelativeToG) * part
  }

  /// A spring that stiffens or softens a little: the figures are those of small movement.
  @Test(arguments: [(3.0, -1.0), (3, 2), (6, 1), (6, 2)])
  func aSpringThatStiffensWidensTheUncertainty(
    quality: Double, stiffening: Double
  ) throws {
    var studio = try RecordingStudio()
    studio.signalToNoiseDecibels = 40
    var plant = SimulatedCoil(resonance: 40, qualityFactor: quality)
    plant.springStiffening = stiffening
    let played = try studio.signal.samples(rate: studio.rate, includesTones: false).map(Double.init)
    let take = studio.makeRecording(plant.acceleration(for: played, rate: studio.rate))
    let found = try Calibration(measuring: take, of: studio.signal)
    let change = found.levelDependence.relativeResonanceChange
    #expect(abs(change) > 0.007 && (change > 0) == (stiffening > 0) && !found.hasPoorFit)
    #expect(
      abs(found.resonanceHertz / 40 - 1) < 0.002 && abs(found.qualityFactor / quality - 1) < 0.05)
    #expect(
      found.warningSentences.contains {
        $0.contains(stiffening > 0 ? "a spring stiffens" : "a spring softens")
      })
    let new = found.applied(to: previousProfile, in: Calibration.Conditions(dateText: ""))
    #expect((new.hardware?.uncertainty?.resonanceDeviationFraction ?? 0) > 0.02 + 4 * abs(change))
  }
}
