internal import CoreHaptics
internal import Foundation
internal import Glibc
internal import Synchronization

/// A detector of a hanging test, which counts consecutive polls without progress.
///
/// While the process works, a test may only be waiting for a processor that other tests use, so
/// such a poll counts less.
struct HangDetector {
  /// The weight of a poll during which the process was idle.
  static let idlePollWeight = 10
  /// The weight of a poll during which the process was working.
  static let busyPollWeight = 1

  /// The maximum number of polls without progress in an idle process.
  ///
  /// After these polls, a test counts as hanging.
  let maximumIdlePollCount: Int
  private var lastProgress: VirtualBackend.TestProgress?
  private var pollWeightSumWithoutProgress = 0

  init(maximumIdlePollCount: Int) { self.maximumIdlePollCount = maximumIdlePollCount }

  /// Counts a poll, and returns true if the test now counts as hanging.
  ///
  /// - Parameters:
  ///   - progress: The progress of the test at a poll; nil if it is unknown.
  ///   - weight: The weight of the poll.
  mutating func detectsHang(
    progress: VirtualBackend.TestProgress?, weight: Int = HangDetector.idlePollWeight
  ) -> Bool {
    if let progress, progress != lastProgress {
      lastProgress = progress
      pollWeightSumWithoutProgress = 0
      return false
    }
    pollWeightSumWithoutProgress += weight
    return pollWeightSumWithoutProgress >= maximumIdlePollCount * Self.idlePollWeight
  }
}

/// The activity of the process: working or idle, depending on the processor time since the last
/// poll.
struct ProcessActivity {
  /// The minimum fraction of one processor's time in a working process.
  ///
  /// A process that only waits uses less than a thousandth.
  static let busyProcessorFraction = 0.02

  private var processorNanosecondsAtLastPoll: UInt64

  init(nanoseconds: UInt64) { processorNanosecondsAtLastPoll = nanoseconds }

  /// Returns the weight of a poll, which depends on the processor time used since the last poll.
  ///
  /// - Parameters:
  ///   - processorNanoseconds: The processor time that the process has used.
  ///   - interval: The time since the last poll.
  mutating func pollWeight(processorNanoseconds: UInt64, interval: Duration) -> Int {
    let usedSeconds = Double(processorNanoseconds &- processorNanosecondsAtLastPoll) / 1e9
    processorNanosecondsAtLastPoll = processorNanoseconds
    let isBusy = usedSeconds >= Self.busyProcessorFraction * (interval / .seconds(1))
    return isBusy ? HangDetector.busyPollWeight : HangDetector.idlePollWeight
  }
}

/// A watchdog that reports tests that hang, and ends the process if a test cannot be ended.
///
/// A thread of its own polls the tests, because a test that hangs may block any queue. Polls are
/// counted instead of time, so that a suspended process does not count as a hang. While the process
/// works, for example on other tests, the limit is ten times as long.
final class TestWatchdog: Sendable {
  static let shared = TestWatchdog()

  /// The default time without progress until a test counts as hanging.
  static let defaultHangLimit = Duration.seconds(60)
  /// The maximum time from the cancellation of a test to its end.
  private static let cancellationGracePeriod = Duration.seconds(10)
  private static let pollInterval = Duration.milliseconds(250)

  private struct WatchedTest {
    let testName: String
    let backend: VirtualBackend
    let hangLimit: Duration
    let testFramework: TestProblem.TestFramework
    var hangDetector: HangDetector
    /// The countdown to the end of the process after a hang, in poll weights.
    ///
    /// The value is nil if no hang was reported.
    var pollWeightUntilProcessExit: Int?
    let hangHandler: @Sendable (String) -> Void
  }

  private struct State {
    var watchedTestsByNumber: [Int: WatchedTest] = [:]
    var lastTestNumber = 0
    var isPollThreadRunning = false
  }

  private let state = Mutex(State())

