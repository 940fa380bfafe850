/// Lays help out for one stream: headings, wrapped paragraphs, two-column tables.
package struct TextLayout {
  private let output: Output
  private let width: Int
  package private(set) var text = ""

  /// Lines longer than 100 columns are hard to read, shorter than 40 leave no space for a table.
  package init(for output: Output) {
    self.output = output
    self.width = min(max(output.width, 40), 100)
  }

  package mutating func heading(_ title: String) {
    emptyLine()
    text += output.styled(title.uppercased(), .bold) + "\n"
  }

  /// Text with an empty line between paragraphs; indented ones are kept as they are.
  package mutating func paragraphs(_ body: String) {
    for paragraph in Self.split(body) {
      emptyLine()
      if paragraph.first == " " {
        verbatim(paragraph, indent: 0)
      } else {
        lines(paragraph, indent: 0)
      }
    }
  }

  package mutating func lines(_ body: String, indent: Int) {
    let margin = String(repeating: " ", count: indent)
    for line in Self.wrap(body, width: width - indent) {
      text += margin + line + "\n"
    }
  }

  /// A line to be copied, never wrapped.
  package mutating func verbatim(_ line: String, indent: Int) {
    text += String(repeating: " ", count: indent) + line + "\n"
  }

  /// Names on the left, what they mean on the right; below where names are long or lines short.
  package mutating func table(_ rows: [(label: String, help: String)]) {
    let widest = rows.map(\.label.count).filter { $0 <= 26 }.max() ?? 0
    let column = width < 60 ? 8 : widest + 4
    for row in rows {
      let label = "  " + row.label
      guard !row.help.isEmpty else {
        text += label + "\n"
        continue
      }
      let help = Self.wrap(row.help, width: width - column)
      let margin = String(repeating: " ", count: column)
      let fits = label.count + 2 <= column
      text += label + (fits ? String(repeating: " ", count: column - label.count) : "\n")
      text += (fits ? "" : margin) + help.joined(separator: "\n" + margin) + "\n"
    }
  }

  private mutating func emptyLine() {
    if !text.isEmpty {
      text += "\n"
    }
  }

  package static func split(_ body: String) -> [String] {
    var paragraphs: [String] = []
    var current: [Substring] = []
    let lines: [Substring] = body.split(separator: "\n", omittingEmptySubsequences: false)
    for line in lines + [""] {
      if !line.isEmpty {
        current.append(line)
      } else if !current.isEmpty {
        paragraphs.append(current.joined(separator: "\n"))
        current = []
      }
    }
    return paragraphs
  }

  /// Breaks a text at spaces; a word wider than the line gets one of its own.
  package static func wrap(_ body: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    var length = 0
    for word in body.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let count = word.count
      if length > 0 && length + 1 + count > width {
        lines.append(line)
        line = ""
        length = 0
      }
      line += (length > 0 ? " " : "") + word
      length += (length > 0 ? 1 : 0) + count
    }
    if length > 0 {
      lines.append(line)
    }
    return lines
  }
}

package enum ColumnText {
  package static func text(_ rows: [[String]]) -> String { lines(rows).map { $0 + "\n" }.joined() }

  /// A line for each row, two spaces between columns; with `isRight`, all columns but the first end
  /// together.
  package static func lines(_ rows: [[String]], isRight: Bool = false) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, word) in row.enumerated() {
        let blank = String(repeating: " ", count: widths[column] - word.count)
        if column > 0 {
          line += "  "
        }
        if isRight && column > 0 {
          line += blank + word
        } else {
          line += word + (column == row.count - 1 ? "" : blank)
        }
      }
      return line
    }
  }
}

extension Program {
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
    for option in Self.options {
      page.item(option)
    }
    page.section("Verbs")
    let verbs = everyCommand.flatMap { command in
      [(command, name)] + command.verbs.map { ($0, "\(name) \(command.name)") }
    }
    let groups = verbs.flatMap(\.0.groups)
    let shared = groups.filter { group in groups.count { $0 == group } > 1 }.reduce(
      into: [OptionGroup]()
    ) {
      shared, group in
      if !shared.contains(where: { $0.title == group.title }) {
        shared.append(group)
      }
    }
    for (command, program) in verbs {
      page.verb(command, of: program, shared: shared)
    }
    for group in shared {
      page.section("Options for \(group.title)")
      for option in group.options {
        page.item(option)
      }
    }
    page.section("Exit status")
    for status in ExitStatus.allCases {
      page.item(["\(status.rawValue)"], nil, text: status.meaning)
    }
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
      if paragraph.first == " " {
        verbatim(paragraph)
      } else {
        roff += ".PP\n" + Self.line(paragraph)
      }
    }
  }

  mutating func item(_ names: [String], _ value: String?, text: String) {
    let spelled = names.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
    roff += ".TP\n\(spelled)\(value.map { " \\fI\(Self.escaped($0))\\fR" } ?? "")\n"
    roff += Self.line(text)
  }

  mutating func item(_ option: Option) { item(option.names, option.value, text: option.fullHelp) }

  /// - Parameter shared: Groups of options that have a section of their own.
  mutating func verb(_ command: CommandDescription, of program: String, shared: [OptionGroup]) {
    roff += ".SS \(Self.quoted(command.usage(of: program)))\n"
    roff += Self.line(command.abstract)
    paragraphs(command.discussion)
    for argument in command.arguments {
      item([argument.usage], nil, text: argument.fullHelp)
    }
    let own = command.groups.filter { !shared.contains($0) }
    for option in command.options + own.flatMap(\.options) {
      item(option)
    }
    let elsewhere = command.groups.filter(shared.contains).map { $0.title.lowercased() }
    if !elsewhere.isEmpty {
      paragraphs("Options for \(elsewhere.joined(separator: ", ")): see below.")
    }
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
    for line in text.split(separator: "\n") {
      roff += Self.line(String(line))
    }
    roff += ".fi\n"
  }

  private static func line(_ text: String) -> String {
    let joined = text.first == " " ? text : text.split(separator: "\n").joined(separator: " ")
    return (joined.hasPrefix(".") || joined.hasPrefix("'") ? "\\&" : "") + escaped(joined) + "\n"
  }

  private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Characters that roff would read as its own or set as typographic ones.
  private static let escapes: [Unicode.Scalar: String] = [
    "\\": "(rs", "-": "-", "'": "(aq", "`": "(ga", "^": "(ha", "~": "(ti", "\"": "(dq",
  ]

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let name = escapes[scalar] {
        result += "\\" + name
      } else if scalar.isASCII {
        result.unicodeScalars.append(scalar)
      } else {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
      }
    }
    return result
  }
}
