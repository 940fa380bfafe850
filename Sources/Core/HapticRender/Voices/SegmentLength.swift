/// The maximum lengths of segments in which a mapping is approximated linearly.
///
/// The level is a power of the control, and the frequency is an exponential of it. A limit on the
/// change of the control within a segment limits the error: for the square law, a change of 10 % of
/// intensity keeps the level within 0.02 dB; a change of 0.04 in sharpness keeps the frequency of a
/// two-octave band within 0.04 %.
enum SegmentLength {
  /// The maximum length of a segment, in frames, which keeps the glide exact in a 32-bit phase.
  static var maximum: Int64 { @_noLocks get { 2_048 } }
  /// The minimum length of a segment that isn't cut by a corner, in frames.
  static var minimum: Int64 { @_noLocks get { 8 } }
  /// The maximum change of pitch, sharpness, brightness, or pan in a segment.
  static var pitchTolerance: Float { @_noLocks get { 0.04 } }

  /// Returns the number of frames until a level has changed by a fraction of its value.
  ///
  /// - Parameters:
  ///   - value: The value of the level's control.
  ///   - tolerance: The fraction.
  ///   - framesPerUnit: The number of frames in which the control changes by 1.
  @_noLocks static func forLevel(
    _ value: Float, tolerance: Float, framesPerUnit: Float
  ) -> Int64 {
    clamped((value < 0 ? -value : value) * tolerance * framesPerUnit)
  }

  /// Returns the number of frames until a control has changed by the pitch tolerance.
  @_noLocks static func forPitch(framesPerUnit: Float) -> Int64 {
    clamped(pitchTolerance * framesPerUnit)
  }

  /// Returns the number of frames until a changing pitch reaches the next bound of its range, at
  /// which it starts or stops to change.
  ///
  /// - Parameters:
  ///   - value: The pitch.
  ///   - isRising: Whether it rises.
  ///   - framesPerUnit: The number of frames in which it changes by 1.
  ///   - low: The lower bound.
  ///   - high: The upper bound.
  @_noLocks static func untilBound(
    _ value: Float, isRising: Bool, framesPerUnit: Float, low: Float, high: Float
  ) -> Int64 {
    let distance: Float
    if isRising {
      distance = (value < low ? low : high) - value
    } else {
      distance = value - (value > high ? high : low)
    }
    let frames = distance * framesPerUnit
    return distance <= 0 || frames >= Float(maximum) ? maximum : Int64(frames) &+ 1
  }

  @_noLocks private static func clamped(_ frames: Float) -> Int64 {
    if frames >= Float(maximum) { return maximum }
    if frames <= Float(minimum) { return minimum }
    return Int64(frames)
  }
}
