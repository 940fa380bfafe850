import CommandLineKit
import PatternComparison
import SystemSupport

/// A tolerance as it was written on the command line.
struct ToleranceText {
  /// The limits; those that were left out are 0.
  private(set) var tolerance = Tolerance()
  private var units: Set<String> = []

  /// Reads limits as people write them: `0.5dB,5ms,2%`, in any order; what is left out allows nothing.
  ///
  /// A single `0` allows no difference at all.
  init(_ words: String) throws(UsageError) {
    if words == "0" {
      units = ["db", "ms", "%"]
      return
    }
    for item in words.split(separator: ",", omittingEmptySubsequences: false) {
      let item = item.filter { $0 != " " }
      let unit = item.drop { $0.isNumber || $0 == "." }.lowercased()
      guard let limit = Double(item.dropLast(unit.count)), limit.isFinite, limit >= 0 else {
        throw Self.notTaken(words)
      }
      switch unit {
      case "db": tolerance.decibels = limit
      case "ms": tolerance.seconds = limit / 1_000
      case "%": tolerance.percent = limit
      default: throw Self.notTaken(words)
      }
      guard units.insert(unit).inserted else {
        let unit = unit == "db" ? "dB" : unit
        throw UsageError(.remove, "'--tolerance' has two limits in \(unit)")
      }
    }
  }

  private static func notTaken(_ words: String) -> UsageError {
    UsageError(.invalidValue, "'--tolerance' takes limits such as 0.5dB,5ms,2%, not \(words.inQuotes)")
  }

  /// `0.5 dB, 5 ms and 2 %`; a limit that was not given is marked so.
  var text: String {
    func limit(_ value: Double, _ name: String, _ unit: String) -> String {
      let number = NumberFormatting.rounded(value, places: 3)
      return "\(number) \(name)" + (units.contains(unit) ? "" : " (not given)")
    }
    return limit(tolerance.decibels, "dB", "db") + ", " + limit(tolerance.seconds * 1_000, "ms", "ms") + " and "
      + limit(tolerance.percent, "%", "%")
  }

  func judgement(of comparisons: [Comparison]) -> String {
    "\n"
      + comparisons.map { comparison in
        let label = comparison.options.otherLabel
        let excesses = comparison.excesses(over: tolerance)
        guard !excesses.isEmpty else { return "\(label) is within the tolerance of \(text).\n" }
        return "\(label) exceeds the tolerance of \(text):\n" + excesses.map { "  \($0.text.printable)\n" }.joined()
      }.joined()
  }
}
