enum CheckVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "check", abstract: "Check patterns for errors and design problems.",
      discussion: """
        Each finding is printed as FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]. Errors \
        prevent a file from being read; warnings and notes do not. The exit status is 2 if ther\
        e is an error. Of one rule in one file the first three findings are printed and the rest c\
        ounted, and findings that a file allows itself are only counted, unless --all is given; --j\
        son and --sarif have all of them.

        Rules have four categories: errors, portability (other programs and devices), design and h\
        ardware (with --profile).

        With --fix, what is mechanical is corrected in the files first: commas before closing br\
        ackets, byte-order marks, the keys Duration and Value, control points out of order an\
        d their absolute times. The rest of the text stays as it is.

        With --profile, the pattern is rendered for the hardware of the profile, and check \
        reports frequencies that are noticeably moved into its band and where excursion, tempera\
        ture or level will be limited.

        \(SharedOptions.withoutSettings)

        A file can suppress a warning or note, with a reason:

          "Metadata": { "AllowedRules": { "transient-count": "the aftershocks of an earthquake" } }
        """, arguments: [SharedOptions.pattern(formats, isOptional: true)],
      options: [
        Option(
          "--profile", value: "PROFILE",
          help: "Also check against the hardware of a profile (name or file).",
          completion: SharedOptions.profileNames),
        Option("--strict", help: "Count warnings as errors."),
        Option(
          "--only", value: "CATEGORY", help: "Report only rules of this category, and errors.",
          choices: categories,
          isRepeatable: true),
        Option(
          "--disable", value: "RULE",
          help: "Disable a rule that is not an error, or a category; --list-rules lists them.",
          completion: .words(
            categories + knownRules(formats).filter { $0.severity < .error }.map(\.id.text)),
          isRepeatable: true), Option("--all", help: "Print every finding, also repeated ones."),
        Option(
          "--fix",
          help:
            """
            Correct mechanical mistakes in the files first, but not in links that a folder \
            contains.
            """
        ),
        Option("--no-notes", help: "Do not print notes."),
        Option("--list-rules", help: "List the rules with explanations and exit."),
        SharedOptions.json,
        Option("--sarif", help: "Print the result as SARIF 2.1.0, for code hosts."),
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor check mine.ahap", "Check a pattern."),
        .init("temblor check --fix mine.ahap", "Correct what is mechanical, and show the rest."),
        .init(
          "temblor check --profile dayton-bst-1 mine.ahap", "Check a pattern for a bass shaker."),
        .init(
          "temblor check --strict --disable transient-gap Patterns", "Guard a folder in a build."),
      ]
    ) { arguments, terminal in
      if arguments.flag("--list-rules") {
        try listRules(of: formats, asJSON: arguments.flag("--json"), on: terminal.output)
        return .done
      }
      try SharedOptions.refuseBoth("--json", "--sarif", in: arguments)
      let words = arguments.values(SharedOptions.patternName)
      guard !words.isEmpty else { throw UsageError("missing PATTERN") }
      let profile = try arguments.value("--profile").map(SharedOptions.profile(named:))
      if terminal.error.isTerminal, let note = profile.flatMap({ CalibrationAge.note(on: $0) }) {
        terminal.report(note)
      }
      let (inputs, problems) = PatternInput.find(
        words, formats: formats, sounds: try SharedOptions.sounds(arguments))
      let filter = FindingFilter(
        disabled: try disabledRules(arguments, of: formats),
        hidesNotes: arguments.flag("--no-notes"))
      var findings: [Finding] = []
      var failures = problems.map(\.description)
      if arguments.flag("--fix") {
        failures += inputs.compactMap { fix($0, terminal) }
      }
      for input in inputs {
        do {
          findings += try examine(input, for: profile)
        } catch {
          failures.append(Failure.message(error))
        }
      }
      findings = filter.apply(to: findings)
      if arguments.flag("--strict") {
        for index in findings.indices where findings[index].severity == .warning {
          findings[index].severity = .error
        }
      }
      if arguments.flag("--json") {
        try terminal.output.write(json: ["findings": findings.map(\.fields)])
      } else if arguments.flag("--sarif") {
        try terminal.output.write(
          json: SARIFReport.fields(findings, rules: knownRules(formats)), formatVersion: nil)
      } else {
        let shown =
          arguments.flag("--all")
          ? findings : FindingFolding.fold(findings.filter { $0.allowance == nil })
        try terminal.output.write(text(shown, for: terminal.output), wraps: false)
      }
      return finish(findings, failures, of: inputs.count, "pattern", terminal)
    }
  }

  /// Reports what could not be checked and, at a terminal, the sum; returns the exit status.
  static func finish(
    _ findings: [Finding], _ failures: [String], of count: Int, _ noun: String, _ terminal: Terminal
  ) -> ExitStatus {
    for failure in failures {
      terminal.report(failure)
    }
    if terminal.error.isTerminal {
      terminal.report(Finding.summary(findings, of: count, noun))
    }
    let hasErrors = findings.contains { $0.severity == .error }
    return Failure.worst([hasErrors ? .invalidInput : .done, failures.isEmpty ? .done : .failure])
  }

  /// Applies safe fixes; returns the error message, if any.
  private static func fix(_ input: PatternInput, _ terminal: Terminal) -> String? {
    do {
      guard case .file(let path) = input.origin else {
        throw FileError(input.name, "cannot be fixed; it is not a file")
      }
      try input.checkRewriting()
      let file = try input.file()
      let format = try input.formats.format(of: file)
      guard let fixed = try? format.fixed(file), fixed != file.bytes else { return nil }
      try AtomicFileWriter.write(fixed, to: path)
      if terminal.error.isTerminal {
        terminal.report("\(path.printable): fixed")
      }
      return nil
    } catch is InputError {
      // What cannot be read is a finding of the check that follows.
      return nil
    } catch {
      return Failure.message(error)
    }
  }

  static func examine(_ input: PatternInput, for profile: TransducerProfile? = nil) throws
    -> [Finding]
  {
    let examination = input.formats.examine(try input.file())
    let places = examination.places.place(of:)
    let sounds = input.sounds == .none ? [] : examination.sounds
    var others = WaveformFiles.findings(sounds, from: input.folder)
    if let composition = examination.composition {
      others += PatternRules.findings(in: composition, places: places)
      others += PatternRules.defaultFindings(in: composition, places: places)
    }
    var playable = examination.composition
    if input.sounds == .none {
      playable?.removeSoundFiles()
    }
    if let composition = playable, sounds.isEmpty {
      do {
        let plan = try RenderPlan(
          compiling: composition, rate: RenderPlan.supportedSampleRates.lowerBound)
        others += PatternRules.polyphonyFindings(voiceCount: plan.maximumVoiceCount, places: places)
      } catch {
        others.append(InputError(error, places: places).finding)
      }
    }
    if let profile, let composition = playable, !others.contains(where: { $0.severity == .error }) {
      let rate = 48_000.0
      let samples = try WaveformFiles.load(sounds, from: input.folder, rate: rate)
      let plan = try RenderPlan(
        compiling: composition, profile: profile, rate: rate, samples: samples)
      others += PatternRules.hardwareFindings(
        in: composition, profile: profile, plan: plan, places: places)
    }
    return examination.judged(adding: others, rules: knownRules(input.formats)) {
      profile != nil || !PatternRules.hardware.contains($0)
    }
  }

  static func text(_ findings: [Finding], for output: Output) -> String {
    findings.map { $0.text(for: output) }.joined()
  }

  private static func knownRules(_ formats: FormatRegistry) -> [Rule] {
    let rules =
      formats.rules + PatternRules.composition + PatternRules.defaults + PatternRules.hardware
      + PatternRules.refusals
    // What two modules check of one group stands under one heading.
    var groups: [String] = []
    for rule in rules where !groups.contains(rule.group) {
      groups.append(rule.group)
    }
    return groups.flatMap { group in rules.filter { $0.group == group } }
  }

  private static var categories: [String] { Rule.Category.allCases.map(\.rawValue) }

  private static func disabledRules(_ arguments: ParsedArguments, of formats: FormatRegistry) throws
    -> Set<RuleID>
  {
    let rules = knownRules(formats)
    let only = arguments.values("--only")
    var disabled = Set(
      rules.filter { !only.isEmpty && !only.contains($0.category.rawValue) }.map(\.id))
    for name in arguments.values("--disable") {
      if let category = Rule.Category(rawValue: name), category != .errors {
        disabled.formUnion(rules.filter { $0.category == category }.map(\.id))
        continue
      }
      guard let rule = rules.first(where: { $0.id.text == name }) else {
        throw UsageError.notAllowed("--disable", name, choices: rules.map(\.id.text) + categories)
      }
      guard rule.severity < .error else {
        throw UsageError(
          """
          '--disable' does not take '\(name)'; it is an error, and a pattern with an error \
          cannot be played
          """
        )
      }
      disabled.insert(rule.id)
    }
    return disabled
  }

  private static func listRules(of formats: FormatRegistry, asJSON: Bool, on output: Output) throws
  {
    let rules = knownRules(formats)
    if asJSON {
      return try output.write(json: [
        "rules": rules.map {
          [
            "rule": $0.id.text, "group": $0.group, "category": $0.category.rawValue,
            "severity": "\($0.severity)",
            "explanation": $0.explanation,
          ] as JSONMembers
        }
      ])
    }
    var text = ""
    var group: String?
    for rule in rules {
      if rule.group != group {
        text += "\(rule.group)\n"
      }
      group = rule.group
      let name = "\(rule.id) (\(rule.severity))"
      text +=
        "  \(name)\(String(repeating: " ", count: max(1, 36 - name.count)))\(rule.explanation)\n"
    }
    try output.write(text)
  }
}

