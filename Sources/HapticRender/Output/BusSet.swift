internal import RealtimeMemory

/// The buses that players add to: one for each kind of transducer, and two of audio.
///
/// Behind each bus lies a tail: frames to come that a player left when it was cut off.
struct BusSet: ~Copyable {
  /// How many haptic buses there are.
  let hapticCount: Int
  /// The left side of the audio.
  let left: BufferView<Float>
  /// The right side of the audio.
  let right: BufferView<Float>
  private let capacity: Int
  private let memory: FixedBuffer<Float>
  private let tails: FixedBuffer<Float>
  private var tailEnd: Int64 = 0

  /// Frames of a tail's ring: more than two of the longest fades at the greatest rate.
  static var tailCapacity: Int { @_noLocks get { 1_024 } }

  /// Silent buses.
  init(hapticCount: Int, capacity: Int) {
    self.hapticCount = hapticCount
    self.capacity = capacity
    let busCount = hapticCount + 2
    memory = FixedBuffer(repeating: 0, count: busCount * capacity)
    tails = FixedBuffer(repeating: 0, count: busCount * Self.tailCapacity)
    left = unsafe memory.view.part(from: hapticCount * capacity, count: capacity)
    right = unsafe memory.view.part(from: (hapticCount + 1) * capacity, count: capacity)
  }

  /// A haptic bus.
  @_noLocks func haptics(_ index: Int) -> BufferView<Float> {
    unsafe memory.view.part(from: index &* capacity, count: capacity)
  }

  /// Begins a sub-block: silence, or what is left of tails.
  @_noLocks mutating func clear(at position: Int64, count: Int) {
    var bus = 0
    while bus < hapticCount &+ 2 {
      let start = bus &* capacity
      unsafe (memory.address + start).update(repeating: 0, count: count)
      if position < tailEnd {
        let tail = bus &* Self.tailCapacity
        var index = 0
        while index < count, position &+ Int64(index) < tailEnd {
          let place = tail &+ Int(position &+ Int64(index)) & (Self.tailCapacity &- 1)
          memory[start &+ index] = tails[place]
          tails[place] = 0
          index &+= 1
        }
      }
      bus &+= 1
    }
  }

  /// Adds frames to come to a bus's tail; audio buses follow the haptic ones.
  @_noLocks mutating func leave(_ frames: BufferView<Float>, count: Int, onBus bus: Int, from position: Int64) {
    let tail = bus &* Self.tailCapacity
    var index = 0
    while index < count {
      let place = tail &+ Int(position &+ Int64(index)) & (Self.tailCapacity &- 1)
      tails[place] = tails[place] + frames[index]
      index &+= 1
    }
    let end = position &+ Int64(count)
    if end > tailEnd { tailEnd = end }
  }

  /// Forgets all tails.
  @_noLocks mutating func reset() {
    var index = 0
    while index < tails.count {
      tails[index] = 0
      index &+= 1
    }
    tailEnd = 0
  }
}

/// Memory in which one player is rendered apart: to be faded, or to be heard at another gain.
struct FadeOutBuffer: ~Copyable {
  /// Seconds of a fade between silence and sound at a start in the middle, a stop, a pause, a mute.
  static let duration = 0.002

  /// Frames of a fade.
  let fadeLength: Int
  let haptics: BufferView<Float>
  let left: BufferView<Float>
  let right: BufferView<Float>
  /// The gain of each frame.
  let gain: BufferView<Float>
  private let memory: FixedBuffer<Float>

  /// Memory for sub-blocks and fades.
  init(rate: Double, subBlockLength: Int) {
    fadeLength = max(2, Int((Self.duration * rate).rounded()))
    let capacity = max(subBlockLength, fadeLength)
    memory = FixedBuffer(repeating: 0, count: capacity * 4)
    let all = unsafe memory.view
    haptics = all.part(from: 0, count: capacity)
    left = all.part(from: capacity, count: capacity)
    right = all.part(from: capacity * 2, count: capacity)
    gain = all.part(from: capacity * 3, count: capacity)
  }

  /// Silences the first frames.
  @_noLocks func clear(count: Int) {
    var index = 0
    while index < count {
      haptics[index] = 0
      left[index] = 0
      right[index] = 0
      index &+= 1
    }
  }

  /// Multiplies a fade's frames by a curve without corners, times a gain; haptics by a send gain too.
  @_noLocks func fade(isIn: Bool, gain: Float, share: Float) {
    let perFrame = 1 / Float(fadeLength)
    var index = 0
    while index < fadeLength {
      let x = Float(isIn ? index : fadeLength &- index) * perFrame
      let factor = x * x * (3 - 2 * x) * gain
      haptics[index] = haptics[index] * (factor * share)
      left[index] = left[index] * factor
      right[index] = right[index] * factor
      index &+= 1
    }
  }
}
