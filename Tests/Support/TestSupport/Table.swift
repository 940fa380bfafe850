public import Testing

/// A row of a table that is written as a text: a line of input, and the indented lines behind it,
/// which come of it.
public struct TableRow: CustomTestStringConvertible, Sendable {
  /// The input; `⏎` in the text ends a line of it.
  public let input: String
  /// What comes of it, without the indentation.
  public let expectedLines: [String]

  /// The rows of a table.
  public static func rows(_ table: String) -> [TableRow] {
    var rows: [TableRow] = []
    for line in table.split(separator: "\n") {
      if line.hasPrefix("  "), let last = rows.popLast() {
        rows.append(
          TableRow(
            input: last.input, expectedLines: last.expectedLines + [String(line.dropFirst(2))]))
      } else {
        rows.append(TableRow(input: String(line).replacing("⏎", with: "\n"), expectedLines: []))
      }
    }
    return rows
  }

  /// The input, on one line.
  public var testDescription: String { input.replacing("\n", with: "⏎") }
}
