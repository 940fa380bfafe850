import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// The effect of the filters if the true figures differ from the profile, compared with bare
/// hardware.
struct TransducerDoubtTests {
  /// The stated figures of one profile.
  struct StatedFigures: CustomTestStringConvertible, Sendable {
    var quality: Double
    var uncertainty: Double

    var testDescription: String { "Q \(quality), ±\(Int(uncertainty * 100)) %" }

    func profile(isEqualized: Bool) -> TransducerProfile {
      TransducerProfile(
        name: "doubt", summary: "", frequency: FrequencyMapping(lowHertz: 28.3, highHertz: 56.6),
        hardware: TransducerHardware(
          product: "doubt", resonanceHertz: 40, qualityFactor: quality,
          uncertainty: TransducerUncertainty(
            resonanceDeviationFraction: uncertainty, trueToStatedQualityFactorRatio: 1.5)),
        driveSettings: DriveSettings(limitsToUsableBand: false, isEqualized: isEqualized))
    }

    /// The resonances and qualities that are true within the uncertainty.
    var plants: [TransducerModel] {
      [-1, -0.5, 0, 0.5, 1].flatMap { deviationRatio in
        [1 / 1.5, 1, 1.5].map { qualityRatio in
          TransducerModel(
            resonanceHertz: 40 * (1 + deviationRatio * uncertainty),
            qualityFactor: quality * qualityRatio)
        }
      }
    }
  }

  static let figures = [1.0, 3, 6, 10, 20].flatMap { quality in
    [0.01, 0.05, 0.1, 0.15].map { StatedFigures(quality: quality, uncertainty: $0) }
  }

  private static let rate = 8_000.0

  /// Returns the range of perceived levels of steady events over sharpness, in decibels.
  private func unevenness(_ profile: TransducerProfile, levels: [Double], on plant: TransducerModel)
    -> Double
  {
    let settings = profile.transducerSettings(rate: Self.rate)
    let perceivedLevels = (0..<33).map { index in
      let hertz = profile.frequency.hertz(atSharpness: Double(index) / 32)
      return 20
        * log10(
          levels[index] * (settings?.driveResponse(atHertz: hertz) ?? 1)
            * plant.accelerationMagnitude(atHertz: hertz))
        - profile.perceptionThresholdDecibels(atHertz: hertz)
    }
    return (perceivedLevels.max() ?? 0) - (perceivedLevels.min() ?? 0)
  }

  @Test(arguments: figures) func theWorstUnevennessIsBelowThatOfBareHardware(figures: StatedFigures)
  {
    let equalized = figures.profile(isEqualized: true)
    var unequalized = figures.profile(isEqualized: false)
    unequalized.driveSettings.highPassHertz = 1
    let levels = equalized.levelsOverSharpness(
      count: 33, drive: equalized.transducerSettings(rate: Self.rate))
    let uniformLevels = [Double](repeating: 1, count: 33)
    let equalizedUnevenness =
      figures.plants.map { unevenness(equalized, levels: levels, on: $0) }.max() ?? 0
    let unequalizedUnevenness =
      figures.plants.map { unevenness(unequalized, levels: uniformLevels, on: $0) }.max() ?? 0
    #expect(equalizedUnevenness <= unequalizedUnevenness)
  }

  /// Returns the relative energy of the tail, the peak, and the drive peak of a burst of two cycles.
  private func burstResponse(_ filter: Biquad?, on plant: TransducerModel) -> (
    ring: Double, peak: Double, drive: Double
  ) {
    var state = Biquad.State()
    let burstLength = 400
    let count = 8_000
    let drive = (0..<count).map { frame -> Double in
      let envelope = min(1, Double(min(frame, burstLength - frame)) / 50)
      let sample =
        frame < burstLength ? 0.44 * envelope * sin(2 * Double.pi * 40 * Double(frame) / 8_000) : 0
      return filter?.process(sample, state: &state) ?? sample
    }
    let acceleration = SimulatedTransducer(
      resonance: plant.resonanceHertz, qualityFactor: plant.qualityFactor, rate: Self.rate
    )
    .response(to: drive)
    let peak = acceleration.map(abs).max() ?? 1
    let ring = acceleration[burstLength...].reduce(0) { $0 + $1 * $1 }
    return (ring / (peak * peak), peak, drive.map(abs).max() ?? 0)
  }

  @Test(arguments: figures) func noBurstRingsLongerThanOnBareHardware(figures: StatedFigures) throws
  {
    // Without the boost, which would use the headroom below the ceiling.
    var profile = figures.profile(isEqualized: true)
    profile.driveSettings.maximumBoostDecibels = 0
    let design = try #require(profile.transducerSettings(rate: Self.rate)?.equalizer)
    let filter = design.filter(rate: Self.rate)
    for plant in figures.plants {
      let unequalized = burstResponse(nil, on: plant)
      let equalized = burstResponse(filter, on: plant)
      #expect(decibels(equalized.ring.squareRoot(), unequalized.ring.squareRoot()) < 0.3)
      #expect(equalized.drive <= 0.44 * 1.001)
    }
  }
}
