import CoreHaptics
import Dispatch
import Foundation
import Testing
import UIKit

@testable import CoreHapticsTesting
@testable import HapticTesting

/// Observers and handlers of an application that need the main queue, in tests of the main actor.
@MainActor @Suite(.virtualHaptics(.alone)) struct MainQueueTests {
  let device = hapticDevice

  /// Observes a notification until it is released.
  private final class Observer: @unchecked Sendable {
    private(set) var isCalledOnMainThread: [Bool] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name) {
      token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) {
        [unowned self] _ in isCalledOnMainThread.append(Thread.isMainThread)
      }
    }

    deinit {
      if let token {
        NotificationCenter.default.removeObserver(token)
      }
    }
  }

  @Test("background() and foreground() call observers on the main queue and return")
  func lifecycleCallsReturn() {
    let observers = [
      UIApplication.willResignActiveNotification, UIApplication.didEnterBackgroundNotification,
      UIApplication.willEnterForegroundNotification, UIApplication.didBecomeActiveNotification,
    ].map(Observer.init)
    device.background()
    #expect(UIApplication.shared.applicationState == .background)
    device.foreground()
    #expect(observers.map(\.isCalledOnMainThread) == [[true], [true], [true], [true]])
  }

  @Test("A notification that the application posts itself reaches an observer on the main queue")
  func notificationsOfTheApplicationArrive() {
    let name = Notification.Name("HangTests")
    let observer = Observer(name)
    NotificationCenter.default.post(name: name, object: nil)
    #expect(observer.isCalledOnMainThread == [true])
  }

  @Test("A handler may wait for an observer on the main queue during background()")
  func handlersMayPostNotifications() throws {
    let name = Notification.Name("HangTests.stopped")
    let observer = Observer(name)
    let engine = try CHHapticEngine()
    engine.stoppedHandler = { @Sendable _ in
      NotificationCenter.default.post(name: name, object: nil)
    }
    try engine.start()
    device.background()
    #expect(observer.isCalledOnMainThread == [true])
    device.foreground()
  }

  @Test("A handler may wait for a block on the main queue")
  func handlersMayWaitForTheMainQueue() async throws {
    let engine = try CHHapticEngine()
    let calls = Calls()
    engine.resetHandler = { @Sendable in
      DispatchQueue.main.sync { calls.append(Thread.isMainThread) }
    }
    try await engine.start()
    device.reset()
    #expect(calls.all == [true])
    device.interrupt()
    await device.advance(by: .seconds(1))
    #expect(calls.all == [true])
  }

  private final class Calls: @unchecked Sendable {
    private(set) var all: [Bool] = []
    func append(_ isMainThread: Bool) { all.append(isMainThread) }
  }

  @Test("The main actor is the main thread of Foundation")
  func mainActorRunsOnTheMainThread() async {
    #expect(Thread.isMainThread)
    #expect(OperationQueue.current === OperationQueue.main)
    let isMain = await Task.detached { Thread.isMainThread }.value
    #expect(!isMain)
  }
}

/// The report of a test that makes no progress.
@Suite struct HangTests {
  @Test("A test hangs after polls without progress")
  func pollsWithoutProgressAreAHang() {
    let backend = VirtualBackend()
    var detector = HangDetector(maximumIdlePollCount: 3)
    var results: [Bool] = []
    for _ in 0..<10 {
      backend.appendLogEntry(.engineMade)
      results.append(detector.detectsHang(progress: backend.currentTestProgress))
    }
    #expect(!results.contains(true))
    let idleResults = [backend.currentTestProgress, nil, backend.currentTestProgress].map {
      progress in
      detector.detectsHang(progress: progress)
    }
    #expect(idleResults == [false, false, true])
  }

