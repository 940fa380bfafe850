/// A model of a terminal that wraps its lines again when its window is resized, and keeps the
/// cursor at its character.
struct WrappingScreen {
  /// The logical lines, before wrapping.
  private var lines: [[Character]] = [[]]
  private var line = 0
  private var column = 0
  private var width: Int

  init(width: Int) { self.width = width }

  /// Changes the number of columns.
  mutating func resize(to width: Int) { self.width = width }

  /// The text of each row, without trailing blanks.
  var rows: [String] {
    var rows = lines.flatMap { line -> [String] in
      let starts = line.isEmpty ? [0] : Array(stride(from: 0, to: line.count, by: width))
      return starts.map { String(line[$0..<min($0 + width, line.count)]).trimmingBlanks }
    }
    while rows.last == "" {
      rows.removeLast()
    }
    return rows
  }

  /// Writes characters, carriage returns, line feeds, styles, and `ED`, which erases the text after
  /// the cursor.
  mutating func write(_ text: String) {
    var remainder = Substring(text.replacing("\r\n", with: "\n"))
    while let character = remainder.popFirst() {
      switch character {
      case "\r":
        column -= column % width
      case "\n":
        line += 1
        column = 0
        if line == lines.count {
          lines.append([])
        }
      case "\u{1B}":
        let sequence = remainder.prefix { !$0.isLetter }
        remainder = remainder.dropFirst(sequence.count)
        // A style is invisible.
        guard remainder.popFirst() == "J" else { continue }
        lines.removeSubrange((line + 1)...)
        lines[line].removeSubrange(min(column, lines[line].count)...)
      default:
        while lines[line].count <= column {
          lines[line].append(" ")
        }
        lines[line][column] = character
        column += 1
      }
    }
  }
}

extension String {
  fileprivate var trimmingBlanks: String {
    var text = self
    while text.last == " " {
      text.removeLast()
    }
    return text
  }
}
