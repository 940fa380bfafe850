import ComparisonFixtures
import Glibc
import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

/// Pairs with one known difference. Only that difference is reported.
struct SentenceTests {
  /// A pair and its expected difference.
  struct Pair: Sendable, CustomTestStringConvertible {
    let kind: Difference.Kind
    /// The amount and its tolerance, or nil for a difference without an amount.
    let amount: (value: Double, tolerance: Double)?
    let isThroughout: Bool
    let sentence: String
    let takes: @Sendable () throws -> (Take, Take)

    var testDescription: String { sentence }
  }

  private static func pair(
    _ kind: Difference.Kind, by amount: (Double, Double)? = nil, isThroughout: Bool = false,
    _ sentence: String,
    _ takes: @escaping @Sendable () throws -> (Take, Take)
  ) -> Pair {
    Pair(kind: kind, amount: amount, isThroughout: isThroughout, sentence: sentence, takes: takes)
  }

  /// Returns a pair of patterns.
  private static func pattern(
    _ kind: Difference.Kind, by amount: (Double, Double)? = nil, isThroughout: Bool = false,
    of pattern: HapticPattern = fiveTapPattern,
    _ sentence: String, _ change: @escaping @Sendable (inout HapticPattern) -> Void
  ) -> Pair {
    pair(kind, by: amount, isThroughout: isThroughout, sentence) {
      (try take(pattern), try take(pattern.with(change)))
    }
  }

  /// Returns a pair of a pattern and its changed samples.
  private static func sound(
    _ kind: Difference.Kind, by amount: (Double, Double)? = nil, isThroughout: Bool = false,
    of pattern: HapticPattern = fiveTapPattern,
    _ sentence: String, _ change: @escaping @Sendable (inout [Float]) -> Void
  ) -> Pair {
    pair(kind, by: amount, isThroughout: isThroughout, sentence) {
      let take = try take(pattern)
      return (take, take.recorded(change))
    }
  }

  /// Returns a pair in which one or both patterns are replaced by their sound.
  private static func recorded(
    _ kind: Difference.Kind, by amount: (Double, Double)? = nil, isThroughout: Bool = false,
    of pattern: HapticPattern = fiveTapPattern,
    bothRecorded: Bool = false, _ sentence: String,
    _ change: @escaping @Sendable (inout HapticPattern) -> Void
  ) -> Pair {
    pair(kind, by: amount, isThroughout: isThroughout, sentence) {
      let take = try take(pattern)
      return (
        bothRecorded ? take.recorded() : take,
        try ComparisonFixtures.take(pattern.with(change)).recorded()
      )
    }
  }

  private static func changingAllEvents(
    _ id: EventParameterID, _ change: @escaping @Sendable (Float) -> Float
  )
    -> @Sendable (inout HapticPattern) -> Void
  {
    { pattern in
      for index in pattern.events.indices {
        pattern.events[index].parameters[id] = change(pattern.events[index].parameters[id] ?? 0)
      }
    }
  }

