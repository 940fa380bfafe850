@_exported public import CoreHapticsTesting
internal import CoreHaptics
public import Testing

/// A trait that gives its own virtual device to each test and to each case of a parameterized test.
///
/// Engines, feedback generators, and `HapticManager.shared` use the device of the test's task; the
/// next test has new ones. Violations of the device's rules fail the test.
public struct VirtualHapticsTrait: TestTrait, SuiteTrait, TestScoping {
  /// The policy for running tests with a device at the same time.
  public enum ConcurrencyPolicy: Sendable {
    /// Tests with a device run in parallel.
    ///
    /// Engines are created in tasks and on queues of the test, and no two tests share an engine.
    case parallel
    /// No other test with a device runs at the same time.
    ///
    /// Engines may be created anywhere, and may outlive their test, such as the engine of a
    /// singleton.
    case alone
  }

  /// The scope of virtual time in a test.
  public enum TimeScope: Sendable {
    /// The device's time applies to all waits of the application, and to its clocks.
    case virtual
    /// The device's time applies only to haptics.
    ///
    /// This scope is for tests that wait for a server or a process.
    case haptics
  }

  /// A Boolean value that indicates whether the trait of a suite applies to all of its tests.
  public let isRecursive = true
  let concurrencyPolicy: ConcurrencyPolicy
  let checkedRules: Set<HapticRule>
  let timeScope: TimeScope

  /// The time without progress until a test counts as hanging; nil for the default.
  var hangLimit: Duration?

  /// Runs a test on its own virtual device.
  ///
  /// A test that makes no progress for a minute, or for the duration of its trait `.timeLimit`,
  /// fails and is canceled. If it does not end within 10 s, the process ends, so that no test hangs
  /// without a report.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  )
    async throws
  {
    guard testCase != nil else { return try await function() }
    try await DeviceGate.shared.runTest(alone: concurrencyPolicy == .alone) {
      let device = VirtualHapticDevice()
      let backend = device.backend
      device.rules = checkedRules
      backend.controlsWaits = timeScope == .virtual && VirtualTime.areReplacementsInstalled
      EngineBackends.beginTest(
        on: backend, .init(name: test.name, runsAlone: concurrencyPolicy == .alone))
      defer { EngineBackends.endTest(on: backend) }
      try await runWatched(test, on: backend) {
        try await EngineBackends.$scopedDevice.withValue(backend) { try await function() }
      }
      reportProblems(on: device, at: test.sourceLocation)
    }
  }

  /// Runs the body of a test, and cancels the test if it makes no progress.
  private func runWatched(
    _ test: Test, on backend: VirtualBackend, _ body: @Sendable () async throws -> Void
  ) async throws {
    // The stream contains the report of a hang, and ends when the test has ended.
    let (reports, continuation) = AsyncStream<String>.makeStream()
    let effectiveHangLimit = hangLimit ?? test.timeLimit ?? TestWatchdog.defaultHangLimit
    let testWatch = TestWatchdog.shared.watchTest(
      test.name, on: backend, limit: effectiveHangLimit, in: .swiftTesting(concurrencyPolicy)
    ) { report in
      continuation.yield(report)
    }
    defer { TestWatchdog.shared.stopWatchingTest(testWatch) }
    do {
      async let end: Void = Self.runBody(body, finishing: continuation)
      for await report in reports {
        Issue.record("\(report)", sourceLocation: test.sourceLocation)
        // Leaving the scope cancels the test and waits for its end.
        throw HangError()
      }
      try await end
    } catch is HangError {}
  }

  private static func runBody(
    _ body: @Sendable () async throws -> Void, finishing reports: AsyncStream<String>.Continuation
  ) async throws {
    defer { reports.finish() }
    try await body()
  }

  private struct HangError: Error {}

  /// Records test failures for the problems on a device.
  ///
  /// Problems are rule violations, and engines that cannot be attributed to a test.
  private func reportProblems(on device: VirtualHapticDevice, at location: SourceLocation) {
    for problem in TestProblem.problems(on: device, in: .swiftTesting(concurrencyPolicy)) {
      Issue.record(
        "\(problem.message)", severity: problem.isFailure ? .error : .warning,
        sourceLocation: location)
    }
  }
}

