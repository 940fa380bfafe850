import CoreHaptics
import Foundation
import HapticTesting
import UIKit
import XCTest

/// Waits and clocks of applications in XCTest.
final class XCTestClientTests: VirtualHapticsTestCase {
  @MainActor func testEveryWaitEndsAtItsTime() async {
    for wait in Wait.allCases {
      let app = Heartbeat()
      let start = device.now
      let callCount = device.calls.count
      wait.begin(app)
      await device.advance(by: .seconds(1.15))
      let calls = device.calls.dropFirst(callCount).map { ($0 - start) }
      XCTAssertEqual(calls.count, wait.taps.seconds.count, "\(wait)")
      for (call, tap) in zip(calls, wait.taps.seconds) {
        XCTAssertEqual(call, tap, accuracy: 1e-6, "\(wait)")
      }
      app.timer?.invalidate()
      app.stopSource()
      await device.advance(by: .seconds(10))
    }
  }

  @MainActor func testClocksAreTheDevices() async {
    let date = Date()
    let instant = ContinuousClock.now
    await device.advance(by: .seconds(3_600))
    XCTAssertEqual(Date().timeIntervalSince(date), 3_600, accuracy: 1e-6)
    XCTAssertEqual(ContinuousClock.now - instant, .seconds(3_600))
  }

  func testSynchronousTestsAdvance() {
    DispatchQueue.main.asyncAfter(deadline: .now() + 2) {
      UIImpactFeedbackGenerator(style: .light).impactOccurred()
    }
    advance(by: .seconds(3))
    XCTAssertEqual(device.calls, [2])
    XCTAssertEqual(device.now, 3)
  }

  @MainActor func testObserversOnTheMainQueueAreCalled() async {
    var count = 0
    let token = NotificationCenter.default.addObserver(
      forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: .main
    ) { _ in count += 1 }
    device.background()
    device.foreground()
    XCTAssertEqual(count, 1)
    NotificationCenter.default.removeObserver(token)
  }

  /// A test case that stores its failures.
  private final class Recorder: VirtualHapticsTestCase {
    var failures: [String] = []

    override func recordFailure(
      withDescription description: String, inFile filePath: String, atLine lineNumber: Int,
      expected: Bool
    ) {
      failures.append(description)
    }
  }

  func testBlockingCallsAreFailures() {
    let recorder = Recorder(name: "blocks") { _ in Thread.sleep(forTimeInterval: 0.001) }
    recorder.invokeTest()
    XCTAssertEqual(
      recorder.failures,
      [
        "Thread.sleep for 0.001 s blocks its thread and waited in real time. Wait with Task.sleep "
          + "or asyncAfter, or derive the test case from XCTestCase and call device.install()."
      ])
  }
}
