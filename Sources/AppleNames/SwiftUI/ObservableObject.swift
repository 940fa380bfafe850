@_exported public import Foundation

/// An object whose changes views follow; nothing follows them here.
///
/// Managers of haptics conform to it in most applications.
public protocol ObservableObject: AnyObject {}

/// A property whose changes views follow: here a property like any other.
@propertyWrapper public struct Published<Value> {
  /// The value.
  public var wrappedValue: Value

  /// Makes a property.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Makes a property.
  public init(initialValue: Value) { wrappedValue = initialValue }
}

extension Published: Sendable where Value: Sendable {}

/// A setting in the user's defaults: of truth values, numbers and text.
@propertyWrapper public struct AppStorage<Value> {
  private let key: String
  private let store: UserDefaults?
  private let initial: Value

  /// A setting that has a value where none is remembered.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value where none is remembered.
  ///   - key: The name under which it is remembered.
  ///   - store: The defaults, or nil for the standard ones.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value: LosslessStringConvertible {
    (self.key, self.store, initial) = (key, store, wrappedValue)
  }

  /// The remembered value.
  public var wrappedValue: Value {
    get { (store ?? .standard).object(forKey: key) as? Value ?? initial }
    nonmutating set { (store ?? .standard).set(newValue, forKey: key) }
  }
}

/// A view, as far as extensions for haptics are written on it: there is none here, and nothing is shown.
@preconcurrency @MainActor public protocol View {}

/// A change of views, as far as modifiers for haptics are written.
@preconcurrency @MainActor public protocol ViewModifier {
  /// What the body is.
  associatedtype Body: View

  /// The view that is changed.
  typealias Content = ModifiedView

  /// The changed view.
  func body(content: Content) -> Body
}

/// The view that a modifier changes.
public struct ModifiedView: View {}

extension View {
  /// Returns the view; nothing changes it.
  public func modifier<Modifier>(_ modifier: Modifier) -> some View { self }

  /// Returns the view; nothing taps it.
  public func onTapGesture(count: Int = 1, perform action: @escaping () -> Void) -> some View { self }

  /// Returns the view; nothing plays the feedback.
  public func sensoryFeedback<T: Equatable>(_ feedback: SensoryFeedback, trigger: T) -> some View { self }

  /// Returns the view; nothing plays the feedback.
  public func sensoryFeedback<T: Equatable>(
    _ feedback: SensoryFeedback, trigger: T, condition: @escaping (_ oldValue: T, _ newValue: T) -> Bool
  ) -> some View { self }

  /// Returns the view; nothing plays the feedback.
  public func sensoryFeedback<T: Equatable>(
    trigger: T, _ feedback: @escaping (_ oldValue: T, _ newValue: T) -> SensoryFeedback?
  ) -> some View { self }
}
