import HapticModel
import Testing

@testable import HapticRender

@Suite struct DynamicControlTests {
  @Test(arguments: [8_000, 48_000, 192_000]) func aStepArrivesWithinTwoMillisecondsAndHolds(
    rate: Double
  ) throws {
    let steady = try render(HapticPattern(events: [humEvent(0, 0.4)]), rate: rate)
    let stepped = try render(
      HapticPattern(
        events: [humEvent(0, 0.4)], parameters: [controlStep(.hapticIntensityControl, 0.5, at: 0.1)]
      ),
      rate: rate)
    let before = Int(0.1 * rate)
    #expect(stepped[...before] == steady[...before])
    for index in Int(0.102 * rate)..<Int(0.399 * rate) {
      // What the high-pass keeps of the louder past fades over seconds.
      #expect(abs(stepped[index] - steady[index] / 4) < 0.003)
    }
  }

  @Test func stepsNeverClick() throws {
    var parameters: [DynamicParameter] = []
    for index in 0..<20 {
      parameters.append(
        controlStep(.hapticIntensityControl, Float(index % 2), at: Double(index) * 0.05))
      parameters.append(
        controlStep(.hapticSharpnessControl, Float(index % 3) - 1, at: Double(index) * 0.035))
    }
    let samples = try render(
      HapticPattern(events: [humEvent(0, 1, sharpness: 1)], parameters: parameters))
    // The steepest sine, and a level that falls as a square within a millisecond.
    let sine = 0.44 * 2 * Float.pi * 230 / 48_000
    let ramp: Float = 0.44 * 2 / 48
    #expect(maximumStep(samples) < (sine * sine + ramp * ramp).squareRoot())
  }

  @Test func stepsActOnAllEventsOfTheirBus() throws {
    let events = [humEvent(0, 0.4), tapEvent(0.25, sharpness: 0.9)]
    let off = HapticPattern(
      events: events + [HapticEvent(kind: .audioContinuous, time: 0, duration: 0.4)],
      parameters: [controlStep(.hapticIntensityControl, 0, at: 0)])
    let tone = HapticPattern(events: [HapticEvent(kind: .audioContinuous, time: 0, duration: 0.4)])
    #expect(maximumDifference(try render(off), try render(tone)) == 0)
  }

  @Test func aCurveReplacesAStepFromItsStart() throws {
    let both = HapticPattern(
      events: [humEvent(0, 0.5)], parameters: [controlStep(.hapticIntensityControl, 0.5, at: 0)],
      curves: [curve(.hapticIntensityControl, at: 0.2, [(0, 0.5), (0.2, 1)])])
    let reference = ReferenceEvent(
      durationSeconds: 0.499, intensity: piecewiseLine([(0.2, 0.5), (0.4, 1)]),
      envelope: { min($0 / 0.001, 1) })
    #expect(reference.errorDecibels(of: try render(both)) < -60)
  }

  @Test func orderInTheFileDoesNotMatter() throws {
    var turned = earthquakePattern
    turned.parameters = [
      controlStep(.hapticIntensityControl, 0.4, at: 1.4),
      controlStep(.hapticIntensityControl, 0.7, at: 1.6),
    ]
    let expected = try render(turned, rate: 8_000)
    turned.parameters.reverse()
    turned.curves.reverse()
    for index in turned.curves.indices {
      turned.curves[index].controlPoints.reverse()
    }
    #expect(try render(turned, rate: 8_000) == expected)
  }

  @Test func sharpnessIsClampedAfterTheSum() throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 1, sharpness: 0.6)],
      parameters: [controlStep(.hapticSharpnessControl, 1, at: 0)])
    let measured = frequency(of: try render(pattern, rate: 8_000), rate: 8_000, from: 0.1, to: 0.9)
    #expect(abs(measured / 230 - 1) < 1e-4)
  }
}

/// Continuous events are softened while a transient sounds.
@Suite struct DuckTests {
  private func profile(_ intensity: IntensityMapping, duck: Double) -> TransducerProfile {
    TransducerProfile(
      name: "x", summary: "x", frequency: FrequencyMapping(lowHertz: 80, highHertz: 230),
      intensity: intensity, fullIntensityAmplitude: 0.3,
      transient: nil, transientDuckingGain: duck)
  }

  private func samples(_ events: [HapticEvent], _ profile: TransducerProfile) throws -> [Float] {
    Array(try render(HapticPattern(events: events), profile: profile).prefix(47_000))
  }

  /// Two cycles at middle sharpness, from 0.5 s on.
  private static let burstFrames = 24_000..<24_700

  @Test(arguments: [1, 2, 3.3], [0.25, 0.7]) func duckIsAFactorOnAmplitudeUnderAnyPowerOfIntensity(
    exponent: Double, duck: Double
  ) throws {
    let ducking = profile(.power(exponent: exponent), duck: duck)
    let plain = profile(.power(exponent: exponent), duck: 1)
    let event = humEvent(0, 1, intensity: 0.8, sharpness: 0.2)
    let both = try samples([event, tapEvent(0.5)], ducking)
    let burst = try samples([tapEvent(0.5)], plain)
    let alone = try samples([event], plain)
    // Behind the ramp of a millisecond; the offset that is followed differs a little.
    let differences = Self.burstFrames.dropFirst(60).map { frame in
      abs(both[frame] - burst[frame] - Float(duck) * alone[frame])
    }
    #expect((differences.max() ?? 1) < 3e-3)
    #expect(Array(both[..<24_000]) == Array(alone[..<24_000]))
    #expect(maximumDifference(both[26_000...], alone[26_000...]) < 3e-3)
  }

  @Test func transientThatIsSilentDucksNothing() throws {
    let ducking = profile(.power(exponent: 2), duck: 0.25)
    let event = humEvent(0, 1, intensity: 0.8)
    #expect(
      try samples([event, tapEvent(0.5, intensity: 0)], ducking) == samples([event], ducking))
  }

  @Test func duckingNeverClicks() throws {
    let ducking = profile(.power(exponent: 2), duck: 0.1)
    let event = humEvent(0, 1, intensity: 1, sharpness: 1)
    let both = try samples(
      [event, tapEvent(0.5, sharpness: 0), tapEvent(0.52, sharpness: 0)], ducking)
    let burst = try samples(
      [tapEvent(0.5, sharpness: 0), tapEvent(0.52, sharpness: 0)],
      profile(.power(exponent: 2), duck: 1))
    let ducked = zip(both, burst).map { $0 - $1 }
    // The steepest sine, and a level that falls as a square within a millisecond.
    let sine = 0.3 * 2 * Float.pi * 230 / 48_000
    let ramp: Float = 0.3 * 2 / 48
    #expect(maximumStep(ducked) < (sine * sine + ramp * ramp).squareRoot())
  }
}
