/// A table of text fields in named columns, read and written in the CSV format of RFC 4180.
package struct CSVTable: Equatable, Sendable {
  /// The maximum number of rows, which bounds the work of reading a table.
  package static let maximumRowCount = 100_000
  package static let maximumFieldByteCount = 65_536
  package static let maximumColumnCount = 256
  /// The maximum number of line numbers that an error lists in addition to the first.
  private static let maximumListedLineCount = 10

  package struct Row: Equatable, Sendable {
    /// The number of the line on which the row begins in the file, from 1.
    package let lineNumber: Int
    /// The fields of the row, one for each column.
    package let fields: [String]
  }

  package struct FormatError: Error, Equatable, CustomStringConvertible {
    package let lineNumber: Int
    package var columnName: String?
    package let reason: String

    /// The message of the problem, such as `line 3, column 'level': …`.
    package var description: String {
      "line \(lineNumber)" + (columnName.map { ", column \($0.inQuotes)" } ?? "") + ": " + reason
    }
  }

  package let columnNames: [String]
  package private(set) var rows: [Row] = []

  package init(columnNames: [String]) { self.columnNames = columnNames }

  /// Creates a table from UTF-8 text with or without byte order marks.
  /// Lines end in LF or CR LF, and empty lines are skipped.
  package init(_ bytes: [UInt8]) throws(FormatError) {
    if let otherFileKind = Self.detectedFileKind(of: bytes) {
      throw FormatError(lineNumber: 1, reason: "the file contains \(otherFileKind), not a table")
    }
    var csvReader = CSVReader(bytes)
    guard let headerNames = try csvReader.readRow(columns: []) else {
      throw FormatError(
        lineNumber: 1, reason: "the table is empty; start it with a row of column names")
    }
    columnNames = headerNames.fields
    if columnNames.count == 1, let separatorName = Self.foreignSeparatorName(in: columnNames[0]) {
      throw FormatError(
        lineNumber: headerNames.lineNumber,
        reason: """
          the columns are separated by \(separatorName); save the table with commas between the \
          columns and with decimal points
          """)
    }
    for (index, name) in columnNames.enumerated() {
      if name.isEmpty {
        throw FormatError(
          lineNumber: headerNames.lineNumber, reason: "column \(index + 1) has no name")
      }
      guard !columnNames[..<index].contains(name) else {
        throw FormatError(
          lineNumber: headerNames.lineNumber,
          reason: "duplicate column \(name.inQuotes); rename one of the columns")
      }
    }
    var irregularRows: [Row] = []
    while let tableRow = try csvReader.readRow(columns: columnNames) {
      guard rows.count + irregularRows.count < Self.maximumRowCount else {
        throw FormatError(
          lineNumber: tableRow.lineNumber,
          reason: "a table can have at most \(Self.maximumRowCount) rows")
      }
      if tableRow.fields.count == columnNames.count {
        rows.append(tableRow)
      } else {
        irregularRows.append(tableRow)
      }
    }
    guard irregularRows.isEmpty else { throw fieldCountProblem(of: irregularRows) }
  }

  /// Returns the problem that lists the numbers of the lines with too few or too many fields.
  private func fieldCountProblem(of irregularRows: [Row]) -> FormatError {
    let firstRow = irregularRows[0]
    let fieldCount = firstRow.fields.count
    var reasonText = "the row has \(fieldCount) \(fieldCount == 1 ? "field" : "fields"), "
    reasonText +=
      "but the table has \(columnNames.count) \(columnNames.count == 1 ? "column" : "columns")"
    if fieldCount > columnNames.count {
      reasonText += "; use decimal points, and quote fields that contain commas"
    }
    let otherLineNumbers = irregularRows.dropFirst().map { "\($0.lineNumber)" }
    let listedLineNumbers = Array(otherLineNumbers.prefix(Self.maximumListedLineCount))
    let unlistedCount = otherLineNumbers.count - listedLineNumbers.count
    if otherLineNumbers.count == 1 {
      reasonText += "; line \(otherLineNumbers[0]) is also wrong"
    } else if !otherLineNumbers.isEmpty {
      let items =
        unlistedCount > 0 ? listedLineNumbers + ["\(unlistedCount) more"] : listedLineNumbers
      reasonText += "; lines \(items.joined(separator: ", ")) are also wrong"
    }
    return FormatError(lineNumber: firstRow.lineNumber, reason: reasonText)
  }

  /// Returns the name of the format of a file that is evidently not a CSV table, such as `JSON`, or
  /// nil.
  private static func detectedFileKind(of bytes: [UInt8]) -> String? {
    let whitespaceBytes: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    switch bytes.first(where: { !whitespaceBytes.contains($0) }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return "JSON"
    case UInt8(ascii: "<"): return "HTML or XML"
    default: return nil
    }
  }

  /// Returns the name of the separator that a header row uses instead of commas, or nil.
  private static func foreignSeparatorName(in header: String) -> String? {
    if header.utf8.contains(UInt8(ascii: ";")) { return "semicolons" }
    return header.utf8.contains(UInt8(ascii: "\t")) ? "tabs" : nil
  }

  /// Appends a row to the table. Its line number assumes that no earlier field contains a line
  /// break.
  package mutating func appendRow(_ fields: [String]) {
    precondition(fields.count == columnNames.count, "A row must have a field for each column.")
    rows.append(Row(lineNumber: rows.count + 2, fields: fields))
  }

  /// The table as text with its column names, in lines that end in CR LF.
  package var csvText: String { ([columnNames] + rows.map(\.fields)).map(Self.lineText).joined() }

  /// Returns a row as a line of a file, with its line end.
  package static func lineText(_ fields: [String]) -> String {
    // A single empty field would be an empty line.
    guard fields != [""] else { return "\"\"\r\n" }
    return fields.map(quotedField).joined(separator: ",") + "\r\n"
  }

  private static func quotedField(_ field: String) -> String {
    // At the start of a table, an unquoted U+FEFF would be a byte order mark.
    let hasSpecialCharacter =
      field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
      || field.unicodeScalars.first == "\u{FEFF}"
    guard hasSpecialCharacter else { return field }
    var quotedText = "\""
    for scalar in field.unicodeScalars {
      if scalar == "\"" {
        quotedText += "\""
      }
      quotedText.unicodeScalars.append(scalar)
    }
    return quotedText + "\""
  }
}

