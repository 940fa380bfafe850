import ComparisonFixtures
import Glibc
import HapticModel
import PatternComparison
import SignalAnalysis
import Testing

@testable import RecordingAnalysis

struct ClippedRecordingTests {
  /// Returns bursts of three frequencies that decay within 60 ms, at 4 kHz.
  private static func bursts() -> [Float] {
    var samples = [Float](repeating: 0, count: 4_000)
    for (start, hertz) in [(400, 90.0), (1_500, 170), (2_700, 130)] {
      for index in 0..<400 {
        let seconds = Double(index) / 4_000
        samples[start + index] += Float(
          0.8 * min(1, seconds / 0.005) * exp(-seconds / 0.03) * sin(2 * .pi * hertz * seconds))
      }
    }
    return samples
  }

  @Test("Clipped samples are restored to within −20 dB")
  func clippedSamplesAreRestored() throws {
    let bursts = Self.bursts()
    let limit = (bursts.map(abs).max() ?? 0) / 2
    let clipped = bursts.map { min(max($0, -limit), limit) }
    let restoration = try #require(ClippedSampleRestoration(of: clipped))
    let restored = restoration.restored(
      LowRateSignal(of: clipped, rate: 4_000, targetRate: 4_000), decimationFactor: 1)
    let restorationError = zip(restored.samples, bursts).map { $0 - $1 }
    let clippingError = zip(clipped, bursts).map { $0 - $1 }
    #expect(Vector.energy(clippingError) > 0.05 * Vector.energy(bursts))
    #expect(Vector.energy(restorationError) < 0.01 * Vector.energy(bursts))
  }

  @Test("A recording without clipped samples is not restored")
  func unclippedRecordingIsUnchanged() {
    #expect(ClippedSampleRestoration(of: Self.bursts()) == nil)
  }

  /// Taps with three sharpness values at uneven intervals.
  private static let rhythm = HapticPattern(
    events: [0, 0.31, 0.52, 0.95, 1.4].enumerated().map { index, time in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [
          .hapticIntensity: [1, 0.8][index % 2], .hapticSharpness: [0.3, 0.7, 0.5][index % 3],
        ])
    })

  /// Compares the rhythm with a recording of a pattern that is clipped 6 dB below its peak.
  ///
  /// - Parameters:
  ///   - recordedPattern: The recorded pattern.
  ///   - hasSilentLead: Pass true for digital silence before the pattern instead of noise.
  private func comparison(
    withClippedRecordingOf recordedPattern: HapticPattern, hasSilentLead: Bool = false
  ) throws -> Comparison {
    let silence = [Float](repeating: 0, count: 24_000)
    var generator = LinearCongruentialGenerator(seed: 7)
    let sound = silence + (try take(recordedPattern)).signal.mono + silence
    let peak = sound.map(abs).max() ?? 0
    let clipped = sound.enumerated().map { index, sample -> Float in
      var noise = 0.003 * peak * (Float(generator.next() >> 40) / 8_388_608 - 1)
      if hasSilentLead, index < silence.count {
        noise = 0
      }
      return min(max(sample + noise, -peak / 2), peak / 2)
    }
    return Comparison(try take(Self.rhythm), ComparisonFixtures.sound([clipped]))
  }

  @Test("Clipping is not reported as a difference, and does not hide a moved event")
  func clippedRecordingIsCompared() throws {
    let unchanged = try comparison(withClippedRecordingOf: Self.rhythm)
    #expect(unchanged.differences.allSatisfy { $0.isOverall }, "\(unchanged.sentences)")
    #expect(!unchanged.sentences.contains { $0.contains("cannot be evaluated") })
    var moved = Self.rhythm
    moved.events[3].time += 0.02
    let changed = try comparison(withClippedRecordingOf: moved)
    #expect(
      changed.differences.filter { !$0.isOverall }.map(\.kind) == [.time], "\(changed.sentences)")
  }

  @Test("Digital silence before a clipped recording does not hide a changed sharpness")
  func clippedRecordingWithSilentLeadIsCompared() throws {
    let unchanged = try comparison(withClippedRecordingOf: Self.rhythm, hasSilentLead: true)
    #expect(unchanged.differences.allSatisfy { $0.isOverall }, "\(unchanged.sentences)")
    var changed = Self.rhythm
    changed.events[1].parameters[.hapticSharpness] = 1
    let comparison = try comparison(withClippedRecordingOf: changed, hasSilentLead: true)
    let eventDifferences = comparison.differences.filter { !$0.isOverall }
    #expect(eventDifferences.map(\.kind) == [.frequency], "\(comparison.sentences)")
  }
}
