import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Where the channels of recordings are heard.
@Suite struct RecordingChannelsTests {
  private let place: Scratch
  private let one = noise(9_600)
  private let two = noise(9_600, seed: 2)
  private let three = noise(9_600, seed: 3)

  init() throws { place = try Scratch() }

  /// The signals that the channels of a stage receive from the first of two takes.
  private func channels(_ path: String, _ options: [String] = [], channelCount: Int) throws
    -> [ArraySlice<Float>]
  {
    let stage = VirtualStage([(0.2, .key(.character("q")))], channelCount: channelCount)
    let words = [path, try place.sound("other.wav", [0.1])] + options
    #expect(
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments(words), stage.recorded.terminal, on: stage)
        == .success)
    return (0..<channelCount).map { stage.samples($0)[240..<9_000] }
  }

  @Test func eachChannelIsHeardByItself() throws {
    let heard = try channels(try place.sound("a.wav", one, two), channelCount: 2)
    expect(heard[0], is: one)
    expect(heard[1], is: two)
  }

  @Test func channelsRepeatInTurnWhereThereAreMore() throws {
    let heard = try channels(try place.sound("a.wav", one, two), channelCount: 5)
    for (index, wanted) in [one, two, one, two, one].enumerated() {
      expect(heard[index], is: wanted)
    }
  }

  @Test func oneChannelIsHeardOnAll() throws {
    let heard = try channels(try place.sound("a.wav", one), channelCount: 3)
    for channel in heard {
      expect(channel, is: one)
    }
  }

  @Test func moreChannelsThanThereAreBecomeTheirMean() throws {
    let heard = try channels(try place.sound("a.wav", one, two, three), channelCount: 2)
    let mean = one.indices.map { (one[$0] + two[$0] + three[$0]) / 3 }
    for channel in heard {
      expect(channel, is: mean)
    }
  }

  @Test func recordingsGoWhereHapticsGo() throws {
    let heard = try channels(
      try place.sound("a.wav", one, two), ["--haptics", "2,4:-6.0206", "--audio", "1"],
      channelCount: 4)
    expect(heard[0], is: silence(9_000))
    expect(heard[1], is: one)
    expect(heard[2], is: silence(9_000))
    expect(heard[3], is: two, times: 0.5)
  }

  @Test func withoutHapticsTheyAreHeardAsAudio() throws {
    let heard = try channels(
      try place.sound("a.wav", one, two), ["--haptics", "none"], channelCount: 2)
    expect(heard[0], is: one)
    expect(heard[1], is: two)
  }

  @Test func profilesOfChannelsStay() throws {
    let stage = VirtualStage([(0.2, .key(.character("q")))], channelCount: 3)
    let words = [
      try place.sound("a.wav", one, two), try place.hum("b.ahap", 0.1), "--channel",
      "3=haptics,profile=speaker",
    ]
    #expect(
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments(words), stage.recorded.terminal, on: stage)
        == .success)
    let engine = try #require(stage.engine)
    #expect(engine.routing.channels.map(\.hapticBus) == [0, 1, 2])
    #expect(engine.profiles.map(\.name) == ["phone", "phone", "speaker"])
  }
}
