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
  /// A channel to which a signal is sent, with its gain.
  public struct ChannelGain: Equatable, Sendable {
    /// The index of the channel, from 0.
    public var channelIndex: Int
    /// The linear gain of the channel.
    public var linearGain: Float

    /// Creates a channel with a gain.
    public init(index: Int, linearGain: Float = 1) {
      self.channelIndex = index
      self.linearGain = linearGain
    }
  }

  /// The settings of one channel. They take precedence over the lists of channels.
  public struct ChannelSettings: Sendable {
    /// The index of the channel, from 0.
    public var channelIndex: Int
    /// The content of the channel, or nil if the lists of haptic and audio channels determine it.
    public var explicitContent: (hasHaptics: Bool, audio: OutputRouting.Channel.AudioSide)?
    /// The profile of the channel's transducer, or nil for the default profile.
    public var profile: TransducerProfile?
    /// The number or name of the body location that the channel carries; nil for all body
    /// locations.
    public var sourceBodyLocation: String?
    /// The linear gain of the channel.
    public var linearGain: Float = 1
    /// The delay of the channel, in seconds.
    public var delaySeconds = 0.0
    /// A Boolean value that indicates whether the polarity of the channel is inverted.
    public var isInverted = false
    /// The filters of the channel, in series.
    public var filters: [ChannelFilter] = []

    /// Creates default settings for a channel.
    public init(index: Int) { self.channelIndex = index }
  }

  /// The channels that carry haptics, or nil for all channels.
  public var hapticChannelGains: [ChannelGain]?
  /// The channels that carry audio, alternately left and right, or nil for the first two.
  /// A single channel carries both sides.
  public var audioChannelGains: [ChannelGain]?
  /// The settings of individual channels, which take precedence over the lists of channels.
  public var channelSettings: [ChannelSettings] = []
  /// The array of transducers, which replaces `hapticChannelGains` and `channelSettings`; nil
  /// without an array.
  public var transducerArray: TransducerArray?
  /// The path of the pattern across the array, or nil to play all transducers alike.
  public var panPath: PanPath?

  /// Creates the default routing.
  public init() {}

  /// Returns the send gain of each haptic bus over time. The result is empty for constant gains of
  /// 1.
  public func sendGains(rate: Double) -> [SendAutomation] {
    guard let transducerArray, let panPath else { return [] }
    return panPath.sendGains(on: transducerArray, rate: rate)
  }

  /// The minimum number of output channels that the settings require, which is the number of the
  /// highest channel in use.
  public var minimumChannelCount: Int {
    let usedChannelIndices =
      [hapticChannelGains, audioChannelGains].flatMap { $0?.map(\.channelIndex) ?? [] }
      + channelSettings.map(\.channelIndex)
    let arrayIndices = transducerArray?.transducers.map { $0.channelNumber - 1 } ?? []
    guard let maximumIndex = (usedChannelIndices + arrayIndices).max() else { return 1 }
    return maximumIndex + 1
  }

  /// A Boolean value that indicates whether a profile is specified for any individual channel.
  public var hasChannelProfiles: Bool {
    transducerArray != nil || channelSettings.contains { $0.profile != nil }
  }

  /// Returns the output routing for the given number of channels, with the profile of each haptic
  /// bus.
  ///
  /// - Parameters:
  ///   - channelCount: The number of channels.
  ///   - rate: The sample rate in hertz, by which delays become whole frames.
  ///   - profile: The profile of channels without a profile of their own.
  ///   - buses: The parts of the pattern that are rendered.
  ///   - bodyLocationCount: The number of body locations of the pattern.
  public func resolvedRouting(
    channelCount: Int, rate: Double, profile: TransducerProfile,
    buses: RenderSettings.AudibleBuses = .all,
    bodyLocationCount: Int = 0
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var outputChannels = OutputRouting(channelCount: channelCount, buses: buses).channels
    if buses != .audio {
      assignHaptics(to: &outputChannels)
    }
    if buses != .haptics {
      assignAudio(to: &outputChannels)
    }
    applySettings(to: &outputChannels, rate: rate, buses: buses)
    if let transducerArray {
      return Self.resolvedRouting(
        array: transducerArray, channels: outputChannels, rate: rate, buses: buses,
        bodyLocationCount: panPath == nil ? bodyLocationCount : 0)
    }
    let busProfiles = assignProfiles(
      to: &outputChannels, default: profile, bodyLocationCount: bodyLocationCount)
    let outputRouting = OutputRouting(channels: outputChannels).assigningTransducers(
      of: busProfiles)
    return (outputRouting, busProfiles.isEmpty ? [profile] : busProfiles)
  }

  /// Applies the list of channels that carry haptics.
  private func assignHaptics(to channels: inout [OutputRouting.Channel]) {
    guard let hapticChannelGains else { return }
    for index in channels.indices {
      channels[index].hapticBus = nil
    }
    for entry in hapticChannelGains where entry.channelIndex < channels.count {
      channels[entry.channelIndex].hapticBus = 0
      channels[entry.channelIndex].hapticGain = entry.linearGain
    }
  }

  /// Applies the list of channels that carry audio.
  private func assignAudio(to channels: inout [OutputRouting.Channel]) {
    guard let audioChannelGains else { return }
    for index in channels.indices {
      channels[index].audioSide = .none
    }
    let audioSides: [OutputRouting.Channel.AudioSide] =
      audioChannelGains.count == 1 ? [.both] : [.left, .right]
    for (position, entry) in audioChannelGains.enumerated()
    where entry.channelIndex < channels.count {
      channels[entry.channelIndex].audioSide = audioSides[position % audioSides.count]
      channels[entry.channelIndex].audioGain = entry.linearGain
    }
  }

  /// Applies the settings of individual channels.
  private func applySettings(
    to channels: inout [OutputRouting.Channel], rate: Double, buses: RenderSettings.AudibleBuses
  ) {
    for settings in channelSettings where settings.channelIndex < channels.count {
      let index = settings.channelIndex
      if let content = settings.explicitContent {
        channels[index].hapticBus = content.hasHaptics && buses != .audio ? 0 : nil
        channels[index].audioSide = buses == .haptics ? .none : content.audio
      }
      channels[index].hapticGain *= settings.linearGain
      channels[index].audioGain *= settings.linearGain
      channels[index].delayFrameCount = Int(
        FrameConversion.frame(seconds: settings.delaySeconds, rate: rate))
      channels[index].isInverted = settings.isInverted
      channels[index].filters = settings.filters
    }
  }

  /// Assigns a haptic bus to each distinct profile of a haptic channel. Returns the profiles.
  private func assignProfiles(
    to channels: inout [OutputRouting.Channel], default profile: TransducerProfile,
    bodyLocationCount: Int
  ) -> [TransducerProfile] {
    let hapticIndices = channels.indices.filter { channels[$0].hapticBus != nil }
    let distributesBodyLocations =
      bodyLocationCount > 1 && hapticIndices.count == bodyLocationCount
      && !channelSettings.contains { $0.sourceBodyLocation != nil }
    var busProfiles: [TransducerProfile] = []
    for (position, index) in hapticIndices.enumerated() {
      let settings = channelSettings.first { $0.channelIndex == index }
      var channelProfile = settings?.profile ?? profile
      channelProfile.bodyLocation =
        distributesBodyLocations ? "\(position + 1)" : settings?.sourceBodyLocation
      let bus = busProfiles.firstIndex(of: channelProfile) ?? busProfiles.count
      if bus == busProfiles.count {
        busProfiles.append(channelProfile)
      }
      channels[index].hapticBus = bus
    }
    return busProfiles
  }

  /// Returns the routing with a haptic bus for each transducer of an array.
  private static func resolvedRouting(
    array: TransducerArray, channels: [OutputRouting.Channel], rate: Double,
    buses: RenderSettings.AudibleBuses,
    bodyLocationCount: Int
  ) -> (routing: OutputRouting, profiles: [TransducerProfile]) {
    var arrayChannels = channels
    for index in arrayChannels.indices {
      arrayChannels[index].hapticBus = nil
    }
    for (bus, transducer) in array.transducers.enumerated()
    where transducer.channelNumber <= arrayChannels.count {
      let index = transducer.channelNumber - 1
      let gain = Float(NumberFormatting.amplitude(decibels: transducer.gainDecibels))
      if buses != .audio {
        arrayChannels[index].hapticBus = bus
      }
      arrayChannels[index].hapticGain = gain
      arrayChannels[index].audioGain *= gain
      arrayChannels[index].delayFrameCount = Int(
        FrameConversion.frame(seconds: transducer.delaySeconds, rate: rate))
      arrayChannels[index].isInverted = transducer.isInverted
    }
    let distributesBodyLocations =
      bodyLocationCount > 1 && bodyLocationCount == array.transducers.count
      && !array.transducers.contains { $0.bodyLocation != nil }
    let busProfiles = array.transducers.enumerated().map { bus, transducer in
      var profile = transducer.profile
      profile.bodyLocation = distributesBodyLocations ? "\(bus + 1)" : transducer.bodyLocation
      return profile
    }
    return (
      OutputRouting(channels: arrayChannels).assigningTransducers(of: busProfiles), busProfiles
    )
  }
}

extension ArrayPosition {
  /// The maximum magnitude of a coordinate on a line or a plane.
  private static let maximumCoordinateMagnitude = 1e6
  /// The maximum magnitude of an angle around a ring, in degrees, which is ten full turns.
  private static let maximumRingDegrees = 3_600.0

  /// Parses a position from a number, or from two numbers with a slash for a plane; nil for any
  /// other text.
  package init?(_ text: String, in layout: TransducerArray.Layout) {
    let parsedNumbers = text.split(separator: "/", omittingEmptySubsequences: false).map {
      Double($0)
    }
    let maximumMagnitude =
      layout == .ring ? Self.maximumRingDegrees : Self.maximumCoordinateMagnitude
    let coordinates = parsedNumbers.compactMap { $0 }.filter { $0.magnitude <= maximumMagnitude }
    guard coordinates.count == parsedNumbers.count else { return nil }
    switch (layout, coordinates.count) {
    case (.plane, 2): self.init(coordinates[0], coordinates[1])
    case (.line, 1), (.ring, 1): self.init(coordinates[0])
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
    case .plane: "X/Y on the plane, in meters, such as 0.5/-1"
    }
  }
}
