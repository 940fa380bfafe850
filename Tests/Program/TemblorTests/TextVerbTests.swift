import TestSupport
import Testing

/// The verbs that print: `format`, `info`, `patterns`, `profiles`.
@Suite struct TextVerbTests {
  let place = Workplace()

  private static let untidy =
    #"{"Pattern":[{"Event":{"EventType":"HapticTransient","Time":0.50,"EventParameters":[]}}],"Version":1}"#

  @Test func formattingTwiceChangesNothing() throws {
    try place.write(Self.untidy, to: "a.ahap")
    let once = try place.temblor("format", "a.ahap")
    #expect(once.status == 0 && once.error == "")
    #expect(once.output.hasPrefix("{\n  \"Version\": 1.0,\n"))
    #expect(try place.temblor("format", "-", input: once.output) == once)
    #expect(place.text("a.ahap") == Self.untidy)
  }

  @Test func aFileIsRewrittenOnlyWhenAsked() throws {
    try place.write(Self.untidy, to: "a.ahap")
    #expect(
      try place.temblor("format", "--check", "a.ahap")
        == .init(2, output: "a.ahap: not in canonical form\n"))
    #expect(place.text("a.ahap") == Self.untidy)
    let canonical = try place.temblor("format", "a.ahap").output
    #expect(
      try place.temblor("format", "--in-place", "a.ahap")
        == .init(0, error: "a.ahap: rewritten\n"))
    #expect(place.text("a.ahap") == canonical)
    #expect(try place.temblor("format", "--check", "a.ahap") == .init(0))
  }

  @Test func aCanonicalFileIsNotTouched() throws {
    try place.write(Self.untidy, to: "a.ahap")
    let run = try place.bash(
      """
      $TEMBLOR format -i a.ahap
      touch -d 2020-01-01 a.ahap
      before=$(stat -c '%i %Y' a.ahap)
      $TEMBLOR format -i a.ahap
      test "$before" = "$(stat -c '%i %Y' a.ahap)"
      """)
    #expect(run == .init(0, error: "a.ahap: rewritten\n"))
  }

  @Test func aBrokenFileStaysAndOthersAreTidied() throws {
    try place.write(Patterns.broken, to: "a.ahap")
    try place.write(Self.untidy, to: "b.ahap")
    #expect(
      try place.temblor("format", "-i", "a.ahap", "b.ahap")
        == .init(
          2, error: "a.ahap:2:1: error: \(Sentence.unclosedObject)\nb.ahap: rewritten\n"))
    #expect(place.text("a.ahap") == Patterns.broken)
    #expect(try place.temblor("format", "--check", "b.ahap") == .init(0))
    #expect(place.names() == ["a.ahap", "b.ahap"])
  }

  @Test func infoSaysWhatTheLimiterDid() throws {
    let loud = try place.temblor("info", "earthquake-splash", "--profile", "dayton-bst-1").output
    #expect(
      loud.contains(
        """
          level      peak 2.3 dBFS before the limiter, RMS -13.6 dBFS, limited to -1 dBFS for \
        0.601 s\n
        """
      ),
      "\(loud)")
    let soft = try place.temblor("info", "light").output
    #expect(soft.contains(" dBFS, never limited\n") && !soft.contains("limiter"), "\(soft)")
  }

  @Test func shippedPatternsCannotBeRewritten() throws {
    #expect(
      try place.temblor("format", "-i", "light")
        == .init(1, error: "light: cannot be rewritten because it is not a file\n"))
  }

  @Test func infoCountsInWords() throws {
    try place.write(Patterns.tap(at: 0.25), to: "a.ahap")
    let run = try place.temblor("info", "a.ahap")
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

  @Test func infoOfABrokenFileTellsThePlace() throws {
    try place.write(Patterns.broken, to: "a.ahap")
    #expect(
      try place.temblor("info", "--json", "a.ahap")
        == .init(
          2, output: "{\n  \"formatVersion\": 1,\n  \"takes\": []\n}\n",
          error: "a.ahap:2:1: error: \(Sentence.unclosedObject)\n"))
  }

  @Test func aShippedPatternIsPrintedAsItIs() throws {
    let heartbeat = try place.temblor("patterns", "heartbeat")
    #expect(heartbeat.status == 0 && heartbeat.output.contains("\"Pattern\""))
    #expect(try place.temblor("format", "--check", "-", input: heartbeat.output).status == 0)
    let list = try place.temblor("patterns")
    #expect(list.output.split(separator: "\n").contains { $0.hasPrefix("heartbeat ") })
  }

  @Test func profilesAreListed() throws {
    let list = try place.temblor("profiles")
    #expect(list.status == 0 && list.error == "")
    #expect(list.output.split(separator: "\n").contains { $0.hasPrefix("phone ") })
  }
}
