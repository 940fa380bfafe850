/// A converter between durations and numbers of frames at a sample rate.
struct FrameTime {
  /// The sample rate of the frames, in hertz.
  let sampleRateHertz: Double

  /// Returns the duration of a number of frames. The duration of a negative number is negative.
  func duration(of frameCount: Int) -> Duration { .seconds(Double(frameCount) / sampleRateHertz) }

  /// Returns the number of whole frames in a duration. A hundredth of a frame is added first,
  /// because durations that were computed from frames may be slightly short.
  func frameCount(in duration: Duration) -> Int {
    Int(((seconds(duration) * sampleRateHertz) + 0.01).rounded(.down))
  }

  /// Returns the number of frames in a duration, including a partial last frame. A hundredth of a
  /// frame is subtracted before rounding up.
  func frameCount(touching duration: Duration) -> Int {
    Int(((seconds(duration) * sampleRateHertz) - 0.01).rounded(.up))
  }

  private func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
