/// The settings of a renderer: channels, buses, level, and length.
public struct RenderSettings: Equatable, Sendable {
  /// The kinds of buses that are audible in a rendering.
  public enum AudibleBuses: String, CaseIterable, Sendable { case all, haptics, audio }

  /// The routing of the buses to the interleaved channels.
  public var routing: OutputRouting
  /// The gain of the whole mix before the limiter; 0 is silence.
  public var masterGain: Float
  /// The number of times that the pattern plays, or nil to loop forever.
  public var passCount: Int?
  /// The length of the output in frames, including the fade-out at its end, or nil for no limit.
  public var outputFrameCount: Int64?
  /// The length, in frames, of the fade-out that ends at `outputFrameCount`.
  public var fadeOutFrameCount: Int64
  /// A Boolean value that indicates whether the mix bypasses the output processing.
  ///
  /// Output processing consists of the limiter, the DC blocker, and the processing for transducers.
  public var bypassesOutputProcessing = false

  /// Creates settings with the default routing.
  ///
  /// - Parameters:
  ///   - channelCount: The number of channels.
  ///   - buses: The buses that are audible.
  ///   - gain: The gain of the whole mix; a gain that isn't finite becomes 0.
  ///   - passCount: The number of times that the pattern plays, or nil to loop forever.
  ///   - length: The length of the output in frames, including the fade-out, or nil for no limit.
  ///   - fadeLength: The length of the fade-out in frames.
  public init(
    channelCount: Int = 1, buses: AudibleBuses = .all, masterGain gain: Float = 1,
    passCount: Int? = 1,
    outputFrameCount length: Int64? = nil, fadeOutFrameCount fadeLength: Int64 = 0
  ) {
    self.init(
      routing: OutputRouting(channelCount: channelCount, buses: buses), masterGain: gain,
      passCount: passCount, outputFrameCount: length, fadeOutFrameCount: fadeLength)
  }

  /// Creates settings with a custom routing of the buses to the output channels.
  public init(
    routing: OutputRouting, masterGain gain: Float = 1, passCount: Int? = 1,
    outputFrameCount length: Int64? = nil,
    fadeOutFrameCount fadeLength: Int64 = 0
  ) {
    self.routing = routing
    self.masterGain = gain.isFinite ? gain : 0
    self.passCount = passCount
    self.outputFrameCount = length
    self.fadeOutFrameCount = max(0, fadeLength)
  }

  /// The number of interleaved channels, 1–64.
  public var channelCount: Int { routing.channels.count }
}

/// The routing of the haptic and audio buses to the output channels.
public struct OutputRouting: Equatable, Sendable {
  /// An output channel: the buses that are mixed into it, and their processing.
  public struct Channel: Equatable, Sendable {
    /// The sides of the stereo audio bus that a channel can carry.
    public enum AudioSide: UInt8, Sendable { case none, left, right, both }

    /// The index of the haptic bus that the channel carries, or nil if it carries no haptics.
    public var hapticBus: Int?
    /// The side of the stereo audio bus that the channel carries.
    public var audioSide: AudioSide
    /// The gain of the haptic bus in the mix of the channel.
    public var hapticGain: Float
    /// The gain of the audio bus in the mix of the channel.
    public var audioGain: Float
    /// The delay of the channel, in frames, at most `OutputRouting.maximumDelayFrameCount`.
    public var delayFrameCount: Int
    /// A Boolean value that indicates whether the polarity of the channel is inverted.
    public var isInverted: Bool
    /// The profile of the channel's transducer, or nil for none.
    ///
    /// Its hardware determines the filters and limits of the channel.
    public var transducer: TransducerProfile?
    /// The user-defined filters of the channel, in series.
    ///
    /// At most `ChannelFilter.maximumCountPerChannel` filters are supported.
    public var filters: [ChannelFilter] = []

