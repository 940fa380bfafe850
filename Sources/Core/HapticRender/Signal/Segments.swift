internal import CSampleKernels
internal import RealtimeMemory

/// An amplitude that changes linearly from frame to frame.
struct LinearRamp: BitwiseCopyable, Sendable {
  /// The amplitude of frame 0.
  var start: Float
  /// The increase per frame.
  var slope: Float

  @_noLocks init(from start: Float, to end: Float, frameCount: Int) {
    self.start = start
    slope = (end - start) / Float(frameCount)
  }

  var isSilent: Bool { @_noLocks get { start == 0 && slope == 0 } }
}

/// A gain that moves to a target along an S-curve.
struct GainRamp: BitwiseCopyable, Sendable {
  /// The gain of the next frame.
  private(set) var value: Float
  private var target: Float
  private var start: Float
  /// The fraction of the ramp that each frame covers.
  private var progressPerFrame: Float = 0
  private var elapsedFrameCount = 0
  /// The number of frames until the gain reaches its target.
  private(set) var remainingFrameCount = 0

  @_noLocks init(_ value: Float) {
    self.value = value
    target = value
    start = value
  }

  /// A Boolean value that indicates whether the gain has reached its target.
  var isSettled: Bool { @_noLocks get { remainingFrameCount == 0 } }
  /// A Boolean value that indicates whether the gain is 1 and constant.
  var isUnity: Bool { @_noLocks get { remainingFrameCount == 0 && value == 1 } }
  /// A Boolean value that indicates whether the gain is 0 and constant.
  var isSilent: Bool { @_noLocks get { remainingFrameCount == 0 && value == 0 } }
  /// A Boolean value that indicates whether the target is 0.
  var endsInSilence: Bool { @_noLocks get { target == 0 } }

  /// Starts a ramp from the current gain to a target.
  @_noLocks mutating func move(to target: Float, over frameCount: Int) {
    self.target = target
    guard frameCount > 0 else {
      value = target
      remainingFrameCount = 0
      return
    }
    start = value
    progressPerFrame = 1 / Float(frameCount)
    elapsedFrameCount = 0
    remainingFrameCount = frameCount
  }

  /// Returns the gain of the next frame.
  @_noLocks mutating func next() -> Float {
    guard remainingFrameCount > 0 else { return value }
    let current = value
    remainingFrameCount &-= 1
    elapsedFrameCount &+= 1
    // The smoothstep 3p² − 2p³ has a slope of zero at both ends, which prevents clicks.
    let progress = Float(elapsedFrameCount) * progressPerFrame
    let curve = progress * progress * (3 - 2 * progress)
    value = remainingFrameCount == 0 ? target : start + (target - start) * curve
    return current
  }

  @_noLocks mutating func fill(_ gains: BufferView<Float>, count: Int) {
    for index in 0..<count {
      gains[index] = next()
    }
  }

  /// Skips frames.
  @_noLocks mutating func advance(by count: Int) {
    guard remainingFrameCount > 0 else { return }
    for _ in 0..<count {
      _ = next()
    }
  }
}

/// The envelope of a voice: a rise, a hold or decay, and a release, all linear.
///
/// Every attack–decay–release shape of Core Haptics has this form.
struct Envelope: BitwiseCopyable, Equatable, Sendable {
  /// The end of the rise, in frames from the onset.
  var riseEnd: Int64
  /// The start of the release, in frames from the onset, not before the end of the rise.
  var releaseStart: Int64
  /// The end of the release, in frames from the onset.
  var end: Int64
  var riseLevel: Float
  var releaseLevel: Float

  @_noLocks init(
    riseEnd: Int64, riseLevel: Float, releaseStart: Int64, releaseLevel: Float, end: Int64
  ) {
    self.riseEnd = riseEnd
    self.releaseStart = releaseStart
    self.end = end
    self.riseLevel = riseLevel
    self.releaseLevel = releaseLevel
  }

  /// Returns an envelope that rises to 1 and falls from 1; a length of 0 makes a vertical edge.
  static func hold(_ length: Int64, rise: Int64 = 0, fall: Int64 = 0) -> Envelope {
    Envelope(riseEnd: rise, riseLevel: 1, releaseStart: length - fall, releaseLevel: 1, end: length)
  }

  /// Returns the next corner, in frames from the onset.
  @_noLocks func nextCorner(after frame: Int64) -> Int64 {
    if frame < riseEnd { return riseEnd }
    if frame < releaseStart { return releaseStart }
    return end
  }

