internal import CSampleKernels
internal import RealtimeMemory

/// An amplitude that changes linearly from frame to frame.
struct LinearRamp: BitwiseCopyable, Sendable {
  /// The amplitude at the first frame of the ramp.
  var startAmplitude: Float
  /// The increase of the amplitude per frame.
  var slopePerFrame: Float

  @_noLocks init(from start: Float, to end: Float, frameCount: Int) {
    self.startAmplitude = start
    slopePerFrame = (end - start) / Float(frameCount)
  }

  var isSilent: Bool { @_noLocks get { startAmplitude == 0 && slopePerFrame == 0 } }
}

/// A gain that moves to a target along an S-curve.
struct GainRamp: BitwiseCopyable, Sendable {
  /// The gain that applies to the next frame.
  private(set) var currentGain: Float
  private var targetGain: Float
  private var startGain: Float
  /// The fraction of the ramp that each frame covers.
  private var progressPerFrame: Float = 0
  private var elapsedFrameCount = 0
  /// The number of frames until the gain reaches its target.
  private(set) var remainingFrameCount = 0

  @_noLocks init(_ value: Float) {
    self.currentGain = value
    targetGain = value
    startGain = value
  }

  /// A Boolean value that indicates whether the gain has reached its target.
  var isSettled: Bool { @_noLocks get { remainingFrameCount == 0 } }
  /// A Boolean value that indicates whether the gain is 1 and constant.
  var isUnity: Bool { @_noLocks get { remainingFrameCount == 0 && currentGain == 1 } }
  /// A Boolean value that indicates whether the gain is 0 and constant.
  var isSilent: Bool { @_noLocks get { remainingFrameCount == 0 && currentGain == 0 } }
  /// A Boolean value that indicates whether the target is 0.
  var endsInSilence: Bool { @_noLocks get { targetGain == 0 } }

  /// Starts a ramp from the current gain to a target gain over a number of frames.
  @_noLocks mutating func move(to target: Float, over frameCount: Int) {
    self.targetGain = target
    guard frameCount > 0 else {
      currentGain = target
      remainingFrameCount = 0
      return
    }
    startGain = currentGain
    progressPerFrame = 1 / Float(frameCount)
    elapsedFrameCount = 0
    remainingFrameCount = frameCount
  }

  /// Returns the gain of the next frame, and advances the ramp by one frame.
  @_noLocks mutating func advanceOneFrame() -> Float {
    guard remainingFrameCount > 0 else { return currentGain }
    let gainBeforeStep = currentGain
    remainingFrameCount &-= 1
    elapsedFrameCount &+= 1
    // The smoothstep 3p² − 2p³ has a slope of zero at both ends, which prevents clicks.
    let rampProgress = Float(elapsedFrameCount) * progressPerFrame
    let smoothstepProgress = rampProgress * rampProgress * (3 - 2 * rampProgress)
    currentGain =
      remainingFrameCount == 0
      ? targetGain : startGain + (targetGain - startGain) * smoothstepProgress
    return gainBeforeStep
  }

  @_noLocks mutating func write(to gains: BufferView<Float>, frameCount count: Int) {
    for index in 0..<count {
      gains[index] = advanceOneFrame()
    }
  }

  /// Advances the ramp by a number of frames without writing their gains.
  @_noLocks mutating func advance(by count: Int) {
    guard remainingFrameCount > 0 else { return }
    for _ in 0..<count {
      _ = advanceOneFrame()
    }
  }
}

/// The envelope of a voice: a rise, a hold or decay, and a release, all linear.
///
/// Every attack–decay–release shape of Core Haptics has this form.
struct Envelope: BitwiseCopyable, Equatable, Sendable {
  /// The frame at the end of the envelope's rise, counted from the onset of the event.
  var riseEndFrame: Int64
  /// The frame at the start of the release, counted from the onset of the event.
  ///
  /// It is not before the end of the rise.
  var releaseStartFrame: Int64
  /// The frame at the end of the release, counted from the onset of the event.
  var endFrame: Int64
  var riseLevel: Float
  var releaseLevel: Float

  @_noLocks init(
    riseEnd: Int64, riseLevel: Float, releaseStart: Int64, releaseLevel: Float, end: Int64
  ) {
    self.riseEndFrame = riseEnd
    self.releaseStartFrame = releaseStart
    self.endFrame = end
    self.riseLevel = riseLevel
    self.releaseLevel = releaseLevel
  }

