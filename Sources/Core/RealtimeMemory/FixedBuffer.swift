/// Memory for a fixed number of elements, allocated once and freed with its owner.
///
/// An audio thread reads and writes elements in place: no reference counting, no copy on write, no
/// allocation. Indices are checked in debug builds.
@frozen @safe public struct FixedBuffer<Element: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let baseAddress: UnsafeMutablePointer<Element>
  /// How many elements there are.
  public let count: Int

  /// Allocates elements, each made by its index.
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

  /// The element at an index, in place.
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
  /// Allocates equal elements.
  @inlinable public init(repeating element: Element, count: Int) {
    self.init(count: count) { _ in element }
  }

  /// Allocates elements that hold nothing; each must be written before it is read.
  @unsafe @inlinable public init(uninitialized count: Int) {
    unsafe baseAddress = .allocate(capacity: max(1, count))
    self.count = count
  }

  /// The elements as a span.
  @inlinable public var mutableSpan: MutableSpan<Element> {
    @_transparent @_lifetime(borrow self) get {
      unsafe _overrideLifetime(
        MutableSpan(_unsafeStart: baseAddress, count: count), borrowing: self)
    }
  }

  /// Allocates the elements of an array.
  @inlinable public init(_ elements: [Element]) {
    self.init(count: elements.count) { elements[$0] }
  }

  /// The memory without its owner; the caller keeps the owner alive while the view is in use.
  @unsafe @_transparent public var view: BufferView<Element> {
    unsafe BufferView(start: baseAddress, count: count)
  }
  /// The address of the first element; the caller keeps the owner alive while it is in use.
  @unsafe @_transparent public var address: UnsafeMutablePointer<Element> { unsafe baseAddress }
}

/// Elements of a fixed buffer that lives elsewhere.
@frozen @safe
public struct BufferView<Element: BitwiseCopyable>: BitwiseCopyable, @unchecked Sendable {
  @usableFromInline let baseAddress: UnsafeMutablePointer<Element>
  /// How many elements there are.
  public let count: Int

  /// A view of memory that the caller keeps alive.
  @unsafe @_transparent public init(start: UnsafeMutablePointer<Element>, count: Int) {
    unsafe self.baseAddress = start
    self.count = count
  }

  /// The element at an index, in place.
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

  /// The address of the first element.
  @unsafe @_transparent public var address: UnsafeMutablePointer<Element> { unsafe baseAddress }

  /// A part of the elements.
  @_transparent public func slice(from first: Int, count: Int) -> BufferView {
    return unsafe BufferView(start: baseAddress + first, count: count)
  }

  /// The elements as a span.
  @inlinable public var mutableSpan: MutableSpan<Element> {
    @_transparent @_lifetime(borrow self) get {
      unsafe _overrideLifetime(
        MutableSpan(_unsafeStart: baseAddress, count: count), borrowing: self)
    }
  }
}

/// One value at a fixed address, freed with its owner.
@frozen @safe public struct Cell<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  /// Allocates a value.
  @inlinable public init(_ value: consuming Value) {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
  }

  @inlinable deinit {
    unsafe pointer.deinitialize(count: 1)
    unsafe pointer.deallocate()
  }

  /// The value, in place.
  @inlinable public var value: Value {
    @_transparent unsafeAddress { unsafe UnsafePointer(pointer) }
    @_transparent nonmutating unsafeMutableAddress { unsafe pointer }
  }

  /// The value without its owner; the caller keeps the owner alive while the reference is in use.
  @unsafe @_transparent public var reference: Reference<Value> { unsafe Reference(pointer) }
}

/// A value that lives elsewhere.
@frozen @safe public struct Reference<Value: ~Copyable>: BitwiseCopyable, @unchecked Sendable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  /// A reference to memory that the caller keeps alive.
  @unsafe @_transparent public init(_ pointer: UnsafeMutablePointer<Value>) {
    unsafe self.pointer = pointer
  }

  /// The value, in place.
  @inlinable public var value: Value {
    @_transparent unsafeAddress { unsafe UnsafePointer(pointer) }
    @_transparent nonmutating unsafeMutableAddress { unsafe pointer }
  }

  /// Whether two references lead to one value.
  @_transparent public func isIdentical(to other: Reference) -> Bool {
    unsafe pointer == other.pointer
  }
}
