/// Feedback that a view plays when a value changes, as a value: view models can be compiled and compared.
///
/// There are no views here, so nothing plays it.
public struct SensoryFeedback: Equatable, Sendable {
  /// The weight of what collides.
  public struct Weight: Equatable, Sendable {
    private let value: Int

    /// Light things.
    public static let light = Weight(value: 0)
    /// Things of middle weight.
    public static let medium = Weight(value: 1)
    /// Heavy things.
    public static let heavy = Weight(value: 2)
  }

  /// The stiffness of what collides.
  public struct Flexibility: Equatable, Sendable {
    private let value: Int

    /// Things that do not give way.
    public static let rigid = Flexibility(value: 0)
    /// Things of middle stiffness.
    public static let solid = Flexibility(value: 1)
    /// Things that give way.
    public static let soft = Flexibility(value: 2)
  }

  private enum Kind: Equatable {
    case success, warning, error, selection, increase, decrease, start, stop, alignment, levelChange
    case pathComplete
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
}
