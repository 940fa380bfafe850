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
      let text = "<span class=\"line\">\(HTMLEscaping.escaped(line))\n</span>"
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
