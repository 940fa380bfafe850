import Glibc
import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import SoundFile
import Testing

/// A pattern and a sound, or two sounds, with one known difference: it is named, and nothing else is.
struct SoundPairTests {
  private let taps: Take
  private let waves: Take

  init() throws {
    taps = try take(fiveTaps)
    waves = try take(swell)
  }

  /// Compares two takes whose one difference is known.
  private func one(_ take: Take, _ other: Take, options: ComparisonOptions = ComparisonOptions()) throws -> Difference {
    let comparison = Comparison(take, other, options: options)
    #expect(comparison.differences.count == 1, "\(comparison.sentences)")
    #expect(comparison.equality == .different)
    return try #require(comparison.differences.first)
  }

  @Test func aDelayOf37Frames() throws {
    let late = taps.recorded { $0.insert(contentsOf: [Float](repeating: 0, count: 37), at: 0) }
    let comparison = Comparison(taps, late)
    #expect(abs(comparison.alignment.seconds * 48_000 - 37) < 0.05)
    let found = try one(taps, late)
    #expect(found.kind == .time && found.isThroughout)
    #expect(abs(found.amount * 48_000 - 37) < 0.05)
    #expect(found.sentence == "B as a whole comes 0.77 ms later.")
  }

  @Test func aDelayOfHalfASecondTakenOut() throws {
    let late = taps.recorded { $0.insert(contentsOf: [Float](repeating: 0, count: 24_000), at: 0) }
    let found = try one(taps, late)
    #expect(found.sentence == "B as a whole comes 500 ms later.")
    let options = ComparisonOptions(alignment: .start)
    let comparison = Comparison(taps, late, options: options)
    #expect(abs(comparison.alignment.seconds - 0.5) < 1e-4)
    #expect(!comparison.differences.contains { $0.kind == .time }, "\(comparison.sentences)")
  }

  @Test func threeDecibelsLouder() throws {
    let louder = taps.recorded { for index in $0.indices { $0[index] *= 1.412_54 } }
    let comparison = Comparison(taps, louder)
    #expect(abs(comparison.otherGain - 0.707_95) < 1e-4)
    let found = try one(taps, louder)
    #expect(found.kind == .level && found.isThroughout && abs(found.amount - 3) < 1e-3)
    #expect(found.sentence == "B is 3 dB stronger throughout.")
  }

  @Test func upsideDown() throws {
    let found = try one(waves, waves.recorded { for index in $0.indices { $0[index] *= -1 } })
    #expect(found.kind == .polarity)
    #expect(found.sentence == "B's polarity is inverted.")
  }

  @Test func aTapMovedInASound() throws {
    let moved = try take(fiveTaps.with { $0.events[2].time = 0.508 })
    let found = try one(taps, moved.recorded())
    #expect(found.kind == .time && abs(found.amount - 0.008) < 2e-5)
    #expect(found.sentence == "B's third transient comes 8 ms later, at 0.508 s.")
  }

  @Test func aTapWeakerInASound() throws {
    let weaker = try take(fiveTaps.with { $0.events[2].parameters[.hapticIntensity] = 0.755_249 })
    let found = try one(taps, weaker.recorded())
    #expect(found.kind == .level && abs(found.amount + 1) < 1e-3)
    #expect(found.sentence == "B's third transient, at 0.5 s, is 1 dB weaker.")
  }

  @Test func aTapSharperInASound() throws {
    let sharper = try take(fiveTaps.with { $0.events[1].parameters[.hapticSharpness] = 0.6 })
    let found = try one(taps, sharper.recorded())
    #expect(found.kind == .frequency && abs(found.amount - 11.1) < 0.5)
    #expect(found.sentence == "B's second transient, at 0.25 s, is 11 % sharper: 152 instead of 137 Hz.")
  }

  @Test func aTapMissingInASound() throws {
    let fewer = try take(fiveTaps.with { $0.events.remove(at: 3) })
    let found = try one(taps.recorded(), fewer.recorded())
    #expect(found.kind == .missing)
    #expect(found.sentence == "B lacks A's fourth transient, at 0.75 s.")
  }

  @Test func aTapAddedInASound() throws {
    let more = try take(fiveTaps.with { $0.events.append(tap(0.6)) })
    let found = try one(taps.recorded(), more.recorded())
    #expect(found.kind == .added)
    #expect(found.sentence == "B has an extra transient at 0.6 s.")
  }

  @Test func theFirstOfTwoTapsMissing() throws {
    // The second tap would fit onto the first, but that is not what happened.
    let both = try take(try shipped("warning"))
    let fewer = try take(try shipped("warning").with { $0.events.removeFirst() })
    let found = try one(both.recorded(), fewer.recorded())
    #expect(found.kind == .missing)
    #expect(found.sentence == "B lacks A's first transient, at 0 s.")
  }

  @Test(arguments: ["success-rhythm", "perfect-score", "trigger-pattern", "double-tap"])
  func theLastTapOfAShippedPatternLater(_ name: String) throws {
    let pattern = try shipped(name)
    let last = pattern.events.count - 1
    let later = try take(pattern.with { $0.events[last].time += 0.02 })
    for other in [later, later.recorded()] {
      let found = try one(take(pattern), other)
      #expect(found.kind == .time && abs(found.amount - 0.02) < 2e-5)
      #expect(found.sentence.contains(" transient comes 20 ms later, at "))
    }
  }

