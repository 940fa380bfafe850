internal import Glibc

/// A place on an axis that has a label.
public struct AxisTick: Equatable, Sendable {
  /// The value, in the axis's unit.
  public let value: Double
  /// What is written there.
  public let label: String

  /// Makes a tick.
  public init(_ value: Double, _ label: String) { (self.value, self.label) = (value, label) }

  /// Round values in a range, 1, 2 or 5 times a power of ten apart, and no more than a number of them.
  public static func round(in range: ClosedRange<Double>, atMost count: Int) -> [AxisTick] {
    let length = range.upperBound - range.lowerBound
    guard length > 0, length.isFinite, count > 0 else { return [] }
    let step = step(for: length, atMost: count)
    return multiples(of: step, in: range).map { AxisTick($0, text($0, step: step)) }
  }

  /// The smallest round step that a length has no more than a number of.
  static func step(for length: Double, atMost count: Int) -> Double {
    let least = length / Double(max(1, count))
    let decade = pow(10, log10(least).rounded(.down))
    // A hair's breadth too small is exact enough, since powers of ten are not exact.
    for factor in [1.0, 2, 5, 10] where factor * decade >= least * (1 - 1e-9) {
      return factor * decade
    }
    return 10 * decade
  }

  /// All multiples of a step in a range, without the rounding errors of adding it up.
  static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
    let slack = step * 1e-6
    let first = ((range.lowerBound - slack) / step).rounded(.up)
    let last = ((range.upperBound + slack) / step).rounded(.down)
    guard first <= last, last - first < 10_000 else { return [] }
    return (0...Int(last - first)).map { (first + Double($0)) * step + 0 }
  }

  /// A value with as many decimal places as its step has.
  static func text(_ value: Double, step: Double) -> String {
    let places = step >= 1 ? 0 : Int((-log10(step) - 1e-9).rounded(.up))
    return text(value, places: min(places, 9))
  }

  /// A value with so many decimal places; a minus is a minus sign.
  static func text(_ value: Double, places: Int) -> String {
    let scale = pow(10, Double(places))
    let scaled = (abs(value) * scale).rounded()
    guard scaled < 1e15 else { return "\(value)" }
    let digits = String(Int(scaled))
    let sign = value < 0 && scaled > 0 ? "\u{2212}" : ""
    guard places > 0 else { return sign + digits }
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.utf8.count)) + digits
    return sign + padded.dropLast(places) + "." + padded.suffix(places)
  }
}
