import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Where the channels of recordings are heard.
@Suite struct RecordingChannelsTests {
  private let folder: TemporaryFolder
  private let firstSamples = noise(9_600)
  private let secondSamples = noise(9_600, seed: 2)
  private let thirdSamples = noise(9_600, seed: 3)

  init() throws { folder = try TemporaryFolder() }

  /// Returns the signals that the channels of a device receive from the first of two takes.
  private func channels(_ path: String, _ options: [String] = [], channelCount: Int) throws
    -> [ArraySlice<Float>]
  {
    let stage = ScriptedEnvironment([(0.2, .key(.character("q")))], channelCount: channelCount)
    let words = [path, try folder.writeSound("other.wav", [0.1])] + options
    #expect(
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments(words), stage.recordedTerminal.terminal,
        on: stage)
        == .success)
    return (0..<channelCount).map { stage.samples($0)[240..<9_000] }
  }

  @Test func eachChannelIsHeardByItself() throws {
    let heard = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples), channelCount: 2)
    expect(heard[0], is: firstSamples)
    expect(heard[1], is: secondSamples)
  }

  @Test func channelsRepeatInTurnWhereThereAreMore() throws {
    let heard = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples), channelCount: 5)
    for (index, wanted) in [firstSamples, secondSamples, firstSamples, secondSamples, firstSamples]
      .enumerated()
    {
      expect(heard[index], is: wanted)
    }
  }

  @Test func oneChannelIsHeardOnAll() throws {
    let heard = try channels(try folder.writeSound("a.wav", firstSamples), channelCount: 3)
    for channel in heard {
      expect(channel, is: firstSamples)
    }
  }

  @Test func moreChannelsThanThereAreBecomeTheirMean() throws {
    let heard = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples, thirdSamples), channelCount: 2)
    let mean = firstSamples.indices.map {
      (firstSamples[$0] + secondSamples[$0] + thirdSamples[$0]) / 3
    }
    for channel in heard {
      expect(channel, is: mean)
    }
  }

  @Test func recordingsGoWhereHapticsGo() throws {
    let heard = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples),
      ["--haptics", "2,4:-6.0206", "--audio", "1"],
      channelCount: 4)
    expect(heard[0], is: silence(9_000))
    expect(heard[1], is: firstSamples)
    expect(heard[2], is: silence(9_000))
    expect(heard[3], is: secondSamples, times: 0.5)
  }

  @Test func withoutHapticsTheyAreHeardAsAudio() throws {
    let heard = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples), ["--haptics", "none"],
      channelCount: 2)
    expect(heard[0], is: firstSamples)
    expect(heard[1], is: secondSamples)
  }

  @Test func profilesOfChannelsStay() throws {
    let stage = ScriptedEnvironment([(0.2, .key(.character("q")))], channelCount: 3)
    let words = [
      try folder.writeSound("a.wav", firstSamples, secondSamples),
      try folder.writeHum("b.ahap", 0.1), "--channel",
      "3=haptics,profile=speaker",
    ]
    #expect(
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments(words), stage.recordedTerminal.terminal,
        on: stage)
        == .success)
    let engine = try #require(stage.engine)
    #expect(engine.routing.channels.map(\.hapticBus) == [0, 1, 2])
    #expect(engine.profiles.map(\.name) == ["phone", "phone", "speaker"])
  }
}
