@_exported public import CoreHapticsTesting
internal import CoreHaptics
public import Foundation
public import Testing

/// Gives each test, and each case of a test with arguments, a virtual device of its own.
///
/// Engines, feedback generators and `HapticManager.shared` play on it, wherever the test's task makes or uses them, and
/// begin again with the next test. Breaches of its rules fail the test.
public struct VirtualHapticsTrait: TestTrait, SuiteTrait, TestScoping {
  /// Whether other tests with a device may run meanwhile.
  public enum Sharing: Sendable {
    /// Tests run side by side; engines have to be made in the task of the test, its children or the main actor.
    case parallel
    /// The test runs while no other test with a device does; engines may be made anywhere.
    case alone
  }

  /// The trait of a suite is that of its tests.
  public let isRecursive = true
  let sharing: Sharing
  let rules: Set<HapticRule>

  /// Runs a test on a device of its own.
  public func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void)
    async throws
  {
    guard testCase != nil else { return try await function() }
    try await DeviceGate.shared.pass(alone: sharing == .alone) {
      let device = VirtualHapticDevice()
      device.rules = rules
      EngineBackends.begin(device.backend)
      defer { EngineBackends.end(device.backend) }
      try await EngineBackends.$scoped.withValue(device.backend) { try await function() }
      report(on: device, at: test.sourceLocation)
    }
  }

  /// Fails the test for breaches, and for engines that could not be told apart from those of other tests.
  private func report(on device: VirtualHapticDevice, at location: SourceLocation) {
    device.backend.settle()
    for breach in device.breaches { Issue.record("On a phone this fails: \(breach).", sourceLocation: location) }
    if let problem = device.ruleProblem { Issue.record("\(problem).", severity: .warning, sourceLocation: location) }
    guard device.backend.strayEngineCount > 0 else { return }
    // Where the test's own engines are there, the stray one is likely another test's.
    Issue.record(
      """
      An engine was made on a queue, a thread or a detached task while several tests with devices ran, \
      and plays on none of them; use .virtualHaptics(.alone).
      """, severity: device.log.engineCount == 0 ? .error : .warning, sourceLocation: location)
  }
}

extension Trait where Self == VirtualHapticsTrait {
  /// A device of the test's own; tests with it run side by side.
  public static var virtualHaptics: Self { Self(sharing: .parallel, rules: []) }

  /// A device of the test's own.
  ///
  /// - Parameters:
  ///   - sharing: Whether other tests with a device may run meanwhile.
  ///   - rules: The rules of phones whose breaches fail the test, such as `.all`.
  public static func virtualHaptics(_ sharing: VirtualHapticsTrait.Sharing = .parallel, rules: Set<HapticRule> = [])
    -> Self
  { Self(sharing: sharing, rules: rules) }
}

/// The device of the test that runs, which has the trait `.virtualHaptics`.
///
/// Without the trait the test fails with a sentence, and what is returned plays nothing.
public var hapticDevice: VirtualHapticDevice {
  if let device = VirtualHapticDevice.current { return device }
  Issue.record("There is no virtual haptic device; give the test or its suite the trait .virtualHaptics.")
  return VirtualHapticDevice()
}

/// Lets many tests pass together, or one alone, in the order in which they come.
actor DeviceGate {
  static let shared = DeviceGate()

  private var insideCount = 0
  private var isTaken = false
  private var waiting: [(isAlone: Bool, continuation: CheckedContinuation<Void, Never>)] = []

  func pass(alone: Bool, _ body: @Sendable () async throws -> Void) async throws {
    if !waiting.isEmpty || isTaken || (alone && insideCount > 0) {
      await withCheckedContinuation { waiting.append((alone, $0)) }
    } else {
      enter(alone)
    }
    defer { leave() }
    try await body()
  }

  private func enter(_ isAlone: Bool) {
    insideCount += 1
    isTaken = isAlone
  }

  private func leave() {
    insideCount -= 1
    if insideCount == 0 { isTaken = false }
    while let first = waiting.first, !isTaken, !first.isAlone || insideCount == 0 {
      waiting.removeFirst()
      enter(first.isAlone)
      first.continuation.resume()
    }
  }
}

/// Expects that what was played is what its snapshot keeps, or writes the snapshot; see `HapticSnapshot` of `CoreHapticsTesting`.
///
/// - Parameters:
///   - played: The record of the virtual device.
///   - name: The name of the snapshot; by default that of the test function.
///   - tolerance: How far what was played may be from it.
///   - sourceLocation: Where a failure is shown.
///   - function: The test function, which names the snapshot.
///   - filePath: The file of the test, beside which snapshots are kept.
public func expectHaptics(
  _ played: PlayedHaptics, named name: String? = nil, within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation, function: String = #function, filePath: String = #filePath
) {
  let failure = HapticSnapshot.failure(of: played, named: name ?? function, within: tolerance, filePath: filePath)
  if let failure { Issue.record("\(failure)", sourceLocation: sourceLocation) }
}

/// Expects that what was played is what an AHAP file plays.
///
/// - Parameters:
///   - played: The record of the virtual device.
///   - url: The file.
///   - start: When it starts, in seconds of the device; what was played before is not compared.
///   - tolerance: How far what was played may be from it.
///   - sourceLocation: Where a failure is shown.
public func expectHaptics(
  _ played: PlayedHaptics, equal url: URL, from start: Double = 0, within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  do {
    let expected = try PlayedHaptics(contentsOf: url)
    let differences = played.from(start).differences(from: expected, within: tolerance)
    if differences.isEmpty { return }
    Issue.record(
      "What was played differs from \(url.lastPathComponent):\n  \(differences.joined(separator: "\n  "))",
      sourceLocation: sourceLocation)
  } catch {
    Issue.record("\((error as? CHHapticError)?.localizedDescription ?? "\(error)")", sourceLocation: sourceLocation)
  }
}
