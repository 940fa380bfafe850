import Glibc

/// One figure of the benchmark, with what it should reach.
struct Measurement {
  /// What is measured.
  var name: String
  /// The median of the runs.
  var value: Double
  /// Its unit.
  var unit: String
  /// The figure to reach, or nothing where it is only of interest.
  var goal: Double?
  /// Whether a greater value is better.
  var isBetterWhenGreater = false

  /// Whether the figure is reached, or nothing where there is none.
  var isReached: Bool? { goal.map { isBetterWhenGreater ? value >= $0 : value <= $0 } }
}

/// Times work by the monotonic clock and keeps the median.
enum Stopwatch {
  /// Seconds of the monotonic clock.
  static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The median seconds of some runs of the work, after one run that is not counted.
  static func median(runs: Int = 5, _ work: () throws -> Void) rethrows -> Double {
    try work()
    var times: [Double] = []
    for _ in 0..<runs {
      let start = now()
      try work()
      times.append(now() - start)
    }
    return times.sorted()[runs / 2]
  }
}
