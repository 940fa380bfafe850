/// An amplitude that moves along a straight line from one frame to the next.
struct LinearRamp: BitwiseCopyable, Sendable {
  /// The amplitude of frame 0.
  var start: Float
  /// What it grows by with each frame.
  var slope: Float

  /// A line through two levels that lie a number of frames apart.
  @_noLocks
  init(from start: Float, to end: Float, frameCount: Int) {
    self.start = start
    slope = (end - start) / Float(frameCount)
  }

  /// Whether the line stays at zero.
  var isSilent: Bool {
    @_noLocks
    get { start == 0 && slope == 0 }
  }
}
