/// A stretch of a control in frames: a straight line that holds until the next piece of its track.
struct ControlSegment: BitwiseCopyable, Sendable {
  /// The first frame, from the start of the pattern.
  var start: Int64
  /// The value at the first frame.
  var value: Float
  /// What the value grows by with each frame.
  var slope: Float
  /// Frames in which the value moves by 1, or 0 where it does not move.
  var framesPerUnit: Float
  /// The frame at which the step or curve of this piece came into force, or `ControlSegment.neutral`.
  var origin: Int64

  /// The origin of what holds before the first step or curve.
  static var neutral: Int64 {
    @_noLocks get { .min }
  }

  /// Makes a piece.
  @_noLocks
  init(start: Int64, value: Float, slope: Float, origin: Int64 = neutral) {
    self.start = start
    self.value = value
    self.slope = slope
    self.origin = origin
    let steepness = slope < 0 ? -slope : slope
    framesPerUnit = steepness > 1e-12 ? 1 / steepness : 0
  }

  /// The value at a frame of the pattern.
  @_noLocks
  func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }
}
