public import Foundation

/// A control that moves along straight lines between control points and then holds its last value.
open class CHHapticParameterCurve: NSObject {
  /// One corner of a curve.
  open class ControlPoint: NSObject {
    /// Seconds from the start of the curve.
    open var relativeTime: TimeInterval
    /// The value; a pattern or player moves it to the nearest bound of its range.
    open var value: Float

    /// Makes a corner; nothing is clamped or checked.
    public init(relativeTime time: TimeInterval, value: Float) {
      relativeTime = time
      self.value = value
      super.init()
    }

    /// A control point is made of its time and value.
    @available(*, unavailable) public override init() {
      relativeTime = 0
      value = 0
      super.init()
    }

    /// One line: value and time.
    open override var description: String { "CHHapticParameterCurve.ControlPoint(\(value) at \(relativeTime) s)" }
  }

  /// The control.
  public let parameterID: CHHapticDynamicParameter.ID
  /// The corners in the order given; a pattern or player sorts them by time.
  public let controlPoints: [ControlPoint]
  /// Seconds from the start of the pattern.
  open var relativeTime: TimeInterval

  /// Makes a curve; nothing is clamped or checked.
  public init(parameterID: CHHapticDynamicParameter.ID, controlPoints: [ControlPoint], relativeTime: TimeInterval) {
    self.parameterID = parameterID
    self.controlPoints = controlPoints
    self.relativeTime = relativeTime
    super.init()
  }

  /// A curve is made of its identifier, points and time.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensityControl
    controlPoints = []
    relativeTime = 0
    super.init()
  }

  /// One line: name, time and corners.
  open override var description: String {
    let points = controlPoints.map { "\($0.value) at \($0.relativeTime) s" }
    return "CHHapticParameterCurve(\(parameterID.rawValue) from \(relativeTime) s: " + points.joined(separator: ", ")
      + ")"
  }
}
