import HapticManagement
import Testing

@MainActor @Suite struct SemanticEventTests {
  let fixture = ManagerFixture()

  @Test(
    arguments: zip(
      SemanticEvent.allCases, [[0], [0, 7_200], [0], [0, 9_600], [0, 4_800], [0]] as [[Int]]))
  func eventsHaveTheirTaps(event: SemanticEvent, taps: [Int]) {
    fixture.manager.trigger(event)
    fixture.advance(0.5)
    let onsets = fixture.onsetFrames
    #expect(onsets.count == taps.count)
    for (onset, tap) in zip(onsets, taps) {
      #expect((tap...tap + 4).contains(onset))
    }
  }

  @Test func testPlaysTheEventsAtIntervalsOfASecond() {
    fixture.manager.preloadPatterns()
    fixture.advance(0.5)
    let steps = fixture.manager.testAll()
    #expect(steps.map(\.event) == SemanticEvent.allCases)
    #expect(zip(steps, 0...).allSatisfy { abs($0.0.time - 0.55 - Double($0.1)) < 0.002 })
    fixture.advance(6)
    let onsets = fixture.onsetFrames
    for step in steps {
      let frame = Int((step.time * 48_000).rounded())
      #expect(onsets.contains { (frame...frame + 4).contains($0) }, "\(step)")
    }
    #expect(onsets.count == 9)
  }

  @Test func testStartsAnIdleEngineAtTheSameTimes() {
    let steps = fixture.manager.testAll()
    fixture.advance(6)
    let firstFrame = Int((steps[0].time * 48_000).rounded())
    #expect((firstFrame...firstFrame + 4).contains(fixture.onsetFrames.first ?? -1))
  }

  @Test func everyFifthCoinIsCelebratedHalfASecondLater() {
    for total in 1...4 {
      fixture.manager.earnCoin(total: total)
    }
    fixture.advance(1)
    #expect(fixture.maximumDistance(from: Array(repeating: ("medium", 0), count: 4)) < 1e-2)
    let fifthCoinFixture = ManagerFixture()
    fifthCoinFixture.manager.earnCoin(total: 5)
    fifthCoinFixture.advance(1)
    let taps = [("medium", 0), ("heavy", 24_000), ("heavy", 28_800)]
    #expect(fifthCoinFixture.maximumDistance(from: taps) < 1e-4)
  }

  @Test func warningsOfTimeAreOneFirmTap() {
    fixture.manager.playOneMinuteWarning()
    fixture.advance(0.5)
    fixture.manager.playTimeExpiration()
    fixture.advance(0.5)
    #expect(fixture.maximumDistance(from: [("medium", 0), ("medium", 24_000)]) < 1e-4)
  }
}
