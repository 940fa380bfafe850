@testable import CommandLineKit
import HapticRender
@testable import PatternWorkflows
import Testing

@testable import TemblorCommands

@Suite struct RoutingOptionsTests {
  private typealias Channel = OutputRouting.Channel

  private func options(_ words: String...) throws -> ChannelRouting {
    try RoutingOptions.routing(PlayVerb.description().parse(["heartbeat"] + words))
  }

  private func channels(_ count: Int, _ words: String...) throws -> [Channel] {
    let options = try RoutingOptions.routing(PlayVerb.description().parse(["heartbeat"] + words))
    return options.routing(channelCount: count, rate: 48_000, profile: .phone).routing.channels
  }

  @Test func nothingSaidIsAsUsual() throws {
    #expect(try channels(1) == OutputRouting(channelCount: 1).channels)
    #expect(try channels(4) == OutputRouting(channelCount: 4).channels)
    #expect(try options().minimumChannelCount == 1)
  }

  @Test func listsSayWhichChannelsCarryWhat() throws {
    let four = try channels(4, "--haptics", "3,4:-6", "--audio", "1,2")
    #expect(
      four == [
        Channel(audio: .left), Channel(audio: .right), Channel(hapticBus: 0),
        Channel(hapticBus: 0, hapticGain: 0.50118723),
      ])
    #expect(try options("--haptics", "3,4").minimumChannelCount == 4)
  }

  @Test func whatIsNotSaidStaysAsUsual() throws {
    #expect(try channels(2, "--haptics", "2") == [Channel(audio: .left), Channel(hapticBus: 0, audio: .right)])
  }

  @Test func audioOnOneChannelIsBothSides() throws {
    #expect(try channels(2, "--audio", "2") == [Channel(hapticBus: 0), Channel(hapticBus: 0, audio: .both)])
    #expect(try channels(2, "--audio", "none") == [Channel(hapticBus: 0), Channel(hapticBus: 0)])
  }

  @Test func wordsSayAllOfOneChannel() throws {
    #expect(
      try channels(2, "--channel", "2=haptics,gain=-20,delay=2ms,invert") == [
        Channel(hapticBus: 0, audio: .left),
        Channel(hapticBus: 0, hapticGain: 0.1, audioGain: 0.1, delay: 96, isInverted: true),
      ])
    #expect(
      try channels(2, "--channel", "1=off", "--channel", "2=invert") == [
        Channel(), Channel(hapticBus: 0, audio: .right, isInverted: true),
      ])
  }

  @Test func everyProfileThatDiffersHasABus() throws {
    let options = try options(
      "--channel", "2=profile=speaker", "--channel", "3=profile=phone", "--channel", "4=profile=speaker")
    let (routing, profiles) = options.routing(channelCount: 4, rate: 48_000, profile: .phone)
    #expect(profiles.map(\.name) == ["phone", "speaker"])
    #expect(routing.channels.map(\.hapticBus) == [0, 1, 0, 1])
    #expect(routing.channels.map(\.audio) == [.left, .right, .none, .none])
  }

  private func places(_ count: Int, of channelCount: Int, _ words: String...) throws -> [String?] {
    let options = try RoutingOptions.routing(PlayVerb.description().parse(["heartbeat"] + words))
    let (routing, profiles) = options.routing(
      channelCount: channelCount, rate: 48_000, profile: .phone, placeCount: count)
    return routing.channels.map { $0.hapticBus.flatMap { profiles[$0].place } }
  }

  @Test func asManyPlacesAsChannelsOfHapticsHaveOneEach() throws {
    #expect(try places(2, of: 2) == ["1", "2"])
    #expect(try places(2, of: 3) == [nil, nil, nil])
    #expect(try places(3, of: 2) == [nil, nil])
    #expect(try places(1, of: 1) == [nil])
    #expect(try places(2, of: 4, "--haptics", "3,4") == [nil, nil, "1", "2"])
  }

  @Test func aChannelNamesItsPlace() throws {
    #expect(try places(2, of: 2, "--channel", "2=haptics,source=right") == [nil, "right"])
    #expect(try places(0, of: 2, "--channel", "1=source=2", "--channel", "2=off") == ["2", nil])
    #expect(throws: UsageError(.invalidValue, "channel 1 has a source but no haptics in '1=off,source=2'")) {
      try places(2, of: 2, "--channel", "1=off,source=2")
    }
  }

  @Test(arguments: [
    (["--haptics", "0"], "'--haptics' takes channel numbers from 1 to 64, not '0'"),
    (["--haptics", "1,65"], "'--haptics' takes channel numbers from 1 to 64, not '65'"),
    (["--haptics", "1,"], "'--haptics' takes channel numbers from 1 to 64, not ''"),
    (["--haptics", "1,1"], "'--haptics' names channel 1 twice"),
    (["--audio", "1:loud"], "'--audio' takes gains from -120 to 24 dB, not 'loud'"),
    (["--audio", "1:30"], "'--audio' takes gains from -120 to 24 dB, not '30'"),
    (["--channel", "1"], "'--channel' takes a channel and its settings, such as '1=haptics,gain=-3', not '1'"),
    (
      ["--channel", "1=loud"],
      "'--channel' accepts the settings haptics, audio, left, right, off, source=PLACE, profile=NAME, gain=DB, delay=MSms or invert, not 'loud'"
    ), (["--channel", "1=delay=2"], "'--channel' takes delays from 0ms to 1000ms, not '2'"),
    (["--channel", "1=off", "--channel", "1=off"], "'--channel' names channel 1 twice"),
    (["--channel", "1=audio,profile=speaker"], "channel 1 has a profile but no haptics in '1=audio,profile=speaker'"),
    (["--channel", "1=profile=speeker"], "no profile is called 'speeker'; did you mean 'speaker'?"),
  ]) func whatCannotBeSaysWhy(words: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) {
      try RoutingOptions.routing(PlayVerb.description().parse(["heartbeat"] + words))
    }
    #expect(error?.description == message)
  }
}
