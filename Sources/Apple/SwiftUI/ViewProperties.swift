internal import Foundation

/// A view's property whose storage a screen provides.
///
/// The screen connects the property to the storage before it evaluates the body of the view.
@MainActor protocol ViewProperty {
  /// Connects the property to its storage in the screen.
  ///
  /// - Parameters:
  ///   - path: The path of the property in the content of the screen.
  ///   - collector: The collector of the evaluation.
  func connect(at path: String, in collector: inout ObserverCollector)
}

/// A value that is stored for as long as its view exists.
///
/// A screen evaluates the view again when the value changes.
@propertyWrapper public struct State<Value>: ViewProperty {
  private final class Storage {
    var value: Value
    let changePublisher = ObservableObjectPublisher()

    init(_ value: Value) { self.value = value }
  }

  private let storageLocation: StorageLocation<Storage>

  /// Creates a state with an initial value.
  public init(wrappedValue: Value) { storageLocation = StorageLocation(Storage(wrappedValue)) }

  /// Creates a state with an initial value.
  public init(initialValue: Value) { self.init(wrappedValue: initialValue) }

  /// The value of the state.
  public var wrappedValue: Value {
    get { storageLocation.storage.value }
    nonmutating set {
      storageLocation.storage.value = newValue
      storageLocation.storage.changePublisher.send()
    }
  }

  /// A binding to the value of the state.
  public var projectedValue: Binding<Value> {
    Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
  }

  func connect(at path: String, in collector: inout ObserverCollector) {
    storageLocation.storage = collector.persistentStorage(storageLocation.storage, at: path)
    ScreenObservation.currentObservation?.observeChanges(
      storageLocation.storage.changePublisher, of: ObjectIdentifier(storageLocation.storage))
  }
}

/// An object that a view observes.
@propertyWrapper @preconcurrency @MainActor
public struct ObservedObject<Object: ObservableObject> {
  private var object: Object

  /// The observed object. A screen that evaluates a view observes the objects that the view reads.
  public var wrappedValue: Object {
    get {
      ScreenObservation.currentObservation?.observeObject(object)
      return object
    }
    set { object = newValue }
  }

  /// Creates a property that observes an object.
  public init(wrappedValue: Object) { object = wrappedValue }
}

/// An object that a view creates and observes. It is stored for as long as the view exists.
@propertyWrapper @preconcurrency @MainActor
public struct StateObject<Object: ObservableObject>: ViewProperty {
  private final class Storage {
    private let makeObject: () -> Object
    private(set) lazy var object = makeObject()

    init(_ makeObject: @escaping () -> Object) { self.makeObject = makeObject }
  }

  private let storageLocation: StorageLocation<Storage>

  /// The created object. A screen that evaluates a view observes the objects that the view reads.
  public var wrappedValue: Object {
    let storedObject = storageLocation.storage.object
    ScreenObservation.currentObservation?.observeObject(storedObject)
    return storedObject
  }

  /// Creates a property whose object is created on first use.
  public init(wrappedValue makeObject: @autoclosure @escaping () -> Object) {
    storageLocation = StorageLocation(Storage(makeObject))
  }

  func connect(at path: String, in collector: inout ObserverCollector) {
    storageLocation.storage = collector.persistentStorage(storageLocation.storage, at: path)
  }
}

// MARK: - Environment

/// A key for a value in the environment of views.
public protocol EnvironmentKey {
  /// The type of the value.
  associatedtype Value

  /// The default value of the key.
  ///
  /// It applies to views whose environment contains no other value for the key.
  static var defaultValue: Value { get }
}

/// The environment: values that views inherit from the views that contain them.
public struct EnvironmentValues {
  private var valuesByKey: [ObjectIdentifier: Any] = [:]

  /// Creates an environment of default values.
  public init() {}

  /// The value that the environment contains for a key.
  public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
    get { valuesByKey[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { valuesByKey[ObjectIdentifier(key)] = newValue }
  }
}

/// A value that a view reads from its environment.
@propertyWrapper public struct Environment<Value>: ViewProperty {
  private final class ValuesLocation {
    var values = EnvironmentValues()
  }

  private let keyPath: KeyPath<EnvironmentValues, Value>
  private let valuesLocation = ValuesLocation()

  /// Creates a property for a value of the environment.
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

  /// The value in the environment at the time when the view was evaluated.
  public var wrappedValue: Value { valuesLocation.values[keyPath: keyPath] }

  func connect(at path: String, in collector: inout ObserverCollector) {
    valuesLocation.values = collector.environment
  }
}

/// A view with a changed environment.
private struct EnvironmentView: View, ObservableView {
  let content: any View
  let changeValues: (inout EnvironmentValues) -> Void

  var body: EnvironmentView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    let outerEnvironment = watches.environment
    changeValues(&watches.environment)
    watches.visitView(content)
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
    AnyView(self, ValueObserver(subscription: PublisherSubscription(publisher, action)))
  }
}

/// A subscription of a view to a publisher.
@MainActor private final class PublisherSubscription<Source: Publisher>: ReceivingSubscription {
  private let observedPublisher: Source
  private let outputHandler: (Source.Output) -> Void
  private var deliveryTarget: DeliveryTarget?

  /// The action from the most recent evaluation, with the subscription that calls it.
  private final class DeliveryTarget {
    var action: (Source.Output) -> Void
    var subscription: AnyCancellable?

    init(_ action: @escaping (Source.Output) -> Void) { self.action = action }
  }

  init(_ publisher: Source, _ action: @escaping (Source.Output) -> Void) {
    self.observedPublisher = publisher
    self.outputHandler = action
  }

  func beginReceiving() {
    let newTarget = DeliveryTarget(outputHandler)
    self.deliveryTarget = newTarget
    newTarget.subscription = observedPublisher.sink { [weak newTarget] in newTarget?.action($0) }
  }

  func continueReceiving(from previous: Any) {
    guard let previousSubscription = previous as? PublisherSubscription,
      let previousTarget = previousSubscription.deliveryTarget,
      hasSamePublisher(as: previousSubscription)
    else { return beginReceiving() }
    previousTarget.action = outputHandler
    deliveryTarget = previousTarget
  }

  private func hasSamePublisher(as previous: PublisherSubscription) -> Bool {
    if type(of: observedPublisher) is AnyClass {
      return observedPublisher as AnyObject === previous.observedPublisher as AnyObject
    }
    guard let equatablePublisher = observedPublisher as? any Equatable else { return true }
    return isEqual(equatablePublisher, previous.observedPublisher)
  }

  private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
    other as? Value == value
  }
}

/// A reference to a property's storage. All copies of a view share the storage.
private final class StorageLocation<Storage: AnyObject> {
  var storage: Storage

  init(_ storage: Storage) { self.storage = storage }
}
