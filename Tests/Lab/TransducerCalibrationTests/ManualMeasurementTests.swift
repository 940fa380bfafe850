import Glibc
import TestSupport
import Testing

@testable import HapticRender
@testable import TransducerCalibration

/// Resonances that a person finds by pressing a key, and profiles with these resonances.
@Suite struct ManualMeasurementTests {
  private static func profile(quality: Double = 6) -> TransducerProfile {
    TransducerProfile(
      name: "chair", summary: "A chair.",
      frequency: FrequencyMapping(lowHertz: 28.3, highHertz: 56.6),
      hardware: TransducerHardware(
        product: "Chair", bandHertz: 20...80, resonanceHertz: 40, qualityFactor: quality,
        continuousWatts: 50,
        peakWatts: 200,
        responsePoints: [
          ResponsePoint(hertz: 20, relativeAccelerationDecibels: -3),
          ResponsePoint(hertz: 80, relativeAccelerationDecibels: 0),
        ],
        measurement: TransducerMeasurement(
          date: "2020-01-01", fitResidualDecibels: -30, sensorQuantity: .velocity),
        estimatedValueKeys: ["resonance", "qualityFactor"], uncertainty: .estimated),
      sources: ["A data sheet"])
  }

  /// Returns presses at frequencies of rising tones and of falling tones.
  private static func presses(_ rising: [Double], _ falling: [Double]) -> [ManualMeasurement.Press]
  {
    rising.map { .init(toneHertz: $0, isOnRisingTone: true) }
      + falling.map { .init(toneHertz: $0, isOnRisingTone: false) }
  }

  // MARK: - Rejected presses