extension Finding {
  /// `FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]`, with its end of line.
  func text(for output: Output) -> String {
    let style: Output.Style =
      switch severity {
      case .error: .red
      case .warning: .yellow
      case .note: .dim
      }
    var line =
      output.styled("\(place): ".printable, .bold) + output.styled("\(severity): ", style)
      + message.printable
    if !place.path.isEmpty {
      line += " (\(place.path))"
    }
    if let suggestion {
      line += "; \(suggestion)"
    }
    return line + " " + output.styled("[\(rule.text)]", .dim) + "\n"
  }

  var fields: JSONMembers {
    ["file": place.name] + place.positionFields + [
      "severity": "\(severity)", "rule": rule.text, "path": place.path, "message": message,
      "suggestion": suggestion,
      "allowed": allowance.map { _ in true },
    ]
  }

  /// `2 patterns: 1 error, 0 warnings`, and `, 3 allowed` where a file allows itself something.
  static func summary(_ findings: [Finding], of count: Int, _ noun: String) -> String {
    let errors = findings.count { $0.severity == .error }
    let warnings = findings.count { $0.severity == .warning }
    let allowed = findings.count { $0.allowance != nil }
    return "\(count.counted(noun)): \(errors.counted("error")), \(warnings.counted("warning"))"
      + (allowed > 0 ? ", \(allowed) allowed" : "")
  }
}

