internal import RealtimeMemory

/// The buses that players mix into: one for each haptic profile, and two for stereo audio.
///
/// Each bus has a tail: future frames of voices that were cut off and fade out.
struct BusSet: ~Copyable {
  /// The number of haptic buses.
  let hapticCount: Int
  /// The left audio bus.
  let left: BufferView<Float>
  /// The right audio bus.
  let right: BufferView<Float>
  private let capacity: Int
  private let samples: FixedBuffer<Float>
  /// A ring buffer for each bus.
  private let tails: FixedBuffer<Float>
  private var tailEnd: Int64 = 0

  /// The length of a tail's ring buffer, in frames: more than two of the longest fades at 192 kHz.
  static var tailCapacity: Int { @_noLocks get { 1_024 } }

  init(hapticCount: Int, capacity: Int) {
    self.hapticCount = hapticCount
    self.capacity = capacity
    let busCount = hapticCount + 2
    samples = FixedBuffer(repeating: 0, count: busCount * capacity)
    tails = FixedBuffer(repeating: 0, count: busCount * Self.tailCapacity)
    left = unsafe samples.view.slice(from: hapticCount * capacity, count: capacity)
    right = unsafe samples.view.slice(from: (hapticCount + 1) * capacity, count: capacity)
  }

  /// Returns the haptic bus of an index.
  @_noLocks func haptics(_ index: Int) -> BufferView<Float> {
    unsafe samples.view.slice(from: index &* capacity, count: capacity)
  }

  /// Starts a sub-block with the tails, or with silence.
  @_noLocks mutating func beginBlock(at position: Int64, count: Int) {
    for bus in 0..<hapticCount &+ 2 {
      let start = bus &* capacity
      unsafe (samples.address + start).update(repeating: 0, count: count)
      if position < tailEnd {
        let tailStart = bus &* Self.tailCapacity
        var index = 0
        while index < count, position &+ Int64(index) < tailEnd {
          let tailIndex = tailStart &+ Int(position &+ Int64(index)) & (Self.tailCapacity &- 1)
          samples[start &+ index] = tails[tailIndex]
          tails[tailIndex] = 0
          index &+= 1
        }
      }
    }
  }

  /// Adds future frames to the tail of a bus. The audio buses follow the haptic buses.
  @_noLocks mutating func addTail(
    _ frames: BufferView<Float>, count: Int, toBus bus: Int, from position: Int64
  ) {
    let tailStart = bus &* Self.tailCapacity
    for index in 0..<count {
      let tailIndex = tailStart &+ Int(position &+ Int64(index)) & (Self.tailCapacity &- 1)
      tails[tailIndex] = tails[tailIndex] + frames[index]
    }
    let end = position &+ Int64(count)
    if end > tailEnd {
      tailEnd = end
    }
  }

  @_noLocks mutating func reset() {
    unsafe tails.address.update(repeating: 0, count: tails.count)
    tailEnd = 0
  }
}

/// Buffers in which a single player is rendered before it is faded or mixed at another gain.
struct CrossfadeBuffer: ~Copyable {
  /// The duration of a fade, in seconds, when playback starts in the middle, stops, pauses, or
  /// mutes.
  static let duration = 0.002

  /// The length of a fade, in frames.
  let fadeLength: Int
  let haptics: BufferView<Float>
  let left: BufferView<Float>
  let right: BufferView<Float>
  /// The gain of each frame.
  let gain: BufferView<Float>
  private let samples: FixedBuffer<Float>

  init(rate: Double, subBlockLength: Int) {
    fadeLength = max(2, Int((Self.duration * rate).rounded()))
    let capacity = max(subBlockLength, fadeLength)
    samples = FixedBuffer(repeating: 0, count: capacity * 4)
    let all = unsafe samples.view
    haptics = all.slice(from: 0, count: capacity)
    left = all.slice(from: capacity, count: capacity)
    right = all.slice(from: capacity * 2, count: capacity)
    gain = all.slice(from: capacity * 3, count: capacity)
  }

  @_noLocks func clear(count: Int) {
    for buffer in 0..<3 {
      unsafe (samples.address + buffer &* haptics.count).update(repeating: 0, count: count)
    }
  }

  /// Multiplies the frames of a fade by an S-curve and a gain, and the haptics also by a send gain.
  @_noLocks func applyFade(isFadeIn: Bool, gain: Float, sendGain: Float) {
    let progressPerFrame = 1 / Float(fadeLength)
    for index in 0..<fadeLength {
      let progress = Float(isFadeIn ? index : fadeLength &- index) * progressPerFrame
      let factor = progress * progress * (3 - 2 * progress) * gain
      haptics[index] = haptics[index] * (factor * sendGain)
      left[index] = left[index] * factor
      right[index] = right[index] * factor
    }
  }
}
