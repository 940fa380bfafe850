import HapticModel
import HapticRender
import Testing

/// Continuous events are softened while a transient sounds.
@Suite struct DuckTests {
  private func profile(_ intensity: IntensityMapping, duck: Double) -> TransducerProfile {
    TransducerProfile(
      name: "x", summary: "x", frequency: FrequencyMapping(low: 80, high: 230),
      intensity: intensity, level: 0.3, transient: nil, duck: duck)
  }

  private func samples(_ events: [HapticEvent], _ profile: TransducerProfile) throws -> [Float] {
    Array(try render(HapticPattern(events: events), profile: profile).prefix(47_000))
  }

  /// Two cycles at middle sharpness, from 0.5 s on.
  private static let burst = 24_000..<24_700

  @Test(arguments: [1, 2, 3.3], [0.25, 0.7])
  func duckIsAFactorOnAmplitudeUnderAnyPowerOfIntensity(exponent: Double, duck: Double) throws {
    let ducking = profile(.power(exponent: exponent), duck: duck)
    let plain = profile(.power(exponent: exponent), duck: 1)
    let event = hum(0, 1, intensity: 0.8, sharpness: 0.2)
    let both = try samples([event, tap(0.5)], ducking)
    let burst = try samples([tap(0.5)], plain)
    let alone = try samples([event], plain)
    // Behind the ramp of a millisecond; the offset that is followed differs a little.
    let differences = Self.burst.dropFirst(60).map { frame in
      abs(both[frame] - burst[frame] - Float(duck) * alone[frame])
    }
    #expect((differences.max() ?? 1) < 3e-3)
    #expect(Array(both[..<24_000]) == Array(alone[..<24_000]))
    #expect(greatestDifference(both[26_000...], alone[26_000...]) < 3e-3)
  }

  @Test func transientThatIsSilentDucksNothing() throws {
    let ducking = profile(.power(exponent: 2), duck: 0.25)
    let event = hum(0, 1, intensity: 0.8)
    #expect(
      try samples([event, tap(0.5, intensity: 0)], ducking) == samples([event], ducking))
  }

  @Test func duckingNeverClicks() throws {
    let ducking = profile(.power(exponent: 2), duck: 0.1)
    let event = hum(0, 1, intensity: 1, sharpness: 1)
    let both = try samples([event, tap(0.5, sharpness: 0), tap(0.52, sharpness: 0)], ducking)
    let burst = try samples(
      [tap(0.5, sharpness: 0), tap(0.52, sharpness: 0)], profile(.power(exponent: 2), duck: 1))
    let ducked = zip(both, burst).map { $0 - $1 }
    // The steepest sine, and a level that falls as a square within a millisecond.
    let sine = 0.3 * 2 * Float.pi * 230 / 48_000
    let ramp: Float = 0.3 * 2 / 48
    #expect(greatestStep(ducked) < (sine * sine + ramp * ramp).squareRoot())
  }
}
