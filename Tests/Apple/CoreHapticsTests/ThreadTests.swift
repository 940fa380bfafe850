import CoreHaptics
import CoreHapticsTesting
import Foundation
import TestSupport
import Testing

/// Calls from several threads at once; worth most under the thread sanitizer.
@Suite struct CoreHapticsThreadTests {
  /// An engine and its players, which Apple's interface lets several threads use.
  private struct Shared: @unchecked Sendable {
    let engine: CHHapticEngine
    let players: [any CHHapticAdvancedPatternPlayer]
    let patterns: [CHHapticPattern]
  }

  @Test func randomCallsFromSixThreadsLeaveAWorkingEngine() async throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    engine.isAutoShutdownEnabled = true
    let patterns = [try tap(), try hum(0.2), try appleSamplePattern()]
    let shared = Shared(
      engine: engine, players: try patterns.map { try engine.makeAdvancedPlayer(with: $0) },
      patterns: patterns)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<6 {
        group.addTask { call(shared, seed: UInt64(thread)) }
      }
      group.addTask {
        for _ in 0..<40 {
          device.advance(seconds: 0.01)
          await Task.yield()
        }
      }
    }
    device.reset(engine)
    try await engine.start()
    let player = try engine.makeAdvancedPlayer(with: tap())
    let handlerLog = HandlerLog()
    player.completionHandler = { _ in handlerLog.append("completed") }
    try player.start(atTime: 0)
    device.advance(seconds: 0.5)
    #expect(handlerLog.entries == ["completed"])
  }

  private func call(_ shared: Shared, seed: UInt64) {
    var generator = SplitMixGenerator(state: seed)
    let engine = shared.engine
    for _ in 0..<150 {
      guard let player = shared.players.randomElement(using: &generator),
        let pattern = shared.patterns.randomElement(using: &generator)
      else { return }
      let time = engine.currentTime + Double.random(in: -0.1...0.3, using: &generator)
      // Calls may be refused, because another thread has just stopped the engine.
      switch Int.random(in: 0..<16, using: &generator) {
      case 0, 1:
        try? player.start(atTime: time)
      case 2:
        try? player.stop(atTime: time)
      case 3:
        try? player.pause(atTime: time)
      case 4:
        try? player.resume(atTime: time)
      case 5:
        try? player.seek(toOffset: 0.1)
      case 6:
        player.loopEnabled.toggle()
      case 7:
        player.playbackRate = Float.random(in: 0.5...2, using: &generator)
      case 8:
        player.isMuted.toggle()
      case 9:
        try? player.cancel()
      case 10:
        try? engine.makePlayer(with: pattern).start(atTime: time)
      case 11:
        engine.isMutedForHaptics.toggle()
      case 12:
        try? engine.start()
      case 13:
        engine.stop()
      case 14:
        engine.notifyWhenPlayersFinished { _ in .leaveEngineRunning }
      default:
        try? player.sendParameters(
          [
            CHHapticDynamicParameter(
              parameterID: .hapticIntensityControl, value: 0.5, relativeTime: 0.01)
          ], atTime: time
        )
      }
    }
  }
}

/// An engine that an actor owns, like in programs of language mode 6.
private actor EngineOwner {
  private let engine: CHHapticEngine

  init(on device: VirtualHapticDevice) { engine = device.makeEngine() }

  func startAndStop() async throws {
    try await engine.start()
    try await engine.stop()
  }

  func play() throws {
    let pattern = try CHHapticPattern(events: [], parameters: [])
    try engine.makePlayer(with: pattern).start(atTime: CHHapticTimeImmediate)
  }
}

@Suite struct ActorTests {
  @Test func actorStartsAndStopsItsEngine() async throws {
    let engineOwner = EngineOwner(on: VirtualHapticDevice())
    try await engineOwner.startAndStop()
    let error = await #expect(throws: CHHapticError.self) { try await engineOwner.play() }
    #expect(error?.code == .engineNotRunning)
  }
}
