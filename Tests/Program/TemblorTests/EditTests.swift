import Testing

/// `temblor edit`: one value changes, and the rest of the file stays.
@Suite struct EditTests {
  let folder = WorkingFolder()

  private static let userPattern = """
    {
      "Version": 1,
      "Pattern": [
        { "Event": { "Time": 0.50, "EventType": "HapticTransient", "Author's": "key",
            "EventParameters": [ { "ParameterID": "HapticIntensity", "ParameterValue": 0.5 } ] } },
        { "ParameterCurve": { "ParameterID": "HapticIntensityControl", "Time":\
     0, "ParameterCurveControlPoints": [
            { "Time": 0, "ParameterValue": 1 }, { "Time": 1, "ParameterValue": 0 } ] } }
      ]
    }
    """

  @Test func valueIsSetInPlaceAndNothingElseChanges() throws {
    try folder.write(Self.userPattern, to: "a.ahap")
    let run = try folder.temblor(
      "edit", "a.ahap", "set", "events[0].intensity", "0.6", "set", "events[0].time", "1.25")
    // The curve is 0 at the new time.
    #expect(
      run
        == .init(
          0,
          error: """
            a.ahap:3:14: warning: no haptics and no sound: all events have level 0 under their \
            controls (Pattern)

            """))
    #expect(
      folder.text("a.ahap")
        == Self.userPattern.replacing("0.50", with: "1.25").replacing("0.5 }", with: "0.6 }"))
    #expect(
      try folder.temblor("edit", "a.ahap", "set", "events[0].time", "0.5", "-o", "b.ahap")
        == .init(0, error: "b.ahap: 1 change, 1 line replaced by 1\n"))
    #expect(
      (folder.text("a.ahap") ?? "").contains("1.25")
        && (folder.text("b.ahap") ?? "").contains("\"Time\": 0.5,"))
    let piped = try folder.temblor("edit", "-", "remove", "curves[0]", input: Self.userPattern)
    #expect(piped.status == 0 && piped.error == "" && !piped.output.contains("ParameterCurve"))
  }

  @Test func partsAreListedWithTheirPaths() throws {
    try folder.write(Self.userPattern, to: "a.ahap")
    #expect(
      try folder.temblor("edit", "a.ahap").output == """
        events[0]            0.5 s  transient               intensity 0.5
        curves[0]            0 s    HapticIntensityControl  \("")
        curves[0].points[0]  0 s                            1
        curves[0].points[1]  1 s                            0

        """)
    let json = try folder.temblor("edit", "a.ahap", "--json").output
    #expect(json.hasPrefix("{\n  \"formatVersion\": 1,\n  \"file\": \"a.ahap\",\n  \"parts\": [\n"))
    #expect(
      json.contains(
        "\"path\": \"curves[0].points[1]\",\n      \"time\": 1.0,\n      \"value\": 0.0"))
  }

  @Test func dryRunPrintsAPatch() throws {
    try folder.write(Self.userPattern, to: "a.ahap")
    let arguments = [
      "edit", "a.ahap", "set", "curves[0].points[1].time", "2", "duplicate", "events[0]",
    ]
    let dryRun = try folder.temblor(arguments + ["--dry-run"])
    #expect(dryRun.status == 0 && folder.text("a.ahap") == Self.userPattern)
    #expect(
      dryRun.error == """
        a.ahap:6:16: warning: duplicate of event 1 at 0.5 s; both play (Pattern[1].Event)
        a.ahap:6:16: warning: the transient is 0.0 ms after the previous one; at least 50 ms are \
        needed to perceive two taps (Pattern[1].Event)

        """)
    #expect(dryRun.output.hasPrefix("--- a.ahap\n+++ a.ahap\n@@ -"))
    #expect(
      dryRun.output.contains("\n-        { \"Time\": 0, \"ParameterValue\": 1 }, { \"Time\": 1, "))
    let points =
      """
              { \"Time\": 0, \"ParameterValue\": 1 }, { \"Time\": 1, \"ParameterValue\": 0 } ] \
      } }\n
      """
    #expect(
      dryRun.output.hasSuffix("@@ -7 +9 @@\n-\(points)+\(points.replacing("1, ", with: "2, "))"),
      "\(dryRun.output)")
    let lastLineRun = try folder.temblor(
      "edit", "-", "set", "events[0].time", "1", "--dry-run",
      input: "\(Self.userPattern.filter { $0 != "\n" })")
    #expect(
      lastLineRun.output.split(separator: "\n").count { $0 == "\\ No newline at end of file" } == 2)
    let json = try folder.temblor(arguments + ["--dry-run", "--json"]).output
    #expect(
      json.contains("\"changes\": 2,\n  \"removedLines\": 1,\n  \"addedLines\": 3\n"), "\(json)")
  }

  @Test(
    "A change of a part or field that another change removes is an error",
    arguments: [
      ("remove events[0] set events[0].time 1", "remove events[0]", "set events[0].time"),
      ("set events[0].time 1 remove events[0]", "set events[0].time", "remove events[0]"),
      (
        "remove events[0].intensity set events[0].intensity 0.3", "remove events[0].intensity",
        "set events[0].intensity"
      ),
      (
        "remove curves[0] set curves[00].points[1].time 2", "remove curves[0]",
        "set curves[00].points[1].time"
      ),
      (
        "duplicate events[0] remove curves[0].points[1] set curves[0].points[1].value 0",
        "remove curves[0].points[1]", "set curves[0].points[1].value"
      ),
      ("add-point curves[0] 0.5 1 remove curves[0]", "add-point curves[0]", "remove curves[0]"),
      (
        "remove curves[0] duplicate curves[0].points[0]", "remove curves[0]",
        "duplicate curves[0].points[0]"
      ),
    ])
  func conflictingChangesAreRefused(changes: String, first: String, second: String) throws {
    try folder.write(Self.userPattern, to: "a.ahap")
    #expect(
      try folder.temblor(["edit", "a.ahap"] + changes.split(separator: " ").map(String.init))
        == .init(
          64,
          error: """
            temblor: '\(first)' and '\(second)' cannot be used together; omit one of the changes
            See 'temblor edit --help'.

            """))
    #expect(folder.text("a.ahap") == Self.userPattern)
  }

  @Test("A removed part can be replaced, and its fields can be removed too")
  func changesOfRemovedPartsThatHaveAnEffect() throws {
    try folder.write(Self.userPattern, to: "a.ahap")
    let newEntry = #"{"Event":{"Time":3,"EventType":"HapticTransient"}}"#
    let replacement = try folder.temblor(
      "edit", "a.ahap", "remove", "events[0]", "add", newEntry, "after", "events[0]", "remove",
      "curves[0]", "-o", "b.ahap")
    #expect(replacement.status == 0, "\(replacement.error)")
    let replacedText = try #require(folder.text("b.ahap"))
    #expect(replacedText.contains("\"Time\": 3") && !replacedText.contains("0.50"))
    let removal = try folder.temblor(
      "edit", "a.ahap", "remove", "events[0]", "remove", "events[0].intensity", "-o", "c.ahap")
    #expect(removal.status == 0, "\(removal.error)")
    #expect(try #require(folder.text("c.ahap")).contains("HapticTransient") == false)
  }

  @Test func errorsAreReportedAndNothingIsWritten() throws {
    try folder.write(Self.userPattern, to: "a.ahap")
    for (changes, status, error) in [
      (
        ["set", "events[9].time", "1"], 2,
        "a.ahap: error: the pattern has 1 event (events[0]) (events[9].time)\n"
      ),
      (
        ["set", "events[0].time", "-1"], 2,
        "a.ahap: error: Time is -1.0; it must not be negative (events[0].time)\n"
      ),
      (
        ["set", "events[0].time"], 64,
        "temblor: missing VALUE after 'set'\nSee 'temblor edit --help'.\n"
      ),
      (
        ["sett", "events[0].time", "1"], 64,
        "temblor: unknown change 'sett'; did you mean 'set'?\nSee 'temblor edit --help'.\n"
      ),
      (
        ["add-point", "curves[0]", "x", "1"], 64,
        """
        temblor: invalid value 'x' for 'add-point': expected a number as TIME\nSee 'temblor edit \
        --help'.\n
        """
      ),
      (
        ["delete", "events[0]"], 64,
        "temblor: unknown change 'delete'; use 'remove'\nSee 'temblor edit --help'.\n"
      ),
      (
        ["events[0].time=0.5"], 64,
        """
        temblor: unknown change 'events[0].time=0.5'; use "set 'events[0].time' 0.5"
        See 'temblor edit --help'.

        """
      ),
      (["--dry-run"], 64, "temblor: missing CHANGE\nSee 'temblor edit --help'.\n"),
    ] as [([String], Int32, String)] {
      #expect(
        try folder.temblor(["edit", "a.ahap"] + changes) == .init(status, error: error),
        "\(changes)")
    }
    #expect(folder.text("a.ahap") == Self.userPattern)
    #expect(
      try folder.temblor("edit", "light", "remove", "events[0]")
        == .init(
          1,
          error:
            "light: cannot be changed because it is not a file; specify a file with '--output'\n")
    )
    #expect(
      try folder.temblor("edit", "light", "set", "events[0].time", "1", "-o", "light.ahap")
        == .init(0, error: "light.ahap: 1 change, 1 line replaced by 1\n"))
    #expect(try folder.temblor("convert", "light", "--format", "haptic").status == 0)
    #expect(
      try folder.temblor("edit", "light.haptic")
        == .init(
          1,
          error:
            """
            light.haptic: the format 'haptic' cannot be edited; convert the file with 'temblor \
            convert --format ahap' first

            """
        ))
  }
}
