import JSONText

/// Findings while they are made; places and paths are worked out at the end, for those kept.
struct ProfileFindingLog {
  /// How many findings of one rule are kept.
  static let limit = 100

  private struct Entry {
    var rule: ProfileRule
    var value: JSONValue
    var offset: Int
    var message: String
    var suggestion: String?
  }

  private var entries: [Entry] = []
  private var counts: [ProfileRule: Int] = [:]
  private var firstDropped: [ProfileRule: Entry] = [:]
  /// How many findings there are for which the text is refused.
  private(set) var errorCount = 0

  /// Adds a finding, at the value's beginning unless an offset says otherwise.
  ///
  /// Beyond the limit of its rule it is only counted, and no text is made for it.
  mutating func add(
    _ rule: ProfileRule, at value: JSONValue, offset: Int? = nil,
    _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil
  ) {
    if rule.severity == .error { errorCount += 1 }
    let count = counts[rule, default: 0] + 1
    counts[rule] = count
    guard count <= Self.limit + 1 else { return }
    let isKept = count <= Self.limit
    let entry = Entry(
      rule: rule, value: value, offset: offset ?? value.offset, message: isKept ? message() : "",
      suggestion: isKept ? hint() : nil)
    if isKept { entries.append(entry) } else { firstDropped[rule] = entry }
  }

  /// The findings in the order of the text, each rule that was cut closed by a count of the rest.
  var findings: [ProfileFinding] {
    var all = entries
    for rule in ProfileRule.allCases {
      guard var closing = firstDropped[rule] else { continue }
      let rest = (counts[rule] ?? 0) - Self.limit
      closing.message = "\(rest) more \(rule.rawValue) findings in this file"
      all.append(closing)
    }
    // What is at one place stays in the order in which it was found.
    let order = all.indices.sorted { (all[$0].offset, $0) < (all[$1].offset, $1) }
    return order.map { index in
      let entry = all[index]
      return ProfileFinding(
        rule: entry.rule, place: entry.value.document.place(at: entry.offset),
        path: entry.value.path, message: entry.message, suggestion: entry.suggestion)
    }
  }
}
