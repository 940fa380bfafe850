internal import Synchronization

/// Lets readers see several atomic values as one thread stored them together. The writing thread
/// never waits.
///
/// The version is odd during a write. A reader that finds an odd or a changed version reads again.
package struct SequenceLock: ~Copyable, Sendable {
  private let version = Atomic<Int>(0)

  package init() {}

  /// Stores values. Only one thread may write.
  ///
  /// - Parameter store: A closure that stores the values with relaxed ordering.
  package func write(_ store: () -> Void) {
    version.wrappingAdd(1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    store()
    version.wrappingAdd(1, ordering: .releasing)
  }

  /// Returns values that were stored together. Any thread may read.
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
