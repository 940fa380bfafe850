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
  /// Returns false statements about a recording, and missing ones.
  private func wrongStatements(
    _ made: RecordingCase, of pattern: Take, numbers: inout LinearCongruentialGenerator
  )
    -> [String]
  {
    let recording = sound([made.samples(of: pattern.signal.mono, numbers: &numbers)])
    let comparison = Comparison(pattern, recording)
    let duration = pattern.signal.durationSeconds
    var wrong = made.falseStatements(comparison, duration: duration) + comparison.eventSentences
    let isSaid = comparison.differences.contains { $0.kind == .tempo }
    if abs(made.drift) * duration > 0.002, !isSaid {
      wrong.append("nothing of another tempo")
    }
    return wrong
  }

  /// The recordings are those of `sox speed 0.97` and `1.03` with silence on both ends.
  @Test(arguments: [
    "earthquake-splash", "celebration", "heartbeat", "level-up", "success", "warning",
  ])
  func tempoThreePercentOffIsReported(name: String) throws {
    let pattern = try take(try shipped(name))
    var numbers = LinearCongruentialGenerator(seed: 1)
    for speed in [0.97, 1.03] {
      var made = RecordingCase(delay: 0.7, noise: -160)
      made.drift = 1 / speed - 1
      made.tailSeconds = 0.7
      #expect(wrongStatements(made, of: pattern, numbers: &numbers) == [], "\(speed)")
    }
  }

  @Test func randomTempoIsReported() throws {
    var numbers = LinearCongruentialGenerator(seed: RecordingCase.seed)
    let total = RecordingCase.count ?? 2
    let names = try ShippedPatterns.names.filter {
      let pattern = try shipped($0)
      return pattern.events.count > 2 && (RecordingCase.count != nil || pattern.durationSeconds < 1)
    }
    var failures: [String] = []
    for number in 0..<total {
      let name = names.randomElement(using: &numbers) ?? "heartbeat"
      let pattern = try take(try shipped(name))
      var made = RecordingCase(
        delay: Double.random(in: 0...(RecordingCase.count == nil ? 1 : 10), using: &numbers),
        noise: -40)
      made.drift =
        Double.random(in: 0.005...0.03, using: &numbers) * (Bool.random(using: &numbers) ? 1 : -1)
      let wrong = wrongStatements(made, of: pattern, numbers: &numbers)
      if !wrong.isEmpty {
        failures.append("\(number) \(name) \(made): \(wrong)")
      }
    }
    if RecordingCase.count != nil {
      print("tempo: \(total - failures.count) of \(total) right")
    }
    #expect(failures.count * 20 <= total, "\(failures.joined(separator: "\n"))")
  }
}
