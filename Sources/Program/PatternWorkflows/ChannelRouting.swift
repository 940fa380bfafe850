public import HapticRender
public import TransducerProfiles
internal import HapticModel
internal import SystemSupport

/// What each channel carries.
///
/// What is not said is as usual: on one channel everything, on more the haptics on all and the two
/// sides of the audio on the first two. A pattern of as many places as channels have haptics is
/// felt on one channel for each, where no channel names its place and no array pans it.
public struct ChannelRouting: Sendable {
  /// A channel that carries something.
  public struct ChannelGain: Equatable, Sendable {
    /// The channel, from 0.
    public var index: Int
    /// A factor.
    public var gain: Float

    /// A channel with a factor.
    public init(index: Int, gain: Float = 1) {
      self.index = index
      self.gain = gain
    }
  }

  /// Settings of one channel, which outrank the lists.
  public struct ChannelSettings: Sendable {
    /// The channel, from 0.
    public var index: Int
    /// What it carries; nothing where the lists say it.
    public var content: (hasHaptics: Bool, audio: OutputRouting.Channel.Audio)?
    /// The profile of its transducer, where it has one of its own.
    public var profile: TransducerProfile?
    /// The place of patterns that it carries, by its number or its name; nil for all.
    public var source: String?
    /// A factor.
    public var gain: Float = 1
    /// Seconds.
    public var delay = 0.0
    /// Whether its polarity is reversed.
    public var isInverted = false
    /// Its filters, one behind the other.
    public var filters: [ChannelFilter] = []

    /// A channel whose settings are the usual ones.
    public init(index: Int) { self.index = index }
  }

  /// The channels of haptics; nothing for all.
  public var hapticChannels: [ChannelGain]?
  /// The channels of audio, left and right in turn; one channel alone carries both. Nothing for the
  /// first two.
  public var audioChannels: [ChannelGain]?
  /// Settings of single channels.
  public var channelSettings: [ChannelSettings] = []
  /// The transducers, where a file says what they are; it stands in the place of `haptics` and
  /// `channels`.
  public var array: TransducerArray?
  /// Where patterns are felt in the array; nothing for all transducers alike.
  public var panPath: PanPath?

  /// The usual routing.
  public init() {}

  /// What each haptic bus gets of a pattern, at a rate; none for all of it.
  public func sendGains(rate: Double) -> [SendAutomation] {
    guard let array, let panPath else { return [] }
    return panPath.sendGains(on: array, rate: rate)
  }

  /// Channels there must be for all that is said.
  public var minimumChannelCount: Int {
    let indices =
      [hapticChannels, audioChannels].flatMap { $0?.map(\.index) ?? [] }
      + channelSettings.map(\.index)
    return (indices + (array?.transducers.map { $0.channel - 1 } ?? [])).max().map { $0 + 1 } ?? 1
  }

  /// Whether any transducer has a profile of its own.
  public var hasChannelProfiles: Bool {
    array != nil || self.channelSettings.contains { $0.profile != nil }
  }

  /// The routing on some channels with what each drives, and the profile of each haptic bus.
  ///
  /// - Parameters:
  ///   - rate: Frames per second, by which delays are whole frames.
  ///   - profile: The profile of channels that have none of their own.
  ///   - placeCount: Places of what is played.
  public func resolved(
    channelCount: Int, rate: Double, profile: TransducerProfile, buses: RenderSettings.Buses = .all,
    bodyLocationCount placeCount: Int = 0
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
      placeCount > 1 && felt.count == placeCount
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

  /// The routing with a haptic bus for each transducer.
  private static func resolved(
    array: TransducerArray, channels usual: [OutputRouting.Channel], rate: Double,
    buses: RenderSettings.Buses,
    bodyLocationCount placeCount: Int
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var channels = usual
    for index in channels.indices {
      channels[index].hapticBus = nil
    }
    for (bus, transducer) in array.transducers.enumerated() where transducer.channel <= usual.count
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
      placeCount > 1 && placeCount == array.transducers.count
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
  /// Positions are within this of 0.
  private static let maximumMagnitude = 1e6
  /// Ten turns either way around a ring.
  private static let maximumDegrees = 3_600.0

  /// Reads a number, or on a plane two with a slash between; nothing for any other text.
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
  /// What a position is in this layout, for messages.
  package var positionDescription: String {
    switch self {
    case .line: "a position on the line, such as -0.5"
    case .ring: "an angle in degrees, such as 90"
    case .plane: "metres on the plane as X/Y, such as 0.5/-1"
    }
  }
}
