extension Program {
  /// The manual page, section 1, in roff with the man macros.
  package func manualPage() -> String {
    var page = ManualPage(name: name, date: date, source: "\(name) \(version)")
    page.section("Name")
    page.name(name, abstract.firstSentence)
    page.section("Synopsis")
    page.synopsis("\(name) ", "VERB", " [OPTIONS] [ARGUMENTS]")
    if !discussion.isEmpty {
      page.section("Description")
      page.paragraphs(discussion)
    }
    page.section("Options")
    for option in Self.options { page.item(option) }
    page.section("Verbs")
    for command in everyCommand {
      page.verb(command, of: name)
      for verb in command.verbs { page.verb(verb, of: "\(name) \(command.name)") }
    }
    page.section("Exit status")
    for status in ExitStatus.allCases { page.item(["\(status.rawValue)"], nil, text: status.meaning) }
    page.section("Environment")
    page.item(["NO_COLOR"], nil, text: "If set and not empty, output has no colours.")
    for section in manualSections {
      page.section(section.title)
      page.paragraphs(section.body)
    }
    if !examples.isEmpty {
      page.section("Examples")
      page.examples(examples)
    }
    return page.roff
  }
}

/// Writes roff; every text passes through one escape, so no word can become a request.
private struct ManualPage {
  private(set) var roff: String

  init(name: String, date: String, source: String) {
    let words = [name.uppercased(), "1", date, source, "User Commands"]
    roff = ".TH " + words.map(Self.quoted).joined(separator: " ") + "\n.nh\n.ad l\n"
  }

  mutating func section(_ title: String) { roff += ".SH \(Self.quoted(title.uppercased()))\n" }

  /// The one line of NAME, in the form that `whatis` reads.
  mutating func name(_ name: String, _ abstract: String) {
    roff += "\(Self.escaped(name)) \\- \(Self.escaped(abstract))\n"
  }

  mutating func synopsis(_ before: String, _ name: String, _ after: String) {
    roff += "\\fB\(Self.escaped(before))\\fR\\fI\(Self.escaped(name))\\fR\(Self.escaped(after))\n"
  }

  mutating func paragraphs(_ body: String) {
    for paragraph in TextLayout.split(body) {
      if paragraph.first == " " { verbatim(paragraph) } else { roff += ".PP\n" + Self.line(paragraph) }
    }
  }

  mutating func item(_ names: [String], _ value: String?, text: String) {
    let spelled = names.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
    roff += ".TP\n\(spelled)\(value.map { " \\fI\(Self.escaped($0))\\fR" } ?? "")\n"
    roff += Self.line(text)
  }

  mutating func item(_ option: Option) { item(option.names, option.value, text: option.fullHelp) }

  mutating func verb(_ command: CommandDescription, of program: String) {
    roff += ".SS \(Self.quoted(command.usage(of: program)))\n"
    roff += Self.line(command.abstract)
    paragraphs(command.discussion)
    for argument in command.arguments { item([argument.usage], nil, text: argument.fullHelp) }
    for option in command.everyOption where option.key != Option.help.key { item(option) }
    if !command.examples.isEmpty {
      roff += ".PP\nExamples:\n"
      examples(command.examples)
    }
  }

  mutating func examples(_ examples: [CommandDescription.Example]) {
    for example in examples {
      roff += ".PP\n" + Self.line(example.purpose)
      verbatim("  " + example.command)
    }
  }

  private mutating func verbatim(_ text: String) {
    roff += ".PP\n.nf\n"
    for line in text.split(separator: "\n") { roff += Self.line(String(line)) }
    roff += ".fi\n"
  }

  private static func line(_ text: String) -> String {
    let joined = text.first == " " ? text : text.split(separator: "\n").joined(separator: " ")
    return (joined.hasPrefix(".") || joined.hasPrefix("'") ? "\\&" : "") + escaped(joined) + "\n"
  }

  private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Characters that roff would read as its own or set as typographic ones.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\(rs"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "\"": result += "\\(dq"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
      }
    }
    return result
  }
}
