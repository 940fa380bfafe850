import CoreHaptics
import Foundation
import Testing

@testable import CoreHapticsTesting
@testable import HapticTesting

/// Waits on a device whose test runs without the trait.
@Suite(.virtualHaptics(.alone)) struct TimeTests {
  private func inTest(_ body: (VirtualHapticDevice) async throws -> Void) async rethrows {
    let device = VirtualHapticDevice()
    device.backend.controlsWaits = true
    EngineBackends.beginTest(on: device.backend, .init(name: "inner()", runsAlone: true))
    try await EngineBackends.$scopedDevice.withValue(device.backend) { try await body(device) }
    EngineBackends.endTest(on: device.backend)
  }

  @Test func replacementFunctionsAreInstalled() { #expect(VirtualTime.areReplacementsInstalled) }

  private func block() {
    Thread.sleep(forTimeInterval: 0.001)
    usleep(1_000)
  }

  @Test func sleepingThreadsAreRecorded() async {
    await inTest { device in
      block()
      #expect(
        device.backend.testMisuse.realTimeBlockingCalls.map(\.call) == ["Thread.sleep", "usleep"])
      #expect(device.backend.testMisuse.realTimeBlockingCalls.map(\.seconds) == [0.001, 0.001])
    }
    #expect(
      TestProblem.blockingCallMessage("Thread.sleep", seconds: 0.2, remedy: "call install()")
        == "Thread.sleep for 0.2 s blocks its thread and waited in real time. Wait with Task.sleep "
        + "or asyncAfter, or call install().")
  }

  @Test("A semaphore or a group that times out is reported with its time")
  func timeouts() async {
    await inTest { device in
      await device.advance(by: .seconds(100))
      #expect(waitForSemaphore(seconds: 0.02) == .timedOut)
      #expect(waitForGroup(seconds: 0.03) == .timedOut)
      let blockingCalls = device.backend.testMisuse.realTimeBlockingCalls
      #expect(blockingCalls.map(\.call) == ["DispatchSemaphore.wait", "DispatchGroup.wait"])
      for (blockingCall, seconds) in zip(blockingCalls, [0.02, 0.03]) {
        #expect(abs(blockingCall.seconds - seconds) < 1e-3)
      }
    }
  }

  private func waitForSemaphore(seconds: Double) -> DispatchTimeoutResult {
    DispatchSemaphore(value: 0).wait(timeout: .now() + seconds)
  }

  private func waitForGroup(seconds: Double) -> DispatchTimeoutResult {
    let group = DispatchGroup()
    group.enter()
    defer { group.leave() }
    return group.wait(timeout: .now() + seconds)
  }

  @Test func synchronousStepsCountMissedWaits() async {
    await inTest { device in
      DispatchQueue.main.asyncAfter(deadline: .now() + 0.5) {}
      device.advance(seconds: 0.4)
      #expect(device.backend.testMisuse.missedWaitCount == 0)
      device.advance(seconds: 0.4)
      #expect(device.backend.testMisuse.missedWaitCount == 1)
      await device.advance(by: .zero)
    }
  }

  @Test func pendingWaitsContinueInRealTime() async {
    let (stream, continuation) = AsyncStream<Double>.makeStream()
    await inTest { device in
      DispatchQueue.main.asyncAfter(deadline: .now() + 1) { continuation.yield(device.now) }
      await device.advance(by: .seconds(0.995))
    }
    for await time in stream {
      #expect(time == 0.995)
      break
    }
  }

  @Test func endlessTasksAreGivenUp() async {
    await inTest { device in
      let loop = Task {
        while !Task.isCancelled {
          await Task.yield()
        }
      }
      #expect(await device.advance(by: .milliseconds(1)) == false)
      loop.cancel()
    }
  }

  @Test func endlessWaitsAreGivenUp() async {
    await inTest { device in
      let repeater = Repeater()
      repeater.run()
      #expect(await device.advance(by: .milliseconds(1)) == false)
      repeater.isDone = true
    }
  }

  private final class Repeater: @unchecked Sendable {
    var isDone = false
    func run() {
      if !isDone {
        DispatchQueue.main.asyncAfter(deadline: .now()) { self.run() }
      }
    }
  }
}
