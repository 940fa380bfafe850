/// A violation of a rule at a location of an input.
public struct Finding: Equatable, Sendable {
  /// The rule that the finding reports as violated.
  public var rule: RuleID
  /// The severity of the finding: note, warning, or error.
  public var severity: Severity
  /// The location of the affected value or, if a value is missing, of its container.
  public var location: FileLocation
  /// The message of the finding: a sentence without a final period.
  public var message: String
  /// A suggestion that corrects the input, or nil.
  public var suggestion: String?
  /// The corresponding error code of another API, such as `CHHapticError`. Only errors have a code.
  public var errorCode: Int?
  /// The number of findings that this finding represents. It exceeds 1 if further findings of the
  /// rule are only counted.
  public var occurrenceCount = 1
  /// The reason given in the input for suppressing this finding, or nil if it is not suppressed.
  public var suppressionReason: String?

  /// Creates a finding of a rule at a location.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - severity: The severity, or nil to use the default of the rule.
  ///   - location: The location of the affected value.
  ///   - message: A sentence without a final period.
  ///   - suggestion: A suggested correction, or nil.
  ///   - errorCode: The corresponding error code of another API.
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
  /// The finding on one line: `LOCATION: SEVERITY: MESSAGE (PATH); SUGGESTION`.
  public var description: String {
    var descriptionLine = "\(location): \(severity): \(message)"
    if !location.path.isEmpty {
      descriptionLine += " (\(location.path))"
    }
    if let suggestion {
      descriptionLine += "; \(suggestion)"
    }
    return descriptionLine
  }
}

/// An error that makes an input unusable: its first error finding and the number of further errors.
public struct InputError: Error, Equatable, Sendable {
  /// The first error finding of the input.
  public var finding: Finding
  /// The number of errors after the first.
  public var additionalErrorCount: Int

  /// Creates an error from a finding.
  public init(_ finding: Finding, additionalErrorCount: Int = 0) {
    self.finding = finding
    self.additionalErrorCount = additionalErrorCount
  }

  /// The rule that the first error violates.
  public var rule: RuleID { finding.rule }
  /// The location of the first error in the input.
  public var location: FileLocation { finding.location }
}

extension InputError: CustomStringConvertible {
  /// The error on one line: `LOCATION: error: MESSAGE (PATH); SUGGESTION`.
  public var description: String { finding.description }
}

/// A filter that removes the findings of disabled rules and lowers suppressed findings to notes.
///
/// Errors always pass, because they make the input unusable.
public struct FindingFilter: Sendable {
  /// The rules that are disabled. Their findings are removed.
  public var disabledRules: Set<RuleID>
  /// The suppressed rules with their reasons. Findings of these rules become notes.
  public var suppressionReasonsByRule: [RuleID: String]
  /// A Boolean value that indicates whether notes are removed.
  public var hidesNotes: Bool

  /// Creates a filter. With the defaults, all findings pass.
  ///
  /// - Parameters:
  ///   - disabledRules: The rules whose findings are removed.
  ///   - suppressionReasonsByRule: The suppressed rules with their reasons.
  ///   - hidesNotes: True to remove notes.
  public init(
    disabledRules: Set<RuleID> = [], suppressionReasonsByRule: [RuleID: String] = [:],
    hidesNotes: Bool = false
  ) {
    self.disabledRules = disabledRules
    self.suppressionReasonsByRule = suppressionReasonsByRule
    self.hidesNotes = hidesNotes
  }

  /// Returns the findings that pass the filter, in their original order.
  public func filteredFindings(_ findings: [Finding]) -> [Finding] {
    findings.compactMap { finding in
      if finding.severity == .error { return finding }
      if disabledRules.contains(finding.rule) { return nil }
      var finding = finding
      if let reason = suppressionReasonsByRule[finding.rule] {
        finding.severity = .note
        finding.suppressionReason = reason
        finding.message += " (allowed: \(reason))"
        finding.suggestion = nil
      }
      return hidesNotes && finding.severity == .note ? nil : finding
    }
  }
}
