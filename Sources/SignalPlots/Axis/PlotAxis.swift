internal import CMath

/// An axis that goes up: its range, its ticks, and the position of values along it.
struct PlotAxis: Equatable, Sendable {
  /// The values at its lower and upper end.
  var range: ClosedRange<Double>
  /// Whether equal factors are equal lengths; the range is then above 0.
  var isLogarithmic = false

  /// How far up a value lies, 0…1 within the range and beyond it outside.
  func share(of value: Double) -> Double {
    if isLogarithmic { return log(max(value, 1e-9) / range.lowerBound) / log(range.upperBound / range.lowerBound) }
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
      if inside.count <= count, !inside.isEmpty { return inside.map { AxisTick($0, AxisTick.text($0, places: 0)) } }
    }
    return []
  }

  /// The octaves of 25 Hz in the range.
  var octaves: [AxisTick] {
    (0...7).map { 25 * pow(2, Double($0)) }.filter { range.contains($0) }.map {
      AxisTick($0, AxisTick.text($0, places: 0))
    }
  }
}

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
    for factor in [1.0, 2, 5, 10] where factor * decade >= least * (1 - 1e-9) { return factor * decade }
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

  /// A value with no more decimal places than its step has.
  static func text(_ value: Double, step: Double) -> String {
    let places = step >= 1 ? 0 : Int((-log10(step) - 1e-9).rounded(.up))
    return short(value, places: min(places, 9))
  }

  /// A value with at most so many decimal places.
  static func short(_ value: Double, places: Int) -> String {
    var text = text(value, places: places)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
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

/// The labels of a time axis, and the unit that they are in.
public struct TimeTicks: Equatable, Sendable {
  /// The ticks; values are seconds.
  public let ticks: [AxisTick]
  /// The unit of the labels: `s`, `ms`, or `min` for minutes and seconds.
  public let unit: String

  /// Seconds from which labels are minutes.
  static let minutesFrom = 120.0
  /// Seconds up to which labels are milliseconds.
  static let millisecondsTo = 0.2
  /// Round steps of clocks, in seconds.
  private static let clockSteps: [Double] = [
    10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  ]

  /// Labels for a range of seconds, no more than a number of them.
  public init(in range: ClosedRange<Double>, atMost count: Int) {
    let length = range.upperBound - range.lowerBound
    if length >= Self.minutesFrom {
      let least = length / Double(max(1, count))
      let step = Self.clockSteps.first { $0 >= least * (1 - 1e-9) } ?? AxisTick.step(for: length, atMost: count)
      unit = "min"
      ticks = AxisTick.multiples(of: step, in: range).map { AxisTick($0, Self.clock($0)) }
    } else if length <= Self.millisecondsTo {
      let step = AxisTick.step(for: length * 1_000, atMost: count)
      let inside = range.lowerBound * 1_000...range.upperBound * 1_000
      unit = "ms"
      ticks = AxisTick.multiples(of: step, in: inside).map { AxisTick($0 / 1_000, AxisTick.text($0, step: step)) }
    } else {
      unit = "s"
      ticks = AxisTick.round(in: range, atMost: count)
    }
  }

  /// Whole seconds as `2:05`, or `1:02:05` from an hour on.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(seconds.rounded())
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let (minutes, rest) = (whole / 60, whole % 60)
    return minutes < 60 ? "\(minutes):\(two(rest))" : "\(minutes / 60):\(two(minutes % 60)):\(two(rest))"
  }
}
