internal import SignalAnalysis

/// What is measured of one take, to stand beside another's.
public struct TakeFigures: Equatable, Sendable {
  /// Seconds from the first to the last sample.
  public var duration: Double
  /// The greatest magnitude in dBFS; nothing for silence.
  public var peak: Double?
  /// The root mean square in dBFS, a full-scale square wave being 0; nothing for silence.
  public var rms: Double?
  /// Loudness in LUFS; nothing where it is too short or too quiet to have one.
  public var loudness: Double?
  /// The level a body feels, in dB; nothing for silence.
  public var felt: Double?
  /// The middle of the spectrum's power, in hertz; nothing for silence.
  public var centroid: Double?
  /// The frequency with the most power, in hertz; nothing for silence.
  public var dominant: Double?
  /// How many sounds begin.
  public var onsetCount: Int
  /// How many channels there are.
  public var channelCount: Int

  /// Measures a take.
  public init(_ take: Take) {
    let signal = take.signal
    duration = signal.duration
    channelCount = signal.channels.count
    onsetCount = 0
  }
}
