import CoreHaptics
import Dispatch
import UIKit
import Foundation
import HapticManagement
import HapticTesting
import Testing

/// Returns a pattern of one tap.
func tap() throws -> CHHapticPattern {
  try CHHapticPattern(
    events: [CHHapticEvent(eventType: .hapticTransient, parameters: [], relativeTime: 0)],
    parameters: [])
}

/// Starts an engine like synchronous code, which blocks the caller.
func startBlocking(_ engine: CHHapticEngine) throws { try engine.start() }

/// A class of an application with a private engine, which tests cannot access.
@MainActor final class Player {
  private var engine: CHHapticEngine?
  private(set) var restartCount = 0

  init() {
    engine = try? CHHapticEngine()
    engine?.resetHandler = { @Sendable [weak self] in Task { @MainActor in self?.restart() } }
    engine?.stoppedHandler = { @Sendable [weak self] _ in Task { @MainActor in self?.restart() } }
  }

  func play() throws {
    try engine?.start()
    try engine?.makePlayer(with: tap()).start(atTime: CHHapticTimeImmediate)
  }

  private func restart() {
    restartCount += 1
    try? engine?.start()
  }
}

/// Each test has its own device, and all tests run at the same time.
@MainActor @Suite(.virtualHaptics) struct TraitTests {
  let device = hapticDevice

  @Test(arguments: 0..<20) func everyCaseHasItsOwnDevice(index: Int) async throws {
    #expect(device.now == 0)
    #expect(device.log.isEmpty)
    let player = Player()
    for step in 0..<index % 4 {
      try player.play()
      await device.advance(by: .seconds(0.5))
      #expect(device.log.playerStartCount == step + 1)
    }
    #expect(device.log.engineCount == 1)
    #expect(device.played.transients.count == index % 4)
  }

  @Test(arguments: 0..<4) func generatorsAreResetForEachTest(index: Int) async {
    UIImpactFeedbackGenerator(style: .heavy).impactOccurred()
    UINotificationFeedbackGenerator().notificationOccurred(.success)
    UISelectionFeedbackGenerator().selectionChanged()
    UIImpactFeedbackGenerator(style: .rigid).impactOccurred(intensity: 0.25)
    UICanvasFeedbackGenerator().alignmentOccurred(at: .zero)
    await device.advance(by: .seconds(1))
    #expect(
      device.log.generators == [
        .impact(.heavy), .notification(.success), .selection, .impact(.rigid, intensity: 0.25),
        .alignment,
      ])
    #expect(device.log.engineCount == 1)
    #expect(!device.played.isSilent(to: 0.01))
  }

  @Test(arguments: 0..<4) func managerIsResetForEachTest(index: Int) async {
    let manager = HapticManager.shared
    #expect(manager.isEnabled)
    #expect(manager === HapticManager.shared)
    manager.tripleTap()
    await device.advance(by: .seconds(1))
    #expect(device.played.transients == [0, 0.1, 0.175])
    manager.isEnabled = false
  }

  @Test func enginesOfTasksQueuesAndHandlersBelongToTheTest() async throws {
    try await Task { @MainActor in try Player().play() }.value
    await Task.detached { _ = try? CHHapticEngine() }.value
    DispatchQueue.global().async { _ = try? CHHapticEngine() }
    DispatchQueue(label: "own").async { _ = try? CHHapticEngine() }
    await device.advance(by: .zero)
    await withTaskGroup(of: Void.self) { group in group.addTask { _ = try? CHHapticEngine() } }
    let engine = try CHHapticEngine()
    engine.resetHandler = { @Sendable in _ = try? CHHapticEngine() }
    try await engine.start()
    device.reset()
    #expect(device.log.engineCount == 7)
  }

  @Test func handlersOnTheMainActorRunBeforeTheAdvanceReturns() async throws {
    let player = Player()
    try player.play()
    for count in 1...50 {
      device.reset()
      await device.advance(by: .milliseconds(1))
      #expect(player.restartCount == count)
    }
  }

  @Test func clockOfTheDeviceWakesSleepingTasks() async throws {
    let device = device
    let clock = device.clock
    let task = Task {
      try await clock.sleep(for: .seconds(2))
      return device.now
    }
    await device.advance(by: .seconds(1))
    await device.advance(by: .seconds(3))
    #expect(try await task.value >= 2)
    let canceledTask = Task { try await clock.sleep(for: .seconds(60)) }
    canceledTask.cancel()
    await #expect(throws: CancellationError.self) { try await canceledTask.value }
  }
}

/// Engines that cannot be attributed to a test.
@Suite(.virtualHaptics(.alone)) struct AloneTests {
  @Test func engineOfAQueueBelongsToTheTestThatRunsAlone() async throws {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        do {
          let engine = try CHHapticEngine()
          try engine.start()
          try engine.makePlayer(with: tap()).start(atTime: 0)
          hapticDevice.advance(seconds: 0.5)
        } catch {
          Issue.record(error)
        }
        continuation.resume()
      }
    }
    #expect(hapticDevice.log.engineCount == 1)
    #expect(hapticDevice.played.transients == [0])
  }

  /// The trait adds a warning, because the test has its own engine.
  @Test func ambiguousEngineBelongsToNoTest() async throws {
    let engine = try CHHapticEngine()
    let otherBackend = VirtualBackend()
    EngineBackends.beginTest(on: otherBackend)
    defer { EngineBackends.endTest(on: otherBackend) }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Thread {
        let isNamed = VirtualHapticDevice.current != nil
        #expect(!isNamed)
        _ = try? CHHapticEngine()
        continuation.resume()
      }.start()
    }
    #expect(hapticDevice.log.engineCount == 1)
    #expect(VirtualHapticDevice(otherBackend).log.engineCount == 0)
    #expect(hapticDevice.backend.testMisuse.unattributedEngineCount == 1)
    #expect(otherBackend.testMisuse.unattributedEngineCount == 1)
    withExtendedLifetime(engine) {}
  }

  /// An engine that lives as long as the process.
  private final class Kept: @unchecked Sendable {
    static let shared = Kept()
    let engine = try? CHHapticEngine()
  }

  @Test(arguments: 0..<4) func engineThatOutlivesItsTestMovesToTheNextTest(index: Int) async throws
  {
    let engine = try #require(Kept.shared.engine)
    // Half of the cases leave the engine running, like applications do.
    if index % 2 == 0 {
      try await engine.start()
    }
    try startBlocking(engine)
    try engine.makePlayer(with: tap()).start(atTime: 0)
    await hapticDevice.advance(by: .seconds(1))
    #expect(hapticDevice.played.transients == [0])
    #expect(hapticDevice.log.startCount == 1)
  }
}

/// Without the trait, one device for the process.
@Suite struct InstalledTests {
  @Test func devicesOutsideOfTestsAreIndependent() throws {
    let firstDevice = VirtualHapticDevice()
    let secondDevice = VirtualHapticDevice()
    let engine = firstDevice.makeEngine()
    try engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    firstDevice.advance(seconds: 1)
    secondDevice.advance(seconds: 0.5)
    #expect(firstDevice.played.transients == [0])
    #expect(secondDevice.played.isEmpty)
    #expect(secondDevice.log.isEmpty)
  }
}
