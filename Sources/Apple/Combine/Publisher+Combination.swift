internal import Foundation

/// A publisher of one value.
public struct Just<Output>: Publisher {
  /// The failure, which never occurs.
  public typealias Failure = Never

  /// The value.
  public let output: Output

  /// Creates a publisher of a value.
  public init(_ output: Output) { self.output = output }

  /// Calls a closure for the value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    receiveValue(output)
    return AnyCancellable(mayDeliver: { false }) {}
  }
}

extension Just: Equatable where Output: Equatable {}

/// Types of subscribers.
public enum Subscribers {
  /// The end of the values of a publisher.
  public enum Completion<Failure: Error> {
    /// The publisher has published all values.
    case finished
    /// The publisher has failed.
    case failure(Failure)
  }
}

extension Publisher {
  /// Calls a closure for each value. The closure for the completion is never called, because
  /// publishers never complete.
  public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    sink(receiveValue: receiveValue)
  }

  /// Publishes the values of this publisher and of another in the order in which they arrive.
  public func merge(with other: some Publisher<Output, Failure>) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      let subscriptions = [sink(receiveValue: receive), other.sink(receiveValue: receive)]
      return AnyCancellable(mayDeliver: { subscriptions.contains(where: \.isActive) }) {
        subscriptions.forEach { $0.cancel() }
      }
    }
  }

  /// Publishes the latest values of this publisher and of another, when both have published one.
  public func combineLatest<Other: Publisher>(_ other: Other)
    -> AnyPublisher<(Output, Other.Output), Failure> where Other.Failure == Failure
  {
    AnyPublisher { receive in
      let values = LatestValues<Output, Other.Output>()
      let first = sink { value in
        if let pair = values.set(first: value) {
          receive(pair)
        }
      }
      let second = other.sink { value in
        if let pair = values.set(second: value) {
          receive(pair)
        }
      }
      return AnyCancellable(mayDeliver: { first.isActive || second.isActive }) {
        first.cancel()
        second.cancel()
      }
    }
  }

  /// Publishes the results of a closure of the latest values of two publishers.
  public func combineLatest<Other: Publisher, Value>(
    _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
  ) -> AnyPublisher<Value, Failure> where Other.Failure == Failure {
    combineLatest(other).map { transform($0.0, $0.1) }
  }

  /// Publishes the values of the publishers that a closure returns for each value.
  public func flatMap<Inner: Publisher>(_ transform: @escaping (Output) -> Inner)
    -> AnyPublisher<Inner.Output, Failure> where Inner.Failure == Failure
  {
    AnyPublisher { receive in
      let inner = Subscriptions()
      let outer = sink { inner.add(transform($0).sink(receiveValue: receive)) }
      return AnyCancellable(mayDeliver: { outer.isActive || inner.areActive }) {
        outer.cancel()
        inner.cancel()
      }
    }
  }

  /// Calls a closure for each value before it is published.
  public func handleEvents(receiveOutput: @escaping (Output) -> Void)
    -> AnyPublisher<Output, Failure>
  {
    map { value in
      receiveOutput(value)
      return value
    }
  }
}

extension Publisher where Failure == Never {
  /// The values as an asynchronous sequence, from the first request on.
  public var values: AsyncStream<Output> {
    AsyncStream { continuation in
      let subscription = sink { value in
        nonisolated(unsafe) let value = value
        unsafe continuation.yield(value)
      }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}

/// The latest values of two publishers.
private final class LatestValues<First, Second>: @unchecked Sendable {
  private let lock = NSLock()
  private var first: First?
  private var second: Second?

  func set(first value: First) -> (First, Second)? {
    lock.withLock {
      first = value
      return second.map { (value, $0) }
    }
  }

  func set(second value: Second) -> (First, Second)? {
    lock.withLock {
      second = value
      return first.map { ($0, value) }
    }
  }
}

/// The subscriptions of publishers that follow each other, each as long as it may deliver values.
private final class Subscriptions: @unchecked Sendable {
  /// The number of subscriptions from which ended subscriptions are removed.
  private static let minimumCleanupCount = 8

  private let lock = NSLock()
  private var subscriptions: [AnyCancellable] = []
  private var cleanupCount = minimumCleanupCount

  func add(_ subscription: AnyCancellable) {
    guard subscription.isActive else { return }
    let crowd: [AnyCancellable] = lock.withLock {
      subscriptions.append(subscription)
      return subscriptions.count < cleanupCount ? [] : subscriptions
    }
    if !crowd.isEmpty {
      removeEnded(of: crowd)
    }
  }

  /// Removes the ended subscriptions. A subscription never becomes active again.
  private func removeEnded(of crowd: [AnyCancellable]) {
    let ended = Set(crowd.filter { !$0.isActive })
    lock.withLock {
      subscriptions.removeAll { ended.contains($0) }
      // Cleanups take constant time per subscription on average.
      cleanupCount = max(Self.minimumCleanupCount, 2 * subscriptions.count)
    }
  }

  var areActive: Bool { lock.withLock { subscriptions }.contains(where: \.isActive) }

  func cancel() {
    for subscription in lock.withLock({ exchange(&subscriptions, with: []) }) {
      subscription.cancel()
    }
  }
}
