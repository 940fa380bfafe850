/// Findings while an input is read: places are worked out at the end, and only for those kept.
///
/// What a value's number and an offset mean is the reader's; for text both are usually those of a
/// parsed document.
public struct FindingLog: Sendable {
  private struct Entry {
    var rule: RuleID
    var severity: Severity
    var value: Int
    var offset: Int
    var message: String
    var suggestion: String?
    var foreignCode: Int?
  }

  /// How many findings of one rule are kept.
  public let limit: Int
  /// How many errors were added, those that were not kept included.
  public private(set) var errorCount = 0
  private var entries: [Entry] = []
  private var counts: [RuleID: Int] = [:]
  private var firstDropped: [RuleID: Entry] = [:]

  /// Makes an empty log that keeps `limit` findings of a rule and counts the rest.
  public init(limit: Int = 1000) { self.limit = limit }

  /// Whether there are findings of a rule.
  public func contains(_ rule: Rule) -> Bool { counts[rule.id] != nil }

  /// Adds a finding about a value of the input at an offset.
  ///
  /// Beyond the limit of its rule it is only counted, and no text is made for it.
  public mutating func add(
    _ rule: Rule, value: Int, offset: Int, severity: Severity? = nil, _ message: @autoclosure () -> String,
    hint: @autoclosure () -> String? = nil, foreignCode: Int? = nil
  ) {
    let severity = severity ?? rule.severity
    if severity == .error { errorCount += 1 }
    let count = counts[rule.id, default: 0] + 1
    counts[rule.id] = count
    guard count <= limit + 1 else { return }
    let isKept = count <= limit
    let entry = Entry(
      rule: rule.id, severity: severity, value: value, offset: offset, message: isKept ? message() : "",
      suggestion: isKept ? hint() : nil, foreignCode: severity == .error ? foreignCode : nil)
    if isKept { entries.append(entry) } else { firstDropped[rule.id] = entry }
  }

  /// The findings in the order of their offsets, each rule that was cut closed by a count of the
  /// rest.
  ///
  /// - Parameter place: The place of a value at an offset.
  public func findings(_ place: (_ value: Int, _ offset: Int) -> SourcePlace) -> [Finding] {
    var all = entries
    for (rule, entry) in firstDropped {
      var closing = entry
      closing.message = "\((counts[rule] ?? 0) - limit) more \(rule) findings in this file"
      all.append(closing)
    }
    // Names of rules order what is at one offset, so that the order does not depend on a
    // dictionary's.
    let order = all.indices.sorted { (all[$0].offset, all[$0].rule, $0) < (all[$1].offset, all[$1].rule, $1) }
    return order.map { index in
      let entry = all[index]
      let isClosing = index >= entries.count
      return Finding(
        rule: entry.rule, severity: entry.severity, place: place(entry.value, entry.offset), message: entry.message,
        suggestion: entry.suggestion, foreignCode: entry.foreignCode,
        count: isClosing ? (counts[entry.rule] ?? 0) - limit : 1)
    }
  }
}

extension Finding {
  fileprivate init(
    rule: RuleID, severity: Severity, place: SourcePlace, message: String, suggestion: String?, foreignCode: Int?,
    count: Int
  ) {
    self.count = count
    self.rule = rule
    self.severity = severity
    self.place = place
    self.message = message
    self.suggestion = suggestion
    self.foreignCode = foreignCode
  }
}
