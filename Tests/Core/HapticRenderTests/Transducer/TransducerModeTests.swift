import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Rendering for hardware with two or three resonances.
struct TransducerModeTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var quality: Double
    var modes: [TransducerMode]
    var testDescription: String {
      "Q \(quality), \(modes.map { "\($0.resonanceHertz) Hz × \($0.accelerationToMainModeRatio)" })"
    }
  }

  static let cases = [
    Case(
      quality: 4,
      modes: [.init(resonanceHertz: 75, qualityFactor: 8, accelerationToMainModeRatio: 0.5)]),
    Case(
      quality: 6,
      modes: [.init(resonanceHertz: 55, qualityFactor: 12, accelerationToMainModeRatio: -0.4)]),
    Case(
      quality: 3,
      modes: [
        .init(resonanceHertz: 60, qualityFactor: 10, accelerationToMainModeRatio: 0.6),
        .init(resonanceHertz: 90, qualityFactor: 9, accelerationToMainModeRatio: -0.3),
      ]),
  ]

  private static let rate = 8_000.0

  private func profile(_ figures: Case, knowsModes: Bool, limit: Double? = nil) -> TransducerProfile
  {
    let omega = 2 * Double.pi * 40
    return TransducerProfile(
      name: "chair", summary: "", frequency: FrequencyMapping(lowHertz: 28.3, highHertz: 100),
      hardware: TransducerHardware(
        product: "chair", resonanceHertz: 40, qualityFactor: figures.quality,
        maximumAccelerationInG: limit == nil ? nil : 1,
        maximumExcursionMillimeters: limit.map { $0 * 9.80665 / (omega * omega) * 1_000 },
        uncertainty: TransducerUncertainty(
          resonanceDeviationFraction: 0.01, trueToStatedQualityFactorRatio: 1.05),
        additionalResonances: knowsModes ? figures.modes : []
      ), driveSettings: DriveSettings(limitsToUsableBand: false, usableBandLevelDropDecibels: 30))
  }

  private func models(_ figures: Case) -> [(model: TransducerModel, gain: Double)] {
    [(TransducerModel(resonanceHertz: 40, qualityFactor: figures.quality), 1)]
      + figures.modes.map {
        (
          TransducerModel(resonanceHertz: $0.resonanceHertz, qualityFactor: $0.qualityFactor),
          $0.accelerationToMainModeRatio
        )
      }
  }

  /// Returns the sum of the responses of all resonances to a drive.
  private func response(
    _ figures: Case, to drive: [Double], as quantity: SimulatedTransducer.Quantity = .acceleration
  )
    -> [Double]
  {
    var sum = [Double](repeating: 0, count: drive.count)
    for (model, gain) in models(figures) {
      let modeResponse = SimulatedTransducer(
        resonance: model.resonanceHertz, qualityFactor: model.qualityFactor, rate: Self.rate
      )
      .response(to: drive, as: quantity)
      let ratio = 40 / model.resonanceHertz
      let scale = quantity == .displacement ? gain * ratio * ratio : gain
      for index in sum.indices {
        sum[index] += scale * modeResponse[index]
      }
    }
    return sum
  }

  /// Returns the range of perceived levels of steady events over sharpness, in decibels.
  private func unevenness(_ figures: Case, knowsModes: Bool) throws -> Double {
    let profile = profile(figures, knowsModes: knowsModes)
    let settings = try #require(profile.transducerSettings(rate: Self.rate))
    let levels = profile.levelsOverSharpness(count: 33, drive: settings)
    let perceivedLevels = (0..<33).map { index -> Double in
      let hertz = profile.frequency.hertz(atSharpness: Double(index) / 32)
      // Measured on the simulation, not by the formula: an eighth of a second at the end.
      let drive = (0..<8_000).map { sin(2 * .pi * hertz * Double($0) / Self.rate) }
      let peakResponse = response(figures, to: drive)[7_000...].map(abs).max() ?? 0
      return 20 * log10(levels[index] * settings.driveResponse(atHertz: hertz) * peakResponse)
        - profile.perceptionThresholdDecibels(atHertz: hertz)
    }
    return (perceivedLevels.max() ?? 0) - (perceivedLevels.min() ?? 0)
  }

  @Test(arguments: cases) func levelsFollowAllResonances(figures: Case) throws {
    let unevennessWithModes = try unevenness(figures, knowsModes: true)
    let unevennessWithoutModes = try unevenness(figures, knowsModes: false)
    #expect(unevennessWithModes < 1, "\(unevennessWithModes) dB")
    #expect(
      unevennessWithModes < 0.5 * unevennessWithoutModes,
      "\(unevennessWithModes) and \(unevennessWithoutModes) dB")
  }

  /// The energy of the ringing after a burst at the second resonance, relative to the peak.
  @Test(arguments: cases) func additionalResonancesRingLess(figures: Case) throws {
    func ring(knowsModes: Bool) throws -> Double {
      let settings = try #require(
        profile(figures, knowsModes: knowsModes).transducerSettings(rate: Self.rate))
      var filter = TransducerFilter(settings)
      let hertz = figures.modes[0].resonanceHertz
      let burstLength = Int(3 * Self.rate / hertz)
      var block = (0..<8_000).map { frame -> Float in
        frame < burstLength ? Float(0.4 * sin(2 * .pi * hertz * Double(frame) / Self.rate)) : 0
      }
      var span = block.mutableSpan
      filter.process(&span, count: 8_000)
      let motion = response(figures, to: block.map(Double.init))
      let peak = motion.map(abs).max() ?? 1
      return motion[burstLength...].reduce(0) { $0 + $1 * $1 } / (peak * peak)
    }
    #expect(try ring(knowsModes: true) < 0.7 * ring(knowsModes: false))
  }

  @Test(arguments: cases) func theFiltersOnlyCut(figures: Case) throws {
    let settingsWithModes = try #require(
      profile(figures, knowsModes: true).transducerSettings(rate: Self.rate))
    let settingsWithoutModes = try #require(
      profile(figures, knowsModes: false).transducerSettings(rate: Self.rate))
    for hertz in stride(from: 5.0, to: 2_000, by: 5) {
      #expect(
        settingsWithModes.driveResponse(atHertz: hertz) <= 1.01
          * settingsWithoutModes.driveResponse(atHertz: hertz))
    }
    #expect(settingsWithModes.tailDuration() >= settingsWithoutModes.tailDuration())
  }

  /// For noise, a step, and a sweep, the simulation equals a sum of independently simulated
  /// resonances.
  @Test(arguments: cases) func simulationFollowsAllResonances(figures: Case) {
    var generator = SplitMixGenerator(state: 11)
    let drive = (0..<16_000).map { frame -> Double in
      let time = Double(frame) / Self.rate
      if frame < 4_000 { return 0.4 * (2 * generator.fraction() - 1) }
      return frame < 6_000 ? 0.7 : 0.5 * sin(2 * .pi * (20 * time + 25 * time * time))
    }.map { Double(Float($0)) }
    var simulation = TransducerSimulation(
      TransducerModel(resonanceHertz: 40, qualityFactor: figures.quality), modes: figures.modes,
      rate: Self.rate)
    var displacements: [Double] = []
    var velocities: [Double] = []
    let accelerations = drive.map { sample -> Double in
      let acceleration = Double(simulation.nextAcceleration(drive: Float(sample)))
      displacements.append(simulation.displacement)
      velocities.append(simulation.velocity)
      return acceleration
    }
    func maximumError(_ measured: [Double], _ expected: [Double]) -> Double {
      zip(measured, expected).map { abs($0 - $1) }.max() ?? 1
    }
    let expected = response(figures, to: drive)
    #expect(maximumError(accelerations, expected) < 1e-6 * (expected.map(abs).max() ?? 0))
    let displacementResponse = response(figures, to: drive, as: .displacement)
    #expect(maximumError(displacements, displacementResponse) < 1e-9)
    #expect(abs(simulation.peakDisplacement - (displacementResponse.map(abs).max() ?? 0)) < 1e-9)
    // Velocity is relative to the angular frequency of the main resonance.
    let slope = (displacements[9_001] - displacements[8_999]) * Self.rate / (4 * .pi * 40)
    #expect(abs(velocities[9_000] - slope) < 0.01 * (velocities.map(abs).max() ?? 0))
  }

  /// The reported peak excursion is that of the sum of all resonances.
  @Test(arguments: cases) func reportedExcursionIncludesAllResonances(figures: Case) throws {
    let profile = profile(figures, knowsModes: true, limit: 1)
    let settings = try #require(profile.transducerSettings(rate: Self.rate))
    let limit = try #require(settings.limits.excursionLimitToFullScaleRatio)
    for hertz in [40] + figures.modes.map(\.resonanceHertz) {
      var limiter = TransducerLimiter(settings, temperatureRise: TransducerThermalState())
      var statistics = RenderStatistics()
      var block = (0..<8_000).map { Float(0.3 * sin(2 * .pi * hertz * Double($0) / Self.rate)) }
      var span = block.mutableSpan
      limiter.process(&span, count: 8_000, statistics: &statistics)
      let displacementResponse = response(figures, to: block.map(Double.init), as: .displacement)
      let expected = (displacementResponse.map(abs).max() ?? 0) / limit
      #expect(abs(Double(statistics.peakExcursionFraction) / expected - 1) < 0.02, "\(hertz) Hz")
    }
  }

  /// Drives at and between all resonances, and drives with random sign changes.
  @Test(arguments: cases, [0.1, 0.4, 1]) func sumOfAllResonancesStaysWithinTheLimit(
    figures: Case, limit: Double
  ) throws {
    let profile = profile(figures, knowsModes: true, limit: limit)
    let settings = try #require(profile.transducerSettings(rate: Self.rate))
    let excursionLimit = try #require(settings.limits.excursionLimitToFullScaleRatio)
    #expect(abs(excursionLimit / limit - 1) < 0.01)
    var maximumExcursion = 0.0
    var generator = SplitMixGenerator(state: 7)
    for trial in 0..<12 {
      var limiter = TransducerLimiter(settings, temperatureRise: TransducerThermalState())
      var statistics = RenderStatistics()
      let resonances = [40] + figures.modes.map(\.resonanceHertz)
      let hertz = resonances[trial % resonances.count] * (0.95 + 0.1 * generator.fraction())
      let secondHertz = resonances[(trial + 1) % resonances.count]
      var sign: Float = 1
      var block = (0..<16_000).map { frame -> Float in
        let time = Double(frame) / Self.rate
        if trial > 5, generator.fraction() < 0.004 {
          sign = -sign
        }
        let wave =
          sin(2 * .pi * hertz * time) + (trial % 3 == 2 ? sin(2 * .pi * secondHertz * time) : 0)
        return sign * (wave < 0 ? -0.891 : 0.891)
      }
      var span = block.mutableSpan
      limiter.process(&span, count: 16_000, statistics: &statistics)
      let displacementResponse = response(figures, to: block.map(Double.init), as: .displacement)
      maximumExcursion = max(maximumExcursion, displacementResponse.map(abs).max() ?? 0)
    }
    #expect(maximumExcursion <= excursionLimit, "\(maximumExcursion / excursionLimit)")
    #expect(maximumExcursion > 0.3 * excursionLimit, "\(maximumExcursion / excursionLimit)")
  }
}
