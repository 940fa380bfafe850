public import Testing

/// A row of a table in a text: a line of input, and the indented lines after it with the expected
/// result.
public struct TableRow: CustomTestStringConvertible, Sendable {
  /// The input. The sign `⏎` in the table stands for a line end.
  public let input: String
  /// The lines of the expected result, without the indentation.
  public let expectedLines: [String]

  /// Returns the rows of a table.
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
