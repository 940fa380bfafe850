import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// The routing of recordings' channels to the channels of a device.
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
    let environment = ScriptedEnvironment(
      [(0.2, .key(.character("q")))], channelCount: channelCount)
    let arguments = [path, try folder.writeSound("other.wav", [0.1])] + options
    #expect(
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments(arguments),
        environment.recordedTerminal.terminal,
        on: environment)
        == .success)
    return (0..<channelCount).map { environment.samples($0)[240..<9_000] }
  }

  @Test func eachChannelIsHeardByItself() throws {
    let signals = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples), channelCount: 2)
    expect(signals[0], is: firstSamples)
    expect(signals[1], is: secondSamples)
  }

  @Test func channelsRepeatOnADeviceWithMoreChannels() throws {
    let signals = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples), channelCount: 5)
    for (index, expected) in [
      firstSamples, secondSamples, firstSamples, secondSamples, firstSamples,
    ]
    .enumerated() {
      expect(signals[index], is: expected)
    }
  }

  @Test func singleChannelIsHeardOnAll() throws {
    let signals = try channels(try folder.writeSound("a.wav", firstSamples), channelCount: 3)
    for channel in signals {
      expect(channel, is: firstSamples)
    }
  }

  @Test func excessChannelsBecomeTheirMean() throws {
    let signals = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples, thirdSamples), channelCount: 2)
    let mean = firstSamples.indices.map {
      (firstSamples[$0] + secondSamples[$0] + thirdSamples[$0]) / 3
    }
    for channel in signals {
      expect(channel, is: mean)
    }
  }

  @Test func recordingsPlayOnHapticChannels() throws {
    let signals = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples),
      ["--haptics", "2,4:-6.0206", "--audio", "1"],
      channelCount: 4)
    expect(signals[0], is: silence(9_000))
    expect(signals[1], is: firstSamples)
    expect(signals[2], is: silence(9_000))
    expect(signals[3], is: secondSamples, times: 0.5)
  }

  @Test func withoutHapticsRecordingsPlayAsAudio() throws {
    let signals = try channels(
      try folder.writeSound("a.wav", firstSamples, secondSamples), ["--haptics", "none"],
      channelCount: 2)
    expect(signals[0], is: firstSamples)
    expect(signals[1], is: secondSamples)
  }

  @Test func profilesOfChannelsAreKept() throws {
    let environment = ScriptedEnvironment([(0.2, .key(.character("q")))], channelCount: 3)
    let arguments = [
      try folder.writeSound("a.wav", firstSamples, secondSamples),
      try folder.writeHum("b.ahap", 0.1), "--channel",
      "3=haptics,profile=speaker",
    ]
    #expect(
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments(arguments),
        environment.recordedTerminal.terminal,
        on: environment)
        == .success)
    let engine = try #require(environment.engine)
    #expect(engine.routing.channels.map(\.hapticBus) == [0, 1, 2])
    #expect(engine.profiles.map(\.name) == ["phone", "phone", "speaker"])
  }
}
