public import HapticRender
public import TransducerProfiles
internal import HapticModel
internal import SystemSupport

/// The assignment of haptics and audio to output channels.
///
/// Without settings, one channel carries everything. With several channels, all carry the haptics,
/// and the first two the left and the right side of the audio.
///
/// If a pattern has as many body locations as there are haptic channels, each channel carries one
/// of them, unless a channel names a body location or an array is panned.
public struct ChannelRouting: Sendable {
  /// A channel with its gain.
  public struct ChannelGain: Equatable, Sendable {
    /// The index of the channel, from 0.
    public var index: Int
    /// The linear gain.
    public var gain: Float

    /// Creates a channel with a gain.
    public init(index: Int, gain: Float = 1) {
      self.index = index
      self.gain = gain
    }
  }

  /// The settings of one channel. They take precedence over the lists of channels.
  public struct ChannelSettings: Sendable {
    /// The index of the channel, from 0.
    public var index: Int
    /// The content of the channel, or nil for that of the lists.
    public var content: (hasHaptics: Bool, audio: OutputRouting.Channel.Audio)?
    /// The profile of the channel's transducer, or nil for the default profile.
    public var profile: TransducerProfile?
    /// The body location that the channel carries, by its number or name; nil for all.
    public var source: String?
    /// The linear gain.
    public var gain: Float = 1
    /// The delay, in seconds.
    public var delay = 0.0
    /// A Boolean value that indicates whether the polarity is inverted.
    public var isInverted = false
    /// The filters, in series.
    public var filters: [ChannelFilter] = []

    /// Creates default settings for a channel.
    public init(index: Int) { self.index = index }
  }

  /// The channels with haptics, or nil for all.
  public var hapticChannels: [ChannelGain]?
  /// The channels with audio, alternately left and right, or nil for the first two. A single
  /// channel carries both sides.
  public var audioChannels: [ChannelGain]?
  /// The settings of individual channels.
  public var channelSettings: [ChannelSettings] = []
  /// The array of transducers, which replaces `hapticChannels` and `channelSettings`; nil without
  /// an array.
  public var array: TransducerArray?
  /// The path of the pattern across the array, or nil to play all transducers alike.
  public var panPath: PanPath?

  /// Creates the default routing.
  public init() {}

  /// Returns the send gain of each haptic bus over time; empty for constant gains of 1.
  public func sendGains(rate: Double) -> [SendAutomation] {
    guard let array, let panPath else { return [] }
    return panPath.sendGains(on: array, rate: rate)
  }

  /// The minimum number of channels that the settings refer to.
  public var minimumChannelCount: Int {
    let indices =
      [hapticChannels, audioChannels].flatMap { $0?.map(\.index) ?? [] }
      + channelSettings.map(\.index)
    return (indices + (array?.transducers.map { $0.channel - 1 } ?? [])).max().map { $0 + 1 } ?? 1
  }

  /// A Boolean value that indicates whether any transducer has a profile of its own.
  public var hasChannelProfiles: Bool {
    array != nil || self.channelSettings.contains { $0.profile != nil }
  }

