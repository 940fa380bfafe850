internal import CoreHaptics
internal import CoreHapticsTesting

/// A problem in a test that the test's virtual device has detected.
struct TestProblem {
  var message: String
  /// A Boolean value that indicates whether the problem makes the test fail.
  var isFailure = true

  /// The test framework that runs a test. It determines the remedies that messages suggest.
  enum TestFramework {
    case swiftTesting(VirtualHapticsTrait.ConcurrencyPolicy)
    case xcTest

    /// A Boolean value that indicates whether other tests may run at the same time.
    var runsTestsInParallel: Bool {
      if case .swiftTesting(.parallel) = self { return true }
      return false
    }

    /// The suggested remedy if a test must wait in real time.
    var realTimeWaitRemedy: String {
      switch self {
      case .swiftTesting: "add .virtualHaptics(time: .haptics) to the test"
      case .xcTest: "derive the test case from XCTestCase and call device.install()"
      }
    }

    /// The suggested remedy if a test needs more time without progress.
    var hangLimitRemedy: String {
      switch self {
      case .swiftTesting: "needs .timeLimit(.minutes(…))"
      case .xcTest: "overrides hangTimeLimit"
      }
    }
  }

  /// Returns the problems that a device has detected in its test.
  ///
  /// Problems are violations of rules, misuse of the device, and engines that cannot be attributed
  /// to a test.
  static func problems(on device: VirtualHapticDevice, in framework: TestFramework)
    -> [TestProblem]
  {
    device.backend.waitForHandlers()
    let deviceMisuse = device.backend.testMisuse
    var testProblems = device.violations.map {
      TestProblem(message: "This fails on an iPhone: \($0).")
    }
    if let ruleProblem = device.ruleProblem {
      testProblems.append(TestProblem(message: "\(ruleProblem).", isFailure: false))
    }
    for owner in deviceMisuse.foreignEngineTestNames {
      testProblems.append(TestProblem(message: foreignEngineMessage(test: owner)))
    }
    if framework.runsTestsInParallel, device.log.contains(where: \.isLifecycleNotification) {
      testProblems.append(TestProblem(message: lifecycleNotificationMessage))
    }
    for block in deviceMisuse.realTimeBlockingCalls {
      let message = blockingCallMessage(
        block.call, seconds: block.seconds, remedy: framework.realTimeWaitRemedy)
      testProblems.append(TestProblem(message: message))
    }
    if deviceMisuse.missedWaitCount > 0 {
      testProblems.append(TestProblem(message: missedWaitMessage))
    }
    if deviceMisuse.unattributedEngineCount > 0 {
      // If the test created engines of its own, the unattributed engine probably belongs to
      // another test.
      let isFailure = device.log.engineCount == 0
      testProblems.append(TestProblem(message: unattributedEngineMessage, isFailure: isFailure))
    }
    return testProblems
  }

  static func foreignEngineMessage(test: String) -> String {
    """
    This test used an engine of the test \(test). The engine rejected the call, and nothing was \
    recorded. An object that both tests use, such as a singleton, owns the engine. Add \
    .virtualHaptics(.alone) to both tests or their suites.
    """
  }

  static func blockingCallMessage(_ call: String, seconds: Double, remedy: String) -> String {
    "\(call) for \(seconds) s blocks its thread and waited in real time. Wait with Task.sleep or "
      + "asyncAfter, or \(remedy)."
  }

  /// Returns the message for a test that failed before its device's time advanced.
  static func pendingWaitMessage(waitCount count: Int) -> String {
    let waitsText = count == 1 ? "1 wait is" : "\(count) waits are"
    return """
      \(waitsText) pending in the application, and the device's time did not advance: \
      wait(for:timeout:) waits in real time. Call device.advance(by:) before.
      """
  }

  static let missedWaitMessage = """
    advance(seconds:) passed the end of a wait of the application (Task.sleep, asyncAfter, or \
    Timer), but does not end such waits. Use await advance(by:).
    """

  static let lifecycleNotificationMessage = """
    background() and foreground() post notifications of UIApplication to the objects of all tests. \
    Add .virtualHaptics(.alone) to the test or its suite.
    """

  static let unattributedEngineMessage = """
    An engine was created on a thread that belongs to no test while several tests with virtual \
    devices were running, so it plays on none of the devices. Add .virtualHaptics(.alone) to the \
    test or its suite.
    """
}

extension HapticLogEntry {
  /// A Boolean value that indicates whether the entry is a lifecycle notification.
  fileprivate var isLifecycleNotification: Bool {
    if case .application = action { return true }
    return false
  }
}
