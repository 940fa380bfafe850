import SystemSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct OutputTests {
  @Test func stylesTextOnlyIfColorIsAllowed() {
    let styled = Output(isTerminal: true, allowsColor: true) { _ throws(StreamError) in }
    let uncolored = Output(isTerminal: true, allowsColor: false) { _ throws(StreamError) in }
    #expect(styled.styled("a", .bold) == "\u{1B}[1ma\u{1B}[0m")
    #expect(uncolored.styled("a", .bold) == "a")
  }

  /// Continued lines are indented to the last column of words, or by two columns. Color codes have
  /// no width.
  @Test(arguments: [
    ("one two three four five\n", "one two three four\n  five\n"),
    ("  light  one two three\n", "  light  one two\n         three\n"),
    ("a long name  b  one two\n", "a long name  b  one\n             two\n"),
    ("far beyond the  middle one\n", "far beyond the\n  middle one\n"),
    ("\u{1B}[1m12345\u{1B}[0m 12345 12345678\n", "\u{1B}[1m12345\u{1B}[0m 12345 12345678\n"),
    ("/a/path/wider/than/the/line x\n", "/a/path/wider/than/the/line\n  x\n"),
    ("a  b \n\n", "a  b \n\n"),
  ]) func linesWrapBetweenWords(text: String, expected: String) throws {
    let narrow = RecordedTerminal(isTerminal: true, width: 20)
    try narrow.terminal.output.write(text)
    #expect(narrow.output == expected)
    let unwrapped = RecordedTerminal(isTerminal: true, width: 20)
    try unwrapped.terminal.output.write(text, wraps: false)
    #expect(unwrapped.output == text)
    let redirected = RecordedTerminal(width: 20)
    try redirected.terminal.output.write(text)
    #expect(redirected.output == text)
  }

  @Test func programSymbolsHaveASCIIEquivalents() {
    #expect(
      "20–80 Hz, −3 dB, 5 → 6 ± 1, × 2, 8 Ω, 3 µs …".asASCII
        == "20-80 Hz, -3 dB, 5 -> 6 +/- 1, x 2, 8 ohm, 3 us ...")
    #expect("█▇▄▃▁▌▏·".asASCII == "###::#:.")
    #expect("höre 地震".asASCII == "höre 地震")
  }

  @Test func emptyTextIsNotWritten() throws {
    let closed = RecordedTerminal(failure: 32).terminal.output
    try closed.write("")
    #expect(throws: StreamError(streamName: "standard output", errorNumber: 32)) {
      try closed.writeLine()
    }
  }
}

@Suite struct ProgressLineTests {
  @Test func rewritesTheLineAtMostOncePerInterval() {
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

  @Test func withoutATerminalNoTextIsMade() {
    let recorded = RecordedTerminal(isTerminal: false)
    var progress = ProgressLine(on: recorded.terminal)
    var textCount = 0
    func text() -> String {
      textCount += 1
      return "x"
    }
    progress.show(text())
    progress.clear()
    #expect(recorded.error == "")
    #expect(textCount == 0)
  }
}
