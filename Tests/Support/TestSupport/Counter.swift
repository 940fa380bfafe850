internal import Synchronization

/// A counter that any thread can increase.
public final class Counter: Sendable {
  private let atomicCount = Atomic(0)

  /// Creates a counter at zero.
  public init() {}

  /// The current count.
  public var count: Int { atomicCount.load(ordering: .acquiring) }

  /// Increases the count, and returns the new count.
  @discardableResult public func increment() -> Int {
    atomicCount.add(1, ordering: .acquiringAndReleasing).newValue
  }
}
