import HapticModel

/// A step or a curve of one dynamic parameter, as an author wrote it.
struct ControlItem {
  /// Seconds from the start of the pattern.
  var time: Double
  /// Its corners, with times from its own start; a step has one.
  var points: [ParameterCurve.ControlPoint]
  var isCurve: Bool

  /// A pattern's steps and curves of one parameter by time.
  static func list(_ id: DynamicParameterID, of pattern: HapticPattern) -> [ControlItem] {
    let steps = pattern.parameters.filter { $0.id == id }.map {
      ControlItem(
        time: $0.time, points: [.init(time: 0, value: $0.value)], isCurve: false)
    }
    let curves = pattern.curves.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: $0.controlPoints, isCurve: true)
    }
    return (steps + curves).sorted { $0.time < $1.time }
  }

  /// Whether the corners are the same, wherever it begins.
  func isLike(_ other: ControlItem) -> Bool {
    isCurve == other.isCurve && points.count == other.points.count
      && zip(points, other.points).allSatisfy {
        Self.same($0.time, $1.time) && abs($0.value - $1.value) < 1e-5
      }
  }

  /// Whether two times are one.
  static func same(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= EventMatch.leastTime }

  /// What pairing it with another costs: 0 for equals, 1 for what lies a second apart.
  func cost(of other: ControlItem) -> Double {
    guard isCurve == other.isCurve else { return .infinity }
    let value = abs(Double((points.first?.value ?? 0) - (other.points.first?.value ?? 0)))
    return abs(time - other.time) + (isLike(other) ? 0 : 0.1 + min(0.5, value / 4))
  }
}
