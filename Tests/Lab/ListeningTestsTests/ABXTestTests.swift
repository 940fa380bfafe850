import ListeningTests
import SystemSupport
import Testing

struct BlindTestTests {
  /// The first numbers of the reference code by Sebastiano Vigna for seed 1234567.
  @Test("The generator is SplitMix64")
  func generatorIsSplitMix64() {
    var generator = SplitMix64(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in generator.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }

  @Test("The identities of X follow from the seed and are independent")
  func identitiesFollowFromTheSeed() {
    let hiddenTakes = ABXTest.hiddenTakes(seed: 7, count: 10_000)
    #expect(hiddenTakes == ABXTest.hiddenTakes(seed: 7, count: 10_000))
    #expect(hiddenTakes != ABXTest.hiddenTakes(seed: 8, count: 10_000))
    let takeACount = hiddenTakes.count { $0 == .a }
    let repeatCount = zip(hiddenTakes, hiddenTakes.dropFirst()).count { $0 == $1 }
    // The limits are three standard deviations of 10,000 fair draws.
    #expect(abs(takeACount - 5_000) < 150)
    #expect(abs(repeatCount - 5_000) < 150)
  }

  @Test("X is drawn for each trial")
  func xIsDrawnForEachTrial() {
    var test = ABXTest(seed: 3, plannedTrialCount: 5)
    var hiddenTakes: [ABXTake] = []
    for number in 1...5 {
      #expect(test.currentTrialNumber == number)
      #expect(!test.isFinished)
      hiddenTakes.append(test.take(for: .x))
      #expect(test.take(for: .a) == .a)
      #expect(test.take(for: .b) == .b)
      test.recordAnswer(.a, at: Double(number))
    }
    #expect(test.isFinished)
    #expect(hiddenTakes == ABXTest.hiddenTakes(seed: 3, count: 5))
    #expect(test.trials.map(\.hiddenTake) == hiddenTakes)
    #expect(test.trials.map(\.startSeconds) == [0, 1, 2, 3, 4])
    #expect(test.result.correctAnswerCount == hiddenTakes.count { $0 == .a })
  }

  @Test("Answers after the last trial are ignored")
  func answersAfterTheEndAreIgnored() {
    var test = ABXTest(seed: 3, plannedTrialCount: 1)
    test.recordAnswer(.a, at: 1)
    test.recordAnswer(.a, at: 2)
    #expect(test.trials.count == 1)
  }

  @Test("Selections are counted for each trial")
  func selectionsAreCountedForEachTrial() {
    var test = ABXTest(seed: 1, plannedTrialCount: nil)
    #expect(!test.hasHeardX)
    for selection in [ABXTest.SoundSelection.a, .x, .b, .x, .b, .b] {
      test.recordSwitch(to: selection)
    }
    #expect(test.hasHeardX)
    test.recordAnswer(.b, at: 2)
    #expect(!test.hasHeardX)
    test.recordAnswer(.b, at: 3)
    let switchCounts = test.trials.map {
      [$0.switchCounts.a, $0.switchCounts.b, $0.switchCounts.x]
    }
    #expect(switchCounts == [[1, 3, 2], [0, 0, 0]])
    #expect(!test.isFinished)
  }

  @Test("Every JSON reader represents a seed exactly")
  func seedsFitJSON() {
    for _ in 0..<100 {
      #expect(ABXTest.randomSeed() <= ABXTest.maximumSeed)
    }
    #expect(ABXTest.randomSeed() != ABXTest.randomSeed())
  }
}
