/// Measures a signal of any length block by block, in memory that does not grow with it.
///
/// Only loudness keeps a number for each 100 ms. One value may be used by one thread at a time.
public struct LevelMeasurement: ~Copyable {
  private var meters: [ChannelMeter] = []
  /// The loudness of all channels together, where there are several.
  private var loudness: LoudnessMeter?

  /// Starts a measurement.
  ///
  /// - Parameters:
  ///   - channelCount: 1 to 64.
  ///   - rate: A whole number of frames per second, 16 to 2,822,400.
  public init(channelCount: Int, rate: Double) throws(AnalysisError) {
    let together = try LoudnessMeter(channelCount: channelCount, rate: rate)
    if channelCount > 1 { loudness = together }
    for _ in 0..<channelCount { meters.append(try ChannelMeter(rate: rate)) }
  }

  /// Takes in interleaved samples, a whole number of frames.
  public mutating func add(_ interleaved: Span<Float>) {
    for channel in meters.indices {
      meters[channel].add(interleaved, channel: channel, channelCount: meters.count)
    }
    guard let loudness else { return }
    guard FiniteSamples.areAllSound(interleaved) else {
      let sound = interleaved.indices.map { index in
        FiniteSamples.isSound(interleaved[index]) ? interleaved[index] : 0
      }
      loudness.add(sound.span)
      return
    }
    loudness.add(interleaved)
  }

  /// The figures of all that was added.
  ///
  /// The whole has the greatest peaks, the mean and mean square of all samples, and the loudness of
  /// the channels together.
  public consuming func finish() -> (whole: Levels, channels: [Levels]) {
    let channels = meters.indices.map { meters[$0].finish() }
    guard let loudness, !channels.isEmpty else { return (channels[0], channels) }
    let share = 1 / Double(channels.count)
    let square = channels.reduce(0) { $0 + $1.rms * $1.rms } * share
    let whole = Levels(
      samplePeak: channels.map(\.samplePeak).max() ?? 0,
      truePeak: channels.map(\.truePeak).max() ?? 0, rms: square.squareRoot(),
      dc: channels.reduce(0) { $0 + $1.dc } * share,
      integratedLoudness: loudness.finish(),
      nonFiniteCount: channels.reduce(0) { $0 + $1.nonFiniteCount })
    return (whole, channels)
  }
}
