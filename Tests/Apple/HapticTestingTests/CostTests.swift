import CoreHaptics
import CoreHapticsTesting
import Foundation
import Testing

/// The cost of virtual time. It is measured on request, because other tests of the process affect
/// it.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["TEMBLOR_TEST_COST"] != nil))
struct CostTests {
  /// Returns the processor time of a body, in milliseconds.
  private func measure(_ body: () throws -> Void) rethrows -> Double {
    let start = clock()
    try body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1_000
  }

  private func hum(_ seconds: Double) throws -> CHHapticPattern {
    try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticContinuous, parameters: [], relativeTime: 0, duration: seconds)
      ],
      parameters: [])
  }

  @Test func twoMinutesOfSilenceCostNothing() throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    engine.isAutoShutdownEnabled = true
    try engine.start()
    let cost = measure { device.advance(seconds: 120) }
    Swift.print("120 s of silence: \(cost) ms")
    #expect(device.log.stops == [.idleTimeout])
    #expect(cost < 50)
  }

  @Test("Ten hours of continuous haptics cost less than ten seconds")
  func tenHoursOfHaptics() throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try engine.start()
    let player = try engine.makeAdvancedPlayer(with: hum(4))
    player.loopEnabled = true
    try player.start(atTime: 0)
    let cost = measure { device.advance(seconds: 36_000) }
    Swift.print("ten hours of a looping hum: \(cost) ms")
    #expect(cost < 10_000)
  }

  @Test("An hour of a breathing application costs less than a second")
  func anHourOfBreathing() throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try engine.start()
    let breath = try CHHapticPattern(
      events: [
        CHHapticEvent(eventType: .hapticContinuous, parameters: [], relativeTime: 0, duration: 4),
        CHHapticEvent(eventType: .hapticTransient, parameters: [], relativeTime: 4),
      ],
      parameterCurves: [
        CHHapticParameterCurve(
          parameterID: .hapticIntensityControl,
          controlPoints: [
            CHHapticParameterCurve.ControlPoint(relativeTime: 0, value: 0),
            CHHapticParameterCurve.ControlPoint(relativeTime: 2, value: 1),
            CHHapticParameterCurve.ControlPoint(relativeTime: 4, value: 0),
          ], relativeTime: 0)
      ])
    let cost = try measure {
      for _ in 0..<450 {
        try engine.makePlayer(with: breath).start(atTime: 0)
        device.advance(seconds: 8)
      }
    }
    Swift.print("an hour of breathing: \(cost) ms")
    #expect(device.log.playerStartCount == 450)
    #expect(cost < 1_000)
  }

  @Test func releasedEnginesCostNothing() throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try engine.start()
    try engine.makePlayer(with: hum(60)).start(atTime: 0)
    func measureSecond() -> Double {
      measure {
        for _ in 0..<100 {
          device.advance(seconds: 0.01)
        }
      }
    }
    _ = measureSecond()
    let costBefore = min(measureSecond(), measureSecond(), measureSecond())
    for _ in 0..<3_000 {
      let releasedEngine = device.makeEngine()
      releasedEngine.isAutoShutdownEnabled = true
      try releasedEngine.start()
    }
    device.advance(seconds: 0.1)
    let costAfter = min(measureSecond(), measureSecond(), measureSecond())
    Swift.print(
      "1 s beside no engine \(costBefore) ms, beside 3,000 that were dropped \(costAfter) ms")
    #expect(costAfter < costBefore * 1.5)
  }
}
