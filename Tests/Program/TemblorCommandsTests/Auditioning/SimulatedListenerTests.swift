import ListeningTests
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct SimulatedListenerTests {
  @Test func keywordsAnswerFromTheDraws() throws {
    let draws = ABXTest.hiddenTakes(seed: 9, count: 50)
    #expect(try SimulatedListener(option: "right").answers(seed: 9, count: 50) == draws)
    #expect(
      try SimulatedListener(option: "wrong").answers(seed: 9, count: 50) == draws.map(\.opposite))
    let guesses = try SimulatedListener(option: "random").answers(seed: 9, count: 50)
    #expect(guesses == (try SimulatedListener(option: "random").answers(seed: 9, count: 50)))
    #expect((10...40).contains(zip(draws, guesses).count { $0 == $1 }))
  }

  @Test func eachLetterAnswersOneTrial() throws {
    let listener = try SimulatedListener(option: "abBA")
    #expect(listener.fixedAnswerCount == 4)
    #expect(listener.answers(seed: 1, count: 9) == [.a, .b, .b, .a])
    #expect(listener.answers(seed: 1, count: 2) == [.a, .b])
  }

  @Test(arguments: ["", "abc", "left", "a b"]) func otherOptionValuesAreRefused(value: String) {
    #expect(throws: UsageError.self) { try SimulatedListener(option: value) }
  }

  @Test func keysListenAnswerAndConfirm() {
    #expect(
      SimulatedListener.keys(for: [.a, .b]) == [
        .character("x"), .character("1"), .enter, .character("x"), .character("2"), .enter,
      ])
  }
}
