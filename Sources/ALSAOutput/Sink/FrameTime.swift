/// Frames as time, and back.
struct FrameTime {
  /// Frames per second.
  let rate: Double

  /// How long frames last; a negative number gives a negative time.
  func duration(of frameCount: Int) -> Duration { .seconds(Double(frameCount) / rate) }

  /// Whole frames that a time holds, rounded down but for a hundredth.
  ///
  /// A time that came from frames is a little shorter or longer than they are.
  func frameCount(in duration: Duration) -> Int {
    Int(((seconds(duration) * rate) + 0.01).rounded(.down))
  }

  /// Frames that a time touches, rounded up but for a hundredth.
  func frameCount(touching duration: Duration) -> Int {
    Int(((seconds(duration) * rate) - 0.01).rounded(.up))
  }

  private func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
