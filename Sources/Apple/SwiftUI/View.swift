@_exported public import UIKit

/// A view, as far as modifiers for haptics are written on it: nothing is shown.
///
/// `SensoryFeedbackScreen` looks at bodies for modifiers that play feedback.
@preconcurrency @MainActor public protocol View {
  /// What the body is.
  associatedtype Body: View

  /// The content of the view.
  @ViewBuilder var body: Body { get }
}

/// A change of views.
@preconcurrency @MainActor public protocol ViewModifier {
  /// What the body is.
  associatedtype Body: View

  /// The view that is changed.
  typealias Content = AnyView

  /// The changed view.
  @ViewBuilder func body(content: Content) -> Body
}

/// A view without its type.
public struct AnyView: View, ObservableView {
  private let view: any View
  private var observer: ValueObserver?

  /// Erases a view's type.
  public init(_ view: any View) { self.view = view }

  init(_ view: any View, _ watch: ValueObserver) {
    self.view = view
    self.observer = watch
  }

  /// The view.
  public var body: AnyView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    watches.visit(view)
    if let observer {
      watches.append(observer)
    }
  }
}

/// No view.
public typealias EmptyView = ViewGroup

/// One of several views, several, or none.
public struct ViewGroup: View, ObservableView {
  private let views: [any View]
  /// Which branch of a condition it is.
  private let branch: Int

  /// Makes no view.
  public init() { self.init([]) }

  init(_ views: [any View], branch: Int = 0) {
    self.views = views
    self.branch = branch
  }

  /// The views.
  public var body: ViewGroup { self }

  func collectObservers(into watches: inout ObserverCollector) {
    for (index, view) in views.enumerated() {
      watches.visit(view, at: "\(branch).\(index)")
    }
  }
}

/// Makes one view of several, and of conditions.
@preconcurrency @MainActor @resultBuilder public struct ViewBuilder {
  /// Takes a view.
  public static func buildExpression<Content: View>(_ view: Content) -> Content { view }
  /// No view.
  public static func buildBlock() -> EmptyView { EmptyView() }
  /// One view.
  public static func buildBlock<Content: View>(_ view: Content) -> Content { view }
  /// Several views.
  public static func buildBlock<First: View, each Rest: View>(
    _ first: First, _ rest: repeat each Rest
  ) -> ViewGroup {
    var views: [any View] = [first]
    repeat views.append(each rest)
    return ViewGroup(views)
  }
  /// A view where a condition holds.
  public static func buildIf<Content: View>(_ view: Content?) -> ViewGroup {
    ViewGroup(view.map { [$0] } ?? [], branch: 1)
  }
  /// The view where a condition holds.
  public static func buildEither<Content: View>(first view: Content) -> ViewGroup {
    ViewGroup([view], branch: 1)
  }
  /// The view where it does not.
  public static func buildEither<Content: View>(second view: Content) -> ViewGroup {
    ViewGroup([view], branch: 2)
  }
  /// A view of newer systems.
  public static func buildLimitedAvailability<Content: View>(_ view: Content) -> AnyView {
    AnyView(view)
  }
}

extension View {
  /// Returns the view as a modifier changes it.
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View {
    AnyView(modifier.body(content: AnyView(self)))
  }

  /// Returns the view; nobody taps it.
  public func onTapGesture(count: Int = 1, perform action: @escaping () -> Void) -> some View {
    self
  }

  /// Calls a closure when a screen first looks at the view.
  public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    AnyView(self, ValueObserver(trigger: 0, onAppear: action ?? {}) { (_: Int, _: Int) in })
  }

  /// Calls a closure when a value has changed.
  public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false,
    _ action: @escaping (_ oldValue: Value, _ newValue: Value) -> Void
  ) -> some View {
    AnyView(
      self,
      ValueObserver(
        trigger: value,
        onAppear: {
          if initial {
            action(value, value)
          }
        }, action))
  }

  /// Calls a closure when a value has changed.
  public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping () -> Void
  )
    -> some View
  { onChange(of: value, initial: initial) { _, _ in action() } }

  /// Calls a closure with a value when it has changed.
  public func onChange<Value: Equatable>(
    of value: Value, perform action: @escaping (_ newValue: Value) -> Void
  )
    -> some View
  { onChange(of: value) { action($1) } }

  /// Plays feedback when a value has changed.
  public func sensoryFeedback<T: Equatable>(_ feedback: SensoryFeedback, trigger: T) -> some View {
    onChange(of: trigger) { _, _ in feedback.play() }
  }

  /// Plays feedback when a value has changed as a condition says.
  public func sensoryFeedback<T: Equatable>(
    _ feedback: SensoryFeedback, trigger: T,
    condition: @escaping (_ oldValue: T, _ newValue: T) -> Bool
  ) -> some View {
    onChange(of: trigger) {
      if condition($0, $1) {
        feedback.play()
      }
    }
  }

  /// Plays feedback when a value has changed and a condition holds.
  public func sensoryFeedback<T: Equatable>(
    _ feedback: SensoryFeedback, trigger: T, condition: @escaping () -> Bool
  ) -> some View {
    onChange(of: trigger) { _, _ in
      if condition() {
        feedback.play()
      }
    }
  }

  /// Plays what a closure returns when a value has changed.
  public func sensoryFeedback<T: Equatable>(
    trigger: T, _ feedback: @escaping (_ oldValue: T, _ newValue: T) -> SensoryFeedback?
  ) -> some View { onChange(of: trigger) { feedback($0, $1)?.play() } }

  /// Plays what a closure returns when a value has changed.
  public func sensoryFeedback<T: Equatable>(
    trigger: T, _ feedback: @escaping () -> SensoryFeedback?
  ) -> some View {
    onChange(of: trigger) { _, _ in feedback()?.play() }
  }
}

/// A setting in the user's defaults: of truth values, numbers and text.
@propertyWrapper public struct AppStorage<Value> {
  private let key: String
  private let store: UserDefaults?
  private let defaultValue: Value

  /// A setting that has a value where none is remembered.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
  where Value: LosslessStringConvertible {
    self.key = key
    self.store = store
    defaultValue = wrappedValue
  }

  /// The remembered value.
  public var wrappedValue: Value {
    get { (store ?? .standard).object(forKey: key) as? Value ?? defaultValue }
    nonmutating set { (store ?? .standard).set(newValue, forKey: key) }
  }

  /// The value for views that change it.
  public var projectedValue: Binding<Value> {
    Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
  }
}

/// A value that another owns.
@propertyWrapper public struct Binding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  /// A value that closures read and write.
  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    self.get = get
    self.set = set
  }

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
  public var projectedValue: Binding<Value> {
    Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
  }
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
