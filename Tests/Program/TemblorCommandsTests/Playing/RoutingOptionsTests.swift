import HapticRender
import Testing

@testable import CommandLineKit
@testable import PatternWorkflows
@testable import TemblorCommands

@Suite struct RoutingOptionsTests {
  private typealias Channel = OutputRouting.Channel

  private func options(_ arguments: String...) throws -> ChannelRouting {
    try RoutingOptions.parseRouting(
      PlayCommand.definition().parseArguments(["heartbeat"] + arguments))
  }

  private func channels(_ count: Int, _ arguments: String...) throws -> [Channel] {
    let options = try RoutingOptions.parseRouting(
      PlayCommand.definition().parseArguments(["heartbeat"] + arguments))
    return options.resolvedRouting(channelCount: count, rate: 48_000, profile: .phone).routing
      .channels
  }

  @Test func defaultsApplyWithoutOptions() throws {
    #expect(try channels(1) == OutputRouting(channelCount: 1).channels)
    #expect(try channels(4) == OutputRouting(channelCount: 4).channels)
    #expect(try options().minimumChannelCount == 1)
  }

  @Test func listsSelectChannels() throws {
    let routedChannels = try channels(4, "--haptics", "3,4:-6", "--audio", "1,2")
    #expect(
      routedChannels == [
        Channel(audioSide: .left), Channel(audioSide: .right), Channel(hapticBus: 0),
        Channel(hapticBus: 0, hapticGain: 0.50118723),
      ])
    #expect(try options("--haptics", "3,4").minimumChannelCount == 4)
  }

  @Test func defaultsApplyToOtherChannels() throws {
    #expect(
      try channels(2, "--haptics", "2") == [
        Channel(audioSide: .left), Channel(hapticBus: 0, audioSide: .right),
      ])
  }

  @Test func audioOnOneChannelIsBothSides() throws {
    #expect(
      try channels(2, "--audio", "2") == [
        Channel(hapticBus: 0), Channel(hapticBus: 0, audioSide: .both),
      ])
    #expect(try channels(2, "--audio", "none") == [Channel(hapticBus: 0), Channel(hapticBus: 0)])
  }

  @Test func channelOptionConfiguresOneChannel() throws {
    #expect(
      try channels(2, "--channel", "2=haptics,gain=-20,delay=2ms,invert") == [
        Channel(hapticBus: 0, audioSide: .left),
        Channel(
          hapticBus: 0, hapticGain: 0.1, audioGain: 0.1, delayFrameCount: 96, isInverted: true),
      ])
    #expect(
      try channels(2, "--channel", "1=off", "--channel", "2=invert") == [
        Channel(), Channel(hapticBus: 0, audioSide: .right, isInverted: true),
      ])
  }

  @Test func everyProfileThatDiffersHasABus() throws {
    let options = try options(
      "--channel", "2=profile=speaker", "--channel", "3=profile=phone", "--channel",
      "4=profile=speaker")
    let (routing, profiles) = options.resolvedRouting(
      channelCount: 4, rate: 48_000, profile: .phone)
    #expect(profiles.map(\.name) == ["phone", "speaker"])
    #expect(routing.channels.map(\.hapticBus) == [0, 1, 0, 1])
    #expect(routing.channels.map(\.audioSide) == [.left, .right, .none, .none])
  }

  private func bodyLocations(_ count: Int, of channelCount: Int, _ arguments: String...) throws
    -> [String?]
  {
    let options = try RoutingOptions.parseRouting(
      PlayCommand.definition().parseArguments(["heartbeat"] + arguments))
    let (routing, profiles) = options.resolvedRouting(
      channelCount: channelCount, rate: 48_000, profile: .phone, bodyLocationCount: count)
    return routing.channels.map { $0.hapticBus.flatMap { profiles[$0].bodyLocation } }
  }

  @Test func locationsAreAssignedIfTheirNumberEqualsThatOfHapticChannels() throws {
    #expect(try bodyLocations(2, of: 2) == ["1", "2"])
    #expect(try bodyLocations(2, of: 3) == [nil, nil, nil])
    #expect(try bodyLocations(3, of: 2) == [nil, nil])
    #expect(try bodyLocations(1, of: 1) == [nil])
    #expect(try bodyLocations(2, of: 4, "--haptics", "3,4") == [nil, nil, "1", "2"])
  }

  @Test func channelCanNameItsLocation() throws {
    #expect(try bodyLocations(2, of: 2, "--channel", "2=haptics,source=right") == [nil, "right"])
    #expect(
      try bodyLocations(0, of: 2, "--channel", "1=source=2", "--channel", "2=off") == ["2", nil])
    #expect(throws: UsageError("channel 1 has a source, but no haptics in '1=off,source=2'")) {
      try bodyLocations(2, of: 2, "--channel", "1=off,source=2")
    }
  }

  @Test func filtersActInTheOrderOfTheirSettings() throws {
    let routedChannels = try channels(
      2, "--channel", "1=crossover=low:80,eq=40:-3:2,eq=25:2.5:0.7", "--channel",
      "2=crossover=high:80")
    #expect(
      routedChannels[0].filters == [
        .lowPass(hertz: 80), .band(hertz: 40, decibels: -3, qualityFactor: 2),
        .band(hertz: 25, decibels: 2.5, qualityFactor: 0.7),
      ])
    #expect(routedChannels[1].filters == [.highPass(hertz: 80)])
  }

  @Test func filterAboveHalfTheRateIsRefused() throws {
    let options = try options("--channel", "2=crossover=high:4000")
    try options.checkFilters(rate: 48_000)
    let message =
      """
      '--channel 2' has a filter at 4000 Hz, but the sample rate is 8000 Hz; use a frequency below \
      4000 Hz, or a higher '--rate'
      """
    #expect(throws: UsageError(message)) { try options.checkFilters(rate: 8_000) }
    try self.options("--channel", "2=crossover=high:3999").checkFilters(rate: 8_000)
  }

  private static func bandMessage(_ value: String) -> String {
    """
    invalid value 'eq=\(value)' for '--channel': expected eq=HZ:DB:Q with 1 to 20000 Hz, -48 to 24 \
    dB and a Q of 0.1 to 30, such as 'eq=45:-3:2'
    """
  }

  @Test(arguments: [
    (
      ["--haptics", "0"], "invalid value '0' for '--haptics': expected channel numbers from 1 to 64"
    ),
    (
      ["--haptics", "1,65"],
      "invalid value '65' for '--haptics': expected channel numbers from 1 to 64"
    ),
    (
      ["--haptics", "1,"], "invalid value '' for '--haptics': expected channel numbers from 1 to 64"
    ),
    (["--haptics", "1,1"], "'--haptics' contains channel 1 twice"),
    (
      ["--audio", "1:loud"], "invalid value 'loud' for '--audio': expected gains from -120 to 24 dB"
    ),
    (["--audio", "1:30"], "invalid value '30' for '--audio': expected gains from -120 to 24 dB"),
    (
      ["--channel", "1"],
      """
      invalid value '1' for '--channel': expected a channel and its settings, such as \
      '1=haptics,gain=-3'
      """
    ),
    (
      ["--channel", "1=loud"],
      """
      '--channel' accepts the settings haptics, audio, left, right, off, source=LOCATION, \
      profile=NAME, gain=DB, delay=MSms, invert, eq=HZ:DB:Q, crossover=low:HZ, or \
      crossover=high:HZ, not 'loud'
      """
    ),
    (
      ["--channel", "1=delay=2"],
      "invalid value '2' for '--channel': expected delays from 0ms to 1000ms"
    ),
    (
      ["--channel", "1=eq=45:-3"],
      """
      invalid value 'eq=45:-3' for '--channel': expected eq=HZ:DB:Q with 1 to 20000 Hz, -48 to 24 \
      dB and a Q of 0.1 to 30, such as 'eq=45:-3:2'
      """
    ), (["--channel", "1=eq=0:0:1"], bandMessage("0:0:1")),
    (["--channel", "1=eq=40:25:1"], bandMessage("40:25:1")),
    (["--channel", "1=eq=40:nan:1"], bandMessage("40:nan:1")),
    (["--channel", "1=eq=40:3:0"], bandMessage("40:3:0")),
    (["--channel", "1=eq=40:3:1:"], bandMessage("40:3:1:")),
    (
      ["--channel", "1=crossover=80"],
      """
      invalid value 'crossover=80' for '--channel': expected crossover=low:HZ or \
      crossover=high:HZ with 1 to 20000 Hz
      """
    ),
    (
      ["--channel", "1=crossover=mid:80"],
      """
      invalid value 'crossover=mid:80' for '--channel': expected crossover=low:HZ or \
      crossover=high:HZ with 1 to 20000 Hz
      """
    ),
    (
      ["--channel", "1=" + Array(repeating: "eq=40:1:1", count: 17).joined(separator: ",")],
      "channel 1 has 17 filters; the limit is 16"
    ), (["--channel", "1=off", "--channel", "1=off"], "'--channel' configures channel 1 twice"),
    (
      ["--channel", "1=audio,profile=speaker"],
      "channel 1 has a profile, but no haptics in '1=audio,profile=speaker'"
    ),
    (
      ["--channel", "1=profile=speeker"], "unknown profile 'speeker'; did you mean 'speaker'?"
    ),
  ]) func invalidRoutingOptionsAreRefused(arguments: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) {
      try RoutingOptions.parseRouting(
        PlayCommand.definition().parseArguments(["heartbeat"] + arguments))
    }
    #expect(error?.description == message)
  }
}
