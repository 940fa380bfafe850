@_exported public import Foundation
@_exported public import Observation

/// A source of values over time, for settings and notifications.
///
/// It has the operators that haptic code uses.
///
/// Values arrive immediately, on the sending thread. Demand is ignored, and publishers never
/// complete. Operators return an `AnyPublisher`.
public protocol Publisher<Output, Failure> {
  /// The type of the published values.
  associatedtype Output
  /// The failure type. The publisher never fails.
  associatedtype Failure: Error

  /// Calls a closure for each value, until the returned subscription is canceled or released.
  func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable
}

/// An activity that can be canceled, such as a subscription.
public protocol Cancellable {
  /// Cancels the activity. Further calls have no effect.
  func cancel()
}

/// A subscription that ends when it is canceled or released.
public final class AnyCancellable: Cancellable, Hashable, @unchecked Sendable {
  private let lock = NSLock()
  private var cancelAction: (() -> Void)?
  private let mayDeliverValues: () -> Bool

  /// Creates a subscription that calls a closure once when it ends.
  public init(_ cancel: @escaping () -> Void) {
    cancelAction = cancel
    mayDeliverValues = { true }
  }

  /// Creates a subscription that may end without being canceled.
  ///
  /// - Parameters:
  ///   - mayDeliverValues: A closure that returns whether further values may arrive.
  ///   - cancel: A closure that is called once, when the subscription is canceled.
  init(mayDeliverValues: @escaping () -> Bool, _ cancel: @escaping () -> Void) {
    cancelAction = cancel
    self.mayDeliverValues = mayDeliverValues
  }

  /// A Boolean value that indicates whether the subscription may deliver further values.
  var isActive: Bool { lock.withLock { cancelAction != nil } && mayDeliverValues() }

  deinit { cancel() }

  /// Ends the subscription, and calls its closure.
  public func cancel() { lock.withLock { exchange(&cancelAction, with: nil) }?() }

  /// Stores the subscription in a set.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Returns true if both values are the same subscription.
  public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

  /// Hashes the identity of the subscription.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A type-erased publisher.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let subscribeReceiver: (@escaping (Output) -> Void) -> AnyCancellable

  init(_ follow: @escaping (@escaping (Output) -> Void) -> AnyCancellable) {
    self.subscribeReceiver = follow
  }

  /// Calls a closure for each published value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    subscribeReceiver(receiveValue)
  }
}

extension Publisher {
  /// Returns the publisher with its type erased.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
    AnyPublisher { sink(receiveValue: $0) }
  }

  /// Publishes the results of applying a closure to each value, except results that are nil.
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

  /// Publishes the result of applying a closure to each value.
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

  /// Publishes all values except a number of values at the start.
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

  /// Publishes the values that differ from the preceding value.
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

  /// Publishes values asynchronously on a queue. The main queue represents the main run loop.
  public func receive(on scheduler: some Scheduler) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      sink { value in
        let carried = UncheckedClosureTransfer { receive(value) }
        scheduler.schedule { carried.transferredClosure(()) }
      }
    }
  }

  /// Assigns each value to a property of an object. The subscription retains the object.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root)
    -> AnyCancellable
  {
    sink { object[keyPath: keyPath] = $0 }
  }
}

/// A wrapper that transfers a closure to another thread without a sendability check.
///
/// Combine does the same.
final class UncheckedClosureTransfer<Value>: @unchecked Sendable {
  let transferredClosure: (Value) -> Void

  init(_ body: @escaping (Value) -> Void) { self.transferredClosure = body }
}

/// A subject: a publisher whose values are sent by the program.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// Sends a value to all subscribers on this thread, in the order of their subscriptions.
  func send(_ value: Output)
}

extension Subject where Output == Void {
  /// Sends an empty value to all subscribers.
  public func send() { send(()) }
}

