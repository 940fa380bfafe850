public import Synchronization

/// A wait-free queue of fixed capacity for one thread that writes and one that reads.
@frozen public struct RingQueue<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let storage: FixedBuffer<Element>
  @usableFromInline let totalWrittenCount = Atomic<Int>(0)
  @usableFromInline let totalReadCount = Atomic<Int>(0)

  /// Creates an empty queue of a fixed capacity.
  ///
  /// - Parameters:
  ///   - capacity: The maximum number of values, at least one.
  ///   - filler: The initial content of the memory.
  @inlinable public init(capacity: Int, filler: Element) {
    storage = FixedBuffer(repeating: filler, count: max(1, capacity))
  }

  /// The maximum number of values that the queue can hold.
  @_transparent public var capacity: Int { storage.count }

  /// The number of values in the queue. Any thread may read it.
  @_transparent public var count: Int {
    let read = totalReadCount.load(ordering: .acquiring)
    return totalWrittenCount.load(ordering: .acquiring) &- read
  }

  /// Appends either all or none of the given values, in order. Only one thread may write.
  ///
  /// - Returns: True if there was enough space.
  @inlinable public func write(_ values: Span<Element>) -> Bool {
    let position = totalWrittenCount.load(ordering: .relaxed)
    guard hasSpace(for: values.count, at: position) else { return false }
    for index in values.indices {
      storage[(position + index) % storage.count] = values[index]
    }
    totalWrittenCount.store(position + values.count, ordering: .releasing)
    return true
  }

  /// Appends a value. Only one thread may write.
  ///
  /// - Returns: True if there was space.
  @inlinable @discardableResult public func write(_ value: Element) -> Bool {
    let position = totalWrittenCount.load(ordering: .relaxed)
    guard hasSpace(for: 1, at: position) else { return false }
    storage[position % storage.count] = value
    totalWrittenCount.store(position + 1, ordering: .releasing)
    return true
  }

  /// Removes the oldest value and stores it in a variable. Only one thread may read.
  ///
  /// - Returns: True if there was a value.
  @_transparent public func pop(_ value: inout Element) -> Bool {
    let position = totalReadCount.load(ordering: .relaxed)
    guard position != totalWrittenCount.load(ordering: .acquiring) else { return false }
    value = storage[position % storage.count]
    totalReadCount.store(position &+ 1, ordering: .releasing)
    return true
  }

  /// Moves values, oldest first, to the beginning of an array. Only one thread may read.
  ///
  /// - Returns: The number of values removed.
  @inlinable public func drain(into values: inout [Element]) -> Int {
    let position = totalReadCount.load(ordering: .relaxed)
    let drainedCount = min(values.count, totalWrittenCount.load(ordering: .acquiring) - position)
    for index in 0..<drainedCount {
      values[index] = storage[(position + index) % storage.count]
    }
    totalReadCount.store(position + drainedCount, ordering: .releasing)
    return drainedCount
  }

  @inlinable func hasSpace(for count: Int, at position: Int) -> Bool {
    count <= storage.count - (position - totalReadCount.load(ordering: .acquiring))
  }
}
