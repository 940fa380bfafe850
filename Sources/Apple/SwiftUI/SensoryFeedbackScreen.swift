internal import Foundation

/// Evaluates a view in a test, and plays the feedback of its modifiers when the observed values
/// change.
///
/// ```swift
/// let screen = SensoryFeedbackScreen { SaveButton(model: model) }
/// model.save()
/// await hapticDevice.advance(by: .zero)
/// #expect(hapticDevice.log.generators == [.notification(.success)])
/// ```
///
/// The screen evaluates the view again after each change of a state of the view, or of an
/// `@Observable` object or an observed object that the view reads: on the main queue, so that
/// several changes of one turn count as one. In synchronous tests, call `update()`.
///
/// The class is Temblor's own; on Apple's systems the screen evaluates the view.
@preconcurrency @MainActor public final class SensoryFeedbackScreen {
  private let content: () -> any View
  private var observersByPath: [String: ValueObserver] = [:]
  private var storagesByPath: [String: AnyObject] = [:]
  private var gestures: [GestureNode] = []
  private var observation: ScreenObservation?

  /// Evaluates a view for the first time. `onAppear` closures are called, and no feedback is
  /// played.
  public init(@ViewBuilder _ content: @escaping () -> some View) {
    self.content = content
    update()
  }

  /// Evaluates the view again, and calls the observers of values that have changed since the last
  /// evaluation, innermost first.
  public func update() {
    let observation = ScreenObservation { [weak self] in self?.updateIfChanged() }
    let collector = observation.evaluate {
      var collector = ObserverCollector(previousStorages: storagesByPath)
      collector.visit(content())
      return collector
    }
    self.observation = observation
    gestures = collector.gestures
    storagesByPath = collector.storages
    let previous = observersByPath
    observersByPath = Dictionary(collector.observers) { $1 }
    for (path, observer) in collector.observers {
      if let previousObserver = previous[path] {
        observer.onUpdate(previousObserver.trigger)
      } else {
        observer.onAppear()
      }
    }
  }

  /// Taps the view, and evaluates it again.
  ///
  /// A screen has no layout, so that the taps reach all of its views: call `tap()` on a screen with
  /// only the view of interest. Gestures of other numbers of taps are not called.
  ///
  /// - Parameter count: The number of taps.
  public func tap(count: Int = 1) { perform(.tap(count)) }

  /// Touches the view for a number of seconds, which do not pass, and evaluates it again.
  public func longPress(for seconds: Double = 0.5) { perform(.press(seconds: seconds)) }

  private func perform(_ touch: Touch) {
    for gesture in gestures {
      _ = gesture.perform(touch, isExclusive: true)
    }
    update()
  }

  /// Evaluates the view again, unless it has been evaluated since the change.
  private func updateIfChanged() {
    guard observation?.hasChanged == true else { return }
    update()
  }
}

/// The observation of the objects that an evaluation of a view reads, until the first change.
@MainActor final class ScreenObservation {
  /// The observation of the running evaluation.
  static private(set) var current: ScreenObservation?

  /// A Boolean value that indicates whether an object has changed since the evaluation.
  private(set) var hasChanged = false
  private let handler: @MainActor () -> Void
  private var subscriptions: [ObjectIdentifier: AnyCancellable] = [:]

  /// - Parameter handler: Called on the main queue after the first change.
  init(handler: @escaping @MainActor () -> Void) { self.handler = handler }

  /// Evaluates a view, and observes the objects that it reads.
  func evaluate<Result>(_ body: () -> Result) -> Result {
    let outer = Self.current
    Self.current = self
    defer { Self.current = outer }
    return withObservationTracking(body) { [weak self] in self?.scheduleHandler() }
  }

  /// Observes an object that the running evaluation reads.
  func observe(_ object: some ObservableObject) {
    observe(object.objectWillChange, of: ObjectIdentifier(object))
  }

