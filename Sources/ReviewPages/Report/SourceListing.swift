import SignalPlots
/// A pattern's text in a page: numbered lines, folded away, with those marked that another text has not.
enum SourceListing {
  /// The most lines that are shown; longer texts are cut.
  static let maximumLineCount = 5_000

  /// The markup for a text.
  ///
  /// - Parameter other: The text it is held against, or nothing.
  static func markup(_ text: String, against other: String?, entry: String, className: String)
    -> String
  {
    let lines = Self.lines(of: text)
    let shown = Array(lines.prefix(maximumLineCount))
    let marks = other.map { LineDiff.marks(in: shown, against: Array(Self.lines(of: $0))) }
    let markCount = marks?.filter(\.self).count ?? 0
    var about = "\(lines.count) line\(lines.count == 1 ? "" : "s")"
    if marks != nil {
      about +=
        markCount == 0 ? ", identical" : ", \(markCount) differ\(markCount == 1 ? "s" : "")"
    }
    var markup = "<details class=\"\(className)\" data-lines=\"\(lines.count)\"><summary>"
    markup += "\(entry) <span class=\"dim\">\(about)</span></summary>\n"
    markup += "<pre class=\"source\" tabindex=\"0\" aria-label=\"Source text\"><code>"
    for (index, line) in shown.enumerated() {
      let isMarked = marks?[index] ?? false
      let text = "<span class=\"line\">\(line.escapedForMarkup)\n</span>"
      markup += isMarked ? "<mark>\(text)</mark>" : text
    }
    markup += "</code></pre>\n"
    if lines.count > shown.count {
      markup += "<p class=\"dim\">\(lines.count - shown.count) more lines are not shown.</p>\n"
    }
    return markup + "</details>\n"
  }

  private static func lines(of text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(line.hasSuffix("\r") ? line.dropLast() : line)
    }
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

/// Which lines of a text another text has not, in order.
enum LineDiff {
  /// The most pairs of lines that are held against each other; beyond, lines are looked up without order.
  private static let mostPairs = 4_000_000

  /// Whether each line is missing from the longest common sequence of lines.
  static func marks(in lines: [String], against other: [String]) -> [Bool] {
    var first = 0
    while first < lines.count, first < other.count, lines[first] == other[first] { first += 1 }
    var last = 0
    while last < lines.count - first, last < other.count - first,
      lines[lines.count - 1 - last] == other[other.count - 1 - last]
    {
      last += 1
    }
    let middle = Array(lines[first..<lines.count - last])
    let opposite = Array(other[first..<other.count - last])
    let marks =
      middle.count * opposite.count > mostPairs
      ? unordered(middle, opposite) : ordered(middle, opposite)
    return Array(repeating: false, count: first) + marks + Array(repeating: false, count: last)
  }

  private static func ordered(_ lines: [String], _ other: [String]) -> [Bool] {
    let width = other.count + 1
    // The length of the longest common sequence behind each pair of places.
    var lengths = [Int32](repeating: 0, count: (lines.count + 1) * width)
    for row in lines.indices.reversed() {
      for column in other.indices.reversed() {
        lengths[row * width + column] =
          lines[row] == other[column]
          ? lengths[(row + 1) * width + column + 1] + 1
          : max(lengths[(row + 1) * width + column], lengths[row * width + column + 1])
      }
    }
    var marks = [Bool](repeating: true, count: lines.count)
    var (row, column) = (0, 0)
    while row < lines.count, column < other.count {
      if lines[row] == other[column] {
        marks[row] = false
        row += 1
        column += 1
      } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
        row += 1
      } else {
        column += 1
      }
    }
    return marks
  }

  private static func unordered(_ lines: [String], _ other: [String]) -> [Bool] {
    let known = Set(other)
    return lines.map { !known.contains($0) }
  }
}