  /// Returns an envelope that rises to 1, holds, and falls to 0. A rise or fall of length 0 is
  /// immediate.
  static func plateau(length: Int64, rise: Int64 = 0, fall: Int64 = 0) -> Envelope {
    Envelope(riseEnd: rise, riseLevel: 1, releaseStart: length - fall, releaseLevel: 1, end: length)
  }

  /// Returns the first corner of the envelope after a frame, both counted from the onset.
  @_noLocks func nextCornerFrame(after frame: Int64) -> Int64 {
    if frame < riseEndFrame { return riseEndFrame }
    if frame < releaseStartFrame { return releaseStartFrame }
    return endFrame
  }

  /// Returns the level of the envelope at a frame: 0 before the onset and after the end.
  ///
  /// An envelope with a vertical edge starts or ends at its level.
  @_noLocks func level(at frame: Int64) -> Float {
    if frame <= 0 { return frame == 0 && riseEndFrame == 0 ? riseLevel : 0 }
    if frame >= endFrame {
      return frame == endFrame && releaseStartFrame == endFrame ? releaseLevel : 0
    }
    if frame < riseEndFrame { return riseLevel * (Float(frame) / Float(riseEndFrame)) }
    if frame < releaseStartFrame {
      if riseLevel == releaseLevel { return riseLevel }
      let fraction = Float(frame &- riseEndFrame) / Float(releaseStartFrame &- riseEndFrame)
      return riseLevel + (releaseLevel - riseLevel) * fraction
    }
    return releaseLevel * (Float(endFrame &- frame) / Float(endFrame &- releaseStartFrame))
  }

  @_noLocks func isChanging(at frame: Int64) -> Bool {
    frame < riseEndFrame || frame >= releaseStartFrame || riseLevel != releaseLevel
  }
}

/// A segment of a sine with a linearly changing frequency and an integer phase.
///
/// A cycle has 2³² phase units, so that the phase wraps by overflow and any division of a segment
/// yields the same bits. The waveform is a polynomial: with t = 16x(½ − |x|) for x cycles, sin 2πx
/// is t times an entire function of |t|. Its polynomial of degree 3, fitted by linear programming,
/// has an error of at most 6·10⁻⁸ of full scale.
struct SineSegment: BitwiseCopyable, Sendable {
  /// The phase of the sine at the next frame; 2³² is a full cycle.
  var phase: UInt32
  /// The increment of the phase from the next frame to the following frame.
  var phaseIncrement: UInt32
  /// The increase of the phase increment per frame.
  var phaseIncrementSlope: UInt32

  @_noLocks init(phase: UInt32 = 0, increment: UInt32 = 0, glide: UInt32 = 0) {
    self.phase = phase
    self.phaseIncrement = increment
    self.phaseIncrementSlope = glide
  }

  /// Starts a linear frequency ramp with the same number of cycles as the exact ramp.
  ///
  /// The exact ramp may be exponential.
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
    let incrementDifference = Int64(end) &- Int64(start)
    let signedHalfFrameCount = incrementDifference < 0 ? -frameCount / 2 : frameCount / 2
    let roundedSlope = (incrementDifference &+ signedHalfFrameCount) / frameCount
    let meanSlopeError = (incrementDifference &- roundedSlope &* frameCount) / 2
    let incrementSum = Int64(start) &+ Int64(end)
    let meanChordError =
      isExponential && incrementSum > 0
      ? incrementDifference &* incrementDifference / (6 &* incrementSum) : 0
    phaseIncrement = UInt32(truncatingIfNeeded: Int64(start) &+ meanSlopeError &- meanChordError)
    phaseIncrementSlope = UInt32(truncatingIfNeeded: roundedSlope)
  }

  /// Advances the phase by a number of frames in constant time.
  @_noLocks mutating func advance(by count: Int) {
    let frameCount = UInt32(truncatingIfNeeded: count)
    let glideCount = UInt32(truncatingIfNeeded: (count &* (count &- 1)) &>> 1)
    phase = phase &+ phaseIncrement &* frameCount &+ phaseIncrementSlope &* glideCount
    phaseIncrement = phaseIncrement &+ phaseIncrementSlope &* frameCount
  }

  /// Adds the sine to a range of frames of a bus.
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
    guard !level.isSilent, let busSamples = unsafe bus.address() else { return }
    unsafe temblor_sine(
      phase, phaseIncrement, phaseIncrementSlope, level.startAmplitude, level.slopePerFrame,
      Float(first),
      busSamples + range.lowerBound,
      range.count)
  }
}