  /// Returns the level at a frame: 0 before the onset and after the end.
  ///
  /// An envelope with a vertical edge starts or ends at its level.
  @_noLocks func level(at frame: Int64) -> Float {
    if frame <= 0 { return frame == 0 && riseEnd == 0 ? riseLevel : 0 }
    if frame >= end {
      return frame == end && releaseStart == end ? releaseLevel : 0
    }
    if frame < riseEnd { return riseLevel * (Float(frame) / Float(riseEnd)) }
    if frame < releaseStart {
      if riseLevel == releaseLevel { return riseLevel }
      let fraction = Float(frame &- riseEnd) / Float(releaseStart &- riseEnd)
      return riseLevel + (releaseLevel - riseLevel) * fraction
    }
    return releaseLevel * (Float(end &- frame) / Float(end &- releaseStart))
  }

  @_noLocks func isChanging(at frame: Int64) -> Bool {
    frame < riseEnd || frame >= releaseStart || riseLevel != releaseLevel
  }
}

/// A segment of a sine whose frequency changes linearly, with an integer phase.
///
/// A cycle has 2³² phase units, so that the phase wraps by overflow and any division of a segment
/// yields the same bits. The waveform is a polynomial: with t = 16x(½ − |x|) for x cycles, sin 2πx
/// is t times an entire function of |t|. Its polynomial of degree 3, fitted by linear programming,
/// has an error of at most 6·10⁻⁸ of full scale.
struct SineSegment: BitwiseCopyable, Sendable {
  /// The phase of the next frame.
  var phase: UInt32
  /// The phase increment to the frame after it.
  var increment: UInt32
  /// The increase of the phase increment per frame.
  var glide: UInt32

  @_noLocks init(phase: UInt32 = 0, increment: UInt32 = 0, glide: UInt32 = 0) {
    self.phase = phase
    self.increment = increment
    self.glide = glide
  }

  /// Starts a linear ramp of the frequency with the same number of cycles as the exact mapping.
  ///
  /// A chord of an exponential lies above it, on average by a twelfth of the squared difference
  /// over the mean. A glide in whole units also misses the target slightly. Both errors would
  /// accumulate as a drift of the phase, so the ramp starts lower to compensate them.
  ///
  /// - Parameters:
  ///   - start: The phase increment at the start.
  ///   - end: The phase increment at the end.
  ///   - frameCount: The length of the ramp.
  ///   - isExponential: Whether the exact mapping is exponential rather than linear.
  @_noLocks mutating func setFrequencyRamp(
    from start: UInt32, to end: UInt32, frameCount: Int64, isExponential: Bool
  ) {
    let difference = Int64(end) &- Int64(start)
    let halfFrameCount = difference < 0 ? -frameCount / 2 : frameCount / 2
    let slope = (difference &+ halfFrameCount) / frameCount
    let meanSlopeError = (difference &- slope &* frameCount) / 2
    let sum = Int64(start) &+ Int64(end)
    let meanChordError =
      isExponential && sum > 0 ? difference &* difference / (6 &* sum) : 0
    increment = UInt32(truncatingIfNeeded: Int64(start) &+ meanSlopeError &- meanChordError)
    glide = UInt32(truncatingIfNeeded: slope)
  }

  /// Advances the phase by a number of frames in constant time.
  @_noLocks mutating func advance(by count: Int) {
    let frameCount = UInt32(truncatingIfNeeded: count)
    let glideCount = UInt32(truncatingIfNeeded: (count &* (count &- 1)) &>> 1)
    phase = phase &+ increment &* frameCount &+ glide &* glideCount
    increment = increment &+ glide &* frameCount
  }

  /// Adds the sine to a range of a bus.
  ///
  /// The result doesn't depend on the division into ranges.
  ///
  /// - Parameters:
  ///   - level: The linear amplitude.
  ///   - first: The frame of `level` at the start of the range.
  ///   - bus: The samples to add to.
  ///   - range: The frames of the bus; they must exist.
  /// - Note: Render thread; about 0.3 ns per frame with AVX2.
  @_noLocks func add(
    level: LinearRamp, first: Int, to bus: inout MutableSpan<Float>, at range: Range<Int>
  ) {
    precondition(range.lowerBound >= 0 && range.upperBound <= bus.count, "frames beyond the bus")
    guard !level.isSilent, let samples = unsafe bus.address() else { return }
    unsafe temblor_sine(
      phase, increment, glide, level.start, level.slope, Float(first), samples + range.lowerBound,
      range.count)
  }
}
