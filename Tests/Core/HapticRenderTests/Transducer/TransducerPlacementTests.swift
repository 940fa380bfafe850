import HapticModel
import Testing

@testable import HapticRender

struct TransducerPlacementTests {
  private static let rate = 48_000.0

  private static func profile(
    _ low: Double, _ high: Double, resonance: Double, qualityFactor: Double,
    band: ClosedRange<Double>? = nil,
    drive: DriveSettings = DriveSettings()
  ) -> TransducerProfile {
    TransducerProfile(
      name: "t", summary: "A test.", frequency: FrequencyMapping(lowHertz: low, highHertz: high),
      hardware: TransducerHardware(
        product: "T", bandHertz: band, resonanceHertz: resonance, qualityFactor: qualityFactor,
        continuousWatts: 10,
        uncertainty: TransducerUncertainty.exact), driveSettings: drive)
  }

  private static let unequalizedDrive = DriveSettings(isEqualized: false, hasEqualSensation: false)

  @Test func profileWithoutHardwareIsUnchanged() {
    #expect(TransducerProfile.phone.limitedToUsableBand(rate: Self.rate) == .phone)
    #expect(
      TransducerProfile.phone.levelsOverSharpness(count: 33, drive: nil)
        == [Double](repeating: 1, count: 33))
  }

  @Test func frequenciesAreLimitedToThePublishedBand() {
    let profile = TransducerProfile(
      name: "t", summary: "A test.", frequency: FrequencyMapping(lowHertz: 10, highHertz: 300),
      hardware: TransducerHardware(product: "T", bandHertz: 20...80))
    let limitedProfile = profile.limitedToUsableBand(rate: Self.rate)
    #expect(limitedProfile.frequency == FrequencyMapping(lowHertz: 20, highHertz: 80))
    #expect(limitedProfile.transient.frequency == FrequencyMapping(lowHertz: 20, highHertz: 80))
  }

  /// The independent solution of |a| = r² / (Q · |D|) after a high-pass filter at 12.5 and 50 Hz: the
  /// level falls by 6 dB at 32.6 and 65.4 Hz for 40 Hz with Q = 3, and at 165.9 and 185.9 Hz for
  /// 175 Hz with Q = 15.
  @Test func bareResonanceHasANarrowBand() {
    let broadProfile = Self.profile(
      25, 80, resonance: 40, qualityFactor: 3, drive: Self.unequalizedDrive)
    let broadBand = broadProfile.limitedToUsableBand(rate: Self.rate).frequency
    #expect(abs(broadBand.lowHertz - 32.6) < 0.15)
    #expect(abs(broadBand.highHertz - 65.4) < 0.15)
    let narrowProfile = Self.profile(
      100, 300, resonance: 175, qualityFactor: 15, drive: Self.unequalizedDrive)
    let narrowBand = narrowProfile.limitedToUsableBand(rate: Self.rate).frequency
    #expect(abs(narrowBand.lowHertz - 165.9) < 0.2)
    #expect(abs(narrowBand.highHertz - 185.9) < 0.2)
  }

  /// The band within 6 dB of the maximum sensation, with and without the inverse filter, computed
  /// independently from the analog responses and the threshold curve.
  @Test(arguments: [
    (25.0, 80.0, 40.0, 6.0, 25.0...80.0, 35.0...47.0), (25, 80, 40, 3, 25...80, 31...59),
    (20, 80, 30, 4, 20...80, 22...38), (25, 80, 40, 10, 25...46, 37...44),
    (65, 250, 65, 3, 65...250, 65...109.7),
    (100, 300, 175, 15, 101...188, 166...186),
  ]) func theInverseFilterWidensTheBand(
    low: Double, high: Double, resonance: Double, qualityFactor: Double,
    filtered: ClosedRange<Double>,
    bare: ClosedRange<Double>
  ) {
    for (isEqualized, expected) in [(true, filtered), (false, bare)] {
      let requestedProfile = Self.profile(
        low, high, resonance: resonance, qualityFactor: qualityFactor,
        drive: DriveSettings(isEqualized: isEqualized))
      let usableBand = requestedProfile.limitedToUsableBand(rate: Self.rate).frequency
      #expect(abs(usableBand.lowHertz - expected.lowerBound) < 1)
      #expect(abs(usableBand.highHertz - expected.upperBound) < 1)
    }
  }

  @Test func levelsAreLimitedWithoutBandLimits() {
    let requestedProfile = Self.profile(
      20, 200, resonance: 40, qualityFactor: 10, drive: DriveSettings(limitsToUsableBand: false))
    #expect(requestedProfile.limitedToUsableBand(rate: Self.rate) == requestedProfile)
    let settings = requestedProfile.transducerSettings(rate: Self.rate)
    let minimumLevel = requestedProfile.levelsOverSharpness(count: 33, drive: settings).min() ?? 0
    #expect(abs(minimumLevel - raised(10, to: -6.25 / 20)) < 1e-9)
  }

  @Test func equalSensationWithoutAResponseFollowsTheThreshold() {
    var profile = TransducerProfile(
      name: "t", summary: "A test.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(product: "T"), driveSettings: DriveSettings(highPassHertz: 0.1))
    func levels() -> [Double] {
      profile.levelsOverSharpness(count: 2, drive: profile.transducerSettings(rate: Self.rate))
    }
    #expect(levels() == [1, 1])
    profile.driveSettings.hasEqualSensation = true
    // The curve has −40.36 dB at 20 Hz and −31.77 dB at 80 Hz.
    #expect(abs(levels()[0] - raised(10, to: -8.59 / 20)) < 1e-4)
    #expect(levels()[1] == 1)
  }

  /// The perceived level at intensity 1 for 401 sharpnesses, with and without the threshold curve.
  @Test(arguments: [true, false]) func equalIntensityIsFeltEquallyAtEachSharpness(
    hasEqualSensation: Bool
  ) {
    for (low, high, resonance, qualityFactor) in [
      (25.0, 80.0, 40.0, 6.0), (25, 80, 40, 3), (20, 80, 30, 4), (25, 80, 40, 10), (65, 250, 65, 3),
      (100, 300, 175, 15),
    ] {
      let requestedProfile = Self.profile(
        low, high, resonance: resonance, qualityFactor: qualityFactor,
        drive: DriveSettings(hasEqualSensation: hasEqualSensation))
      let settings = requestedProfile.transducerSettings(rate: Self.rate)
      let profile = requestedProfile.limitedToUsableBand(rate: Self.rate)
      let table = profile.levelsOverSharpness(count: 33, drive: settings)
      let sensations = (0...400).map { step -> Double in
        let sharpness = Double(step) / 400
        let tablePosition = sharpness * 32
        let index = min(Int(tablePosition), 31)
        let gain =
          table[index] + (table[index + 1] - table[index]) * (tablePosition - Double(index))
        let hertz = profile.frequency.hertz(atSharpness: sharpness)
        return profile.sensationDecibels(atHertz: hertz, drive: settings) + 20 * logarithm2(gain)
          / logarithm2(10)
      }
      let spread = ((sensations.max() ?? 0) - (sensations.min() ?? 0)) / 2
      #expect(spread < 0.1, "±\(spread) dB at \(resonance) Hz, Q \(qualityFactor)")
      // Equal levels cost at most 6 dB, plus the interpolation error of 33 points.
      #expect((table.min() ?? 0) > raised(10, to: -6.3 / 20))
      #expect(table.max() == 1)
    }
  }

  @Test func extremeFiguresYieldFiniteResults() {
    for (low, high) in [(0.1, 20_000.0), (20, 80), (5_000, 5_000)] {
      for resonance in [0.1, 40, 100_000] {
        for qualityFactor in [0.1, 1_000] {
          for drive in [
            DriveSettings(),
            DriveSettings(
              usableBandLevelDropDecibels: 40, maximumBoostDecibels: 0, dampingFactor: 20,
              highPassHertz: low
            ),
          ] {
            let requestedProfile = Self.profile(
              low, high, resonance: resonance, qualityFactor: qualityFactor, drive: drive)
            let settings = requestedProfile.transducerSettings(rate: 8_000)
            let limitedProfile = requestedProfile.limitedToUsableBand(rate: 8_000)
            #expect(
              limitedProfile.frequency.lowHertz >= low && limitedProfile.frequency.highHertz <= high
            )
            #expect(limitedProfile.frequency.lowHertz <= limitedProfile.frequency.highHertz)
            let levels = limitedProfile.levelsOverSharpness(count: 33, drive: settings)
            #expect(levels.allSatisfy { $0 > 0 && $0 <= 1 })
          }
        }
      }
    }
  }

  @Test func measuredPointsReplaceAMissingModel() {
    var profile = Self.profile(
      20, 200, resonance: 40, qualityFactor: 3, drive: Self.unequalizedDrive)
    profile.hardware?.qualityFactor = nil
    profile.hardware?.responsePoints = [
      ResponsePoint(hertz: 50, relativeAccelerationDecibels: -20),
      ResponsePoint(hertz: 100, relativeAccelerationDecibels: 0),
      ResponsePoint(hertz: 200, relativeAccelerationDecibels: 0),
    ]
    #expect(profile.hardwareResponseDecibels(atHertz: 50) == -20)
    #expect(abs(profile.hardwareResponseDecibels(atHertz: 70.710_678_118_654_76) + 10) < 1e-9)
    #expect(profile.hardwareResponseDecibels(atHertz: 1_000) == 0)
    let limitedProfile = profile.limitedToUsableBand(rate: Self.rate).frequency
    // The response is −6 dB at 50 · 2^0.7 = 81.2 Hz.
    #expect(abs(limitedProfile.lowHertz - 81.2) < 0.5)
    #expect(limitedProfile.highHertz == 200)
  }

  @Test func fineMeasuredPointsCorrectTheModel() throws {
    var profile = Self.profile(
      20, 200, resonance: 40, qualityFactor: 3, drive: Self.unequalizedDrive)
    let model = try #require(profile.hardware?.model)
    func points(_ ratio: Double, _ correction: (Double) -> Double) -> [ResponsePoint] {
      (0..<200).map { 10 * raised(ratio, to: Double($0)) }.filter { $0 < 400 }.map {
        ResponsePoint(
          hertz: $0,
          relativeAccelerationDecibels: model.accelerationDecibels(atHertz: $0) + correction($0) - 7
        )
      }
    }
    func difference(_ hertz: Double) -> Double {
      profile.hardwareResponseDecibels(atHertz: hertz) - model.accelerationDecibels(atHertz: hertz)
    }
    // A step of 2 dB at 60 Hz, first with points 5 % apart, and then with points 20 % apart.
    profile.hardware?.responsePoints = points(1.05) { $0 > 60 ? 2 : 0 }
    #expect(abs(difference(100) - difference(40) - 2) < 1e-9)
    profile.hardware?.responsePoints = points(1.2) { $0 > 60 ? 2 : 0 }
    #expect(difference(100) == 0 && difference(40) == 0)
    // Points that contradict the model strongly do not correct it.
    profile.hardware?.responsePoints = points(1.05) { $0 > 60 ? 20 : 0 }
    #expect(difference(100) == 0)
  }
}
