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
    var generator = LinearCongruentialGenerator(seed: Self.seed)
    let caseCount = Self.count ?? 3
    var failures: [String] = []
    var takes: [String: Take] = [:]
    for caseIndex in 0..<caseCount {
      let name = Self.names.randomElement(using: &generator) ?? "heartbeat"
      let pattern = try takes[name] ?? take(try shipped(name))
      takes[name] = pattern
      var recordingCase = RecordingCase(using: &generator)
      if Self.count == nil {
        recordingCase.delay /= 10
      }
      let recording = sound([recordingCase.samples(of: pattern.signal.mono, using: &generator)])
      let comparison = Comparison(pattern, recording)
      let statements =
        recordingCase.falseStatements(comparison, duration: pattern.signal.durationSeconds)
        + comparison.eventSentences
      if !statements.isEmpty {
        failures.append("\(caseIndex) \(name) \(recordingCase): \(statements)")
      }
    }
    if Self.count != nil {
      print("unchanged: \(caseCount - failures.count) of \(caseCount) correct")
    }
    #expect(failures.count * 100 <= caseCount, "\(failures.joined(separator: "\n"))")
  }

  /// Returns whether a change is audible. A curve may silence the changed event.
  private func isAudible(_ samples: [Float], _ reference: [Float]) -> Bool {
    var maximumDifference = Float(0)
    var referencePeak = Float(0)
    for index in 0..<max(samples.count, reference.count) {
      let sample = index < samples.count ? samples[index] : 0
      let referenceSample = index < reference.count ? reference[index] : 0
      maximumDifference = max(maximumDifference, abs(sample - referenceSample))
      referencePeak = max(referencePeak, abs(referenceSample))
    }
    return maximumDifference > 0.1 * referencePeak
  }

  @Test func oneChangeIsReportedWithoutFalseDifferences() throws {
    var generator = LinearCongruentialGenerator(seed: Self.seed)
    let caseCount = Self.count ?? 3
    var failures: [String] = []
    var takes: [String: Take] = [:]
    var checkedCount = 0
    var reportedCount = 0
    var falseCount = 0
    var countsByChange: [EventChange: (caseCount: Int, reportedCount: Int, falseCount: Int)] = [:]
    while checkedCount < caseCount {
      let name = Self.names.randomElement(using: &generator) ?? "heartbeat"
      let pattern = try shipped(name)
      let change = EventChange.allCases.randomElement(using: &generator) ?? .missing
      guard let (changed, time) = change.applied(to: pattern, using: &generator),
        changed.events.allSatisfy({ $0.time >= 0 })
      else { continue }
      let reference = try takes[name] ?? take(pattern)
      takes[name] = reference
      let samples = try take(changed).signal.mono
      guard isAudible(samples, reference.signal.mono) else { continue }
      checkedCount += 1
      var recordingCase = RecordingCase(using: &generator, noise: -70 ... -40)
      if Self.count == nil {
        recordingCase.delay /= 10
      }
      let recording = sound([recordingCase.samples(of: samples, using: &generator)])
      let comparison = Comparison(reference, recording)
      let eventDifferences = comparison.differences.filter { !$0.isOverall }
      let nearbyDifferences = eventDifferences.filter {
        abs($0.timeRange.lowerBound - time) < 0.075
      }
      let isReported = nearbyDifferences.contains { $0.kind == change.kind }
      let falseStatements = recordingCase.falseStatements(
        comparison, duration: reference.signal.durationSeconds)
      let hasFalseStatement =
        eventDifferences.count > nearbyDifferences.count || !falseStatements.isEmpty
      if isReported {
        reportedCount += 1
      }
      if hasFalseStatement {
        falseCount += 1
      }
      let counts = countsByChange[change] ?? (0, 0, 0)
      countsByChange[change] = (
        caseCount: counts.caseCount + 1,
        reportedCount: counts.reportedCount + (isReported ? 1 : 0),
        falseCount: counts.falseCount + (hasFalseStatement ? 1 : 0)
      )
      if !isReported || hasFalseStatement {
        failures.append(
          """
          \(checkedCount) \(name) \(change) at \(time) \(recordingCase), \
          \(isReported ? "" : "not ")reported, \(hasFalseStatement ? "" : "no ")errors: \
          \(comparison.sentences)
          """
        )
      }
    }
    if Self.count != nil {
      print(
        """
        changed: \(reportedCount) of \(caseCount) reported, \(falseCount) with errors; \
        \(countsByChange)
        """
      )
    }
    #expect(
      reportedCount * 10 >= caseCount * 9 && falseCount * 50 <= caseCount,
      "\(failures.joined(separator: "\n"))")
  }

  /// Eight patterns with three durations of leading silence and three levels of noise.
  @Test func unchangedRecordingsMatchWithLeadingSilenceAndNoise() throws {
    let names = [
      "heartbeat", "light", "success", "warning", "double-tap", "level-up", "swipe-up",
      "celebration",
    ]
    var generator = LinearCongruentialGenerator(seed: 3)
    var failures: [String] = []
    for name in Self.count == nil ? [names[0]] : names {
      let pattern = try take(try shipped(name))
      for delay in Self.count == nil ? [0.37] : [0.13, 0.37, 1.1] {
        for noise in Self.count == nil ? [-40.0] : [-60.0, -40, -30] {
          let recordingCase = RecordingCase(delay: delay, noise: noise)
          let recording = sound([recordingCase.samples(of: pattern.signal.mono, using: &generator)])
          let comparison = Comparison(pattern, recording)
          let statements =
            recordingCase.falseStatements(comparison, duration: pattern.signal.durationSeconds)
            + comparison.eventSentences
          if !statements.isEmpty {
            failures.append("\(name) \(delay) \(noise): \(statements)")
          }
        }
      }
    }
    if Self.count != nil {
      print("leading silence and noise: \(72 - failures.count) of 72 correct")
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
    var generator = LinearCongruentialGenerator(seed: 1)
    let recording = sound([
      RecordingCase(delay: 5, noise: -50).samples(of: reference.signal.mono, using: &generator)
    ])
    let clock = ContinuousClock()
    let measurementDuration = clock.measure {
      _ = (TakeMeasurements(reference), TakeMeasurements(recording))
    }
    var comparison: Comparison?
    let comparisonDuration = clock.measure { comparison = Comparison(reference, recording) }
    print("thirty seconds: \(comparisonDuration), \(measurementDuration) of it for measurements")
    #expect(comparison?.recordingMatch?.detectableEventCount == 96)
    #expect(comparison?.differences.allSatisfy { $0.isOverall } == true)
  }
}
