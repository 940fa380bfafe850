import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Equal sensation above threshold, and of short bursts: the figures of the sources, and what
/// rendering makes of them.
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
      // Far below what the amplifier can do, which would end what a burst may have.
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

  /// The peak of what an event moves its transducer by, in g, on a transducer of this test's own.
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
    let moved = SimulatedTransducer(resonance: 150, qualityFactor: 3, rate: rate).response(
      to: renderer.samples().map(Double.init))
    let steady = kind == .hapticTransient ? moved[...] : moved[4_000..<7_000]
    return 3 * (steady.map(abs).max() ?? 0)
  }

  private static func decibels(_ ratio: Double) -> Double { 20 * log10(ratio) }

  private static func spread(_ values: [Double]) -> Double {
    (values.max() ?? 0) - (values.min() ?? 0)
  }

  /// Stevens 1975, table 1, and Stevens 1968: greatest near 30 Hz, least near 250 Hz, roughly 2 :
  /// 1.
  @Test func theExponentsAreThoseOfStevens() {
    #expect(abs(SensationGrowth.exponent(atHertz: 60) - 0.95) < 1e-9)
    #expect(abs(SensationGrowth.exponent(atHertz: 250) - 0.6) < 1e-9)
    let greatest = SensationGrowth.exponent(atHertz: 30)
    let least = SensationGrowth.exponent(atHertz: 250)
    #expect((1.8...2.2).contains(greatest / least))
    #expect(SensationGrowth.exponent(atHertz: 10) == greatest)
    #expect(SensationGrowth.exponent(atHertz: 500) == least)
  }

  /// Zwislocki 1960 with 0.2 s: 2 dB at one time constant, 3 dB for each halving of what is short,
  /// nothing for what is long.
  @Test func summationIsThatOfZwislockiWherePacinianChannelsFeel() {
    func shift(_ seconds: Double, _ hertz: Double) -> Double {
      TemporalSummation.thresholdShiftDecibels(seconds: seconds, hertz: hertz)
    }
    #expect(abs(shift(0.2, 250) - 1.992) < 0.001)
    #expect(abs(shift(0.01, 250) - shift(0.02, 250) - 3) < 0.15)
    #expect(shift(2, 250) < 0.001)
    // Other channels do not sum: none at 40 Hz and below, and no more than what the Pacinian
    // channel is ahead of them.
    #expect(shift(0.01, 40) == 0)
    #expect(shift(0.01, 25) == 0)
    #expect(abs(shift(0.01, 80) - 12) < 1e-9)
    #expect(abs(shift(0.01, 160) - 13.12) < 0.01)
  }

  /// At full and at lower intensity: sensation by the power law from the threshold, in decibels.
  @Test(arguments: [1.0, 2]) func humsAreFeltEquallyAtEachIntensity(exponent: Double) throws {
    for intensity in [1, 0.75, 0.5] {
      var sensations: [Double] = []
      var parallel: [Double] = []
      let profile = Self.profile(exponent: exponent)
      for sharpness in [0, 0.25, 0.5, 0.75, 1] {
        let hertz = profile.frequency.hertz(atSharpness: sharpness)
        func felt(_ profile: TransducerProfile) throws -> Double {
          let moved = try Self.acceleration(
            .hapticContinuous, intensity: intensity, sharpness: sharpness, profile)
          return (Self.decibels(moved) - profile.perceptionThresholdDecibels(atHertz: hertz))
            * (0.95 - 0.35 * log(hertz / 60) / log(250.0 / 60))
        }
        sensations.append(try felt(profile))
        parallel.append(try felt(Self.profile(contours: .parallel, exponent: exponent)))
      }
      #expect(Self.spread(sensations) < 0.3, "\(intensity): \(sensations)")
      #expect(sensations.min() ?? 0 > 3)
      // By the same law what is equally far above the threshold is felt unevenly.
      #expect(Self.spread(parallel) > (intensity == 1 ? 5 : 1), "\(parallel)")
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
            let middle = SensationGrowth.exponent(
              atHertz: profile.frequency.hertz(atSharpness: 0.5))
            return level * SensationGrowth.exponent(atHertz: hertz) - middle
              * Self.decibels(intensity)
          }
        })
    }
    let converging = try spread(.converging)
    #expect(converging < 1.5, "\(converging) dB")
    #expect(try spread(.parallel) < 1.5)
  }

  /// With a filter against the resonance, and without.
  @Test(arguments: [true, false]) func shortTapsAreAsMuchStrongerAsSummationAsks(isEqualized: Bool)
    throws
  {
    let plain = Self.profile(contours: .parallel, isEqualized: isEqualized)
    let summing = Self.profile(
      contours: .parallel, temporalSummation: true, isEqualized: isEqualized)
    let raised = try [0, 0.25, 0.5, 0.75, 1].map { sharpness -> Double in
      let hertz = plain.transient.frequency.hertz(atSharpness: sharpness)
      let change = try Self.decibels(
        Self.acceleration(.hapticTransient, intensity: 1, sharpness: sharpness, summing)
          / Self.acceleration(.hapticTransient, intensity: 1, sharpness: sharpness, plain))
      return change
        - TemporalSummation.thresholdShiftDecibels(
          seconds: plain.transient.seconds(atSharpness: sharpness), hertz: hertz)
    }
    #expect(Self.spread(raised) < 0.3, "\(raised)")
    // Steady events stay as they are.
    for sharpness in [0.0, 1] {
      let (before, after) = try (
        Self.acceleration(.hapticContinuous, intensity: 1, sharpness: sharpness, plain),
        Self.acceleration(.hapticContinuous, intensity: 1, sharpness: sharpness, summing)
      )
      #expect(before == after)
    }
  }

  @Test func whatIsKnownOfAHandAloneIsNotReckonedWithElsewhere() {
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
