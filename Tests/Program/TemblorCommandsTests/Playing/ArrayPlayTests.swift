import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct ArrayPlayTests {
  /// The channels that `play` renders for a shipped pattern and an array of two transducers.
  private func play(_ words: String...) throws -> [[Float]] {
    let scratch = try TemporaryFolder()
    try scratch.write(
      """
      { "name": "seat", "transducers": [
        { "channel": 1, "at": -1, "profile": "dayton-bst-1" },
        { "channel": 2, "at": 1, "profile": "aura-ast-2b-4", "delay": 0.001 }
      ] }
      """, to: "seat.json")
    let stage = ScriptedEnvironment(channelCount: 2)
    let arguments = try PlayCommand.definition().parseArguments(
      ["heartbeat", "--array", scratch("seat.json")] + words)
    #expect(try PlayCommand.run(arguments, stage.recordedTerminal.terminal, on: stage) == .success)
    return [stage.samples(0), stage.samples(1)]
  }

  @Test func eachTransducerHasItsProfileAndDelay() throws {
    let played = try play()
    let onsets = played.map { $0.firstIndex { $0 != 0 } }
    #expect(onsets[1] == onsets[0].map { $0 + 48 })
    #expect(Array(played[1][48...]) != Array(played[0].dropLast(48)))
  }

  @Test func aWayBeginsWithThePatternAndEndsWhereItSays() throws {
    let all = try play()
    let moved = try play("--pan", "0.02:-1,0.1:1")
    let onset = try #require(all[0].firstIndex { $0 != 0 })
    #expect(moved[0][..<(onset + 950)] == all[0][..<(onset + 950)])
    #expect(moved[1][..<(onset + 960)].allSatisfy { $0 == 0 })
    // The high-pass of the drive takes some 50 ms to come to rest.
    #expect(moved[0][(onset + 7_200)...].allSatisfy { abs($0) < 0.01 })
    #expect(moved[1][(onset + 7_200)...].contains { abs($0) > 0.05 })
  }
}