/// A subject that sends values to its current subscribers.
public final class PassthroughSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let lock = NSLock()
  private var subscribersByNumber: [Int: (Output) -> Void] = [:]
  private var lastSubscriberNumber = 0

  /// Creates a subject without subscribers.
  public init() {}

  /// Sends a value to the current subscribers.
  public func send(_ value: Output) {
    for follower in lock.withLock({ subscribersByNumber.sorted { $0.key < $1.key } }) {
      follower.value(value)
    }
  }

  /// Calls a closure for each value that is sent.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    let subscriberNumber = lock.withLock {
      lastSubscriberNumber += 1
      subscribersByNumber[lastSubscriberNumber] = receiveValue
      return lastSubscriberNumber
    }
    return AnyCancellable { [weak self] in
      guard let self else { return }
      _ = lock.withLock { self.subscribersByNumber.removeValue(forKey: subscriberNumber) }
    }
  }
}

/// A subject that sends values to its current subscribers, and the latest value to new subscribers.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let changeSubject = PassthroughSubject<Output, Failure>()
  private let lock = NSLock()
  private var storedValue: Output

  /// Creates a subject with an initial value.
  public init(_ value: Output) { storedValue = value }

  /// The latest value. Setting the property sends the value.
  public var value: Output {
    get { lock.withLock { storedValue } }
    set {
      lock.withLock { storedValue = newValue }
      changeSubject.send(newValue)
    }
  }

  /// Sends a value to the subscribers, and stores it as the latest value.
  public func send(_ value: Output) { self.value = value }

  /// Calls a closure for the latest value and for each later value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    receiveValue(value)
    return changeSubject.sink(receiveValue: receiveValue)
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
  /// The publisher of the object's changes, which is created on first use.
  public var objectWillChange: ObservableObjectPublisher {
    ChangePublishers.shared.changePublisher(of: self)
  }
}

/// The change publishers of all observable objects.
///
/// A publisher is kept for as long as its object exists.
private final class ChangePublishers: @unchecked Sendable {
  static let shared = ChangePublishers()

  private struct PublisherEntry {
    weak var object: AnyObject?
    var publisher: ObservableObjectPublisher
  }

  private let lock = NSLock()
  private var entriesByObjectID: [ObjectIdentifier: PublisherEntry] = [:]

  func changePublisher(of object: AnyObject) -> ObservableObjectPublisher {
    let (publisher, isNew) = lock.withLock {
      let id = ObjectIdentifier(object)
      if let entry = entriesByObjectID[id], entry.object === object {
        return (entry.publisher, false)
      }
      entriesByObjectID = entriesByObjectID.filter { $0.value.object != nil }
      let publisher = ObservableObjectPublisher()
      entriesByObjectID[id] = PublisherEntry(object: object, publisher: publisher)
      return (publisher, true)
    }
    guard isNew else { return publisher }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let currentMirror = mirror {
      for child in currentMirror.children {
        (child.value as? any PublishedProperty)?.connect(toObjectPublisher: publisher)
      }
      mirror = currentMirror.superclassMirror
    }
    return publisher
  }
}

private protocol PublishedProperty {
  func connect(toObjectPublisher publisher: ObservableObjectPublisher)
}

/// A property whose changes can be observed.
///
/// Observers use `$name` or the object that contains the property.
@propertyWrapper public struct Published<Value>: PublishedProperty {
  /// A publisher of a property's values.
  ///
  /// It publishes the current value, and then each new value before it is set.
  public typealias Publisher = AnyPublisher<Value, Never>

  private final class Storage: @unchecked Sendable {
    let lock = NSLock()
    var value: Value
    let changeSubject = PassthroughSubject<Value, Never>()
    weak var objectPublisher: ObservableObjectPublisher?

    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  /// Creates a property with an initial value.
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  /// Creates a property with an initial value.
  public init(initialValue: Value) { storage = Storage(initialValue) }

  /// The value of the property. Setting it publishes the value.
  public var wrappedValue: Value {
    get { storage.lock.withLock { storage.value } }
    nonmutating set {
      storage.lock.withLock { storage.objectPublisher }?.send()
      storage.changeSubject.send(newValue)
      storage.lock.withLock { storage.value = newValue }
    }
  }

  /// A publisher of the property's values.
  public var projectedValue: Publisher {
    Publisher { receive in
      receive(wrappedValue)
      return storage.changeSubject.sink(receiveValue: receive)
    }
  }

  fileprivate func connect(toObjectPublisher publisher: ObservableObjectPublisher) {
    storage.lock.withLock { storage.objectPublisher = publisher }
  }
}

extension Published: @unchecked Sendable where Value: Sendable {}
