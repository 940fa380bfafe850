/// How far a straight line may stand in for a law.
///
/// The level of a moving control is a power of a line, the frequency an exponential of one. Bounding how
/// much the control moves within a stretch bounds the error: for the square law, 10 % of intensity keeps
/// the level within 0.02 dB; 0.04 of sharpness keeps the frequency of a two-octave band within 0.04 %.
enum SegmentLength {
  /// The longest stretch in frames: short enough for a 32-bit phase to follow a glide.
  static var longest: Int64 {
    @_noLocks get { 2_048 }
  }
  /// The shortest stretch in frames that is not cut by a corner.
  static var shortest: Int64 {
    @_noLocks get { 8 }
  }
  /// How much of its range a tone may move.
  static var toneShare: Float {
    @_noLocks get { 0.04 }
  }

  /// Frames until a line has moved by a share of its value.
  @_noLocks
  static func forLevel(_ value: Float, share: Float, framesPerUnit: Float) -> Int64 {
    bounded((value < 0 ? -value : value) * share * framesPerUnit)
  }

  /// Frames until a line has moved by a share of its range.
  @_noLocks
  static func forTone(framesPerUnit: Float) -> Int64 { bounded(toneShare * framesPerUnit) }

  /// Frames until a moving tone meets the next bound of its range, where it stops or starts to move.
  @_noLocks
  static func untilBound(
    _ value: Float, isRising: Bool, framesPerUnit: Float, low: Float, high: Float
  ) -> Int64 {
    let distance: Float
    if isRising {
      distance = (value < low ? low : high) - value
    } else {
      distance = value - (value > high ? high : low)
    }
    let frames = distance * framesPerUnit
    return distance <= 0 || frames >= Float(longest) ? longest : Int64(frames) &+ 1
  }

  @_noLocks
  private static func bounded(_ frames: Float) -> Int64 {
    if frames >= Float(longest) { return longest }
    if frames <= Float(shortest) { return shortest }
    return Int64(frames)
  }
}