  /// Observes the changes of an object.
  func observe(_ changes: some Publisher, of id: ObjectIdentifier) {
    guard subscriptions[id] == nil else { return }
    let observer = WeakObservation(self)
    subscriptions[id] = changes.sink { _ in
      observer.observation?.scheduleHandler()
    }
  }

  /// Schedules the handler after the change, which has not taken effect yet: [any thread].
  private nonisolated func scheduleHandler() {
    DispatchQueue.main.async { [weak self] in
      MainActor.assumeIsolated { self?.callHandler() }
    }
  }

  private func callHandler() {
    guard !hasChanged else { return }
    hasChanged = true
    handler()
  }

  /// A weak reference that any thread may hold.
  private final class WeakObservation: @unchecked Sendable {
    weak var observation: ScreenObservation?

    init(_ observation: ScreenObservation) { self.observation = observation }
  }
}

/// A modifier that observes a value.
@MainActor struct ValueObserver {
  let trigger: Any
  /// Called when the view first appears.
  let onAppear: () -> Void
  /// Called with the value of the last evaluation.
  let onUpdate: (Any) -> Void

  init<T: Equatable>(
    trigger: T, onAppear: @escaping () -> Void, _ action: @escaping (T, T) -> Void
  ) {
    self.trigger = trigger
    self.onAppear = onAppear
    onUpdate = { value in
      if let oldTrigger = value as? T, oldTrigger != trigger {
        action(oldTrigger, trigger)
      }
    }
  }

  /// Creates an observer of a publisher, which replaces the reception of the last evaluation.
  init(reception: some Reception) {
    trigger = reception
    onAppear = { reception.begin() }
    onUpdate = { reception.continue($0) }
  }
}

/// The reception of values that arrive between evaluations.
@MainActor protocol Reception {
  func begin()
  /// Continues the reception of the last evaluation, or replaces it.
  func `continue`(_ previous: Any)
}

/// The observers of a view by their path in it, innermost first.
@MainActor struct ObserverCollector {
  private(set) var observers: [(String, ValueObserver)] = []
  private(set) var gestures: [GestureNode] = []
  /// The storages of properties by the paths of the properties.
  private(set) var storages: [String: AnyObject] = [:]
  /// The environment of the view that is visited.
  var environment = EnvironmentValues()
  private let previousStorages: [String: AnyObject]
  private var path = ""

  init(previousStorages: [String: AnyObject] = [:]) { self.previousStorages = previousStorages }

  /// Returns the storage that a property had in the last evaluation, or a new one.
  mutating func persist<Storage: AnyObject>(_ storage: Storage, at path: String) -> Storage {
    let persistedStorage = previousStorages[path] as? Storage ?? storage
    storages[path] = persistedStorage
    return persistedStorage
  }

  /// Connects the properties of a view or a modifier.
  mutating func connectProperties(of owner: Any) {
    for property in Mirror(reflecting: owner).children {
      if let viewProperty = property.value as? any ViewProperty {
        viewProperty.connect(at: "\(path).\(property.label ?? "")", in: &self)
      }
    }
  }

  mutating func append(_ observer: ValueObserver) {
    observers.append(("\(path)#\(observers.count)", observer))
  }

  mutating func visit(_ view: any View, at step: String = "") {
    let outerPath = path
    path += "/\(type(of: view))\(step)"
    if let view = view as? any ObservableView {
      view.collectObservers(into: &self)
    } else {
      connectProperties(of: view)
      visit(body(of: view))
    }
    path = outerPath
  }

  /// Visits a view with a gesture.
  mutating func visit(_ view: any View, with gesture: GestureAttachment) {
    let siblings = gestures
    gestures = []
    visit(view)
    gestures = siblings + [GestureNode(attachment: gesture, subviews: gestures)]
  }

  private func body(of view: some View) -> any View { view.body }
}

/// A view whose content is known without its body.
@MainActor protocol ObservableView { func collectObservers(into watches: inout ObserverCollector) }
