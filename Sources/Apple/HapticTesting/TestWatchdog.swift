internal import CoreHaptics
internal import Foundation
internal import Glibc
internal import Synchronization

/// Counts the polls in which a test makes no progress.
struct HangDetector {
  /// The number of polls without progress after which a test hangs.
  let maximumIdlePollCount: Int
  private var lastProgress: VirtualBackend.Progress?
  private var idlePollCount = 0

  init(maximumIdlePollCount: Int) { self.maximumIdlePollCount = maximumIdlePollCount }

  /// Returns whether a test hangs, from its progress at a poll; nil if the progress is unknown.
  mutating func detectsHang(progress: VirtualBackend.Progress?) -> Bool {
    if let progress, progress != lastProgress {
      lastProgress = progress
      idlePollCount = 0
      return false
    }
    idlePollCount += 1
    return idlePollCount >= maximumIdlePollCount
  }
}

/// Reports tests that hang, and ends the process if a test cannot be ended.
///
/// A thread of its own polls the tests, because a test that hangs may block any queue. Polls are
/// counted instead of time, so that a suspended process does not count as a hang.
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
    var detector: HangDetector
    /// The number of polls until the process is ended, after the hang was reported.
    var remainingPollCount: Int?
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
  ///   - handler: Called once, with a report, if the test hangs: [watchdog thread].
  /// - Returns: A number for `end(_:)`.
  func watch(
    _ name: String, on backend: VirtualBackend, limit: Duration,
    handler: @escaping @Sendable (String) -> Void
  ) -> Int {
    let pollCount = max(1, Int(limit / Self.pollInterval))
    let (number, isFirst) = state.withLock { state in
      state.lastNumber += 1
      state.watches[state.lastNumber] = Watch(
        name: name, backend: backend, limit: limit,
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
    while true {
      Thread.sleep(forTimeInterval: Self.pollInterval / .seconds(1))
      let reports = state.withLock { Self.poll(&$0.watches) }
      for (handler, report) in reports {
        handler(report)
      }
    }
  }

  /// Polls all tests, and returns the reports of those that hang.
  private static func poll(_ watches: inout [Int: Watch])
    -> [(handler: @Sendable (String) -> Void, report: String)]
  {
    var reports: [(handler: @Sendable (String) -> Void, report: String)] = []
    for (number, watch) in watches {
      var watch = watch
      if let remaining = watch.remainingPollCount {
        if remaining == 0 {
          endProcess(watch)
        }
        watch.remainingPollCount = remaining - 1
      } else if watch.detector.detectsHang(progress: watch.backend.progress) {
        watch.remainingPollCount = Int(gracePeriod / pollInterval)
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
    report(test: watch.name, limit: watch.limit, backend: watch.backend)
  }

  /// Returns a sentence with the name of a test that hangs and the call that waits.
  static func report(test: String, limit: Duration, backend: VirtualBackend) -> String {
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
      needs .timeLimit(.minutes(…)).
      """
  }
}
