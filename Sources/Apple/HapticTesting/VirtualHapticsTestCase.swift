internal import CoreHaptics
public import CoreHapticsTesting
public import XCTest

/// A base class for XCTest test cases that play haptics on a virtual device.
///
/// Each test has its own device. Waits and clocks of the application follow its time, and problems
/// that the device detects fail the test, as with the trait `.virtualHaptics` of Swift Testing:
///
/// ```swift
/// final class PaceTests: VirtualHapticsTestCase {
///   @MainActor func testTicksTwiceASecond() async throws {
///     let haptics = PaceHaptics()
///     try haptics.start(every: 0.5)
///     await device.advance(by: .seconds(1.2))
///     XCTAssertEqual(device.played.transients, [0, 0.5, 1])
///   }
/// }
/// ```
///
/// A test that makes no progress for `hangTimeLimit` ends the process with a report of the test and
/// of the call that waits.
open class VirtualHapticsTestCase: XCTestCase {
  /// The virtual device of the test.
  public let device = VirtualHapticDevice()

  /// The rules of phones that a test must not violate, such as `.all`.
  ///
  /// No rule is checked by default.
  open var hapticRules: Set<HapticRule> { [] }

  /// The time without progress until a test counts as hanging; 60 seconds by default.
  open var hangTimeLimit: Duration { TestWatchdog.defaultHangLimit }

  /// Runs the test, including `setUp` and `tearDown`, on its own virtual device.
  open override func invokeTest() {
    let backend = device.backend
    device.rules = hapticRules
    backend.controlsWaits = VirtualTime.areReplacementsInstalled
    EngineBackends.beginTest(on: backend, .init(name: name, runsAlone: true))
    let testWatch = TestWatchdog.shared.watchTest(
      name, on: backend, limit: hangTimeLimit, in: .xcTest
    ) {
      _ in
    }
    EngineBackends.$scopedDevice.withValue(backend) { super.invokeTest() }
    TestWatchdog.shared.stopWatchingTest(testWatch)
    reportProblems()
    EngineBackends.endTest(on: backend)
  }

  /// Advances the device's time synchronously, for tests that are not `async`.
  ///
  /// The main queue is served meanwhile, and waits of the application end at their times. In an
  /// `async` test, use `await device.advance(by:)`.
  ///
  /// - Parameter duration: The duration.
  @available(*, noasync, message: "use await device.advance(by:)")
  public func advance(by duration: Duration) {
    let device = device
    let advanceExpectation = expectation(description: "advance(by:) returns")
    Task {
      await device.advance(by: duration)
      advanceExpectation.fulfill()
    }
    wait(for: [advanceExpectation], timeout: Self.advanceTimeoutSeconds)
  }

  /// The maximum real time that an advance may take, in seconds.
  ///
  /// The watchdog reports a hang earlier.
  private static let advanceTimeoutSeconds = 600.0

  /// Records test failures for the problems that the device has detected.
  private func reportProblems() {
    var problemMessages = TestProblem.problems(on: device, in: .xcTest).filter(\.isFailure).map(
      \.message)
    if let testRun, testRun.totalFailureCount > 0, device.now == 0,
      let waits = device.backend.pendingWaitSummary
    {
      problemMessages.append(TestProblem.pendingWaitMessage(waitCount: waits.count))
    }
    for message in problemMessages {
      recordFailure(withDescription: message, inFile: "<unknown>", atLine: 0, expected: true)
    }
  }
}