  private static func scalingAllTimes(by factor: Double)
    -> @Sendable (inout HapticPattern) -> Void
  {
    { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time *= factor
        pattern.events[index].duration? *= factor
      }
      for curveIndex in pattern.curves.indices {
        pattern.curves[curveIndex].time *= factor
        for pointIndex in pattern.curves[curveIndex].controlPoints.indices {
          pattern.curves[curveIndex].controlPoints[pointIndex].time *= factor
        }
      }
    }
  }

  /// Three different taps and two different continuous events, in turn.
  private static let tapAndHumPattern = HapticPattern(events: [
    tap(0), hum(0.2, 0.5, intensity: 0.7),
    tap(0.9, intensity: 0.6, sharpness: 0.7), hum(1.1, 0.5, sharpness: 0.6),
    tap(1.7, intensity: 1, sharpness: 0.2),
  ])

  /// Returns a change by which two events exchange their positions.
  private static func exchangingEvents(_ firstIndex: Int, _ secondIndex: Int)
    -> @Sendable (inout HapticPattern) -> Void
  {
    { pattern in
      let firstTime = pattern.events[firstIndex].time
      pattern.events[firstIndex].time = pattern.events[secondIndex].time
      pattern.events[secondIndex].time = firstTime
      pattern.events.swapAt(firstIndex, secondIndex)
    }
  }

  private static let patterns = [
    pattern(.time, by: (0.008, 1e-9), "B's third transient starts 8 ms later, at 0.508 s.") {
      $0.events[2].time = 0.508
    },
    // The phone's amplitude is the square of intensity.
    pattern(
      .level, by: (-1, 1e-4),
      "B's third transient, at 0.5 s, is 1 dB weaker: intensity 0.755 instead of 0.8."
    ) {
      $0.events[2].parameters[.hapticIntensity] = 0.8 * 0.944_061
    },
    pattern(
      .frequency, by: (11.14, 0.01),
      """
      B's second transient, at 0.25 s, is 11 % sharper: 151 instead of 136 Hz (sharpness 0.6 \
      instead of 0.5).
      """
    ) { $0.events[1].parameters[.hapticSharpness] = 0.6 },
    pattern(.missing, "B is missing A's fourth transient, at 0.75 s.") { $0.events.remove(at: 3) },
    pattern(.added, "B has an extra transient at 0.6 s.") { $0.events.append(tap(0.6)) },
    pattern(
      .duration, by: (0.05, 1e-9), of: swellingPattern,
      "B's continuous event is 50 ms longer: 0.85 instead of 0.8 s."
    ) { $0.events[1].duration = 0.85 },
    pattern(
      .level, by: (-3.876, 1e-3), isThroughout: true,
      "B is 3.9 dB weaker throughout: intensity × 0.8.",
      changingAllEvents(.hapticIntensity) { $0 * 0.8 }),
    pattern(
      .frequency, isThroughout: true, "B is 11 % sharper throughout: sharpness + 0.1.",
      changingAllEvents(.hapticSharpness) { $0 + 0.1 }),
    pattern(
      .attack, by: (0.1381, 1e-3), of: swellingPattern,
      "B's continuous event takes 138 ms longer to rise: attack 0.5 instead of 0.25."
    ) { $0.events[1].parameters[.attackTime] = 0.5 },
    pattern(
      .release, by: (-0.03055, 1e-4), of: swellingPattern,
      "B's continuous event has a 31 ms shorter release: release 0 instead of 0.2."
    ) { $0.events[1].parameters[.releaseTime] = 0 },
    pattern(.sustain, of: swellingPattern, "B's continuous event decays instead of sustaining.") {
      $0.events[1].parameters[.sustained] = 0
    },
    pattern(
      .curve, by: (-4.366, 1e-3), of: swellingPattern,
      """
      The second point of B's intensity curve, at 0.6 s, is 0.7 instead of 0.9: up to 4.4 dB \
      weaker.
      """
    ) { $0.curves[0].controlPoints[1].value = 0.7 },
    pattern(
      .curve, by: (0.1, 1e-6), of: swellingPattern,
      "The second point of B's intensity curve is 100 ms later, at 0.7 s: up to 2 dB apart."
    ) { $0.curves[0].controlPoints[1].time = 0.5 },
    pattern(.parameter, by: (-12.04, 0.01), "B sets intensity to 0.5 at 0.6 s: 12 dB weaker.") {
      $0.parameters.append(DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.6))
    },
    pattern(
      .parameter,
      of: fiveTapPattern.with {
        $0.parameters = [.init(id: .hapticSharpnessControl, value: 0.2, time: 0.4)]
      },
      "B does not set sharpness to 0.2 at 0.4 s: 19 % lower."
    ) { $0.parameters = [] },
    pattern(.time, by: (0.012, 1e-9), isThroughout: true, "B as a whole starts 12 ms later.") {
      pattern in
      for index in pattern.events.indices {
        pattern.events[index].time += 0.012
      }
    },
    pattern(.time, "From its fourth transient at 0.8 s on, all of B starts 50 ms later.") {
      pattern in
      for index in 3...4 {
        pattern.events[index].time += 0.05
      }
    },
    pattern(
      .tempo, by: (10, 1e-6), isThroughout: true, of: swellingPattern,
      "B runs slower: its intervals are 10 % longer.",
      scalingAllTimes(by: 1.1)),
    pattern(
      .tempo, by: (100 / 1.1 - 100, 1e-6), isThroughout: true, of: swellingPattern,
      "B runs faster: its intervals are 9 % shorter.",
      scalingAllTimes(by: 1 / 1.1)),
    pattern(.order, isThroughout: true, "B's transients are in reverse order.") { pattern in
      let times = pattern.events.map(\.time)
      pattern.events.reverse()
      for (index, time) in times.enumerated() {
        pattern.events[index].time = time
      }
    },
    pattern(.order, "B's transients 2 and 4 are swapped.", exchangingEvents(1, 3)),
    pattern(
      .order, of: tapAndHumPattern, "B's transients 1 and 2 are swapped.", exchangingEvents(0, 2)),
    pattern(
      .order, of: tapAndHumPattern, "B's continuous events 1 and 2 are swapped.",
      exchangingEvents(1, 3)),
    pattern(
      .order, of: tapAndHumPattern, "B's transients are in reverse order.", exchangingEvents(0, 4)),
  ]

  private static let sounds = [
    sound(
      .time, by: (37.0 / 48_000, 1e-6), isThroughout: true, "B as a whole starts 0.77 ms later."
    ) {
      $0.insert(contentsOf: [Float](repeating: 0, count: 37), at: 0)
    },
    sound(.time, by: (0.5, 1e-6), isThroughout: true, "B as a whole starts 500 ms later.") {
      $0.insert(contentsOf: [Float](repeating: 0, count: 24_000), at: 0)
    },
    sound(.level, by: (3, 1e-3), isThroughout: true, "B is 3 dB stronger throughout.") { samples in
      for index in samples.indices {
        samples[index] *= 1.412_54
      }
    },
    sound(.polarity, isThroughout: true, of: swellingPattern, "B's polarity is inverted.") {
      samples in
      for index in samples.indices {
        samples[index] *= -1
      }
    },
    recorded(.time, by: (0.008, 2e-5), "B's third transient starts 8 ms later, at 0.508 s.") {
      $0.events[2].time = 0.508
    },
    recorded(.level, by: (-1, 1e-3), "B's third transient, at 0.5 s, is 1 dB weaker.") {
      $0.events[2].parameters[.hapticIntensity] = 0.755_249
    },
    recorded(
      .frequency, by: (11.1, 0.5),
      "B's second transient, at 0.25 s, is 11 % sharper: 152 instead of 137 Hz."
    ) { $0.events[1].parameters[.hapticSharpness] = 0.6 },
    recorded(.missing, bothRecorded: true, "B is missing A's fourth transient, at 0.75 s.") {
      $0.events.remove(at: 3)
    },
    recorded(.added, bothRecorded: true, "B has an extra transient at 0.6 s.") {
      $0.events.append(tap(0.6))
    },
    recorded(
      .duration, by: (0.05, 0.002), of: swellingPattern, "B's continuous event is 50 ms longer."
    ) {
      $0.events[1].duration = 0.85
    },
    recorded(
      .frequency, by: (12, 0.2), of: swellingPattern,
      "B's continuous event is 12 % higher: 123 instead of 110 Hz."
    ) {
      $0.events[1].parameters[.hapticSharpness] = 0.407
    },
    recorded(
      .frequency, by: (11.1, 0.5), isThroughout: true, bothRecorded: true,
      "B is 11 % higher throughout.",
      changingAllEvents(.hapticSharpness) { $0 + 0.1 }),
    sound(
      .level, by: (3.2, 0.1), of: swellingPattern, "B is 3.2 dB stronger between 0.5 and 0.8 s."
    ) {
      samples in
      for index in 24_000..<38_400 {
        samples[index] *= 1.445_44
      }
    },
    sound(
      .noise, by: (-40, 0.5), isThroughout: true, "B has a 40 Hz hum at −40 dBFS in the background."
    ) {
      samples in
      for index in samples.indices {
        samples[index] += 0.01 * Float(sin(2 * .pi * 40 * Double(index) / 48_000))
      }
    },
    sound(
      .noise, by: (-44.8, 0.3), isThroughout: true, "B has noise at −45 dBFS in the background."
    ) {
      samples in
      var generator = LinearCongruentialGenerator()
      for index in samples.indices {
        samples[index] += Float.random(in: -0.01...0.01, using: &generator)
      }
    },
    sound(.clipping, "B is clipped at −12 dBFS in 12 places, between 0 and 1.02 s.") { samples in
      for index in samples.indices {
        samples[index] = min(0.25, max(-0.25, samples[index]))
      }
    },
    sound(
      .offset, by: (-33.98, 0.01), isThroughout: true, of: swellingPattern,
      "B has a DC offset of 0.02 of full scale."
    ) { samples in
      for index in samples.indices {
        samples[index] += 0.02
      }
    },
    sound(
      .length, by: (0.2, 1e-9), of: swellingPattern,
      "B's recording is 200 ms longer: 1.535 instead of 1.335 s."
    ) {
      $0 += [Float](repeating: 0, count: 9_600)
    },
    sound(.missing, isThroughout: true, "B is silent.") {
      for index in $0.indices {
        $0[index] = 0
      }
    },
    pair(.added, isThroughout: true, "B is not silent, unlike A.") {
      let take = try take(fiveTapPattern)
      return (
        take.recorded {
          for index in $0.indices {
            $0[index] = 0
          }
        }, take
      )
    },
    pair(.channels, by: (1, 0), "B has 2 channels, A 1.") {
      let take = try take(fiveTapPattern)
      return (take, ComparisonFixtures.sound([take.signal.mono, take.signal.mono]))
    },
    pair(.channels, "B's channels 1 and 2 differ, though the mix of all is the same.") {
      let mono = try take(fiveTapPattern).signal.mono
      return (
        ComparisonFixtures.sound([mono, mono]),
        ComparisonFixtures.sound([mono.map { $0 * 1.005 }, mono.map { $0 * 0.995 }])
      )
    },
    // The second of two transients could match the first one, but it is added.
    pair(.missing, "B is missing A's first transient, at 0 s.") {
      let pattern = try shipped("warning")
      return (
        try take(pattern).recorded(), try take(pattern.with { $0.events.removeFirst() }).recorded()
      )
    },
  ]

  @Test(arguments: patterns + sounds) func oneDifferenceIsReported(_ pair: Pair) throws {
    let (reference, candidate) = try pair.takes()
    let comparison = Comparison(reference, candidate)
    #expect(comparison.sentences == [pair.sentence])
    #expect(comparison.equality == .different && comparison.verdict == nil)
    let difference = try #require(comparison.differences.first)
    #expect(difference.kind == pair.kind && difference.isOverall == pair.isThroughout)
    if let amount = pair.amount {
      #expect(abs(difference.amount - amount.value) <= amount.tolerance, "\(difference.amount)")
    }
  }

  @Test func exchangedSoundFilesAreOneChangeOfOrder() throws {
    func take(playing paths: [String], amplitude: Float) -> Take {
      let events = paths.enumerated().map { index, path in
        HapticEvent(kind: .audioCustom, time: Double(index), waveform: AudioWaveform(path: path))
      }
      return Take(
        name: "pattern", source: .pattern(HapticComposition(HapticPattern(events: events))),
        signal: Signal([Float](repeating: amplitude, count: 4_800), rate: 48_000), profile: .phone)
    }
    let comparison = Comparison(
      take(playing: ["a.wav", "b.wav", "c.wav"], amplitude: 0.1),
      take(playing: ["b.wav", "a.wav", "c.wav"], amplitude: 0.2))
    #expect(comparison.sentences == ["B's sounds 1 and 2 are swapped."])
  }

  private func onlyDifference(_ reference: HapticPattern, _ candidate: HapticPattern) throws
    -> Difference
  {
    let comparison = Comparison(try take(reference), try take(candidate))
    #expect(comparison.differences.count == 1, "\(comparison.sentences)")
    return try #require(comparison.differences.first)
  }

  @Test func differenceHasItsTimeRangeAndEvents() throws {
    let moved = try onlyDifference(
      fiveTapPattern, fiveTapPattern.with { $0.events[2].time = 0.508 })
    #expect(
      moved.unit == .seconds && moved.isNoticeable && abs(moved.timeRange.lowerBound - 0.5) < 1e-9)
    #expect(moved.referenceEventIndices == [2] && moved.candidateEventIndices == [2])
    let weaker = try onlyDifference(
      fiveTapPattern,
      fiveTapPattern.with { $0.events[2].parameters[.hapticIntensity] = 0.8 * 0.944_061 })
    #expect(weaker.unit == .decibels && !weaker.isNoticeable)
    let missing = try onlyDifference(
      fiveTapPattern, fiveTapPattern.with { $0.events.remove(at: 3) })
    #expect(missing.referenceEventIndices == [3] && missing.candidateEventIndices == [])
    #expect(
      try onlyDifference(fiveTapPattern, fiveTapPattern.with { $0.events.append(tap(0.6)) })
        .candidateEventIndices == [5])
    let withLaterTail = fiveTapPattern.with { pattern in
      for index in 3...4 {
        pattern.events[index].time += 0.05
      }
    }
    #expect(try onlyDifference(fiveTapPattern, withLaterTail).referenceEventIndices == [3, 4])
    let curve = try onlyDifference(
      swellingPattern, swellingPattern.with { $0.curves[0].controlPoints[1].value = 0.7 })
    #expect(
      abs(curve.timeRange.lowerBound - 0.2) < 1e-9 && abs(curve.timeRange.upperBound - 1) < 1e-9)
    #expect(
      try onlyDifference(
        swellingPattern, swellingPattern.with { $0.curves[0].controlPoints[1].time = 0.5 }
      )
      .unit == .seconds)
    #expect(
      try onlyDifference(
        fiveTapPattern, fiveTapPattern.with { $0.events[1].parameters[.hapticSharpness] = 0.6 }
      ).unit
        == .percent)
  }

  /// Two sharpness values that a curve clamps to 1 have the same effect.
  @Test func effectiveValuesAreCompared() throws {
    func pattern(_ sharpness: Float, _ control: Float) -> HapticPattern {
      HapticPattern(
        events: [hum(0, 0.5, sharpness: sharpness)],
        curves: [
          ParameterCurve(
            id: .hapticSharpnessControl, time: 0,
            controlPoints: [.init(time: 0, value: control), .init(time: 0.5, value: control)])
        ])
    }
    let equalComparison = Comparison(try take(pattern(0.6, 0.9)), try take(pattern(0.3, 0.9)))
    #expect(equalComparison.sentences == ["B is identical to A, sample for sample."])
    // A change from 0.9 to 1.2 has the effect of a change from 0.9 to 1.
    let clampedDifference = try onlyDifference(pattern(0.4, 0.5), pattern(0.7, 0.5))
    #expect(clampedDifference.kind == .frequency && abs(clampedDifference.amount - 11.14) < 0.01)
    let unclampedDifference = try onlyDifference(pattern(0.1, 0.2), pattern(0.4, 0.2))
    #expect(abs(unclampedDifference.amount - 37.27) < 0.01)
  }

  @Test func removedShiftAndLevelAreReported() throws {
    let take = try take(fiveTapPattern)
    let late = take.recorded { $0.insert(contentsOf: [Float](repeating: 0, count: 24_000), at: 0) }
    let comparison = Comparison(take, late, options: ComparisonOptions(alignment: .start))
    #expect(abs(comparison.alignment.delaySeconds - 0.5) < 1e-4)
    #expect(!comparison.differences.contains { $0.kind == .time }, "\(comparison.sentences)")
    let louder = take.recorded {
      for index in $0.indices {
        $0[index] *= 1.412_54
      }
    }
    #expect(abs(Comparison(take, louder).candidateGain - 0.707_95) < 1e-4)
    #expect(abs(Comparison(take, late).alignment.delaySeconds - 0.5) < 1e-6)
    let withHum = take.recorded { samples in
      for index in samples.indices {
        samples[index] += 0.01 * Float(sin(2 * .pi * 40 * Double(index) / 48_000))
      }
    }
    #expect(abs((Comparison(take, withHum).differences.first?.candidateValue ?? 0) - 40) < 0.5)
  }

  @Test(arguments: ["success-rhythm", "perfect-score", "trigger-pattern", "double-tap"])
  func lateLastTapOfAShippedPatternIsReported(_ name: String) throws {
    let pattern = try shipped(name)
    let lastIndex = pattern.events.count - 1
    let later = try take(pattern.with { $0.events[lastIndex].time += 0.02 })
    for candidate in [later, later.recorded()] {
      let comparison = Comparison(try take(pattern), candidate)
      let difference = try #require(comparison.differences.first)
      #expect(
        comparison.differences.count == 1 && difference.kind == .time
          && abs(difference.amount - 0.02) < 2e-5)
      #expect(difference.sentence.contains(" transient starts 20 ms later, at "))
    }
  }

  @Test func transientDoesNotMatchAContinuousEvent() throws {
    let comparison = Comparison(
      try take(try shipped("light")), try take(try shipped("capacitor_charge")))
    #expect(Set(comparison.differences.map(\.kind)) == [.missing, .added])
    #expect(comparison.sentences.contains("B is missing A's transient, at 0 s."))
  }
}
