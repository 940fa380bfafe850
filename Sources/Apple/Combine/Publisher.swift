@_exported public import Foundation
@_exported public import Observation

/// A source of values over time, with the parts that haptic code uses for settings and
/// notifications.
///
/// Values arrive immediately, on the sending thread. Demand is ignored, and publishers never
/// complete. Operators return an `AnyPublisher`.
public protocol Publisher<Output, Failure> {
  /// The type of the values.
  associatedtype Output
  /// The type of failures, which never occur.
  associatedtype Failure: Error

  /// Calls a closure for each value, until the returned subscription is canceled or released.
  func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable
}

/// A cancelable activity.
public protocol Cancellable {
  /// Cancels the activity. Further calls have no effect.
  func cancel()
}

/// A subscription that ends when it is canceled or released.
public final class AnyCancellable: Cancellable, Hashable, @unchecked Sendable {
  private let lock = NSLock()
  private var cancellation: (() -> Void)?
  private let mayDeliver: () -> Bool

  /// Creates a subscription that calls a closure once at its end.
  public init(_ cancel: @escaping () -> Void) {
    cancellation = cancel
    mayDeliver = { true }
  }

  /// Creates a subscription that may end without being canceled.
  ///
  /// - Parameters:
  ///   - mayDeliver: A closure that returns whether further values may arrive.
  ///   - cancel: A closure that is called once, when the subscription is canceled.
  init(mayDeliver: @escaping () -> Bool, _ cancel: @escaping () -> Void) {
    cancellation = cancel
    self.mayDeliver = mayDeliver
  }

  /// A Boolean value that indicates whether further values may arrive.
  var isActive: Bool { lock.withLock { cancellation != nil } && mayDeliver() }

  deinit { cancel() }

  /// Ends the subscription.
  public func cancel() { lock.withLock { exchange(&cancellation, with: nil) }?() }

  /// Stores the subscription in a set.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Returns whether both are the same subscription.
  public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A type-erased publisher.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let subscribe: (@escaping (Output) -> Void) -> AnyCancellable

  init(_ follow: @escaping (@escaping (Output) -> Void) -> AnyCancellable) {
    self.subscribe = follow
  }

  /// Calls a closure for each value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    subscribe(receiveValue)
  }
}

extension Publisher {
  /// Returns the type-erased publisher.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
    AnyPublisher { sink(receiveValue: $0) }
  }

  /// Publishes the results of a closure, except nil.
  public func compactMap<Value>(_ transform: @escaping (Output) -> Value?) -> AnyPublisher<
    Value, Failure
  > {
    AnyPublisher { receive in
      sink {
        if let value = transform($0) {
          receive(value)
        }
      }
    }
  }

  /// Publishes the results of a closure.
  public func map<Value>(_ transform: @escaping (Output) -> Value) -> AnyPublisher<Value, Failure> {
    AnyPublisher { receive in sink { receive(transform($0)) } }
  }

  /// Publishes the values that satisfy a condition.
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      sink {
        if isIncluded($0) {
          receive($0)
        }
      }
    }
  }

  /// Omits the first values.
  public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      var remaining = count
      return sink {
        if remaining > 0 {
          remaining -= 1
        } else {
          receive($0)
        }
      }
    }
  }

  /// Omits values that equal the preceding value.
  public func removeDuplicates() -> AnyPublisher<Output, Failure> where Output: Equatable {
    AnyPublisher { receive in
      var last: Output?
      return sink { value in
        guard value != last else { return }
        last = value
        receive(value)
      }
    }
  }

  /// Publishes values asynchronously on a queue or on the main run loop, which is represented by
  /// the main queue.
  public func receive(on scheduler: some Scheduler) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      sink { value in
        let carried = UncheckedTransfer { receive(value) }
        scheduler.schedule { carried.body(()) }
      }
    }
  }

  /// Assigns each value to a property of an object, which is retained.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root)
    -> AnyCancellable
  {
    sink { object[keyPath: keyPath] = $0 }
  }
}

/// A wrapper that transfers a closure to another thread, as Combine does.
final class UncheckedTransfer<Value>: @unchecked Sendable {
  let body: (Value) -> Void

  init(_ body: @escaping (Value) -> Void) { self.body = body }
}

/// A publisher through which a program sends values.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// Sends a value to all subscribers in the order of their subscriptions, on this thread.
  func send(_ value: Output)
}

extension Subject where Output == Void {
  /// Sends a value without content to the subscribers.
  public func send() { send(()) }
}

