/// A log of findings that are reported while reading. Locations are computed at the end, and only
/// for the findings that are kept.
///
/// The reader defines the meaning of value indices and offsets. For text formats, they usually
/// refer to a parsed document.
public struct FindingLog: Sendable {
  private struct Entry {
    /// The finding, with a location that is computed later.
    var finding: Finding
    var valueIndex: Int
    var byteOffset: Int
  }

  /// The maximum number of findings to keep for each rule.
  public let maximumFindingCountPerRule: Int
  /// The number of reported errors, including those beyond the maximum per rule.
  public private(set) var errorCount = 0
  private var entries: [Entry] = []
  private var findingCountsByRule: [RuleID: Int] = [:]
  private var firstOmittedEntries: [RuleID: Entry] = [:]

  /// Creates an empty log. Beyond the maximum, findings of a rule are only counted.
  public init(maximumCountPerRule: Int = 1000) {
    self.maximumFindingCountPerRule = maximumCountPerRule
  }

  /// Returns true if the log contains findings of a rule.
  public func contains(_ rule: Rule) -> Bool { findingCountsByRule[rule.id] != nil }

  /// Adds a finding about a value.
  ///
  /// Beyond the maximum for its rule, a finding is only counted, and its message is not evaluated.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - valueIndex: The index of the value, passed to the function that computes the location.
  ///   - offset: The position in the input, which orders the findings.
  ///   - severity: The severity, or nil to use the default of the rule.
  ///   - message: A sentence without a final period.
  ///   - suggestion: A suggested correction, or nil.
  ///   - errorCode: The corresponding error code of another API. Ignored unless the severity is
  ///     `error`.
  public mutating func add(
    _ rule: Rule, valueIndex: Int, offset: Int, severity: Severity? = nil,
    _ message: @autoclosure () -> String,
    suggestion: @autoclosure () -> String? = nil, errorCode: Int? = nil
  ) {
    // The compiler copies this function for each call, because its closures differ. The functions
    // that it calls exist once.
    let severity = severity ?? rule.severity
    let findingCountOfRule = countFinding(of: rule, severity: severity)
    guard findingCountOfRule <= maximumFindingCountPerRule + 1 else { return }
    let isWithinMaximum = findingCountOfRule <= maximumFindingCountPerRule
    addEntry(
      of: rule, valueIndex: valueIndex, offset: offset, severity: severity,
      message: isWithinMaximum ? message() : "",
      suggestion: isWithinMaximum ? suggestion() : nil, errorCode: errorCode,
      isOmitted: !isWithinMaximum)
  }

  /// Counts a finding, and returns the number of findings of its rule so far.
  private mutating func countFinding(of rule: Rule, severity: Severity) -> Int {
    if severity == .error {
      errorCount += 1
    }
    let findingCountOfRule = findingCountsByRule[rule.id, default: 0] + 1
    findingCountsByRule[rule.id] = findingCountOfRule
    return findingCountOfRule
  }

  /// Adds the entry of a finding, or the first entry of a rule that is omitted.
  private mutating func addEntry(
    of rule: Rule, valueIndex: Int, offset: Int, severity: Severity, message: String,
    suggestion: String?, errorCode: Int?, isOmitted: Bool
  ) {
    let finding = Finding(
      rule, severity: severity, location: FileLocation(name: ""), message,
      suggestion: suggestion, errorCode: severity == .error ? errorCode : nil)
    let entry = Entry(finding: finding, valueIndex: valueIndex, byteOffset: offset)
    if isOmitted {
      firstOmittedEntries[rule.id] = entry
    } else {
      entries.append(entry)
    }
  }

  /// Returns the findings, sorted by offset. If a rule exceeded its maximum, its last finding is
  /// followed by one that states the number of omitted findings.
  ///
  /// - Parameter location: Returns the location of a value at an offset.
  public func findings(location: (_ valueIndex: Int, _ offset: Int) -> FileLocation) -> [Finding] {
    var allEntries = entries
    for (rule, var summary) in firstOmittedEntries {
      summary.finding.occurrenceCount =
        (findingCountsByRule[rule] ?? 0) - maximumFindingCountPerRule
      summary.finding.message =
        "\(summary.finding.occurrenceCount) more \(rule) findings in this file"
      allEntries.append(summary)
    }
    // Sort by rule, too, so that findings at equal offsets do not depend on dictionary order.
    let entryOrder = allEntries.indices.sorted {
      (allEntries[$0].byteOffset, allEntries[$0].finding.rule, $0) < (
        allEntries[$1].byteOffset, allEntries[$1].finding.rule, $1
      )
    }
    return entryOrder.map { index in
      var finding = allEntries[index].finding
      finding.location = location(allEntries[index].valueIndex, allEntries[index].byteOffset)
      return finding
    }
  }
}
