/// What happened while rendering, for the control side to read.
public struct RenderStatistics: Equatable, Sendable {
  /// Frames rendered, the limiter's delay included.
  public var frameCount: Int64 = 0
  /// Frames in which a limiter held the level down, summed over channels that differ.
  public var limitedFrameCount: Int64 = 0
  /// Samples that were no finite number and became silence.
  public var nonFiniteSampleCount: Int64 = 0
  /// Voices that sound in the last turn.
  public var voiceCount = 0
  /// The most voices in one block.
  public var peakVoiceCount = 0
  /// The greatest magnitude before the limiter.
  public var peak: Float = 0
  /// Frames in which a transducer was kept from moving too far, summed over channels that differ.
  public var excursionLimitedFrameCount: Int64 = 0
  /// Frames in which a transducer was kept from growing too warm, summed over channels that differ.
  public var powerLimitedFrameCount: Int64 = 0
  /// The least factor on the drive in these frames; 1 where there were none.
  public var minimumProtectionGain: Float = 1
  /// The greatest movement of a transducer as a share of its limit.
  public var peakExcursion: Float = 0
  /// The greatest warmth of a transducer as a share of its limit.
  public var peakTemperatureRise: Float = 0

  /// Nothing rendered yet.
  @_noLocks
  public init() {}
}
