import ComparisonFixtures
import HapticModel
import PatternComparison
import RecordingAnalysis
import ShippedFiles
import SignalAnalysis
import Testing

/// Recordings at another tempo and pitch.
///
/// `TEMBLOR_TEST_TAKES=100` runs 100 random cases with all shipped patterns of at least three
/// events.
struct RecordingTempoTests {
  /// Returns the false and the missing statements about a recording.
  private func statementErrors(
    _ recordingCase: RecordingCase, of pattern: Take,
    using generator: inout LinearCongruentialGenerator
  )
    -> [String]
  {
    let recording = sound([recordingCase.samples(of: pattern.signal.mono, using: &generator)])
    let comparison = Comparison(pattern, recording)
    let duration = pattern.signal.durationSeconds
    var errors =
      recordingCase.falseStatements(comparison, duration: duration) + comparison.eventSentences
    let isTempoReported = comparison.differences.contains { $0.kind == .tempo }
    if abs(recordingCase.drift) * duration > 0.002, !isTempoReported {
      errors.append("the tempo is not reported")
    }
    return errors
  }

  /// The recordings are those of `sox speed 0.97` and `1.03` with silence on both ends.
  @Test(arguments: [
    "earthquake-splash", "celebration", "heartbeat", "level-up", "success", "warning",
  ])
  func tempoThreePercentOffIsReported(name: String) throws {
    let pattern = try take(try shipped(name))
    var generator = LinearCongruentialGenerator(seed: 1)
    for speed in [0.97, 1.03] {
      var recordingCase = RecordingCase(delay: 0.7, noise: -160)
      recordingCase.drift = 1 / speed - 1
      recordingCase.tailSeconds = 0.7
      #expect(statementErrors(recordingCase, of: pattern, using: &generator) == [], "\(speed)")
    }
  }

  @Test func randomTempoIsReported() throws {
    var generator = LinearCongruentialGenerator(seed: RecordingCase.seed)
    let caseCount = RecordingCase.count ?? 2
    let names = try ShippedPatterns.names.filter {
      let pattern = try shipped($0)
      return pattern.events.count > 2 && (RecordingCase.count != nil || pattern.durationSeconds < 1)
    }
    var failures: [String] = []
    for caseIndex in 0..<caseCount {
      let name = names.randomElement(using: &generator) ?? "heartbeat"
      let pattern = try take(try shipped(name))
      var recordingCase = RecordingCase(
        delay: Double.random(in: 0...(RecordingCase.count == nil ? 1 : 10), using: &generator),
        noise: -40)
      recordingCase.drift =
        Double.random(in: 0.005...0.03, using: &generator)
        * (Bool.random(using: &generator) ? 1 : -1)
      let errors = statementErrors(recordingCase, of: pattern, using: &generator)
      if !errors.isEmpty {
        failures.append("\(caseIndex) \(name) \(recordingCase): \(errors)")
      }
    }
    if RecordingCase.count != nil {
      print("tempo: \(caseCount - failures.count) of \(caseCount) correct")
    }
    #expect(failures.count * 20 <= caseCount, "\(failures.joined(separator: "\n"))")
  }
}
