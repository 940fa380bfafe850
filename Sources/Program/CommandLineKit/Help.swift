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
    let headingAndBody = paragraph.split(separator: "\n", maxSplits: 1)
    guard headingAndBody.count == 2, headingAndBody[0].allSatisfy({ $0.isUppercase || $0 == " " }),
      headingAndBody[0].first != " "
    else { return (nil, paragraph) }
    return (String(headingAndBody[0]), String(headingAndBody[1]))
  }

  package mutating func appendWrapped(_ body: String, indentColumns: Int) {
    let leftMargin = String(repeating: " ", count: indentColumns)
    for line in Self.wrappedLines(of: body, width: lineWidth - indentColumns) {
      text += leftMargin + line + "\n"
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
    let widestLabelColumns = rows.map(\.label.count).filter { $0 <= 26 }.max() ?? 0
    let helpColumn = lineWidth < 60 ? 8 : aligned ?? widestLabelColumns + Self.labelMarginColumns
    for row in rows {
      let label = "  " + row.label
      guard !row.help.isEmpty else {
        text += label + "\n"
        continue
      }
      let help = Self.wrappedLines(of: row.help, width: lineWidth - helpColumn)
      let margin = String(repeating: " ", count: helpColumn)
      let fits = label.count + 2 <= helpColumn
      text += label + (fits ? String(repeating: " ", count: helpColumn - label.count) : "\n")
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
    var currentLines: [Substring] = []
    let bodyLines: [Substring] = body.split(separator: "\n", omittingEmptySubsequences: false)
    for line in bodyLines + [""] {
      if !line.isEmpty {
        currentLines.append(line)
      } else if !currentLines.isEmpty {
        paragraphs.append(currentLines.joined(separator: "\n"))
        currentLines = []
      }
    }
    return paragraphs
  }

  /// Returns the lines of a text that is wrapped at spaces. A word that is wider than the line gets
  /// a line of its own.
  package static func wrappedLines(of body: String, width: Int) -> [String] {
    var wrappedLines: [String] = []
    var currentLine = ""
    var currentLineLength = 0
    for word in body.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let count = word.count
      if currentLineLength > 0 && currentLineLength + 1 + count > width {
        wrappedLines.append(currentLine)
        currentLine = ""
        currentLineLength = 0
      }
      currentLine += (currentLineLength > 0 ? " " : "") + word
      currentLineLength += (currentLineLength > 0 ? 1 : 0) + count
    }
    if currentLineLength > 0 {
      wrappedLines.append(currentLine)
    }
    return wrappedLines
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
    let columnCount = rows.map(\.count).max() ?? 0
    let columnWidths = (0..<columnCount).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, word) in row.enumerated() {
        let blank = String(repeating: " ", count: columnWidths[column] - word.count)
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
    let allGroups = commands.flatMap(\.optionGroups)
    var sharedGroups: [OptionGroup] = []
    for group in allGroups {
      let isShared = allGroups.count { $0 == group } > 1
      if isShared, !sharedGroups.contains(where: { $0.title == group.title }) {
        sharedGroups.append(group)
      }
    }
    return sharedGroups
  }

  /// Returns the manual page of the program in roff.
  package func manualPage() -> String {
    var manualPage = ManualPage(name: name, date: versionDate, source: "\(name) \(version)")
    manualPage.appendSection("Name")
    manualPage.appendName(name, abstract: abstract.firstSentence)
    manualPage.appendSection("Synopsis")
    manualPage.appendSynopsis(
      prefix: "\(name) ", placeholder: "COMMAND", suffix: " [OPTIONS] [ARGUMENTS]")
    if !discussion.isEmpty {
      manualPage.appendSection("Description")
      manualPage.appendParagraphs(discussion)
    }
    manualPage.appendSection("Options")
    for option in Self.standardOptions {
      manualPage.appendItem(option)
    }
    manualPage.appendSection("Commands")
    let commandsWithPrograms = allCommands.flatMap { command in
      [(command, name)] + command.subcommands.map { ($0, "\(name) \(command.name)") }
    }
    let sharedGroups = Self.sharedGroups(of: commandsWithPrograms.map(\.0))
    for (command, program) in commandsWithPrograms {
      manualPage.appendCommand(command, of: program, sharedGroups: sharedGroups)
    }
    for group in sharedGroups {
      manualPage.appendSection("Options for \(group.title)")
      for option in group.options {
        manualPage.appendItem(option)
      }
    }
    manualPage.appendSection("Exit status")
    for status in ExitStatus.allCases {
      manualPage.appendItem(["\(status.rawValue)"], placeholder: nil, text: status.descriptionText)
    }
    manualPage.appendSection("Environment")
    manualPage.appendItem(
      ["NO_COLOR"], placeholder: nil, text: "If set and not empty, disables colors in output.")
    for variable in environmentVariables {
      manualPage.appendItem([variable.name], placeholder: nil, text: variable.meaning)
    }
    for section in additionalManualSections {
      manualPage.appendSection(section.title)
      manualPage.appendParagraphs(section.body)
    }
    if !examples.isEmpty {
      manualPage.appendSection("Examples")
      manualPage.appendExamples(examples)
    }
    if !relatedManualPages.isEmpty {
      manualPage.appendSection("See also")
      manualPage.appendParagraphs(relatedManualPages)
    }
    return manualPage.roff
  }
}

/// A writer of a manual page in roff. All text is escaped in one place, so that no text can become
/// a request.
private struct ManualPage {
  private(set) var roff: String

  init(name: String, date: String, source: String) {
    let headerFields = [name.uppercased(), "1", date, source, "User Commands"]
    roff =
      ".TH " + headerFields.map(Self.quotedRequestArgument).joined(separator: " ")
      + "\n.nh\n.ad l\n"
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
    let namesText = names.map { "\\fB\(Self.roffEscaped($0))\\fR" }.joined(separator: ", ")
    roff += ".TP\n\(namesText)\(value.map { " \\fI\(Self.roffEscaped($0))\\fR" } ?? "")\n"
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
    let ownGroups = command.optionGroups.filter { !shared.contains($0) }
    for option in command.options + ownGroups.flatMap(\.options) {
      appendItem(option)
    }
    let sharedGroupTitles = command.optionGroups.filter(shared.contains).map {
      $0.title.lowercased()
    }
    if !sharedGroupTitles.isEmpty {
      appendParagraphs("Options for \(sharedGroupTitles.joined(separator: ", ")): see below.")
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
    let singleLineText =
      text.first == " " ? text : text.split(separator: "\n").joined(separator: " ")
    return (singleLineText.hasPrefix(".") || singleLineText.hasPrefix("'") ? "\\&" : "")
      + roffEscaped(singleLineText)
      + "\n"
  }

  private static func quotedRequestArgument(_ text: String) -> String { "\"\(roffEscaped(text))\"" }

  /// The roff names of characters that roff would interpret or replace by typographic characters.
  private static let roffNamesByCharacter: [Unicode.Scalar: String] = [
    "\\": "(rs", "-": "-", "'": "(aq", "`": "(ga", "^": "(ha", "~": "(ti", "\"": "(dq",
  ]

  private static func roffEscaped(_ text: String) -> String {
    var escapedText = ""
    for scalar in text.unicodeScalars {
      if let name = roffNamesByCharacter[scalar] {
        escapedText += "\\" + name
      } else if scalar.isASCII {
        escapedText.unicodeScalars.append(scalar)
      } else {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        escapedText +=
          "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
      }
    }
    return escapedText
  }
}
