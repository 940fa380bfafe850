/// A log of findings during reading. Locations are computed at the end, and only for the findings
/// that were kept.
///
/// The reader defines the meaning of value indices and offsets. For a text, both usually refer to a
/// parsed document.
public struct FindingLog: Sendable {
  private struct Entry {
    /// The finding without its location.
    var finding: Finding
    var valueIndex: Int
    var offset: Int
  }

  /// The maximum number of findings that are kept for one rule.
  public let maximumCountPerRule: Int
  /// The number of errors, including those that were not kept.
  public private(set) var errorCount = 0
  private var entries: [Entry] = []
  private var countsByRule: [RuleID: Int] = [:]
  private var firstOmitted: [RuleID: Entry] = [:]

  /// Creates an empty log. Findings of a rule beyond the maximum are only counted.
  public init(maximumCountPerRule: Int = 1000) { self.maximumCountPerRule = maximumCountPerRule }

  /// Returns whether the log has findings of a rule.
  public func contains(_ rule: Rule) -> Bool { countsByRule[rule.id] != nil }

  /// Adds a finding about a value.
  ///
  /// Beyond the maximum for its rule, the finding is only counted, and its message is not
  /// evaluated.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - valueIndex: The index of the value, passed to the function that computes the location.
  ///   - offset: The position in the input, which orders the findings.
  ///   - severity: The severity, or nil for that of the rule.
  ///   - message: One sentence without a period.
  ///   - suggestion: A correction, or nil.
  ///   - errorCode: The code of the same error in another API. Ignored unless the severity is
  ///     `error`.
  public mutating func add(
    _ rule: Rule, valueIndex: Int, offset: Int, severity: Severity? = nil,
    _ message: @autoclosure () -> String,
    suggestion: @autoclosure () -> String? = nil, errorCode: Int? = nil
  ) {
    let severity = severity ?? rule.severity
    if severity == .error {
      errorCount += 1
    }
    let count = countsByRule[rule.id, default: 0] + 1
    countsByRule[rule.id] = count
    guard count <= maximumCountPerRule + 1 else { return }
    let isKept = count <= maximumCountPerRule
    let errorCode = severity == .error ? errorCode : nil
    let finding = Finding(
      rule, severity: severity, location: FileLocation(name: ""), isKept ? message() : "",
      suggestion: isKept ? suggestion() : nil, errorCode: errorCode)
    let entry = Entry(finding: finding, valueIndex: valueIndex, offset: offset)
    if isKept {
      entries.append(entry)
    } else {
      firstOmitted[rule.id] = entry
    }
  }

  /// Returns the findings sorted by offset. A finding with the number of omitted ones follows where
  /// a rule exceeded its maximum.
  ///
  /// - Parameter location: Returns the location of a value at an offset.
  public func findings(location: (_ valueIndex: Int, _ offset: Int) -> FileLocation) -> [Finding] {
    var all = entries
    for (rule, var summary) in firstOmitted {
      summary.finding.count = (countsByRule[rule] ?? 0) - maximumCountPerRule
      summary.finding.message = "\(summary.finding.count) more \(rule) findings in this file"
      all.append(summary)
    }
    // Sorting by rule makes the order at one offset independent of the dictionary's order.
    let order = all.indices.sorted {
      (all[$0].offset, all[$0].finding.rule, $0) < (all[$1].offset, all[$1].finding.rule, $1)
    }
    return order.map { index in
      var finding = all[index].finding
      finding.location = location(all[index].valueIndex, all[index].offset)
      return finding
    }
  }
}
