internal import RealtimeMemory

/// A decoded sound at the render rate, mono or stereo, for the events that play a sound file.
public final class AudioBuffer: @unchecked Sendable {
  /// Frames in the sound.
  public let frameCount: Int
  /// 1 or 2.
  public let channelCount: Int
  let frames: FixedBuffer<Float>

  /// Copies interleaved frames.
  ///
  /// - Parameters:
  ///   - interleaved: Samples in −1…1; what is not finite becomes silence.
  ///   - channelCount: Channels in each frame, of which the first two are kept.
  public init(interleaved: [Float], channelCount: Int) {
    precondition(channelCount > 0, "a sound has at least one channel")
    let kept = min(channelCount, 2)
    self.channelCount = kept
    frameCount = interleaved.count / channelCount
    frames = FixedBuffer(repeating: 0, count: frameCount * kept)
    for frame in 0..<frameCount {
      for channel in 0..<kept {
        let sample = interleaved[frame * channelCount + channel]
        frames[frame * kept + channel] = sample.isFinite ? sample : 0
      }
    }
  }
}

/// Reads a sound at a moving speed, in whole-number position, through a low-pass for brightness.
struct SampleReader: BitwiseCopyable, Sendable {
  /// Frames in parts of 2³².
  static var one: UInt64 { @_noLocks get { 4_294_967_296 } }

  /// The next frame to read.
  var position: UInt64 = 0
  /// Frames read for each frame played.
  var speed: UInt64 = 4_294_967_296
  private var lowLeft: Float = 0
  private var lowRight: Float = 0

  @_noLocks init() {}

  /// Moves on by a number of frames without reading them.
  @_noLocks mutating func advance(by frameCount: Int) { position = position &+ speed &* UInt64(frameCount) }

  /// Adds the sound to part of the two audio buses.
  ///
  /// - Parameters:
  ///   - fadeLength: Frames of the sound's end that fade, at most as many as it has.
  ///   - smoothing: The fraction of the difference that the low-pass follows in a frame; 1 means no filter.
  ///   - first: The frame of the level lines at which the range begins.
  @_noLocks mutating func add(
    _ frames: BufferView<Float>, count: Int, channelCount: Int, isLooping: Bool, fadeLength: Int, left: LinearRamp,
    right: LinearRamp, smoothing: Float, first: Int, to leftBus: inout MutableSpan<Float>,
    _ rightBus: inout MutableSpan<Float>, at range: Range<Int>
  ) {
    let end = UInt64(count) &<< 32
    let fadeStart = UInt64(count &- fadeLength) &<< 32
    let perFade = fadeLength > 0 ? 1 / (4_294_967_296 * Float(fadeLength)) : 0
    var frame = range.lowerBound
    var n = Float(first)
    while frame < range.upperBound {
      if position >= end {
        guard isLooping else { return }
        position = position % end
      }
      let index = Int(position &>> 32)
      let part = Float(UInt32(truncatingIfNeeded: position)) * (1 / 4_294_967_296)
      let next = index &+ 1 < count ? index &+ 1 : (isLooping ? 0 : index)
      let l = frames[index &* channelCount]
      let lNext = frames[next &* channelCount]
      let sampleLeft = l + (lNext - l) * part
      var sampleRight = sampleLeft
      if channelCount == 2 {
        let r = frames[index &* 2 &+ 1]
        let rNext = frames[next &* 2 &+ 1]
        sampleRight = r + (rNext - r) * part
      }
      lowLeft += smoothing * (sampleLeft - lowLeft)
      lowRight += smoothing * (sampleRight - lowRight)
      let filtered = smoothing < 1
      let fade = fadeLength > 0 && position > fadeStart ? Float(end &- position) * perFade : 1
      leftBus[frame] += (filtered ? lowLeft : sampleLeft) * (left.start + left.slope * n) * fade
      rightBus[frame] += (filtered ? lowRight : sampleRight) * (right.start + right.slope * n) * fade
      position = position &+ speed
      frame &+= 1
      n += 1
    }
  }

  /// Adds a sound of one channel to part of a bus, frame for frame.
  ///
  /// - Parameter first: The frame of the level line at which the range begins.
  @_noLocks mutating func add(
    _ frames: BufferView<Float>, count: Int, level: LinearRamp, first: Int, to bus: inout MutableSpan<Float>,
    at range: Range<Int>
  ) {
    var index = Int(position &>> 32)
    var frame = range.lowerBound
    var n = Float(first)
    while frame < range.upperBound, index < count {
      bus[frame] += frames[index] * (level.start + level.slope * n)
      index &+= 1
      frame &+= 1
      n += 1
    }
    advance(by: range.count)
  }
}
