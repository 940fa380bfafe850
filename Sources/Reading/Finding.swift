/// One thing that was found in an input, and where.
public struct Finding: Equatable, Sendable {
  /// The rule that was checked.
  public var rule: RuleID
  /// How bad it is.
  public var severity: Severity
  /// Where the value stands that the finding is about; for something missing, where it is missing.
  public var place: SourcePlace
  /// One sentence, without a full stop.
  public var message: String
  /// What to write instead, or nil.
  public var suggestion: String?
  /// The code of the same error in another system, such as that of `CHHapticError`; only errors
  /// have one.
  public var foreignCode: Int?
  /// How many findings it stands for: more than one where the rest of a rule is only counted.
  public var count = 1
  /// Why the input allows itself to break the rule, or nil where it does not.
  public var allowance: String?

  /// Makes a finding, as bad as its rule unless a severity says otherwise.
  public init(
    _ rule: Rule, severity: Severity? = nil, place: SourcePlace, _ message: String, suggestion: String? = nil,
    foreignCode: Int? = nil
  ) {
    self.rule = rule.id
    self.severity = severity ?? rule.severity
    self.place = place
    self.message = message
    self.suggestion = suggestion
    self.foreignCode = foreignCode
  }
}

extension Finding: CustomStringConvertible {
  /// One line: `PLACE: SEVERITY: MESSAGE (PATH); HINT`.
  public var description: String {
    var line = "\(place): \(severity): \(message)"
    if !place.path.isEmpty { line += " (\(place.path))" }
    if let suggestion { line += "; \(suggestion)" }
    return line
  }
}

/// Why an input is refused: its first error, and how many more there are.
public struct InputError: Error, Equatable, Sendable {
  /// The first thing that keeps the input from being used.
  public var finding: Finding
  /// How many more such things the input has.
  public var otherErrorCount: Int

  /// Makes an error of a finding.
  public init(_ finding: Finding, otherErrorCount: Int = 0) {
    self.finding = finding
    self.otherErrorCount = otherErrorCount
  }

  /// The rule that names what has to be corrected.
  public var rule: RuleID { finding.rule }
  /// Where.
  public var place: SourcePlace { finding.place }
}

extension InputError: CustomStringConvertible {
  /// One line: `PLACE: error: MESSAGE (PATH); HINT`.
  public var description: String { finding.description }
}

/// The findings a user wants to see: without disabled rules, with allowed ones as notes.
///
/// Errors pass whatever is disabled or allowed, since an input with an error cannot be used.
public struct FindingFilter: Sendable {
  /// Rules whose findings are left out.
  public var disabled: Set<RuleID>
  /// Rules that the input breaks on purpose, with the reason; their findings become notes.
  public var allowed: [RuleID: String]
  /// Whether notes are left out.
  public var hidesNotes: Bool

  /// Makes a filter; without arguments everything passes unchanged.
  public init(disabled: Set<RuleID> = [], allowed: [RuleID: String] = [:], hidesNotes: Bool = false) {
    self.disabled = disabled
    self.allowed = allowed
    self.hidesNotes = hidesNotes
  }

  /// The findings that pass, in their order.
  public func apply(to findings: [Finding]) -> [Finding] {
    findings.compactMap { finding in
      if finding.severity == .error { return finding }
      if disabled.contains(finding.rule) { return nil }
      var finding = finding
      if let reason = allowed[finding.rule] {
        finding.severity = .note
        finding.allowance = reason
        finding.message += " (allowed: \(reason))"
        finding.suggestion = nil
      }
      return hidesNotes && finding.severity == .note ? nil : finding
    }
  }
}
