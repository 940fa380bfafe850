import Reading
import Testing

private let warningRule = Rule.warning("loud", "design", "Be quiet.")
private let noteRule = Rule.note("quiet", "design", "Be heard.")
private let errorRule = Rule.error("broken", "grammar", "Be whole.")

@Suite struct FileLocationTests {
  @Test func locationHasCompilerNotation() {
    let locations = [
      FileLocation(name: "a"), FileLocation(name: "a", line: 3, column: 14),
      FileLocation(name: "a", position: .byte(87, bit: nil)),
      FileLocation(name: "a", position: .byte(87, bit: 3)),
    ]
    #expect(locations.map(\.description) == ["a", "a:3:14", "a@87", "a@87.3"])
  }

  @Test func positionsOfAFileAreOrdered() {
    let positions: [FileLocation.Position] = [
      .wholeFile, .text(line: 1, column: 9), .text(line: 2, column: 1), .text(line: 2, column: 3),
    ]
    #expect(positions.reversed().sorted() == positions)
    let bytePositions: [FileLocation.Position] = [
      .wholeFile, .byte(4, bit: nil), .byte(4, bit: 0), .byte(5, bit: 0),
    ]
    #expect(bytePositions.reversed().sorted() == bytePositions)
  }
}

@Suite struct FindingTests {
  let location = FileLocation(name: "a", line: 1, column: 2, path: "b[0]")

  @Test func findingIsOneLine() {
    #expect(
      Finding(warningRule, location: location, "too loud", suggestion: "turn it down").description
        == "a:1:2: warning: too loud (b[0]); turn it down")
    #expect(
      InputError(Finding(errorRule, location: FileLocation(name: "a"), "no end")).description
        == "a: error: no end")
  }

  @Test func filterRemovesAndSuppressesFindings() {
    let findings = [
      Finding(warningRule, location: location, "too loud", suggestion: "turn it down"),
      Finding(noteRule, location: location, "too quiet"),
    ]
    #expect(FindingFilter().filteredFindings(findings) == findings)
    #expect(FindingFilter(disabledRules: ["loud"]).filteredFindings(findings) == [findings[1]])
    #expect(FindingFilter(hidesNotes: true).filteredFindings(findings) == [findings[0]])
    let suppressed = FindingFilter(suppressionReasonsByRule: ["loud": "a drum"]).filteredFindings(
      findings)
    #expect(
      suppressed.map(\.description) == [
        "a:1:2: note: too loud (allowed: a drum) (b[0])", "a:1:2: note: too quiet (b[0])",
      ])
  }

  @Test func errorsPassEveryFilter() {
    let findings = [
      Finding(errorRule, location: location, "no end"),
      Finding(warningRule, severity: .error, location: location, "far too loud"),
    ]
    let filter = FindingFilter(
      disabledRules: ["broken", "loud"], suppressionReasonsByRule: ["broken": "x", "loud": "x"],
      hidesNotes: true)
    #expect(filter.filteredFindings(findings) == findings)
  }
}

@Suite struct FindingLogTests {
  func location(_ value: Int, _ offset: Int) -> FileLocation {
    FileLocation(name: "a", position: .byte(offset, bit: nil), path: "\(value)")
  }

  @Test func findingsAreSortedByOffset() {
    var log = FindingLog()
    log.add(warningRule, valueIndex: 1, offset: 20, "second")
    log.add(noteRule, valueIndex: 2, offset: 10, "third")
    log.add(errorRule, valueIndex: 3, offset: 10, "first")
    #expect(log.findings(location: location).map(\.message) == ["first", "third", "second"])
    #expect(log.errorCount == 1)
  }

  @Test func findingsBeyondTheMaximumAreCounted() {
    var log = FindingLog(maximumCountPerRule: 2)
    var textCount = 0
    func text() -> String {
      textCount += 1
      return "again"
    }
    for offset in 0..<100_000 {
      log.add(errorRule, valueIndex: offset, offset: offset, text())
    }
    let findings = log.findings(location: location)
    #expect(
      findings.map(\.description) == [
        "a@0: error: again (0)", "a@1: error: again (1)",
        "a@2: error: 99998 more broken findings in this file (2)",
      ])
    #expect(log.errorCount == 100_000 && textCount == 2)
  }
}
