/// Rows of words set in columns.
enum ColumnText {
  /// A line for each row, two spaces between columns, the last column ragged.
  ///
  /// - Parameter isRight: Whether all columns but the first end together rather than begin together.
  static func lines(_ rows: [[String]], isRight: Bool = false) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, word) in row.enumerated() {
        let blank = String(repeating: " ", count: widths[column] - word.count)
        if column > 0 { line += "  " }
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
