import SystemSupport
import Testing

@Suite struct CSVTableTests {
  private func errorText(_ text: String) -> String? { errorText(Array(text.utf8)) }

  private func errorText(_ bytes: [UInt8]) -> String? {
    do {
      _ = try CSVTable(bytes)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func errorsHaveLineAndColumn() {
    #expect(errorText("") == "line 1: the table is empty; start it with a row of column names")
    #expect(errorText("id,,x\n") == "line 1: column 2 has no name")
    #expect(errorText("id,id\n") == "line 1: duplicate column 'id'; rename one of the columns")
    #expect(
      errorText("id,level\na,1\n\nb\n")
        == "line 4: the row has 1 field, but the table has 2 columns"
    )
    #expect(
      errorText("id,level\na,\"1\n2\n") == "line 2, column 'level': missing closing quotation mark")
    #expect(
      errorText("id,level\na,\"1\"2\n")
        == """
        line 2, column 'level': text follows a closing quotation mark; move it inside the \
        quotation marks
        """)
    #expect(
      errorText("id,level\na,1\"2\n")
        == """
        line 2, column 'level': a field that contains quotation marks must be quoted, with each \
        mark doubled
        """)
    #expect(
      errorText(Array("id\n".utf8) + [0xFF])
        == "line 2, column 'id': the field is not valid UTF-8; save the table as UTF-8")
  }

  @Test("All rows with a wrong number of fields are named at once")
  func irregularRowsAreNamedAtOnce() {
    #expect(
      errorText("id,level\na,1\nb\nc,2\nd\n")
        == "line 3: the row has 1 field, but the table has 2 columns; line 5 is also wrong")
    #expect(
      errorText("id,level\na,0,5\nb,0,6\nc,0,7\n")
        == """
        line 2: the row has 3 fields, but the table has 2 columns; use decimal points, and quote \
        fields that contain commas; lines 3, 4 are also wrong
        """)
    let irregularRows = String(repeating: "a\n", count: 14)
    #expect(
      errorText("id,level\n" + irregularRows)?.hasSuffix("11, 12, 3 more are also wrong") == true)
  }

  @Test("A table with other separators, and a text that is not a table, are named by their kind")
  func otherTextsAreNamedByTheirKind() {
    #expect(
      errorText("id;level\na;0,6\n")
        == """
        line 1: the columns are separated by semicolons; save the table with commas between the \
        columns and with decimal points
        """)
    #expect(errorText("id\tlevel\n")?.contains("separated by tabs") == true)
    #expect(
      errorText("{\n  \"Version\": 1.0\n}\n") == "line 1: the file contains JSON, not a table")
    #expect(errorText("<html>") == "line 1: the file contains HTML or XML, not a table")
  }

  @Test func lengthsAreBounded() {
    #expect(errorText("id\n" + String(repeating: "x", count: 65_536)) == nil)
    #expect(
      errorText("id\n" + String(repeating: "x", count: 65_537))
        == "line 2, column 'id': a field can have at most 65536 bytes")
    #expect(
      errorText(String(repeating: ",", count: 256))
        == "line 1: a table can have at most 256 columns")
    #expect(errorText("id\n" + String(repeating: "x\n", count: 100_000)) == nil)
    #expect(
      errorText("id\n" + String(repeating: "x\n", count: 100_001))
        == "line 100002: a table can have at most 100000 rows")
  }

  @Test func fieldsCanContainQuotationMarksCommasAndLines() throws {
    let table = try CSVTable(Array("\u{FEFF}id,text\r\na,\"x, \"\"y\"\"\r\nz\"\r\n\r\nb,\n".utf8))
    #expect(table.columnNames == ["id", "text"])
    #expect(table.rows.map(\.fields) == [["a", "x, \"y\"\r\nz"], ["b", ""]])
    #expect(table.rows.map(\.lineNumber) == [2, 5])
  }

  @Test func byteOrderMarksAreSkipped() throws {
    let table = try CSVTable(Array("\u{FEFF}\u{FEFF}id\na\n".utf8))
    #expect(table.columnNames == ["id"])
  }

  @Test("A name that begins with U+FEFF is written so that it is not read as a byte order mark")
  func nameWithByteOrderMarkIsPreserved() throws {
    let table = try CSVTable(Array("\n\u{FEFF}id\na\n".utf8))
    #expect(table.columnNames == ["\u{FEFF}id"])
    #expect(try CSVTable(Array(table.csvText.utf8)).columnNames == table.columnNames)
  }

  @Test func writtenTablesReadBack() throws {
    for fields in [["a", "b"], ["", ""], ["\"", ","], ["1\n2", "\r"], ["x\r\ny", " é "]] {
      var table = CSVTable(columnNames: ["first", "second, quoted"])
      table.appendRow(fields)
      #expect(try CSVTable(Array(table.csvText.utf8)) == table)
    }
    var singleColumnTable = CSVTable(columnNames: ["only"])
    singleColumnTable.appendRow([""])
    #expect(singleColumnTable.csvText == "only\r\n\"\"\r\n")
    #expect(try CSVTable(Array(singleColumnTable.csvText.utf8)) == singleColumnTable)
  }
}
