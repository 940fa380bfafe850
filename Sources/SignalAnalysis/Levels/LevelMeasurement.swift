/// Measures a signal of any length block by block, in memory that does not grow with it.
///
/// Only loudness keeps a number for each 100 ms. One value may be used by one thread at a time.
public struct LevelMeasurement: ~Copyable {
  private var meters: [ChannelMeasurement] = []
  /// The loudness of all channels together, where there are several.
  private var loudness: LoudnessMeasurement?

  /// Starts a measurement.
  ///
  /// - Parameters:
  ///   - channelCount: 1 to 64.
  ///   - rate: A whole number of frames per second, 16 to 2,822,400.
  public init(channelCount: Int, rate: Double) throws(AnalysisError) {
    let together = try LoudnessMeasurement(channelCount: channelCount, rate: rate)
    if channelCount > 1 { loudness = together }
    for _ in 0..<channelCount {
      let own = try LoudnessMeasurement(channelCount: 1, rate: rate)
      meters.append(ChannelMeasurement(rate: rate, loudness: own))
    }
  }

  /// Takes in interleaved samples, a whole number of frames.
  public mutating func add(_ interleaved: Span<Float>) {
    for channel in meters.indices {
      meters[channel].add(interleaved, channel: channel, channelCount: meters.count)
    }
    loudness?.add(interleaved)
  }

  /// The figures of all that was added.
  ///
  /// The whole has the greatest peaks, the mean and mean square of all samples, and the loudness of
  /// the channels together.
  public consuming func finish() -> (whole: Levels, channels: [Levels]) {
    let channels = meters.indices.map { meters[$0].finish().levels }
    guard let loudness, !channels.isEmpty else { return (channels[0], channels) }
    let whole = Levels(joining: channels, integratedLoudness: loudness.finish())
    return (whole, channels)
  }
}
