/// A layout of help text for a stream, with headings, wrapped paragraphs, and two-column tables.
package struct TextLayout {
  /// The number of columns around the label of a table row: its indent, and the gap before its
  /// description.
  static let labelMarginColumns = 4

  private let output: Output
  private let lineWidth: Int
  package private(set) var text = ""

  /// Creates a layout for the width of a stream, limited to 40 to 100 columns.
  /// Longer lines are hard to read, and shorter lines leave no space for a table.
  package init(for output: Output) {
    self.output = output
    self.lineWidth = min(max(output.columnCount, 40), 100)
  }

  package mutating func appendHeading(_ title: String) {
    appendBlankLine()
    text += output.styled(title.uppercased(), .bold) + "\n"
  }

  /// Appends paragraphs that are separated by an empty line.
  /// Indented paragraphs keep their layout. A line in capitals is a heading of the paragraph that
  /// follows.
  package mutating func appendParagraphs(_ body: String) {
    for paragraph in Self.paragraphs(in: body) {
      let (heading, text) = Self.splitHeading(of: paragraph)
      if let heading {
        appendHeading(heading)
      } else {
        appendBlankLine()
      }
      if text.first == " " {
        appendVerbatim(text, indentColumns: 0)
      } else {
        appendWrapped(text, indentColumns: 0)
      }
    }
  }

  /// Splits a paragraph into its heading and its text. A heading is a first line in capitals.
  static func splitHeading(of paragraph: String) -> (heading: String?, text: String) {
    let lines = paragraph.split(separator: "\n", maxSplits: 1)
    guard lines.count == 2, lines[0].allSatisfy({ $0.isUppercase || $0 == " " }),
      lines[0].first != " "
    else { return (nil, paragraph) }
    return (String(lines[0]), String(lines[1]))
  }

  package mutating func appendWrapped(_ body: String, indentColumns: Int) {
    let margin = String(repeating: " ", count: indentColumns)
    for line in Self.wrappedLines(of: body, width: lineWidth - indentColumns) {
      text += margin + line + "\n"
    }
  }

  /// Appends a line that a user may copy, such as a command. The line is never wrapped.
  package mutating func appendVerbatim(_ line: String, indentColumns: Int) {
    text += String(repeating: " ", count: indentColumns) + line + "\n"
  }

  /// Appends rows with labels on the left and descriptions on the right.
  /// The description starts below a long label, and below every label on a narrow terminal.
  ///
  /// - Parameters:
  ///   - rows: The labels and descriptions.
  ///   - aligned: The column of the descriptions, or nil for a column that fits the labels.
  package mutating func appendTable(
    _ rows: [(label: String, help: String)], column aligned: Int? = nil
  ) {
    let widest = rows.map(\.label.count).filter { $0 <= 26 }.max() ?? 0
    let column = lineWidth < 60 ? 8 : aligned ?? widest + Self.labelMarginColumns
    for row in rows {
      let label = "  " + row.label
      guard !row.help.isEmpty else {
        text += label + "\n"
        continue
      }
      let help = Self.wrappedLines(of: row.help, width: lineWidth - column)
      let margin = String(repeating: " ", count: column)
      let fits = label.count + 2 <= column
      text += label + (fits ? String(repeating: " ", count: column - label.count) : "\n")
      text += (fits ? "" : margin) + help.joined(separator: "\n" + margin) + "\n"
    }
  }

  private mutating func appendBlankLine() {
    if !text.isEmpty {
      text += "\n"
    }
  }

  package static func paragraphs(in body: String) -> [String] {
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

  /// Returns the lines of a text that is wrapped at spaces. A word that is wider than the line gets
  /// a line of its own.
  package static func wrappedLines(of body: String, width: Int) -> [String] {
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

/// Formats text tables with aligned columns.
package enum TextTable {
  package static func text(ofRows rows: [[String]]) -> String {
    lines(ofRows: rows).map { $0 + "\n" }.joined()
  }

  /// Returns a line for each row, with two spaces between columns.
  ///
  /// - Parameters:
  ///   - rows: The cells of each row.
  ///   - alignsRight: A Boolean value that indicates whether all columns except the first are
  ///     right-aligned.
  package static func lines(ofRows rows: [[String]], alignsRight: Bool = false) -> [String] {
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
        if alignsRight && column > 0 {
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
  /// Returns the groups of options that several commands share, in the order of their first
  /// command.
  private static func sharedGroups(of commands: [Command]) -> [OptionGroup] {
    let groups = commands.flatMap(\.optionGroups)
    var shared: [OptionGroup] = []
    for group in groups {
      let isShared = groups.count { $0 == group } > 1
      if isShared, !shared.contains(where: { $0.title == group.title }) {
        shared.append(group)
      }
    }
    return shared
  }

  /// Returns the manual page of the program in roff.
  package func manualPage() -> String {
    var page = ManualPage(name: name, date: versionDate, source: "\(name) \(version)")
    page.appendSection("Name")
    page.appendName(name, abstract: abstract.firstSentence)
    page.appendSection("Synopsis")
    page.appendSynopsis(
      prefix: "\(name) ", placeholder: "COMMAND", suffix: " [OPTIONS] [ARGUMENTS]")
    if !discussion.isEmpty {
      page.appendSection("Description")
      page.appendParagraphs(discussion)
    }
    page.appendSection("Options")
    for option in Self.standardOptions {
      page.appendItem(option)
    }
    page.appendSection("Commands")
    let commands = allCommands.flatMap { command in
      [(command, name)] + command.subcommands.map { ($0, "\(name) \(command.name)") }
    }
    let shared = Self.sharedGroups(of: commands.map(\.0))
    for (command, program) in commands {
      page.appendCommand(command, of: program, sharedGroups: shared)
    }
    for group in shared {
      page.appendSection("Options for \(group.title)")
      for option in group.options {
        page.appendItem(option)
      }
    }
    page.appendSection("Exit status")
    for status in ExitStatus.allCases {
      page.appendItem(["\(status.rawValue)"], placeholder: nil, text: status.descriptionText)
    }
    page.appendSection("Environment")
    page.appendItem(
      ["NO_COLOR"], placeholder: nil, text: "If set and not empty, disables colors in output.")
    for variable in environmentVariables {
      page.appendItem([variable.name], placeholder: nil, text: variable.meaning)
    }
    for section in additionalManualSections {
      page.appendSection(section.title)
      page.appendParagraphs(section.body)
    }
    if !examples.isEmpty {
      page.appendSection("Examples")
      page.appendExamples(examples)
    }
    if !relatedPages.isEmpty {
      page.appendSection("See also")
      page.appendParagraphs(relatedPages)
    }
    return page.roff
  }
}

/// A writer of a manual page in roff. All text is escaped in one place, so that no text can become
/// a request.
private struct ManualPage {
  private(set) var roff: String

  init(name: String, date: String, source: String) {
    let words = [name.uppercased(), "1", date, source, "User Commands"]
    roff = ".TH " + words.map(Self.quotedRequestArgument).joined(separator: " ") + "\n.nh\n.ad l\n"
  }

  mutating func appendSection(_ title: String) {
    roff += ".SH \(Self.quotedRequestArgument(title.uppercased()))\n"
  }

  /// Appends the text of the section NAME, in the form that `whatis` reads.
  mutating func appendName(_ name: String, abstract: String) {
    roff += "\(Self.roffEscaped(name)) \\- \(Self.roffEscaped(abstract))\n"
  }

  mutating func appendSynopsis(
    prefix before: String, placeholder name: String, suffix after: String
  ) {
    roff +=
      "\\fB\(Self.roffEscaped(before))\\fR\\fI\(Self.roffEscaped(name))\\fR"
      + "\(Self.roffEscaped(after))\n"
  }

  mutating func appendParagraphs(_ body: String) {
    for paragraph in TextLayout.paragraphs(in: body) {
      let (heading, text) = TextLayout.splitHeading(of: paragraph)
      if let heading {
        roff += ".PP\n\\fB\(Self.roffEscaped(heading))\\fR\n"
      }
      if text.first == " " {
        appendVerbatim(text)
      } else {
        roff += ".PP\n" + Self.escapedTextLine(text)
      }
    }
  }

  mutating func appendItem(_ names: [String], placeholder value: String?, text: String) {
    let spelled = names.map { "\\fB\(Self.roffEscaped($0))\\fR" }.joined(separator: ", ")
    roff += ".TP\n\(spelled)\(value.map { " \\fI\(Self.roffEscaped($0))\\fR" } ?? "")\n"
    roff += Self.escapedTextLine(text)
  }

  mutating func appendItem(_ option: Option) {
    appendItem(option.spellings, placeholder: option.valuePlaceholder, text: option.fullHelpText)
  }

  /// Appends the description of a command.
  ///
  /// - Parameters:
  ///   - command: The command to describe.
  ///   - program: The program, and the command that precedes a subcommand.
  ///   - shared: The groups of options that have a section of their own.
  mutating func appendCommand(
    _ command: Command, of program: String, sharedGroups shared: [OptionGroup]
  ) {
    roff += ".SS \(Self.quotedRequestArgument(command.usageLine(of: program)))\n"
    roff += Self.escapedTextLine(command.abstract)
    appendParagraphs(command.discussion)
    for argument in command.arguments {
      appendItem([argument.usageForm], placeholder: nil, text: argument.fullHelpText)
    }
    let own = command.optionGroups.filter { !shared.contains($0) }
    for option in command.options + own.flatMap(\.options) {
      appendItem(option)
    }
    let elsewhere = command.optionGroups.filter(shared.contains).map { $0.title.lowercased() }
    if !elsewhere.isEmpty {
      appendParagraphs("Options for \(elsewhere.joined(separator: ", ")): see below.")
    }
    if !command.examples.isEmpty {
      roff += ".PP\nExamples:\n"
      appendExamples(command.examples)
    }
  }

  mutating func appendExamples(_ examples: [Command.Example]) {
    for example in examples {
      roff += ".PP\n" + Self.escapedTextLine(example.purpose)
      appendVerbatim("  " + example.command)
    }
  }

  private mutating func appendVerbatim(_ text: String) {
    roff += ".PP\n.nf\n"
    for line in text.split(separator: "\n") {
      roff += Self.escapedTextLine(String(line))
    }
    roff += ".fi\n"
  }

  private static func escapedTextLine(_ text: String) -> String {
    let joined = text.first == " " ? text : text.split(separator: "\n").joined(separator: " ")
    return (joined.hasPrefix(".") || joined.hasPrefix("'") ? "\\&" : "") + roffEscaped(joined)
      + "\n"
  }

  private static func quotedRequestArgument(_ text: String) -> String { "\"\(roffEscaped(text))\"" }

  /// The roff names of characters that roff would interpret or replace by typographic characters.
  private static let roffNamesByCharacter: [Unicode.Scalar: String] = [
    "\\": "(rs", "-": "-", "'": "(aq", "`": "(ga", "^": "(ha", "~": "(ti", "\"": "(dq",
  ]

  private static func roffEscaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let name = roffNamesByCharacter[scalar] {
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
