import ComparisonFixtures
import Glibc
import HapticFormats
import HapticModel
import HapticRender
import PatternComparison
import RecordingAnalysis
import ShippedFiles
import SignalAnalysis
import Testing

/// Patterns compared with random recordings.
///
/// `TEMBLOR_TEST_TAKES=1000` runs 1,000 cases each, with all shipped patterns; `TEMBLOR_TEST_SEED`
/// selects other cases.
struct RecordingTests {
  private static let count = RecordingCase.count
  private static let seed = RecordingCase.seed

  /// Short patterns of all kinds, or all patterns on request.
  private static var names: [String] {
    guard count == nil else { return ShippedPatterns.names }
    return ["heartbeat", "success", "level-up"]
  }

  @Test func unchangedRecordingHasOnlyDelayLevelAndNoise() throws {
    var numbers = LinearCongruentialGenerator(seed: Self.seed)
    let total = Self.count ?? 3
    var failures: [String] = []
    var takes: [String: Take] = [:]
    for number in 0..<total {
      let name = Self.names.randomElement(using: &numbers) ?? "heartbeat"
      let pattern = try takes[name] ?? take(try shipped(name))
      takes[name] = pattern
      var made = RecordingCase(numbers: &numbers)
      if Self.count == nil {
        made.delay /= 10
      }
      let recording = sound([made.samples(of: pattern.signal.mono, numbers: &numbers)])
      let comparison = Comparison(pattern, recording)
      let wrong =
        made.falseStatements(comparison, duration: pattern.signal.durationSeconds)
        + comparison.eventSentences
      if !wrong.isEmpty {
        failures.append("\(number) \(name) \(made): \(wrong)")
      }
    }
    if Self.count != nil {
      print("perfect: \(total - failures.count) of \(total) right")
    }
    #expect(failures.count * 100 <= total, "\(failures.joined(separator: "\n"))")
  }

  /// Returns whether a change is audible. A curve may silence the changed event.
  private func isAudible(_ samples: [Float], _ reference: [Float]) -> Bool {
    var greatest = Float(0)
    var peak = Float(0)
    for index in 0..<max(samples.count, reference.count) {
      let a = index < samples.count ? samples[index] : 0
      let b = index < reference.count ? reference[index] : 0
      greatest = max(greatest, abs(a - b))
      peak = max(peak, abs(b))
    }
    return greatest > 0.1 * peak
  }

  @Test func oneChangeIsReportedWithoutFalseDifferences() throws {
    var numbers = LinearCongruentialGenerator(seed: Self.seed)
    let total = Self.count ?? 3
    var failures: [String] = []
    var takes: [String: Take] = [:]
    var done = 0
    var named = 0
    var wrong = 0
    var table: [EventChange: (Int, Int, Int)] = [:]
    while done < total {
      let name = Self.names.randomElement(using: &numbers) ?? "heartbeat"
      let pattern = try shipped(name)
      let change = EventChange.allCases.randomElement(using: &numbers) ?? .missing
      guard let (changed, time) = change.applied(to: pattern, numbers: &numbers),
        changed.events.allSatisfy({ $0.time >= 0 })
      else { continue }
      let reference = try takes[name] ?? take(pattern)
      takes[name] = reference
      let samples = try take(changed).signal.mono
      guard isAudible(samples, reference.signal.mono) else { continue }
      done += 1
      var made = RecordingCase(numbers: &numbers, noise: -70 ... -40)
      if Self.count == nil {
        made.delay /= 10
      }
      let recording = sound([made.samples(of: samples, numbers: &numbers)])
      let comparison = Comparison(reference, recording)
      let own = comparison.differences.filter { !$0.isOverall }
      let near = own.filter { abs($0.timeRange.lowerBound - time) < 0.075 }
      let isNamed = near.contains { $0.kind == change.kind }
      let untrue = made.falseStatements(comparison, duration: reference.signal.durationSeconds)
      let isWrong = own.count > near.count || !untrue.isEmpty
      if isNamed {
        named += 1
      }
      if isWrong {
        wrong += 1
      }
      let row = table[change] ?? (0, 0, 0)
      table[change] = (row.0 + 1, row.1 + (isNamed ? 1 : 0), row.2 + (isWrong ? 1 : 0))
      if !isNamed || isWrong {
        failures.append(
          """
          \(done) \(name) \(change) at \(time) \(made), \(isNamed ? "" : "not ")named, \
          \(isWrong ? "" : "nothing ")false: \(comparison.sentences)
          """
        )
      }
    }
    if Self.count != nil {
      print("changed: \(named) of \(total) named, \(wrong) with something false; \(table)")
    }
    #expect(named * 10 >= total * 9 && wrong * 50 <= total, "\(failures.joined(separator: "\n"))")
  }

  /// Eight patterns with three durations of leading silence and three levels of noise.
  @Test func changesAreReportedWithLeadingSilenceAndNoise() throws {
    let names = [
      "heartbeat", "light", "success", "warning", "double-tap", "level-up", "swipe-up",
      "celebration",
    ]
    var numbers = LinearCongruentialGenerator(seed: 3)
    var failures: [String] = []
    for name in Self.count == nil ? [names[0]] : names {
      let pattern = try take(try shipped(name))
      for delay in Self.count == nil ? [0.37] : [0.13, 0.37, 1.1] {
        for noise in Self.count == nil ? [-40.0] : [-60.0, -40, -30] {
          let made = RecordingCase(delay: delay, noise: noise)
          let recording = sound([made.samples(of: pattern.signal.mono, numbers: &numbers)])
          let comparison = Comparison(pattern, recording)
          let wrong =
            made.falseStatements(comparison, duration: pattern.signal.durationSeconds)
            + comparison.eventSentences
          if !wrong.isEmpty {
            failures.append("\(name) \(delay) \(noise): \(wrong)")
          }
        }
      }
    }
    if Self.count != nil {
      print("lead and noise: \(72 - failures.count) of 72 right")
    }
    #expect(failures.count <= (Self.count == nil ? 0 : 2), "\(failures.joined(separator: "\n"))")
  }

  /// The run time for a recording of 30 s, compared with that of measuring its levels; on request.
  @Test(.enabled(if: count != nil)) func thirtySecondsAreComparedInTime() throws {
    let events = (0..<96).map { (index: Int) -> HapticEvent in
      let intensity: Float = index % 3 == 0 ? 1 : 0.7
      return tap(Double(index) / 4, intensity: intensity, sharpness: Float(index % 5) / 5)
    }
    let reference = try take(HapticPattern(events: events))
    var numbers = LinearCongruentialGenerator(seed: 1)
    let recording = sound([
      RecordingCase(delay: 5, noise: -50).samples(of: reference.signal.mono, numbers: &numbers)
    ])
    let clock = ContinuousClock()
    let measuring = clock.measure { _ = (TakeMeasurements(reference), TakeMeasurements(recording)) }
    var comparison: Comparison?
    let comparing = clock.measure { comparison = Comparison(reference, recording) }
    print("thirty seconds: \(comparing), \(measuring) of it for measurements")
    #expect(comparison?.recordingMatch?.detectableEventCount == 96)
    #expect(comparison?.differences.allSatisfy { $0.isOverall } == true)
  }
}
