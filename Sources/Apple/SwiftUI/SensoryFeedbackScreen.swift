internal import Foundation

/// A screen that evaluates a view in a test and plays its sensory feedback.
///
/// The feedback of the view's modifiers is played when the observed values change.
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
  private let makeContent: () -> any View
  private var observersByPath: [String: ValueObserver] = [:]
  private var storagesByPath: [String: AnyObject] = [:]
  private var gestureNodes: [GestureNode] = []
  private var currentObservation: ScreenObservation?

  /// Creates a screen, and evaluates a view for the first time.
  ///
  /// `onAppear` closures are called, and no feedback is played.
  public init(@ViewBuilder _ content: @escaping () -> some View) {
    self.makeContent = content
    update()
  }

  /// Evaluates the view again, and calls the observers of changed values.
  ///
  /// The observers of values that have changed since the last evaluation are called innermost
  /// first.
  public func update() {
    let observation = ScreenObservation { [weak self] in self?.updateIfChanged() }
    let observerCollector = observation.evaluate {
      var observerCollector = ObserverCollector(previousStoragesByPath: storagesByPath)
      observerCollector.visitView(makeContent())
      return observerCollector
    }
    self.currentObservation = observation
    gestureNodes = observerCollector.gestureNodes
    storagesByPath = observerCollector.storagesByPath
    let previousObservers = observersByPath
    observersByPath = Dictionary(observerCollector.observersWithPaths) { $1 }
    for (path, observer) in observerCollector.observersWithPaths {
      if let previousObserver = previousObservers[path] {
        observer.updateHandler(previousObserver.observedValue)
      } else {
        observer.appearHandler()
      }
    }
  }

  /// Simulates a tap on the view, and evaluates the view again.
  ///
  /// A screen has no layout, so that the taps reach all of its views: call `tap()` on a screen with
  /// only the view of interest. Gestures of other numbers of taps are not called.
  ///
  /// - Parameter count: The number of taps.
  public func tap(count: Int = 1) { performTouch(.tap(count)) }

  /// Simulates a touch of a duration in seconds, and evaluates the view again.
  ///
  /// The simulation does not wait.
  public func longPress(for seconds: Double = 0.5) { performTouch(.press(seconds: seconds)) }

  private func performTouch(_ touch: SimulatedTouch) {
    for gesture in gestureNodes {
      _ = gesture.performTouch(touch, isExclusive: true)
    }
    update()
  }

  /// Evaluates the view again after a change, unless it has been evaluated since then.
  private func updateIfChanged() {
    guard currentObservation?.hasObservedChange == true else { return }
    update()
  }
}

/// An observation of the objects that a view reads during an evaluation.
///
/// The observation ends with the first change.
@MainActor final class ScreenObservation {
  /// The observation of the evaluation in progress, or nil.
  static private(set) var currentObservation: ScreenObservation?

  /// A Boolean value that indicates whether an object has changed since the evaluation.
  private(set) var hasObservedChange = false
  private let changeHandler: @MainActor () -> Void
  private var subscriptions: [ObjectIdentifier: AnyCancellable] = [:]

  /// - Parameter changeHandler: Called on the main queue after the first change.
  init(changeHandler: @escaping @MainActor () -> Void) { self.changeHandler = changeHandler }

  /// Evaluates a view, and observes the objects that the view reads.
  func evaluate<Result>(_ body: () -> Result) -> Result {
    let outerObservation = Self.currentObservation
    Self.currentObservation = self
    defer { Self.currentObservation = outerObservation }
    return withObservationTracking(body) { [weak self] in self?.scheduleChangeHandler() }
  }

  /// Observes an object that the evaluation in progress reads.
  func observeObject(_ object: some ObservableObject) {
    observeChanges(object.objectWillChange, of: ObjectIdentifier(object))
  }

  /// Observes the changes that a publisher of an object reports.
  func observeChanges(_ changes: some Publisher, of id: ObjectIdentifier) {
    guard subscriptions[id] == nil else { return }
    let weakObserver = WeakObservation(self)
    subscriptions[id] = changes.sink { _ in
      weakObserver.observation?.scheduleChangeHandler()
    }
  }

  /// Schedules the change handler to run after the change has taken effect.
  ///
  /// Any thread may call the method.
  private nonisolated func scheduleChangeHandler() {
    DispatchQueue.main.async { [weak self] in
      MainActor.assumeIsolated { self?.callChangeHandler() }
    }
  }

