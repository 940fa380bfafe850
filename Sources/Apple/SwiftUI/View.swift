@_exported public import UIKit

/// A view that is never displayed, but whose modifiers play haptics.
///
/// `SensoryFeedbackScreen` evaluates bodies to find modifiers that play feedback.
@preconcurrency @MainActor public protocol View {
  /// The type of the view's body.
  associatedtype Body: View

  /// The body of the view: another view that is its content.
  @ViewBuilder var body: Body { get }
}

/// A modifier of views, which returns a modified view.
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
  private var valueObserver: ValueObserver?
  private var gestureAttachment: GestureAttachment?

  /// Erases a view's type.
  public init(_ view: any View) { self.view = view }

  init(_ view: any View, _ observer: ValueObserver) {
    self.view = view
    self.valueObserver = observer
  }

  init(_ view: any View, _ gesture: GestureAttachment) {
    self.view = view
    self.gestureAttachment = gesture
  }

  /// The body of the view, which is the type-erased view itself.
  public var body: AnyView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    if let gestureAttachment {
      watches.visitView(view, with: gestureAttachment)
    } else {
      watches.visitView(view)
    }
    if let valueObserver {
      watches.appendObserver(valueObserver)
    }
  }
}

/// A view to which a modifier is applied.
private struct ModifiedView<Modifier: ViewModifier>: View, ObservableView {
  let content: AnyView
  let modifier: Modifier

  var body: ModifiedView { self }

  func collectObservers(into watches: inout ObserverCollector) {
    watches.connectProperties(of: modifier)
    watches.visitView(modifier.body(content: content))
  }
}

/// A view without content.
public typealias EmptyView = ViewGroup

/// A group that contains any number of views.
public struct ViewGroup: View, ObservableView {
  private let views: [any View]
  /// The index of the conditional branch that contains the views.
  private let branchIndex: Int

  /// Creates an empty group.
  public init() { self.init([]) }

  init(_ views: [any View], branchIndex: Int = 0) {
    self.views = views
    self.branchIndex = branchIndex
  }

  /// The body of the group, which is the group itself.
  public var body: ViewGroup { self }

  func collectObservers(into watches: inout ObserverCollector) {
    for (index, view) in views.enumerated() {
      watches.visitView(view, at: "\(branchIndex).\(index)")
    }
  }
}

/// A view that contains the views of a closure, for example the branches of a condition.
public struct Group<Content: View>: View {
  private let content: Content

  /// Creates a group of the views that a closure returns.
  public init(@ViewBuilder content: () -> Content) { self.content = content() }

  /// The views of the group.
  public var body: Content { content }
}

/// Builds views from expressions and conditions.
@preconcurrency @MainActor @resultBuilder public struct ViewBuilder {
  /// Returns the view that an expression states.
  public static func buildExpression<Content: View>(_ view: Content) -> Content { view }
  /// Returns an empty view for an empty block.
  public static func buildBlock() -> EmptyView { EmptyView() }
  /// Returns the view of a block that contains only one view.
  public static func buildBlock<Content: View>(_ view: Content) -> Content { view }
  /// Returns a group of the views in a block.
  public static func buildBlock<First: View, each Rest: View>(
    _ first: First, _ rest: repeat each Rest
  ) -> ViewGroup {
    var builtViews: [any View] = [first]
    repeat builtViews.append(each rest)
    return ViewGroup(builtViews)
  }
  /// Returns the view of an `if` statement without `else`.
  public static func buildIf<Content: View>(_ view: Content?) -> ViewGroup {
    ViewGroup(view.map { [$0] } ?? [], branchIndex: 1)
  }
  /// Returns the view of the first branch of an `if` or `switch` statement.
  public static func buildEither<Content: View>(first view: Content) -> ViewGroup {
    ViewGroup([view], branchIndex: 1)
  }
  /// Returns the view of the second branch of an `if` or `switch` statement.
  public static func buildEither<Content: View>(second view: Content) -> ViewGroup {
    ViewGroup([view], branchIndex: 2)
  }
  /// Returns the view of an `if #available` block.
  public static func buildLimitedAvailability<Content: View>(_ view: Content) -> AnyView {
    AnyView(view)
  }
}

extension View {
  /// Applies a modifier to the view.
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View {
    ModifiedView(content: AnyView(self), modifier: modifier)
  }

  /// Calls a closure when the view is first evaluated.
  public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    AnyView(
      self, ValueObserver(observedValue: 0, appearHandler: action ?? {}) { (_: Int, _: Int) in })
  }

  /// Calls a closure when a value has changed.
  public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false,
    _ action: @escaping (_ oldValue: Value, _ newValue: Value) -> Void
  ) -> some View {
    AnyView(
      self,
      ValueObserver(
        observedValue: value,
        appearHandler: {
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

  /// Plays feedback when a value has changed and a closure returns true.
  ///
  /// The arguments of the closure are the old and the new value.
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

  /// Plays feedback when a value has changed and a closure returns true.
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

/// A property that is stored in the user defaults: a Boolean, a number, or a text.
@propertyWrapper public struct AppStorage<Value> {
  private let defaultsKey: String
  private let store: UserDefaults?
  private let defaultValue: Value

  /// Creates a setting with a default value.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
  where Value: LosslessStringConvertible {
    self.defaultsKey = key
    self.store = store
    defaultValue = wrappedValue
  }

  /// The stored value, or the default value if no value is stored.
  public var wrappedValue: Value {
    get { (store ?? .standard).object(forKey: defaultsKey) as? Value ?? defaultValue }
    nonmutating set { (store ?? .standard).set(newValue, forKey: defaultsKey) }
  }

  /// A binding to the value of the setting.
  public var projectedValue: Binding<Value> {
    Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
  }
}

/// A binding to a value that is stored elsewhere.
@propertyWrapper public struct Binding<Value> {
  private let getValue: () -> Value
  private let setValue: (Value) -> Void

  /// Creates a binding from closures that read and write the value.
  public init(get getValue: @escaping () -> Value, set setValue: @escaping (Value) -> Void) {
    self.getValue = getValue
    self.setValue = setValue
  }

  /// Returns a binding whose value never changes.
  public static func constant(_ value: Value) -> Binding<Value> {
    Binding(get: { value }, set: { _ in })
  }

  /// The value of the binding.
  public var wrappedValue: Value {
    get { getValue() }
    nonmutating set { setValue(newValue) }
  }

  /// The binding itself, which `$name` returns.
  public var projectedValue: Binding<Value> { self }
}
