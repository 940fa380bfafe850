import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Equal sensation above threshold and for short bursts: the published figures, and renderings.
struct SensationGrowthTests {
  private static let rate = 16_000.0

  private static func profile(
    contours: SensationContours = .converging, temporalSummation: Bool? = nil,
    isEqualized: Bool = true,
    exponent: Double = 1, burstLevel: Double = 0.06
  ) -> TransducerProfile {
    TransducerProfile(
      name: "hand", summary: "", frequency: FrequencyMapping(lowHertz: 60, highHertz: 250),
      intensity: .power(exponent: exponent),
      // Far below the limit of the amplifier, which would limit the bursts.
      transient: TransientShape(
        frequency: FrequencyMapping(lowHertz: 60, highHertz: 250),
        fullIntensityAmplitude: burstLevel),
      hardware: TransducerHardware(
        product: "hand", resonanceHertz: 150, qualityFactor: 3, maximumAccelerationInG: 3,
        uncertainty: TransducerUncertainty.exact),
      driveSettings: DriveSettings(
        limitsToUsableBand: false, usableBandLevelDropDecibels: 40, isEqualized: isEqualized,
        sensationContours: contours,
        hasTemporalSummation: temporalSummation))
  }

  /// Returns the peak acceleration of an event on a simulated transducer, in g.
  private static func acceleration(
    _ kind: HapticEvent.Kind, intensity: Double, sharpness: Double, _ profile: TransducerProfile
  ) throws -> Double {
    let event = HapticEvent(
      kind: kind, time: 0, duration: kind == .hapticTransient ? nil : 0.5,
      parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)])
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [event]), profile: profile, rate: rate)
    var renderer = OfflineRenderer(
      plan: plan,
      settings: RenderSettings(routing: OutputRouting().assigningTransducers(of: [profile])))
    let response = SimulatedTransducer(resonance: 150, qualityFactor: 3, rate: rate).response(
      to: renderer.samples().map(Double.init))
    let steadyPart = kind == .hapticTransient ? response[...] : response[4_000..<7_000]
    return 3 * (steadyPart.map(abs).max() ?? 0)
  }

  private static func decibels(_ ratio: Double) -> Double { 20 * log10(ratio) }

  private static func spread(_ values: [Double]) -> Double {
    (values.max() ?? 0) - (values.min() ?? 0)
  }

  /// Stevens 1975, table 1, and Stevens 1968: the maximum near 30 Hz is about twice the minimum near
  /// 250 Hz.
  @Test func exponentsFollowStevens() {
    #expect(abs(SensationGrowth.exponent(atHertz: 60) - 0.95) < 1e-9)
    #expect(abs(SensationGrowth.exponent(atHertz: 250) - 0.6) < 1e-9)
    let maximumExponent = SensationGrowth.exponent(atHertz: 30)
    let minimumExponent = SensationGrowth.exponent(atHertz: 250)
    #expect((1.8...2.2).contains(maximumExponent / minimumExponent))
    #expect(SensationGrowth.exponent(atHertz: 10) == maximumExponent)
    #expect(SensationGrowth.exponent(atHertz: 500) == minimumExponent)
  }

  /// Zwislocki 1960 with 0.2 s: 2 dB at one time constant, 3 dB for each halving of short durations,
  /// and 0 dB for long durations.
  @Test func temporalSummationFollowsZwislockiInThePacinianRange() {
    func shift(_ seconds: Double, _ hertz: Double) -> Double {
      TemporalSummation.thresholdShiftDecibels(seconds: seconds, hertz: hertz)
    }
    #expect(abs(shift(0.2, 250) - 1.992) < 0.001)
    #expect(abs(shift(0.01, 250) - shift(0.02, 250) - 3) < 0.15)
    #expect(shift(2, 250) < 0.001)
    // Other channels have no summation: the shift is 0 at 40 Hz and below, and limited to the
    // difference between the thresholds of the Pacinian channel and the other channels.
    #expect(shift(0.01, 40) == 0)
    #expect(shift(0.01, 25) == 0)
    #expect(abs(shift(0.01, 80) - 12) < 1e-9)
    #expect(abs(shift(0.01, 160) - 13.12) < 0.01)
  }

  /// At several intensities, the sensation by the power law above the threshold, in decibels.
  @Test(arguments: [1.0, 2]) func humsAreFeltEquallyAtEachIntensity(exponent: Double) throws {
    for intensity in [1, 0.75, 0.5] {
      var sensations: [Double] = []
      var parallelSensations: [Double] = []
      let profile = Self.profile(exponent: exponent)
      for sharpness in [0, 0.25, 0.5, 0.75, 1] {
        let hertz = profile.frequency.hertz(atSharpness: sharpness)
        func sensation(_ profile: TransducerProfile) throws -> Double {
          let peakAcceleration = try Self.acceleration(
            .hapticContinuous, intensity: intensity, sharpness: sharpness, profile)
          return
            (Self.decibels(peakAcceleration) - profile.perceptionThresholdDecibels(atHertz: hertz))
            * (0.95 - 0.35 * log(hertz / 60) / log(250.0 / 60))
        }
        sensations.append(try sensation(profile))
        parallelSensations.append(
          try sensation(Self.profile(contours: .parallel, exponent: exponent)))
      }
      #expect(Self.spread(sensations) < 0.3, "\(intensity): \(sensations)")
      #expect(sensations.min() ?? 0 > 3)
      // By the same law, levels equally far above the threshold are perceived differently.
      #expect(Self.spread(parallelSensations) > (intensity == 1 ? 5 : 1), "\(parallelSensations)")
    }
  }

  @Test func tapsAreFeltAsEquallyWithExponentsAsWithout() throws {
    func spread(_ contours: SensationContours) throws -> Double {
      let profile = Self.profile(contours: contours)
      return try Self.spread(
        [0, 0.25, 0.5, 0.75, 1].flatMap { sharpness in
          try [1, 0.5].map { intensity in
            let hertz = profile.transient.frequency.hertz(atSharpness: sharpness)
            let level =
              try Self.decibels(
                Self.acceleration(
                  .hapticTransient, intensity: intensity, sharpness: sharpness, profile))
              - profile.perceptionThresholdDecibels(atHertz: hertz)
            guard contours == .converging else { return level - Self.decibels(intensity) }
            let referenceExponent = SensationGrowth.exponent(
              atHertz: profile.frequency.hertz(atSharpness: 0.5))
            return level * SensationGrowth.exponent(atHertz: hertz) - referenceExponent
              * Self.decibels(intensity)
          }
        })
    }
    let convergingSpread = try spread(.converging)
    #expect(convergingSpread < 1.5, "\(convergingSpread) dB")
    #expect(try spread(.parallel) < 1.5)
  }

  /// With and without the equalizer.
  @Test(arguments: [true, false]) func shortTapsAreAsMuchStrongerAsSummationAsks(isEqualized: Bool)
    throws
  {
    let withoutSummation = Self.profile(contours: .parallel, isEqualized: isEqualized)
    let withSummation = Self.profile(
      contours: .parallel, temporalSummation: true, isEqualized: isEqualized)
    let deviations = try [0, 0.25, 0.5, 0.75, 1].map { sharpness -> Double in
      let hertz = withoutSummation.transient.frequency.hertz(atSharpness: sharpness)
      let change = try Self.decibels(
        Self.acceleration(.hapticTransient, intensity: 1, sharpness: sharpness, withSummation)
          / Self.acceleration(
            .hapticTransient, intensity: 1, sharpness: sharpness, withoutSummation))
      return change
        - TemporalSummation.thresholdShiftDecibels(
          seconds: withoutSummation.transient.seconds(atSharpness: sharpness), hertz: hertz)
    }
    #expect(Self.spread(deviations) < 0.3, "\(deviations)")
    // Steady events stay as they are.
    for sharpness in [0.0, 1] {
      let before = try Self.acceleration(
        .hapticContinuous, intensity: 1, sharpness: sharpness, withoutSummation)
      let after = try Self.acceleration(
        .hapticContinuous, intensity: 1, sharpness: sharpness, withSummation)
      #expect(before == after)
    }
  }

  @Test func sensationModelsOfTheHandApplyOnlyToTheHand() {
    var profile = Self.profile(temporalSummation: true)
    #expect(profile.hasConvergingContours && profile.hasTemporalSummation)
    profile.driveSettings.contactSite = .seat
    #expect(!profile.hasConvergingContours && !profile.hasTemporalSummation)
    profile.driveSettings.contactSite = .hand
    profile.hardware?.maximumAccelerationInG = nil
    #expect(!profile.hasConvergingContours && profile.hasTemporalSummation)
    #expect(
      profile.amplitudeExponentsOverSharpness(count: 33, of: profile.frequency).allSatisfy {
        $0 == 1
      })
  }
}
