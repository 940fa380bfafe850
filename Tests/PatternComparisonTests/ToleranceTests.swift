import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

struct ToleranceTests {
  private func comparison(
    _ change: (inout HapticPattern) -> Void, options: ComparisonOptions = ComparisonOptions()
  ) throws -> Comparison {
    Comparison(try take(fiveTaps), try take(fiveTaps.with(change)), options: options)
  }

  @Test func eachLimitHoldsForItsOwnKind() throws {
    let moved = try comparison { $0.events[2].time = 0.508 }
    #expect(moved.isEqual(within: Tolerance(seconds: 0.008)))
    #expect(!moved.isEqual(within: Tolerance(decibels: 60, seconds: 0.007, percent: 100)))
    let weaker = try comparison { $0.events[2].parameters[.hapticIntensity] = 0.755_249 }
    #expect(weaker.isEqual(within: Tolerance(decibels: 1.01)))
    #expect(!weaker.isEqual(within: Tolerance(decibels: 0.99, seconds: 1, percent: 100)))
    let sharper = try comparison { $0.events[2].parameters[.hapticSharpness] = 0.5 }
    #expect(sharper.isEqual(within: Tolerance(percent: 11.2)))
    #expect(!sharper.isEqual(within: Tolerance(decibels: 60, seconds: 1, percent: 11)))
  }

  @Test func noiseCountsAsTheChangeOfLevelItCanCause() throws {
    let take = try take(fiveTaps)
    var numbers = FixedNumbers()
    let noisy = take.recorded { samples in
      for index in samples.indices {
        samples[index] += Float.random(in: -0.01...0.01, using: &numbers)
      }
    }
    // −45 dBFS under a peak of −7 dBFS can change its level by 0.11 dB.
    let comparison = Comparison(take, noisy)
    #expect(comparison.isEqual(within: Tolerance(decibels: 0.12)))
    #expect(!comparison.isEqual(within: Tolerance(decibels: 0.1)))
  }

  @Test func aDelayThatWasToBeTakenOutIsNoDifference() throws {
    let later: (inout HapticPattern) -> Void = { pattern in
      for index in pattern.events.indices { pattern.events[index].time += 0.3 }
    }
    #expect(try !comparison(later).isEqual(within: Tolerance()))
    let moved = try comparison(later, options: ComparisonOptions(alignment: .start))
    #expect(moved.isEqual(within: Tolerance()))
    #expect(abs(moved.alignment.seconds - 0.3) < 1e-6)
    #expect(
      moved.notes == ["B was shifted 300 ms earlier to align the first sounds."])
  }
}

struct ThresholdAgreementTests {
  /// Weighted levels and equal sensation use one curve.
  @Test func theHandIsWeighedByTheThresholdsThatSoundIsFittedTo() throws {
    let points = TransducerProfile.defaultThresholds
    #expect(points.count == 41)
    let middle = try #require(points.first { $0.hertz == 100 }).decibels
    for point in points where (20...400).contains(point.hertz) {
      let decibels = Decibels.of(amplitude: VibrotactileWeighting.hand.gain(atHertz: point.hertz))
      #expect(abs(decibels - (middle - point.decibels)) < 1e-6, "\(point.hertz) Hz")
    }
  }
}

struct TakeTests {
  @Test func onlyAPatternHasEvents() {
    let silence = Signal(channels: [[0]], rate: 48_000)
    let pattern = HapticComposition(HapticPattern())
    let drawn = Take(name: "a", source: .pattern(pattern), signal: silence, profile: .phone)
    #expect(drawn.composition == pattern)
    #expect(Take(name: "b", source: .sound, signal: silence, profile: .phone).composition == nil)
  }
}
