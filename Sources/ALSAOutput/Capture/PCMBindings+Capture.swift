internal import CALSA

/// The funnel's call that records.
extension PCMBindings {
  /// `snd_pcm_readi`: frames that were there, none where there are none yet.
  ///
  /// - Parameter bytes: Room for all the frames that are asked for.
  func read(into bytes: inout MutableSpan<UInt8>, frameCount: Int) throws(PCMFailure) -> Int {
    let frames = snd_pcm_uframes_t(frameCount)
    return try checkTransfer(.read) {
      unsafe bytes.withUnsafeMutableBytes {
        guard let start = $0.baseAddress else { return 0 }
        return unsafe snd_pcm_readi(pcm, start, frames)
      }
    }
  }
}
