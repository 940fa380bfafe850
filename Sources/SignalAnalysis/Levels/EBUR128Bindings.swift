import CEBUR128

/// The funnel to libebur128: one function for each call.
enum EBUR128Bindings {
  /// `ebur128_init` for loudness, with true peaks where asked.
  static func open(channelCount: Int, rate: Int, withTruePeak: Bool = false)
    -> UnsafeMutablePointer<ebur128_state>?
  {
    let mode =
      EBUR128_MODE_I.rawValue | (withTruePeak ? EBUR128_MODE_TRUE_PEAK.rawValue : 0)
    return unsafe ebur128_init(UInt32(channelCount), UInt(rate), Int32(mode))
  }

  /// `ebur128_set_channel` with the weight 1 for a channel.
  static func weighEvenly(_ channel: Int, of state: UnsafeMutablePointer<ebur128_state>) {
    _ = unsafe ebur128_set_channel(state, UInt32(channel), Int32(EBUR128_LEFT.rawValue))
  }

  /// `ebur128_add_frames_float`; answers whether there was memory enough.
  static func add(
    _ samples: Span<Float>, frameCount: Int, to state: UnsafeMutablePointer<ebur128_state>
  ) -> Bool {
    unsafe samples.withUnsafeBufferPointer {
      unsafe ebur128_add_frames_float(state, $0.baseAddress, frameCount)
        == Int32(EBUR128_SUCCESS.rawValue)
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
