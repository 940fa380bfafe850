import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Taps on hardware, heard through the whole chain by transducers of their own.
struct BurstLevelTests {
  private static let rate = 16_000.0

  private func profile(_ figures: TransducerDoubtTests.StatedFigures, isBare: Bool)
    -> TransducerProfile
  {
    var profile = figures.profile(isEqualized: !isBare)
    if isBare {
      profile.driveSettings = DriveSettings(
        limitsToUsableBand: false, isEqualized: false, hasEqualSensation: false, highPassHertz: 0.2)
    }
    return profile
  }

  /// What a full tap makes of the output of a profile.
  private func tapDrive(_ profile: TransducerProfile, sharpness: Double = 0.5) throws -> (
    samples: [Double], statistics: RenderStatistics
  ) {
    let event = HapticEvent(
      kind: .hapticTransient, time: 0, duration: nil,
      parameters: [.hapticIntensity: 1, .hapticSharpness: Float(sharpness)])
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [event]), profile: profile, rate: Self.rate)
    var settings = RenderSettings(routing: OutputRouting().assigningTransducers(of: [profile]))
    settings.outputFrameCount = plan.frameCount + Int64(0.6 * Self.rate)
    var renderer = OfflineRenderer(plan: plan, settings: settings)
    let samples = renderer.samples().map(Double.init)
    return (samples, renderer.statistics)
  }

  /// The greatest acceleration, and seconds from the first movement until it stays 20 dB below.
  private func acceleration(_ drive: [Double], on plant: TransducerModel) -> (
    peak: Double, ring: Double
  ) {
    let moved = SimulatedTransducer(
      resonance: plant.resonanceHertz, qualityFactor: plant.qualityFactor, rate: Self.rate
    )
    .response(to: drive)
    let peak = moved.map(abs).max() ?? 0
    let first = moved.firstIndex { abs($0) > 0.1 * peak } ?? 0
    let last = moved.lastIndex { abs($0) > 0.1 * peak } ?? 0
    return (peak, Double(last - first) / Self.rate)
  }

  @Test(arguments: TransducerDoubtTests.figures) func noTapIsWeakerThanOnBareHardware(
    figures: TransducerDoubtTests.StatedFigures
  ) throws {
    let fitted = try tapDrive(profile(figures, isBare: false))
    let bare = try tapDrive(profile(figures, isBare: true))
    #expect(fitted.statistics.limitedFrameCount == 0)
    for plant in figures.plants
    where abs(plant.resonanceHertz / 40 - 1) <= figures.uncertainty + 1e-9 {
      let now = acceleration(fitted.samples, on: plant)
      let before = acceleration(bare.samples, on: plant)
      #expect(now.peak >= before.peak, "\(plant): \(20 * log10(now.peak / before.peak)) dB")
    }
    // With figures that are right the ring is shorter, too.
    let exact = TransducerModel(resonanceHertz: 40, qualityFactor: figures.quality)
    #expect(
      acceleration(fitted.samples, on: exact).ring <= acceleration(bare.samples, on: exact).ring
        + 0.005)
  }

  @Test(arguments: [1.0, 3, 6, 10]) func fullTapsAreFeltEquallyOverSharpness(quality: Double) throws
  {
    let figures = TransducerDoubtTests.StatedFigures(quality: quality, uncertainty: 0.01)
    let profile = profile(figures, isBare: false)
    let plant = TransducerModel(resonanceHertz: 40, qualityFactor: quality)
    let levels = try (0...4).map { step -> Double in
      let sharpness = Double(step) / 4
      let hertz = profile.transient.frequency.hertz(atSharpness: sharpness)
      return try 20
        * log10(acceleration(tapDrive(profile, sharpness: sharpness).samples, on: plant).peak)
        - profile.perceptionThresholdDecibels(atHertz: hertz)
    }
    #expect((levels.max() ?? 0) - (levels.min() ?? 0) < 3.5, "\(levels)")
  }

  @Test func withoutHardwareBurstsHaveTheLevelsOfTheProfile() {
    let levels = (0..<33).map { 1 - Double($0) / 100 }
    #expect(
      TransducerProfile.phone.burstLevels(
        steadyLevels: levels, requestedShape: TransducerProfile.phone.transient, drive: nil)
        == levels)
  }
}
