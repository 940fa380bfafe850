/// What a renderer makes of a plan: channels, buses, level, length.
public struct RenderSettings: Equatable, Sendable {
  /// Which of the two buses are heard.
  public enum Buses: String, CaseIterable, Sendable { case all, haptics, audio }

  /// What the interleaved channels carry.
  public var routing: OutputRouting
  /// A factor on everything, before the limiter; 0 is silence.
  public var gain: Float
  /// How often the pattern is played, or nothing for endlessly.
  public var passCount: Int?
  /// Frames after which the output has faded to silence, or nothing for no end.
  public var length: Int64?
  /// Frames of the fade before `length`.
  public var fadeLength: Int64
  /// Whether the mix leaves as it is, without limiter, removal of offsets and what transducers
  /// need.
  public var isRaw = false

  /// Makes settings for the usual routing; the defaults play everything once on one channel.
  public init(
    channelCount: Int = 1, buses: Buses = .all, gain: Float = 1, passCount: Int? = 1,
    length: Int64? = nil,
    fadeLength: Int64 = 0
  ) {
    self.init(
      routing: OutputRouting(channelCount: channelCount, buses: buses), gain: gain,
      passCount: passCount,
      length: length, fadeLength: fadeLength)
  }

  /// Makes settings for channels that are routed one by one.
  public init(
    routing: OutputRouting, gain: Float = 1, passCount: Int? = 1, length: Int64? = nil,
    fadeLength: Int64 = 0
  ) {
    self.routing = routing
    self.gain = gain.isFinite ? gain : 0
    self.passCount = passCount
    self.length = length
    self.fadeLength = max(0, fadeLength)
  }

  /// Interleaved channels, 1–64.
  public var channelCount: Int { routing.channels.count }
}

/// Which bus is heard on which channel.
public struct OutputRouting: Equatable, Sendable {
  /// What one channel carries.
  public struct Channel: Equatable, Sendable {
    /// A side of the audio bus, or both as one.
    public enum Audio: UInt8, Sendable { case none, left, right, both }

    /// The haptic bus that is heard, or nothing.
    public var hapticBus: Int?
    /// The part of the audio bus that is heard.
    public var audio: Audio
    /// A factor on the haptics, and on the audio.
    public var hapticGain, audioGain: Float
    /// Frames by which the channel lags, at most `OutputRouting.maximumDelay`.
    public var delay: Int
    /// Whether the channel's polarity is inverted.
    public var isInverted: Bool
    /// What the channel drives: its profile's hardware decides filters and limits; without, there
    /// are none.
    public var transducer: TransducerProfile?
    /// What the mix passes first, one behind the other, at most `ChannelFilter.maximumCount`.
    public var filters: [ChannelFilter] = []

    /// Makes a channel; the default is silence.
    public init(
      hapticBus: Int? = nil, hapticGain: Float = 1, audio: Audio = .none, audioGain: Float = 1,
      delay: Int = 0,
      isInverted: Bool = false, transducer: TransducerProfile? = nil
    ) {
      self.hapticBus = hapticBus
      self.hapticGain = hapticGain.isFinite ? hapticGain : 0
      self.audio = audio
      self.audioGain = audioGain.isFinite ? audioGain : 0
      self.delay = min(max(0, delay), OutputRouting.maximumDelay)
      self.isInverted = isInverted
      self.transducer = transducer
    }

    func hasSameMix(as other: Channel) -> Bool {
      hapticBus == other.hapticBus && hapticGain == other.hapticGain && audio == other.audio
        && audioGain == other.audioGain && transducer == other.transducer
        && filters == other.filters
    }
  }

  /// The longest delay of a channel, in frames: a second at 192 kHz.
  public static let maximumDelay = 192_000
  /// How many channels an output can have.
  public static let channelCounts = 1...maximumChannelCount
  /// The maximum number of channels.
  public static let maximumChannelCount = 64
  /// The maximum number of haptic buses.
  public static let maximumHapticBusCount = 64

  /// The channels in the order of a frame, 1–64.
  public var channels: [Channel]

  /// Routes channels one by one.
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

  /// The usual routing: one channel carries everything; of several, all carry the haptics, and the
  /// first two the left and the right of the audio.
  public init(channelCount: Int = 1, buses: RenderSettings.Buses = .all) {
    let count = min(max(channelCount, 1), Self.maximumChannelCount)
    let sides: [Channel.Audio] = count == 1 ? [.both] : [.left, .right]
    self.init(
      channels: (0..<count).map { index in
        Channel(
          hapticBus: buses == .audio ? nil : 0,
          audio: buses == .haptics || index >= sides.count ? .none : sides[index])
      })
  }

  /// The routing in which every channel with haptics drives the hardware of its bus's profile.
  ///
  /// - Parameter profiles: The profile of each haptic bus; channels that have a transducer keep it.
  public func fitted(to profiles: [TransducerProfile]) -> OutputRouting {
    var fitted = self
    for index in fitted.channels.indices where fitted.channels[index].transducer == nil {
      guard let bus = fitted.channels[index].hapticBus, profiles.indices.contains(bus),
        profiles[bus].hardware != nil
      else { continue }
      fitted.channels[index].transducer = profiles[bus]
    }
    return fitted
  }

  /// How many haptic buses the channels name.
  public var hapticBusCount: Int { (channels.compactMap { $0.hapticBus }.max() ?? 0) + 1 }
  /// Whether any channel carries one side of the audio alone.
  var isStereo: Bool { channels.contains { $0.audio == .left || $0.audio == .right } }
}
