import CommandLineKit
import ShippedFiles
import SystemSupport
import Testing

@testable import TemblorCommands

@Suite struct TableOutputTests {
  @Test(arguments: [["patterns"], ["info", "light"]]) func oneFormatIsPrinted(arguments: [String]) {
    let run = TemblorProgram.run(arguments + ["--json", "--csv"])
    #expect(run.status == .usageError)
    #expect(run.output == "")
    #expect(run.error.contains("'--json' and '--csv' cannot be used together"))
  }

  @Test func rowsShareAllColumns() throws {
    let recorded = RecordedTerminal()
    try recorded.terminal.output.writeCSV(rows: [
      ["name": "a, b", "level": -1.5, "counts": ["events": 2] as JSONObject, "times": [1.0]],
      ["name": "c", "loud": true],
    ])
    #expect(recorded.output == "name,level,events,loud\r\n\"a, b\",-1.5,2,\r\nc,,,true\r\n")
  }

  @Test func patternsAreATable() throws {
    let run = TemblorProgram.run("patterns", "--csv")
    #expect(run.status == .success)
    #expect(run.error == "")
    let table = try CSVTable(Array(run.output.utf8))
    #expect(table.columnNames == ["name", "duration", "description"])
    #expect(table.rows.map { $0.fields[0] } == ShippedPatterns.names)
    #expect(table.rows.allSatisfy { Double($0.fields[1]).map { $0 > 0 } == true })
  }

  @Test func measurementsAreATable() throws {
    let run = TemblorProgram.run("info", "light", "medium", "--profile", "phone", "--csv")
    #expect(run.status == .success)
    #expect(run.error == "")
    let table = try CSVTable(Array(run.output.utf8))
    #expect(
      table.columnNames.starts(with: [
        "pattern", "duration", "soundSeconds", "transients", "continuous",
      ]))
    #expect(table.rows.map { Array($0.fields[0..<1]) } == [["light"], ["medium"]])
    let transients = try #require(table.columnNames.firstIndex(of: "transients"))
    #expect(table.rows.map { $0.fields[transients] } == ["1", "1"])
  }
}
