import JSONText

/// Findings while they are made: places and paths are worked out at the end, and only for those
/// kept.
struct FindingLog {
  /// How many findings of one rule are kept.
  static let limit = 1000

  /// A finding before its place is known.
  struct Entry {
    var rule: Rule
    var severity: Finding.Severity
    /// The value it is about.
    var value: Int
    var offset: Int
    var message: String
    var suggestion: String?
    var code: Int?
  }

  private var entries: [Entry] = []
  private(set) var errorCount = 0
  private var counts: [Rule: Int] = [:]
  private var firstDropped: [Rule: Entry] = [:]
  private var allowed: [Rule: String] = [:]

  /// Adds a finding, at the value's beginning unless an offset says otherwise.
  ///
  /// Beyond the limit of its rule it is only counted, and no text is made for it.
  mutating func add(
    _ rule: Rule, at value: JSONValue, offset: Int? = nil, severity: Finding.Severity? = nil,
    _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil, code: Int? = nil
  ) {
    let severity = severity ?? rule.severity
    if severity == .error { errorCount += 1 }
    let count = counts[rule, default: 0] + 1
    counts[rule] = count
    guard count <= Self.limit + 1 else { return }
    let isKept = count <= Self.limit
    let entry = Entry(
      rule: rule, severity: severity, value: value.index, offset: offset ?? value.offset,
      message: isKept ? message() : "", suggestion: isKept ? hint() : nil, code: code)
    if isKept { entries.append(entry) } else { firstDropped[rule] = entry }
  }

  /// Lets findings of a rule be notes with a reason, errors aside; whether there are any.
  mutating func allow(_ rule: Rule, reason: String) -> Bool {
    allowed[rule] = reason
    return entries.contains { $0.rule == rule && $0.severity != .error }
  }

  /// The findings in the order of the text, each rule that was cut closed by a count of the rest.
  func findings(of json: JSONDocument) -> [Finding] {
    var all = entries
    for (rule, entry) in firstDropped {
      var closing = entry
      let rest = (counts[rule] ?? 0) - Self.limit
      closing.message = "\(rest) more \(rule.rawValue) findings in this file"
      closing.suggestion = nil
      all.append(closing)
    }
    // Names of rules settle what is at one place, so that the order does not depend on a
    // dictionary's.
    all.sort { ($0.offset, $0.rule.rawValue) < ($1.offset, $1.rule.rawValue) }
    return all.map { entry in
      let isError = entry.severity == .error
      let reason = isError ? nil : allowed[entry.rule]
      return Finding(
        rule: entry.rule, severity: reason == nil ? entry.severity : .note,
        place: json.place(at: entry.offset),
        path: JSONValue(document: json, index: entry.value).path,
        message: entry.message + (reason.map { " (allowed: \($0))" } ?? ""),
        suggestion: reason == nil ? entry.suggestion : nil,
        coreHapticsCode: isError ? entry.code : nil)
    }
  }
}
