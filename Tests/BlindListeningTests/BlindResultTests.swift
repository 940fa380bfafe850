import BlindListening
import Testing

struct BlindResultTests {
  private func sentence(_ right: Int, _ count: Int, of planned: Int?) -> String {
    BlindResult(rightCount: right, trialCount: count, plannedCount: planned).sentence
  }

  @Test func completeTestsAreToldInOneSentence() {
    #expect(
      sentence(12, 16, of: 16)
        == "12 of 16 right: somebody who guesses does as well or better in 3.8 % of such tests; "
        + "a difference was probably heard.")
    #expect(
      sentence(14, 16, of: 16)
        == "14 of 16 right: somebody who guesses does as well or better in 0.2 % of such tests; "
        + "a difference was very probably heard.")
    #expect(
      sentence(16, 16, of: 16)
        == "16 of 16 right: somebody who guesses does as well or better in less than 0.1 % of such "
        + "tests; a difference was very probably heard.")
    #expect(
      sentence(9, 16, of: 16)
        == "9 of 16 right: somebody who guesses does as well or better in 40 % of such tests; "
        + "this does not show that a difference was heard, nor that there is none.")
  }

  @Test func fewerThanFiveTrialsShowNothing() {
    #expect(
      sentence(4, 4, of: 4)
        == "4 of 4 right: somebody who guesses does as well or better in 6.3 % of such tests; "
        + "fewer than 5 trials show nothing.")
    #expect(BlindResult(rightCount: 5, trialCount: 5, plannedCount: 5).conclusion == .probablyHeard)
  }

  @Test func farBelowChanceTheAnswersMayBeMixedUp() {
    #expect(
      sentence(2, 16, of: 16)
        == "2 of 16 right: somebody who guesses does as badly or worse in 0.2 % of such tests; "
        + "perhaps A and B were mixed up.")
    #expect(BlindResult(rightCount: 5, trialCount: 16, plannedCount: 16).conclusion == .notShown)
  }

  @Test func testsThatWereNotKeptToSayLess() {
    #expect(
      sentence(7, 7, of: 16)
        == "7 of 7 right: somebody who guesses does as well or better in 0.8 % of such tests; "
        + "a difference may have been heard. The test ended after 7 of 16 trials: whoever stops when "
        + "it goes well gets such a result more often than that.")
    #expect(
      sentence(8, 9, of: nil)
        == "8 of 9 right: somebody who guesses does as well or better in 2.0 % of such tests; "
        + "a difference may have been heard. The number of trials was not fixed beforehand: whoever "
        + "stops when it goes well gets such a result more often than that.")
  }

  @Test(arguments: [16, nil])
  func withoutAnAnswerThereIsNothingToConclude(planned: Int?) {
    #expect(
      sentence(0, 0, of: planned) == "No trial was answered, so there is nothing to conclude.")
  }

  @Test func conclusionsTurnAtTheirChances() {
    // 1/32 and 6/32; 8 of 9: 10/512; 7 of 7: 1/128; 6 of 6: 1/64.
    let cases: [(Int, Int, BlindResult.Conclusion)] = [
      (5, 5, .probablyHeard), (4, 5, .notShown), (8, 9, .probablyHeard), (7, 7, .veryProbablyHeard),
      (6, 6, .probablyHeard), (0, 5, .mixedUp), (1, 5, .notShown), (0, 4, .tooFew),
      (0, 0, .nothing),
    ]
    for (right, count, conclusion) in cases {
      let result = BlindResult(rightCount: right, trialCount: count, plannedCount: count)
      #expect(result.conclusion == conclusion, "\(right) of \(count)")
    }
  }

  @Test func percentsAreRoundedToWhatMatters() {
    let texts = [0.00099, 0.001, 0.03840, 0.0994, 0.0995, 0.105, 0.5, 1].map(BlindResult.percent)
    #expect(
      texts == ["less than 0.1 %", "0.1 %", "3.8 %", "9.9 %", "10 %", "11 %", "50 %", "100 %"])
  }
}
