/// What a terminal shows that wraps its lines again when its window is resized, and keeps the
/// cursor at its character.
struct WrappingScreen {
  /// Lines as they were written, each as long as it became.
  private var lines: [[Character]] = [[]]
  private var line = 0
  private var column = 0
  private var width: Int

  init(width: Int) { self.width = width }

  /// Changes the columns.
  mutating func resize(to width: Int) { self.width = width }

  /// What stands in each row, without blanks at the end.
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

  /// Takes characters, returns, line feeds, styles, and `ED`, which erases what is behind the
  /// cursor.
  mutating func write(_ text: String) {
    var rest = Substring(text.replacing("\r\n", with: "\n"))
    while let character = rest.popFirst() {
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
        let sequence = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(sequence.count)
        // A style shows nothing.
        guard rest.popFirst() == "J" else { continue }
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
