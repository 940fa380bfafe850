import ComparisonFixtures
import HapticModel
import HapticRender
import PatternComparison
import RecordingAnalysis
import SignalAnalysis
import Testing

struct ToleranceTests {
  private func comparison(
    _ change: (inout HapticPattern) -> Void, options: ComparisonOptions = ComparisonOptions()
  )
    throws -> Comparison
  { Comparison(try take(fiveTapPattern), try take(fiveTapPattern.with(change)), options: options) }

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

  @Test func noiseCountsByTheLevelChangeItCanCause() throws {
    let take = try take(fiveTapPattern)
    var generator = LinearCongruentialGenerator()
    let noisy = take.recorded { samples in
      for index in samples.indices {
        samples[index] += Float.random(in: -0.01...0.01, using: &generator)
      }
    }
    // Noise at −45 dBFS can change the level of a peak at −7 dBFS by 0.11 dB.
    let comparison = Comparison(take, noisy)
    func kinds(_ decibels: Double) -> [Difference.Kind] {
      comparison.excesses(over: Tolerance(decibels: decibels, seconds: 1, percent: 1)).filter {
        !$0.isUnverified
      }.map(
        \.kind)
    }
    #expect(kinds(0.12) == [])
    #expect(kinds(0.1) == [.noise])
  }

  /// A limit is exceeded if the recording is too noisy to verify it, and the excess says so.
  @Test func limitHiddenByNoiseCannotBeVerified() throws {
    let take = try take(fiveTapPattern)
    var generator = LinearCongruentialGenerator()
    let noisy = take.recorded { samples in
      for index in samples.indices {
        samples[index] += Float.random(in: -0.12...0.12, using: &generator)
      }
    }
    let comparison = Comparison(take, noisy)
    let match = try #require(comparison.recordingMatch)
    let minimumDecibels = try #require(match.minimumDetectableDecibels)
    #expect(match.outcome == .found && match.detectableEventCount > 2 && minimumDecibels > 0.5)
    let tolerance = Tolerance(decibels: 0.5, seconds: 0.005, percent: 2)
    let excesses = comparison.excesses(over: tolerance)
    #expect(
      excesses.contains { $0.isUnverified && $0.text.hasPrefix("cannot be verified: level ±") })
    #expect(!comparison.isEqual(within: tolerance))
    #expect(!comparison.limitations.isEmpty)
  }

  @Test func alignedDelayIsNoDifference() throws {
    let delayAllEvents: (inout HapticPattern) -> Void = { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time += 0.3
      }
    }
    #expect(try !comparison(delayAllEvents).isEqual(within: Tolerance()))
    let alignedComparison = try comparison(
      delayAllEvents, options: ComparisonOptions(alignment: .start))
    #expect(alignedComparison.isEqual(within: Tolerance()))
    #expect(abs(alignedComparison.alignment.delaySeconds - 0.3) < 1e-6)
    #expect(alignedComparison.notes == ["B was shifted 300 ms earlier to align the onsets."])
  }
}

/// A stretched pattern is within a time limit only if its last event is.
struct AccumulationTests {
  private func stretchedComparison(_ factor: Double) throws -> Comparison {
    let pattern = HapticPattern(events: (0..<9).map { tap(Double($0) / 4, intensity: 0.6) })
    return Comparison(
      try take(pattern, rate: 8_000),
      try take(
        pattern.with { pattern in
          for index in pattern.events.indices {
            pattern.events[index].time *= factor
          }
        },
        rate: 8_000))
  }

  @Test func tempoCountsByItsMaximumShift() throws {
    let comparison = try stretchedComparison(1.015)
    let tempo = try #require(comparison.differences.first { $0.kind == .tempo })
    #expect(abs((tempo.maximumShiftSeconds ?? 0) - 0.03) < 1e-9)
    #expect(tempo.isNoticeable)
    let tolerance = Tolerance(decibels: 0.5, seconds: 0.005, percent: 2)
    #expect(!comparison.isEqual(within: tolerance))
    #expect(
      comparison.excesses(over: tolerance).map(\.text) == [
        "tempo +30 ms > 5 ms: ninth transient at 2 s"
      ])
    #expect(comparison.isEqual(within: Tolerance(seconds: 0.031, percent: 2)))
    #expect(
      comparison.excesses(over: Tolerance(seconds: 1, percent: 1)).map(\.text) == [
        "tempo +1.5 % > 1 %: ninth transient at 2 s"
      ])
  }

  @Test func differenceBelowAllThresholdsIsImperceptible() throws {
    let tempo = try #require(
      try stretchedComparison(1.001_5).differences.first { $0.kind == .tempo })
    #expect(abs((tempo.maximumShiftSeconds ?? 0) - 0.003) < 1e-9)
    #expect(!tempo.isNoticeable)
  }

  @Test func excessHasValueLimitAndLocation() throws {
    // 1.0013 dB: the phone's amplitude is the square of intensity.
    let louder = fiveTapPattern.with { $0.events[2].parameters[.hapticIntensity] = 0.8 * 1.059_333 }
    let comparison = Comparison(try take(fiveTapPattern), try take(louder))
    let excesses = comparison.excesses(over: Tolerance(decibels: 1))
    #expect(excesses.map(\.text) == ["level +1.001 dB > 1 dB: third transient at 0.5 s"])
    #expect(excesses.first?.limit == 1 && excesses.first?.timeRange.lowerBound == 0.5)
    let missing = Comparison(
      try take(fiveTapPattern), try take(fiveTapPattern.with { $0.events.remove(at: 3) }))
    #expect(
      missing.excesses(over: Tolerance(decibels: 100, seconds: 100, percent: 100)).map(\.text) == [
        "missing: fourth transient at 0.75 s"
      ])
  }

  /// An overall difference of 0.4 dB and a difference of one sound by 0.4 dB are 0.8 dB.
  @Test func overallAndSingleDifferencesAreAdded() throws {
    let take = try take(fiveTapPattern)
    let louder = take.recorded { samples in
      for index in samples.indices {
        samples[index] *= (22_000..<30_000).contains(index) ? 1.096_5 : 1.047_1
      }
    }
    let comparison = Comparison(take, louder)
    #expect(comparison.isEqual(within: Tolerance(decibels: 0.85)))
    #expect(!comparison.isEqual(within: Tolerance(decibels: 0.6)))
  }
}

struct ThresholdAgreementTests {
  /// Weighted levels and equal sensation use the same curve.
  @Test func weightingIsTheInverseOfTheSensationThreshold() throws {
    let thresholds = TransducerProfile.defaultPerceptionThresholds
    #expect(thresholds.count == 41)
    let decibelsAt100Hertz = try #require(thresholds.first { $0.hertz == 100 })
      .accelerationDecibelsRelativeToG
    for threshold in thresholds where (20...400).contains(threshold.hertz) {
      let decibels = Decibels.of(
        amplitude: VibrotactileWeighting.hand.gain(atHertz: threshold.hertz))
      #expect(
        abs(decibels - (decibelsAt100Hertz - threshold.accelerationDecibelsRelativeToG)) < 1e-6,
        "\(threshold.hertz) Hz"
      )
    }
  }
}

struct TakeTests {
  @Test func onlyAPatternHasEvents() {
    let silence = Signal(channels: [[0]], rate: 48_000)
    let pattern = HapticComposition(HapticPattern())
    let patternTake = Take(name: "a", source: .pattern(pattern), signal: silence, profile: .phone)
    #expect(patternTake.composition == pattern)
    #expect(Take(name: "b", source: .sound, signal: silence, profile: .phone).composition == nil)
  }
}
