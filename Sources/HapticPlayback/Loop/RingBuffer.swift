internal import Synchronization

/// Values on their way from one thread to another; neither waits, and what finds no room is counted.
@safe
final class RingBuffer<Value: BitwiseCopyable>: @unchecked Sendable {
  private let values: UnsafeMutableBufferPointer<Value>
  private let written = Atomic<Int>(0)
  private let taken = Atomic<Int>(0)
  private let dropped = Atomic<Int>(0)

  /// An empty ring.
  init(capacity: Int, filler: Value) {
    unsafe values = .allocate(capacity: max(1, capacity))
    unsafe values.initialize(repeating: filler)
  }

  deinit { unsafe values.deallocate() }

  /// Values that found no room, in all.
  var droppedCount: Int { dropped.load(ordering: .relaxed) }

  /// Puts values in, all or none: [one writing thread].
  func write(_ new: Span<Value>) {
    let place = written.load(ordering: .relaxed)
    let room = unsafe values.count - (place - taken.load(ordering: .acquiring))
    guard new.count <= room else {
      dropped.wrappingAdd(new.count, ordering: .relaxed)
      return
    }
    for index in new.indices { unsafe values[(place + index) % values.count] = new[index] }
    written.store(place + new.count, ordering: .releasing)
  }

  /// Puts one value in: [one writing thread].
  func write(_ value: Value) {
    let place = written.load(ordering: .relaxed)
    guard unsafe place - taken.load(ordering: .acquiring) < values.count else {
      dropped.wrappingAdd(1, ordering: .relaxed)
      return
    }
    unsafe values[place % values.count] = value
    written.store(place + 1, ordering: .releasing)
  }

  /// Takes what is there, oldest first, into the beginning of an array; answers how many: [one reading thread].
  func take(into buffer: inout [Value]) -> Int {
    let place = taken.load(ordering: .relaxed)
    let count = min(buffer.count, written.load(ordering: .acquiring) - place)
    for index in 0..<count { unsafe buffer[index] = values[(place + index) % values.count] }
    taken.store(place + count, ordering: .releasing)
    return count
  }
}
