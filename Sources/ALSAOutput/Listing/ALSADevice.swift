public import PCMSamples

/// A playback device that has a name.
public struct ALSADevice: Equatable, Sendable {
  /// What a device can do by itself, without conversion.
  public struct Capabilities: Equatable, Sendable {
    /// The common rates it has, in hertz, or the ends of its range.
    public var rates: [Int]
    /// The numbers of channels it has, up to 64.
    public var channelCounts: [Int]
    /// How samples can be stored, best first.
    public var encodings: [SampleEncoding]
    /// Frames of a period, least and most.
    public var periodLengths: ClosedRange<Int>
    /// Whether a sound card plays the frames without a sound server between.
    public var isHardware: Bool
  }

  /// The name to ask for.
  public var name: String
  /// What the configuration or the card says of itself, on one line.
  public var description: String
  /// What it can do; nothing where it could not be asked.
  public internal(set) var abilities: Capabilities?
  /// Why it could not be asked.
  public internal(set) var problem: ALSAError?

  /// Whether something else plays on it.
  public var isBusy: Bool { problem?.kind == .deviceBusy }
}
