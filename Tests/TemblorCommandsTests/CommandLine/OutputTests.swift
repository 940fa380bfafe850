@testable import CommandLineKit
import Testing

@testable import TemblorCommands

@Suite struct OutputTests {
  @Test func stylesTextOnlyWhereColourIsAllowed() {
    let styled = Output(isTerminal: true, isColoured: true) { _ throws(StreamError) in }
    let plain = Output(isTerminal: true, isColoured: false) { _ throws(StreamError) in }
    #expect(styled.styled("a", .bold) == "\u{1B}[1ma\u{1B}[0m")
    #expect(plain.styled("a", .bold) == "a")
  }

  @Test func emptyTextIsNotWritten() throws {
    let closed = RecordedTerminal(failure: 32).terminal.output
    try closed.write("")
    #expect(throws: StreamError(stream: "standard output", code: 32)) { try closed.line() }
  }
}

@Suite struct ProgressLineTests {
  @Test func rewritesOneLineNoOftenerThanTheInterval() {
    let recorded = RecordedTerminal(isTerminal: true)
    var progress = ProgressLine(on: recorded.terminal)
    progress.show("99 of 1000")
    recorded.advance(by: .milliseconds(99))
    progress.show("100 of 1000")
    recorded.advance(by: .milliseconds(1))
    progress.show("last")
    progress.clear()
    progress.clear()
    #expect(recorded.error == "\r99 of 1000\r\rlast      \r\r    \r")
    #expect(recorded.output == "")
  }

  @Test func cutsTheTextToTheLine() {
    let recorded = RecordedTerminal(isTerminal: true, width: 8)
    var progress = ProgressLine(on: recorded.terminal)
    progress.show("0123456789")
    #expect(recorded.error == "\r0123456\r")
  }

  @Test func isSilentAndMakesNoTextWithoutATerminal() {
    let recorded = RecordedTerminal(isTerminal: false)
    var progress = ProgressLine(on: recorded.terminal)
    var madeCount = 0
    func text() -> String {
      madeCount += 1
      return "x"
    }
    progress.show(text())
    progress.clear()
    #expect(recorded.error == "")
    #expect(madeCount == 0)
  }
}
