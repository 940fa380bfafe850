import CoreHaptics
import CoreHapticsTesting
import Testing

/// An engine that an actor owns, as programs of language mode 6 keep it.
private actor Hand {
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
  @Test func anActorStartsAndStopsTheEngineItOwns() async throws {
    let hand = Hand(on: VirtualHapticDevice())
    try await hand.startAndStop()
    let error = await #expect(throws: CHHapticError.self) { try await hand.play() }
    #expect(error?.code == .engineNotRunning)
  }
}
