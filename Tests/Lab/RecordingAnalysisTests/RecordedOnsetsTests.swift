import ComparisonFixtures
import Glibc
import HapticModel
import PatternComparison
import Testing

@testable import RecordingAnalysis

struct RecordedOnsetsTests {
  private static let tapSeconds = [0, 0.31, 0.52, 0.95, 1.4, 1.73]
  private static let rhythm = HapticPattern(
    events: tapSeconds.map { time in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
    })

  /// Returns a take with a burst of noise, 40 ms long, at each time after 0.4 s.
  private static func noiseBursts(at times: [Double]) -> Take {
    var generator = LinearCongruentialGenerator(seed: 7)
    var samples = (0..<144_000).map { _ in
      0.000_3 * (Float(generator.next() >> 40) / 8_388_608 - 1)
    }
    for time in times {
      let firstSampleIndex = Int((0.4 + time) * 48_000)
      var value: Float = 0
      for index in 0..<1_920 {
        // Steps of 1.5 ms have most of their energy below 300 Hz.
        if index % 72 == 0 {
          value = Float(generator.next() >> 40) / 8_388_608 - 1
        }
        samples[firstSampleIndex + index] += 0.5 * Float(exp(-Double(index) / 480)) * value
      }
    }
    return sound([samples])
  }

  private static func pair(_ take: Take) throws -> RecordingPair {
    let pattern = try ComparisonFixtures.take(rhythm)
    return try #require(
      RecordingPair(
        ReferenceSource(
          composition: pattern.composition, signal: pattern.signal, profile: pattern.profile),
        recording: take.signal))
  }

  @Test("Onsets are counted at their expected times, at a known or unknown delay")
  func onsetsAreMatched() throws {
    var times = Self.tapSeconds
    times.remove(at: 3)
    let pair = try Self.pair(Self.noiseBursts(at: times))
    for delaySeconds in [nil, 0.38] as [Double?] {
      let onsets = RecordedOnsets(of: pair, near: delaySeconds)
      #expect(onsets.expectedCount == 6)
      #expect(onsets.unmatchedSeconds.count == 1)
      #expect(onsets.unmatchedSeconds.allSatisfy { abs($0 - 0.95) < 0.02 })
      #expect(onsets.showsPattern)
    }
  }

  @Test("Onsets of another rhythm do not show the pattern")
  func otherOnsetsAreNotMatched() throws {
    let pair = try Self.pair(Self.noiseBursts(at: [0, 0.2, 0.47, 0.66, 1.2, 1.31]))
    #expect(!RecordedOnsets(of: pair, near: nil).showsPattern)
  }

  @Test("Dense onsets match by chance, and do not show the pattern")
  func denseOnsetsAreNotEvidence() throws {
    var matchedCounts: [Int] = []
    for seed in 1...12 as ClosedRange<UInt64> {
      var generator = LinearCongruentialGenerator(seed: seed)
      let times = (0..<40).map { _ in 2.4 * Double(generator.next() >> 40) / 16_777_216 }.sorted()
      let onsets = RecordedOnsets(of: try Self.pair(Self.noiseBursts(at: times)), near: nil)
      matchedCounts.append(onsets.matchedCount)
      #expect(!onsets.showsPattern, "seed \(seed): \(onsets.matchedCount) of 6")
    }
    #expect(matchedCounts.contains { $0 >= 5 }, "\(matchedCounts)")
  }

  @Test("A recording that cannot be evaluated is described by its onsets")
  func onsetsAreReported() throws {
    let comparison = Comparison(
      try take(Self.rhythm), Self.noiseBursts(at: Self.tapSeconds))
    let sentences = comparison.sentences
    #expect(
      sentences.contains { $0.hasSuffix("; 6 of 6 onsets are within 6 ms of their times.") },
      "\(sentences)")
  }
}
