import TestSupport
import Testing

/// The verbs that print: `format`, `info`, `patterns`, `profiles`.
@Suite struct TextVerbTests {
  let folder = WorkingFolder()

  private static let unformattedPattern =
    #"{"Pattern":[{"Event":{"EventType":"HapticTransient","Time":0.50,"EventParameters":[]}}],"Version":1}"#

  @Test func formattingTwiceChangesNothing() throws {
    try folder.write(Self.unformattedPattern, to: "a.ahap")
    let formatted = try folder.temblor("format", "a.ahap")
    #expect(formatted.status == 0 && formatted.error == "")
    #expect(formatted.output.hasPrefix("{\n  \"Version\": 1.0,\n"))
    #expect(try folder.temblor("format", "-", input: formatted.output) == formatted)
    #expect(folder.text("a.ahap") == Self.unformattedPattern)
  }

  @Test func fileIsRewrittenOnlyOnRequest() throws {
    try folder.write(Self.unformattedPattern, to: "a.ahap")
    #expect(
      try folder.temblor("format", "--check", "a.ahap")
        == .init(2, output: "a.ahap: not in canonical form\n"))
    #expect(folder.text("a.ahap") == Self.unformattedPattern)
    let canonical = try folder.temblor("format", "a.ahap").output
    #expect(
      try folder.temblor("format", "--in-place", "a.ahap")
        == .init(0, error: "a.ahap: rewritten\n"))
    #expect(folder.text("a.ahap") == canonical)
    #expect(try folder.temblor("format", "--check", "a.ahap") == .init(0))
  }

  @Test func aCanonicalFileIsNotTouched() throws {
    try folder.write(Self.unformattedPattern, to: "a.ahap")
    let run = try folder.bash(
      """
      $TEMBLOR format -i a.ahap
      touch -d 2020-01-01 a.ahap
      before=$(stat -c '%i %Y' a.ahap)
      $TEMBLOR format -i a.ahap
      test "$before" = "$(stat -c '%i %Y' a.ahap)"
      """)
    #expect(run == .init(0, error: "a.ahap: rewritten\n"))
  }

  @Test func invalidFileIsKeptAndOthersAreFormatted() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    try folder.write(Self.unformattedPattern, to: "b.ahap")
    #expect(
      try folder.temblor("format", "-i", "a.ahap", "b.ahap")
        == .init(
          2, error: "a.ahap:2:1: error: \(ExpectedMessage.unclosedObject)\nb.ahap: rewritten\n"))
    #expect(folder.text("a.ahap") == Patterns.brokenText)
    #expect(try folder.temblor("format", "--check", "b.ahap") == .init(0))
    #expect(folder.fileNames() == ["a.ahap", "b.ahap"])
  }

  @Test func infoReportsLimiting() throws {
    let limitedInfo = try folder.temblor("info", "earthquake-splash", "--profile", "dayton-bst-1")
      .output
    #expect(
      limitedInfo.contains(
        """
          level      peak 2.3 dBFS before the limiter, RMS -13.6 dBFS, limited to -1 dBFS for \
        0.601 s\n
        """
      ),
      "\(limitedInfo)")
    let unlimitedInfo = try folder.temblor("info", "light").output
    #expect(
      unlimitedInfo.contains(" dBFS, never limited\n") && !unlimitedInfo.contains("limiter"),
      "\(unlimitedInfo)")
  }

  @Test func shippedPatternsCannotBeRewritten() throws {
    #expect(
      try folder.temblor("format", "-i", "light")
        == .init(1, error: "light: cannot be rewritten because it is not a file\n"))
  }

  @Test func infoCountsInWords() throws {
    try folder.write(Patterns.tap(at: 0.25), to: "a.ahap")
    let run = try folder.temblor("info", "a.ahap")
    #expect(run.status == 0 && run.error == "")
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "a.ahap")
    #expect(lines[1] == "  length     0.265 s")
    #expect(lines[2] == "  contents   1 transient")
    #expect(lines[3].hasPrefix("  profile    phone: events at "))
    #expect(lines[4].hasPrefix("  level      peak -"))
    #expect(lines[5] == "  polyphony  1 voice at most")
    #expect(lines.count == 6)
  }

  @Test func infoReportsTheLocationOfAnError() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    #expect(
      try folder.temblor("info", "--json", "a.ahap")
        == .init(
          2, output: "{\n  \"formatVersion\": 1,\n  \"takes\": []\n}\n",
          error: "a.ahap:2:1: error: \(ExpectedMessage.unclosedObject)\n"))
  }

  @Test func shippedPatternIsPrintedUnchanged() throws {
    let heartbeat = try folder.temblor("patterns", "heartbeat")
    #expect(heartbeat.status == 0 && heartbeat.output.contains("\"Pattern\""))
    #expect(try folder.temblor("format", "--check", "-", input: heartbeat.output).status == 0)
    let list = try folder.temblor("patterns")
    #expect(list.output.split(separator: "\n").contains { $0.hasPrefix("heartbeat ") })
  }

  @Test func profilesAreListed() throws {
    let list = try folder.temblor("profiles")
    #expect(list.status == 0 && list.error == "")
    #expect(list.output.split(separator: "\n").contains { $0.hasPrefix("phone ") })
  }
}
