import Testing

@testable import ListeningTests

/// The procedures of studies and their statistics.
struct StudyTests {
  /// Returns pairs of the stimuli from 1 to a number with stimulus 0.
  private static func pairs(_ count: Int) -> [StudyPair] {
    (1...count).map { StudyPair(testedStimulusIndex: $0, referenceStimulusIndex: 0) }
  }

  /// Returns the intervals of all trials, which are answered with 1.
  private func intervals(
    _ procedure: StudyProcedure, _ pairs: [StudyPair], repeats: Int, seed: UInt64
  ) -> [[Int]] {
    var trials = TrialSequence(
      procedure, stimulusValues: [1, 2, 3, 4], pairs: pairs, repeats: repeats, seed: seed)
    var intervals: [[Int]] = []
    while let trial = trials.currentTrial {
      intervals.append(trial.stimulusIndices)
      trials.submit(1)
    }
    return intervals
  }

  @Test("A staircase steps down after two correct answers and up after an incorrect answer")
  func staircaseSteps() {
    var staircase = Staircase()
    let steps = [true, true, true, false, true, true].map { isCorrect in
      staircase.recordAnswer(isCorrect: isCorrect, at: 1)
    }
    #expect(steps == [0, -1, 0, 1, 0, -1])
  }

  @Test("The threshold of a staircase is the mean of the last six of eight reversals")
  func staircaseThreshold() {
    var staircase = Staircase()
    // Each incorrect answer and each pair of correct answers after it reverses the direction.
    for value in [9.0, 8, 1, 2, 3, 4, 5, 6, 7] {
      #expect(staircase.threshold == nil)
      if Int(value) % 2 == 0 {
        _ = staircase.recordAnswer(isCorrect: true, at: value)
        _ = staircase.recordAnswer(isCorrect: true, at: value)
      } else {
        _ = staircase.recordAnswer(isCorrect: false, at: value)
      }
    }
    let expected: Double = 27.0 / 6
    #expect(staircase.threshold == expected)
  }

  @Test("The order of the trials follows from the seed")
  func orderFollowsFromSeed() {
    func order(_ seed: UInt64) -> [[Int]] {
      var trials = TrialSequence(
        .twoChoices, stimulusValues: [1, 2, 3, 4], pairs: Self.pairs(3), repeats: 3, seed: seed)
      var order: [[Int]] = []
      while let trial = trials.currentTrial {
        order.append(trial.stimulusIndices)
        trials.submit(1)
      }
      return order
    }
    #expect(order(7) == order(7))
    #expect(order(7) != order(8))
    #expect(order(7).count == 9)
    #expect(order(7).allSatisfy { $0.contains(0) })
  }

  @Test("The trials of a seed are those of an independent implementation")
  func trialsOfASeedAreFixed() {
    // Computed in Python from the definitions of SplitMix64, Lemire (2019), and Fisher and Yates.
    #expect(
      intervals(.twoChoices, Self.pairs(3), repeats: 2, seed: 9) == [
        [3, 0], [1, 0], [0, 2], [0, 1], [3, 0], [0, 2],
      ])
    #expect(
      intervals(.abx, Self.pairs(3), repeats: 2, seed: 9) == [
        [3, 0, 3], [0, 1, 1], [2, 0, 0], [0, 1, 0], [0, 3, 0], [0, 2, 2],
      ])
  }

  @Test("Each pair has its own reference")
  func pairsHaveTheirOwnReferences() {
    let pairs = [
      StudyPair(testedStimulusIndex: 1, referenceStimulusIndex: 0),
      StudyPair(testedStimulusIndex: 3, referenceStimulusIndex: 2),
    ]
    let stimulusSets = intervals(.twoChoices, pairs, repeats: 4, seed: 5).map { Set($0) }
    #expect(stimulusSets.count(where: { $0 == [0, 1] }) == 4)
    #expect(stimulusSets.count(where: { $0 == [2, 3] }) == 4)
    #expect(intervals(.rating, pairs, repeats: 1, seed: 5).contains([2, 3]))
  }

  @Test("The stronger of two stimuli is the correct answer")
  func strongerStimulusIsCorrect() throws {
    let trials = TrialSequence(
      .twoChoices, stimulusValues: [5, 1], pairs: Self.pairs(1), repeats: 1, seed: 3)
    let trial = try #require(trials.currentTrial)
    let strongerInterval = try #require(trial.stimulusIndices.firstIndex(of: 0))
    #expect(trial.correctAnswer == Double(strongerInterval + 1))
  }

  @Test("A mean has no interval with a single value")
  func meanOfSingleValue() {
    #expect(MeanEstimate(of: [3]).mean == 3)
    #expect(MeanEstimate(of: [3]).confidenceHalfWidth == 0)
  }

  @Test(
    "The quantiles of Student's t-distribution equal the tables",
    arguments: [
      (1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1_000, 1.962),
    ])
  func studentTQuantiles(degreesOfFreedom: Int, quantile: Double) {
    let value = MeanEstimate.studentTQuantile(degreesOfFreedom: degreesOfFreedom)
    #expect(abs(value - quantile) < 0.004)
  }
}
