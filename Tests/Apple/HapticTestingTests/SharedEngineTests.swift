import CoreHaptics
import HapticManagement
import Testing

@testable import CoreHapticsTesting
@testable import HapticTesting

/// An application's singleton, which keeps its engine and the error of its last call.
private final class Shared: @unchecked Sendable {
  let engine = try? CHHapticEngine()

  func tap() throws {
    try engine?.start()
    try engine?.makePlayer(with: HapticTestingTests.tap()).start(atTime: CHHapticTimeImmediate)
  }
}

/// Runs a body in the scope of a test, without the trait, which would report the misuse as a
/// failure.
private func inTest(
  _ name: String, isAlone: Bool = false, _ body: (VirtualHapticDevice) throws -> Void
) rethrows {
  let device = VirtualHapticDevice()
  EngineBackends.beginTest(on: device.backend, .init(name: name, runsAlone: isAlone))
  defer { EngineBackends.endTest(on: device.backend) }
  try EngineBackends.$scopedDevice.withValue(device.backend) { try body(device) }
}

/// One engine in several tests.
@Suite(.virtualHaptics(.alone)) struct SharedEngineTests {
  @Test func engineOfARunningTestIsRefusedWithARemedy() throws {
    var shared: Shared?
    try inTest("first()") { firstDevice in
      shared = Shared()
      try shared?.tap()
      inTest("second()") { secondDevice in
        let error = #expect(throws: CHHapticError.self) { try shared?.tap() }
        #expect(error?.code == .operationNotPermitted)
        #expect(
          error?.localizedDescription
            == """
            the engine belongs to the test first(); add .virtualHaptics(.alone) to both tests or \
            their suites
            """
        )
        #expect(secondDevice.backend.testMisuse.foreignEngineTestNames == ["first()"])
        #expect(secondDevice.log.isEmpty)
      }
      firstDevice.advance(seconds: 0.1)
      #expect(firstDevice.played.transients == [0])
      #expect(firstDevice.backend.testMisuse.foreignEngineTestNames == [])
    }
    // The order of the tests does not matter.
    inTest("third()") { thirdDevice in
      #expect(throws: CHHapticError.self) { try shared?.tap() }
      #expect(thirdDevice.backend.testMisuse.foreignEngineTestNames == ["first()"])
    }
    #expect(
      TestProblem.foreignEngineMessage(test: "first()")
        == """
        This test used an engine of the test first(). The engine rejected the call, and nothing \
        was recorded. An object that both tests use, such as a singleton, owns the engine. Add \
        .virtualHaptics(.alone) to both tests or their suites.
        """
    )
  }

  @Test func playerOfARunningTestIsRefused() throws {
    try inTest("first()") { firstDevice in
      let engine = try CHHapticEngine()
      try engine.start()
      let player = try engine.makePlayer(with: tap())
      inTest("second()") { secondDevice in
        #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
        #expect(throws: CHHapticError.self) { try engine.makePlayer(with: tap()) }
        engine.start { error in
          let code = (error as? CHHapticError)?.code
          #expect(code == .operationNotPermitted)
        }
        #expect(secondDevice.backend.testMisuse.foreignEngineTestNames == ["first()"])
      }
      firstDevice.advance(seconds: 0.1)
      #expect(firstDevice.played.isEmpty)
    }
  }

  @Test func testsThatRunAloneShareAnEngine() throws {
    var shared: Shared?
    for name in ["first()", "second()"] {
      try inTest(name, isAlone: true) { device in
        shared = shared ?? Shared()
        try shared?.tap()
        device.advance(seconds: 0.1)
        #expect(device.played.transients == [0])
        #expect(device.backend.testMisuse.foreignEngineTestNames == [])
      }
    }
  }

  /// A singleton that starts its engine in its initializer and before each tap.
  @Test(arguments: 0..<3) func aSingletonPlaysAfterAFailedStart(failingIndex: Int) throws {
    var shared: Shared?
    for index in 0..<4 {
      try inTest("test \(index)", isAlone: true) { device in
        shared = shared ?? Shared()
        if index == failingIndex {
          device.failNextStart()
          #expect(throws: CHHapticError.self) { try shared?.tap() }
          return
        }
        for step in 0..<3 {
          try shared?.tap()
          device.advance(seconds: 0.5)
          #expect(device.played.transients.count == step + 1)
        }
      }
    }
  }

  /// A singleton that starts its engine only in its initializer.
  @Test func engineStoppedByADeviceRestartsOnTheNextDevice() throws {
    var sharedEngine: CHHapticEngine?
    let endings: [(VirtualHapticDevice, CHHapticEngine) -> Void] = [
      { device, _ in device.interrupt() }, { device, _ in device.reset() },
      { device, _ in device.disconnect() },
      { _, engine in engine.stop() },
    ]
    for ending in endings {
      try inTest("a test", isAlone: true) { device in
        let engine = try sharedEngine ?? CHHapticEngine()
        if sharedEngine == nil {
          try engine.start()
        }
        sharedEngine = engine
        try engine.makePlayer(with: tap()).start(atTime: 0)
        device.advance(seconds: 0.1)
        #expect(device.played.transients == [0])
        ending(device, engine)
        device.advance(seconds: 0.1)
        #expect(throws: CHHapticError.self) { try engine.makePlayer(with: tap()).start(atTime: 0) }
      }
    }
    let player = try #require(sharedEngine).makePlayer(with: tap())
    inTest("the last", isAlone: true) { _ in
      #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
    }
  }

  @Test func engineOfAnUnattachedDeviceIsUsableInATest() throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try inTest("first()") { firstDevice in
      try engine.start()
      try engine.makePlayer(with: tap()).start(atTime: 0)
      #expect(firstDevice.log.isEmpty)
    }
    #expect(device.log.playerStartCount == 1)
  }
}

/// A suite that uses a singleton, like tests of an application.
@Suite(.virtualHaptics(.alone)) struct SingletonTests {
  private static let shared = Shared()

  @Test(arguments: 0..<3) func tapsOfASingletonBelongToTheRunningTest(index: Int) async throws {
    try Self.shared.tap()
    await hapticDevice.advance(by: .seconds(0.1))
    #expect(hapticDevice.played.transients == [0])
  }
}
