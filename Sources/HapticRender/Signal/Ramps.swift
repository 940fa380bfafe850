internal import RealtimeMemory

/// An amplitude that moves along a straight line from one frame to the next.
struct LinearRamp: BitwiseCopyable, Sendable {
  /// The amplitude of frame 0.
  var start: Float
  /// What it grows by with each frame.
  var slope: Float

  /// A line through two levels that lie a number of frames apart.
  @_noLocks init(from start: Float, to end: Float, frameCount: Int) {
    self.start = start
    slope = (end - start) / Float(frameCount)
  }

  /// Whether the line stays at zero.
  var isSilent: Bool { @_noLocks get { start == 0 && slope == 0 } }
}

/// A gain that moves to where it was sent along a curve without corners, and rests there.
struct GainRamp: BitwiseCopyable, Sendable {
  /// The gain of the next frame.
  private(set) var value: Float
  private var target: Float
  private var start: Float
  private var perFrame: Float = 0
  private var frame = 0
  /// Frames until the gain rests.
  private(set) var framesLeft = 0

  /// A gain at rest.
  @_noLocks init(_ value: Float) {
    self.value = value
    target = value
    start = value
  }

  /// Whether the gain is constant.
  var isSettled: Bool { @_noLocks get { framesLeft == 0 } }

  /// Whether the gain is 1 and stays so.
  var isUnity: Bool { @_noLocks get { framesLeft == 0 && value == 1 } }

  /// Whether the gain is 0 and stays so.
  var isSilent: Bool { @_noLocks get { framesLeft == 0 && value == 0 } }

  /// Whether it is, or is on the way to, 0.
  var leadsToSilence: Bool { @_noLocks get { target == 0 } }

  /// Sends the gain to a value that it reaches after a number of frames.
  @_noLocks mutating func move(to target: Float, over frameCount: Int) {
    self.target = target
    guard frameCount > 0 else {
      value = target
      framesLeft = 0
      return
    }
    start = value
    perFrame = 1 / Float(frameCount)
    frame = 0
    framesLeft = frameCount
  }

  /// Takes the gain of the next frame.
  @_noLocks mutating func next() -> Float {
    guard framesLeft > 0 else { return value }
    let now = value
    framesLeft &-= 1
    frame &+= 1
    // 3x² − 2x³: its slope is zero at both ends, so that nothing clicks.
    let x = Float(frame) * perFrame
    value = framesLeft == 0 ? target : start + (target - start) * (x * x * (3 - 2 * x))
    return now
  }

  /// Fills the first frames of a buffer.
  @_noLocks mutating func fill(_ gains: BufferView<Float>, count: Int) {
    var index = 0
    while index < count {
      gains[index] = next()
      index &+= 1
    }
  }

  /// Lets frames go by.
  @_noLocks mutating func advance(by count: Int) {
    guard framesLeft > 0 else { return }
    var index = 0
    while index < count {
      _ = next()
      index &+= 1
    }
  }
}

/// The envelope of one voice: three straight lines through four corners, from silence to silence.
///
/// Rise, hold or decay, release. Every attack–decay–release shape of Core Haptics is one of these.
struct Envelope: BitwiseCopyable, Equatable, Sendable {
  /// Frames from the onset to the end of the rise.
  var riseEnd: Int64
  /// Frames from the onset to the start of the release.
  var releaseStart: Int64
  /// Frames from the onset to silence.
  var end: Int64
  /// The level at the end of the rise.
  var riseLevel: Float
  /// The level at the start of the release.
  var releaseLevel: Float

  /// The corners as given; frames must not decrease.
  @_noLocks init(riseEnd: Int64, riseLevel: Float, releaseStart: Int64, releaseLevel: Float, end: Int64) {
    self.riseEnd = riseEnd
    self.riseLevel = riseLevel
    self.releaseStart = releaseStart
    self.releaseLevel = releaseLevel
    self.end = end
  }

  /// The first corner behind a frame, or the end.
  @_noLocks func corner(after frame: Int64) -> Int64 {
    if frame < riseEnd { return riseEnd }
    if frame < releaseStart { return releaseStart }
    return end
  }

  /// The level at a frame; zero before the onset and behind the end.
  ///
  /// An envelope without a rise or without a release starts or ends at its level.
  @_noLocks func level(at frame: Int64) -> Float {
    if frame <= 0 { return frame == 0 && riseEnd == 0 ? riseLevel : 0 }
    if frame >= end { return frame == end && releaseStart == end ? releaseLevel : 0 }
    if frame < riseEnd { return riseLevel * (Float(frame) / Float(riseEnd)) }
    if frame < releaseStart {
      if riseLevel == releaseLevel { return riseLevel }
      let part = Float(frame &- riseEnd) / Float(releaseStart &- riseEnd)
      return riseLevel + (releaseLevel - riseLevel) * part
    }
    return releaseLevel * (Float(end &- frame) / Float(end &- releaseStart))
  }

  /// Whether the level moves just behind a frame.
  @_noLocks func isMoving(at frame: Int64) -> Bool {
    frame < riseEnd || frame >= releaseStart || riseLevel != releaseLevel
  }
}
