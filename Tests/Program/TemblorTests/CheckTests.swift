import TestSupport
import Testing

@Suite struct CheckTests {
  let folder = WorkingFolder()

  private static let patternWithWarning = """
    {"Pattern": [
      {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": 0.75},
        {"ParameterID": "HapticSharpness", "ParameterValue": 0.5}]}}
    ]}

    """

  /// Findings that a shipped pattern suppresses are shown only on request.
  @Test func suppressedFindingsAreShownOnRequest() throws {
    #expect(try folder.temblor("check", "--strict", "earthquake-splash") == .init(0))
    let completeRun = try folder.temblor("check", "--strict", "--all", "earthquake-splash")
    #expect(completeRun.status == 0)
    #expect(
      completeRun.output.split(separator: "\n").count {
        $0.contains(" (allowed: The sharpness curve lifts")
      } == 2)
    let json = try folder.temblor("check", "--json", "earthquake-splash").output
    #expect(json.split(separator: "\"allowed\": true").count == 3)
    let report = try folder.temblor("check", "--sarif", "earthquake-splash").output
    #expect(report.split(separator: "\"kind\": \"inSource\"").count == 3)
  }

  @Test func convertedFilesHaveNoFindings() throws {
    #expect(try folder.temblor("convert", "light", "--format", "haptic", "-q") == .init(0))
    #expect(try folder.temblor("check", "light.haptic") == .init(0))
  }

  @Test func cleanPatternHasNoFindings() throws {
    try folder.write(Patterns.tap(), to: "a.ahap")
    #expect(try folder.temblor("check", "a.ahap") == .init(0))
    #expect(
      try folder.temblor("check", "--json", "a.ahap")
        == .init(0, output: "{\n  \"formatVersion\": 1,\n  \"findings\": []\n}\n"))
  }

  @Test func aWarningFailsOnlyWhenStrict() throws {
    try folder.write(Self.patternWithWarning, to: "a.ahap")
    let text = #"missing key "Version"; add "Version": 1.0 [missing-version]"#
    #expect(
      try folder.temblor("check", "a.ahap") == .init(0, output: "a.ahap:1:1: warning: \(text)\n"))
    #expect(
      try folder.temblor("check", "--strict", "a.ahap")
        == .init(2, output: "a.ahap:1:1: error: \(text)\n"))
    #expect(
      try folder.temblor("check", "--strict", "--disable", "missing-version", "a.ahap") == .init(0))
  }

  @Test func errorsExitWithTwoAndMissingFilesWithOne() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    let line = "a.ahap:2:1: error: \(ExpectedMessage.unclosedObject) [syntax]\n"
    #expect(try folder.temblor("check", "a.ahap") == .init(2, output: line))
    #expect(
      try folder.temblor("check", "b.ahap", "a.ahap")
        == .init(
          1, output: line, error: "b.ahap: \(ExpectedMessage.unknownPattern)\n"))
    #expect(
      try folder.temblor("check", "-", input: "{\n")
        == .init(
          2,
          output:
            """
            standard input:2:1: error: \(ExpectedMessage.unclosedObject) [syntax]

            """
        ))
  }

  @Test func errorsCannotBeDisabled() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    for rule in ["syntax", "wrong-type", "event-time", "frame-rate"] {
      let run = try folder.temblor("check", "--disable", rule, "a.ahap")
      #expect(run.status == 64 && run.output == "")
      #expect(
        run.error.hasPrefix(
          """
          temblor: '--disable' does not accept '\(rule)', because a pattern with this error \
          cannot play
          """
        ),
        "\(run.error)")
    }
  }

  @Test func patternThatIsTooLongHasItsOwnRule() throws {
    try folder.write(Patterns.tap(at: 90_000), to: "a.ahap")
    let run = try folder.temblor("check", "a.ahap")
    #expect(run.status == 2)
    #expect(run.output.contains(" [pattern-too-long]\n"), "\(run.output)")
  }

  @Test func hugeTimeIsOneError() throws {
    try folder.write(Patterns.tap(at: 1e308), to: "a.ahap")
    #expect(
      try folder.temblor("check", "a.ahap")
        == .init(
          2,
          output:
            """
            a.ahap:2:13: error: event 1 ends at 1e+308 s; patterns are limited to one day \
            (86400 s) (Pattern[0].Event) [pattern-too-long]\n
            """
        ))
  }

  @Test func jsonHasTheFieldsOfALine() throws {
    try folder.write(Self.patternWithWarning, to: "a.ahap")
    #expect(
      try folder.temblor("check", "--json", "a.ahap")
        == .init(
          0,
          output: """
            {
              "formatVersion": 1,
              "findings": [
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
            }

            """))
  }

  private static let excursionMessage =
    """
    the excursion of ring would reach 129 % of its limit at 0.65 s with the stated values, and \
    more within their uncertainty; gain is reduced by up to 8 dB
    """

  @Test func profileReportsExcessiveExcursion() throws {
    try folder.write(Patterns.humText, to: "hum.ahap")
    try folder.write(Patterns.ringProfile, to: "ring.json")
    let hint = "(Pattern[1].Event); reduce the intensity at this time [transducer-excursion]\n"
    #expect(try folder.temblor("check", "hum.ahap") == .init(0))
    #expect(
      try folder.temblor("check", "--profile", "ring.json", "hum.ahap")
        == .init(0, output: "hum.ahap:4:11: warning: \(Self.excursionMessage) \(hint)"))
    #expect(
      try folder.temblor("check", "--strict", "--no-notes", "--profile", "ring.json", "hum.ahap")
        == .init(2, output: "hum.ahap:4:11: error: \(Self.excursionMessage) \(hint)"))
    #expect(
      try folder.temblor(
        "check", "--disable", "transducer-excursion", "--profile", "ring.json", "hum.ahap")
        == .init(0))
    let json = try folder.temblor(
      "check", "--json", "--no-notes", "--profile", "ring.json", "hum.ahap")
    #expect(json.output.contains(#""rule": "transducer-excursion","#))
    #expect(try folder.temblor("check", "--profile", "phone", "hum.ahap") == .init(0))
  }

  @Test func patternCanSuppressTheExcursionWarning() throws {
    let reason = #""Metadata": {"AllowedRules": {"transducer-excursion": "once a day"}}, "Pattern""#
    try folder.write(Patterns.humText.replacing(#""Pattern""#, with: reason), to: "hum.ahap")
    try folder.write(Patterns.ringProfile, to: "ring.json")
    #expect(try folder.temblor("check", "hum.ahap") == .init(0))
    #expect(try folder.temblor("check", "--profile", "ring.json", "hum.ahap") == .init(0))
    #expect(
      try folder.temblor("check", "--all", "--profile", "ring.json", "hum.ahap")
        == .init(
          0,
          output:
            "hum.ahap:4:11: note: \(Self.excursionMessage) (allowed: once a day) (Pattern[1].Event) "
            + "[transducer-excursion]\n"))
  }

  @Test(
    arguments: [
      (
        0.5,
        """
        hum.ahap:4:11: warning: ring exceeds its thermal limit from 0.7 s; gain is reduced by up \
        to 9.4 dB (Pattern[1].Event); reduce the intensity or add pauses [transducer-power]

        """
      ),
      (
        5,
        """
        hum.ahap:1:29: note: in a loop, ring reaches its thermal limit after 6 min, and the gain \
        is reduced (Pattern) [transducer-power]

        """
      ),
    ] as [(Double, String)]) func profileReportsThermalLimits(
      power: Double, line: String
    ) throws
  {
    try folder.write(Patterns.humText, to: "hum.ahap")
    let ring = Patterns.ringProfile.replacing(
      #""continuousPower": 10"#, with: #""continuousPower": \#(power)"#
    ).replacing(
      "0.14", with: "60")
    try folder.write(ring, to: "ring.json")
    #expect(
      try folder.temblor("check", "--profile", "ring.json", "hum.ahap")
        == .init(0, output: line))
  }

  @Test func profileReportsTheOutputCeiling() throws {
    let event =
      #"{"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 0.5, "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 1}]}}"#
    let laterEvent = event.replacing(#""Time": 0"#, with: #""Time": 0.25"#)
    try folder.write(
      "{\"Version\": 1.0, \"Pattern\": [\n\([event, event, laterEvent].joined(separator: ",\n"))]}",
      to: "a.ahap")
    let run = try folder.temblor("check", "--profile", "phone", "a.ahap")
    #expect(
      run.output.hasSuffix(
        """
        a.ahap:4:11: note: the signal exceeds the output ceiling at 0.25 s; the limiter is active \
        for 0.5 s in total (Pattern[2].Event) [transducer-ceiling]

        """
      ))
  }

  @Test func rulesAreListed() throws {
    let run = try folder.temblor("check", "--list-rules")
    #expect(run.status == 0 && run.error == "")
    #expect(run.output.contains("\n  transient-gap (warning) "))
    let groups = run.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(
      groups == ["syntax", "grammar", "range", "compatibility", "design", "transducer", "playback"])
  }

  @Test func shippedPatternsAreClean() throws {
    let names = try folder.bash("$TEMBLOR patterns | cut -d' ' -f1").output
    let patterns = names.split(separator: "\n").map(String.init)
    #expect(patterns.count > 30)
    let run = try folder.temblor(["check", "--strict", "--no-notes"] + patterns)
    #expect(run == .init(0))
  }

  /// Returns a pattern of transients, a second apart, that break one rule each.
  private func harshPattern(_ count: Int) -> String {
    let parameters =
      #""EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 0.9}, {"ParameterID": "HapticSharpness", "ParameterValue": 1}]"#
    let events = (0..<count).map {
      #"{"Event": {"Time": \#($0), "EventType": "HapticTransient", \#(parameters)}}"#
    }
    return "{\"Version\": 1.0, \"Pattern\": [\n\(events.joined(separator: ",\n"))\n]}\n"
  }

  @Test func repeatedFindingsAreCombinedFromTheFourthOn() throws {
    try folder.write(harshPattern(20), to: "a.ahap")
    let run = try folder.temblor("check", "--only", "design", "--no-notes", "a.ahap")
    let message = "a transient of intensity 0.9 and sharpness 1.0 feels harsh"
    #expect(
      run
        == .init(
          0,
          output: """
            a.ahap:2:11: warning: \(message) (Pattern[0].Event) [harsh]
            a.ahap:3:11: warning: \(message) (Pattern[1].Event) [harsh]
            a.ahap:4:11: warning: \(message) (Pattern[2].Event) [harsh]
            a.ahap:5:11: warning: and 17 more, lines 5–21 [harsh]

            """))
    let completeRun = try folder.temblor(
      "check", "--only", "design", "--no-notes", "--all", "a.ahap")
    #expect(completeRun.output.split(separator: "\n").count == 20)
    let json = try folder.temblor("check", "--only", "design", "--no-notes", "--json", "a.ahap")
    #expect(json.output.split(separator: #""rule": "harsh""#).count == 21)
    #expect(try folder.temblor("check", "--disable", "design", "a.ahap") == .init(0))
    #expect(try folder.temblor("check", "--only", "hardware", "a.ahap") == .init(0))
    #expect(try folder.temblor("check", "--only", "taste", "a.ahap").status == 64)
    #expect(try folder.temblor("check", "--disable", "errors", "a.ahap").status == 64)
  }

  @Test func errorsAreReportedForEveryCategory() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    #expect(try folder.temblor("check", "--only", "hardware", "a.ahap").status == 2)
  }

  @Test func fixChangesOnlyWhatItCanCorrect() throws {
    let originalText = """
      { "Version" : 1.0,  "Pattern": [
        {"Event": {"Time": 0.10, "EventType": "HapticContinuous", "Duration": 1.50, "EventParamet\
      ers": [
          {"ParameterID": "HapticIntensity", "Value": 0.80}, {"ParameterID": "HapticSharpn\
      ess", "ParameterValue": 0.5},]}},
        {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time\
      ": 0, "ParameterCurveControlPoints": [
          {"Time": 0.5, "ParameterValue": 1}, {"Time": 0, "ParameterValue": 0.50} ]}},
        {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time":\
       0.5, "ParameterCurveControlPoints": [
          {"Time": 0.5, "ParameterValue": 1}, {"Time": 0.75, "ParameterValue": 0.2}]}},
      ] }

      """
    let fixedText = """
      { "Version" : 1.0,  "Pattern": [
        {"Event": {"Time": 0.10, "EventType": "HapticContinuous", "EventDuration": \
      1.50, "EventParameters": [
          {"ParameterID": "HapticIntensity", "ParameterValue": 0.80}, {"ParameterID": "HapticSharpn\
      ess", "ParameterValue": 0.5}]}},
        {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time\
      ": 0, "ParameterCurveControlPoints": [
          {"Time": 0, "ParameterValue": 0.50}, {"Time": 0.5, "ParameterValue": 1} ]}},
        {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time":\
       0.5, "ParameterCurveControlPoints": [
          {"Time": 0.0, "ParameterValue": 1}, {"Time": 0.25, "ParameterValue": 0.2}]}}
      ] }

      """
    try folder.write(originalText, to: "a.ahap")
    _ = try folder.bash("chmod 640 a.ahap")
    #expect(try folder.temblor("check", "--fix", "--only", "portability", "a.ahap") == .init(0))
    #expect(folder.text("a.ahap") == fixedText)
    #expect(folder.permissions("a.ahap") == 0o640)
    #expect(try folder.temblor("check", "--fix", "--only", "portability", "a.ahap") == .init(0))
    #expect(folder.text("a.ahap") == fixedText)
    #expect(
      try folder.temblor("check", "--fix", "light")
        == .init(1, error: "light: cannot be fixed because it is not a file\n"))
  }

  @Test func sarifReportHasEveryFinding() throws {
    try folder.write(harshPattern(5), to: "a b.ahap")
    let run = try folder.temblor("check", "--sarif", "--only", "design", "a b.ahap")
    #expect(run.status == 0)
    for line in [
      #"  "version": "2.1.0","#, #"          "name": "temblor","#,
      #"                  "uri": "a%20b.ahap""#,
      #"                  "startLine": 3,"#, #"          "ruleId": "harsh","#,
      #"          "level": "warning","#,
      #"                  "fullyQualifiedName": "Pattern[1].Event""#,
    ] {
      #expect(run.output.split(separator: "\n").contains { $0 == line }, "\(line)")
    }
    #expect(run.output.split(separator: #""ruleId": "harsh""#).count == 6)
    #expect(try folder.temblor("check", "--sarif", "--json", "light").status == 64)
  }

  @Test func missingSoundHasItsLocationItsOrderAndAHint() throws {
    let sound = Patterns.patternWithSound("AHAP/Drums.wav").replacing(
      "\n]}", with: ",\n{\"Time\": 0}]}")
    try folder.write(sound, to: "in/a.ahap")
    try folder.write(Patterns.patternWithSound("OK.wav"), to: "in/b.ahap")
    try folder.write(Patterns.patternWithSound("ok"), to: "in/c.ahap")
    try folder.write(Patterns.patternWithSound("gone.wav"), to: "in/d.ahap")
    #expect(
      try folder.bash(
        "mkdir other; $TEMBLOR render pulse -q -o in/ok.wav; cp in/ok.wav in/Drums.wav") == .init(0)
    )
    let missing = "was not found in the pattern's folder (Pattern[0].Event.EventWaveformPath)"
    let outputLines = try folder.temblor("check", "in/a.ahap").output.split(separator: "\n")
    #expect(
      outputLines.first
        == """
        in/a.ahap:2:74: error: the sound file 'AHAP/Drums.wav' \(missing); did you mean \
        'Drums.wav'? [sound-missing]
        """
    )
    #expect(outputLines.last?.hasPrefix("in/a.ahap:4:2: warning: ") == true)
    for (name, hint) in [
      ("b", "did you mean 'ok.wav'?"), ("c", "did you mean 'ok.wav'?"),
      ("d", "use '--sounds FOLDER' or '--without-sounds'"),
    ] {
      let run = try folder.temblor("render", "in/\(name).ahap", "-o", "x.wav")
      #expect(run.status == 2)
      #expect(run.error.hasSuffix("\(missing); \(hint)\n"), "\(run.error)")
    }
    #expect(try folder.bash("cp in/ok.wav other/gone.wav") == .init(0))
    for options in [["--sounds", "other"], ["--without-sounds"]] {
      for verb in [["render", "-o", "x.wav"], ["info"], ["plot"], ["check", "--no-notes"]] {
        let run = try folder.temblor(verb + ["in/d.ahap"] + options)
        #expect(run.status == 0, "\(verb) \(options): \(run.error)\(run.output)")
      }
    }
    #expect(try folder.temblor("info", "light", "--sounds", "none").status == 64)
  }

  @Test func manyVoicesAndDamagedSoundsAreReported() throws {
    let hum =
      #"{"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 1, "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": VALUE}]}}"#
    let events = (0..<300).map { hum.replacing("VALUE", with: "\(Double($0 + 1) / 400)") }
    try folder.write(
      "{\"Version\": 1.0, \"Pattern\": [\(events.joined(separator: ","))]}", to: "a.ahap")
    #expect(
      try folder.temblor("check", "--no-notes", "--disable", "sustained", "a.ahap").output.contains(
        """
        warning: up to 300 events overlap; rendering is slow, and devices play only a few events \
        at once (Pattern) [polyphony]

        """
      ))
    // RIFF WAVE of four 32-bit floats at 8 kHz, all of them NaN.
    var wave =
      Array("RIFF".utf8) + [52, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 3, 0, 1, 0]
    wave += [0x40, 0x1F, 0, 0, 0, 0x7D, 0, 0, 4, 0, 32, 0] + Array("data".utf8) + [16, 0, 0, 0]
    for _ in 0..<4 {
      wave += [0, 0, 0xC0, 0x7F]
    }
    try folder.write(wave, to: "nan.wav")
    try folder.write(Patterns.patternWithSound("nan.wav"), to: "b.ahap")
    let check = try folder.temblor("check", "--no-notes", "b.ahap").output
    #expect(
      check.contains(
        "warning: the sound file 'nan.wav' has no finite samples; it plays as silence"), "\(check)")
  }
}
