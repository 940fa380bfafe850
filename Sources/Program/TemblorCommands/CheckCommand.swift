import CommandLineKit
import HapticFormats
import HapticRender
import PatternRules
import PatternWorkflows
import Reading
import SystemSupport
import VendorFormats

/// The command `check`, which reports errors and design problems of patterns.
enum CheckCommand {
  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "check", abstract: "Report errors and design problems in patterns.",
      discussion: """
        Each finding is printed as FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]. Errors \
        prevent a file from being read; warnings and notes do not. The exit status is 2 if there \
        is an error.

        Rules fall into four categories: errors, portability (other programs and devices), \
        design, and hardware (with --profile).

        Text output shows at most three findings per rule and file, and counts the rest. Findings \
        that a file suppresses are counted but not listed. To list every finding, use --all, \
        --json, or --sarif.

        With --fix, Temblor applies safe fixes to the files before it checks them. It removes \
        byte-order marks and trailing commas, adds missing Event, Parameter, or ParameterCurve \
        objects around entries, and corrects misspelled parameter names. It renames the keys \
        Duration and Value to EventDuration and ParameterValue. It also sorts control points, and \
        converts their absolute times to relative times. The rest of the text is unchanged.

        With --profile, Temblor also renders the first ten minutes of each pattern with the \
        profile. It reports frequencies that the profile noticeably shifts into its band, and \
        times at which the profile limits excursion, temperature, or level.

        \(SharedOptions.settingsUnusedText)

        To suppress a warning or note in an AHAP file, add its rule and a reason:

          "Metadata": { "AllowedRules": { "transient-count": "the aftershocks of an earthquake" } }
        """, arguments: [SharedOptions.patternArgument(formats, isOptional: true)],
      options: [
        profileOption, strictOption, onlyCategoryOption, disableOption(formats),
        listAllFindingsOption, fixOption,
        noNotesOption, listRulesOption,
        SharedOptions.jsonOption,
        sarifOption,
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor check mine.ahap", "Check a pattern."),
        .init(
          "temblor check --fix mine.ahap", "Apply safe fixes, and show the remaining findings."),
        .init(
          "temblor check --profile dayton-bst-1 mine.ahap", "Check a pattern for a bass shaker."),
        .init(
          "temblor check --strict --disable transient-gap Patterns",
          "Check a folder as part of a build."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let profileOption = Option(
    "--profile", value: "PROFILE",
    help: "Also check against a transducer profile (name or file).",
    completion: SharedOptions.profileCompletion
  ).text()
  private static let strictOption = Option("--strict", help: "Treat warnings as errors.").flag()
  private static let onlyCategoryOption = Option(
    "--only", value: "CATEGORY", help: "Report only errors and the findings of this category.",
    choices: categoryNames, isRepeatable: true
  ).texts()
  private static let listAllFindingsOption = Option(
    "--all", help: "List every finding, including repeated findings."
  )
  .flag()
  private static let fixOption = Option(
    "--fix",
    help: """
      Apply safe fixes to the files before the check. The targets of symbolic links in folders are \
      not changed.
      """
  ).flag()
  private static let noNotesOption = Option("--no-notes", help: "Do not print notes.").flag()
  private static let listRulesOption = Option(
    "--list-rules", help: "List the rules with explanations and exit."
  ).flag()
  private static let sarifOption = Option(
    "--sarif", help: "Print the result as SARIF 2.1.0, for code hosting services."
  ).flag()

  private static func disableOption(_ formats: FormatRegistry) -> TypedOption<[String]> {
    let rules = allRules(of: formats).filter { $0.severity < .error }
    return Option(
      "--disable", value: "RULE",
      help: "Disable a category, or a rule that reports warnings or notes. See --list-rules.",
      completion: .candidates(categoryNames + rules.map(\.id.text)), isRepeatable: true
    ).texts()
  }

  /// The format of the report of findings.
  enum ReportFormat {
    case text
    case json
    case sarif
  }

  struct Options {
    let patternArguments: [String]
    let listsRules: Bool
    let reportFormat: ReportFormat
    let profile: TransducerProfile?
    let soundLookup: PatternInput.SoundLookup
    let findingFilter: FindingFilter
    let fixesFiles: Bool
    let treatsWarningsAsErrors: Bool
    let listsAllFindings: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      let json = try arguments[SharedOptions.jsonOption]
      let sarif = try arguments[CheckCommand.sarifOption]
      patternArguments = arguments[SharedOptions.patternArgument(formats, isOptional: true)]
      listsRules = try arguments[listRulesOption]
      if !listsRules {
        try SharedOptions.refuseCombination("--json", "--sarif", in: arguments)
        guard !patternArguments.isEmpty else { throw UsageError("missing PATTERN") }
      }
      let textOrSARIF: ReportFormat = sarif ? .sarif : .text
      reportFormat = json ? .json : textOrSARIF
      profile =
        listsRules
        ? nil : try arguments[CheckCommand.profileOption].map(SharedOptions.loadProfile(named:))
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      findingFilter = FindingFilter(
        disabledRules: try disabledRuleIDs(arguments, of: formats),
        hidesNotes: try arguments[noNotesOption])
      fixesFiles = try arguments[fixOption]
      treatsWarningsAsErrors = try arguments[strictOption]
      listsAllFindings = try arguments[listAllFindingsOption]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    if options.listsRules {
      try listRules(of: formats, asJSON: options.reportFormat == .json, on: terminal.output)
      return .success
    }
    if terminal.errorOutput.isTerminal,
      let reminder = options.profile.flatMap({ CalibrationAge.reminder(for: $0) })
    {
      terminal.report(reminder)
    }
    let (inputs, problems) = PatternInput.find(
      options.patternArguments, formats: formats, soundLookup: options.soundLookup)
    var failureTexts = problems.map(\.description)
    if options.fixesFiles {
      failureTexts += inputs.compactMap { applySafeFixes(to: $0, terminal: terminal) }
    }
    var findings: [Finding] = []
    for input in inputs {
      do {
        findings += try self.findFindings(in: input, for: options.profile)
      } catch {
        failureTexts.append(ErrorReporting.messageText(error))
      }
    }
    findings = options.findingFilter.filteredFindings(findings)
    if options.treatsWarningsAsErrors {
      for index in findings.indices where findings[index].severity == .warning {
        findings[index].severity = .error
      }
    }
    try writeReport(findings, options, formats, on: terminal.output)
    return reportSummary(
      findings, failures: failureTexts, of: inputs.count, noun: "pattern", terminal: terminal)
  }

  private static func writeReport(
    _ findings: [Finding], _ options: Options, _ formats: FormatRegistry, on output: Output
  ) throws {
    switch options.reportFormat {
    case .json:
      try output.writeJSON(["findings": findings.map(\.fields)])
    case .sarif:
      try output.writeJSON(
        SARIFReport.reportObject(findings, rules: allRules(of: formats)), formatVersion: nil)
    case .text:
      let shown =
        options.listsAllFindings
        ? findings
        : FindingGrouping.groupedFindings(findings.filter { $0.suppressionReason == nil })
      try output.write(reportText(shown, for: output), wraps: false)
    }
  }

  /// Reports failures and, on a terminal, a summary. Returns the exit status.
  static func reportSummary(
    _ findings: [Finding], failures: [String], of count: Int, noun: String, terminal: Terminal
  ) -> ExitStatus {
    for failure in failures {
      terminal.report(failure)
    }
    if terminal.errorOutput.isTerminal {
      terminal.report(Finding.summaryText(findings, of: count, noun))
    }
    let hasErrors = findings.contains { $0.severity == .error }
    let findingStatus: ExitStatus = hasErrors ? .invalidInput : .success
    return ErrorReporting.overallStatus([findingStatus, failures.isEmpty ? .success : .failure])
  }

  /// Applies safe fixes to a pattern file. Returns an error message, or nil.
  private static func applySafeFixes(to input: PatternInput, terminal: Terminal) -> String? {
    do {
      guard case .file(let path) = input.origin else {
        throw FileError(input.name, "cannot be fixed because it is not a file")
      }
      try input.checkMayBeRewritten()
      let file = try input.readFile()
      let format = try input.formats.format(of: file)
      guard let fixed = try? format.correctedText(of: file), fixed != file.bytes else { return nil }
      try AtomicFileWriter.write(fixed, to: path)
      if terminal.errorOutput.isTerminal {
        terminal.report("\(path.printable): fixed")
      }
      return nil
    } catch is InputError {
      // An unreadable file becomes a finding of the following check.
      return nil
    } catch {
      return ErrorReporting.messageText(error)
    }
  }

  static func findFindings(in input: PatternInput, for profile: TransducerProfile? = nil) throws
    -> [Finding]
  {
    try findFindings(in: try input.readFile(), of: input, for: profile)
  }

  /// Returns the findings of a file.
  ///
  /// - Parameters:
  ///   - file: The content, which may differ from that of the input.
  ///   - input: The origin, with the folder of the sound files.
  ///   - profile: The profile whose hardware is checked, or nil.
  static func findFindings(
    in file: SourceFile, of input: PatternInput, for profile: TransducerProfile? = nil
  ) throws -> [Finding] {
    let examination = input.formats.examine(file)
    let locateElement = examination.sourceMap.location(of:)
    let soundReferences = input.soundLookup == .none ? [] : examination.soundReferences
    var findings = WaveformFiles.fileFindings(soundReferences, from: input.soundFolder)
    if let composition = examination.composition {
      findings += PatternRules.findings(
        in: composition, hasAppleParameters: examination.hasAppleParameters, location: locateElement
      )
    }
    var playableComposition = examination.composition
    if input.soundLookup == .none {
      playableComposition?.removeSoundFiles()
    }
    if let composition = playableComposition, soundReferences.isEmpty {
      do {
        let plan = try RenderPlan(
          compiling: composition, rate: RenderPlan.supportedSampleRates.lowerBound)
        findings += PatternRules.polyphonyFindings(
          voiceCount: plan.maximumVoiceCount, location: locateElement)
      } catch {
        findings.append(InputError(error, location: locateElement).finding)
      }
    }
    if let profile, let composition = playableComposition,
      !findings.contains(where: { $0.severity == .error })
    {
      let rate = 48_000.0
      let samples = try WaveformFiles.loadSamples(
        soundReferences, from: input.soundFolder, rate: rate)
      let plan = try RenderPlan(
        compiling: composition, profile: profile, rate: rate, samples: samples)
      findings += PatternRules.hardwareFindings(
        in: composition, profile: profile, plan: plan, location: locateElement)
    }
    return examination.findings(adding: findings, rules: allRules(of: input.formats)) {
      profile != nil || !PatternRules.hardwareRules.contains($0)
    }
  }

  static func reportText(_ findings: [Finding], for output: Output) -> String {
    findings.map { $0.reportLine(for: output) }.joined()
  }

  private static func allRules(of formats: FormatRegistry) -> [Rule] {
    let availableRules =
      formats.rules + PatternRules.compositionRules + PatternRules.playbackRules
      + PatternRules.hardwareRules
      + PatternRules.compilationRules
    // Rules of the same group from different modules are listed under a single heading.
    var groupNames: [String] = []
    for rule in availableRules where !groupNames.contains(rule.group) {
      groupNames.append(rule.group)
    }
    return groupNames.flatMap { group in availableRules.filter { $0.group == group } }
  }

  private static var categoryNames: [String] { Rule.Category.allCases.map(\.rawValue) }

  private static func disabledRuleIDs(_ arguments: ParsedArguments, of formats: FormatRegistry)
    throws
    -> Set<RuleID>
  {
    let rules = allRules(of: formats)
    let onlyCategories = try arguments[CheckCommand.onlyCategoryOption]
    var disabledIDs = Set(
      rules.filter { !onlyCategories.isEmpty && !onlyCategories.contains($0.category.rawValue) }
        .map(\.id))
    for name in try arguments[disableOption(formats)] {
      if let category = Rule.Category(rawValue: name), category != .errors {
        disabledIDs.formUnion(rules.filter { $0.category == category }.map(\.id))
        continue
      }
      guard let rule = rules.first(where: { $0.id.text == name }) else {
        throw UsageError.invalidChoice(
          of: "--disable", value: name, choices: rules.map(\.id.text) + categoryNames)
      }
      guard rule.severity < .error else {
        throw UsageError(
          "'--disable' does not accept '\(name)', because a pattern with this error cannot play"
        )
      }
      disabledIDs.insert(rule.id)
    }
    return disabledIDs
  }

  private static func listRules(of formats: FormatRegistry, asJSON: Bool, on output: Output) throws
  {
    let rules = allRules(of: formats)
    if asJSON {
      return try output.writeJSON([
        "rules": rules.map {
          [
            "rule": $0.id.text, "group": $0.group, "category": $0.category.rawValue,
            "severity": "\($0.severity)",
            "explanation": $0.explanation,
          ] as JSONObject
        }
      ])
    }
    var listText = ""
    var currentGroup: String?
    for rule in rules {
      if rule.group != currentGroup {
        listText += "\(rule.group)\n"
      }
      currentGroup = rule.group
      let name = "\(rule.id) (\(rule.severity))"
      listText +=
        "  \(name)\(String(repeating: " ", count: max(1, 36 - name.count)))\(rule.explanation)\n"
    }
    try output.write(listText)
  }
}

extension Finding {
  /// Returns a line in the form `FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]`.
  func reportLine(for output: Output) -> String {
    let severityStyle: Output.Style =
      switch severity {
      case .error: .red
      case .warning: .yellow
      case .note: .dim
      }
    var reportLineText =
      output.styled("\(location): ".printable, .bold)
      + output.styled("\(severity): ", severityStyle)
      + message.printable
    if !location.path.isEmpty {
      reportLineText += " (\(location.path))"
    }
    if let suggestion {
      reportLineText += "; \(suggestion)"
    }
    return reportLineText + " " + output.styled("[\(rule.text)]", .dim) + "\n"
  }

  var fields: JSONObject {
    ["file": location.name] + location.positionFields + [
      "severity": "\(severity)", "rule": rule.text, "path": location.path, "message": message,
      "suggestion": suggestion,
      "allowed": suppressionReason.map { _ in true },
    ]
  }

  /// Returns a summary such as `2 patterns: 1 error, 0 warnings`, followed by `, 3 allowed` for
  /// suppressed findings.
  static func summaryText(_ findings: [Finding], of count: Int, _ noun: String) -> String {
    let errorCount = findings.count { $0.severity == .error }
    let warningCount = findings.count { $0.severity == .warning }
    let suppressedCount = findings.count { $0.suppressionReason != nil }
    return
      "\(count.countText(noun)): \(errorCount.countText("error")), "
      + warningCount.countText("warning")
      + (suppressedCount > 0 ? ", \(suppressedCount) allowed" : "")
  }
}

/// Shortens a list of findings for people: for each rule in a file, shows the first three findings,
/// and counts the others in one line.
enum FindingGrouping {
  static let maximumShownCountPerRule = 3

  static func groupedFindings(_ findings: [Finding]) -> [Finding] {
    struct Key: Hashable {
      var file: String
      var rule: RuleID
      var severity: Severity
    }
    var findingCounts: [Key: Int] = [:]
    // The index of the grouped line of a rule, and the last finding in the group.
    var groupsByKey: [Key: (index: Int, last: Finding)] = [:]
    var shownFindings: [Finding] = []
    for finding in findings {
      let key = Key(file: finding.location.name, rule: finding.rule, severity: finding.severity)
      findingCounts[key, default: 0] += 1
      if findingCounts[key, default: 0] <= maximumShownCountPerRule {
        shownFindings.append(finding)
      } else if let group = groupsByKey[key] {
        shownFindings[group.index].occurrenceCount += finding.occurrenceCount
        groupsByKey[key] = (group.index, finding)
      } else {
        groupsByKey[key] = (shownFindings.count, finding)
        shownFindings.append(finding)
      }
    }
    for (index, last) in groupsByKey.values {
      // A single additional finding is as short as the line that would replace it.
      guard shownFindings[index].occurrenceCount > 1 else { continue }
      shownFindings[index].message =
        "and \(shownFindings[index].occurrenceCount) more"
        + lineRange(from: shownFindings[index], to: last)
      shownFindings[index].suggestion = nil
      shownFindings[index].location.path = ""
    }
    return shownFindings
  }

  /// Returns the lines of a group of findings as text, such as `, lines 12–80`, or an empty string
  /// if the findings have no line numbers.
  private static func lineRange(from first: Finding, to last: Finding) -> String {
    guard case .text(let startLine, _) = first.location.position,
      case .text(let endLine, _) = last.location.position
    else {
      return ""
    }
    return startLine == endLine ? ", line \(startLine)" : ", lines \(startLine)–\(endLine)"
  }
}

/// A report in the Static Analysis Results Interchange Format (SARIF) of OASIS, version 2.1.0,
/// which code hosting services read.
enum SARIFReport {
  static func reportObject(_ findings: [Finding], rules: [Rule]) -> JSONObject {
    let toolDriver: JSONObject = [
      "name": "temblor", "version": temblorVersion, "rules": rules.map(ruleObject),
    ]
    let analysisRun: JSONObject = [
      "tool": ["driver": toolDriver] as JSONObject, "columnKind": "unicodeCodePoints",
      "results": findings.map { resultObject($0, rules) },
    ]
    return [
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
      "runs": [analysisRun],
    ]
  }

  private static func ruleObject(_ rule: Rule) -> JSONObject {
    [
      "id": rule.id.text, "shortDescription": ["text": rule.explanation] as JSONObject,
      "defaultConfiguration": ["level": "\(rule.severity)"] as JSONObject,
      "properties": ["category": rule.category.rawValue] as JSONObject,
    ]
  }

  private static func resultObject(_ finding: Finding, _ rules: [Rule]) -> JSONObject {
    let regionObject: JSONObject? =
      switch finding.location.position {
      case .wholeFile: nil
      case .text(let line, let column): ["startLine": line, "startColumn": column]
      case .byte(let byte, _): ["byteOffset": byte, "byteLength": 1]
      }
    let physicalLocation: JSONObject = [
      "artifactLocation": ["uri": uriReference(finding.location.name)] as JSONObject,
      "region": regionObject,
    ]
    let logicalLocations: [JSONObject] = [["fullyQualifiedName": finding.location.path]]
    let locationObject: JSONObject = [
      "physicalLocation": physicalLocation,
      "logicalLocations": finding.location.path.isEmpty ? nil : logicalLocations,
    ]
    let messageText = finding.message + (finding.suggestion.map { "; \($0)" } ?? "")
    return [
      "ruleId": finding.rule.text, "ruleIndex": rules.firstIndex { $0.id == finding.rule },
      "level": "\(finding.severity)", "message": ["text": messageText] as JSONObject,
      "locations": [locationObject],
      "suppressions": finding.suppressionReason.map {
        [["kind": "inSource", "justification": $0] as JSONObject]
      },
    ]
  }

  /// Returns a path as a URI reference (RFC 3986). A relative path stays relative.
  static func uriReference(_ path: String) -> String {
    var uriText = path.hasPrefix("/") ? "file://" : ""
    let unescapedBytes = Set(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    for byte in path.utf8 {
      if unescapedBytes.contains(byte) {
        uriText.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        uriText += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
    return uriText
  }
}
