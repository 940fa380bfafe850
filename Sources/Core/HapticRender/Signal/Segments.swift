internal import CSampleKernels
internal import RealtimeMemory

/// An amplitude that moves along a straight line from one frame to the next.
struct LinearRamp: BitwiseCopyable, Sendable {
  /// The amplitude of frame 0, and what it grows by with each frame.
  var start, slope: Float

  @_noLocks init(from start: Float, to end: Float, frameCount: Int) {
    self.start = start
    slope = (end - start) / Float(frameCount)
  }

  var isSilent: Bool { @_noLocks get { start == 0 && slope == 0 } }
}

/// A gain that moves to where it was sent along a curve without corners, and rests there.
struct GainRamp: BitwiseCopyable, Sendable {
  /// The gain of the next frame.
  private(set) var value: Float
  private var target, start: Float
  private var progressPerFrame: Float = 0
  private var elapsedFrameCount = 0
  /// Frames until the gain rests.
  private(set) var remainingFrameCount = 0

  @_noLocks init(_ value: Float) {
    self.value = value
    target = value
    start = value
  }

  var isSettled: Bool { @_noLocks get { remainingFrameCount == 0 } }
  /// Whether the gain is 1 and stays so.
  var isUnity: Bool { @_noLocks get { remainingFrameCount == 0 && value == 1 } }
  /// Whether the gain is 0 and stays so.
  var isSilent: Bool { @_noLocks get { remainingFrameCount == 0 && value == 0 } }
  /// Whether it is, or is on the way to, 0.
  var endsInSilence: Bool { @_noLocks get { target == 0 } }

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

  @_noLocks mutating func next() -> Float {
    guard remainingFrameCount > 0 else { return value }
    let now = value
    remainingFrameCount &-= 1
    elapsedFrameCount &+= 1
    // 3x² − 2x³: its slope is zero at both ends, so that nothing clicks.
    let x = Float(elapsedFrameCount) * progressPerFrame
    value = remainingFrameCount == 0 ? target : start + (target - start) * (x * x * (3 - 2 * x))
    return now
  }

  @_noLocks mutating func fill(_ gains: BufferView<Float>, count: Int) {
    for index in 0..<count {
      gains[index] = next()
    }
  }

  @_noLocks mutating func advance(by count: Int) {
    guard remainingFrameCount > 0 else { return }
    for _ in 0..<count {
      _ = next()
    }
  }
}

/// The envelope of one voice: three straight lines through four corners, from silence to silence.
///
/// Rise, hold or decay, release. Every attack–decay–release shape of Core Haptics is one of these.
struct Envelope: BitwiseCopyable, Equatable, Sendable {
  /// Frames from the onset to the end of the rise.
  var riseEnd: Int64
  /// Frames from the onset to the start of the release, not before the end of the rise, and to
  /// silence.
  var releaseStart, end: Int64
  var riseLevel, releaseLevel: Float

  @_noLocks init(
    riseEnd: Int64, riseLevel: Float, releaseStart: Int64, releaseLevel: Float, end: Int64
  ) {
    self.riseEnd = riseEnd
    self.releaseStart = releaseStart
    self.end = end
    self.riseLevel = riseLevel
    self.releaseLevel = releaseLevel
  }

  /// A rise to 1 and a fall from it, each 0 for an edge.
  static func hold(_ length: Int64, rise: Int64 = 0, fall: Int64 = 0) -> Envelope {
    Envelope(riseEnd: rise, riseLevel: 1, releaseStart: length - fall, releaseLevel: 1, end: length)
  }

  @_noLocks func nextCorner(after frame: Int64) -> Int64 {
    if frame < riseEnd { return riseEnd }
    if frame < releaseStart { return releaseStart }
    return end
  }

  /// The level at a frame; zero before the onset and behind the end.
  ///
  /// An envelope without a rise or without a release starts or ends at its level.
  @_noLocks func level(at frame: Int64) -> Float {
    if frame <= 0 { return frame == 0 && riseEnd == 0 ? riseLevel : 0 }
    if frame >= end {
      return frame == end && releaseStart == end ? releaseLevel : 0
    }
    if frame < riseEnd { return riseLevel * (Float(frame) / Float(riseEnd)) }
    if frame < releaseStart {
      if riseLevel == releaseLevel { return riseLevel }
      let part = Float(frame &- riseEnd) / Float(releaseStart &- riseEnd)
      return riseLevel + (releaseLevel - riseLevel) * part
    }
    return releaseLevel * (Float(end &- frame) / Float(end &- releaseStart))
  }

  @_noLocks func isChanging(at frame: Int64) -> Bool {
    frame < riseEnd || frame >= releaseStart || riseLevel != releaseLevel
  }
}

/// A segment of sine whose frequency moves along a straight line, in whole-number phase.
///
/// Phase is a cycle in 2³² parts, so it wraps by itself and any split of a segment gives the same
/// bits. Source of the waveform's polynomial: with t = 16x(½ − |x|) for x cycles, sin 2πx is t
/// times an entire function of |t|; degree 3, fitted by a linear programme, is within 6·10⁻⁸ of
/// full scale.
struct SineSegment: BitwiseCopyable, Sendable {
  /// The phase of the next frame, the step to that of the frame after it, and what the step grows
  /// by with each frame.
  var phase, increment, glide: UInt32

  @_noLocks init(phase: UInt32 = 0, increment: UInt32 = 0, glide: UInt32 = 0) {
    self.phase = phase
    self.increment = increment
    self.glide = glide
  }

  /// Aims at another step, along a line that takes as many cycles as the mapping it replaces.
  ///
  /// A line between two points of an exponential lies above it by a twelfth of the squared
  /// difference, over the middle; and a whole-number slope does not quite arrive. Both would add up
  /// to a phase that drifts for as long as the frequency moves, so the line starts lower by as
  /// much.
  @_noLocks mutating func setFrequencyRamp(
    from: UInt32, to: UInt32, frameCount: Int64, isExponential: Bool
  ) {
    let difference = Int64(to) &- Int64(from)
    let half = difference < 0 ? -frameCount / 2 : frameCount / 2
    let slope = (difference &+ half) / frameCount
    let missed = (difference &- slope &* frameCount) / 2
    let middles = Int64(from) &+ Int64(to)
    let bow = isExponential && middles > 0 ? difference &* difference / (6 &* middles) : 0
    increment = UInt32(truncatingIfNeeded: Int64(from) &+ missed &- bow)
    glide = UInt32(truncatingIfNeeded: slope)
  }

  /// Moves on by a number of frames, as if each had been stepped.
  @_noLocks mutating func advance(by count: Int) {
    let n = UInt32(truncatingIfNeeded: count)
    let pairs = UInt32(truncatingIfNeeded: (count &* (count &- 1)) &>> 1)
    phase = phase &+ increment &* n &+ glide &* pairs
    increment = increment &+ glide &* n
  }

  /// Adds the sine, at a level that moves along a straight line of which `first` is the first
  /// frame, to part of a bus.
  ///
  /// Lane for lane the same arithmetic at any split: [render thread], about 0.3 ns a frame with
  /// AVX2.
  @_noLocks func add(
    level: LinearRamp, first: Int, to bus: inout MutableSpan<Float>, at range: Range<Int>
  ) {
    precondition(range.lowerBound >= 0 && range.upperBound <= bus.count, "frames beyond the bus")
    guard !level.isSilent, let start = unsafe bus.address() else { return }
    unsafe temblor_sine(
      phase, increment, glide, level.start, level.slope, Float(first), start + range.lowerBound,
      range.count)
  }
}
