import HapticFormats
import VendorFormats
import Reading
import HapticModel
import TestSupport
import Testing

/// Files with warnings and notes: the complete lines that a user reads.
@Suite struct FindingTests {
  static let tapEntry = #"{"Event": {"Time": 0, "EventType": "HapticTransient"}}"#

  @Test func misspelledParametersAreCorrected() throws {
    let text = #"""
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [
       {"ParameterID": "HapticReleaseTime", "ParameterValue": 0.2}, {"ParameterID": "Q", "ParameterValue": 1}]}},
       {"ParameterCurve": {"ParameterID": "HapticIntensityControll", "Time": 0, "ParameterCurveControlPoints": []}}]}
      """#
    let corrected = try HapticFormat.ahap.correctedText(of: SourceFile(Array(text.utf8), name: "t"))
    #expect(
      corrected.map { String(decoding: $0, as: UTF8.self) }
        == text.replacing("HapticReleaseTime", with: "ReleaseTime").replacing(
          "Controll", with: "Control"))
  }

  func lines(_ text: String) throws -> [String] {
    let document = try AHAPDocument(text: Array(text.utf8), name: "t.ahap")
    let result = document.examine()
    #expect(result.pattern != nil)
    return result.allFindings.map { "\($0.rule.text) \($0)" }
  }

  private static let findings = TableRow.rows(
    #"""
    {"Pattern": []}
      missing-version t.ahap:1:1: warning: missing key "Version"; add "Version": 1.0
      no-events t.ahap:1:13: warning: the pattern has no events, so nothing plays (Pattern)
    \#u{FEFF}{"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}},]}
      byte-order-mark t.ahap:1:1: warning: the text starts with a byte-order mark; save it as UTF-8 without one
      trailing-comma t.ahap:1:82: warning: comma before a closing bracket (Pattern); remove it
    {"Version": 1, "Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}]}
      duplicate-key t.ahap:1:16: warning: duplicate key "Version"; the last value is used (Version)
    {"Version": 1, "Extra": 0, "Patern": 0, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}]}
      unknown-key t.ahap:1:16: note: unknown key "Extra" is ignored (Extra)
      unknown-key t.ahap:1:28: note: unknown key "Patern" is ignored (Patern); did you mean "Pattern"?
    {"Version": 1, "Metadata": "x", "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}]}
      wrong-type t.ahap:1:28: warning: Metadata should be an object, not a string; it is ignored (Metadata)
    {"Version": 1, "Pattern": [{"ParameterCurves": {}}, {}, {"Event": {"Time": 0, "EventType": "HapticTransient"}}]}
      unknown-entry t.ahap:1:29: warning: an entry with the key "ParameterCurves" is ignored (Pattern[0].ParameterCurves); did you mean "ParameterCurve"?
      unknown-entry t.ahap:1:53: warning: an empty entry is ignored (Pattern[1])
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}, "Parameter": {"ParameterID": "HapticSharpnessControl", "ParameterValue": -2, "Time": 0}}]}
      unknown-entry t.ahap:1:28: warning: an entry should contain one object, not 2; all of them are read (Pattern[0])
      out-of-range t.ahap:1:156: warning: HapticSharpnessControl is -2.0, outside -1.0 to 1.0; -1.0 is used (Pattern[0].Parameter.ParameterValue)
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}, "Nme": 1}]}
      unknown-key t.ahap:1:83: note: unknown key "Nme" is ignored (Pattern[0].Nme)
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticContinuous", "Duration": 1, "Name": null}}]}
      missing-duration t.ahap:1:38: warning: a continuous event should have the key "EventDuration" (Pattern[0].Event); rename "Duration" to "EventDuration"
      duration-key t.ahap:1:83: warning: the key "Duration" is ignored (Pattern[0].Event.Duration); did you mean "EventDuration"?
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 31, "EventParameters": [{"ParameterID": "AudioPan", "ParameterValue": 0}]}}]}
      pattern-length t.ahap:1:27: note: the pattern lasts 31.0 s; feedback typically lasts 0.2 to 0.5 s (Pattern)
      event-length t.ahap:1:100: warning: the event lasts 31.0 s; devices may cut it off at 30 s (Pattern[0].Event.EventDuration); split it into several events
      parameter-not-applicable t.ahap:1:140: warning: AudioPan has no effect on a HapticContinuous event (Pattern[0].Event.EventParameters[0].ParameterID)
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient", "EventWaveformPath": "a.wav", "EventParameters": [{"ParameterID": "AttackTime", "ParameterValue": 0.5},{"ParameterID": "HapticIntensity", "ParameterValue": 1.5}]}}]}
      parameter-not-applicable t.ahap:1:103: warning: EventWaveformPath has no effect on a HapticTransient event (Pattern[0].Event.EventWaveformPath)
      parameter-not-applicable t.ahap:1:148: warning: AttackTime has no effect on a HapticTransient event (Pattern[0].Event.EventParameters[0].ParameterID)
      out-of-range t.ahap:1:238: warning: HapticIntensity is 1.5, outside 0.0 to 1.0; 1.0 is used (Pattern[0].Event.EventParameters[1].ParameterValue)
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}, {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0, "ParameterCurveControlPoints": [{"Time": 1, "ParameterValue": 0},{"Time": 0, "ParameterValue": 1.25}]}}, {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0.5, "ParameterCurveControlPoints": []}}]}
      curve-order t.ahap:1:221: warning: control points out of order: 0.0 s after 1.0 s; they are sorted (Pattern[1].ParameterCurve.ParameterCurveControlPoints[1])
      out-of-range t.ahap:1:251: warning: HapticIntensityControl is 1.25, outside 0.0 to 1.0; 1.0 is used (Pattern[1].ParameterCurve.ParameterCurveControlPoints[1].ParameterValue)
      curve-overlap t.ahap:1:280: warning: overlaps another curve of HapticIntensityControl that ends at 1.0 s; this one takes precedence (Pattern[2].ParameterCurve)
      curve-point-count t.ahap:1:366: warning: the curve has no control points; it has no effect (Pattern[2].ParameterCurve.ParameterCurveControlPoints)
    {"Version": 1, "Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "HapticIntensty", "ParameterValue": 1}]}}⏎]}
      unknown-parameter t.ahap:3:21: warning: unknown event parameter "HapticIntensty" is ignored (Pattern[0].Event.EventParameters[0].ParameterID); did you mean "HapticIntensity"?
    {"Version": 1, "Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "HapticIntensityControl", "ParameterValue": 1}]}}⏎]}
      unknown-parameter t.ahap:3:21: warning: unknown event parameter "HapticIntensityControl" is ignored (Pattern[0].Event.EventParameters[0].ParameterID); did you mean "HapticIntensity"?
    {"Version": 1, "Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "Intensity", "ParameterValue": 1}]}}⏎]}
      unknown-parameter t.ahap:3:21: warning: unknown event parameter "Intensity" is ignored (Pattern[0].Event.EventParameters[0].ParameterID); did you mean "HapticIntensity"?
    {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}},⏎  {"Parameter": {"ParameterID": "HapticIntensity", "ParameterValue": 1, "Time": 0}}⏎]}
      unknown-parameter t.ahap:2:33: warning: unknown dynamic parameter "HapticIntensity" is ignored (Pattern[1].Parameter.ParameterID); did you mean "HapticIntensityControl"?
    """#)

  @Test(arguments: findings) func violationsAreReported(row: TableRow) throws {
    #expect(try lines(row.input) == row.expectedLines)
  }

  @Test func validFileHasNoFindings() throws {
    let text = """
      {"Version": 1.0, "Metadata": {"Project": "x", "Anything": [1]}, "Pattern": [\(Self.tapEntry),
        {"Event": {"Time": 0.1, "EventType": "HapticTransient", "Name": null}}]}
      """
    #expect(try lines(text) == [])
  }

  @Test func findingsBeyondAThousandAreCounted() throws {
    let entry =
      #"{"Parameter":{"ParameterID":"HapticIntensityControl","ParameterValue":2,"Time":0}}"#
    let entries = Array(repeating: entry, count: 1_200).joined(separator: ",\n")
    let findings = try lines("{\"Version\": 1, \"Pattern\": [\(Self.tapEntry),\n\(entries)]}")
    #expect(findings.count == 1_001)
    #expect(
      findings.last
        == """
        out-of-range t.ahap:1002:71: warning: 200 more out-of-range findings in this file \
        (Pattern[1001].Parameter.ParameterValue)
        """
    )
  }

  @Test func everyRuleIsExplainedInOneSentence() {
    let names = HapticFormat.ahap.rules.map(\.id.text)
    #expect(Set(names).count == names.count)
    for rule in HapticFormat.ahap.rules {
      #expect(rule.explanation.hasSuffix("."), "\(rule.id)")
      #expect(rule.explanation.first?.isUppercase == true, "\(rule.id)")
      #expect(rule.id.text.allSatisfy { $0.isLowercase || $0 == "-" }, "\(rule.id)")
    }
  }

  @Test func soundFilesAreReferenced() throws {
    let text = """
      {"Pattern": [
        {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a/b.wav"}},
        {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "../c.wav"}}]}
      """
    let document = try AHAPDocument(text: Array(text.utf8), name: "t.ahap")
    let waveforms = document.examine().soundReferences
    #expect(waveforms.map(\.path) == ["a/b.wav"])
    #expect(waveforms.map(\.location.description) == ["t.ahap:2:74"])
  }

  private func pattern(_ event: String, version: String = "1") -> String {
    #"{"Version": \#(version), "Pattern": [{"Event": {\#(event)}}]}"#
  }

  /// Editors write null for keys that do not apply.
  @Test func nullCountsAsAbsent() throws {
    let keys =
      #""EventWaveformPath": null, "EventWaveformUseVolumeEnvelope": null, "EventParameters": null"#
    #expect(
      try lines(
        pattern(#""Time": 0, "EventType": "HapticContinuous", "EventDuration": 1, \#(keys)"#)
      ).map {
        $0.prefix { $0 != " " }
      } == ["parameter-not-applicable", "parameter-not-applicable", "null-value"])
    #expect(
      try lines(pattern(#""Time": 0, "EventType": "HapticTransient", "EventDuration": null"#)) == [
        """
        null-value t.ahap:1:99: warning: EventDuration is null, which counts as absent \
        (Pattern[0].Event.EventDuration); omit the key
        """
      ])
    #expect(
      try lines(
        #"{"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}, "Parameter": null}]}"#
      ).map { $0.prefix { $0 != " " } } == ["null-value"])
  }

  @Test func repeatedParameterIsReported() throws {
    let repeatedParameters =
      #""EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 0.2}, {"ParameterID": "HapticIntensity", "ParameterValue": 0.4}]"#
    #expect(
      try lines(pattern(#""Time": 0, "EventType": "HapticTransient", \#(repeatedParameters)"#)) == [
        """
        duplicate-parameter t.ahap:1:177: warning: HapticIntensity appears twice; the last value \
        is used (Pattern[0].Event.EventParameters[1].ParameterID)
        """
      ])
  }

  @Test(arguments: ["-5", "3", "1e308", "0.0"]) func unexpectedVersionIsReported(version: String)
    throws
  {
    let findings = try lines(
      pattern(#""Time": 0, "EventType": "HapticTransient""#, version: version))
    #expect(findings.count == 1)
    #expect(findings.first?.hasPrefix("odd-version t.ahap:1:13: warning: Version is ") == true)
  }

  @Test func unitsAndWrappersAreSuggested() throws {
    let findingsForMilliseconds = try lines(
      pattern(#""Time": 600, "EventType": "HapticContinuous", "EventDuration": 500"#))
    #expect(
      findingsForMilliseconds.contains(
        """
        time-unit t.ahap:1:47: warning: Time is 600.0 s; times are in seconds \
        (Pattern[0].Event.Time); if milliseconds were intended, write 0.6
        """
      ))
    #expect(
      try lines(pattern(#""Time": 600.5, "EventType": "HapticTransient""#)).allSatisfy {
        !$0.hasPrefix("time-unit")
      })
    let findingsForPercent = try lines(
      pattern(
        #""Time": 0, "EventType": "HapticTransient", "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 80}]"#
      ))
    #expect(
      findingsForPercent.first?.hasSuffix("; the value is not a percentage; write 0.8") == true)
  }

  /// Entries without the object around their contents.
  private static let bareEntries = #"""
    {"Version": 1, "Pattern": [
      {"Time": 0, "EventType": "HapticContinuous", "Duration": 1},
      {"ParameterID": "HapticIntensityControl", "Time": 0, "ParameterValue": 0.5},
      {"ParameterID": "HapticIntensityControl", "Time": 0, "ParameterCurveControlPoints": []}
    ]}
    """#

  @Test func bareEntriesAreErrors() throws {
    let file = SourceFile(Array(Self.bareEntries.utf8), name: "t")
    let errors = HapticFormat.ahap.examine(file).findings.filter { $0.severity == .error }
    #expect(
      errors.map(\.description) == [
        #"""
        t:2:3: error: the contents of an entry must be in an object "Event" (Pattern[0]); \#
        write {"Event": {…}}, or run 'temblor check --fix'
        """#,
        #"""
        t:3:3: error: the contents of an entry must be in an object "Parameter" (Pattern[1]); \#
        write {"Parameter": {…}}, or run 'temblor check --fix'
        """#,
        #"""
        t:4:3: error: the contents of an entry must be in an object "ParameterCurve" (Pattern[2]); \#
        write {"ParameterCurve": {…}}, or run 'temblor check --fix'
        """#,
      ])
  }

  @Test func bareEntriesAreCorrected() throws {
    let file = SourceFile(Array(Self.bareEntries.utf8), name: "t")
    let corrected = try #require(try HapticFormat.ahap.correctedText(of: file))
    #expect(
      String(decoding: corrected, as: UTF8.self) == #"""
        {"Version": 1, "Pattern": [
          {"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 1}},
          {"Parameter": {"ParameterID": "HapticIntensityControl", "Time": 0, "ParameterValue": 0.5}},
          {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0, \#
        "ParameterCurveControlPoints": []}}
        ]}
        """#)
    let textCorrectedTwice = try HapticFormat.ahap.correctedText(
      of: SourceFile(corrected, name: "t"))
    #expect(textCorrectedTwice == corrected)
  }

  /// Returns the bytes of a text in an encoding with units of `size` bytes.
  private func encoded(_ text: String, size: Int, isBig: Bool, hasMark: Bool) -> [UInt8] {
    let markedText = (hasMark ? "\u{FEFF}" : "") + text
    let units =
      size == 2 ? markedText.utf16.map(UInt32.init) : markedText.unicodeScalars.map(\.value)
    return units.flatMap { unit -> [UInt8] in
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: unit >> (8 * UInt32($0))) }
      return isBig ? bytes.reversed() : bytes
    }
  }

  @Test(arguments: [
    (2, false, "UTF-16LE"), (2, true, "UTF-16BE"), (4, false, "UTF-32LE"), (4, true, "UTF-32BE"),
  ])
  func readsEveryEncodingOfJSON(size: Int, isBig: Bool, name: String) throws {
    let text = #"{"Version": 1, "Metadata": {"Project": "地震 😀"}, "Pattern": [\#(Self.tapEntry)]}"#
    for hasMark in [true, false] {
      let file = SourceFile(
        encoded(text, size: size, isBig: isBig, hasMark: hasMark), name: "t.ahap")
      let composition = try FormatRegistry.standard.read(file)
      #expect(composition.title == "地震 😀")
      let findings = HapticFormat.ahap.examine(file, options: ReadingOptions()).findings
      #expect(
        findings.map(\.description) == [
          """
          t.ahap:1:1: warning: the text is encoded as \(name); save it as UTF-8; other readers may \
          not support this encoding
          """
        ])
    }
    var truncatedText = encoded(text, size: size, isBig: isBig, hasMark: true)
    truncatedText.removeLast()
    #expect(throws: InputError.self) {
      try FormatRegistry.standard.read(SourceFile(truncatedText, name: "t"))
    }
  }
}
