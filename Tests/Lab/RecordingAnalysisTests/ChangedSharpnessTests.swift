import ComparisonFixtures
import Glibc
import HapticModel
import PatternComparison
import RecordingAnalysis
import SignalAnalysis
import Testing

/// Clean recordings of a pattern in which the sharpness of one continuous event changed.
struct ChangedSharpnessTests {
  private static let original = HapticPattern(events: [
    tap(0, intensity: 0.62, sharpness: 0.29), hum(0.204, 0.56, intensity: 1, sharpness: 0.69),
    tap(0.964, intensity: 0.81, sharpness: 0.13),
    hum(1.197, 0.59, intensity: 0.75, sharpness: 0.19),
    tap(1.987, intensity: 0.68, sharpness: 0.22),
  ])

  @Test(
    "Silence around a clean recording does not hide a changed frequency",
    arguments: [0.19, 0.39, 0.59])
  func changedFrequencyIsFoundBetweenSilence(sharpness: Float) throws {
    let reference = try take(Self.original)
    let changedPattern = Self.original.with {
      $0.events[3].parameters[.hapticSharpness] = sharpness
    }
    let samples = try take(changedPattern).signal.mono.map { ($0 * 32_768).rounded() / 32_768 }
    let silence = [Float](repeating: 0, count: 9_600)
    for recording in [samples + silence, silence + samples + silence] {
      let comparison = Comparison(reference, sound([recording]))
      #expect(comparison.recordingMatch?.playbackAndRecordingChain == nil)
      let changes = comparison.differences.filter { !$0.isOverall && $0.kind != .length }
      guard sharpness != 0.19 else {
        #expect(changes.isEmpty)
        continue
      }
      #expect(changes.map(\.kind) == [.frequency])
      let hertz = 80 * pow(230.0 / 80, Double(sharpness))
      #expect(abs((changes.first?.candidateValue ?? 0) / hertz - 1) < 0.01)
    }
  }

  /// Digital silence around a sound has no noise, so the accuracy of the rendering limits the fit.
  @Test(arguments: [(0.625, 0.0), (0.625, 0.2), (1.5, 0), (0.1, 0.5)])
  func changedSharpnessIsExactBetweenSilences(leadSeconds: Double, tailSeconds: Double) throws {
    let pattern = HapticPattern(events: [
      tap(0), hum(0.2, 0.5, intensity: 0.7), tap(0.9, intensity: 0.6, sharpness: 0.7),
      hum(1.1, 0.4, sharpness: 0.6), tap(1.7, intensity: 1, sharpness: 0.2),
    ])
    let changed = pattern.with { $0.events[3].parameters[.hapticSharpness] = 0.8 }
    let recording = try take(changed).recorded { samples in
      samples = [Float](repeating: 0, count: Int(leadSeconds * 48_000)) + samples
      samples += [Float](repeating: 0, count: Int(tailSeconds * 48_000))
    }
    let comparison = Comparison(try take(pattern), recording)
    // The phone plays sharpness 0.6 at 80 · (230 / 80)^0.6 = 151 Hz, and 0.8 at 186 Hz.
    #expect(comparison.eventSentences.count == 1, "\(comparison.sentences)")
    let sentence = try #require(comparison.eventSentences.first)
    #expect(sentence.hasPrefix("B's second continuous event"))
    #expect(sentence.hasSuffix("is 24 % higher: 186 instead of 151 Hz."))
  }
}
