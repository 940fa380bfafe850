import HapticModel
import Testing

@testable import HapticRender

@Suite struct DynamicControlTests {
  @Test(arguments: [8_000, 48_000, 192_000]) func stepTakesEffectWithinTwoMilliseconds(
    rate: Double
  ) throws {
    let steady = try render(HapticPattern(events: [humEvent(0, 0.4)]), rate: rate)
    let stepped = try render(
      HapticPattern(
        events: [humEvent(0, 0.4)], parameters: [controlStep(.hapticIntensityControl, 0.5, at: 0.1)]
      ),
      rate: rate)
    let stepFrame = Int(0.1 * rate)
    #expect(stepped[...stepFrame] == steady[...stepFrame])
    for index in Int(0.102 * rate)..<Int(0.399 * rate) {
      // The remainder of the louder part in the high-pass filter fades over seconds.
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
    // The maximum slope of a sine whose level falls quadratically within 1 ms.
    let sineStep = 0.44 * 2 * Float.pi * 230 / 48_000
    let levelStep: Float = 0.44 * 2 / 48
    #expect(maximumStep(samples) < (sineStep * sineStep + levelStep * levelStep).squareRoot())
  }

  @Test func stepsActOnAllEventsOfTheirBus() throws {
    let events = [humEvent(0, 0.4), tapEvent(0.25, sharpness: 0.9)]
    let silencedHaptics = HapticPattern(
      events: events + [HapticEvent(kind: .audioContinuous, time: 0, duration: 0.4)],
      parameters: [controlStep(.hapticIntensityControl, 0, at: 0)])
    let toneOnly = HapticPattern(events: [
      HapticEvent(kind: .audioContinuous, time: 0, duration: 0.4)
    ])
    #expect(maximumDifference(try render(silencedHaptics), try render(toneOnly)) == 0)
  }

  @Test func aCurveReplacesAStepFromItsStart() throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 0.5)], parameters: [controlStep(.hapticIntensityControl, 0.5, at: 0)],
      curves: [curve(.hapticIntensityControl, at: 0.2, [(0, 0.5), (0.2, 1)])])
    let reference = ReferenceEvent(
      durationSeconds: 0.499, intensity: piecewiseLine([(0.2, 0.5), (0.4, 1)]),
      envelope: { min($0 / 0.001, 1) })
    #expect(reference.errorDecibels(of: try render(pattern)) < -60)
  }

  @Test func orderInTheFileDoesNotMatter() throws {
    var pattern = earthquakePattern
    pattern.parameters = [
      controlStep(.hapticIntensityControl, 0.4, at: 1.4),
      controlStep(.hapticIntensityControl, 0.7, at: 1.6),
    ]
    let expected = try render(pattern, rate: 8_000)
    pattern.parameters.reverse()
    pattern.curves.reverse()
    for index in pattern.curves.indices {
      pattern.curves[index].controlPoints.reverse()
    }
    #expect(try render(pattern, rate: 8_000) == expected)
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

  /// The frames of a burst of two cycles at medium sharpness, which starts at 0.5 s.
  private static let burstFrames = 24_000..<24_700

  @Test(arguments: [1, 2, 3.3], [0.25, 0.7]) func duckingScalesTheAmplitudeForAnyExponent(
    exponent: Double, duck: Double
  ) throws {
    let duckingProfile = profile(.power(exponent: exponent), duck: duck)
    let profileWithoutDucking = profile(.power(exponent: exponent), duck: 1)
    let event = humEvent(0, 1, intensity: 0.8, sharpness: 0.2)
    let combined = try samples([event, tapEvent(0.5)], duckingProfile)
    let tapOnly = try samples([tapEvent(0.5)], profileWithoutDucking)
    let humOnly = try samples([event], profileWithoutDucking)
    // After the ramp of 1 ms. The DC estimates differ slightly.
    let differences = Self.burstFrames.dropFirst(60).map { frame in
      abs(combined[frame] - tapOnly[frame] - Float(duck) * humOnly[frame])
    }
    #expect((differences.max() ?? 1) < 3e-3)
    #expect(Array(combined[..<24_000]) == Array(humOnly[..<24_000]))
    #expect(maximumDifference(combined[26_000...], humOnly[26_000...]) < 3e-3)
  }

  @Test func silentTransientDoesNotDuck() throws {
    let duckingProfile = profile(.power(exponent: 2), duck: 0.25)
    let event = humEvent(0, 1, intensity: 0.8)
    #expect(
      try samples([event, tapEvent(0.5, intensity: 0)], duckingProfile)
        == samples([event], duckingProfile))
  }

  @Test func duckingNeverClicks() throws {
    let duckingProfile = profile(.power(exponent: 2), duck: 0.1)
    let event = humEvent(0, 1, intensity: 1, sharpness: 1)
    let combined = try samples(
      [event, tapEvent(0.5, sharpness: 0), tapEvent(0.52, sharpness: 0)], duckingProfile)
    let tapOnly = try samples(
      [tapEvent(0.5, sharpness: 0), tapEvent(0.52, sharpness: 0)],
      profile(.power(exponent: 2), duck: 1))
    let ducked = zip(combined, tapOnly).map { $0 - $1 }
    // The maximum slope of a sine whose level falls quadratically within 1 ms.
    let sine = 0.3 * 2 * Float.pi * 230 / 48_000
    let ramp: Float = 0.3 * 2 / 48
    #expect(maximumStep(ducked) < (sine * sine + ramp * ramp).squareRoot())
  }
}
