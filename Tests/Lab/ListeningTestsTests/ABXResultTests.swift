import ListeningTests
import Testing

struct ABXResultTests {
  private func sentence(
    _ correctAnswerCount: Int, _ trialCount: Int, of plannedTrialCount: Int?
  ) -> String {
    ABXResult(
      correctAnswerCount: correctAnswerCount, trialCount: trialCount,
      plannedTrialCount: plannedTrialCount
    ).sentence
  }

  @Test("A complete test is summarized by its score, probability, and conclusion")
  func completeTestIsSummarized() {
    #expect(
      sentence(12, 16, of: 16)
        == "12 of 16 correct. By guessing, the probability of at least 12 correct answers is "
        + "3.8 %. The difference is probably perceptible.")
    #expect(
      sentence(14, 16, of: 16)
        == "14 of 16 correct. By guessing, the probability of at least 14 correct answers is "
        + "0.2 %. The difference is very probably perceptible.")
    #expect(
      sentence(16, 16, of: 16)
        == """
        16 of 16 correct. By guessing, the probability of at least 16 correct answers is less than \
        0.1 %. The difference is very probably perceptible.
        """
    )
    #expect(
      sentence(9, 16, of: 16)
        == "9 of 16 correct. By guessing, the probability of at least 9 correct answers is 40 %. "
        + "The result neither shows nor excludes a perceptible difference.")
  }

  @Test("Fewer than five trials have no result")
  func fewTrialsHaveNoResult() {
    #expect(
      sentence(4, 4, of: 4)
        == "4 of 4 correct. By guessing, the probability of at least 4 correct answers is 6.3 %. "
        + "At least 5 trials are needed for a result.")
    #expect(
      ABXResult(correctAnswerCount: 5, trialCount: 5, plannedTrialCount: 5).conclusion
        == .significant)
  }

  @Test("A score far below chance suggests swapped takes")
  func belowChanceSuggestsSwappedTakes() {
    #expect(
      sentence(2, 16, of: 16)
        == """
        2 of 16 correct. By guessing, the probability of at most 2 correct answers is 0.2 %. A and \
        B may be swapped.
        """
    )
    #expect(
      ABXResult(correctAnswerCount: 5, trialCount: 16, plannedTrialCount: 16).conclusion
        == .notSignificant)
  }

  @Test("The sentence of an incomplete test warns about stopping early")
  func incompleteTestHasAWarning() {
    #expect(
      sentence(7, 7, of: 16)
        == "7 of 7 correct. By guessing, the probability of at least 7 correct answers is 0.8 %. "
          + """
          The difference may be perceptible. The test ended after 7 of 16 trials: stopping early \
          inflates the result.
          """
    )
    #expect(
      sentence(8, 9, of: nil)
        == "8 of 9 correct. By guessing, the probability of at least 8 correct answers is 2.0 %. "
          + """
          The difference may be perceptible. The number of trials was not fixed in advance: \
          stopping early inflates the result.
          """
    )
  }

  @Test("A test without answers has no result", arguments: [16, nil])
  func noAnswersHaveNoResult(plannedTrialCount: Int?) {
    #expect(sentence(0, 0, of: plannedTrialCount) == "No answers. There is no result.")
  }

  @Test("Conclusions change at their p-values")
  func conclusionsChangeAtTheirPValues() {
    // p-values: 5 of 5: 1/32; 4 of 5: 6/32; 8 of 9: 10/512; 7 of 7: 1/128; 6 of 6: 1/64.
    let cases: [(Int, Int, ABXResult.Conclusion)] = [
      (5, 5, .significant), (4, 5, .notSignificant), (8, 9, .significant),
      (7, 7, .highlySignificant),
      (6, 6, .significant), (0, 5, .belowChance), (1, 5, .notSignificant), (0, 4, .tooFewTrials),
      (0, 0, .noTrials),
    ]
    for (correctAnswerCount, trialCount, conclusion) in cases {
      let result = ABXResult(
        correctAnswerCount: correctAnswerCount, trialCount: trialCount,
        plannedTrialCount: trialCount)
      #expect(result.conclusion == conclusion, "\(correctAnswerCount) of \(trialCount)")
    }
  }

  @Test("Percentages are rounded")
  func percentagesAreRounded() {
    let texts = [0.00099, 0.001, 0.03840, 0.0994, 0.0995, 0.105, 0.5, 1].map(ABXResult.percentText)
    #expect(
      texts == ["less than 0.1 %", "0.1 %", "3.8 %", "9.9 %", "10 %", "11 %", "50 %", "100 %"])
  }
}

struct BinomialTestTests {
  @Test("Known probabilities are exact")
  func knownProbabilitiesAreExact() {
    #expect(BinomialTest.pValue(ofAtLeast: 1, in: 1) == 0.5)
    #expect(BinomialTest.pValue(ofAtLeast: 12, in: 16) == 2_517.0 / 65_536)
    #expect(BinomialTest.pValue(ofAtLeast: 10, in: 10) == 1.0 / 1_024)
    #expect(BinomialTest.pValue(ofAtLeast: 5, in: 9) == 0.5)
  }

  @Test("Impossible counts have probability 0, and certain counts 1")
  func impossibleAndCertainCounts() {
    #expect(BinomialTest.pValue(ofAtLeast: 0, in: 8) == 1)
    #expect(BinomialTest.pValue(ofAtLeast: -1, in: 8) == 1)
    #expect(BinomialTest.pValue(ofAtLeast: 9, in: 8) == 0)
  }

  @Test("Many trials neither overflow nor underflow")
  func manyTrialsDoNotOverflow() {
    // By symmetry, half of the outcomes of an odd number of trials are above the middle.
    #expect(abs(BinomialTest.pValue(ofAtLeast: 5_001, in: 10_001) - 0.5) < 1e-9)
    #expect(BinomialTest.pValue(ofAtLeast: 10_000, in: 10_000) < 1e-300)
  }
}
