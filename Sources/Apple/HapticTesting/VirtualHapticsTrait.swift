@_exported public import CoreHapticsTesting
internal import CoreHaptics
public import Testing

/// Gives each test, and each case of a test with arguments, its own virtual device.
///
/// Engines, feedback generators, and `HapticManager.shared` use the device of the test's task; the
/// next test has new ones. Violations of the device's rules fail the test.
public struct VirtualHapticsTrait: TestTrait, SuiteTrait, TestScoping {
  /// The policy for other tests with a device.
  public enum Sharing: Sendable {
    /// Tests run in parallel. Engines are created in tasks and on queues of the test, and no two
    /// tests share an engine.
    case parallel
    /// No other test with a device runs. Engines may be created anywhere, and may outlive their
    /// test, such as that of a singleton.
    case alone
  }

  /// The scope of the device's time.
  public enum Time: Sendable {
    /// All waits of the application, and its clocks.
    case virtual
    /// Only haptics, for tests that wait for a server or a process.
    case haptics
  }

  /// The trait of a suite applies to all of its tests.
  public let isRecursive = true
  let sharing: Sharing
  let rules: Set<HapticRule>
  let time: Time

  /// Runs a test on its own device.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  )
    async throws
  {
    guard testCase != nil else { return try await function() }
    try await DeviceGate.shared.run(alone: sharing == .alone) {
      let device = VirtualHapticDevice()
      device.rules = rules
      device.backend.controlsWaits = time == .virtual && VirtualTime.isInstalled
      EngineBackends.begin(device.backend, of: .init(name: test.name, runsAlone: sharing == .alone))
      defer { EngineBackends.end(device.backend) }
      try await EngineBackends.$scoped.withValue(device.backend) { try await function() }
      reportProblems(on: device, at: test.sourceLocation)
    }
  }

  /// Fails the test for violations, and for engines that cannot be attributed to a test.
  private func reportProblems(on device: VirtualHapticDevice, at location: SourceLocation) {
    device.backend.settle()
    let misuse = device.backend.misuse
    func fail(_ text: String) { Issue.record("\(text)", sourceLocation: location) }
    for violation in device.violations {
      fail("This fails on an iPhone: \(violation).")
    }
    if let problem = device.ruleProblem {
      Issue.record("\(problem).", severity: .warning, sourceLocation: location)
    }
    for owner in misuse.foreignEngineOwners {
      fail(Self.foreignEngineMessage(test: owner))
    }
    if sharing == .parallel,
      device.log.contains(where: {
        if case .application = $0.action {
          true
        } else {
          false
        }
      })
    {
      fail(Self.lifecycleMessage)
    }
    for block in misuse.blockingCalls {
      fail(Self.blockingCallMessage(block.call, seconds: block.seconds))
    }
    if misuse.missedWaitCount > 0 {
      fail(Self.missedWaitMessage)
    }
    guard misuse.unattributedEngineCount > 0 else { return }
    // If the test created engines of its own, the unattributed engine probably belongs to another
    // test.
    Issue.record(
      """
      An engine was created on a thread that belongs to no test while several tests with virtual \
      devices were running, so it plays on none of the devices. Add .virtualHaptics(.alone) to the \
      test or its suite.
      """, severity: device.log.engineCount == 0 ? .error : .warning, sourceLocation: location)
  }

  static func foreignEngineMessage(test: String) -> String {
    """
    This test used an engine of the test \(test). The engine rejected the call, and nothing was \
    recorded. An object that both tests use, such as a singleton, owns the engine. Add \
    .virtualHaptics(.alone) to both tests or their suites.
    """
  }

  static func blockingCallMessage(_ call: String, seconds: Double) -> String {
    """
    \(call) for \(seconds) s blocks its thread and waited in real time. Wait with Task.sleep or \
    asyncAfter, or add .virtualHaptics(time: .haptics) to the test.
    """
  }

  static let missedWaitMessage = """
    advance(seconds:) passed the end of a wait of the application (Task.sleep, asyncAfter, or \
    Timer), but does not end such waits. Use await advance(by:).
    """

  static let lifecycleMessage = """
    background() and foreground() post notifications of UIApplication to the objects of all tests. \
    Add .virtualHaptics(.alone) to the test or its suite.
    """
}

extension Trait where Self == VirtualHapticsTrait {
  /// A device for each test. Tests run in parallel.
  public static var virtualHaptics: Self { .virtualHaptics() }

  /// A device for each test, which fails if it violates one of the given rules of phones, such as
  /// `.all`.
  public static func virtualHaptics(
    _ sharing: VirtualHapticsTrait.Sharing = .parallel, rules: Set<HapticRule> = [],
    time: VirtualHapticsTrait.Time = .virtual
  ) -> Self { Self(sharing: sharing, rules: rules, time: time) }
}

/// The device of the current test, which requires the trait `.virtualHaptics`.
///
/// Without the trait, the test fails, and the returned device plays nothing.
public var hapticDevice: VirtualHapticDevice {
  if let device = VirtualHapticDevice.current { return device }
  Issue.record(
    "No virtual haptic device. Add the trait .virtualHaptics to the test or its suite.")
  return VirtualHapticDevice()
}

/// Admits several tests at once, or one test exclusively, in the order of their requests.
actor DeviceGate {
  static let shared = DeviceGate()

  private var runningCount = 0
  private var isExclusive = false
  private var waiting: [(isAlone: Bool, continuation: CheckedContinuation<Void, Never>)] = []

  func run(alone: Bool, _ body: @Sendable () async throws -> Void) async throws {
    if !waiting.isEmpty || isExclusive || (alone && runningCount > 0) {
      await withCheckedContinuation { waiting.append((alone, $0)) }
    } else {
      begin(alone: alone)
    }
    defer { end() }
    try await body()
  }

  private func begin(alone isAlone: Bool) {
    runningCount += 1
    isExclusive = isAlone
  }

  private func end() {
    runningCount -= 1
    if runningCount == 0 {
      isExclusive = false
    }
    while let first = waiting.first, !isExclusive, !first.isAlone || runningCount == 0 {
      waiting.removeFirst()
      begin(alone: first.isAlone)
      first.continuation.resume()
    }
  }
}

/// Expects that haptics match a snapshot, or writes the snapshot; see `HapticSnapshot`.
///
/// By default, the snapshot has the name of the test function. It is stored next to the test file.
public func expectHaptics(
  _ played: PlayedHaptics, named name: String? = nil,
  within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation, function: String = #function,
  filePath: String = #filePath
) {
  let failure = HapticSnapshot.failure(
    of: played, named: name ?? function, within: tolerance, filePath: filePath)
  if let failure {
    Issue.record("\(failure)", sourceLocation: sourceLocation)
  }
}

/// Expects that haptics from a time of the device on, in seconds, match those of an AHAP file.
public func expectHaptics(
  _ played: PlayedHaptics, equal url: URL, from start: Double = 0,
  within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  do {
    let expected = try PlayedHaptics(contentsOf: url)
    let differences = played.from(start).differences(from: expected, within: tolerance)
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
