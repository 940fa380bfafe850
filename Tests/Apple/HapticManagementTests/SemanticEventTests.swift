import HapticManagement
import Testing

@MainActor @Suite struct SemanticEventTests {
  let playing = ManagerPlaying()

  @Test(
    arguments: zip(
      SemanticEvent.allCases, [[0], [0, 7_200], [0], [0, 9_600], [0, 4_800], [0]] as [[Int]]))
  func everyEventHasItsTaps(event: SemanticEvent, taps: [Int]) {
    playing.manager.trigger(event)
    playing.advance(0.5)
    let onsets = playing.onsets
    #expect(onsets.count == taps.count)
    for (onset, tap) in zip(onsets, taps) {
      #expect((tap...tap + 4).contains(onset))
    }
  }

  @Test func aTestPlaysEveryEventASecondApart() {
    playing.manager.preloadPatterns()
    playing.advance(0.5)
    let steps = playing.manager.testAll()
    #expect(steps.map(\.event) == SemanticEvent.allCases)
    #expect(zip(steps, 0...).allSatisfy { abs($0.0.time - 0.55 - Double($0.1)) < 0.002 })
    playing.advance(6)
    let onsets = playing.onsets
    for step in steps {
      let frame = Int((step.time * 48_000).rounded())
      #expect(onsets.contains { (frame...frame + 4).contains($0) }, "\(step)")
    }
    #expect(onsets.count == 9)
  }

  @Test func aTestOfAnEngineAtRestHasTheSameTimes() {
    let steps = playing.manager.testAll()
    playing.advance(6)
    let first = Int((steps[0].time * 48_000).rounded())
    #expect((first...first + 4).contains(playing.onsets.first ?? -1))
  }

  @Test func everyFifthCoinIsCelebratedHalfASecondLater() {
    for total in 1...4 {
      playing.manager.earnCoin(total: total)
    }
    playing.advance(1)
    #expect(playing.distance(from: Array(repeating: ("medium", 0), count: 4)) < 1e-2)
    let fifth = ManagerPlaying()
    fifth.manager.earnCoin(total: 5)
    fifth.advance(1)
    let taps = [("medium", 0), ("heavy", 24_000), ("heavy", 28_800)]
    #expect(fifth.distance(from: taps) < 1e-4)
  }

  @Test func warningsOfTimeAreOneFirmTap() {
    playing.manager.playOneMinuteWarning()
    playing.advance(0.5)
    playing.manager.playTimeExpiration()
    playing.advance(0.5)
    #expect(playing.distance(from: [("medium", 0), ("medium", 24_000)]) < 1e-4)
  }
}
