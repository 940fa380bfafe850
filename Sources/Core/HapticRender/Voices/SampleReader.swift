internal import RealtimeMemory

/// A reader of a sound at a variable speed, with a fixed-point position and a low-pass for
/// brightness.
struct SampleReader: BitwiseCopyable, Sendable {
  /// One frame in fixed point: 2³².
  static var oneFrame: UInt64 { @_noLocks get { 4_294_967_296 } }

  /// The playback parameters of a sound file.
  struct Playback: BitwiseCopyable {
    let isLooping: Bool
    /// The number of frames that fade at the end of the sound, at most all of them.
    let fadeLength: Int
    /// The level on the left bus.
    let left: LinearRamp
    /// The level on the right bus.
    let right: LinearRamp
    /// The coefficient of the low-pass per frame; 1 means no filter.
    let smoothing: Float

    @_noLocks init(
      isLooping: Bool, fadeLength: Int, left: LinearRamp, right: LinearRamp, smoothing: Float
    ) {
      self.isLooping = isLooping
      self.fadeLength = fadeLength
      self.left = left
      self.right = right
      self.smoothing = smoothing
    }
  }

  /// The position of the next frame.
  var position: UInt64 = 0
  /// The number of sound frames per output frame.
  var speed: UInt64 = 4_294_967_296
  private var filteredLeft: Float = 0
  private var filteredRight: Float = 0

  @_noLocks init() {}

  /// Skips output frames.
  @_noLocks mutating func advance(by frameCount: Int) {
    position = position &+ speed &* UInt64(frameCount)
  }

  /// Adds the sound to a range of the audio buses, with linear interpolation.
  ///
  /// - Parameters:
  ///   - sound: The sound.
  ///   - playback: The playback parameters.
  ///   - first: The frame of the levels at the start of the range.
  ///   - leftBus: The left bus.
  ///   - rightBus: The right bus.
  ///   - range: The frames of the buses.
  @_noLocks mutating func add(
    _ sound: AudioBufferView, _ playback: Playback, first: Int,
    to leftBus: inout MutableSpan<Float>, _ rightBus: inout MutableSpan<Float>,
    at range: Range<Int>
  ) {
    let frames = sound.frames
    let count = sound.frameCount
    let channelCount = sound.channelCount
    let left = playback.left
    let right = playback.right
    let smoothing = playback.smoothing
    let isFiltered = smoothing < 1
    let fadeLength = playback.fadeLength
    let end = UInt64(count) &<< 32
    let fadeStart = UInt64(count &- fadeLength) &<< 32
    let fadePerUnit = fadeLength > 0 ? 1 / (4_294_967_296 * Float(fadeLength)) : 0
    var frame = range.lowerBound
    var levelFrame = Float(first)
    while frame < range.upperBound {
      if position >= end {
        guard playback.isLooping else { return }
        position = position % end
      }
      let index = Int(position &>> 32)
      let fraction = Float(UInt32(truncatingIfNeeded: position)) * (1 / 4_294_967_296)
      let lastNext = playback.isLooping ? 0 : index
      let next = index &+ 1 < count ? index &+ 1 : lastNext
      let current = frames[index &* channelCount]
      let sampleLeft = current + (frames[next &* channelCount] - current) * fraction
      var sampleRight = sampleLeft
      if channelCount == 2 {
        let currentRight = frames[index &* 2 &+ 1]
        sampleRight = currentRight + (frames[next &* 2 &+ 1] - currentRight) * fraction
      }
      filteredLeft += smoothing * (sampleLeft - filteredLeft)
      filteredRight += smoothing * (sampleRight - filteredRight)
      let fade = fadeLength > 0 && position > fadeStart ? Float(end &- position) * fadePerUnit : 1
      let leftLevel = left.start + left.slope * levelFrame
      let rightLevel = right.start + right.slope * levelFrame
      leftBus[frame] += (isFiltered ? filteredLeft : sampleLeft) * leftLevel * fade
      rightBus[frame] += (isFiltered ? filteredRight : sampleRight) * rightLevel * fade
      position = position &+ speed
      frame &+= 1
      levelFrame += 1
    }
  }

  /// Adds a mono sound to a range of a bus, frame for frame.
  ///
  /// - Parameters:
  ///   - sound: The sound.
  ///   - level: The level.
  ///   - first: The frame of the level at the start of the range.
  ///   - bus: The bus.
  ///   - range: The frames of the bus.
  @_noLocks mutating func add(
    _ sound: AudioBufferView, level: LinearRamp, first: Int, to bus: inout MutableSpan<Float>,
    at range: Range<Int>
  ) {
    var index = Int(position &>> 32)
    var frame = range.lowerBound
    var levelFrame = Float(first)
    while frame < range.upperBound, index < sound.frameCount {
      bus[frame] += sound.frames[index] * (level.start + level.slope * levelFrame)
      index &+= 1
      frame &+= 1
      levelFrame += 1
    }
    advance(by: range.count)
  }
}
