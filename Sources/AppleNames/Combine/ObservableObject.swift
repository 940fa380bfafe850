@_exported public import Foundation
@_exported public import Observation

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
  public var objectWillChange: ObservableObjectPublisher { ChangePublishers.shared.publisher(of: self) }
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
      if let entry = entries[id], entry.object === object { return (entry.publisher, false) }
      entries = entries.filter { $0.value.object != nil }
      let publisher = ObservableObjectPublisher()
      entries[id] = Entry(object: object, publisher: publisher)
      return (publisher, true)
    }
    guard isNew else { return publisher }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      for child in current.children { (child.value as? any ChangeSource)?.announce(to: publisher) }
      mirror = current.superclassMirror
    }
    return publisher
  }
}

private protocol ChangeSource { func announce(to publisher: ObservableObjectPublisher) }

/// A property whose changes can be followed, by itself as `$name` and with its object.
@propertyWrapper public struct Published<Value>: ChangeSource {
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

  fileprivate func announce(to publisher: ObservableObjectPublisher) {
    storage.lock.withLock { storage.object = publisher }
  }
}

extension Published: @unchecked Sendable where Value: Sendable {}