  @Test func aHumLongerInASound() throws {
    let longer = try take(swell.with { $0.events[1].duration = 0.85 })
    let found = try one(waves, longer.recorded())
    #expect(found.kind == .duration && abs(found.amount - 0.05) < 0.002)
    #expect(found.sentence == "B's continuous event lasts 50 ms longer.")
  }

  @Test func aHumHigherInASound() throws {
    let higher = try take(swell.with { $0.events[1].parameters[.hapticSharpness] = 0.407 })
    let found = try one(waves, higher.recorded())
    #expect(found.kind == .frequency && abs(found.amount - 12) < 0.2)
    #expect(found.sentence == "B's continuous event is 12 % higher: 123 instead of 110 Hz.")
  }

  @Test func aStretchStronger() throws {
    let stronger = waves.recorded { samples in for index in 24_000..<38_400 { samples[index] *= 1.445_44 } }
    let found = try one(waves, stronger)
    #expect(found.kind == .level && abs(found.amount - 3.2) < 0.1)
    #expect(found.sentence == "B is 3.2 dB stronger between 0.5 and 0.8 s.")
  }

  @Test func aHumOf40HertzUnderIt() throws {
    let humming = taps.recorded { samples in
      for index in samples.indices { samples[index] += 0.01 * Float(sin(2 * .pi * 40 * Double(index) / 48_000)) }
    }
    let found = try one(taps, humming)
    #expect(found.kind == .noise && abs(found.amount + 40) < 0.5)
    #expect(abs((found.after ?? 0) - 40) < 0.5)
    #expect(found.sentence == "B has a 40 Hz hum at −40 dBFS in the background.")
  }

  @Test func noiseUnderIt() throws {
    var numbers = FixedNumbers()
    let noisy = taps.recorded { samples in
      for index in samples.indices { samples[index] += Float.random(in: -0.01...0.01, using: &numbers) }
    }
    let found = try one(taps, noisy)
    #expect(found.kind == .noise && abs(found.amount + 44.8) < 0.3)
    #expect(found.sentence == "B has noise at −45 dBFS in the background.")
  }

  @Test func cutPeaks() throws {
    let clipped = taps.recorded { samples in
      for index in samples.indices { samples[index] = min(0.25, max(-0.25, samples[index])) }
    }
    let found = try one(taps, clipped)
    #expect(found.kind == .clipping)
    #expect(found.sentence == "B is clipped at −12 dBFS in 12 places, between 0 and 1.02 s.")
  }

  @Test func anOffset() throws {
    let offset = waves.recorded { for index in $0.indices { $0[index] += 0.02 } }
    let found = try one(waves, offset)
    #expect(found.kind == .offset && abs(found.amount + 33.98) < 0.01)
    #expect(found.sentence == "B has a DC offset of 0.02 of full scale.")
  }

  @Test func moreSilenceBehindIt() throws {
    let longer = waves.recorded { $0 += [Float](repeating: 0, count: 9_600) }
    let found = try one(waves, longer)
    #expect(found.kind == .length && abs(found.amount - 0.2) < 1e-9)
    #expect(found.sentence.hasPrefix("B's recording is 200 ms longer: "))
  }

  @Test func twoChannelsInsteadOfOne() throws {
    let mono = taps.signal.mono
    let found = try one(taps, sound([mono, mono]))
    #expect(found.sentence == "B has 2 channels, A 1.")
  }

  @Test func channelsThatDifferThoughTheirMixIsTheSame() throws {
    let mono = taps.signal.mono
    let found = try one(sound([mono, mono]), sound([mono.map { $0 * 1.5 }, mono.map { $0 * 0.5 }]))
    #expect(found.sentence == "B's channels 1 and 2 differ, though the mix of all is the same.")
  }

  @Test func silenceInsteadOfSound() throws {
    let silent = taps.recorded { for index in $0.indices { $0[index] = 0 } }
    #expect(try one(taps, silent).sentence == "B is silent.")
    #expect(try one(silent, taps).sentence == "B is not silent, unlike A.")
  }

  @Test func aTransientIsNeverTakenForAContinuousEvent() throws {
    let comparison = Comparison(try take(try shipped("light")), try take(try shipped("capacitor_charge")))
    #expect(Set(comparison.differences.map(\.kind)) == [.missing, .added])
    #expect(comparison.sentences.contains("B lacks A's transient, at 0 s."))
  }

  @Test func allIsHigher() throws {
    let higher = try take(
      fiveTaps.with { pattern in
        for index in pattern.events.indices { pattern.events[index].parameters[.hapticSharpness]? += 0.1 }
      })
    let found = try one(taps.recorded(), higher.recorded())
    #expect(found.kind == .frequency && found.isThroughout && abs(found.amount - 11.1) < 0.5)
    #expect(found.sentence == "B is 11 % higher throughout.")
  }
}

/// A linear congruential generator, with Knuth's constants of MMIX.
struct FixedNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64 = 1) { state = seed }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