private struct CSVReader {
  private let bytes: [UInt8]
  private var byteIndex: Int
  private var lineNumber = 1

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    byteIndex = 0
    // Some programs add a byte order mark to a text that already has one.
    while bytes[byteIndex...].starts(with: [0xEF, 0xBB, 0xBF]) {
      byteIndex += 3
    }
  }

  private var nextByte: UInt8? { byteIndex < bytes.count ? bytes[byteIndex] : nil }

  /// Returns the next row that is not an empty line, or nil at the end.
  mutating func readRow(columns: [String]) throws(CSVTable.FormatError) -> CSVTable.Row? {
    while skipLineEnd() {}
    guard nextByte != nil else { return nil }
    let startLineNumber = lineNumber
    var rowFields: [String] = []
    while true {
      let name = rowFields.count < columns.count ? columns[rowFields.count] : nil
      rowFields.append(try readField(name))
      guard rowFields.count <= CSVTable.maximumColumnCount else {
        throw .init(
          lineNumber: lineNumber,
          reason: "a table can have at most \(CSVTable.maximumColumnCount) columns")
      }
      if nextByte == UInt8(ascii: ",") {
        byteIndex += 1
      } else {
        _ = skipLineEnd()
        return CSVTable.Row(lineNumber: startLineNumber, fields: rowFields)
      }
    }
  }

  private mutating func skipLineEnd() -> Bool {
    if nextByte == 0x0D, byteIndex + 1 < bytes.count, bytes[byteIndex + 1] == 0x0A {
      byteIndex += 1
    }
    guard nextByte == 0x0A else { return false }
    byteIndex += 1
    lineNumber += 1
    return true
  }

  private mutating func readField(_ column: String?) throws(CSVTable.FormatError) -> String {
    let startLineNumber = lineNumber
    var contentBytes: [UInt8] = []
    let isQuoted = nextByte == UInt8(ascii: "\"")
    var isQuoteOpen = isQuoted
    if isQuoted {
      byteIndex += 1
    }
    while let fieldByte = nextByte {
      if isQuoteOpen {
        if fieldByte == UInt8(ascii: "\"") {
          byteIndex += 1
          guard nextByte == UInt8(ascii: "\"") else {
            isQuoteOpen = false
            continue
          }
        } else if fieldByte == 0x0A {
          lineNumber += 1
        }
      } else {
        if fieldByte == UInt8(ascii: ",") || fieldByte == 0x0A { break }
        if fieldByte == 0x0D, byteIndex + 1 < bytes.count, bytes[byteIndex + 1] == 0x0A {
          break
        }
        guard !isQuoted else {
          throw .init(
            lineNumber: lineNumber, columnName: column,
            reason: "text follows a closing quotation mark; move it inside the quotation marks")
        }
        guard fieldByte != UInt8(ascii: "\"") else {
          throw .init(
            lineNumber: lineNumber, columnName: column,
            reason: "a field that contains quotation marks must be quoted, with each mark doubled")
        }
      }
      guard contentBytes.count < CSVTable.maximumFieldByteCount else {
        throw .init(
          lineNumber: startLineNumber, columnName: column,
          reason: "a field can have at most \(CSVTable.maximumFieldByteCount) bytes")
      }
      contentBytes.append(fieldByte)
      byteIndex += 1
    }
    guard !isQuoteOpen else {
      throw .init(
        lineNumber: startLineNumber, columnName: column, reason: "missing closing quotation mark")
    }
    guard let fieldText = String(validating: contentBytes, as: UTF8.self) else {
      throw .init(
        lineNumber: startLineNumber, columnName: column,
        reason: "the field is not valid UTF-8; save the table as UTF-8"
      )
    }
    return fieldText
  }
}

extension Double {
  /// Returns the number as text with at most the given number of decimal places.
  package func text(places: Int) -> String { NumberFormatting.roundedText(self, places: places) }
}
