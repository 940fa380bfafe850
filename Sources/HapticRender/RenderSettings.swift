/// What a renderer makes of a plan: channels, buses, level, length.
public struct RenderSettings: Equatable, Sendable {
  /// Which of the two buses are heard.
  public enum Buses: String, CaseIterable, Sendable {
    /// Haptics and audio.
    case all
    /// Haptics alone.
    case haptics
    /// Audio alone.
    case audio
  }

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

  /// Makes settings for the usual routing; the defaults play everything once on one channel.
  public init(
    channelCount: Int = 1, buses: Buses = .all, gain: Float = 1, passCount: Int? = 1,
    length: Int64? = nil, fadeLength: Int64 = 0
  ) {
    self.init(
      routing: OutputRouting(channelCount: channelCount, buses: buses), gain: gain,
      passCount: passCount, length: length, fadeLength: fadeLength)
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
