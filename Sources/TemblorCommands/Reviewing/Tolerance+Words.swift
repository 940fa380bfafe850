import CommandLineKit
import PatternComparison
import SystemSupport

extension Tolerance {
  /// Reads limits as people write them: `0.5dB,5ms,2%`, in any order; what is left out allows nothing.
  ///
  /// A single `0` allows no difference at all.
  init(words: String) throws(UsageError) {
    self.init()
    if words == "0" { return }
    var units: Set<String> = []
    for item in words.split(separator: ",", omittingEmptySubsequences: false) {
      let item = item.filter { $0 != " " }
      let unit = item.drop { $0.isNumber || $0 == "." }.lowercased()
      guard let limit = Double(item.dropLast(unit.count)), limit.isFinite, limit >= 0 else {
        throw Self.notTaken(words)
      }
      switch unit {
      case "db": decibels = limit
      case "ms": seconds = limit / 1_000
      case "%": percent = limit
      default: throw Self.notTaken(words)
      }
      guard units.insert(unit).inserted else {
        let unit = unit == "db" ? "dB" : unit
        throw UsageError(.remove, "'--tolerance' has two limits in \(unit)")
      }
    }
  }

  private static func notTaken(_ words: String) -> UsageError {
    UsageError(
      .invalidValue,
      "'--tolerance' takes limits such as 0.5dB,5ms,2%, not \(words.inQuotes)")
  }

  /// `0.5 dB, 5 ms and 2 %`.
  var text: String {
    let level = NumberFormatting.rounded(decibels, places: 3)
    let time = NumberFormatting.rounded(seconds * 1_000, places: 3)
    return "\(level) dB, \(time) ms and \(NumberFormatting.rounded(percent, places: 3)) %"
  }
}
