import Synchronization

/// Counts calls from any thread.
final class Counter: Sendable {
  private let value: Atomic<Int>

  init(_ start: Int = 0) { value = Atomic(start) }

  /// The number so far.
  var count: Int { value.load(ordering: .relaxed) }

  /// Counts one more: the new number.
  func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
