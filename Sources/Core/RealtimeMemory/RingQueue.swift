public import Synchronization

/// Values in transit from one thread to another through memory of a fixed size; neither thread ever
/// waits.
///
/// One thread at a time may put values in, and one may take them out.
@frozen public struct RingQueue<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let elements: FixedBuffer<Element>
  @usableFromInline let writtenCount = Atomic<Int>(0)
  @usableFromInline let readCount = Atomic<Int>(0)

  /// An empty queue.
  ///
  /// - Parameters:
  ///   - capacity: How many values fit, at least one.
  ///   - filler: What the memory holds before it is written.
  @inlinable public init(capacity: Int, filler: Element) {
    elements = FixedBuffer(repeating: filler, count: max(1, capacity))
  }

  /// How many values fit.
  @_transparent public var capacity: Int { elements.count }

  /// How many values are in transit: [any thread].
  @_transparent public var count: Int {
    let taken = readCount.load(ordering: .acquiring)
    return writtenCount.load(ordering: .acquiring) &- taken
  }

  /// Puts values in that are taken in their order, all or none: [one writing thread].
  ///
  /// - Returns: Whether there was space.
  @inlinable public func write(_ values: Span<Element>) -> Bool {
    let place = writtenCount.load(ordering: .relaxed)
    guard hasSpace(for: values.count, at: place) else { return false }
    for index in values.indices {
      elements[(place + index) % elements.count] = values[index]
    }
    writtenCount.store(place + values.count, ordering: .releasing)
    return true
  }

  /// Puts one value in: [one writing thread].
  ///
  /// - Returns: Whether there was space.
  @inlinable @discardableResult public func write(_ value: Element) -> Bool {
    let place = writtenCount.load(ordering: .relaxed)
    guard hasSpace(for: 1, at: place) else { return false }
    elements[place % elements.count] = value
    writtenCount.store(place + 1, ordering: .releasing)
    return true
  }

  /// Takes the oldest value into a variable: [one reading thread].
  ///
  /// - Returns: Whether there was one.
  @_transparent public func pop(_ value: inout Element) -> Bool {
    let place = readCount.load(ordering: .relaxed)
    guard place != writtenCount.load(ordering: .acquiring) else { return false }
    value = elements[place % elements.count]
    readCount.store(place &+ 1, ordering: .releasing)
    return true
  }

  /// Takes what is there, oldest first, into the beginning of an array: [one reading thread].
  ///
  /// - Returns: How many values were taken.
  @inlinable public func drain(into values: inout [Element]) -> Int {
    let place = readCount.load(ordering: .relaxed)
    let count = min(values.count, writtenCount.load(ordering: .acquiring) - place)
    for index in 0..<count {
      values[index] = elements[(place + index) % elements.count]
    }
    readCount.store(place + count, ordering: .releasing)
    return count
  }

  @inlinable func hasSpace(for count: Int, at place: Int) -> Bool {
    count <= elements.count - (place - readCount.load(ordering: .acquiring))
  }
}