  @Test("A test may wait ten times as long while the process works on other tests")
  func pollsOfABusyProcessCountLess() {
    let backend = VirtualBackend()
    var detector = HangDetector(maximumIdlePollCount: 3)
    _ = detector.detectsHang(progress: backend.currentTestProgress)
    let results = (0..<30).map { _ in
      detector.detectsHang(
        progress: backend.currentTestProgress, weight: HangDetector.busyPollWeight)
    }
    #expect(results.firstIndex(of: true) == 29)
  }

  @Test("A process works if it uses a fiftieth of a processor")
  func activityIsProcessorTime() {
    var activity = ProcessActivity(nanoseconds: 7_000_000)
    let weights = [7_000_000, 11_900_000, 16_900_000, 266_900_000].map { nanoseconds in
      activity.pollWeight(processorNanoseconds: nanoseconds, interval: .milliseconds(250))
    }
    let idleWeight = HangDetector.idlePollWeight
    let busyWeight = HangDetector.busyPollWeight
    #expect(weights == [idleWeight, idleWeight, busyWeight, busyWeight])
  }

  @Test("The report names the test and the call that waits")
  func reportsNameTheCall() async {
    let backend = VirtualBackend()
    func report() -> String {
      TestWatchdog.hangReport(
        test: "taps()", limit: .seconds(60), backend: backend, framework: .swiftTesting(.parallel))
    }
    let remedy = "A test that works for longer needs .timeLimit(.minutes(…))."
    #expect(
      report()
        == "The test taps() made no progress for 60 s: it awaits something that does not happen. "
        + remedy)
    backend.scheduleWait(.seconds(1.5)) {
    } cancel: { _ in
    }
    #expect(
      report()
        == "The test taps() made no progress for 60 s: it awaits something while 1 wait is pending "
        + "(Task.sleep, asyncAfter or Timer), due at 1.5 s of the device's time; call await "
        + "advance(by:). " + remedy)
    backend.waitingCalls.recordingCall("background()") {
      #expect(
        report()
          == "The test taps() made no progress for 60 s: background() did not return. " + remedy)
    }
  }

  @Test("The report of an XCTest test names a remedy of XCTest")
  func reportsOfXCTestNameItsRemedy() {
    let report = TestWatchdog.hangReport(
      test: "-[Taps testTap]", limit: .seconds(60), backend: VirtualBackend(), framework: .xcTest)
    #expect(
      report
        == "The test -[Taps testTap] made no progress for 60 s: it awaits something that does not "
        + "happen. A test that works for longer overrides hangTimeLimit.")
  }

  /// Runs a body as the trait does, with a limit of half a second.
  private static func run(_ body: @Sendable () async throws -> Void) async throws {
    let test = try #require(Test.current)
    var trait = VirtualHapticsTrait(
      concurrencyPolicy: .parallel, checkedRules: [], timeScope: .virtual)
    trait.hangLimit = .seconds(0.5)
    try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
  }

  @Test("A test that awaits a wait of the device is canceled and fails")
  func aTestThatSleepsIsCanceled() async throws {
    try await withKnownIssue {
      try await Self.run { try await Task.sleep(for: .seconds(1)) }
    } matching: { issue in
      issue.error is CancellationError || "\(issue)".contains("aTestThatSleepsIsCanceled()")
    }
  }

  private static func block(on backend: VirtualBackend) {
    EngineBackends.$scopedDevice.withValue(backend) { DispatchSemaphore(value: 0).wait() }
  }

  @Test("A test that blocks its thread forever ends the process with a report")
  func aTestThatBlocksEndsTheProcess() async throws {
    let result = await #expect(
      processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
    ) {
      let device = VirtualHapticDevice()
      device.backend.controlsWaits = VirtualTime.areReplacementsInstalled
      _ = TestWatchdog.shared.watchTest(
        "blocks()", on: device.backend, limit: .seconds(0.5), in: .swiftTesting(.parallel)
      ) { _ in
      }
      Self.block(on: device.backend)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("The test blocks() made no progress for 0 s: DispatchSemaphore.wait"))
  }
}
