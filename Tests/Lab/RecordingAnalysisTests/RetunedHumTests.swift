import ComparisonFixtures
import Glibc
import HapticModel
import PatternComparison
import RecordingAnalysis
import SignalAnalysis
import Testing

/// Clean recordings of a pattern in which the sharpness of one continuous event changed.
struct RetunedHumTests {
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
}
