internal import CEBUR128

/// The integrated loudness of channels that count alike, by libebur128.
@safe
final class LoudnessMeter {
  private let state: UnsafeMutablePointer<ebur128_state>
  private let channelCount: Int
  private let rate: Int
  private var frameCount = 0

  /// Starts a measurement.
  ///
  /// Weights of surround loudspeakers mean nothing for transducers, so no channel has one.
  init(channelCount: Int, rate: Double) throws(AnalysisError) {
    guard rate == rate.rounded(), rate >= 16, rate <= 2_822_400 else {
      throw AnalysisError(
        kind: .unsupportedRate,
        description: "loudness is defined for whole rates from 16 to 2822400 Hz, not \(rate) Hz")
    }
    guard (1...64).contains(channelCount),
      let state = unsafe EBUR128Calls.open(channelCount: channelCount, rate: Int(rate))
    else {
      throw AnalysisError(
        kind: .unsupportedChannelCount,
        description: "loudness is measured of 1 to 64 channels, not \(channelCount)")
    }
    for channel in 0..<channelCount { unsafe EBUR128Calls.weighEvenly(channel, of: state) }
    unsafe self.state = unsafe state
    self.channelCount = channelCount
    self.rate = Int(rate)
  }

  /// Adds interleaved samples, all of them finite.
  func add(_ samples: Span<Float>) {
    let count = samples.count / channelCount
    _ = unsafe EBUR128Calls.add(samples, frameCount: count, to: state)
    frameCount += count
  }

  /// LUFS of all that was added; nothing for silence.
  func finish() -> Double? {
    // libebur128's first gating block.
    let missing = 4 * ((rate + 5) / 10) - frameCount
    if missing > 0, frameCount > 0 {
      let silence = [Float](repeating: 0, count: missing * channelCount)
      add(silence.span)
    }
    let loudness = unsafe EBUR128Calls.loudness(of: state)
    return loudness.isFinite ? loudness : nil
  }

  deinit { unsafe EBUR128Calls.close(state) }
}
