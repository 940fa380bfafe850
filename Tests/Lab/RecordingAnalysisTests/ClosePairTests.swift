import ComparisonFixtures
import HapticModel
import PatternComparison
import SignalAnalysis
import Testing

/// Recordings of two close transients, of which one is missing or moved.
///
/// `TEMBLOR_TEST_TAKES=100` runs 100 random cases.
struct ClosePairTests {
  /// Returns transients at intervals of a quarter of a second, one of which is followed by another
  /// within 15 to 40 ms.
  private func pattern(numbers: inout LinearCongruentialGenerator) -> (
    pattern: HapticPattern, second: Int
  ) {
    var events = (0..<Int.random(in: 3...6, using: &numbers)).map { number in
      tap(
        0.25 * Double(number), intensity: Float.random(in: 0.5...1, using: &numbers),
        sharpness: Float.random(in: 0...1, using: &numbers))
    }
    let first = Int.random(in: 0..<events.count, using: &numbers)
    var follower = events[first]
    follower.time += Double.random(in: 0.015...0.04, using: &numbers)
    if Bool.random(using: &numbers) {
      follower.parameters[.hapticSharpness] = Float.random(in: 0...1, using: &numbers)
      follower.parameters[.hapticIntensity] = Float.random(in: 0.5...1, using: &numbers)
    }
    events.insert(follower, at: first + 1)
    return (HapticPattern(events: events), first + 1)
  }

  @Test func changeOfOneOfTwoCloseTransientsIsReported() throws {
    var numbers = LinearCongruentialGenerator(seed: RecordingCase.seed)
    let total = RecordingCase.count ?? 4
    var failures: [String] = []
    var named = 0
    var wrong = 0
    for number in 0..<total {
      let (pattern, second) = pattern(numbers: &numbers)
      let index = Bool.random(using: &numbers) ? second : second - 1
      let isMissing = Bool.random(using: &numbers)
      // A step away from the neighbor, or toward it.
      let step = Bool.random(using: &numbers) ? 0.01 : -0.01
      let time = pattern.events[index].time
      let changed = pattern.with {
        if isMissing {
          $0.events.remove(at: index)
        } else {
          $0.events[index].time += time + step < 0 ? -step : step
        }
      }
      var recordingCase = RecordingCase(numbers: &numbers, noise: -70 ... -40)
      if RecordingCase.count == nil {
        recordingCase.delay /= 10
      }
      let reference = try take(pattern)
      let recording = sound([
        recordingCase.samples(of: try take(changed).signal.mono, numbers: &numbers)
      ])
      let comparison = Comparison(reference, recording)
      let reported = comparison.differences.filter { !$0.isOverall }
      let correct = reported.filter {
        $0.kind == (isMissing ? .missing : .time) && abs($0.timeRange.lowerBound - time) < 0.001
      }
      let falsehoods = recordingCase.falseStatements(
        comparison, duration: reference.signal.durationSeconds)
      let isWrong = reported.count > correct.count || !falsehoods.isEmpty
      if !correct.isEmpty {
        named += 1
      }
      if isWrong {
        wrong += 1
      }
      if correct.isEmpty || isWrong {
        let times = pattern.events.map {
          """
          \($0.time) \($0.parameters[.hapticIntensity] ?? 0) \
          \($0.parameters[.hapticSharpness] ?? 0)
          """
        }
        failures.append(
          """
          \(number) \(times), \(time) \(isMissing ? "missing" : "moved by \(step)") \
          \(recordingCase): \
          \(comparison.sentences)
          """
        )
      }
    }
    if RecordingCase.count != nil {
      print("close pairs: \(named) of \(total) named, \(wrong) with something false")
    }
    #expect(named * 10 >= total * 9 && wrong * 20 <= total, "\(failures.joined(separator: "\n"))")
  }
}