  /// Begins to watch a test for hangs.
  ///
  /// - Parameters:
  ///   - name: The name of the test.
  ///   - backend: The device of the test.
  ///   - limit: The time without progress after which the test hangs.
  ///   - framework: The framework of the test.
  ///   - handler: A closure that the watchdog thread calls once, with a report, if the test hangs.
  /// - Returns: A number for `stopWatchingTest(_:)`.
  func watchTest(
    _ name: String, on backend: VirtualBackend, limit: Duration,
    in framework: TestProblem.TestFramework,
    handler: @escaping @Sendable (String) -> Void
  ) -> Int {
    let pollCount = max(1, Int(limit / Self.pollInterval))
    let (number, isFirst) = state.withLock { state in
      state.lastTestNumber += 1
      state.watchedTestsByNumber[state.lastTestNumber] = WatchedTest(
        testName: name, backend: backend, hangLimit: limit, testFramework: framework,
        hangDetector: HangDetector(maximumIdlePollCount: pollCount), hangHandler: handler)
      let isFirst = !state.isPollThreadRunning
      state.isPollThreadRunning = true
      return (state.lastTestNumber, isFirst)
    }
    if isFirst {
      Thread.detachNewThread { self.runPolls() }
    }
    return number
  }

  /// Stops watching a test.
  func stopWatchingTest(_ number: Int) {
    state.withLock { $0.watchedTestsByNumber[number] = nil }
  }

  private func runPolls() {
    var processActivity = ProcessActivity(nanoseconds: Self.processorNanoseconds())
    while true {
      Thread.sleep(forTimeInterval: Self.pollInterval / .seconds(1))
      let weight = processActivity.pollWeight(
        processorNanoseconds: Self.processorNanoseconds(), interval: Self.pollInterval)
      let reports = state.withLock { Self.pollTests(&$0.watchedTestsByNumber, weight: weight) }
      for (handler, report) in reports {
        handler(report)
      }
    }
  }

  /// Returns the processor time that all threads of the process have used.
  private static func processorNanoseconds() -> UInt64 {
    var resourceUsage = rusage()
    _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &resourceUsage)
    let wholeSeconds = UInt64(resourceUsage.ru_utime.tv_sec + resourceUsage.ru_stime.tv_sec)
    let microseconds = UInt64(resourceUsage.ru_utime.tv_usec + resourceUsage.ru_stime.tv_usec)
    return wholeSeconds * 1_000_000_000 + microseconds * 1_000
  }

  /// Polls all watched tests, and returns the reports of the tests that hang.
  private static func pollTests(_ watches: inout [Int: WatchedTest], weight: Int)
    -> [(handler: @Sendable (String) -> Void, report: String)]
  {
    var hangReports: [(handler: @Sendable (String) -> Void, report: String)] = []
    for (number, watch) in watches {
      var watch = watch
      if let remaining = watch.pollWeightUntilProcessExit {
        if remaining <= 0 {
          exitProcess(afterHangOf: watch)
        }
        watch.pollWeightUntilProcessExit = remaining - weight
      } else if watch.hangDetector.detectsHang(
        progress: watch.backend.currentTestProgress, weight: weight)
      {
        watch.pollWeightUntilProcessExit =
          Int(cancellationGracePeriod / pollInterval) * HangDetector.idlePollWeight
        hangReports.append((watch.hangHandler, hangReport(of: watch)))
      }
      watches[number] = watch
    }
    return hangReports
  }

  /// Ends the process after a hang that cannot be ended.
  ///
  /// The other tests would wait forever.
  private static func exitProcess(afterHangOf watch: WatchedTest) {
    let errorText = "error: \(hangReport(of: watch)) It does not end, so the test process ends.\n"
    FileHandle.standardError.write(Data(errorText.utf8))
    _exit(1)
  }

  private static func hangReport(of watch: WatchedTest) -> String {
    hangReport(
      test: watch.testName, limit: watch.hangLimit, backend: watch.backend,
      framework: watch.testFramework)
  }

  /// Returns a sentence about a test that hangs, with its name and the call in progress.
  static func hangReport(
    test: String, limit: Duration, backend: VirtualBackend, framework: TestProblem.TestFramework
  ) -> String {
    let limitSeconds = Int(limit / .seconds(1))
    let waitingCallNames = backend.waitingCalls.distinctCallNames
    let hangCause: String
    if !waitingCallNames.isEmpty {
      hangCause = "\(waitingCallNames.joined(separator: " and ")) did not return"
    } else if let pendingWaits = backend.pendingWaitSummary {
      let subject =
        pendingWaits.count == 1 ? "1 wait is pending" : "\(pendingWaits.count) waits are pending"
      hangCause =
        "it awaits something while \(subject) (Task.sleep, asyncAfter or Timer), due at "
        + "\(pendingWaits.firstDue) s of the device's time; call await advance(by:)"
    } else {
      hangCause = "it awaits something that does not happen"
    }
    return """
      The test \(test) made no progress for \(limitSeconds) s: \(hangCause). A test that \
      works for longer \(framework.hangLimitRemedy).
      """
  }
}
