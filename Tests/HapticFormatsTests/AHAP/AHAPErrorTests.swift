import HapticFormats
import VendorFormats
import Reading
import Testing

/// What is not a pattern, the whole line a user reads, and the code an app would see.
@Suite struct AHAPErrorTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let text: String
    let line: String
    let code: Int
    let rule: RuleID

    init(_ text: String, _ line: String, _ code: Int, _ rule: RuleID) {
      (self.text, self.line, self.code, self.rule) = (text, line, code, rule)
    }

    var testDescription: String { line }
  }

  static let refusals: [Refusal] = [
    Refusal(#"[]"#, #"t.ahap:1:1: error: a pattern file must be an object, not an array"#, -4814, "structure"),
    Refusal(#""x""#, #"t.ahap:1:1: error: a pattern file must be an object, not a string"#, -4814, "structure"),
    Refusal(#"{}"#, #"t.ahap:1:1: error: a pattern file must have the key "Pattern""#, -4814, "structure"),
    Refusal(
      #"{"pattern": []}"#,
      #"t.ahap:1:1: error: a pattern file must have the key "Pattern"; rename "pattern" to "Pattern""#, -4814,
      "structure"),
    Refusal(
      #"{"Pattern": {}}"#, #"t.ahap:1:13: error: Pattern must be an array, not an object (Pattern)"#, -4814, "structure"
    ),
    Refusal(
      #"{"Pattern": null}"#, #"t.ahap:1:13: error: Pattern must be an array, not null (Pattern)"#, -4814, "structure"),
    Refusal(
      #"{"Pattern": [1]}"#, #"t.ahap:1:14: error: an entry of Pattern must be an object, not a number (Pattern[0])"#,
      -4814, "wrong-type"),
    Refusal(
      #"{"Version": "1.0", "Pattern": []}"#,
      #"t.ahap:1:13: error: Version must be a number, not a string (Version); write it without quotes"#, -4814,
      "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": 7}\#n]}"#,
      #"t.ahap:2:13: error: Event must be an object, not a number (Pattern[0].Event)"#, -4830, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {}}\#n]}"#,
      #"t.ahap:2:13: error: an event must have the key "EventType" (Pattern[0].Event)"#, -4830, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"time": 0, "EventTyp": "HapticTransient"}}\#n]}"#,
      #"t.ahap:2:13: error: an event must have the key "EventType" (Pattern[0].Event); rename "EventTyp" to "EventType""#,
      -4830, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0}}\#n]}"#,
      #"t.ahap:2:13: error: an event must have the key "EventType" (Pattern[0].Event)"#, -4830, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"EventType": "HapticTransient"}}\#n]}"#,
      #"t.ahap:2:13: error: an event must have the key "Time" (Pattern[0].Event)"#, -4830, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransiant"}}\#n]}"#,
      #"t.ahap:2:38: error: unknown event type "HapticTransiant" (Pattern[0].Event.EventType); did you mean "HapticTransient"?"#,
      -4821, "unknown-event-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "Transient"}}\#n]}"#,
      #"t.ahap:2:38: error: unknown event type "Transient" (Pattern[0].Event.EventType); did you mean "HapticTransient"?"#,
      -4821, "unknown-event-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "hapticcontinuous"}}\#n]}"#,
      #"t.ahap:2:38: error: unknown event type "hapticcontinuous" (Pattern[0].Event.EventType); did you mean "HapticContinuous"?"#,
      -4821, "unknown-event-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": 3}}\#n]}"#,
      #"t.ahap:2:38: error: EventType must be a string, not a number (Pattern[0].Event.EventType)"#, -4821, "wrong-type"
    ),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "Rumble"}}\#n]}"#,
      #"t.ahap:2:38: error: unknown event type "Rumble" (Pattern[0].Event.EventType)"#, -4821, "unknown-event-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": -0.1, "EventType": "HapticTransient"}}\#n]}"#,
      #"t.ahap:2:22: error: Time is -0.1; it must not be negative (Pattern[0].Event.Time)"#, -4822, "negative-time"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": "0.5", "EventType": "HapticTransient"}}\#n]}"#,
      #"t.ahap:2:22: error: Time must be a number, not a string (Pattern[0].Event.Time); write it without quotes"#,
      -4822, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": true, "EventType": "HapticTransient"}}\#n]}"#,
      #"t.ahap:2:22: error: Time must be a number, not a boolean (Pattern[0].Event.Time)"#, -4822, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": null, "EventType": "HapticTransient"}}\#n]}"#,
      #"t.ahap:2:22: error: Time must be a number, not null (Pattern[0].Event.Time)"#, -4822, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventDuration": -1}}\#n]}"#,
      #"t.ahap:2:74: error: EventDuration is -1.0; it must not be negative (Pattern[0].Event.EventDuration)"#, -4823,
      "negative-duration"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventDuration": "long"}}\#n]}"#,
      #"t.ahap:2:74: error: EventDuration must be a number, not a string (Pattern[0].Event.EventDuration)"#, -4823,
      "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": {}}}\#n]}"#,
      #"t.ahap:2:76: error: EventParameters must be an array, not an object (Pattern[0].Event.EventParameters)"#, -4831,
      "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    3]}}\#n]}"#,
      #"t.ahap:3:5: error: an event parameter must be an object, not a number (Pattern[0].Event.EventParameters[0])"#,
      -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {}]}}\#n]}"#,
      #"t.ahap:3:5: error: an event parameter must have the key "ParameterID" (Pattern[0].Event.EventParameters[0])"#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "HapticIntensty", "ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:21: error: unknown event parameter "HapticIntensty" (Pattern[0].Event.EventParameters[0].ParameterID); did you mean "HapticIntensity"?"#,
      -4820, "unknown-parameter"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "HapticIntensityControl", "ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:21: error: unknown event parameter "HapticIntensityControl" (Pattern[0].Event.EventParameters[0].ParameterID); did you mean "HapticIntensity"?"#,
      -4820, "unknown-parameter"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "Intensity", "ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:21: error: unknown event parameter "Intensity" (Pattern[0].Event.EventParameters[0].ParameterID); did you mean "HapticIntensity"?"#,
      -4820, "unknown-parameter"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "HapticIntensity"}]}}\#n]}"#,
      #"t.ahap:3:5: error: an event parameter must have the key "ParameterValue" (Pattern[0].Event.EventParameters[0])"#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "HapticIntensity", "Value": 1}]}}\#n]}"#,
      #"t.ahap:3:5: error: an event parameter must have the key "ParameterValue" (Pattern[0].Event.EventParameters[0]); rename "Value" to "ParameterValue""#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "HapticIntensity", "ParameterValue": "1"}]}}\#n]}"#,
      #"t.ahap:3:58: error: ParameterValue must be a number, not a string (Pattern[0].Event.EventParameters[0].ParameterValue); write it without quotes"#,
      -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": "HapticIntensity", "ParameterValue": true}]}}\#n]}"#,
      #"t.ahap:3:58: error: ParameterValue must be a number, not a boolean (Pattern[0].Event.EventParameters[0].ParameterValue)"#,
      -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:5: error: an event parameter must have the key "ParameterID" (Pattern[0].Event.EventParameters[0])"#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [\#n    {"ParameterID": 1, "ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:21: error: ParameterID must be a string, not a number (Pattern[0].Event.EventParameters[0].ParameterID)"#,
      -4820, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Parameter": []}\#n]}"#,
      #"t.ahap:2:17: error: Parameter must be an object, not an array (Pattern[0].Parameter)"#, -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Parameter": {"ParameterID": "HapticIntensity", "ParameterValue": 1, "Time": 0}}\#n]}"#,
      #"t.ahap:2:33: error: unknown dynamic parameter "HapticIntensity" (Pattern[0].Parameter.ParameterID); did you mean "HapticIntensityControl"?"#,
      -4820, "unknown-parameter"),
    Refusal(
      #"{"Pattern": [\#n  {"Parameter": {"ParameterID": "HapticIntensityControl", "ParameterValue": 1}}\#n]}"#,
      #"t.ahap:2:17: error: a parameter must have the key "Time" (Pattern[0].Parameter)"#, -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"Parameter": {"ParameterID": "HapticIntensityControl", "ParameterValue": 1, "Time": -1}}\#n]}"#,
      #"t.ahap:2:88: error: Time is -1.0; it must not be negative (Pattern[0].Parameter.Time)"#, -4840, "negative-time"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": 1}\#n]}"#,
      #"t.ahap:2:22: error: ParameterCurve must be an object, not a number (Pattern[0].ParameterCurve)"#, -4831,
      "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0}}\#n]}"#,
      #"t.ahap:2:22: error: a curve must have the key "ParameterCurveControlPoints" (Pattern[0].ParameterCurve)"#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0, "ParameterCurveControlPoints": 1}}\#n]}"#,
      #"t.ahap:2:106: error: ParameterCurveControlPoints must be an array, not a number (Pattern[0].ParameterCurve.ParameterCurveControlPoints)"#,
      -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"Time": 0, "ParameterCurveControlPoints": []}}\#n]}"#,
      #"t.ahap:2:22: error: a curve must have the key "ParameterID" (Pattern[0].ParameterCurve)"#, -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,\#n    "ParameterCurveControlPoints": [2]}}\#n]}"#,
      #"t.ahap:3:37: error: a control point must be an object, not a number (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0])"#,
      -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,\#n    "ParameterCurveControlPoints": [{"Time": 0}]}}\#n]}"#,
      #"t.ahap:3:37: error: a control point must have the key "ParameterValue" (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0])"#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,\#n    "ParameterCurveControlPoints": [{"ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:37: error: a control point must have the key "Time" (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0])"#,
      -4831, "missing-key"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,\#n    "ParameterCurveControlPoints": [{"Time": -0.5, "ParameterValue": 1}]}}\#n]}"#,
      #"t.ahap:3:46: error: Time is -0.5; it must not be negative (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0].Time)"#,
      -4840, "negative-time"),
    Refusal(
      #"{"Pattern": [\#n  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,\#n    "ParameterCurveControlPoints": [{"Time": 0, "ParameterValue": []}]}}\#n]}"#,
      #"t.ahap:3:67: error: ParameterValue must be a number, not an array (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0].ParameterValue)"#,
      -4831, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom"}}\#n]}"#,
      #"t.ahap:2:13: error: an AudioCustom event must have the key "EventWaveformPath" (Pattern[0].Event)"#, -4824,
      "waveform-path"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": ""}}\#n]}"#,
      #"t.ahap:2:74: error: EventWaveformPath is empty (Pattern[0].Event.EventWaveformPath)"#, -4824, "waveform-path"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "/etc/passwd"}}\#n]}"#,
      #"t.ahap:2:74: error: EventWaveformPath is absolute; it must begin in the pattern's folder (Pattern[0].Event.EventWaveformPath)"#,
      -4824, "waveform-path"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a/../../b.wav"}}\#n]}"#,
      #"t.ahap:2:74: error: EventWaveformPath leaves the pattern's folder by ".." (Pattern[0].Event.EventWaveformPath)"#,
      -4824, "waveform-path"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a\\b.wav"}}\#n]}"#,
      #"t.ahap:2:74: error: EventWaveformPath contains a backslash; use / between folders (Pattern[0].Event.EventWaveformPath)"#,
      -4824, "waveform-path"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": 5}}\#n]}"#,
      #"t.ahap:2:74: error: EventWaveformPath must be a string, not a number (Pattern[0].Event.EventWaveformPath)"#,
      -4824, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a.wav", "EventWaveformLoopEnabled": 2}}\#n]}"#,
      #"t.ahap:2:111: error: EventWaveformLoopEnabled must be true or false, not 2 (Pattern[0].Event.EventWaveformLoopEnabled)"#,
      -4824, "wrong-type"),
    Refusal(
      #"{"Pattern": [\#n  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a.wav", "EventWaveformUseVolumeEnvelope": "yes"}}\#n]}"#,
      #"t.ahap:2:117: error: EventWaveformUseVolumeEnvelope must be true or false, not a string (Pattern[0].Event.EventWaveformUseVolumeEnvelope)"#,
      -4824, "wrong-type"),
    Refusal(
      #"\#r\#n{"Pattern": [\#r\#n {"Event": {"Name": "é🎉", "Time": -1, "EventType": "HapticTransient"}}]}"#,
      #"t.ahap:3:35: error: Time is -1.0; it must not be negative (Pattern[0].Event.Time)"#, -4822, "negative-time"),
  ]

  @Test(arguments: refusals) func refusesWithOneLine(_ refusal: Refusal) throws {
    let document = try AHAPDocument(text: Array(refusal.text.utf8), name: "t.ahap")
    let error = #expect(throws: InputError.self) { try document.read() }
    #expect(error?.description == refusal.line)
    #expect(error?.finding.foreignCode == refusal.code)
    #expect(error?.rule == refusal.rule)
    let examination = document.examine()
    #expect(examination.pattern == nil)
    #expect(examination.findings.contains { $0.description == refusal.line })
  }

  @Test func refusesTextThatIsNoJSON() {
    let error = #expect(throws: InputError.self) {
      try AHAPDocument(text: Array("{\"Pattern\": [}".utf8), name: "t.ahap")
    }
    #expect(error?.description == "t.ahap:1:14: error: expected a value, found \"}\"")
    #expect(error?.rule == "syntax")
    #expect(error?.finding.foreignCode == -4813)
  }

  @Test func collectsEveryErrorAndCountsTheOthers() throws {
    let text = """
      {"Pattern": [{"Event": {"Time": -1, "EventType": "Tap", "EventDuration": -1}},
        {"Parameter": {"Time": 0}}]}
      """
    let document = try AHAPDocument(text: Array(text.utf8), name: "t.ahap")
    let errors = document.examine().findings.filter { $0.severity == .error }
    #expect(
      errors.map(\.rule) == ["negative-time", "unknown-event-type", "negative-duration", "missing-key", "missing-key"])
    let error = #expect(throws: InputError.self) { try document.read() }
    #expect(error?.finding == errors[0])
    #expect(error?.otherErrorCount == 4)
  }
}