  @Test(arguments: [
    // Two outliers, only rising tones, falling above rising, and presses at regular intervals.
    ([40.0, 52, 44], [38.0, 29, 39]), ([44, 44, 44], []), ([44], [38, 38, 38]),
    ([36, 36, 36], [44, 44, 44]),
    ([40, 34.8, 37.3], [40, 45.9, 42.9]), ([60, 61, 60], [37, 38, 37]),
    ([42.9, 37.3, 40], [37.3, 42.9, 40]),
  ]) func pressesThatDisagreeAreRefused(rising: [Double], falling: [Double]) {
    let error = #expect(throws: CalibrationError.self) {
      try ManualMeasurement(agreeingPresses: Self.presses(rising, falling), around: 40)
    }
    #expect(error?.kind == .pressesDisagree)
    #expect(error?.description.hasPrefix("the key presses disagree: at ") == true)
  }

  @Test func resonanceAtTheEndOfTheTonesIsRefused() {
    let error = #expect(throws: CalibrationError.self) {
      try ManualMeasurement(agreeingPresses: Self.presses([62, 62, 62], [60, 60, 60]), around: 40)
    }
    #expect(
      error?.description
        == """
        the tone is strongest at 61 Hz, close to the edge of the range; set the profile's \
        resonance to that frequency and repeat
        """
    )
  }

  @Test func profileWithoutAResonanceIsRefused() {
    var profile = Self.profile()
    profile.hardware?.qualityFactor = nil
    #expect(throws: CalibrationError.self) {
      try ManualMeasurement.toneProfile(for: profile, level: -12)
    }
  }

  // MARK: - Accepted presses

  @Test func reactionTimesCancelAndOneOutlierIsExcluded() throws {
    let consistent = try ManualMeasurement(
      agreeingPresses: Self.presses([44, 44, 44], [40, 40, 40]), around: 40)
    #expect(abs(consistent.resonanceHertz - (44.0 * 40).squareRoot()) < 1e-9)
    #expect(consistent.excludedPress == nil && consistent.uncertaintyFraction == 0.04)
    let withOutlier = try ManualMeasurement(
      agreeingPresses: Self.presses([44, 70, 44], [40, 40, 40]), around: 40)
    #expect(abs(withOutlier.resonanceHertz - consistent.resonanceHertz) < 1e-9)
    #expect(
      withOutlier.excludedPress == .init(toneHertz: 70, isOnRisingTone: true)
        && withOutlier.agreeingPresses.count == 5)
    let scattered = try ManualMeasurement(
      agreeingPresses: Self.presses([42, 44, 46], [38, 40, 42]), around: 40)
    #expect((0.045...0.075).contains(scattered.uncertaintyFraction))
  }

  @Test func profileKeepsTheQualityFactorAndItsUncertainty() throws {
    let measurement = try ManualMeasurement(
      agreeingPresses: Self.presses([99, 98, 99], [90, 90, 90]), around: 80)
    let measuredProfile = measurement.applied(to: Self.profile(), date: "2026-11-23")
    let hardware = try #require(measuredProfile.hardware)
    #expect(hardware.resonanceHertz == 94.2 && hardware.qualityFactor == 6)
    #expect(
      hardware.uncertainty
        == TransducerUncertainty(
          resonanceDeviationFraction: 0.04, trueToStatedQualityFactorRatio: 1.5))
    #expect(
      hardware.estimatedValueKeys == ["qualityFactor"] && hardware.measurement == nil
        && hardware.responsePoints == []
    )
    #expect(hardware.bandHertz == 20...94.2)
    #expect(measuredProfile.sources == ["A data sheet", "Resonance measured by hand, 2026-11-23"])
  }

  @Test func tonesStayBelowTheLimits() throws {
    var profile = Self.profile()
    #expect(
      try abs(
        ManualMeasurement.toneProfile(for: profile, level: -12).fullIntensityAmplitude - 0.2512)
        < 1e-4)
    // Full scale is a hundred times the continuous power.
    profile.amplifier.fullScaleWatts = 5_000
    #expect(
      try ManualMeasurement.toneProfile(for: profile, level: -12).fullIntensityAmplitude < 0.09)
    profile.amplifier.fullScaleWatts = 50
    profile.hardware?.maximumAccelerationInG = 2
    profile.hardware?.maximumExcursionMillimeters = 0.02
    let tones = try ManualMeasurement.toneProfile(for: profile, level: -12)
    let excursion = try #require(
      profile.transducerSettings(rate: 8_000)?.limits.excursionLimitToFullScaleRatio)
    // A plant 15 % lower moves by 1 / 0.85² more.
    #expect(tones.fullIntensityAmplitude / 0.85 / 0.85 < excursion)
    #expect(tones.transducerSettings(rate: 8_000)?.equalizer == nil)
  }

  // MARK: - A simulated person

  /// Returns the measurement of a simulated person who feels the steady-state level of each tone.
  ///
  /// - Parameter slope: The deviation of the person's sensitivity from that of the profile, in
  ///   decibels per octave.
  private static func simulatedMeasurement(
    _ plant: TransducerModel, stated profile: TransducerProfile, slope: Double = 0, seed: UInt64
  ) throws -> ManualMeasurement {
    let tones = try ManualMeasurement.toneProfile(for: profile, level: -12)
    let settings = tones.transducerSettings(rate: 48_000)
    let levels = tones.levelsOverSharpness(count: 257, drive: settings)
    let octaves = log2(tones.frequency.highHertz / tones.frequency.lowHertz)
    var person = SimulatedHand(seed: seed)
    var presses: [ManualMeasurement.Press] = []
    for tone in ManualMeasurement.tones(around: 40) {
      person.beginTone()
      for step in 100..<Int(200 * tone.durationSeconds) {
        let hertz = tone.hertz(at: Double(step) / 200)
        let index = Int((256 * log2(hertz / tones.frequency.lowHertz) / octaves).rounded())
        let drive = levels[min(max(index, 0), 256)] * (settings?.driveResponse(atHertz: hertz) ?? 1)
        let sensationDecibels =
          20 * log10(drive * plant.accelerationMagnitude(atHertz: hertz))
          - profile.perceptionThresholdDecibels(atHertz: hertz)
          + slope * log2(hertz / 40)
        if person.presses(feeling: sensationDecibels, at: Double(step) / 200) {
          presses.append(.init(toneHertz: hertz, isOnRisingTone: tone.isRising))
          break
        }
      }
    }
    return try ManualMeasurement(agreeingPresses: presses, around: 40)
  }

  /// Returns the difference between the strongest and the weakest steady event over sharpness, in
  /// decibels.
  private static func unevenness(of profile: TransducerProfile, on plant: TransducerModel) -> Double
  {
    let settings = profile.transducerSettings(rate: 48_000)
    let limitedProfile = profile.limitedToUsableBand(rate: 48_000)
    let levels = limitedProfile.levelsOverSharpness(count: 129, drive: settings)
    let sensationDecibels = levels.indices.map { index in
      let hertz = limitedProfile.frequency.hertz(atSharpness: Double(index) / 128)
      return 20
        * log10(
          levels[index] * (settings?.driveResponse(atHertz: hertz) ?? 1)
            * plant.accelerationMagnitude(atHertz: hertz))
        - profile.perceptionThresholdDecibels(atHertz: hertz)
    }
    return (sensationDecibels.max() ?? 0) - (sensationDecibels.min() ?? 0)
  }

  /// The resonances of plants with Q factors of 3 to 20 deviate by up to 15 % from the data sheet,
  /// and the sensitivities of the persons have different slopes.
  @Test(arguments: [UInt64(1), 1_000]) func personFindsTheResonanceWithin4Percent(seed: UInt64)
    throws
  {
    var generator = SplitMixGenerator(state: seed)
    for index in 0..<60 {
      let qualityFactor = 3 * pow(20.0 / 3, Double.random(in: 0...1, using: &generator))
      let plant = TransducerModel(
        resonanceHertz: 40 * Double.random(in: 0.85...1.15, using: &generator),
        qualityFactor: qualityFactor)
      let slope = Double.random(in: -3...3, using: &generator)
      let statedProfile = Self.profile(
        quality: qualityFactor * Double.random(in: 2 / 3.0...1.5, using: &generator))
      let measurement = try Self.simulatedMeasurement(
        plant, stated: statedProfile, slope: slope, seed: seed + UInt64(index))
      let relativeError = abs(measurement.resonanceHertz / plant.resonanceHertz - 1)
      #expect(relativeError < 0.04 && relativeError < measurement.uncertaintyFraction)
    }
  }

  /// The level over sharpness of plants whose resonance deviates from the data sheet.
  @Test(arguments: [(6.0, 5.5), (12, 10.5)]) func measurementReducesUnevenness(
    qualityFactor: Double, minimumUnevenness: Double
  ) throws {
    let statedProfile = Self.profile(quality: qualityFactor)
    for resonanceDeviation in [-0.15, -0.1, -0.05, 0, 0.05, 0.1, 0.15] {
      let plant = TransducerModel(
        resonanceHertz: 40 * (1 + resonanceDeviation), qualityFactor: qualityFactor)
      #expect(Self.unevenness(of: statedProfile, on: plant) > minimumUnevenness)
      for (seed, slope) in zip(UInt64(0)..., [-3.0, 0, 3]) {
        let measurement = try Self.simulatedMeasurement(
          plant, stated: statedProfile, slope: slope, seed: seed)
        let measuredProfile = measurement.applied(to: statedProfile, date: "")
        #expect(Self.unevenness(of: measuredProfile, on: plant) <= 1)
        // A wrong Q factor adds 3.5 dB for a factor of 1.5.
        for factor in [1 / 1.5, 1.5] {
          let otherPlant = TransducerModel(
            resonanceHertz: plant.resonanceHertz, qualityFactor: qualityFactor * factor)
          #expect(Self.unevenness(of: measuredProfile, on: otherPlant) <= 3.8)
        }
      }
    }
  }
}
