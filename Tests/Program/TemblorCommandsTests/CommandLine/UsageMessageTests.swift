import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct UsageMessageTests {
  /// Command lines with their messages, and the verbs whose help the messages refer to.
  static let invalidLines: [(line: [String], message: String, verb: String?)] = [
    (["pant"], "unknown command 'pant'; did you mean 'paint'?", nil),
    (["apint"], "unknown command 'apint'; did you mean 'paint'?", nil),
    (["COMPARE"], "unknown command 'COMPARE'; did you mean 'compare'?", nil),
    (["comp"], "unknown command 'comp'; did you mean 'compare'?", nil),
    (["fly"], "unknown command 'fly'", nil),
    ([""], "unknown command ''", nil), (["a\u{1B}[2J\n"], "unknown command 'a\\u{1B}[2J\\n'", nil),
    (["--versoin"], "unknown option '--versoin'; did you mean '--version'?", nil),
    (["--size=3", "paint"], "'--size' must follow a command", nil),
    (["--"], "unknown option '--'", nil),
    (["help", "pant"], "unknown command 'pant'; did you mean 'paint'?", nil),
    (["paint"], "missing DRAWING", "paint"),
    (["compare", "a"], "missing SECOND", "compare"),
    (["compare", "a", "b", "c", "d e"], "unexpected argument 'd e'", "compare"),
    (
      ["paint", "d", "--ouput", "f"], "unknown option '--ouput'; did you mean '--output'?", "paint"
    ),
    (["paint", "d", "--lay=f"], "unknown option '--lay'; did you mean '--layer'?", "paint"),
    (["paint", "d", "--x=1"], "unknown option '--x'", "paint"),
    (["paint", "d", "--=1"], "unknown option '--'", "paint"),
    (["paint", "d", "-x"], "unknown option '-x'", "paint"),
    (["paint", "d", "-vx"], "unknown option '-x'", "paint"),
    (
      ["paint", "d", "-output", "f"], "unknown option '-output'; did you mean '--output'?", "paint"
    ),
    (["paint", "d", "-size=3"], "unknown option '-size'; did you mean '--size'?", "paint"),
    (["paint", "d", "--output"], "missing FILE after '--output'", "paint"),
    (["paint", "d", "-vo"], "missing FILE after '-o'", "paint"),
    (["paint", "-o", "--", "d"], "missing FILE after '-o'", "paint"),
    (
      ["paint", "d", "--output", "-v"],
      "missing FILE after '--output'; to pass '-v' as a value, write '--output=-v'",
      "paint"
    ),
    (
      ["paint", "d", "-o", "--quiet"],
      "missing FILE after '-o'; to pass '--quiet' as a value, write '-o--quiet'", "paint"
    ),
    (["paint", "d", "--quiet=no"], "'--quiet' does not accept a value (found 'no')", "paint"),
    (["paint", "d", "-q=no"], "'-q' does not accept a value (found 'no')", "paint"),
    (["paint", "d", "-o", "a", "--output=b"], "'--output' can be used only once", "paint"),
    (
      ["paint", "d", "--tone", "brigth"],
      "invalid value 'brigth' for '--tone': expected dark or bright; did you mean 'bright'?",
      "paint"
    ),
    (["paint", "d", "--tone="], "invalid value '' for '--tone': expected dark or bright", "paint"),
    (
      ["completion", "csh"],
      "invalid value 'csh' for 'SHELL': expected bash, zsh, or fish; did you mean 'zsh'?",
      "completion"
    ),
    (
      ["paint", "d", "--size", "big"],
      "invalid value 'big' for '--size': expected a whole number from 1 to 4096",
      "paint"
    ),
  ]

  @Test(arguments: invalidLines) func invalidLinesAreRefusedWithAMessage(
    _ refusal: (line: [String], message: String, verb: String?)
  ) {
    let recorded = RecordedTerminal()
    let status = SampleProgram.program.run(refusal.line, on: recorded.terminal)
    let verb = refusal.verb.map { " " + $0 } ?? ""
    #expect(status == .usageError)
    #expect(recorded.output == "")
    #expect(recorded.error == "sketch: \(refusal.message)\nSee 'sketch\(verb) --help'.\n")
  }

  @Test func longWordsAreTruncated() {
    let recorded = RecordedTerminal()
    let word = String(repeating: "x", count: 1_000_000)
    #expect(SampleProgram.program.run([word], on: recorded.terminal) == .usageError)
    #expect(
      recorded.error == """
        sketch: unknown command '\(word.prefix(80))…'
        See 'sketch --help'.

        """)
  }
}
