internal import CoreHaptics
internal import Foundation
internal import Glibc
internal import Synchronization

/// Counts the polls in which a test makes no progress.
///
/// While the process works, a test may only be waiting for a processor that other tests use, so
/// such a poll counts less.
struct HangDetector {
  /// The weight of a poll of an idle process.
  static let idleWeight = 10
  /// The weight of a poll of a process that works.
  static let busyWeight = 1

  /// The number of polls of an idle process without progress after which a test hangs.
  let maximumIdlePollCount: Int
  private var lastProgress: VirtualBackend.Progress?
  private var idleWeightSum = 0

  init(maximumIdlePollCount: Int) { self.maximumIdlePollCount = maximumIdlePollCount }

  /// Returns whether a test hangs.
  ///
  /// - Parameters:
  ///   - progress: The progress of the test at a poll; nil if it is unknown.
  ///   - weight: The weight of the poll.
  mutating func detectsHang(
    progress: VirtualBackend.Progress?, weight: Int = HangDetector.idleWeight
  ) -> Bool {
    if let progress, progress != lastProgress {
      lastProgress = progress
      idleWeightSum = 0
      return false
    }
    idleWeightSum += weight
    return idleWeightSum >= maximumIdlePollCount * Self.idleWeight
  }
}

/// Determines from the processor time of the process whether it worked since the last poll.
struct ProcessActivity {
  /// The fraction of a processor from which a process works. A process that only waits uses less
  /// than a thousandth.
  static let busyFraction = 0.02

  private var lastNanoseconds: UInt64

  init(nanoseconds: UInt64) { lastNanoseconds = nanoseconds }

  /// Returns the weight of a poll.
  ///
  /// - Parameters:
  ///   - nanoseconds: The processor time that the process has used.
  ///   - interval: The time since the last poll.
  mutating func weight(nanoseconds: UInt64, interval: Duration) -> Int {
    let used = Double(nanoseconds &- lastNanoseconds) / 1e9
    lastNanoseconds = nanoseconds
    let isBusy = used >= Self.busyFraction * (interval / .seconds(1))
    return isBusy ? HangDetector.busyWeight : HangDetector.idleWeight
  }
}

/// Reports tests that hang, and ends the process if a test cannot be ended.
///
/// A thread of its own polls the tests, because a test that hangs may block any queue. Polls are
/// counted instead of time, so that a suspended process does not count as a hang. While the process
/// works, for example on other tests, the limit is ten times as long.
final class TestWatchdog: Sendable {
  static let shared = TestWatchdog()

  /// The time without progress after which a test hangs.
  static let timeLimit = Duration.seconds(60)
  /// The time that a canceled test has to end.
  private static let gracePeriod = Duration.seconds(10)
  private static let pollInterval = Duration.milliseconds(250)

  private struct Watch {
    let name: String
    let backend: VirtualBackend
    let limit: Duration
    let framework: TestProblem.Framework
    var detector: HangDetector
    /// The weight of the polls until the process is ended, after the hang was reported.
    var remainingWeight: Int?
    let handler: @Sendable (String) -> Void
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    var lastNumber = 0
    var isRunning = false
  }

  private let state = Mutex(State())

  /// Watches a test.
  ///
  /// - Parameters:
  ///   - name: The name of the test.
  ///   - backend: The device of the test.
  ///   - limit: The time without progress after which the test hangs.
  ///   - framework: The framework of the test.
  ///   - handler: Called once, with a report, if the test hangs: [watchdog thread].
  /// - Returns: A number for `end(_:)`.
  func watch(
    _ name: String, on backend: VirtualBackend, limit: Duration,
    in framework: TestProblem.Framework,
    handler: @escaping @Sendable (String) -> Void
  ) -> Int {
    let pollCount = max(1, Int(limit / Self.pollInterval))
    let (number, isFirst) = state.withLock { state in
      state.lastNumber += 1
      state.watches[state.lastNumber] = Watch(
        name: name, backend: backend, limit: limit, framework: framework,
        detector: HangDetector(maximumIdlePollCount: pollCount), handler: handler)
      let isFirst = !state.isRunning
      state.isRunning = true
      return (state.lastNumber, isFirst)
    }
    if isFirst {
      Thread.detachNewThread { self.run() }
    }
    return number
  }

  /// Ends the watch of a test.
  func end(_ number: Int) {
    state.withLock { $0.watches[number] = nil }
  }

  private func run() {
    var activity = ProcessActivity(nanoseconds: Self.processorNanoseconds())
    while true {
      Thread.sleep(forTimeInterval: Self.pollInterval / .seconds(1))
      let weight = activity.weight(
        nanoseconds: Self.processorNanoseconds(), interval: Self.pollInterval)
      let reports = state.withLock { Self.poll(&$0.watches, weight: weight) }
      for (handler, report) in reports {
        handler(report)
      }
    }
  }

  /// Returns the processor time that all threads of the process have used.
  private static func processorNanoseconds() -> UInt64 {
    var usage = rusage()
    _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let seconds = UInt64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    let microseconds = UInt64(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    return seconds * 1_000_000_000 + microseconds * 1_000
  }

  /// Polls all tests, and returns the reports of those that hang.
  private static func poll(_ watches: inout [Int: Watch], weight: Int)
    -> [(handler: @Sendable (String) -> Void, report: String)]
  {
    var reports: [(handler: @Sendable (String) -> Void, report: String)] = []
    for (number, watch) in watches {
      var watch = watch
      if let remaining = watch.remainingWeight {
        if remaining <= 0 {
          endProcess(watch)
        }
        watch.remainingWeight = remaining - weight
      } else if watch.detector.detectsHang(progress: watch.backend.progress, weight: weight) {
        watch.remainingWeight = Int(gracePeriod / pollInterval) * HangDetector.idleWeight
        reports.append((watch.handler, report(of: watch)))
      }
      watches[number] = watch
    }
    return reports
  }

  /// Ends the process, because the other tests would wait forever.
  private static func endProcess(_ watch: Watch) {
    let text = "error: \(report(of: watch)) It does not end, so the test process ends.\n"
    FileHandle.standardError.write(Data(text.utf8))
    _exit(1)
  }

  private static func report(of watch: Watch) -> String {
    report(
      test: watch.name, limit: watch.limit, backend: watch.backend, framework: watch.framework)
  }

  /// Returns a sentence with the name of a test that hangs and the call that waits.
  static func report(
    test: String, limit: Duration, backend: VirtualBackend, framework: TestProblem.Framework
  ) -> String {
    let seconds = Int(limit / .seconds(1))
    let calls = backend.waitingCalls.names
    let cause: String
    if !calls.isEmpty {
      cause = "\(calls.joined(separator: " and ")) did not return"
    } else if let waits = backend.pendingWaits {
      let subject = waits.count == 1 ? "1 wait is pending" : "\(waits.count) waits are pending"
      cause =
        "it awaits something while \(subject) (Task.sleep, asyncAfter or Timer), due at "
        + "\(waits.firstDue) s of the device's time; call await advance(by:)"
    } else {
      cause = "it awaits something that does not happen"
    }
    return """
      The test \(test) made no progress for \(seconds) s: \(cause). A test that works for longer \
      \(framework.hangLimitRemedy).
      """
  }
}
