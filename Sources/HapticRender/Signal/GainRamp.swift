internal import RealtimeMemory

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
  @_noLocks
  init(_ value: Float) {
    self.value = value
    target = value
    start = value
  }

  /// Whether the gain stands still.
  var isResting: Bool {
    @_noLocks get { framesLeft == 0 }
  }

  /// Whether the gain is 1 and stays so.
  var isUnity: Bool {
    @_noLocks get { framesLeft == 0 && value == 1 }
  }

  /// Whether the gain is 0 and stays so.
  var isSilent: Bool {
    @_noLocks get { framesLeft == 0 && value == 0 }
  }

  /// Sends the gain to a value that it reaches after a number of frames.
  @_noLocks
  mutating func move(to target: Float, over frameCount: Int) {
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
  @_noLocks
  mutating func next() -> Float {
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
  @_noLocks
  mutating func fill(_ gains: BufferView<Float>, count: Int) {
    var index = 0
    while index < count {
      gains[index] = next()
      index &+= 1
    }
  }

  /// Lets frames go by.
  @_noLocks
  mutating func advance(by count: Int) {
    guard framesLeft > 0 else { return }
    var index = 0
    while index < count {
      _ = next()
      index &+= 1
    }
  }
}
