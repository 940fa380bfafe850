internal import Synchronization

/// A sequence lock, with which readers obtain a consistent set of several atomic values that one
/// thread writes. The writing thread never waits.
///
/// The version is odd during a write. A reader that finds an odd or a changed version reads again.
package struct SequenceLock: ~Copyable, Sendable {
  private let version = Atomic<Int>(0)

  package init() {}

  /// Stores a consistent set of values. Only one thread may write.
  ///
  /// - Parameter store: A closure that stores the values with relaxed ordering.
  package func write(_ store: () -> Void) {
    version.wrappingAdd(1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    store()
    version.wrappingAdd(1, ordering: .releasing)
  }

  /// Returns a consistent set of values that were stored by one write. Any thread may read.
  ///
  /// - Parameter load: A closure that loads the values with relaxed ordering, and may be called
  ///   several times.
  package func read<Values>(_ load: () -> Values) -> Values {
    while true {
      let before = version.load(ordering: .acquiring)
      let values = load()
      atomicMemoryFence(ordering: .acquiring)
      if before % 2 == 0, version.load(ordering: .relaxed) == before { return values }
    }
  }
}
