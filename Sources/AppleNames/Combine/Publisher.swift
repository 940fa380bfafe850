public import Foundation

/// Values over time, as far as haptic code follows settings and notifications.
///
/// Values come at once, on the thread that sends them; demand is not counted, and nothing ends by itself. Operators
/// return an `AnyPublisher`.
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
  private var end: (() -> Void)?

  /// Calls a closure once, at the end.
  public init(_ cancel: @escaping () -> Void) { end = cancel }

  deinit { cancel() }

  /// Ends the subscription.
  public func cancel() {
    let end = lock.withLock {
      let end = self.end
      self.end = nil
      return end
    }
    end?()
  }

  /// Keeps the subscription in a set.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Whether two are one.
  public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A publisher of which only values are known.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let follow: (@escaping (Output) -> Void) -> AnyCancellable

  init(_ follow: @escaping (@escaping (Output) -> Void) -> AnyCancellable) { self.follow = follow }

  /// Calls a closure for each value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable { follow(receiveValue) }
}

extension Publisher {
  /// The publisher without its type.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher { sink(receiveValue: $0) } }

  /// Passes on what a closure makes of each value; nil is left out.
  public func compactMap<Value>(_ transform: @escaping (Output) -> Value?) -> AnyPublisher<Value, Failure> {
    AnyPublisher { receive in sink { if let value = transform($0) { receive(value) } } }
  }

  /// Passes on what a closure makes of each value.
  public func map<Value>(_ transform: @escaping (Output) -> Value) -> AnyPublisher<Value, Failure> {
    AnyPublisher { receive in sink { receive(transform($0)) } }
  }

  /// Passes on the values that satisfy a condition.
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in sink { if isIncluded($0) { receive($0) } } }
  }

  /// Leaves the first values out.
  public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive in
      var left = count
      return sink { if left > 0 { left -= 1 } else { receive($0) } }
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
        let carried = Carried { receive(value) }
        scheduler.schedule { carried.body(()) }
      }
    }
  }

  /// Sets a property of an object, which is kept, to each value.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
    sink { object[keyPath: keyPath] = $0 }
  }
}

/// Carries a closure to another thread, as Combine does.
private final class Carried<Value>: @unchecked Sendable {
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
  public func schedule(_ action: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: action) }
}

extension NotificationCenter {
  /// The notifications of a name, as they are posted.
  public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> AnyPublisher<Notification, Never> {
    AnyPublisher { receive in
      let carried = Carried(receive)
      let token = self.addObserver(forName: name, object: object, queue: nil) { carried.body($0) }
      return AnyCancellable { self.removeObserver(token) }
    }
  }
}
