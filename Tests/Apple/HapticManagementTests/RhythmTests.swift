import HapticManagement
import Testing

@MainActor @Suite struct RhythmTests {
  let fixture = ManagerFixture()

  /// Expects that a rhythm sounds like single taps that start at given frames.
  private func expect(
    _ style: String, at frames: [Int], _ rhythm: (HapticManager) -> Void,
    location: SourceLocation = #_sourceLocation
  ) {
    rhythm(fixture.manager)
    fixture.advance(1)
    let distance = fixture.maximumDistance(from: frames.map { (style, $0) })
    #expect(distance < 1e-4, sourceLocation: location)
  }

  @Test func tapThatIsOneFrameOffIsDetected() {
    fixture.manager.doubleTap()
    fixture.advance(0.5)
    #expect(fixture.maximumDistance(from: [("medium", 0), ("medium", 4_801)]) > 0.003)
    #expect(fixture.onsetFrames.map { $0 - fixture.onsetFrames[0] } == [0, 4_800])
    #expect((0...4).contains(fixture.onsetFrames[0]))
  }

  @Test func doubleTapHasAnIntervalOfATenthOfASecond() {
    expect("medium", at: [0, 4_800]) { $0.doubleTap() }
  }

  @Test func tripleTapAccelerates() { expect("medium", at: [0, 4_800, 8_400]) { $0.tripleTap() } }

  @Test func successRhythmEndsWithAHeavyTap() {
    fixture.manager.successRhythm()
    fixture.advance(1)
    let taps = [("medium", 0), ("medium", 4_800), ("heavy", 12_000)]
    #expect(fixture.maximumDistance(from: taps) < 1e-4)
  }

  @Test func pulseIsOneLightTapByDefault() { expect("light", at: [0]) { $0.pulse() } }

  @Test func pulsesAreAQuarterOfASecondApart() {
    expect("light", at: [0, 12_000, 24_000, 36_000]) { $0.pulse(count: 4) }
  }

  @Test func pulsesHaveTheRequestedInterval() {
    expect("light", at: [0, 4_800, 9_600]) { $0.pulse(count: 3, interval: 0.1) }
  }

  @Test func aPatternOfTimingsIsInMilliseconds() {
    expect("medium", at: [0, 3_600, 7_200, 14_400]) { $0.triggerPattern([0, 75, 150, 300]) }
  }

  @Test func theOrderOfTimingsDoesNotMatter() {
    expect("heavy", at: [0, 7_200, 14_400]) { $0.triggerPattern([300, 0, 150], style: .heavy) }
  }

  @Test(arguments: [[], [-1], [.nan], [.infinity], [60_001]] as [[Double]])
  func invalidTimesAreOmitted(
    timings: [Double]
  ) {
    fixture.manager.triggerPattern(timings)
    fixture.advance(0.1)
    #expect(fixture.engines.count == 0)
  }

  @Test func aRhythmHasAtMostSixtyFourTaps() {
    fixture.manager.pulse(count: .max, interval: 0.05)
    fixture.advance(4)
    #expect(fixture.onsetFrames.count == 64)
  }

  @Test func negativeCountPlaysNothing() {
    fixture.manager.pulse(count: -3)
    fixture.advance(0.1)
    #expect(fixture.engines.count == 0)
  }

  @Test func rhythmWithinABlockKeepsItsIntervals() {
    fixture.manager.preloadPatterns()
    fixture.advance(0.01)
    // The frame 1,234 is not at the start of a block.
    fixture.manager.play("triple-tap", at: 1_234 / 48_000)
    fixture.advance(0.5)
    let taps = [1_234, 6_034, 9_634].map { ("medium", $0) }
    #expect(fixture.maximumDistance(from: taps) < 1e-4)
  }

  @Test(arguments: FeedbackType.allCases) func everyTypeIsHeard(type: FeedbackType) {
    fixture.manager.play(type)
    fixture.advance(0.6)
    #expect(fixture.peak(0, 0.6) > 0.02)
  }
}