  /// Returns the routing on a number of channels, with the profile of each haptic bus.
  ///
  /// - Parameters:
  ///   - channelCount: The number of channels.
  ///   - rate: The sample rate in hertz, by which delays become whole frames.
  ///   - profile: The profile of channels without a profile of their own.
  ///   - buses: The parts of the pattern that are rendered.
  ///   - bodyLocationCount: The number of body locations of the pattern.
  public func resolved(
    channelCount: Int, rate: Double, profile: TransducerProfile, buses: RenderSettings.Buses = .all,
    bodyLocationCount: Int = 0
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var channels = OutputRouting(channelCount: channelCount, buses: buses).channels
    if let hapticChannels, buses != .audio {
      for index in channels.indices {
        channels[index].hapticBus = nil
      }
      for entry in hapticChannels where entry.index < channels.count {
        channels[entry.index].hapticBus = 0
        channels[entry.index].hapticGain = entry.gain
      }
    }
    if let audioChannels, buses != .haptics {
      for index in channels.indices {
        channels[index].audio = .none
      }
      let sides: [OutputRouting.Channel.Audio] =
        audioChannels.count == 1 ? [.both] : [.left, .right]
      for (place, entry) in audioChannels.enumerated() where entry.index < channels.count {
        channels[entry.index].audio = sides[place % sides.count]
        channels[entry.index].audioGain = entry.gain
      }
    }
    for word in self.channelSettings where word.index < channels.count {
      if let content = word.content {
        channels[word.index].hapticBus = content.hasHaptics && buses != .audio ? 0 : nil
        channels[word.index].audio = buses == .haptics ? .none : content.audio
      }
      channels[word.index].hapticGain *= word.gain
      channels[word.index].audioGain *= word.gain
      channels[word.index].delay = Int(FrameConversion.frame(seconds: word.delay, rate: rate))
      channels[word.index].isInverted = word.isInverted
      channels[word.index].filters = word.filters
    }
    if let array {
      return Self.resolved(
        array: array, channels: channels, rate: rate, buses: buses,
        bodyLocationCount: panPath == nil ? placeCount : 0)
    }
    let felt = channels.indices.filter { channels[$0].hapticBus != nil }
    let distributesPlaces =
      bodyLocationCount > 1 && felt.count == bodyLocationCount
      && !self.channelSettings.contains { $0.source != nil }
    var profiles: [TransducerProfile] = []
    for (place, index) in felt.enumerated() {
      let own = self.channelSettings.first { $0.index == index }
      var wanted = own?.profile ?? profile
      wanted.bodyLocation = distributesPlaces ? "\(place + 1)" : own?.source
      let bus = profiles.firstIndex(of: wanted) ?? profiles.count
      if bus == profiles.count {
        profiles.append(wanted)
      }
      channels[index].hapticBus = bus
    }
    let routing = OutputRouting(channels: channels).fitted(to: profiles)
    return (routing, profiles.isEmpty ? [profile] : profiles)
  }

  /// Returns the routing with a haptic bus for each transducer of an array.
  private static func resolved(
    array: TransducerArray, channels: [OutputRouting.Channel], rate: Double,
    buses: RenderSettings.Buses,
    bodyLocationCount: Int
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var channels = channels
    for index in channels.indices {
      channels[index].hapticBus = nil
    }
    for (bus, transducer) in array.transducers.enumerated() where transducer.channel <= channels.count
    {
      let index = transducer.channel - 1
      let gain = Float(NumberFormatting.amplitude(decibels: transducer.gain))
      if buses != .audio {
        channels[index].hapticBus = bus
      }
      channels[index].hapticGain = gain
      channels[index].audioGain *= gain
      channels[index].delay = Int(FrameConversion.frame(seconds: transducer.delay, rate: rate))
      channels[index].isInverted = transducer.isInverted
    }
    let distributesPlaces =
      bodyLocationCount > 1 && bodyLocationCount == array.transducers.count
      && !array.transducers.contains { $0.bodyLocation != nil }
    let profiles = array.transducers.enumerated().map { bus, transducer in
      var profile = transducer.profile
      profile.bodyLocation = distributesPlaces ? "\(bus + 1)" : transducer.bodyLocation
      return profile
    }
    return (OutputRouting(channels: channels).fitted(to: profiles), profiles)
  }
}

extension ArrayPosition {
  /// The maximum magnitude of a position on a line or a plane.
  private static let maximumMagnitude = 1e6
  /// The maximum magnitude of an angle in degrees: ten turns around a ring.
  private static let maximumDegrees = 3_600.0

  /// Parses a number, or two numbers with a slash for a plane; nil for any other text.
  package init?(_ text: String, in layout: TransducerArray.Layout) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
    let found = numbers.compactMap { $0 }.filter {
      $0.magnitude <= (layout == .ring ? Self.maximumDegrees : Self.maximumMagnitude)
    }
    guard found.count == numbers.count else { return nil }
    switch (layout, found.count) {
    case (.plane, 2): self.init(found[0], found[1])
    case (.line, 1), (.ring, 1): self.init(found[0])
    default: return nil
    }
  }
}

extension TransducerArray.Layout {
  /// The description of a position for messages.
  package var positionDescription: String {
    switch self {
    case .line: "a position on the line, such as -0.5"
    case .ring: "an angle in degrees, such as 90"
    case .plane: "metres on the plane as X/Y, such as 0.5/-1"
    }
  }
}
