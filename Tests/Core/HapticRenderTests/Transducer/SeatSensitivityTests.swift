import Testing

@testable import HapticRender

/// The weighting Wk, compared with the table of its standard, and its effect on a profile.
struct SeatSensitivityTests {
  /// ISO 2631-1:1997, table 3, in thousandths. The weighting omits the band limits, which the test
  /// applies.
  @Test(arguments: [
    (1.0, 482.0), (2, 531), (4, 967), (5, 1_039), (6.3, 1_054), (8, 1_036), (16, 768), (31.5, 405),
  ])
  func theWeightingIsThatOfTheStandard(hertz: Double, thousandths: Double) {
    let lowerLimit = 0.4 * 0.4
    let highPassGain =
      hertz * hertz / (hertz * hertz * hertz * hertz + lowerLimit * lowerLimit).squareRoot()
    let lowPassGain = 1 / (1 + raised(hertz / 100, to: 4)).squareRoot()
    let weight = SeatWeighting.accelerationWeight(atHertz: hertz) * highPassGain * lowPassGain
    #expect(abs(1_000 * weight / thousandths - 1) < 0.015)
  }

  @Test func theCurveRisesInFrequencyAndIsThatOfTheWeighting() {
    let curve = SeatWeighting.thresholds
    #expect(curve.map(\.hertz) == curve.map(\.hertz).sorted())
    var profile = TransducerProfile(
      name: "seat", summary: "", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      driveSettings: DriveSettings(contactSite: .seat))
    // Acceleration proportional to frequency is perceived equally above 12.5 Hz.
    let octave =
      profile.perceptionThresholdDecibels(atHertz: 80)
      - profile.perceptionThresholdDecibels(atHertz: 40)
    #expect(abs(octave - 6) < 0.3)
    // 0.015 m/s² over Wk(6.3 Hz) = 1.054.
    #expect(abs(profile.perceptionThresholdDecibels(atHertz: 6.3) + 56.8) < 0.1)
    profile.driveSettings.contactSite = .hand
    #expect(profile.perceptionThresholdDecibels(atHertz: 40) == -32.81)
    profile.driveSettings.contactSite = .seat
    profile.perceptionThresholds = [
      .init(hertz: 10, accelerationDecibelsRelativeToG: -20),
      .init(hertz: 100, accelerationDecibelsRelativeToG: -20),
    ]
    #expect(profile.perceptionThresholdDecibels(atHertz: 40) == -20)
  }

  @Test func humsOnASeatAreFeltEqually() throws {
    let profile = TransducerProfile(
      name: "seat", summary: "", frequency: FrequencyMapping(lowHertz: 25, highHertz: 60),
      hardware: TransducerHardware(
        product: "seat", resonanceHertz: 40, qualityFactor: 3,
        uncertainty: TransducerUncertainty.exact),
      driveSettings: DriveSettings(
        limitsToUsableBand: false, usableBandLevelDropDecibels: 30, contactSite: .seat))
    let settings = try #require(profile.transducerSettings(rate: 8_000))
    let levels = profile.levelsOverSharpness(count: 17, drive: settings)
    let plant = TransducerModel(resonanceHertz: 40, qualityFactor: 3)
    let perceivedAmplitudes = levels.indices.map { index in
      let hertz = profile.frequency.hertz(atSharpness: Double(index) / 16)
      return levels[index] * settings.driveResponse(atHertz: hertz)
        * plant.accelerationMagnitude(atHertz: hertz)
        * SeatWeighting.accelerationWeight(atHertz: hertz)
    }
    #expect((perceivedAmplitudes.max() ?? 1) / (perceivedAmplitudes.min() ?? 0) < 1.02)
  }
}