/// Sends values to the current subscribers.
public final class PassthroughSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let lock = NSLock()
  private var subscribers: [Int: (Output) -> Void] = [:]
  private var subscriberCount = 0

  /// Creates a subject without subscribers.
  public init() {}

  /// Sends a value to the subscribers.
  public func send(_ value: Output) {
    for follower in lock.withLock({ subscribers.sorted { $0.key < $1.key } }) {
      follower.value(value)
    }
  }

  /// Calls a closure for each value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    let number = lock.withLock {
      subscriberCount += 1
      subscribers[subscriberCount] = receiveValue
      return subscriberCount
    }
    return AnyCancellable { [weak self] in
      guard let self else { return }
      _ = lock.withLock { self.subscribers.removeValue(forKey: number) }
    }
  }
}

/// Sends values to the current subscribers, and the latest value to new subscribers.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let changes = PassthroughSubject<Output, Failure>()
  private let lock = NSLock()
  private var storedValue: Output

  /// Creates a subject with an initial value.
  public init(_ value: Output) { storedValue = value }

  /// The latest value. Setting it sends it.
  public var value: Output {
    get { lock.withLock { storedValue } }
    set {
      lock.withLock { storedValue = newValue }
      changes.send(newValue)
    }
  }

  /// Sends a value to the subscribers.
  public func send(_ value: Output) { self.value = value }

  /// Calls a closure for the latest value and for each later value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    receiveValue(value)
    return changes.sink(receiveValue: receiveValue)
  }
}

/// An object whose changes can be observed.
public protocol ObservableObject: AnyObject {
  /// The type of the publisher that sends a signal before the object changes.
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// The publisher that sends a signal before a `Published` property changes.
  var objectWillChange: ObjectWillChangePublisher { get }
}

/// A publisher that sends a signal before an object changes.
public typealias ObservableObjectPublisher = PassthroughSubject<Void, Never>

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// The publisher of the object, created on first use.
  public var objectWillChange: ObservableObjectPublisher {
    ChangePublishers.shared.publisher(of: self)
  }
}

/// The publishers of objects for the lifetime of the objects.
private final class ChangePublishers: @unchecked Sendable {
  static let shared = ChangePublishers()

  private struct Entry {
    weak var object: AnyObject?
    var publisher: ObservableObjectPublisher
  }

  private let lock = NSLock()
  private var entries: [ObjectIdentifier: Entry] = [:]

  func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    let (publisher, isNew) = lock.withLock {
      let id = ObjectIdentifier(object)
      if let entry = entries[id], entry.object === object {
        return (entry.publisher, false)
      }
      entries = entries.filter { $0.value.object != nil }
      let publisher = ObservableObjectPublisher()
      entries[id] = Entry(object: object, publisher: publisher)
      return (publisher, true)
    }
    guard isNew else { return publisher }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      for child in current.children {
        (child.value as? any PublishedProperty)?.connect(to: publisher)
      }
      mirror = current.superclassMirror
    }
    return publisher
  }
}

private protocol PublishedProperty { func connect(to publisher: ObservableObjectPublisher) }

/// A property whose changes can be observed by `$name` and by its object.
@propertyWrapper public struct Published<Value>: PublishedProperty {
  /// A publisher of the values of a property: the current value first, then each new value before
  /// it is set.
  public typealias Publisher = AnyPublisher<Value, Never>

  private final class Storage: @unchecked Sendable {
    let lock = NSLock()
    var value: Value
    let changes = PassthroughSubject<Value, Never>()
    weak var object: ObservableObjectPublisher?

    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  /// Creates a property with an initial value.
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  /// Creates a property with an initial value.
  public init(initialValue: Value) { storage = Storage(initialValue) }

  /// The published value.
  public var wrappedValue: Value {
    get { storage.lock.withLock { storage.value } }
    nonmutating set {
      storage.lock.withLock { storage.object }?.send()
      storage.changes.send(newValue)
      storage.lock.withLock { storage.value = newValue }
    }
  }

  /// A publisher of the property's values.
  public var projectedValue: Publisher {
    Publisher { receive in
      receive(wrappedValue)
      return storage.changes.sink(receiveValue: receive)
    }
  }

  fileprivate func connect(to publisher: ObservableObjectPublisher) {
    storage.lock.withLock { storage.object = publisher }
  }
}

extension Published: @unchecked Sendable where Value: Sendable {}
