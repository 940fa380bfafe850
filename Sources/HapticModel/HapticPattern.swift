/// A haptic and audio pattern: events, the parameters that change them, and the curves that bend them.
///
/// Plain values in any order, as an author wrote them. Times are seconds from the start of the pattern.
/// Building a pattern checks nothing: readers clamp what they read, and compilation refuses what
/// cannot be rendered.
public struct HapticPattern: Equatable, Sendable {
  /// What is felt or heard.
  public var events: [HapticEvent]
  /// Values that step at a time and hold.
  public var parameters: [DynamicParameter]
  /// Values that move along straight lines between control points.
  public var curves: [ParameterCurve]

  /// Makes a pattern from its three parts, each of which may be empty.
  public init(
    events: [HapticEvent] = [], parameters: [DynamicParameter] = [], curves: [ParameterCurve] = []
  ) {
    self.events = events
    self.parameters = parameters
    self.curves = curves
  }

  /// The time, in seconds, at which the last event ends or the last parameter or curve begins.
  ///
  /// Envelope releases and the length of a transient's burst are not counted, nor are control points
  /// behind a curve's start. The point where a loop returns to the beginning.
  /// Source: Apple's header for `CHHapticPattern.duration`.
  public var duration: Double {
    var end = 0.0
    for event in events { end = max(end, event.time + (event.duration ?? 0)) }
    for parameter in parameters { end = max(end, parameter.time) }
    for curve in curves { end = max(end, curve.time) }
    return end
  }
}
