internal import RealtimeMemory

/// The buses that players mix into: one for each haptic profile, and two for stereo audio.
///
/// Each bus has a tail: the fade-outs of cut-off voices, rendered ahead of time.
struct BusSet: ~Copyable {
  /// The number of haptic buses.
  let hapticBusCount: Int
  /// The left audio bus.
  let leftAudioSamples: BufferView<Float>
  /// The right audio bus.
  let rightAudioSamples: BufferView<Float>
  private let capacityFrameCount: Int
  private let busSamples: FixedBuffer<Float>
  /// A ring buffer with the tail of each bus.
  private let tailRingBuffers: FixedBuffer<Float>
  private var tailEndFrame: Int64 = 0

  /// The length of each tail's ring buffer, in frames: more than twice the longest fade at 192 kHz.
  static var tailFrameCapacity: Int { @_noLocks get { 1_024 } }

  init(hapticBusCount hapticCount: Int, capacityFrameCount capacity: Int) {
    self.hapticBusCount = hapticCount
    self.capacityFrameCount = capacity
    let busCount = hapticCount + 2
    busSamples = FixedBuffer(repeating: 0, count: busCount * capacity)
    tailRingBuffers = FixedBuffer(repeating: 0, count: busCount * Self.tailFrameCapacity)
    leftAudioSamples = unsafe busSamples.view.slice(from: hapticCount * capacity, count: capacity)
    rightAudioSamples = unsafe busSamples.view.slice(
      from: (hapticCount + 1) * capacity, count: capacity)
  }

  /// Returns the haptic bus with an index.
  @_noLocks func hapticBus(at index: Int) -> BufferView<Float> {
    unsafe busSamples.view.slice(from: index &* capacityFrameCount, count: capacityFrameCount)
  }

  /// Starts a sub-block by filling the buses with their tails and, after these, with silence.
  @_noLocks mutating func beginBlock(at position: Int64, count: Int) {
    for bus in 0..<hapticBusCount &+ 2 {
      let start = bus &* capacityFrameCount
      unsafe (busSamples.address + start).update(repeating: 0, count: count)
      if position < tailEndFrame {
        let tailStart = bus &* Self.tailFrameCapacity
        var index = 0
        while index < count, position &+ Int64(index) < tailEndFrame {
          let tailIndex = tailStart &+ Int(position &+ Int64(index)) & (Self.tailFrameCapacity &- 1)
          busSamples[start &+ index] = tailRingBuffers[tailIndex]
          tailRingBuffers[tailIndex] = 0
          index &+= 1
        }
      }
    }
  }

  /// Adds future frames to the tail of a bus. The audio buses follow the haptic buses.
  @_noLocks mutating func addTail(
    _ frames: BufferView<Float>, count: Int, toBus bus: Int, from position: Int64
  ) {
    let tailStartIndex = bus &* Self.tailFrameCapacity
    for index in 0..<count {
      let tailIndex =
        tailStartIndex &+ Int(position &+ Int64(index)) & (Self.tailFrameCapacity &- 1)
      tailRingBuffers[tailIndex] = tailRingBuffers[tailIndex] + frames[index]
    }
    let blockEndFrame = position &+ Int64(count)
    if blockEndFrame > tailEndFrame {
      tailEndFrame = blockEndFrame
    }
  }

  @_noLocks mutating func reset() {
    unsafe tailRingBuffers.address.update(repeating: 0, count: tailRingBuffers.count)
    tailEndFrame = 0
  }
}

/// Temporary buffers for fading or scaling the output of one player before mixing.
struct CrossfadeBuffer: ~Copyable {
  /// The duration of a player's fades, in seconds.
  ///
  /// A player fades when playback starts in the middle, stops, pauses, or mutes.
  static let fadeSeconds = 0.002

  /// The length of a fade, in frames.
  let fadeFrameCount: Int
  let hapticSamples: BufferView<Float>
  let leftSamples: BufferView<Float>
  let rightSamples: BufferView<Float>
  /// The gain of the player at each frame of the sub-block.
  let frameGains: BufferView<Float>
  private let sampleStorage: FixedBuffer<Float>

  init(rate: Double, subBlockLength: Int) {
    fadeFrameCount = max(2, Int((Self.fadeSeconds * rate).rounded()))
    let frameCapacity = max(subBlockLength, fadeFrameCount)
    sampleStorage = FixedBuffer(repeating: 0, count: frameCapacity * 4)
    let allSamples = unsafe sampleStorage.view
    hapticSamples = allSamples.slice(from: 0, count: frameCapacity)
    leftSamples = allSamples.slice(from: frameCapacity, count: frameCapacity)
    rightSamples = allSamples.slice(from: frameCapacity * 2, count: frameCapacity)
    frameGains = allSamples.slice(from: frameCapacity * 3, count: frameCapacity)
  }

  @_noLocks func clear(count: Int) {
    for buffer in 0..<3 {
      unsafe (sampleStorage.address + buffer &* hapticSamples.count).update(
        repeating: 0, count: count)
    }
  }

  /// Applies an S-shaped fade and a gain to the buffers, and a send gain to the haptics only.
  @_noLocks func applyFade(isFadeIn: Bool, gain: Float, sendGain: Float) {
    let progressPerFrame = 1 / Float(fadeFrameCount)
    for index in 0..<fadeFrameCount {
      let progress = Float(isFadeIn ? index : fadeFrameCount &- index) * progressPerFrame
      let factor = progress * progress * (3 - 2 * progress) * gain
      hapticSamples[index] = hapticSamples[index] * (factor * sendGain)
      leftSamples[index] = leftSamples[index] * factor
      rightSamples[index] = rightSamples[index] * factor
    }
  }
}
