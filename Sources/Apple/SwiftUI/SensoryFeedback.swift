internal import HapticManagement

/// The feedback that a view plays when a value changes.
///
/// `SensoryFeedbackScreen` plays it in tests. Apple does not publish its haptics: feedback that
/// corresponds to an iPhone's generator plays the same pattern, and other feedback plays the tick
/// of a selection.
public struct SensoryFeedback: Equatable, Sendable {
  /// The weight of colliding objects.
  public enum Weight: String, Sendable { case light, medium, heavy }

  /// The stiffness of colliding objects, from rigid to soft.
  public enum Flexibility: String, Sendable { case rigid, solid, soft }

  /// The kind of control that a person presses, as in iOS 26.
  public enum PressFeedback: String, Sendable { case button, buttonIconOnly, slider, tab, toggle }

  /// The kind of control that a person releases, as in iOS 26.
  public enum ReleaseFeedback: String, Sendable { case slider }

  /// The new state of a selected value, as in iOS 26.
  public enum SelectionFeedback: String, Sendable { case on, off, minimum, maximum }

  private enum Kind: Equatable {
    case success, warning, error, selection, increase, decrease, start, stop, alignment, levelChange
    case pathComplete
    case press(PressFeedback), release(ReleaseFeedback), select(SelectionFeedback)
    case weight(Weight, Double)
    case flexibility(Flexibility, Double)
  }

  private let kind: Kind

  /// The feedback for a task that succeeded.
  public static let success = SensoryFeedback(kind: .success)
  /// The feedback for a task that ended with a warning.
  public static let warning = SensoryFeedback(kind: .warning)
  /// The feedback for a task that failed.
  public static let error = SensoryFeedback(kind: .error)
  /// The feedback for a changed selection.
  public static let selection = SensoryFeedback(kind: .selection)
  /// The feedback for a value that increased past a threshold.
  public static let increase = SensoryFeedback(kind: .increase)
  /// The feedback for a value that decreased past a threshold.
  public static let decrease = SensoryFeedback(kind: .decrease)
  /// The feedback for the start of an activity.
  public static let start = SensoryFeedback(kind: .start)
  /// The feedback for the end of an activity.
  public static let stop = SensoryFeedback(kind: .stop)
  /// The feedback for the alignment of a dragged object.
  public static let alignment = SensoryFeedback(kind: .alignment)
  /// The feedback for a change in the pressure level.
  public static let levelChange = SensoryFeedback(kind: .levelChange)
  /// The feedback for the completion of a drawn path.
  public static let pathComplete = SensoryFeedback(kind: .pathComplete)
  /// The feedback for a collision of objects of medium weight.
  public static let impact = SensoryFeedback.impact()

  /// Returns feedback for a collision of objects of a weight, with an intensity of 0…1.
  public static func impact(weight: Weight = .medium, intensity: Double = 1) -> SensoryFeedback {
    SensoryFeedback(kind: .weight(weight, intensity))
  }

  /// Returns feedback for a collision of objects of a flexibility, with an intensity of 0…1.
  ///
  /// The objects are rigid, solid, or soft.
  public static func impact(flexibility: Flexibility, intensity: Double = 1) -> SensoryFeedback {
    SensoryFeedback(kind: .flexibility(flexibility, intensity))
  }

  /// Returns feedback for a control that is pressed (iOS 26).
  public static func press(_ feedback: PressFeedback) -> SensoryFeedback {
    SensoryFeedback(kind: .press(feedback))
  }

  /// Returns feedback for a control that is released (iOS 26).
  public static func release(_ feedback: ReleaseFeedback) -> SensoryFeedback {
    SensoryFeedback(kind: .release(feedback))
  }

  /// Returns feedback for a control whose value changes (iOS 26).
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
    EngineLifecycle.shared.playShippedPattern(pattern, as: name, intensity: intensity)
  }
}
