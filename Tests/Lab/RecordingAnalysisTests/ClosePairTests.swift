import ComparisonFixtures
import HapticModel
import PatternComparison
import SignalAnalysis
import Testing

/// Recordings of two close transients, of which one is missing or moved.
///
/// `TEMBLOR_TEST_TAKES=100` runs 100 random cases.
struct ClosePairTests {
  /// Returns transients at intervals of a quarter of a second, one of which is followed by
  /// another within 15 to 40 ms, and the index of the follower.
  private func pattern(using generator: inout LinearCongruentialGenerator) -> (
    pattern: HapticPattern, followerIndex: Int
  ) {
    var events = (0..<Int.random(in: 3...6, using: &generator)).map { index in
      tap(
        0.25 * Double(index), intensity: Float.random(in: 0.5...1, using: &generator),
        sharpness: Float.random(in: 0...1, using: &generator))
    }
    let leaderIndex = Int.random(in: 0..<events.count, using: &generator)
    var follower = events[leaderIndex]
    follower.time += Double.random(in: 0.015...0.04, using: &generator)
    if Bool.random(using: &generator) {
      follower.parameters[.hapticSharpness] = Float.random(in: 0...1, using: &generator)
      follower.parameters[.hapticIntensity] = Float.random(in: 0.5...1, using: &generator)
    }
    events.insert(follower, at: leaderIndex + 1)
    return (HapticPattern(events: events), leaderIndex + 1)
  }

  @Test func changeOfOneOfTwoCloseTransientsIsReported() throws {
    var generator = LinearCongruentialGenerator(seed: RecordingCase.seed)
    let caseCount = RecordingCase.count ?? 4
    var failures: [String] = []
    var reportedCount = 0
    var falseCount = 0
    for caseIndex in 0..<caseCount {
      let (pattern, followerIndex) = pattern(using: &generator)
      let index = Bool.random(using: &generator) ? followerIndex : followerIndex - 1
      let isMissing = Bool.random(using: &generator)
      // The step away from the close transient, or toward it, in seconds.
      let step = Bool.random(using: &generator) ? 0.01 : -0.01
      let time = pattern.events[index].time
      let changed = pattern.with {
        if isMissing {
          $0.events.remove(at: index)
        } else {
          $0.events[index].time += time + step < 0 ? -step : step
        }
      }
      var recordingCase = RecordingCase(using: &generator, noise: -70 ... -40)
      if RecordingCase.count == nil {
        recordingCase.delay /= 10
      }
      let reference = try take(pattern)
      let recording = sound([
        recordingCase.samples(of: try take(changed).signal.mono, using: &generator)
      ])
      let comparison = Comparison(reference, recording)
      let eventDifferences = comparison.differences.filter { !$0.isOverall }
      let expectedDifferences = eventDifferences.filter {
        $0.kind == (isMissing ? .missing : .time) && abs($0.timeRange.lowerBound - time) < 0.001
      }
      let falseStatements = recordingCase.falseStatements(
        comparison, duration: reference.signal.durationSeconds)
      let hasFalseStatement =
        eventDifferences.count > expectedDifferences.count || !falseStatements.isEmpty
      if !expectedDifferences.isEmpty {
        reportedCount += 1
      }
      if hasFalseStatement {
        falseCount += 1
      }
      if expectedDifferences.isEmpty || hasFalseStatement {
        let times = pattern.events.map {
          """
          \($0.time) \($0.parameters[.hapticIntensity] ?? 0) \
          \($0.parameters[.hapticSharpness] ?? 0)
          """
        }
        failures.append(
          """
          \(caseIndex) \(times), \(time) \(isMissing ? "missing" : "moved by \(step)") \
          \(recordingCase): \
          \(comparison.sentences)
          """
        )
      }
    }
    if RecordingCase.count != nil {
      print("close pairs: \(reportedCount) of \(caseCount) reported, \(falseCount) with errors")
    }
    #expect(
      reportedCount * 10 >= caseCount * 9 && falseCount * 20 <= caseCount,
      "\(failures.joined(separator: "\n"))")
  }
}
