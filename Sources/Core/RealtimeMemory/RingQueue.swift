public import Synchronization

/// A wait-free queue of fixed capacity for one writing and one reading thread.
@frozen public struct RingQueue<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let elements: FixedBuffer<Element>
  @usableFromInline let writtenCount = Atomic<Int>(0)
  @usableFromInline let readCount = Atomic<Int>(0)

  /// Creates an empty queue.
  ///
  /// - Parameters:
  ///   - capacity: The maximum number of values, at least one.
  ///   - filler: The initial content of the memory.
  @inlinable public init(capacity: Int, filler: Element) {
    elements = FixedBuffer(repeating: filler, count: max(1, capacity))
  }

  /// The maximum number of values.
  @_transparent public var capacity: Int { elements.count }

  /// The number of values in the queue: [any thread].
  @_transparent public var count: Int {
    let read = readCount.load(ordering: .acquiring)
    return writtenCount.load(ordering: .acquiring) &- read
  }

  /// Appends values in order, all or none: [one writing thread].
  ///
  /// - Returns: True if there was enough space.
  @inlinable public func write(_ values: Span<Element>) -> Bool {
    let position = writtenCount.load(ordering: .relaxed)
    guard hasSpace(for: values.count, at: position) else { return false }
    for index in values.indices {
      elements[(position + index) % elements.count] = values[index]
    }
    writtenCount.store(position + values.count, ordering: .releasing)
    return true
  }

  /// Appends a value: [one writing thread].
  ///
  /// - Returns: True if there was space.
  @inlinable @discardableResult public func write(_ value: Element) -> Bool {
    let position = writtenCount.load(ordering: .relaxed)
    guard hasSpace(for: 1, at: position) else { return false }
    elements[position % elements.count] = value
    writtenCount.store(position + 1, ordering: .releasing)
    return true
  }

  /// Removes the oldest value and stores it in a variable: [one reading thread].
  ///
  /// - Returns: True if there was a value.
  @_transparent public func pop(_ value: inout Element) -> Bool {
    let position = readCount.load(ordering: .relaxed)
    guard position != writtenCount.load(ordering: .acquiring) else { return false }
    value = elements[position % elements.count]
    readCount.store(position &+ 1, ordering: .releasing)
    return true
  }

  /// Moves values, oldest first, to the beginning of an array: [one reading thread].
  ///
  /// - Returns: The number of values removed.
  @inlinable public func drain(into values: inout [Element]) -> Int {
    let position = readCount.load(ordering: .relaxed)
    let count = min(values.count, writtenCount.load(ordering: .acquiring) - position)
    for index in 0..<count {
      values[index] = elements[(position + index) % elements.count]
    }
    readCount.store(position + count, ordering: .releasing)
    return count
  }

  @inlinable func hasSpace(for count: Int, at position: Int) -> Bool {
    count <= elements.count - (position - readCount.load(ordering: .acquiring))
  }
}
