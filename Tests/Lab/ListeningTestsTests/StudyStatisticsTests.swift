import Testing

@testable import ListeningTests

/// The statistics of studies against independent values.
struct StudyStatisticsTests {
  @Test(
    "The interval of a proportion is that of Clopper and Pearson",
    arguments: [
      // scipy 1.17.1: binomtest(k, n).proportion_ci(method="exact").
      (8, 12, 0.348_875_506_419_281_6, 0.900_753_908_850_416_7),
      (0, 10, 0, 0.308_497_107_818_762_94),
      (10, 10, 0.691_502_892_181_237_1, 1),
      (45, 60, 0.621_403_644_520_455_7, 0.852_813_926_200_996_5),
      (1, 2, 0.012_579_117_093_678_99, 0.987_420_882_906_321),
      (500, 1_000, 0.468_549_172_971_791_94, 0.531_450_827_028_208),
    ])
  func proportionInterval(
    successCount: Int, trialCount: Int, lowerBound: Double, upperBound: Double
  ) {
    let estimate = ProportionEstimate(successCount: successCount, trialCount: trialCount)
    #expect(abs(estimate.confidenceInterval.lowerBound - lowerBound) < 1e-10)
    #expect(abs(estimate.confidenceInterval.upperBound - upperBound) < 1e-10)
    #expect(estimate.proportion == Double(successCount) / Double(trialCount))
  }

  @Test("The interval of a mean is that of Student's t")
  func meanInterval() {
    // scipy 1.17.1: t.interval(0.95, 3, mean, sem).
    let mean = MeanEstimate(of: [-35.2, -33.9, -36.1, -34.4])
    #expect(abs(mean.mean + 34.9) < 1e-12)
    #expect(abs(mean.confidenceInterval.lowerBound + 36.431_767_5) < 0.002)
    #expect(abs(mean.confidenceInterval.upperBound + 33.368_232_5) < 0.002)
  }

  /// Answers of which a likelihood was maximized independently.
  struct FittedAnswers: Sendable {
    let values: [Double]
    let successCounts: [Int]
    let trialCounts: [Int]
    let guessRate: Double
    let midpoint: Double
    let slope: Double
    let deviance: Double
    /// The level with 75 % successes.
    let threshold: Double

    var blocks: [PsychometricFunction.Block] {
      values.indices.map { index in
        PsychometricFunction.Block(
          stimulusValue: values[index], successCount: successCounts[index],
          trialCount: trialCounts[index])
      }
    }
  }

  // scipy 1.17.1: minimize(method="Nelder-Mead") of the negative log likelihood from 72 starts.
  static let fittedAnswers = [
    FittedAnswers(
      values: [-38, -36, -34, -32, -30, -28, -26, -24],
      successCounts: [21, 22, 27, 31, 36, 38, 40, 39],
      trialCounts: [40, 40, 40, 40, 40, 40, 40, 40], guessRate: 0.5,
      midpoint: -32.710_216_66, slope: 0.621_315_986, deviance: 2.475_342_192,
      threshold: -32.576_015_046),
    FittedAnswers(
      values: [0.1, 0.2, 0.3, 0.4, 0.5], successCounts: [3, 6, 11, 17, 19],
      trialCounts: [20, 20, 20, 20, 20], guessRate: 0.02, midpoint: 0.267_108_892_6,
      slope: 12.740_023_4, deviance: 0.494_161_697, threshold: 0.357_765_337_2),
    FittedAnswers(
      values: [-38, -36, -34, -32], successCounts: [4, 11, 17, 9],
      trialCounts: [8, 16, 20, 9], guessRate: 0.5, midpoint: -35.278_241_085,
      slope: 0.984_918_026, deviance: 0.893_463, threshold: -35.193_582_66),
  ]

