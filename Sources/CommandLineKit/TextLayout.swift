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

  /// A heading after an empty line, in capitals.
  package mutating func heading(_ title: String) {
    emptyLine()
    text += output.styled(title.uppercased(), .bold) + "\n"
  }

  /// Text with an empty line between paragraphs; indented ones are kept as they are.
  package mutating func paragraphs(_ body: String) {
    for paragraph in Self.split(body) {
      emptyLine()
      if paragraph.first == " " { verbatim(paragraph, indent: 0) } else { lines(paragraph, indent: 0) }
    }
  }

  package mutating func lines(_ body: String, indent: Int) {
    let margin = String(repeating: " ", count: indent)
    for line in Self.wrap(body, width: width - indent) { text += margin + line + "\n" }
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

  private mutating func emptyLine() { if !text.isEmpty { text += "\n" } }

  /// The paragraphs of a text, without the empty lines between them.
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
        (line, length) = ("", 0)
      }
      line += (length > 0 ? " " : "") + word
      length += (length > 0 ? 1 : 0) + count
    }
    if length > 0 { lines.append(line) }
    return lines
  }
}

/// Rows of words set in columns.
package enum ColumnText {
  /// A line for each row, two spaces between columns, the last column ragged.
  ///
  /// - Parameter isRight: Whether all columns but the first end together rather than begin together.
  package static func lines(_ rows: [[String]], isRight: Bool = false) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, word) in row.enumerated() {
        let blank = String(repeating: " ", count: widths[column] - word.count)
        if column > 0 { line += "  " }
        if isRight && column > 0 { line += blank + word } else { line += word + (column == row.count - 1 ? "" : blank) }
      }
      return line
    }
  }
}
