internal import Foundation

/// A publisher that publishes a single value.
public struct Just<Output>: Publisher {
  /// The failure type. The publisher never fails.
  public typealias Failure = Never

  /// The value that is published.
  public let output: Output

  /// Creates a publisher of one value.
  public init(_ output: Output) { self.output = output }

  /// Calls a closure for the published value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    receiveValue(output)
    return AnyCancellable(mayDeliverValues: { false }) {}
  }
}

extension Just: Equatable where Output: Equatable {}

/// A namespace for types of subscribers.
public enum Subscribers {
  /// The reason that a publisher publishes no further values.
  public enum Completion<Failure: Error> {
    /// The publisher has published all its values.
    case finished
    /// The publisher has failed with an error.
    case failure(Failure)
  }
}

extension Publisher {
  /// Calls a closure for each value.
  ///
  /// The completion closure is never called, because publishers never complete.
  public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    sink(receiveValue: receiveValue)
  }

  /// Publishes the values of two publishers in their order of arrival.
  public func merge(with other: some Publisher<Output, Failure>) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      let subscriptions = [sink(receiveValue: receive), other.sink(receiveValue: receive)]
      return AnyCancellable(mayDeliverValues: { subscriptions.contains(where: \.isActive) }) {
        subscriptions.forEach { $0.cancel() }
      }
    }
  }

  /// Publishes the latest values of two publishers as a pair.
  ///
  /// The first pair is published as soon as both have published a value.
  public func combineLatest<Other: Publisher>(_ other: Other)
    -> AnyPublisher<(Output, Other.Output), Failure> where Other.Failure == Failure
  {
    AnyPublisher { receive in
      let values = LatestValues<Output, Other.Output>()
      let first = sink { value in
        if let pair = values.setFirstValue(value) {
          receive(pair)
        }
      }
      let second = other.sink { value in
        if let pair = values.setSecondValue(value) {
          receive(pair)
        }
      }
      return AnyCancellable(mayDeliverValues: { first.isActive || second.isActive }) {
        first.cancel()
        second.cancel()
      }
    }
  }

  /// Publishes the result of a closure that combines the latest values of two publishers.
  public func combineLatest<Other: Publisher, Value>(
    _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
  ) -> AnyPublisher<Value, Failure> where Other.Failure == Failure {
    combineLatest(other).map { transform($0.0, $0.1) }
  }

  /// Publishes the values of other publishers. A closure returns one publisher for each value.
  public func flatMap<Inner: Publisher>(_ transform: @escaping (Output) -> Inner)
    -> AnyPublisher<Inner.Output, Failure> where Inner.Failure == Failure
  {
    AnyPublisher { receive in
      let inner = InnerSubscriptions()
      let outer = sink { inner.add(transform($0).sink(receiveValue: receive)) }
      return AnyCancellable(mayDeliverValues: { outer.isActive || inner.containsActiveSubscription }
      ) {
        outer.cancel()
        inner.cancel()
      }
    }
  }

  /// Calls a closure with each value before the value is published.
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
  /// The published values as an asynchronous sequence.
  ///
  /// The sequence contains the values after its first value is requested.
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
  private var firstValue: First?
  private var secondValue: Second?

  func setFirstValue(_ value: First) -> (First, Second)? {
    lock.withLock {
      firstValue = value
      return secondValue.map { (value, $0) }
    }
  }

  func setSecondValue(_ value: Second) -> (First, Second)? {
    lock.withLock {
      secondValue = value
      return firstValue.map { ($0, value) }
    }
  }
}

/// The subscriptions that an operator creates one after another.
///
/// Each subscription is kept for as long as it may deliver values.
private final class InnerSubscriptions: @unchecked Sendable {
  /// The number of subscriptions at the first removal of ended subscriptions.
  private static let subscriptionCountAtFirstCleanup = 8

  private let lock = NSLock()
  private var subscriptions: [AnyCancellable] = []
  private var subscriptionCountAtNextCleanup = subscriptionCountAtFirstCleanup

  func add(_ subscription: AnyCancellable) {
    guard subscription.isActive else { return }
    let cleanupCandidates: [AnyCancellable] = lock.withLock {
      subscriptions.append(subscription)
      return subscriptions.count < subscriptionCountAtNextCleanup ? [] : subscriptions
    }
    if !cleanupCandidates.isEmpty {
      removeEndedSubscriptions(among: cleanupCandidates)
    }
  }

  /// Removes the ended subscriptions among the given subscriptions.
  ///
  /// An ended subscription never becomes active again.
  private func removeEndedSubscriptions(among crowd: [AnyCancellable]) {
    let endedSubscriptions = Set(crowd.filter { !$0.isActive })
    lock.withLock {
      subscriptions.removeAll { endedSubscriptions.contains($0) }
      // Cleanups take constant time per subscription on average.
      subscriptionCountAtNextCleanup = max(
        Self.subscriptionCountAtFirstCleanup, 2 * subscriptions.count)
    }
  }

  var containsActiveSubscription: Bool {
    lock.withLock { subscriptions }.contains(where: \.isActive)
  }

  func cancel() {
    for subscription in lock.withLock({ exchange(&subscriptions, with: []) }) {
      subscription.cancel()
    }
  }
}
