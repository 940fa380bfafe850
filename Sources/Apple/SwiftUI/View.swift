@_exported public import UIKit

/// A view with modifiers for haptics; it is not displayed.
///
/// `SensoryFeedbackScreen` evaluates bodies to find modifiers that play feedback.
@preconcurrency @MainActor public protocol View {
  /// The type of the body's view.
  associatedtype Body: View

  /// The content of the view.
  @ViewBuilder var body: Body { get }
}

/// A modifier of views.
@preconcurrency @MainActor public protocol ViewModifier {
  /// The type of the body's view.
  associatedtype Body: View

  /// The type of the modified view.
  typealias Content = AnyView

  /// Returns the modified view.
  @ViewBuilder func body(content: Content) -> Body
}

/// A type-erased view.
public struct AnyView: View, ObservableView {
  private let view: any View
  private var observer: ValueObserver?
  private var gesture: GestureAttachment?

  /// Erases a view's type.
  public init(_ view: any View) { self.view = view }

  init(_ view: any View, _ observer: ValueObserver) {
    self.view = view
    self.observer = observer
  }

  init(_ view: any View, _ gesture: GestureAttachment) {
    self.view = view
    self.gesture = gesture
  }

  /// The type-erased view itself.
  public var body: AnyView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    if let gesture {
      watches.visit(view, with: gesture)
    } else {
      watches.visit(view)
    }
    if let observer {
      watches.append(observer)
    }
  }
}

/// A view with a modifier.
private struct ModifiedView<Modifier: ViewModifier>: View, ObservableView {
  let content: AnyView
  let modifier: Modifier

  var body: ModifiedView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    watches.connectProperties(of: modifier)
    watches.visit(modifier.body(content: content))
  }
}

/// A view without content.
public typealias EmptyView = ViewGroup

/// Any number of views.
public struct ViewGroup: View, ObservableView {
  private let views: [any View]
  /// The branch of a condition that the views belong to.
  private let branch: Int

  /// Creates an empty group.
  public init() { self.init([]) }

  init(_ views: [any View], branch: Int = 0) {
    self.views = views
    self.branch = branch
  }

  /// The group itself, which has no other body.
  public var body: ViewGroup { self }

  func collectObservers(into watches: inout ObserverCollector) {
    for (index, view) in views.enumerated() {
      watches.visit(view, at: "\(branch).\(index)")
    }
  }
}

/// Builds views from expressions and conditions.
@preconcurrency @MainActor @resultBuilder public struct ViewBuilder {
  /// Returns a view.
  public static func buildExpression<Content: View>(_ view: Content) -> Content { view }
  /// Returns an empty view.
  public static func buildBlock() -> EmptyView { EmptyView() }
  /// Returns a view.
  public static func buildBlock<Content: View>(_ view: Content) -> Content { view }
  /// Returns a group of views.
  public static func buildBlock<First: View, each Rest: View>(
    _ first: First, _ rest: repeat each Rest
  ) -> ViewGroup {
    var views: [any View] = [first]
    repeat views.append(each rest)
    return ViewGroup(views)
  }
  /// Returns the view of a condition without an alternative.
  public static func buildIf<Content: View>(_ view: Content?) -> ViewGroup {
    ViewGroup(view.map { [$0] } ?? [], branch: 1)
  }
  /// Returns the view of the first branch of a condition.
  public static func buildEither<Content: View>(first view: Content) -> ViewGroup {
    ViewGroup([view], branch: 1)
  }
  /// Returns the view of the second branch of a condition.
  public static func buildEither<Content: View>(second view: Content) -> ViewGroup {
    ViewGroup([view], branch: 2)
  }
  /// Returns a view with limited availability.
  public static func buildLimitedAvailability<Content: View>(_ view: Content) -> AnyView {
    AnyView(view)
  }
}

extension View {
  /// Returns the view with a modifier applied.
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View {
    ModifiedView(content: AnyView(self), modifier: modifier)
  }

  /// Calls a closure when the view is first evaluated.
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

  /// Calls a closure with the new value when a value has changed.
  public func onChange<Value: Equatable>(
    of value: Value, perform action: @escaping (_ newValue: Value) -> Void
  )
    -> some View
  { onChange(of: value) { action($1) } }

  /// Plays feedback when a value has changed.
  public func sensoryFeedback<T: Equatable>(_ feedback: SensoryFeedback, trigger: T) -> some View {
    onChange(of: trigger) { _, _ in feedback.play() }
  }

  /// Plays feedback when a value has changed and a condition of both values holds.
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

  /// Plays the feedback that a closure returns when a value has changed.
  public func sensoryFeedback<T: Equatable>(
    trigger: T, _ feedback: @escaping (_ oldValue: T, _ newValue: T) -> SensoryFeedback?
  ) -> some View { onChange(of: trigger) { feedback($0, $1)?.play() } }

  /// Plays the feedback that a closure returns when a value has changed.
  public func sensoryFeedback<T: Equatable>(
    trigger: T, _ feedback: @escaping () -> SensoryFeedback?
  ) -> some View {
    onChange(of: trigger) { _, _ in feedback()?.play() }
  }
}

/// A setting in the user's defaults: a Boolean, a number, or a text.
@propertyWrapper public struct AppStorage<Value> {
  private let key: String
  private let store: UserDefaults?
  private let defaultValue: Value

  /// Creates a setting with a default value.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
  where Value: LosslessStringConvertible {
    self.key = key
    self.store = store
    defaultValue = wrappedValue
  }

  /// The stored value, or the default value.
  public var wrappedValue: Value {
    get { (store ?? .standard).object(forKey: key) as? Value ?? defaultValue }
    nonmutating set { (store ?? .standard).set(newValue, forKey: key) }
  }

  /// A binding to the value.
  public var projectedValue: Binding<Value> {
    Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
  }
}

/// A value that is stored elsewhere.
@propertyWrapper public struct Binding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  /// Creates a binding from closures that read and write the value.
  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    self.get = get
    self.set = set
  }

  /// The value.
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  /// The binding itself, for the `$` prefix.
  public var projectedValue: Binding<Value> { self }
}
