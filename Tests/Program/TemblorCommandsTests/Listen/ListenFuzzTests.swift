import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

/// Damaged commands are accepted or refused with one line, and a tag never changes the result.
@Suite struct ListenFuzzTests {
  private static let lines = [
    "play heartbeat loop at 12.5 as b rate 2 strength 0.5 from 1", "tap 0.8 0.5 at +0.25",
    "hum 1 0.2 3 as x at +1",
    "set sharpness -1 of x over 2 at 7", "stop alarm at 4", "play \"my own.ahap\" loop",
    "loop x on",
    "strength 0.2 over 2", "noise 1 0.5 1 2 seed 3", "help", "quit",
  ]

  @Test func everyLineIsReadOrRefusedInOneLine() {
    let words = [
      "\"", "\\", " at ", " +", "nan", "1e999", "@", "@a ", " loop", " of", "\u{202E}", "\0", "∞",
    ]
    var mutator = InputMutator(seed: 11, words: words)
    for iteration in 0..<InputMutator.caseCount(default: 2_000) {
      let line = mutator.mutated(Self.lines[iteration % Self.lines.count])
      let request = CommandGrammar.parseRequest(line)
      if case .failure(let error)? = request?.command {
        #expect(InputMutator.isOneLine(error.description), "\(line.debugDescription): \(error)")
      }
      guard let request, request.tag == nil, line.first != "@" else { continue }
      #expect(
        CommandGrammar.parseRequest("@t " + line)?.command == request.command,
        "\(line.debugDescription)")
    }
  }
}
