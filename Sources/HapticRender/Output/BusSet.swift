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
  static var tailCapacity: Int {
    @_noLocks get { 1_024 }
  }

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
  @_noLocks
  func haptics(_ index: Int) -> BufferView<Float> {
    unsafe memory.view.part(from: index &* capacity, count: capacity)
  }

  /// Begins a turn: silence, or what is left of tails.
  @_noLocks
  mutating func clear(at position: Int64, count: Int) {
    var bus = 0
    while bus < hapticCount &+ 2 {
      let start = bus &* capacity
      var index = 0
      while index < count {
        memory[start &+ index] = 0
        index &+= 1
      }
      if position < tailEnd {
        let tail = bus &* Self.tailCapacity
        index = 0
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
  @_noLocks
  mutating func leave(
    _ frames: BufferView<Float>, count: Int, onBus bus: Int, from position: Int64
  ) {
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
  @_noLocks
  mutating func rest() {
    var index = 0
    while index < tails.count {
      tails[index] = 0
      index &+= 1
    }
    tailEnd = 0
  }
}
