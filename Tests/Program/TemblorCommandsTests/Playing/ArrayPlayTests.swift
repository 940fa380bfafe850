import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct ArrayPlayTests {
  /// Returns the channels that `play` renders for a shipped pattern and an array of two
  /// transducers.
  private func play(_ options: String...) throws -> [[Float]] {
    let folder = try TemporaryFolder()
    try folder.write(
      """
      { "name": "seat", "transducers": [
        { "channel": 1, "at": -1, "profile": "dayton-bst-1" },
        { "channel": 2, "at": 1, "profile": "aura-ast-2b-4", "delay": 0.001 }
      ] }
      """, to: "seat.json")
    let environment = ScriptedEnvironment(channelCount: 2)
    let arguments = try PlayCommand.definition().parseArguments(
      ["heartbeat", "--array", folder("seat.json")] + options)
    #expect(
      try PlayCommand.run(arguments, environment.recordedTerminal.terminal, on: environment)
        == .success)
    return [environment.samples(0), environment.samples(1)]
  }

  @Test func eachTransducerHasItsProfileAndDelay() throws {
    let channels = try play()
    let onsets = channels.map { $0.firstIndex { $0 != 0 } }
    #expect(onsets[1] == onsets[0].map { $0 + 48 })
    #expect(Array(channels[1][48...]) != Array(channels[0].dropLast(48)))
  }

  @Test func panPathStartsWithThePatternAndEndsAtItsLastPosition() throws {
    let steadyChannels = try play()
    let pannedChannels = try play("--pan", "0.02:-1,0.1:1")
    let onset = try #require(steadyChannels[0].firstIndex { $0 != 0 })
    #expect(pannedChannels[0][..<(onset + 950)] == steadyChannels[0][..<(onset + 950)])
    #expect(pannedChannels[1][..<(onset + 960)].allSatisfy { $0 == 0 })
    // The high-pass filter of the drive needs about 50 ms to settle.
    #expect(pannedChannels[0][(onset + 7_200)...].allSatisfy { abs($0) < 0.01 })
    #expect(pannedChannels[1][(onset + 7_200)...].contains { abs($0) > 0.05 })
  }
}