  private func callChangeHandler() {
    guard !hasObservedChange else { return }
    hasObservedChange = true
    changeHandler()
  }

  /// A weak reference to an observation, which any thread may hold.
  private final class WeakObservation: @unchecked Sendable {
    weak var observation: ScreenObservation?

    init(_ observation: ScreenObservation) { self.observation = observation }
  }
}

/// An observer of a value, which a view modifier adds.
@MainActor struct ValueObserver {
  let observedValue: Any
  /// A closure that is called when the view first appears.
  let appearHandler: () -> Void
  /// A closure that is called after each evaluation of the view.
  ///
  /// The argument is the value observed in the previous evaluation.
  let updateHandler: (Any) -> Void

  init<T: Equatable>(
    observedValue: T, appearHandler: @escaping () -> Void, _ action: @escaping (T, T) -> Void
  ) {
    self.observedValue = observedValue
    self.appearHandler = appearHandler
    updateHandler = { value in
      if let oldTrigger = value as? T, oldTrigger != observedValue {
        action(oldTrigger, observedValue)
      }
    }
  }

  /// Creates an observer that subscribes to a publisher.
  ///
  /// The subscription of the previous evaluation continues if possible.
  init(subscription reception: some ReceivingSubscription) {
    observedValue = reception
    appearHandler = { reception.beginReceiving() }
    updateHandler = { reception.continueReceiving(from: $0) }
  }
}

/// A subscription to a publisher that lasts from one evaluation of a view to the next.
@MainActor protocol ReceivingSubscription {
  func beginReceiving()
  /// Continues the subscription of the previous evaluation, or replaces it.
  ///
  /// The subscription continues if the publisher is the same.
  func continueReceiving(from previous: Any)
}

/// A collector of the observers in a view hierarchy by their paths, innermost first.
@MainActor struct ObserverCollector {
  private(set) var observersWithPaths: [(String, ValueObserver)] = []
  private(set) var gestureNodes: [GestureNode] = []
  /// The storage of each property, by the property's path.
  private(set) var storagesByPath: [String: AnyObject] = [:]
  /// The environment of the view that is being visited.
  var environment = EnvironmentValues()
  private let previousStoragesByPath: [String: AnyObject]
  private var currentViewPath = ""

  init(previousStoragesByPath: [String: AnyObject] = [:]) {
    self.previousStoragesByPath = previousStoragesByPath
  }

  /// Returns the storage that a property had in the last evaluation, or a new storage.
  mutating func persistentStorage<Storage: AnyObject>(_ storage: Storage, at path: String)
    -> Storage
  {
    let persistedStorage = previousStoragesByPath[path] as? Storage ?? storage
    storagesByPath[path] = persistedStorage
    return persistedStorage
  }

  /// Connects the state and environment properties of a view or a modifier to their storage.
  mutating func connectProperties(of owner: Any) {
    for property in Mirror(reflecting: owner).children {
      if let viewProperty = property.value as? any ViewProperty {
        viewProperty.connect(at: "\(currentViewPath).\(property.label ?? "")", in: &self)
      }
    }
  }

  mutating func appendObserver(_ observer: ValueObserver) {
    observersWithPaths.append(("\(currentViewPath)#\(observersWithPaths.count)", observer))
  }

  mutating func visitView(_ view: any View, at step: String = "") {
    let outerPath = currentViewPath
    currentViewPath += "/\(type(of: view))\(step)"
    if let observableView = view as? any ObservableView {
      observableView.collectObservers(into: &self)
    } else {
      connectProperties(of: view)
      visitView(body(of: view))
    }
    currentViewPath = outerPath
  }

  /// Visits a view with a gesture.
  mutating func visitView(_ view: any View, with gesture: GestureAttachment) {
    let siblingNodes = gestureNodes
    gestureNodes = []
    visitView(view)
    gestureNodes =
      siblingNodes + [GestureNode(gestureAttachment: gesture, subviewNodes: gestureNodes)]
  }

  private func body(of view: some View) -> any View { view.body }
}

/// A view that collects observers itself, without evaluation of its body.
@MainActor protocol ObservableView { func collectObservers(into watches: inout ObserverCollector) }
