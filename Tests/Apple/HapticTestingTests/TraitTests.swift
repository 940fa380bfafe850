import CoreHaptics
import Dispatch
import UIKit
import Foundation
import HapticManagement
import HapticTesting
import Testing

/// One tap.
func tap() throws -> CHHapticPattern {
  try CHHapticPattern(
    events: [CHHapticEvent(eventType: .hapticTransient, parameters: [], relativeTime: 0)],
    parameters: [])
}

/// Starts as code without `async` does: the caller is blocked.
func startBlocking(_ engine: CHHapticEngine) throws { try engine.start() }

/// An application's class with an engine of its own, which no test can reach.
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

/// Each test has a device of its own, all at the same time.
@MainActor @Suite(.virtualHaptics) struct TraitTests {
  let device = hapticDevice

  @Test(arguments: 0..<20) func everyCaseHasADeviceOfItsOwn(index: Int) async throws {
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

  @Test(arguments: 0..<4) func generatorsBeginAgainWithEachTest(index: Int) async {
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

  @Test(arguments: 0..<4) func theManagerBeginsAgainWithEachTest(index: Int) async {
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

  @Test func handlersThatHopHaveArrived() async throws {
    let player = Player()
    try player.play()
    for count in 1...50 {
      device.reset()
      await device.advance(by: .milliseconds(1))
      #expect(player.restartCount == count)
    }
  }

  @Test func theClockOfTheDeviceWakesWhatSleeps() async throws {
    let (clock, device) = (device.clock, device)
    let task = Task {
      try await clock.sleep(for: .seconds(2))
      return device.now
    }
    await device.advance(by: .seconds(1))
    await device.advance(by: .seconds(3))
    #expect(try await task.value >= 2)
    let cancelled = Task { try await clock.sleep(for: .seconds(60)) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }
}

/// Engines that cannot be attributed to a test.
@Suite(.virtualHaptics(.alone)) struct AloneTests {
  @Test func anEngineOfAQueueBelongsToTheTestThatIsAlone() async throws {
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

  /// The trait adds a warning, since the test has an engine of its own.
  @Test func whatCouldBeSeveralTestsBelongsToNone() async throws {
    let engine = try CHHapticEngine()
    let other = VirtualBackend()
    EngineBackends.beginTest(on: other)
    defer { EngineBackends.endTest(on: other) }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Thread {
        let isNamed = VirtualHapticDevice.current != nil
        #expect(!isNamed)
        _ = try? CHHapticEngine()
        continuation.resume()
      }.start()
    }
    #expect(hapticDevice.log.engineCount == 1)
    #expect(VirtualHapticDevice(other).log.engineCount == 0)
    #expect(hapticDevice.backend.testMisuse.unattributedEngineCount == 1)
    #expect(other.testMisuse.unattributedEngineCount == 1)
    withExtendedLifetime(engine) {}
  }

  /// An engine that lives as long as the process.
  private final class Kept: @unchecked Sendable {
    static let shared = Kept()
    let engine = try? CHHapticEngine()
  }

  @Test(arguments: 0..<4) func anEngineThatOutlivesItsTestMovesOn(index: Int) async throws {
    let engine = try #require(Kept.shared.engine)
    // The first two leave it running, as applications do.
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
  @Test func aDeviceOutsideOfTestsIsItsOwn() throws {
    let one = VirtualHapticDevice()
    let other = VirtualHapticDevice()
    let engine = one.makeEngine()
    try engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    one.advance(seconds: 1)
    other.advance(seconds: 0.5)
    #expect(one.played.transients == [0])
    #expect(other.played.isEmpty)
    #expect(other.log.isEmpty)
  }
}