  @Test(
    "A psychometric function maximizes the likelihood", arguments: fittedAnswers.indices)
  func psychometricFit(index: Int) throws {
    let expected = Self.fittedAnswers[index]
    let function = try #require(
      PsychometricFunction(fitting: expected.blocks, guessRate: expected.guessRate))
    #expect(abs(function.midpoint - expected.midpoint) < 1e-5)
    #expect(abs(function.slope / expected.slope - 1) < 1e-5)
    #expect(abs(function.deviance(of: expected.blocks) - expected.deviance) < 1e-6)
    #expect(abs(function.value(atProportion: 0.75) - expected.threshold) < 1e-5)
    #expect(abs(function.proportion(at: expected.threshold) - 0.75) < 1e-5)
  }

  @Test("The bootstrap interval of a threshold is that of an independent bootstrap")
  func bootstrapInterval() throws {
    let answers = Self.fittedAnswers[0]
    let function = try #require(PsychometricFunction(fitting: answers.blocks, guessRate: 0.5))
    let interval = try #require(
      function.confidenceInterval(ofValueAt: 0.75, blocks: answers.blocks))
    // 1,500 simulated experiments in numpy, fitted with scipy: -33.98 to -31.40. The bounds of
    // 1,000 simulations vary by about 0.1.
    #expect(abs(interval.lowerBound + 33.98) < 0.2)
    #expect(abs(interval.upperBound + 31.40) < 0.2)
    #expect(interval == function.confidenceInterval(ofValueAt: 0.75, blocks: answers.blocks))
  }

  @Test(
    "Answers that do not determine a function are not fitted",
    arguments: [
      // Two levels, guesses, answers that become worse, and a step between two levels.
      [(-40.0, 5, 10), (-30, 9, 10)],
      [(-40, 5, 10), (-35, 5, 10), (-30, 5, 10)],
      [(-40, 10, 10), (-35, 7, 10), (-30, 5, 10)],
      [(-40, 5, 10), (-35, 5, 10), (-30, 10, 10), (-25, 10, 10)],
    ])
  func undeterminedFunctions(answers: [(Double, Int, Int)]) {
    let blocks = answers.map { value, successCount, trialCount in
      PsychometricFunction.Block(
        stimulusValue: value, successCount: successCount, trialCount: trialCount)
    }
    #expect(PsychometricFunction(fitting: blocks, guessRate: 0.5) == nil)
  }

  // MARK: - Summary

  private func answer(
    _ participant: String, _ stimulus: String, _ value: String, _ answer: Double,
    right: String = "", intervals: String = "", procedure: StudyProcedure
  ) throws -> StudyAnswer {
    let fields = [
      "participant": participant, "seed": "1", "tested": stimulus, "value": value,
      "answer": "\(answer)", "right": right, "intervals": intervals,
    ]
    return try #require(StudyAnswer(fields, procedure: procedure))
  }

  @Test("The mean of a stimulus is the mean of the participants, not of their answers")
  func meansOfParticipants() throws {
    // Anna answers three times, Ben and Cleo once.
    let answers = try [("anna", 10), ("anna", 20), ("anna", 30), ("ben", 40), ("cleo", 60)].map {
      try answer($0.0, "s", "-30.0", $0.1, intervals: "reference s", procedure: .rating)
    }
    let summary = StudySummary(answers, procedure: .rating)
    let estimate = try #require(summary.stimuli.first).estimate
    #expect(estimate.value == 40)
    #expect(estimate.answerCount == 5)
    // scipy 1.17.1: t.interval(0.95, 2, 40, sem([20, 40, 60])).
    let interval = try #require(estimate.confidenceInterval)
    #expect(abs(interval.lowerBound + 9.682_754) < 0.01)
    #expect(abs(interval.upperBound - 89.682_754) < 0.01)
  }

  @Test("Stimuli are in the order of their levels")
  func stimuliAreOrdered() throws {
    let answers = try [("s5", "-20.0"), ("s10", "-10.0"), ("none", ""), ("s1", "-30.0")].map {
      try answer("anna", $0.0, $0.1, 3, procedure: .magnitude)
    }
    let summary = StudySummary(answers, procedure: .magnitude)
    #expect(summary.stimuli.map(\.name) == ["s1", "s5", "s10", "none"])
    #expect(summary.stimuli.map(\.value) == [-30, -20, -10, nil])
  }

  @Test("A function of stimuli below and above the reference counts choices of the stronger one")
  func stimuliOnBothSides() throws {
    // The stimulus is in the second interval. It is chosen in 1, 3, 5, 7, and 9 of 10 trials.
    var answers: [StudyAnswer] = []
    for (stimulusIndex, value) in [-34.0, -32, -30, -28, -26].enumerated() {
      for trialIndex in 0..<10 {
        answers.append(
          try answer(
            "anna", "s\(stimulusIndex)", "\(value)", trialIndex < 2 * stimulusIndex + 1 ? 2 : 1,
            right: value < -30 ? "1" : "2", intervals: "reference s\(stimulusIndex)",
            procedure: .twoChoices))
      }
    }
    let pooled = try #require(
      StudySummary(answers, procedure: .twoChoices).pooledFunction)
    #expect(pooled.describesStrongerChoices)
    #expect(pooled.thresholdProportion == 0.5)
    #expect(abs(pooled.threshold + 30) < 1e-6)
  }

  @Test("Thresholds of several references are not pooled in one function")
  func severalReferencesHaveNoFunction() throws {
    var answers: [StudyAnswer] = []
    for (stimulusIndex, value) in [-34.0, -32, -30, -28].enumerated() {
      for trialIndex in 0..<10 {
        answers.append(
          try answer(
            "anna", "s\(stimulusIndex)", "\(value)", trialIndex < 6 + stimulusIndex ? 2 : 1,
            right: "2",
            intervals: "r\(stimulusIndex % 2) s\(stimulusIndex)", procedure: .twoChoices))
      }
    }
    let summary = StudySummary(answers, procedure: .twoChoices)
    #expect(summary.hasSeveralReferences)
    #expect(summary.pooledFunction == nil)
    #expect(summary.stimuli.map(\.reference) == ["r0", "r1", "r0", "r1"])
  }
}
