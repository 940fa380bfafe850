/// A control that moves along straight lines between control points and then holds its last value.
public struct ParameterCurve: Equatable, Sendable {
  /// One corner of a curve.
  public struct ControlPoint: Equatable, Sendable {
    /// Seconds from the start of the curve.
    public var time: Double
    /// The value at the time, in the control's range.
    public var value: Float

    /// Makes a corner; nothing is clamped or checked.
    public init(time: Double, value: Float) {
      self.time = time
      self.value = value
    }
  }

  /// The control.
  public var id: DynamicParameterID
  /// Seconds from the start of the pattern.
  public var time: Double
  /// The corners; compilation sorts them by time.
  public var controlPoints: [ControlPoint]

  /// Makes a curve; nothing is clamped or checked.
  public init(id: DynamicParameterID, time: Double, controlPoints: [ControlPoint]) {
    self.id = id
    self.time = time
    self.controlPoints = controlPoints
  }
}
