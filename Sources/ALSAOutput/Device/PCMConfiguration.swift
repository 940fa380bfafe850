public import PCMSamples

/// What a device granted, read back from it.
public struct PCMConfiguration: Equatable, Sendable {
  /// Frames per second.
  public var rate: Int
  /// Interleaved channels.
  public var channelCount: Int
  /// How samples are stored.
  public var encoding: SampleEncoding
  /// How frames get there.
  public var access: PCMAccess
  /// Frames between two wake-ups.
  public var periodSize: Int
  /// Frames that fit in all.
  public var bufferSize: Int
  /// Whether a sound card plays the frames without a sound server between.
  public var isHardware: Bool
  /// Whether the device takes frames faster than time goes by, so that the clock holds them back.
  public var isPaced: Bool
}
