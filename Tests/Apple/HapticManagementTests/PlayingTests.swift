import CoreHaptics
import HapticManagement
import Testing

@MainActor @Suite struct PlayingTests {
  let fixture = ManagerFixture()

  @Test func anUnknownNameDoesNothing() {
    fixture.manager.play("no such pattern")
    fixture.manager.play("")
    fixture.manager.play("../Patterns/light")
    fixture.advance(0.2)
    #expect(fixture.engines.count == 0)
    #expect(fixture.manager.invalidPatterns.isEmpty)
  }

  @Test func simultaneousPatternsAreAdded() {
    func samples(_ names: [String]) -> [Float] {
      let newFixture = ManagerFixture()
      newFixture.manager.preloadPatterns()
      newFixture.advance(0)
      for name in names {
        newFixture.manager.play(name)
      }
      newFixture.advance(0.8)
      return newFixture.samples
    }
    let selectionSamples = samples(["selection"])
    let lightSamples = samples(["light"])
    let mixedSamples = samples(["selection", "light"])
    let maximumDifference =
      mixedSamples.indices.map { abs(mixedSamples[$0] - selectionSamples[$0] - lightSamples[$0]) }
      .max() ?? 1
    #expect(maximumDifference < 1e-5)
  }

  @Test func patternStartsAtItsTime() {
    fixture.manager.preloadPatterns()
    fixture.advance(0.1)
    fixture.manager.play("light", at: 0.7)
    fixture.advance(1)
    #expect(fixture.onsetFrames.count == 1)
    #expect((33_600...33_604).contains(fixture.onsetFrames[0]))
  }

  @Test(arguments: [(2, 1), (1, 7), (.infinity, 1)] as [(Float, Float)])
  func strengthAndSharpnessAreClamped(
    intensity: Float, sharpness: Float
  ) {
    func samples(_ intensity: Float, _ sharpness: Float) -> [Float] {
      let newFixture = ManagerFixture()
      newFixture.manager.playTransientEvent(intensity: intensity, sharpness: sharpness)
      newFixture.advance(0.2)
      return newFixture.samples
    }
    #expect(samples(intensity, sharpness) == samples(1, 1))
    #expect(samples(0.5, -3) == samples(0.5, 0))
  }

  @Test(arguments: [-1, 0, .nan, -.infinity] as [Float]) func invalidIntensityIsSilence(
    intensity: Float
  ) {
    fixture.manager.playTransientEvent(intensity: intensity, sharpness: 0.5)
    fixture.advance(0.2)
    #expect(fixture.peak(0, 0.2) == 0)
  }

  /// Returns the distance of the last half second from a single tap at a frame.
  private func distanceFromLoneTap(at frame: Int) -> Float {
    let singleTapFixture = ManagerFixture()
    singleTapFixture.manager.play("light")
    singleTapFixture.advance(0.5)
    return zip(fixture.samples[frame...], singleTapFixture.samples).map { abs($0 - $1) }.max() ?? 1
  }

  @Test func tenThousandTapsLeaveNothingBehind() {
    fixture.manager.preloadPatterns()
    fixture.advance(0)
    for _ in 0..<1_000 {
      for _ in 0..<10 {
        fixture.manager.playTransientEvent(intensity: 0.3, sharpness: 1)
      }
      fixture.advance(0.008)
      #expect(fixture.engines.count == 1)
    }
    // Every group of ten taps is audible at its frame.
    let samples = fixture.samples
    let isHeard = (0..<1_000).allSatisfy { group in
      (samples[group * 384 + 96..<group * 384 + 288].map(abs).max() ?? 0) > 0.1
    }
    #expect(isHeard)
    fixture.advance(6)
    #expect(fixture.peak(13.5, 14) < 1e-6)
    fixture.manager.play("light")
    fixture.advance(0.5)
    #expect(distanceFromLoneTap(at: 672_000) < 1e-4)
  }

  @Test func tenThousandSimultaneousTapsEnd() {
    fixture.manager.preloadPatterns()
    fixture.advance(0)
    for _ in 0..<10_000 {
      fixture.manager.playTransientEvent(intensity: 0.5, sharpness: 1)
    }
    fixture.advance(6)
    #expect((0...4).contains(fixture.onsetFrames.first ?? -1))
    #expect(fixture.peak(5.5, 6) < 1e-6)
    #expect(fixture.manager.isEngineAvailable)
    fixture.manager.play("light")
    fixture.advance(0.5)
    #expect(distanceFromLoneTap(at: 288_000) < 1e-4)
  }

  @Test func engineIsReleasedWithItsManager() {
    weak var engine: CHHapticEngine?
    do {
      let provider = EngineProvider { [device = fixture.device, engines = fixture.engines] in
        try engines.make(on: device)
      }
      let manager = HapticManager(engineProvider: provider, store: SettingMemory())
      for _ in 0..<10 {
        manager.play("heartbeat")
      }
      fixture.advance(0.1)
      engine = fixture.engines.takeLast()
      #expect(engine != nil)
    }
    fixture.advance(0.1)
    #expect(engine == nil)
  }

  @Test(
    arguments: zip(
      [
        { $0.playEarthquakeSplash() }, { $0.playEarthquakeSimulation() },
        { $0.playCorrectAnswer() },
        { $0.playWrongAnswer() }, { $0.playPerfectScore() }, { $0.playEncouragement() },
      ] as [@MainActor @Sendable (HapticManager) -> Void],
      [
        "earthquake-splash", "earthquake-simulation", "correct-answer", "wrong-answer",
        "perfect-score",
        "encouragement",
      ])) func drillMethodsPlayTheirPatterns(
      call: @MainActor @Sendable (HapticManager) -> Void, name: String
    )
  {
    let fixtureByName = ManagerFixture()
    fixtureByName.manager.play(name)
    fixtureByName.advance(4.2)
    call(fixture.manager)
    fixture.advance(4.2)
    #expect(fixture.samples == fixtureByName.samples)
    #expect(fixture.peak(0, 4.2) > 0.02)
  }
}
