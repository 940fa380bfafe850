internal import Foundation

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
  private var followers: [Int: (Output) -> Void] = [:]
  private var count = 0

  /// A subject that nobody follows.
  public init() {}

  /// Sends a value.
  public func send(_ value: Output) {
    for follower in lock.withLock({ followers.sorted { $0.key < $1.key } }) { follower.value(value) }
  }

  /// Calls a closure for each value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    let number = lock.withLock {
      count += 1
      followers[count] = receiveValue
      return count
    }
    return AnyCancellable { [weak self] in
      guard let self else { return }
      _ = lock.withLock { self.followers.removeValue(forKey: number) }
    }
  }
}

/// Keeps the last value, which those who come receive first.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
  private let changes = PassthroughSubject<Output, Failure>()
  private let lock = NSLock()
  private var stored: Output

  /// A subject with its first value.
  public init(_ value: Output) { stored = value }

  /// The last value; setting it sends it.
  public var value: Output {
    get { lock.withLock { stored } }
    set {
      lock.withLock { stored = newValue }
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
