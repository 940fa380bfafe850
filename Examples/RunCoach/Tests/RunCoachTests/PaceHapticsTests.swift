#if os(Linux)
  import CoreHaptics
  import HapticTesting
  import RunCoach
  import Testing

  /// The haptics of a run, tested without a sound card, waiting, or changes in the application.
  @MainActor @Suite(.virtualHaptics(rules: .all)) struct PaceHapticsTests {
    let device = hapticDevice
    let haptics = PaceHaptics()

    @Test func ticksAtThePace() async throws {
      try haptics.start(every: 0.5)
      await device.advance(by: .seconds(1.2))
      #expect(device.played.transients == [0, 0.5, 1])
      #expect(device.played.strength(at: 0.5) == 0.8)
      #expect(device.played.isSilent(from: 0.1, to: 0.5))
    }

    @Test func goesOnAfterAReset() async throws {
      try haptics.start(every: 0.5)
      await device.advance(by: .seconds(0.9))
      device.reset()
      await device.advance(by: .seconds(0.9))
      #expect(device.played.transients == [0, 0.5, 0.9, 1.4])
      #expect(device.log.startCount == 2)
    }

    @Test func goesOnAfterACall() async throws {
      try haptics.start(every: 0.5)
      await device.advance(by: .seconds(0.7))
      device.interrupt(.audioSessionInterrupt)
      await device.advance(by: .seconds(0.7))
      #expect(device.log.stops == [.audioSessionInterrupt])
      #expect(device.played.transients == [0, 0.5, 0.7, 1.2])
    }

    @Test(arguments: [(-1, 0), (0.5, 0.5), (2, 1)] as [(Float, Float)])
    func clampsTheEffort(given: Float, sent: Float) throws {
      try haptics.start(every: 1)
      try haptics.push(given)
      #expect(device.log.values(of: .hapticIntensityControl) == [sent])
    }

    @Test func isSilentWhereTheStartFails() async throws {
      device.failNextStart(.serverInitFailed)
      #expect(throws: CHHapticError.self) { try haptics.start(every: 1) }
      await device.advance(by: .seconds(60))
      #expect(device.played.isSilent())
    }

    @Test func marksALap() async {
      haptics.lapDone()
      await device.advance(by: .seconds(1))
      #expect(device.log.generators == [.impact(.heavy)])
      #expect(device.played.transients == [0])
    }

    @Test func finishesWithASwell() async throws {
      try haptics.start(every: 0.5)
      await device.advance(by: .seconds(0.75))
      try haptics.finish()
      await device.advance(by: .seconds(3))
      // Compared with __Haptics__/PaceHapticsTests/finishesWithASwell.ahap, which can be played and
      // felt.
      expectHaptics(device.played)
    }
  }

  /// An iPad has no haptics.
  @MainActor @Test(.virtualHaptics) func nothingHappensWithoutHaptics() async throws {
    hapticDevice.supportsHaptics = false
    let haptics = PaceHaptics()
    try haptics.start(every: 0.5)
    await hapticDevice.advance(by: .seconds(2))
    #expect(hapticDevice.log.engineCount == 0)
    #expect(hapticDevice.played.isEmpty)
  }
#endif
