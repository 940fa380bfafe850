import Testing

@Suite struct CheckTests {
  let place = Workplace()

  private static let warned = """
    {"Pattern": [
      {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": []}}
    ]}

    """

  @Test func aCleanPatternIsPassedOver() throws {
    try place.write(Patterns.tap(), to: "a.ahap")
    #expect(try place.temblor("check", "a.ahap") == .init(0))
    #expect(try place.temblor("check", "--json", "a.ahap") == .init(0, output: "[]\n"))
  }

  @Test func aWarningFailsOnlyWhenStrict() throws {
    try place.write(Self.warned, to: "a.ahap")
    let text = #"the file does not say its version; add "Version": 1.0 [missing-version]"#
    #expect(
      try place.temblor("check", "a.ahap") == .init(0, output: "a.ahap:1:1: warning: \(text)\n"))
    #expect(
      try place.temblor("check", "--strict", "a.ahap")
        == .init(2, output: "a.ahap:1:1: error: \(text)\n"))
    #expect(
      try place.temblor("check", "--strict", "--disable", "missing-version", "a.ahap") == .init(0))
  }

  @Test func anErrorIsTwoAndAMissingFileOne() throws {
    try place.write(Patterns.broken, to: "a.ahap")
    let line = "a.ahap:2:1: error: the text ends inside the object that begins at 1:1 [syntax]\n"
    #expect(try place.temblor("check", "a.ahap") == .init(2, output: line))
    #expect(
      try place.temblor("check", "b.ahap", "a.ahap")
        == .init(
          1, output: line,
          error: "b.ahap: no such file, and no shipped pattern has this name\n"))
    #expect(
      try place.temblor("check", "-", input: "{\n")
        == .init(
          2,
          output:
            "standard input:2:1: error: the text ends inside the object that begins at 1:1 [syntax]\n"
        ))
  }

  @Test func jsonHasThePartsOfALine() throws {
    try place.write(Self.warned, to: "a.ahap")
    #expect(
      try place.temblor("check", "--json", "a.ahap")
        == .init(
          0,
          output: """
            [
              {
                "file": "a.ahap",
                "line": 1,
                "column": 1,
                "severity": "warning",
                "rule": "missing-version",
                "path": "",
                "message": "the file does not say its version",
                "suggestion": "add \\"Version\\": 1.0"
              }
            ]

            """))
  }

  @Test func rulesAreListed() throws {
    let run = try place.temblor("check", "--rules")
    #expect(run.status == 0 && run.error == "")
    #expect(run.output.contains("\n  tap-gap (warning) "))
  }

  @Test func shippedPatternsAreClean() throws {
    let names = try place.bash("$TEMBLOR patterns | cut -d' ' -f1").output
    let patterns = names.split(separator: "\n").map(String.init)
    #expect(patterns.count > 30)
    let run = try place.temblor(["check", "--strict", "--no-notes"] + patterns)
    #expect(run == .init(0))
  }
}