extension Trait where Self == VirtualHapticsTrait {
  /// The trait that gives each test its own device. Tests run in parallel.
  public static var virtualHaptics: Self { .virtualHaptics() }

  /// Returns the trait that gives each test its own device and checks rules of phones.
  ///
  /// A test fails if it violates one of the given rules, such as `.all`.
  public static func virtualHaptics(
    _ policy: VirtualHapticsTrait.ConcurrencyPolicy = .parallel, rules: Set<HapticRule> = [],
    time: VirtualHapticsTrait.TimeScope = .virtual
  ) -> Self { Self(concurrencyPolicy: policy, checkedRules: rules, timeScope: time) }
}

/// The virtual device of the current test, which requires the trait `.virtualHaptics`.
///
/// Without the trait, the test fails, and the returned device plays nothing.
public var hapticDevice: VirtualHapticDevice {
  if let device = VirtualHapticDevice.current { return device }
  Issue.record(
    "No virtual haptic device. Add the trait .virtualHaptics to the test or its suite.")
  return VirtualHapticDevice()
}

/// A gate that admits several tests at once, or one test exclusively.
///
/// Tests are admitted in the order of their requests.
actor DeviceGate {
  static let shared = DeviceGate()

  private var runningTestCount = 0
  private var isExclusiveTestRunning = false
  private var waitingTests: [(isAlone: Bool, continuation: CheckedContinuation<Void, Never>)] = []

  func runTest(alone: Bool, _ body: @Sendable () async throws -> Void) async throws {
    if !waitingTests.isEmpty || isExclusiveTestRunning || (alone && runningTestCount > 0) {
      await withCheckedContinuation { waitingTests.append((alone, $0)) }
    } else {
      beginTest(alone: alone)
    }
    defer { endTest() }
    try await body()
  }

  private func beginTest(alone isAlone: Bool) {
    runningTestCount += 1
    isExclusiveTestRunning = isAlone
  }

  private func endTest() {
    runningTestCount -= 1
    if runningTestCount == 0 {
      isExclusiveTestRunning = false
    }
    while let firstWaitingTest = waitingTests.first, !isExclusiveTestRunning,
      !firstWaitingTest.isAlone || runningTestCount == 0
    {
      waitingTests.removeFirst()
      beginTest(alone: firstWaitingTest.isAlone)
      firstWaitingTest.continuation.resume()
    }
  }
}

/// Expects that haptics match a snapshot, or writes the snapshot; see `HapticSnapshot`.
///
/// By default, the snapshot has the name of the test function. It is stored next to the test file.
public func expectHaptics(
  _ played: PlayedHaptics, named name: String? = nil,
  within tolerance: HapticTolerance = .imperceptible,
  sourceLocation: SourceLocation = #_sourceLocation, function: String = #function,
  filePath: String = #filePath
) {
  let failure = HapticSnapshot.failure(
    of: played, named: name ?? function, within: tolerance, filePath: filePath)
  if let failure {
    Issue.record("\(failure)", sourceLocation: sourceLocation)
  }
}

/// Expects that the played haptics match an AHAP file.
///
/// The comparison includes the haptics after a time on the device's clock, in seconds.
public func expectHaptics(
  _ played: PlayedHaptics, equal url: URL, from start: Double = 0,
  within tolerance: HapticTolerance = .imperceptible,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  do {
    let expectedHaptics = try PlayedHaptics(contentsOf: url)
    let differences = played.from(start).differences(from: expectedHaptics, within: tolerance)
    if differences.isEmpty { return }
    Issue.record(
      """
      Played haptics differ from \(url.lastPathComponent):\n  \
      \(differences.joined(separator: "\n  "))
      """,
      sourceLocation: sourceLocation)
  } catch {
    Issue.record(
      "\((error as? CHHapticError)?.localizedDescription ?? "\(error)")",
      sourceLocation: sourceLocation)
  }
}
