/// A violation of a rule at a location of an input.
public struct Finding: Equatable, Sendable {
  /// The violated rule.
  public var rule: RuleID
  /// The severity of the finding.
  public var severity: Severity
  /// The location of the value concerned; for a missing value, that of its container.
  public var location: FileLocation
  /// One sentence without a period.
  public var message: String
  /// A correction, or nil.
  public var suggestion: String?
  /// The code of the same error in another API, such as `CHHapticError`. Only errors have one.
  public var errorCode: Int?
  /// The number of findings that this one represents: more than 1 if the remaining findings of a
  /// rule are only counted.
  public var occurrenceCount = 1
  /// The reason that the input states for suppressing this finding; nil if it is not suppressed.
  public var suppressionReason: String?

  /// Creates a finding.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - severity: The severity, or nil for that of the rule.
  ///   - location: The location of the value concerned.
  ///   - message: One sentence without a period.
  ///   - suggestion: A correction, or nil.
  ///   - errorCode: The code of the same error in another API.
  public init(
    _ rule: Rule, severity: Severity? = nil, location: FileLocation, _ message: String,
    suggestion: String? = nil,
    errorCode: Int? = nil
  ) {
    self.rule = rule.id
    self.severity = severity ?? rule.severity
    self.location = location
    self.message = message
    self.suggestion = suggestion
    self.errorCode = errorCode
  }
}

extension Finding: CustomStringConvertible {
  /// One line: `LOCATION: SEVERITY: MESSAGE (PATH); SUGGESTION`.
  public var description: String {
    var line = "\(location): \(severity): \(message)"
    if !location.path.isEmpty {
      line += " (\(location.path))"
    }
    if let suggestion {
      line += "; \(suggestion)"
    }
    return line
  }
}

/// The error of an unusable input: its first finding of that severity, and the number of others.
public struct InputError: Error, Equatable, Sendable {
  /// The first error.
  public var finding: Finding
  /// The number of further errors.
  public var otherErrorCount: Int

  /// Creates an error from a finding.
  public init(_ finding: Finding, otherErrorCount: Int = 0) {
    self.finding = finding
    self.otherErrorCount = otherErrorCount
  }

  /// The violated rule.
  public var rule: RuleID { finding.rule }
  /// The location of the error.
  public var location: FileLocation { finding.location }
}

extension InputError: CustomStringConvertible {
  /// One line: `LOCATION: error: MESSAGE (PATH); SUGGESTION`.
  public var description: String { finding.description }
}

/// A filter that removes the findings of disabled rules and lowers suppressed ones to notes.
///
/// Errors always pass, since an input with an error is unusable.
public struct FindingFilter: Sendable {
  /// The rules whose findings are removed.
  public var disabledRules: Set<RuleID>
  /// The reasons for suppressed rules. Their findings become notes.
  public var suppressions: [RuleID: String]
  /// A Boolean value that indicates whether notes are removed.
  public var hidesNotes: Bool

  /// Creates a filter. The default filter removes nothing.
  ///
  /// - Parameters:
  ///   - disabledRules: The rules whose findings are removed.
  ///   - suppressions: The reasons for suppressed rules.
  ///   - hidesNotes: True to remove notes.
  public init(
    disabledRules: Set<RuleID> = [], suppressions: [RuleID: String] = [:],
    hidesNotes: Bool = false
  ) {
    self.disabledRules = disabledRules
    self.suppressions = suppressions
    self.hidesNotes = hidesNotes
  }

  /// Returns the findings that pass, in their order.
  public func filteredFindings(_ findings: [Finding]) -> [Finding] {
    findings.compactMap { finding in
      if finding.severity == .error { return finding }
      if disabledRules.contains(finding.rule) { return nil }
      var finding = finding
      if let reason = suppressions[finding.rule] {
        finding.severity = .note
        finding.suppressionReason = reason
        finding.message += " (allowed: \(reason))"
        finding.suggestion = nil
      }
      return hidesNotes && finding.severity == .note ? nil : finding
    }
  }
}