/// Findings for people: of one rule in one file the first three, and one line for the rest.
enum FindingFolding {
  static let shownCount = 3

  static func fold(_ findings: [Finding]) -> [Finding] {
    struct Key: Hashable {
      var file: String
      var rule: RuleID
      var severity: Severity
    }
    var seen: [Key: Int] = [:]
    // Where the folded line of a rule stands, and the last finding in it.
    var folds: [Key: (place: Int, last: Finding)] = [:]
    var shown: [Finding] = []
    for finding in findings {
      let key = Key(file: finding.place.name, rule: finding.rule, severity: finding.severity)
      seen[key, default: 0] += 1
      if seen[key, default: 0] <= shownCount {
        shown.append(finding)
      } else if let fold = folds[key] {
        shown[fold.place].count += finding.count
        folds[key] = (fold.place, finding)
      } else {
        folds[key] = (shown.count, finding)
        shown.append(finding)
      }
    }
    for (place, last) in folds.values {
      // A single one more is as short as the line that would stand for it.
      guard shown[place].count > 1 else { continue }
      shown[place].message = "and \(shown[place].count) more" + lines(shown[place], to: last)
      shown[place].suggestion = nil
      shown[place].place.path = ""
    }
    return shown
  }

  /// `, lines 12–80`, or nothing where positions are not lines.
  private static func lines(_ first: Finding, to last: Finding) -> String {
    guard case .text(let start, _) = first.place.position,
      case .text(let end, _) = last.place.position
    else {
      return ""
    }
    return start == end ? ", line \(start)" : ", lines \(start)–\(end)"
  }
}

/// Findings in the Static Analysis Results Interchange Format of OASIS, version 2.1.0, which code
/// hosts read.
enum SARIFReport {
  static func fields(_ findings: [Finding], rules: [Rule]) -> JSONMembers {
    let driver: JSONMembers = [
      "name": "temblor", "version": temblorVersion, "rules": rules.map(fields),
    ]
    let run: JSONMembers = [
      "tool": ["driver": driver] as JSONMembers, "columnKind": "unicodeCodePoints",
      "results": findings.map { fields($0, rules) },
    ]
    return [
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run],
    ]
  }

  private static func fields(_ rule: Rule) -> JSONMembers {
    [
      "id": rule.id.text, "shortDescription": ["text": rule.explanation] as JSONMembers,
      "defaultConfiguration": ["level": "\(rule.severity)"] as JSONMembers,
      "properties": ["category": rule.category.rawValue] as JSONMembers,
    ]
  }

  private static func fields(_ finding: Finding, _ rules: [Rule]) -> JSONMembers {
    let region: JSONMembers? =
      switch finding.place.position {
      case .whole: nil
      case .text(let line, let column): ["startLine": line, "startColumn": column]
      case .byte(let byte, _): ["byteOffset": byte, "byteLength": 1]
      }
    let physical: JSONMembers = [
      "artifactLocation": ["uri": uri(finding.place.name)] as JSONMembers, "region": region,
    ]
    let names: [JSONMembers] = [["fullyQualifiedName": finding.place.path]]
    let location: JSONMembers = [
      "physicalLocation": physical, "logicalLocations": finding.place.path.isEmpty ? nil : names,
    ]
    let text = finding.message + (finding.suggestion.map { "; \($0)" } ?? "")
    return [
      "ruleId": finding.rule.text, "ruleIndex": rules.firstIndex { $0.id == finding.rule },
      "level": "\(finding.severity)", "message": ["text": text] as JSONMembers,
      "locations": [location],
      "suppressions": finding.allowance.map {
        [["kind": "inSource", "justification": $0] as JSONMembers]
      },
    ]
  }

  /// A path as a reference of RFC 3986, relative where the path is.
  static func uri(_ path: String) -> String {
    var text = path.hasPrefix("/") ? "file://" : ""
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    for byte in path.utf8 {
      if plain.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
    return text
  }
}
