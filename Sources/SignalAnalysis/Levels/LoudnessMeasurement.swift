internal import CEBUR128

/// The integrated loudness of channels that count alike, by libebur128.
///
/// ITU-R BS.1770 gates blocks of 0.4 s; a shorter sound is followed by silence up to 0.4 s. Memory
/// grows by some bytes for each 100 ms. One value may be used by one thread at a time.
@safe public final class LoudnessMeasurement {
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
        description: "loudness requires an integer sample rate from 16 to 2822400 Hz, not \(rate) Hz")
    }
    guard (1...64).contains(channelCount),
      let state = unsafe EBUR128Bindings.open(channelCount: channelCount, rate: Int(rate))
    else {
      throw AnalysisError(
        kind: .unsupportedChannelCount, description: "loudness requires 1 to 64 channels, not \(channelCount)")
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
    let sound = interleaved.indices.map { index in NonFiniteSamples.isSound(interleaved[index]) ? interleaved[index] : 0
    }
    feed(sound.span)
  }

  private func feed(_ samples: Span<Float>) {
    let count = samples.count / channelCount
    _ = unsafe EBUR128Bindings.add(samples, frameCount: count, to: state)
    frameCount += count
  }

  /// LUFS of all that was added; nil where no block reaches −70 LUFS.
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

/// The funnel to libebur128: one function for each call.
enum EBUR128Bindings {
  /// `ebur128_init` for loudness, with true peaks where asked.
  static func open(channelCount: Int, rate: Int, withTruePeak: Bool = false) -> UnsafeMutablePointer<ebur128_state>? {
    let mode = EBUR128_MODE_I.rawValue | (withTruePeak ? EBUR128_MODE_TRUE_PEAK.rawValue : 0)
    return unsafe ebur128_init(UInt32(channelCount), UInt(rate), Int32(mode))
  }

  /// `ebur128_set_channel` with the weight 1 for a channel.
  static func weighEvenly(_ channel: Int, of state: UnsafeMutablePointer<ebur128_state>) {
    _ = unsafe ebur128_set_channel(state, UInt32(channel), Int32(EBUR128_LEFT.rawValue))
  }

  /// `ebur128_add_frames_float`; returns whether there was enough memory.
  static func add(_ samples: Span<Float>, frameCount: Int, to state: UnsafeMutablePointer<ebur128_state>) -> Bool {
    unsafe samples.withUnsafeBufferPointer {
      unsafe ebur128_add_frames_float(state, $0.baseAddress, frameCount) == Int32(EBUR128_SUCCESS.rawValue)
    }
  }

  /// `ebur128_loudness_global` in LUFS; negative infinity where no block is loud enough.
  static func loudness(of state: UnsafeMutablePointer<ebur128_state>) -> Double {
    var loudness = -Double.infinity
    _ = unsafe ebur128_loudness_global(state, &loudness)
    return loudness
  }

  /// `ebur128_true_peak` of a channel.
  static func truePeak(of state: UnsafeMutablePointer<ebur128_state>, channel: Int) -> Double {
    var peak = 0.0
    _ = unsafe ebur128_true_peak(state, UInt32(channel), &peak)
    return peak
  }

  /// `ebur128_destroy`.
  static func close(_ state: UnsafeMutablePointer<ebur128_state>) {
    var state: UnsafeMutablePointer<ebur128_state>? = unsafe state
    unsafe ebur128_destroy(&state)
  }
}
