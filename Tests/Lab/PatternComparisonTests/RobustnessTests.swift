import ComparisonFixtures
import HapticModel
import HapticRender
import PatternComparison
import Reading
import SignalAnalysis
import Testing

/// Extreme inputs: many events, none, and extreme numbers.
struct RobustnessTests {
  private func take(_ pattern: HapticPattern, _ lastSample: Float = 0) -> Take {
    let samples: [Float] = [0, 0.5, -0.5, lastSample]
    return Take(
      name: "pattern", source: .pattern(HapticComposition(pattern)),
      signal: Signal(channels: [samples], rate: 48_000),
      profile: .phone)
  }

  private func taps(_ count: Int, gap: Double, from start: Double = 0) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map { index in
        tap(
          start + Double(index) * gap, intensity: Float(index % 97) / 100,
          sharpness: Float(index % 89) / 100)
      })
  }

  @Test func hundredThousandEventsWithOneMovedArePaired() throws {
    let pattern = taps(100_000, gap: 0.01)
    let moved = pattern.with { $0.events[50_000].time += 0.004 }
    let comparison = Comparison(take(pattern), take(moved, 0.1))
    #expect(comparison.sentences == ["B's transient 50001 starts 4 ms later, at 500.004 s."])
  }

  @Test func tenThousandDifferentEventsAreSummarized() throws {
    let pattern = taps(10_000, gap: 0.01)
    var generator = LinearCongruentialGenerator()
    let changed = pattern.with { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time += Double.random(in: 0...0.004, using: &generator)
        pattern.events[index].parameters[.hapticIntensity] = Float.random(
          in: 0...1, using: &generator)
      }
    }
    let comparison = Comparison(take(pattern), take(changed, 0.1))
    #expect(comparison.differences.count == 2, "\(comparison.sentences)")
  }

  @Test func tenThousandSimultaneousEventsArePaired() throws {
    let pattern = taps(10_000, gap: 0)
    let shortened = pattern.with { $0.events.removeLast(10) }
    let comparison = Comparison(take(pattern), take(shortened, 0.1))
    #expect(comparison.differences.map(\.kind) == [.missing])
    #expect(comparison.differences.first?.referenceEventIndices.count == 10)
  }

  @Test func thousandsOfControlsAreSummarized() throws {
    let controlled = taps(10, gap: 0.1).with { pattern in
      for index in 0..<10_000 {
        pattern.parameters.append(
          DynamicParameter(
            id: .hapticIntensityControl, value: Float(index % 10) / 10, time: Double(index) * 1e-4))
      }
    }
    let comparison = Comparison(take(taps(10, gap: 0.1)), take(controlled, 0.1))
    #expect(comparison.differences.map(\.kind) == [.parameter])
  }

  @Test func emptyPatternHasNoMeasurements() throws {
    let comparison = Comparison(take(HapticPattern()), take(fiveTapPattern, 0.1))
    #expect(comparison.sentences == ["B has 5 extra transients, between 0 and 1 s."])
    let emptyComparison = Comparison(take(HapticPattern()), take(HapticPattern()))
    #expect(emptyComparison.equality == .identical)
  }

  @Test func extremeNumbersGiveValidJSON() throws {
    var nonFinite = fiveTapPattern
    nonFinite.events[0].time = .nan
    nonFinite.events[1].time = .infinity
    nonFinite.events[2].parameters[.hapticIntensity] = .nan
    nonFinite.events[3].duration = .infinity
    nonFinite.parameters = [
      DynamicParameter(id: .hapticIntensityControl, value: .nan, time: .nan),
      DynamicParameter(id: .hapticSharpnessControl, value: .infinity, time: 0.1),
    ]
    nonFinite.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [.init(time: .nan, value: 1), .init(time: .infinity, value: .nan)])
    ]
    for pair in [(fiveTapPattern, nonFinite), (nonFinite, fiveTapPattern), (nonFinite, nonFinite)] {
      let bytes = json(Comparison(take(pair.0), take(pair.1, 0.1)))
      #expect(bytes.count > 100)
    }
    let nonFiniteSound = sound([[0, .nan, .infinity, 0.5, -0.5, .nan]])
    for pair in [
      (nonFiniteSound, take(fiveTapPattern)), (take(fiveTapPattern), nonFiniteSound),
      (nonFiniteSound, nonFiniteSound),
    ] {
      let comparison = Comparison(pair.0, pair.1)
      #expect(comparison.differences.allSatisfy { $0.amount.isFinite })
      #expect(json(comparison).count > 100)
    }
  }

  private func json(_ comparison: Comparison) -> [UInt8] {
    var json = JSONWriter()
    // The writer traps on a number that is not finite.
    json.writeObject { comparison.write(to: &$0) }
    return json.finishedText()
  }

  @Test func veryDifferentLengthsAreReported() throws {
    let shortTake = try ComparisonFixtures.take(HapticPattern(events: [tap(0)]))
    var longSamples = shortTake.signal.mono
    longSamples += [Float](repeating: 0, count: 48_000 * 10)
    let comparison = Comparison(shortTake, sound([longSamples]))
    #expect(comparison.differences.map(\.kind) == [.length])
  }

  @Test(arguments: 1...12) func sentencesOfGeneratedPatternsAreWellFormed(seed: UInt64) throws {
    var generator = LinearCongruentialGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15)
    var events: [[HapticEvent]] = [[], []]
    for side in 0...1 {
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        events[side].append(
          Bool.random(using: &generator)
            ? tap(Double.random(in: 0...1, using: &generator))
            : hum(Double.random(in: 0...1, using: &generator), 0.1))
      }
    }
    let takes = try events.map { try ComparisonFixtures.take(HapticPattern(events: $0)) }
    for candidate in [takes[1], takes[1].recorded()] {
      let comparison = Comparison(takes[0], candidate)
      #expect(json(comparison).count > 100)
      for sentence in comparison.sentences {
        #expect(sentence.hasSuffix(".") && !sentence.contains("?"), "\(sentence)")
      }
    }
  }
}
