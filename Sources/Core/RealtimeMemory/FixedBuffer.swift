/// A buffer of a fixed number of elements, which is allocated once and freed with its owner.
///
/// An audio thread accesses elements in place, without reference counting, copy-on-write, or
/// allocation. Debug builds check indices.
@frozen @safe public struct FixedBuffer<Element: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let baseAddress: UnsafeMutablePointer<Element>
  /// The number of elements in the buffer.
  public let count: Int

  /// Allocates a buffer and initializes each element from its index.
  @inlinable public init(count: Int, _ element: (Int) -> Element) {
    unsafe baseAddress = .allocate(capacity: max(1, count))
    self.count = count
    for index in 0..<count {
      unsafe (baseAddress + index).initialize(to: element(index))
    }
  }

  @inlinable deinit {
    unsafe baseAddress.deinitialize(count: count)
    unsafe baseAddress.deallocate()
  }

  /// The element at an index, for reading and for changes in place.
  @inlinable public subscript(index: Int) -> Element {
    @_transparent unsafeAddress {
      assert(index >= 0 && index < count)
      return unsafe UnsafePointer(baseAddress + index)
    }
    @_transparent nonmutating unsafeMutableAddress {
      assert(index >= 0 && index < count)
      return unsafe baseAddress + index
    }
  }
}

extension FixedBuffer where Element: BitwiseCopyable {
  /// Allocates a buffer with equal elements.
  @inlinable public init(repeating element: Element, count: Int) {
    self.init(count: count) { _ in element }
  }

  /// Allocates a buffer of uninitialized elements. Write each element before you read it.
  @unsafe @inlinable public init(uninitialized count: Int) {
    unsafe baseAddress = .allocate(capacity: max(1, count))
    self.count = count
  }

  /// The elements of the buffer as a mutable span.
  @inlinable public var mutableSpan: MutableSpan<Element> {
    @_transparent @_lifetime(borrow self) get {
      unsafe _overrideLifetime(
        MutableSpan(_unsafeStart: baseAddress, count: count), borrowing: self)
    }
  }

  /// Allocates a buffer that contains a copy of an array.
  @inlinable public init(_ elements: [Element]) {
    self.init(count: elements.count) { elements[$0] }
  }

  /// An unowned view of the buffer's memory. The caller keeps the buffer alive while the view is in
  /// use.
  @unsafe @_transparent public var view: BufferView<Element> {
    unsafe BufferView(start: baseAddress, count: count)
  }
  /// The address of the first element. The caller keeps the buffer alive while the address is in
  /// use.
  @unsafe @_transparent public var address: UnsafeMutablePointer<Element> { unsafe baseAddress }
}

/// An unowned view of the elements of a fixed buffer.
@frozen @safe
public struct BufferView<Element: BitwiseCopyable>: BitwiseCopyable, @unchecked Sendable {
  @usableFromInline let baseAddress: UnsafeMutablePointer<Element>
  /// The number of elements in the view.
  public let count: Int

  /// Creates a view of memory, which the caller keeps alive.
  @unsafe @_transparent public init(start: UnsafeMutablePointer<Element>, count: Int) {
    unsafe self.baseAddress = start
    self.count = count
  }

  /// The element at an index, for reading and for changes in place.
  @inlinable public subscript(index: Int) -> Element {
    @_transparent unsafeAddress {
      assert(index >= 0 && index < count)
      return unsafe UnsafePointer(baseAddress + index)
    }
    @_transparent nonmutating unsafeMutableAddress {
      assert(index >= 0 && index < count)
      return unsafe baseAddress + index
    }
  }

  /// The address of the first element of the view.
  @unsafe @_transparent public var address: UnsafeMutablePointer<Element> { unsafe baseAddress }

  /// Returns a view of a range of the elements.
  @_transparent public func slice(from first: Int, count: Int) -> BufferView {
    return unsafe BufferView(start: baseAddress + first, count: count)
  }

  /// The elements of the view as a mutable span.
  @inlinable public var mutableSpan: MutableSpan<Element> {
    @_transparent @_lifetime(borrow self) get {
      unsafe _overrideLifetime(
        MutableSpan(_unsafeStart: baseAddress, count: count), borrowing: self)
    }
  }
}

/// A value at a fixed address, which is freed with its owner.
@frozen @safe public struct Cell<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  /// Allocates memory for a value, and moves the value there.
  @inlinable public init(_ value: consuming Value) {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
  }

  @inlinable deinit {
    unsafe pointer.deinitialize(count: 1)
    unsafe pointer.deallocate()
  }

  /// The stored value, for reading and for changes in place.
  @inlinable public var value: Value {
    @_transparent unsafeAddress { unsafe UnsafePointer(pointer) }
    @_transparent nonmutating unsafeMutableAddress { unsafe pointer }
  }

  /// An unowned reference to the value. The caller keeps the cell alive while the reference is in
  /// use.
  @unsafe @_transparent public var reference: Reference<Value> { unsafe Reference(pointer) }
}

/// An unowned reference to a value at a fixed address.
@frozen @safe public struct Reference<Value: ~Copyable>: BitwiseCopyable, @unchecked Sendable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  /// Creates a reference to a value in memory, which the caller keeps alive.
  @unsafe @_transparent public init(_ pointer: UnsafeMutablePointer<Value>) {
    unsafe self.pointer = pointer
  }

  /// The referenced value, for reading and for changes in place.
  @inlinable public var value: Value {
    @_transparent unsafeAddress { unsafe UnsafePointer(pointer) }
    @_transparent nonmutating unsafeMutableAddress { unsafe pointer }
  }

  /// Returns true if two references have the same address.
  @_transparent public func isIdentical(to other: Reference) -> Bool {
    unsafe pointer == other.pointer
  }
}
