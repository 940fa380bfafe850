import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// What the filters do where the true figures are not quite the profile's, against bare hardware.
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
      [-1, -0.5, 0, 0.5, 1].flatMap { part in
        [1 / 1.5, 1, 1.5].map { factor in
          TransducerModel(
            resonanceHertz: 40 * (1 + part * uncertainty), qualityFactor: quality * factor)
        }
      }
    }
  }

  static let figures = [1.0, 3, 6, 10, 20].flatMap { quality in
    [0.01, 0.05, 0.1, 0.15].map { StatedFigures(quality: quality, uncertainty: $0) }
  }

  private static let rate = 8_000.0

  /// Decibels between the strongest and the weakest steady event over sharpness.
  private func unevenness(_ profile: TransducerProfile, levels: [Double], on plant: TransducerModel)
    -> Double
  {
    let settings = profile.transducerSettings(rate: Self.rate)
    let felt = (0..<33).map { index in
      let hertz = profile.frequency.hertz(atSharpness: Double(index) / 32)
      return 20
        * log10(
          levels[index] * (settings?.driveResponse(atHertz: hertz) ?? 1)
            * plant.accelerationMagnitude(atHertz: hertz))
        - profile.perceptionThresholdDecibels(atHertz: hertz)
    }
    return (felt.max() ?? 0) - (felt.min() ?? 0)
  }

  @Test(arguments: figures) func theWorstUnevennessIsBelowThatOfBareHardware(figures: StatedFigures)
  {
    let fitted = figures.profile(isEqualized: true)
    var bare = figures.profile(isEqualized: false)
    bare.driveSettings.highPassHertz = 1
    let levels = fitted.levelsOverSharpness(
      count: 33, drive: fitted.transducerSettings(rate: Self.rate))
    let even = [Double](repeating: 1, count: 33)
    let worst = figures.plants.map { unevenness(fitted, levels: levels, on: $0) }.max() ?? 0
    let worstBare = figures.plants.map { unevenness(bare, levels: even, on: $0) }.max() ?? 0
    #expect(worst <= worstBare)
  }

  /// The tail's energy and the peak of a burst of two cycles, and of its drive.
  private func burstResponse(_ filter: Biquad?, on plant: TransducerModel) -> (
    ring: Double, peak: Double, drive: Double
  ) {
    var state = Biquad.State()
    let length = 400
    let count = 8_000
    let drive = (0..<count).map { frame -> Double in
      let edge = min(1, Double(min(frame, length - frame)) / 50)
      let sample =
        frame < length ? 0.44 * edge * sin(2 * Double.pi * 40 * Double(frame) / 8_000) : 0
      return filter?.process(sample, state: &state) ?? sample
    }
    let felt = SimulatedTransducer(
      resonance: plant.resonanceHertz, qualityFactor: plant.qualityFactor, rate: Self.rate
    )
    .response(to: drive)
    let peak = felt.map(abs).max() ?? 1
    let ring = felt[length...].reduce(0) { $0 + $1 * $1 }
    return (ring / (peak * peak), peak, drive.map(abs).max() ?? 0)
  }

  @Test(arguments: figures) func noBurstRingsLongerThanOnBareHardware(figures: StatedFigures) throws
  {
    // Without the boost: with it the drive uses what the ceiling leaves.
    var profile = figures.profile(isEqualized: true)
    profile.driveSettings.maximumBoostDecibels = 0
    let design = try #require(profile.transducerSettings(rate: Self.rate)?.equalizer)
    let filter = design.filter(rate: Self.rate)
    for plant in figures.plants {
      let bare = burstResponse(nil, on: plant)
      let fitted = burstResponse(filter, on: plant)
      #expect(decibels(fitted.ring.squareRoot(), bare.ring.squareRoot()) < 0.3)
      #expect(fitted.drive <= 0.44 * 1.001)
    }
  }
}
