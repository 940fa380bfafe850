import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Taps on hardware, rendered by the entire chain and measured on simulated transducers.
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

  /// Returns the rendering of a tap at full intensity for a profile.
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

  /// Returns the peak acceleration, and the time from the first movement until the acceleration stays
  /// 20 dB below the peak, in seconds.
  private func acceleration(_ drive: [Double], on plant: TransducerModel) -> (
    peak: Double, ring: Double
  ) {
    let response = SimulatedTransducer(
      resonance: plant.resonanceHertz, qualityFactor: plant.qualityFactor, rate: Self.rate
    )
    .response(to: drive)
    let peak = response.map(abs).max() ?? 0
    let firstIndex = response.firstIndex { abs($0) > 0.1 * peak } ?? 0
    let lastIndex = response.lastIndex { abs($0) > 0.1 * peak } ?? 0
    return (peak, Double(lastIndex - firstIndex) / Self.rate)
  }

  @Test(arguments: TransducerDoubtTests.figures) func noTapIsWeakerThanOnBareHardware(
    figures: TransducerDoubtTests.StatedFigures
  ) throws {
    let equalized = try tapDrive(profile(figures, isBare: false))
    let unequalized = try tapDrive(profile(figures, isBare: true))
    #expect(equalized.statistics.limitedFrameCount == 0)
    for plant in figures.plants
    where abs(plant.resonanceHertz / 40 - 1) <= figures.uncertainty + 1e-9 {
      let equalizedResponse = acceleration(equalized.samples, on: plant)
      let unequalizedResponse = acceleration(unequalized.samples, on: plant)
      #expect(
        equalizedResponse.peak >= unequalizedResponse.peak,
        "\(plant): \(20 * log10(equalizedResponse.peak / unequalizedResponse.peak)) dB")
    }
    // If the figures are exact, the ringing is shorter, too.
    let nominalPlant = TransducerModel(resonanceHertz: 40, qualityFactor: figures.quality)
    #expect(
      acceleration(equalized.samples, on: nominalPlant).ring <= acceleration(
        unequalized.samples, on: nominalPlant
      ).ring
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

  @Test func burstsWithoutHardwareHaveTheLevelsOfTheProfile() {
    let levels = (0..<33).map { 1 - Double($0) / 100 }
    #expect(
      TransducerProfile.phone.burstLevels(
        steadyLevels: levels, requestedShape: TransducerProfile.phone.transient, drive: nil)
        == levels)
  }
}
