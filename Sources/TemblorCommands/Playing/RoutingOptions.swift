import CommandLineKit
import HapticModel
import HapticRender
import SystemSupport
import TransducerProfiles

/// The options that say what each channel carries.
///
/// What is not said is as usual: on one channel everything, on more the haptics on all and the two sides of
/// the audio on the first two.
struct RoutingOptions {
  static let group = OptionGroup(
    title: "Channels",
    options: [
      Option(
        "--haptics", value: "LIST",
        help:
          "Haptic channels, numbered from 1, each with an optional gain in dB, such as 1,2:-6; or none.",
        defaultText: "all"),
      Option(
        "--audio", value: "LIST",
        help: "Audio channels, alternating left and right; a single channel carries both.",
        defaultText: "the first two"),
      Option(
        "--channel", value: "N=WORDS",
        help: "Configure one channel, such as "
          + "'2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert'. Words: \(ChannelSpecification.all.joined(separator: ", ")).",
        isRepeatable: true),
      Option(
        "--array", value: "FILE",
        help:
          "Array file with the channels and positions of several transducers; replaces --haptics, --channel and --profile. See Profiles/README.md.",
        completion: .file(endingIn: "json")),
    ])

  /// The option of verbs that play patterns in an array.
  static let pan = Option(
    "--pan", value: "POS",
    help:
      "Position in the --array: a position on a line, degrees on a ring, or metres X/Y on a plane; or positions over time, T:POS,T:POS, with linear interpolation.",
    defaultText: "all transducers alike")

  private var haptics: ChannelList?
  private var audio: ChannelList?
  private var words: [ChannelSpecification] = []
  /// The transducers, where a file says what they are.
  private(set) var array: TransducerArray?
  /// Where patterns are felt among them; nothing for all alike.
  private var pan: PanPath?

  /// The usual routing.
  init() {}

  /// What a command line asks for.
  init(_ arguments: ParsedArguments) throws {
    if let text = arguments.value("--haptics") {
      haptics = try ChannelList(text, option: "--haptics")
    }
    if let text = arguments.value("--audio") {
      audio = try ChannelList(text, option: "--audio")
    }
    for text in arguments.values("--channel") {
      let new = try ChannelSpecification(
        text, option: "--channel", profileNamed: SharedOptions.profile(named:))
      guard !words.contains(where: { $0.index == new.index }) else {
        throw UsageError(.remove, "'--channel' names channel \(new.index + 1) twice")
      }
      words.append(new)
    }
    let pan = arguments.command.option(named: "--pan") == nil ? nil : arguments.value("--pan")
    guard let path = arguments.value("--array") else {
      if pan != nil { throw UsageError(.missingValue, "'--pan' needs '--array'") }
      return
    }
    for other in ["--haptics", "--channel", "--profile"] where !arguments.values(other).isEmpty {
      throw UsageError(
        .remove, "'--array' cannot be used with \(other.inQuotes)")
    }
    let array = try Self.array(at: path)
    self.array = array
    self.pan = try pan.map { text throws(UsageError) in
      try PanArgument.path(text, in: array.layout)
    }
  }

  private static func array(at path: String) throws -> TransducerArray {
    let text = try FileSystem.read(path, limit: ProfileFile.maximumByteCount)
    return try ArrayCheckResult(
      text: text, name: path, folder: FileSystem.folder(of: path), library: .fromEnvironment()
    ).outcome.mapError(ProfileRefusal.init).get()
  }

  /// What each haptic bus gets of a pattern, at a rate; none for all of it.
  func shares(rate: Double) -> [SendAutomation] {
    guard let array, let pan else { return [] }
    return pan.sendGains(on: array, rate: rate)
  }

  /// Channels there must be for all that is said.
  var minimumChannelCount: Int {
    let indices =
      [haptics, audio].flatMap { $0?.entries.map(\.index) ?? [] } + words.map(\.index)
      + (array?.transducers.map { $0.channel - 1 } ?? [])
    return (indices.max() ?? 0) + 1
  }

  /// Whether anything is said.
  var isUsual: Bool { haptics == nil && audio == nil && words.isEmpty && array == nil }

  /// The routing on some channels with what each drives, and the profile of each haptic bus.
  ///
  /// - Parameters:
  ///   - profile: The profile of channels that have none of their own.
  ///   - buses: Which of the two are heard at all.
  func routing(
    channelCount: Int, rate: Double, profile: TransducerProfile,
    buses: RenderSettings.Buses = .all
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var channels = OutputRouting(channelCount: channelCount, buses: buses).channels
    if let haptics, buses != .audio {
      for index in channels.indices { channels[index].hapticBus = nil }
      for entry in haptics.entries where entry.index < channels.count {
        channels[entry.index].hapticBus = 0
        channels[entry.index].hapticGain = entry.gain
      }
    }
    if let audio, buses != .haptics {
      for index in channels.indices { channels[index].audio = .none }
      let sides: [OutputRouting.Channel.Audio] =
        audio.entries.count == 1 ? [.both] : [.left, .right]
      for (place, entry) in audio.entries.enumerated() where entry.index < channels.count {
        channels[entry.index].audio = sides[place % sides.count]
        channels[entry.index].audioGain = entry.gain
      }
    }
    for word in words where word.index < channels.count {
      if let content = word.content {
        channels[word.index].hapticBus = content.hasHaptics && buses != .audio ? 0 : nil
        channels[word.index].audio = buses == .haptics ? .none : content.audio
      }
      channels[word.index].hapticGain *= word.gain
      channels[word.index].audioGain *= word.gain
      channels[word.index].delay = Int(FrameConversion.frame(seconds: word.delay, rate: rate))
      channels[word.index].isInverted = word.isInverted
    }
    if let array { return Self.routing(of: array, channels, rate: rate, buses: buses) }
    var profiles: [TransducerProfile] = []
    for index in channels.indices where channels[index].hapticBus != nil {
      let wanted = words.first { $0.index == index }?.profile ?? profile
      let bus = profiles.firstIndex(of: wanted) ?? profiles.count
      if bus == profiles.count { profiles.append(wanted) }
      channels[index].hapticBus = bus
    }
    let routing = OutputRouting(channels: channels).fitted(to: profiles)
    return (routing, profiles.isEmpty ? [profile] : profiles)
  }

  /// The routing with a haptic bus for each transducer.
  private static func routing(
    of array: TransducerArray, _ usual: [OutputRouting.Channel], rate: Double,
    buses: RenderSettings.Buses
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var channels = usual
    for index in channels.indices { channels[index].hapticBus = nil }
    for (bus, transducer) in array.transducers.enumerated() where transducer.channel <= usual.count
    {
      let index = transducer.channel - 1
      let gain = ChannelList.factor(decibels: transducer.gain)
      if buses != .audio { channels[index].hapticBus = bus }
      channels[index].hapticGain = gain
      channels[index].audioGain *= gain
      channels[index].delay = Int(FrameConversion.frame(seconds: transducer.delay, rate: rate))
      channels[index].isInverted = transducer.isInverted
    }
    let profiles = array.transducers.map(\.profile)
    return (OutputRouting(channels: channels).fitted(to: profiles), profiles)
  }
}
