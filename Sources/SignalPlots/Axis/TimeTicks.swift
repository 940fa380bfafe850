/// The labels of a time axis, and the unit that they are in.
public struct TimeTicks: Equatable, Sendable {
  /// The ticks; values are seconds.
  public let ticks: [AxisTick]
  /// What stands below them: `seconds`, `milliseconds` or `minutes:seconds`.
  public let unit: String

  /// Seconds from which on minutes are told.
  static let minutesFrom = 120.0
  /// Seconds up to which milliseconds are told.
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
      let step = Self.clockSteps.first { $0 >= least } ?? AxisTick.step(for: length, atMost: count)
      unit = "minutes:seconds"
      ticks = AxisTick.multiples(of: step, in: range).map { AxisTick($0, Self.clock($0)) }
    } else if length <= Self.millisecondsTo {
      let step = AxisTick.step(for: length * 1_000, atMost: count)
      let inside = range.lowerBound * 1_000...range.upperBound * 1_000
      unit = "milliseconds"
      ticks = AxisTick.multiples(of: step, in: inside).map {
        AxisTick($0 / 1_000, AxisTick.text($0, step: step))
      }
    } else {
      unit = "seconds"
      ticks = AxisTick.round(in: range, atMost: count)
    }
  }

  /// Whole seconds as `2:05`, or `1:02:05` from an hour on.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(seconds.rounded())
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let (minutes, rest) = (whole / 60, whole % 60)
    return minutes < 60
      ? "\(minutes):\(two(rest))" : "\(minutes / 60):\(two(minutes % 60)):\(two(rest))"
  }
}
