internal import CEBUR128

/// The integrated loudness of channels that count alike, by libebur128.
///
/// ITU-R BS.1770 gates blocks of 0.4 s; a shorter sound is followed by silence up to 0.4 s. Memory
/// grows by some bytes for each 100 ms. One value may be used by one thread at a time.
@safe
public final class LoudnessMeasurement {
  private let state: UnsafeMutablePointer<ebur128_state>
  private let channelCount: Int
  private let rate: Int
  private var frameCount = 0

  /// Starts a measurement.
  ///
  /// Weights of surround loudspeakers mean nothing for transducers, so no channel has one.
  ///
  /// - Parameters:
  ///   - channelCount: 1 to 64.
  ///   - rate: A whole number of frames per second, 16 to 2,822,400.
  public init(channelCount: Int, rate: Double) throws(AnalysisError) {
    guard rate == rate.rounded(), rate >= 16, rate <= 2_822_400 else {
      throw AnalysisError(
        kind: .unsupportedRate,
        description:
          "loudness requires an integer sample rate from 16 to 2822400 Hz, not \(rate) Hz")
    }
    guard (1...64).contains(channelCount),
      let state = unsafe EBUR128Bindings.open(channelCount: channelCount, rate: Int(rate))
    else {
      throw AnalysisError(
        kind: .unsupportedChannelCount,
        description: "loudness requires 1 to 64 channels, not \(channelCount)")
    }
    for channel in 0..<channelCount { unsafe EBUR128Bindings.weighEvenly(channel, of: state) }
    unsafe self.state = unsafe state
    self.channelCount = channelCount
    self.rate = Int(rate)
  }

  /// Takes in interleaved samples, a whole number of frames.
  public func add(_ interleaved: Span<Float>) {
    guard !NonFiniteSamples.areAllSound(interleaved) else {
      feed(interleaved)
      return
    }
    let sound = interleaved.indices.map { index in
      NonFiniteSamples.isSound(interleaved[index]) ? interleaved[index] : 0
    }
    feed(sound.span)
  }

  private func feed(_ samples: Span<Float>) {
    let count = samples.count / channelCount
    _ = unsafe EBUR128Bindings.add(samples, frameCount: count, to: state)
    frameCount += count
  }

  /// LUFS of all that was added; nothing where no block reaches −70 LUFS.
  public func finish() -> Double? {
    // libebur128's first gating block.
    let missing = 4 * ((rate + 5) / 10) - frameCount
    if missing > 0, frameCount > 0 {
      let silence = [Float](repeating: 0, count: missing * channelCount)
      feed(silence.span)
    }
    let loudness = unsafe EBUR128Bindings.loudness(of: state)
    return loudness.isFinite ? loudness : nil
  }

  deinit { unsafe EBUR128Bindings.close(state) }
}
