/// A setting in the user's defaults: of truth values, numbers and text.
@propertyWrapper public struct AppStorage<Value> {
  private let key: String
  private let store: UserDefaults?
  private let initial: Value

  /// A setting that has a value where none is remembered.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value: LosslessStringConvertible {
    (self.key, self.store, initial) = (key, store, wrappedValue)
  }

  /// The remembered value.
  public var wrappedValue: Value {
    get { (store ?? .standard).object(forKey: key) as? Value ?? initial }
    nonmutating set { (store ?? .standard).set(newValue, forKey: key) }
  }

  /// The value for views that change it.
  public var projectedValue: Binding<Value> { Binding(get: { wrappedValue }, set: { wrappedValue = $0 }) }
}

/// A value that another owns.
@propertyWrapper public struct Binding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  /// A value that closures read and write.
  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (self.get, self.set) = (get, set) }

  /// The value.
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  /// The binding.
  public var projectedValue: Binding<Value> { self }
}

/// A value of a view, kept as long as the view is.
@propertyWrapper public struct State<Value> {
  private final class Storage {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  /// Makes a value.
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  /// The value.
  public var wrappedValue: Value {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }

  /// The value for views that change it.
  public var projectedValue: Binding<Value> { Binding(get: { wrappedValue }, set: { wrappedValue = $0 }) }
}

/// An object that a view follows.
@propertyWrapper public struct ObservedObject<Object: ObservableObject> {
  /// The object.
  public var wrappedValue: Object

  /// Follows an object.
  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
}

/// An object that a view makes and follows.
public typealias StateObject = ObservedObject
