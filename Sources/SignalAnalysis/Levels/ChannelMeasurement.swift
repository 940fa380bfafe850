/// Measures one channel block by block: its levels, without loudness, and its spectrum.
///
/// Several of them can share the work of a sound of many channels. One value may be used by one
/// thread at a time.
public final class ChannelMeasurement {
  private var meter: ChannelMeter

  /// Starts a measurement.
  public init(rate: Double) {
    meter = ChannelMeter(rate: rate, loudness: nil, withSpectrum: true)
  }

  /// Starts a measurement of levels with loudness, but without a spectrum.
  init(rate: Double, loudness: LoudnessMeasurement) {
    meter = ChannelMeter(rate: rate, loudness: loudness, withSpectrum: false)
  }

  /// Takes in one channel of interleaved samples, a whole number of frames.
  public func add(_ interleaved: Span<Float>, channel: Int, channelCount: Int) {
    meter.add(interleaved, channel: channel, channelCount: channelCount)
  }

  /// The figures of all that was added; nothing can be added afterwards.
  public func finish() -> (levels: Levels, spectrum: Spectrum?) { meter.finish() }
}
