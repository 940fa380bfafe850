internal import Glibc

/// An axis that goes up: its range, its ticks, and how values lie along it.
struct PlotAxis: Equatable, Sendable {
  /// The values at its lower and upper end.
  var range: ClosedRange<Double>
  /// Whether equal factors are equal lengths; the range is then above 0.
  var isLogarithmic = false

  /// How far up a value lies, 0…1 within the range and beyond it outside.
  func share(of value: Double) -> Double {
    if isLogarithmic {
      return log(max(value, 1e-9) / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
    return (value - range.lowerBound) / (range.upperBound - range.lowerBound)
  }

  /// The value that lies a share of the way up.
  func value(atShare share: Double) -> Double {
    isLogarithmic
      ? range.lowerBound * pow(range.upperBound / range.lowerBound, share)
      : range.lowerBound + (range.upperBound - range.lowerBound) * share
  }

  /// Round values with labels, no more than a number of them.
  func ticks(atMost count: Int) -> [AxisTick] {
    guard isLogarithmic else { return AxisTick.round(in: range, atMost: count) }
    // Of the values of one, two or three in each decade, the most that fit.
    for factors in [[1.0, 2, 5], [1, 3], [1]] {
      let all = (0...5).flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } }
      let inside = all.filter { range.contains($0) }
      if inside.count <= count, !inside.isEmpty {
        return inside.map { AxisTick($0, AxisTick.text($0, places: 0)) }
      }
    }
    return []
  }
}
