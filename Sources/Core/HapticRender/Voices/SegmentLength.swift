/// The maximum lengths of straight line segments that approximate a mapping.
///
/// The level is a power of the control, and the frequency is an exponential of it. A limit on the
/// change of the control within a segment limits the error: for the square law, a change of 10 % of
/// intensity keeps the level within 0.02 dB; a change of 0.04 in sharpness keeps the frequency of a
/// two-octave band within 0.04 %.
enum SegmentLength {
  /// The maximum length of a segment, in frames.
  ///
  /// Up to this length, a 32-bit phase represents the frequency ramp exactly.
  static var maximumFrameCount: Int64 { @_noLocks get { 2_048 } }
  /// The minimum length of a segment, in frames.
  ///
  /// A segment may end early at a corner of the envelope or of a control.
  static var minimumFrameCount: Int64 { @_noLocks get { 8 } }
  /// The maximum change of pitch, sharpness, brightness, or pan in a segment.
  static var maximumControlChangePerSegment: Float { @_noLocks get { 0.04 } }

  /// Returns the number of frames until a level's control has changed by a fraction.
  ///
  /// - Parameters:
  ///   - value: The value of the level's control.
  ///   - tolerance: The fraction.
  ///   - framesPerUnit: The number of frames in which the control changes by 1.
  @_noLocks static func frameCountUntilLevelChange(
    of value: Float, tolerance: Float, framesPerUnit: Float
  ) -> Int64 {
    clampedFrameCount((value < 0 ? -value : value) * tolerance * framesPerUnit)
  }

  /// Returns the number of frames until a control has changed by the pitch tolerance.
  @_noLocks static func frameCountUntilPitchChange(framesPerUnit: Float) -> Int64 {
    clampedFrameCount(maximumControlChangePerSegment * framesPerUnit)
  }

  /// Returns the number of frames until a changing pitch reaches the next bound of its range.
  ///
  /// At the bound, it starts or stops to change.
  ///
  /// - Parameters:
  ///   - value: The pitch.
  ///   - isRising: Whether it rises.
  ///   - framesPerUnit: The number of frames in which it changes by 1.
  ///   - low: The lower bound.
  ///   - high: The upper bound.
  @_noLocks static func frameCountUntilRangeBoundary(
    _ value: Float, isRising: Bool, framesPerUnit: Float, low: Float, high: Float
  ) -> Int64 {
    let distanceToBoundary: Float
    if isRising {
      distanceToBoundary = (value < low ? low : high) - value
    } else {
      distanceToBoundary = value - (value > high ? high : low)
    }
    let framesToBoundary = distanceToBoundary * framesPerUnit
    return distanceToBoundary <= 0 || framesToBoundary >= Float(maximumFrameCount)
      ? maximumFrameCount : Int64(framesToBoundary) &+ 1
  }

  @_noLocks private static func clampedFrameCount(_ frames: Float) -> Int64 {
    if frames >= Float(maximumFrameCount) { return maximumFrameCount }
    if frames <= Float(minimumFrameCount) { return minimumFrameCount }
    return Int64(frames)
  }
}
