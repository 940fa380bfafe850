/// A control value that steps at a time and holds until the next of its kind.
public struct DynamicParameter: Equatable, Sendable {
  /// The control.
  public var id: DynamicParameterID
  /// The value from the time on, in the control's range.
  public var value: Float
  /// Seconds from the start of the pattern.
  public var time: Double

  /// Makes a step; nothing is clamped or checked.
  public init(id: DynamicParameterID, value: Float, time: Double) {
    self.id = id
    self.value = value
    self.time = time
  }
}
