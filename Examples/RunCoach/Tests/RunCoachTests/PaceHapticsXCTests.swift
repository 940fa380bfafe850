#if os(Linux)
  import HapticTesting
  import RunCoach
  import XCTest

  /// The same with XCTest: the base class gives each test a device, whose time the application
  /// follows.
  final class PaceHapticsXCTests: VirtualHapticsTestCase {
    @MainActor func testTicksAtThePace() async throws {
      let haptics = PaceHaptics()
      try haptics.start(every: 0.5)
      await device.advance(by: .seconds(1.2))
      XCTAssertEqual(device.played.transients, [0, 0.5, 1])
    }

    @MainActor func testMarksALap() async {
      let haptics = PaceHaptics()
      haptics.lapDone()
      await device.advance(by: .seconds(1))
      XCTAssertEqual(device.log.generators, [.impact(.heavy)])
      XCTAssertEqual(
        device.played.differences(from: [.transient(at: 0, intensity: 1, sharpness: 0.45)]), [])
    }
  }
#endif
