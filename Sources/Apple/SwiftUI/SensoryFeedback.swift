internal import HapticManagement

/// Feedback that a view plays when a value changes, as a value that can be compared.
///
/// `SensoryFeedbackScreen` plays it in tests. Apple publishes nothing about how it feels: what an
/// iPhone's generators have plays as these do, all else as a selection's tick.
public struct SensoryFeedback: Equatable, Sendable {
  /// The weight of what collides.
  public enum Weight: String, Sendable { case light, medium, heavy }

  /// The stiffness of what collides: what does not give way, something between, and what gives way.
  public enum Flexibility: String, Sendable { case rigid, solid, soft }

  /// What is pressed; iOS 26.
  public enum PressFeedback: String, Sendable { case button, buttonIconOnly, slider, tab, toggle }

  /// What is released; iOS 26.
  public enum ReleaseFeedback: String, Sendable { case slider }

  /// What a value has come to; iOS 26.
  public enum SelectionFeedback: String, Sendable { case on, off, minimum, maximum }

  private enum Kind: Equatable {
    case success, warning, error, selection, increase, decrease, start, stop, alignment, levelChange
    case pathComplete
    case press(PressFeedback), release(ReleaseFeedback), select(SelectionFeedback)
    case weight(Weight, Double)
    case flexibility(Flexibility, Double)
  }

  private let kind: Kind

  /// It succeeded.
  public static let success = SensoryFeedback(kind: .success)
  /// It is to be minded.
  public static let warning = SensoryFeedback(kind: .warning)
  /// It failed.
  public static let error = SensoryFeedback(kind: .error)
  /// A choice changed.
  public static let selection = SensoryFeedback(kind: .selection)
  /// A value grew beyond a threshold.
  public static let increase = SensoryFeedback(kind: .increase)
  /// A value fell below a threshold.
  public static let decrease = SensoryFeedback(kind: .decrease)
  /// An activity starts.
  public static let start = SensoryFeedback(kind: .start)
  /// An activity ends.
  public static let stop = SensoryFeedback(kind: .stop)
  /// A dragged thing came into line.
  public static let alignment = SensoryFeedback(kind: .alignment)
  /// Pressure came to another level.
  public static let levelChange = SensoryFeedback(kind: .levelChange)
  /// A drawn path was closed.
  public static let pathComplete = SensoryFeedback(kind: .pathComplete)
  /// A collision of things of middle weight.
  public static let impact = SensoryFeedback.impact()

  /// A collision of things of a weight, with an intensity of 0…1.
  public static func impact(weight: Weight = .medium, intensity: Double = 1) -> SensoryFeedback {
    SensoryFeedback(kind: .weight(weight, intensity))
  }

  /// A collision of things of a stiffness, with an intensity of 0…1.
  public static func impact(flexibility: Flexibility, intensity: Double = 1) -> SensoryFeedback {
    SensoryFeedback(kind: .flexibility(flexibility, intensity))
  }

  /// Feedback for a control that is pressed; iOS 26.
  public static func press(_ feedback: PressFeedback) -> SensoryFeedback {
    SensoryFeedback(kind: .press(feedback))
  }

  /// Feedback for a control that is released; iOS 26.
  public static func release(_ feedback: ReleaseFeedback) -> SensoryFeedback {
    SensoryFeedback(kind: .release(feedback))
  }

  /// Feedback for a control whose value changes; iOS 26.
  public static func selection(_ feedback: SelectionFeedback) -> SensoryFeedback {
    SensoryFeedback(kind: .select(feedback))
  }

  func play() {
    let (pattern, name, intensity): (String, String, Double) =
      switch kind {
      case .success, .warning, .error, .selection:
        ("\(kind)", "\(kind)", 1)
      case .alignment:
        ("selection", "alignment", 1)
      case .pathComplete:
        ("light", "path-completed", 1)
      case .weight(let weight, let intensity):
        (weight.rawValue, weight.rawValue, intensity)
      case .flexibility(.solid, let intensity):
        ("medium", "medium", intensity)
      case .flexibility(let flexibility, let intensity):
        (flexibility.rawValue, flexibility.rawValue, intensity)
      case .press(let feedback):
        ("selection", "press \(feedback.rawValue)", 1)
      case .release(let feedback):
        ("selection", "release \(feedback.rawValue)", 1)
      case .select(let feedback):
        ("selection", "selection \(feedback.rawValue)", 1)
      case .increase, .decrease, .start, .stop, .levelChange:
        ("selection", "\(kind)", 1)
      }
    EngineLifecycle.shared.play(shipped: pattern, as: name, intensity: intensity)
  }
}

/// Looks at a view for a test: plays the feedback of its modifiers as the values change that they
/// watch.
///
/// ```swift
/// let screen = SensoryFeedbackScreen { SaveButton(model: model) }
/// model.save()
/// screen.update()
/// #expect(hapticDevice.log.generators == [.notification(.success)])
/// ```
///
/// Temblor's own, for tests: on Apple's systems the screen is the screen.
@preconcurrency @MainActor public final class SensoryFeedbackScreen {
  private let content: () -> any View
  private var observersByPath: [String: ValueObserver] = [:]

  /// Looks at a view for the first time: what `onAppear` is given is called, no feedback is played.
  public init(@ViewBuilder _ content: @escaping () -> some View) {
    self.content = content
    update()
  }

  /// Looks at the view again: what watches a value that has changed since the last look is called,
  /// innermost first.
  public func update() {
    var found = ObserverCollector()
    found.visit(content())
    let before = observersByPath
    observersByPath = Dictionary(found.observers) { $1 }
    for (place, watch) in found.observers {
      if let old = before[place] {
        watch.onUpdate(old.trigger)
      } else {
        watch.onAppear()
      }
    }
  }
}

@MainActor struct ValueObserver {
  let trigger: Any
  /// Called when the view is first seen.
  let onAppear: () -> Void
  /// Called with the trigger of the last look.
  let onUpdate: (Any) -> Void

  init<T: Equatable>(
    trigger: T, onAppear appears: @escaping () -> Void, _ action: @escaping (T, T) -> Void
  ) {
    self.trigger = trigger
    self.onAppear = appears
    onUpdate = { old in
      if let old = old as? T, old != trigger {
        action(old, trigger)
      }
    }
  }
}

/// The watches of a view by their place in it, innermost first.
@MainActor struct ObserverCollector {
  private(set) var observers: [(String, ValueObserver)] = []
  private var path = ""

  mutating func append(_ watch: ValueObserver) {
    observers.append(("\(path)#\(observers.count)", watch))
  }

  mutating func visit(_ view: any View, at step: String = "") {
    let outer = path
    path += "/\(type(of: view))\(step)"
    if let view = view as? any ObservableView {
      view.collectObservers(into: &self)
    } else {
      visit(body(of: view))
    }
    path = outer
  }

  private func body(of view: some View) -> any View { view.body }
}

/// A view whose content is known without its body.
@MainActor protocol ObservableView { func collectObservers(into watches: inout ObserverCollector) }