    /// Creates a channel from its buses, gains, and delay. By default, the channel is silent.
    ///
    /// - Parameters:
    ///   - hapticBus: The haptic bus, or nil for none.
    ///   - hapticGain: The gain of the haptics.
    ///   - audio: The part of the audio bus.
    ///   - audioGain: The gain of the audio.
    ///   - delay: The delay in frames, clamped to `OutputRouting.maximumDelayFrameCount`.
    ///   - isInverted: Whether the polarity is inverted.
    ///   - transducer: The profile of the transducer, or nil for none.
    public init(
      hapticBus: Int? = nil, hapticGain: Float = 1, audioSide audio: AudioSide = .none,
      audioGain: Float = 1,
      delayFrameCount delay: Int = 0, isInverted: Bool = false, transducer: TransducerProfile? = nil
    ) {
      self.hapticBus = hapticBus
      self.hapticGain = hapticGain.isFinite ? hapticGain : 0
      self.audioSide = audio
      self.audioGain = audioGain.isFinite ? audioGain : 0
      self.delayFrameCount = min(max(0, delay), OutputRouting.maximumDelayFrameCount)
      self.isInverted = isInverted
      self.transducer = transducer
    }

    /// Returns true if two channels differ at most in delay and polarity.
    func hasSameMix(as other: Channel) -> Bool {
      hapticBus == other.hapticBus && hapticGain == other.hapticGain && audioSide == other.audioSide
        && audioGain == other.audioGain && transducer == other.transducer
        && filters == other.filters
    }
  }

  /// The maximum delay of a channel, in frames: one second at 192 kHz.
  public static let maximumDelayFrameCount = 192_000
  /// The supported numbers of channels.
  public static let channelCounts = 1...maximumChannelCount
  /// The maximum number of channels.
  public static let maximumChannelCount = 64
  /// The maximum number of haptic buses.
  public static let maximumHapticBusCount = 64

  /// The channels in interleaving order, 1–64.
  public var channels: [Channel]

  /// Creates a routing from its channels.
  ///
  /// The number of channels and their bus indices are clamped to the supported ranges.
  public init(channels: [Channel]) {
    self.channels = Array(channels.prefix(Self.maximumChannelCount))
    if self.channels.isEmpty {
      self.channels = [Channel()]
    }
    for index in self.channels.indices {
      guard let bus = self.channels[index].hapticBus else { continue }
      self.channels[index].hapticBus = min(max(0, bus), Self.maximumHapticBusCount - 1)
    }
  }

  /// Creates the default routing of the buses to a number of channels.
  ///
  /// A single channel carries everything. Of several channels, all carry the haptics, and the first
  /// two carry the left and the right audio.
  public init(channelCount: Int = 1, buses: RenderSettings.AudibleBuses = .all) {
    let clampedChannelCount = min(max(channelCount, 1), Self.maximumChannelCount)
    let audioSides: [Channel.AudioSide] = clampedChannelCount == 1 ? [.both] : [.left, .right]
    self.init(
      channels: (0..<clampedChannelCount).map { index in
        Channel(
          hapticBus: buses == .audio ? nil : 0,
          audioSide: buses == .haptics || index >= audioSides.count ? .none : audioSides[index])
      })
  }

  /// Returns a copy of the routing with a transducer for each haptic channel.
  ///
  /// A channel without a transducer drives the hardware of its bus's profile.
  ///
  /// - Parameter profiles: The profile of each haptic bus; channels that have a transducer keep it.
  public func assigningTransducers(of profiles: [TransducerProfile]) -> OutputRouting {
    var assignedRouting = self
    for index in assignedRouting.channels.indices
    where assignedRouting.channels[index].transducer == nil {
      guard let bus = assignedRouting.channels[index].hapticBus, profiles.indices.contains(bus),
        profiles[bus].hardware != nil
      else { continue }
      assignedRouting.channels[index].transducer = profiles[bus]
    }
    return assignedRouting
  }

  /// The number of haptic buses that the channels use.
  public var hapticBusCount: Int { (channels.compactMap { $0.hapticBus }.max() ?? 0) + 1 }
  /// A Boolean value that indicates whether any channel carries only left or only right audio.
  var isStereo: Bool { channels.contains { $0.audioSide == .left || $0.audioSide == .right } }
}
