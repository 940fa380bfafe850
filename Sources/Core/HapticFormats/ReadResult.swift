public import HapticModel
public import Reading

/// The result of reading a file: its composition, findings, and losses.
public struct ReadResult: Sendable {
  /// A reference to a sound file, which may not exist.
  public struct SoundReference: Equatable, Sendable {
    /// The path as stored in the pattern file, relative to the folder of that file.
    public var path: String
    /// The location of the reference in the pattern file.
    public var location: FileLocation

    /// Creates a reference to a sound file.
    public init(path: String, location: FileLocation) {
      self.path = path
      self.location = location
    }
  }

  /// A suppression: the declaration in a file that it violates a rule on purpose.
  public struct Suppression: Equatable, Sendable {
    /// The name of the rule, as written in the file.
    public var ruleID: RuleID
    /// The stated reason, on one line.
    public var reason: String
    /// The location of the declaration in the file.
    public var location: FileLocation

    /// Creates a suppression of a rule, with its reason and location.
    public init(_ rule: RuleID, reason: String, location: FileLocation) {
      self.ruleID = rule
      self.reason = reason
      self.location = location
    }
  }

  /// The composition, or nil if the file has errors.
  public var composition: HapticComposition?
  /// The findings in file order, before suppressions are applied. See
  /// ``findings(adding:rules:checked:)``.
  public var findings: [Finding]
  /// The number of errors, including those combined into a single finding.
  public var errorCount: Int
  /// The losses: content of the file that a composition cannot represent.
  public var losses: [Loss]
  /// The locations of the composition's elements in the file.
  public var sourceMap: SourceMap
  /// The sound files that the file refers to, in file order.
  public var soundReferences: [SoundReference]
  /// The rules that the file declares to violate on purpose.
  public var suppressions: [Suppression]
  /// Additional information in the file, such as a version, in file order.
  public var fileDetails: [(name: String, value: String)]

  /// A Boolean value that indicates whether the composition uses Apple's documented parameters.
  ///
  /// If true, parameters and curves are exactly as the author wrote them. For other formats, the
  /// reader generates them.
  public var hasAppleParameters = false

  /// Creates a result. If no error count is given, the errors among the findings are counted.
  public init(
    composition: HapticComposition?, findings: [Finding] = [], errorCount: Int? = nil,
    losses: [Loss] = [],
    sourceMap: SourceMap, sounds: [SoundReference] = [],
    suppressions: [Suppression] = [],
    details: [(name: String, value: String)] = []
  ) {
    self.composition = composition
    self.findings = findings
    self.losses = losses
    self.sourceMap = sourceMap
    self.errorCount = errorCount ?? findings.count { $0.severity == .error }
    self.soundReferences = sounds
    self.suppressions = suppressions
    self.fileDetails = details
  }

  /// Creates the result of reading a JSON document, including findings about its syntax.
  ///
  /// - Parameters:
  ///   - composition: Returns the composition. Called only if there are no errors.
  ///   - json: The JSON document.
  ///   - log: The findings reported while reading.
  ///   - options: The reading options, which determine the included findings and losses.
  ///   - losses: Returns the losses. Called only if there are no errors.
  ///   - sourceMap: The locations of the composition's elements.
  ///   - details: Additional information in the document.
  package init(
    _ composition: @autoclosure () -> HapticComposition?, of json: JSONDocument, log: FindingLog,
    options: ReadingOptions, losses: @autoclosure () -> [Loss] = [], sourceMap: SourceMap,
    details: [(name: String, value: String)] = []
  ) {
    let isReadable = log.errorCount == 0
    self.init(
      composition: isReadable ? composition() : nil,
      findings: log.findings(for: options) { json.location(ofValue: $0, at: $1) },
      errorCount: log.errorCount,
      losses: isReadable && options.wantsFindings ? losses() : [], sourceMap: sourceMap,
      details: details)
  }

  /// Creates the result for a file that cannot be read.
  public init(_ error: InputError) {
    self.init(
      composition: nil, findings: [error.finding], errorCount: error.additionalErrorCount + 1,
      sourceMap: .inMemory(name: error.location.name))
  }

  /// Returns the composition, or throws the first error in the file.
  public func get() throws(InputError) -> HapticComposition {
    if let firstError = findings.first(where: { $0.severity == .error }) {
      throw InputError(firstError, additionalErrorCount: errorCount - 1)
    }
    return composition ?? HapticComposition(layers: [])
  }

  // MARK: - Allowances

  /// The rules that check the suppressions themselves.
  public static let suppressionRules = [unknownSuppressedRule, unusedSuppression]

  private static let unknownSuppressedRule = Rule.warning(
    "unknown-rule", "grammar", "AllowedRules should list only existing rules.")
  private static let unusedSuppression = Rule.note(
    "unused-allowance", "grammar",
    "AllowedRules should not list rules that the file does not violate.")

  /// Combines the findings of the file with those of other checks, in file order.
  ///
  /// The suppressions are applied.
  ///
  /// Warnings of a suppressed rule become notes. Suppressions that are unnecessary or that name an
  /// unknown rule are reported.
  ///
  /// - Parameters:
  ///   - others: The findings of other checks of the same file.
  ///   - rules: All known rules.
  ///   - isChecked: Returns true if a rule was checked. Only a suppression of a checked rule can be
  ///     unnecessary.
  public func findings(
    adding others: [Finding] = [], rules: [Rule], checked isChecked: (Rule) -> Bool = { _ in true }
  ) -> [Finding] {
    var allFindings = findings + others
    let hasErrors = allFindings.contains { $0.severity == .error }
    var reasonsByRule: [RuleID: String] = [:]
    for suppression in suppressions {
      let id = suppression.ruleID
      guard let rule = rules.first(where: { $0.id == id }) else {
        allFindings.append(Self.unknownRuleFinding(of: suppression, rules: rules))
        continue
      }
      reasonsByRule[id] = suppression.reason
      let isUsed = allFindings.contains { $0.rule == id && $0.severity < .error }
      guard !isUsed, !hasErrors, isChecked(rule) else { continue }
      let message =
        rule.severity == .error
        ? "\"\(id)\" is an error and cannot be allowed"
        : "unnecessary: the file does not violate \"\(id)\""
      allFindings.append(Finding(Self.unusedSuppression, location: suppression.location, message))
    }
    let findingOrder = allFindings.indices.sorted {
      (allFindings[$0].location.position, allFindings[$0].rule, $0) < (
        allFindings[$1].location.position, allFindings[$1].rule, $1
      )
    }
    return FindingFilter(suppressionReasonsByRule: reasonsByRule).filteredFindings(
      findingOrder.map { allFindings[$0] })
  }

  /// Returns the finding for a suppression that names an unknown rule.
  private static func unknownRuleFinding(of suppression: Suppression, rules: [Rule]) -> Finding {
    let ruleNames = JSONNameList(rules.map { $0.id.text })
    let suppressedName = suppression.ruleID.text
    return Finding(
      unknownSuppressedRule, location: suppression.location,
      "unknown rule \(suppressedName.quoted())",
      suggestion: ruleNames.suggestion(for: suppressedName))
  }
}
