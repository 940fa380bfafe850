import Glibc
import Reading
import SystemSupport

/// The benchmark program, which prints a table for people or JSON for programs and checks for
/// regressions.
@main struct Bench {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.count == 2, let path = arguments.last, let option = arguments.first,
      ["--check", "--update"].contains(option)
    {
      do {
        if option == "--update" { return try RegressionCheck.updateThresholds(path) }
        exit(try RegressionCheck.checkThresholds(path) ? 0 : 1)
      } catch {
        let line = Array("temblor-bench: error: \(error)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(1)
      }
    }
    guard arguments.isEmpty || arguments == ["--json"] else {
      print("usage: temblor-bench [--json | --check THRESHOLDS | --update THRESHOLDS]")
      exit(64)
    }
    let measurements =
      try VoiceBenchmarks.run() + LiveBenchmarks.run() + CompileBenchmarks.run()
      + ReadingBenchmarks.run()
      + FormatBenchmarks.run() + EndToEndBenchmarks.run() + CoreHapticsBenchmarks.run()
    if arguments.isEmpty {
      printTable(measurements)
    } else {
      printJSON(measurements)
    }
  }

  private static func printTable(_ figures: [Measurement]) {
    let widestNameLength = figures.map(\.benchmarkName.count).max() ?? 0
    for figure in figures {
      let value = figure.valueText
      var line =
        figure.benchmarkName
        + String(repeating: " ", count: widestNameLength + 2 - figure.benchmarkName.count)
      line += String(repeating: " ", count: max(0, 10 - value.count)) + value + " " + figure.unit
      if let goal = figure.targetValue, let isReached = figure.meetsTarget {
        line += "  (target: \(goal); \(isReached ? "reached" : "not reached"))"
      }
      print(line)
    }
  }

  private static func printJSON(_ figures: [Measurement]) {
    var jsonWriter = JSONWriter()
    jsonWriter.writeArray { list in
      for figure in figures {
        let fields: JSONObject = [
          "name": figure.benchmarkName, "value": figure.measuredValue, "unit": figure.unit,
          "goal": figure.targetValue,
          "isReached": figure.meetsTarget,
        ]
        list.writeObject(fields.write)
      }
    }
    print(String(decoding: jsonWriter.finishedText(), as: UTF8.self), terminator: "")
  }
}

extension Measurement {
  var valueText: String {
    if measuredValue >= 1_000 { return "\(Int(measuredValue.rounded()))" }
    let smallValueScale = measuredValue >= 10 ? 100.0 : 1_000.0
    let roundingScale = measuredValue >= 100 ? 10.0 : smallValueScale
    return "\((measuredValue * roundingScale).rounded() / roundingScale)"
  }
}

/// A measured value with its unit and, if there is one, its target.
struct Measurement {
  let benchmarkName: String
  let measuredValue: Double
  let unit: String
  let targetValue: Double?
  let isBetterWhenHigher: Bool

  init(
    _ name: String, _ value: Double, _ unit: String, targetValue: Double? = nil,
    isBetterWhenHigher: Bool = false
  ) {
    self.benchmarkName = name
    self.measuredValue = value
    self.unit = unit
    self.targetValue = targetValue
    self.isBetterWhenHigher = isBetterWhenHigher
  }

  var meetsTarget: Bool? {
    targetValue.map { isBetterWhenHigher ? measuredValue >= $0 : measuredValue <= $0 }
  }
}

/// Measures the median duration of several runs of some work.
enum Stopwatch {
  /// Returns the current time of a system clock, in seconds. The thread's CPU-time clock excludes
  /// the time that other programs use.
  static func clockSeconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Double {
    var clockTime = timespec()
    unsafe clock_gettime(clock, &clockTime)
    return Double(clockTime.tv_sec) + Double(clockTime.tv_nsec) * 1e-9
  }

  static func measureSeconds(_ clock: clockid_t = CLOCK_MONOTONIC, _ work: () throws -> Void)
    rethrows
    -> Double
  {
    let startSeconds = clockSeconds(clock)
    try work()
    return clockSeconds(clock) - startSeconds
  }

  /// Returns the median duration of several runs, in seconds, after one run that is not counted.
  static func medianSeconds(runs: Int = 5, _ work: () throws -> Void) rethrows -> Double {
    try work()
    var runSeconds: [Double] = []
    for _ in 0..<runs {
      runSeconds.append(try measureSeconds { try work() })
    }
    return runSeconds.sorted()[runs / 2]
  }
}
