@_exported public import Foundation
@_exported public import Observation

/// Values over time, as far as haptic code follows settings and notifications.
///
/// Values come at once, on the thread that sends them; demand is not counted, and nothing ends by
/// itself. Operators return an `AnyPublisher`.
public protocol Publisher<Output, Failure> {
  /// What is sent.
  associatedtype Output
  /// How it may fail; nothing fails here.
  associatedtype Failure: Error

  /// Calls a closure for each value, until what is returned is cancelled or released.
  func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable
}

/// What can be cancelled.
public protocol Cancellable {
  /// Ends it; further calls do nothing.
  func cancel()
}

/// A subscription, which ends when it is cancelled or released.
public final class AnyCancellable: Cancellable, Hashable, @unchecked Sendable {
  private let lock = NSLock()
  private var cancellation: (() -> Void)?

  /// Calls a closure once, at the end.
  public init(_ cancel: @escaping () -> Void) { cancellation = cancel }

  deinit { cancel() }

  /// Ends the subscription.
  public func cancel() { lock.withLock { exchange(&cancellation, with: nil) }?() }

  /// Keeps the subscription in a set.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Whether two are one.
  public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A publisher of which only values are known.
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
  /// The publisher without its type.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
    AnyPublisher { sink(receiveValue: $0) }
  }

  /// Passes on what a closure makes of each value; nil is left out.
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

  /// Passes on what a closure makes of each value.
  public func map<Value>(_ transform: @escaping (Output) -> Value) -> AnyPublisher<Value, Failure> {
    AnyPublisher { receive in sink { receive(transform($0)) } }
  }

  /// Passes on the values that satisfy a condition.
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      sink {
        if isIncluded($0) {
          receive($0)
        }
      }
    }
  }

  /// Leaves the first values out.
  public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      var left = count
      return sink {
        if left > 0 {
          left -= 1
        } else {
          receive($0)
        }
      }
    }
  }

  /// Leaves values out that are equal to the one before.
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

  /// Passes values on later, on a queue or the main run loop, which stands for the main queue.
  public func receive(on scheduler: some Scheduler) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      sink { value in
        let carried = UncheckedTransfer { receive(value) }
        scheduler.schedule { carried.body(()) }
      }
    }
  }

  /// Sets a property of an object, which is kept, to each value.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root)
    -> AnyCancellable
  {
    sink { object[keyPath: keyPath] = $0 }
  }
}

/// Carries a closure to another thread, as Combine does.
private final class UncheckedTransfer<Value>: @unchecked Sendable {
  let body: (Value) -> Void

  init(_ body: @escaping (Value) -> Void) { self.body = body }
}

/// Where values can be received.
public protocol Scheduler {
  /// Runs a closure soon.
  func schedule(_ action: @escaping @Sendable () -> Void)
}

extension DispatchQueue: Scheduler {
  /// Runs a closure on the queue.
  public func schedule(_ action: @escaping @Sendable () -> Void) { async(execute: action) }
}

extension RunLoop: Scheduler {
  /// Runs a closure on the main queue: run loops do not run in tests.
  public func schedule(_ action: @escaping @Sendable () -> Void) {
    DispatchQueue.main.async(execute: action)
  }
}

extension NotificationCenter {
  /// The notifications of a name, as they are posted.
  public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> AnyPublisher<
    Notification, Never
  > {
    AnyPublisher { receive in
      let carried = UncheckedTransfer(receive)
      let token = self.addObserver(forName: name, object: object, queue: nil) { carried.body($0) }
      return AnyCancellable { self.removeObserver(token) }
    }
  }
}

/// A publisher that a program sends values through.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// Sends a value to all that follow it, in the order in which they came, on this thread.
  func send(_ value: Output)
}

extension Subject where Output == Void {
  /// Sends a signal.
  public func send() { send(()) }
}

/// Sends values to those who follow it at the time.
public final class PassthroughSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let lock = NSLock()
  private var subscribers: [Int: (Output) -> Void] = [:]
  private var subscriberCount = 0

  /// A subject that nobody follows.
  public init() {}

  /// Sends a value.
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

/// Keeps the last value, which those who come receive first.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let changes = PassthroughSubject<Output, Failure>()
  private let lock = NSLock()
  private var storedValue: Output

  /// A subject with its first value.
  public init(_ value: Output) { storedValue = value }

  /// The last value; setting it sends it.
  public var value: Output {
    get { lock.withLock { storedValue } }
    set {
      lock.withLock { storedValue = newValue }
      changes.send(newValue)
    }
  }

  /// Sends a value.
  public func send(_ value: Output) { self.value = value }

  /// Calls a closure for the last value and those to come.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    receiveValue(value)
    return changes.sink(receiveValue: receiveValue)
  }
}

/// An object whose changes can be followed.
public protocol ObservableObject: AnyObject {
  /// What sends a signal before the object changes.
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// Sends a signal before a property changes that is `Published`.
  var objectWillChange: ObjectWillChangePublisher { get }
}

/// Sends a signal before an object changes.
public typealias ObservableObjectPublisher = PassthroughSubject<Void, Never>

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// The object's own publisher, made when it is first asked for.
  public var objectWillChange: ObservableObjectPublisher {
    ChangePublishers.shared.publisher(of: self)
  }
}

/// The publishers of objects, for as long as these are there.
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

/// A property whose changes can be followed, by itself as `$name` and with its object.
@propertyWrapper public struct Published<Value>: PublishedProperty {
  /// The values of a property: that of now first, and each new one before it is set.
  public typealias Publisher = AnyPublisher<Value, Never>

  private final class Storage: @unchecked Sendable {
    let lock = NSLock()
    var value: Value
    let changes = PassthroughSubject<Value, Never>()
    weak var object: ObservableObjectPublisher?

    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  /// Makes a property.
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  /// Makes a property.
  public init(initialValue: Value) { storage = Storage(initialValue) }

  /// The value.
  public var wrappedValue: Value {
    get { storage.lock.withLock { storage.value } }
    nonmutating set {
      storage.lock.withLock { storage.object }?.send()
      storage.changes.send(newValue)
      storage.lock.withLock { storage.value = newValue }
    }
  }

  /// The values of the property.
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
