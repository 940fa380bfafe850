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
    let text = #"missing key "Version"; add "Version": 1.0 [missing-version]"#
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

  @Test func errorsCannotBeDisabled() throws {
    try place.write(Patterns.broken, to: "a.ahap")
    for rule in ["syntax", "wrong-type", "event-time", "frame-rate"] {
      let run = try place.temblor("check", "--disable", rule, "a.ahap")
      #expect(run.status == 64 && run.output == "")
      #expect(
        run.error.hasPrefix(
          "temblor: '--disable' does not take '\(rule)'; it is an error, and a pattern with an error cannot be played"
        ), "\(run.error)")
    }
  }

  @Test func aPatternThatIsTooLongBreaksItsOwnRule() throws {
    try place.write(Patterns.tap(at: 90_000), to: "a.ahap")
    let run = try place.temblor("check", "a.ahap")
    #expect(run.status == 2)
    #expect(run.output.hasSuffix("[pattern-too-long]\n"), "\(run.output)")
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
                "message": "missing key \\"Version\\"",
                "suggestion": "add \\"Version\\": 1.0"
              }
            ]

            """))
  }

  private static let moved =
    "hum.ahap:2:11: note: 25–42.4 Hz is outside the band of ring and is mapped to 25–39 Hz (Pattern[0].Event) "
    + "[transducer-band]\n"
  private static let tooFar =
    "excursion of ring reaches 129 % of its limit at 0.65 s; gain is reduced by up to 13.9 dB"

  @Test func aProfileTellsWhatItsHardwareWouldBeKeptFrom() throws {
    try place.write(Patterns.hum, to: "hum.ahap")
    try place.write(Patterns.ring, to: "ring.json")
    let hint = "(Pattern[1].Event); lower the intensity there [transducer-excursion]\n"
    #expect(try place.temblor("check", "hum.ahap") == .init(0))
    #expect(
      try place.temblor("check", "--profile", "ring.json", "hum.ahap")
        == .init(0, output: Self.moved + "hum.ahap:3:11: warning: \(Self.tooFar) \(hint)"))
    #expect(
      try place.temblor("check", "--strict", "--no-notes", "--profile", "ring.json", "hum.ahap")
        == .init(2, output: "hum.ahap:3:11: error: \(Self.tooFar) \(hint)"))
    #expect(
      try place.temblor(
        "check", "--disable", "transducer-excursion", "--profile", "ring.json", "hum.ahap")
        == .init(0, output: Self.moved))
    let json = try place.temblor(
      "check", "--json", "--no-notes", "--profile", "ring.json", "hum.ahap")
    #expect(json.output.contains(#""rule": "transducer-excursion","#))
    #expect(try place.temblor("check", "--profile", "phone", "hum.ahap") == .init(0))
  }

  @Test func aPatternMayAllowItselfWhatHardwareIsKeptFrom() throws {
    let reason = #""Metadata": {"AllowedRules": {"transducer-excursion": "once a day"}}, "Pattern""#
    try place.write(Patterns.hum.replacing(#""Pattern""#, with: reason), to: "hum.ahap")
    try place.write(Patterns.ring, to: "ring.json")
    #expect(try place.temblor("check", "hum.ahap") == .init(0))
    #expect(
      try place.temblor("check", "--profile", "ring.json", "hum.ahap")
        == .init(
          0,
          output: Self.moved
            + "hum.ahap:3:11: note: \(Self.tooFar) (allowed: once a day) (Pattern[1].Event) "
            + "[transducer-excursion]\n"))
  }

  @Test(
    arguments: [
      (
        0.5,
        "hum.ahap:3:11: warning: ring exceeds its thermal limit from 0.74 s; gain is reduced by up to 9 dB (Pattern[1].Event); lower the intensity or add pauses [transducer-power]\n"
      ),
      (
        5,
        "hum.ahap:1:29: note: when looped, ring reaches its thermal limit after 9 min and gain is reduced (Pattern) [transducer-power]\n"
      ),
    ] as [(Double, String)])
  func aProfileTellsWhatItsHardwareWouldWarmTo(power: Double, line: String) throws {
    try place.write(Patterns.hum, to: "hum.ahap")
    let ring = Patterns.ring.replacing(
      #""continuousPower": 10"#, with: #""continuousPower": \#(power)"#
    )
    .replacing("0.14", with: "60")
    try place.write(ring, to: "ring.json")
    #expect(
      try place.temblor("check", "--profile", "ring.json", "hum.ahap")
        == .init(
          0, output: line.hasPrefix("hum.ahap:1:") ? line + Self.moved : Self.moved + line))
  }

  @Test func aProfileTellsWhereItsCeilingIsReached() throws {
    let event =
      #"{"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 0.5, "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 1}]}}"#
    let late = event.replacing(#""Time": 0"#, with: #""Time": 0.25"#)
    try place.write(
      "{\"Version\": 1.0, \"Pattern\": [\n\([event, event, late].joined(separator: ",\n"))]}",
      to: "a.ahap")
    let run = try place.temblor("check", "--profile", "phone", "a.ahap")
    #expect(
      run.output.hasSuffix(
        "a.ahap:4:11: note: the signal exceeds the output ceiling at 0.25 s; the limiter acts for 0.5 s in total (Pattern[2].Event) [transducer-ceiling]\n"
      ))
  }

  @Test func rulesAreListed() throws {
    let run = try place.temblor("check", "--list-rules")
    #expect(run.status == 0 && run.error == "")
    #expect(run.output.contains("\n  transient-gap (warning) "))
    let groups = run.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(
      groups == [
        "syntax", "grammar", "range", "compatibility", "design", "transducer", "playback",
      ])
  }

  @Test func shippedPatternsAreClean() throws {
    let names = try place.bash("$TEMBLOR patterns | cut -d' ' -f1").output
    let patterns = names.split(separator: "\n").map(String.init)
    #expect(patterns.count > 30)
    let run = try place.temblor(["check", "--strict", "--no-notes"] + patterns)
    #expect(run == .init(0))
  }
}
