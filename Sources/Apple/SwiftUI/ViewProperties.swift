internal import Foundation

/// A property of a view, which a screen connects before it evaluates the body of the view.
@MainActor protocol ViewProperty {
  /// Connects the property.
  ///
  /// - Parameters:
  ///   - path: The path of the property in the content of the screen.
  ///   - collector: The collector of the evaluation.
  func connect(at path: String, in collector: inout ObserverCollector)
}

/// A value that is stored as long as its view exists. A screen evaluates the view again when the
/// value changes.
@propertyWrapper public struct State<Value>: ViewProperty {
  private final class Storage {
    var value: Value
    let changes = ObservableObjectPublisher()

    init(_ value: Value) { self.value = value }
  }

  private let location: StorageLocation<Storage>

  /// Creates a state with an initial value.
  public init(wrappedValue: Value) { location = StorageLocation(Storage(wrappedValue)) }

  /// Creates a state with an initial value.
  public init(initialValue: Value) { self.init(wrappedValue: initialValue) }

  /// The value.
  public var wrappedValue: Value {
    get { location.storage.value }
    nonmutating set {
      location.storage.value = newValue
      location.storage.changes.send()
    }
  }

  /// A binding to the value.
  public var projectedValue: Binding<Value> {
    Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
  }

  func connect(at path: String, in collector: inout ObserverCollector) {
    location.storage = collector.persist(location.storage, at: path)
    ScreenObservation.current?.observe(
      location.storage.changes, of: ObjectIdentifier(location.storage))
  }
}

/// An object that a view observes.
@propertyWrapper @preconcurrency @MainActor
public struct ObservedObject<Object: ObservableObject> {
  private var object: Object

  /// The object. A screen that evaluates a view observes the objects that the view reads.
  public var wrappedValue: Object {
    get {
      ScreenObservation.current?.observe(object)
      return object
    }
    set { object = newValue }
  }

  /// Observes an object.
  public init(wrappedValue: Object) { object = wrappedValue }
}

/// An object that a view creates and observes. It is stored as long as the view exists.
@propertyWrapper @preconcurrency @MainActor
public struct StateObject<Object: ObservableObject>: ViewProperty {
  private final class Storage {
    private let makeObject: () -> Object
    private(set) lazy var object = makeObject()

    init(_ makeObject: @escaping () -> Object) { self.makeObject = makeObject }
  }

  private let location: StorageLocation<Storage>

  /// The object. A screen that evaluates a view observes the objects that the view reads.
  public var wrappedValue: Object {
    let object = location.storage.object
    ScreenObservation.current?.observe(object)
    return object
  }

  /// Creates a property whose object is created on first use.
  public init(wrappedValue makeObject: @autoclosure @escaping () -> Object) {
    location = StorageLocation(Storage(makeObject))
  }

  func connect(at path: String, in collector: inout ObserverCollector) {
    location.storage = collector.persist(location.storage, at: path)
  }
}

// MARK: - Environment

/// A key of a value in the environment.
public protocol EnvironmentKey {
  /// The type of the value.
  associatedtype Value

  /// The value in views whose environment does not contain another one.
  static var defaultValue: Value { get }
}

/// The values that views inherit from the views that contain them.
public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]

  /// Creates an environment of default values.
  public init() {}

  /// The value of a key.
  public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

/// A value that a view reads from its environment.
@propertyWrapper public struct Environment<Value>: ViewProperty {
  private final class Location {
    var values = EnvironmentValues()
  }

  private let keyPath: KeyPath<EnvironmentValues, Value>
  private let location = Location()

  /// Creates a property for a value of the environment.
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

  /// The value of the environment when the view was evaluated.
  public var wrappedValue: Value { location.values[keyPath: keyPath] }

  func connect(at path: String, in collector: inout ObserverCollector) {
    location.values = collector.environment
  }
}

/// A view with a changed environment.
private struct EnvironmentView: View, ObservableView {
  let content: any View
  let change: (inout EnvironmentValues) -> Void

  var body: EnvironmentView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    let outerEnvironment = watches.environment
    change(&watches.environment)
    watches.visit(content)
    watches.environment = outerEnvironment
  }
}

extension View {
  /// Sets a value in the environment of the view.
  public func environment<Value>(
    _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
  ) -> some View {
    EnvironmentView(content: self) { $0[keyPath: keyPath] = value }
  }
}

// MARK: - Publishers

extension View {
  /// Calls a closure for each value of a publisher while the view exists.
  ///
  /// The subscription continues when the screen evaluates the view again, unless the publisher is
  /// another object, or does not equal the previous publisher. `Just(value)` thus calls the closure
  /// for each new value.
  public func onReceive<Source: Publisher>(
    _ publisher: Source, perform action: @escaping (Source.Output) -> Void
  ) -> some View where Source.Failure == Never {
    AnyView(self, ValueObserver(reception: PublisherReception(publisher, action)))
  }
}

/// A subscription of a view to a publisher.
@MainActor private final class PublisherReception<Source: Publisher>: Reception {
  private let publisher: Source
  private let action: (Source.Output) -> Void
  private var target: Target?

  /// The action of the last evaluation, and the subscription that calls it.
  private final class Target {
    var action: (Source.Output) -> Void
    var subscription: AnyCancellable?

    init(_ action: @escaping (Source.Output) -> Void) { self.action = action }
  }

  init(_ publisher: Source, _ action: @escaping (Source.Output) -> Void) {
    self.publisher = publisher
    self.action = action
  }

  func begin() {
    let target = Target(action)
    self.target = target
    target.subscription = publisher.sink { [weak target] in target?.action($0) }
  }

  func `continue`(_ previous: Any) {
    guard let previous = previous as? PublisherReception, let previousTarget = previous.target,
      isSame(as: previous)
    else { return begin() }
    previousTarget.action = action
    target = previousTarget
  }

  private func isSame(as previous: PublisherReception) -> Bool {
    if type(of: publisher) is AnyClass {
      return publisher as AnyObject === previous.publisher as AnyObject
    }
    guard let value = publisher as? any Equatable else { return true }
    return isEqual(value, previous.publisher)
  }

  private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
    other as? Value == value
  }
}

/// The location of a property's storage, which the values of one view share.
private final class StorageLocation<Storage: AnyObject> {
  var storage: Storage

  init(_ storage: Storage) { self.storage = storage }
}
