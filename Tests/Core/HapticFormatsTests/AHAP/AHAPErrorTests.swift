import HapticFormats
import VendorFormats
import Reading
import TestSupport
import Testing

/// Texts that are not patterns: the error code of an app, and the line that a user reads.
@Suite struct AHAPErrorTests {
  /// Each text with its error code, rule, and message line.
  static let invalidTexts = TableRow.rows(
    #"""
    []
      -4814 structure t.ahap:1:1: error: a pattern file must be an object, not an array
    "x"
      -4814 structure t.ahap:1:1: error: a pattern file must be an object, not a string
    {}
      -4814 structure t.ahap:1:1: error: a pattern file must have the key "Pattern"
    {"pattern": []}
      -4814 structure t.ahap:1:1: error: a pattern file must have the key "Pattern"; rename "pattern" to "Pattern"
    {"Pattern": {}}
      -4814 structure t.ahap:1:13: error: Pattern must be an array, not an object (Pattern)
    {"Pattern": null}
      -4814 structure t.ahap:1:13: error: Pattern must be an array, not null (Pattern)
    {"Pattern": [1]}
      -4814 wrong-type t.ahap:1:14: error: an entry of Pattern must be an object, not a number (Pattern[0])
    {"Version": "1.0", "Pattern": []}
      -4814 wrong-type t.ahap:1:13: error: Version must be a number, not a string (Version); write it without quotes
    {"Pattern": [⏎  {"Event": 7}⏎]}
      -4830 wrong-type t.ahap:2:13: error: Event must be an object, not a number (Pattern[0].Event)
    {"Pattern": [⏎  {"Event": {}}⏎]}
      -4830 missing-key t.ahap:2:13: error: an event must have the key "EventType" (Pattern[0].Event)
    {"Pattern": [⏎  {"Event": {"time": 0, "EventTyp": "HapticTransient"}}⏎]}
      -4830 missing-key t.ahap:2:13: error: an event must have the key "EventType" (Pattern[0].Event); rename "EventTyp" to "EventType"
    {"Pattern": [⏎  {"Event": {"Time": 0}}⏎]}
      -4830 missing-key t.ahap:2:13: error: an event must have the key "EventType" (Pattern[0].Event)
    {"Pattern": [⏎  {"Event": {"EventType": "HapticTransient"}}⏎]}
      -4830 missing-key t.ahap:2:13: error: an event must have the key "Time" (Pattern[0].Event)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransiant"}}⏎]}
      -4821 unknown-event-type t.ahap:2:38: error: unknown event type "HapticTransiant" (Pattern[0].Event.EventType); did you mean "HapticTransient"?
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "Transient"}}⏎]}
      -4821 unknown-event-type t.ahap:2:38: error: unknown event type "Transient" (Pattern[0].Event.EventType); did you mean "HapticTransient"?
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "hapticcontinuous"}}⏎]}
      -4821 unknown-event-type t.ahap:2:38: error: unknown event type "hapticcontinuous" (Pattern[0].Event.EventType); did you mean "HapticContinuous"?
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": 3}}⏎]}
      -4821 wrong-type t.ahap:2:38: error: EventType must be a string, not a number (Pattern[0].Event.EventType)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "Rumble"}}⏎]}
      -4821 unknown-event-type t.ahap:2:38: error: unknown event type "Rumble" (Pattern[0].Event.EventType)
    {"Pattern": [⏎  {"Event": {"Time": -0.1, "EventType": "HapticTransient"}}⏎]}
      -4822 negative-time t.ahap:2:22: error: Time is -0.1; it must not be negative (Pattern[0].Event.Time)
    {"Pattern": [⏎  {"Event": {"Time": "0.5", "EventType": "HapticTransient"}}⏎]}
      -4822 wrong-type t.ahap:2:22: error: Time must be a number, not a string (Pattern[0].Event.Time); write it without quotes
    {"Pattern": [⏎  {"Event": {"Time": true, "EventType": "HapticTransient"}}⏎]}
      -4822 wrong-type t.ahap:2:22: error: Time must be a number, not a boolean (Pattern[0].Event.Time)
    {"Pattern": [⏎  {"Event": {"Time": null, "EventType": "HapticTransient"}}⏎]}
      -4822 wrong-type t.ahap:2:22: error: Time must be a number, not null (Pattern[0].Event.Time)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventDuration": -1}}⏎]}
      -4823 negative-duration t.ahap:2:74: error: EventDuration is -1.0; it must not be negative (Pattern[0].Event.EventDuration)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventDuration": "long"}}⏎]}
      -4823 wrong-type t.ahap:2:74: error: EventDuration must be a number, not a string (Pattern[0].Event.EventDuration)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": {}}}⏎]}
      -4831 wrong-type t.ahap:2:76: error: EventParameters must be an array, not an object (Pattern[0].Event.EventParameters)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    3]}}⏎]}
      -4831 wrong-type t.ahap:3:5: error: an event parameter must be an object, not a number (Pattern[0].Event.EventParameters[0])
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {}]}}⏎]}
      -4831 missing-key t.ahap:3:5: error: an event parameter must have the key "ParameterID" (Pattern[0].Event.EventParameters[0])
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "HapticIntensity"}]}}⏎]}
      -4831 missing-key t.ahap:3:5: error: an event parameter must have the key "ParameterValue" (Pattern[0].Event.EventParameters[0])
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "HapticIntensity", "Value": 1}]}}⏎]}
      -4831 missing-key t.ahap:3:5: error: an event parameter must have the key "ParameterValue" (Pattern[0].Event.EventParameters[0]); rename "Value" to "ParameterValue"
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "HapticIntensity", "ParameterValue": "1"}]}}⏎]}
      -4831 wrong-type t.ahap:3:58: error: ParameterValue must be a number, not a string (Pattern[0].Event.EventParameters[0].ParameterValue); write it without quotes
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": "HapticIntensity", "ParameterValue": true}]}}⏎]}
      -4831 wrong-type t.ahap:3:58: error: ParameterValue must be a number, not a boolean (Pattern[0].Event.EventParameters[0].ParameterValue)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterValue": 1}]}}⏎]}
      -4831 missing-key t.ahap:3:5: error: an event parameter must have the key "ParameterID" (Pattern[0].Event.EventParameters[0])
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [⏎    {"ParameterID": 1, "ParameterValue": 1}]}}⏎]}
      -4820 wrong-type t.ahap:3:21: error: ParameterID must be a string, not a number (Pattern[0].Event.EventParameters[0].ParameterID)
    {"Pattern": [⏎  {"Parameter": []}⏎]}
      -4831 wrong-type t.ahap:2:17: error: Parameter must be an object, not an array (Pattern[0].Parameter)
    {"Pattern": [⏎  {"Parameter": {"ParameterID": "HapticIntensityControl", "ParameterValue": 1}}⏎]}
      -4831 missing-key t.ahap:2:17: error: a parameter must have the key "Time" (Pattern[0].Parameter)
    {"Pattern": [⏎  {"Parameter": {"ParameterID": "HapticIntensityControl", "ParameterValue": 1, "Time": -1}}⏎]}
      -4840 negative-time t.ahap:2:88: error: Time is -1.0; it must not be negative (Pattern[0].Parameter.Time)
    {"Pattern": [⏎  {"ParameterCurve": 1}⏎]}
      -4831 wrong-type t.ahap:2:22: error: ParameterCurve must be an object, not a number (Pattern[0].ParameterCurve)
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0}}⏎]}
      -4831 missing-key t.ahap:2:22: error: a curve must have the key "ParameterCurveControlPoints" (Pattern[0].ParameterCurve)
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0, "ParameterCurveControlPoints": 1}}⏎]}
      -4831 wrong-type t.ahap:2:106: error: ParameterCurveControlPoints must be an array, not a number (Pattern[0].ParameterCurve.ParameterCurveControlPoints)
    {"Pattern": [⏎  {"ParameterCurve": {"Time": 0, "ParameterCurveControlPoints": []}}⏎]}
      -4831 missing-key t.ahap:2:22: error: a curve must have the key "ParameterID" (Pattern[0].ParameterCurve)
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,⏎    "ParameterCurveControlPoints": [2]}}⏎]}
      -4831 wrong-type t.ahap:3:37: error: a control point must be an object, not a number (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0])
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,⏎    "ParameterCurveControlPoints": [{"Time": 0}]}}⏎]}
      -4831 missing-key t.ahap:3:37: error: a control point must have the key "ParameterValue" (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0])
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,⏎    "ParameterCurveControlPoints": [{"ParameterValue": 1}]}}⏎]}
      -4831 missing-key t.ahap:3:37: error: a control point must have the key "Time" (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0])
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,⏎    "ParameterCurveControlPoints": [{"Time": -0.5, "ParameterValue": 1}]}}⏎]}
      -4840 negative-time t.ahap:3:46: error: Time is -0.5; it must not be negative (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0].Time)
    {"Pattern": [⏎  {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,⏎    "ParameterCurveControlPoints": [{"Time": 0, "ParameterValue": []}]}}⏎]}
      -4831 wrong-type t.ahap:3:67: error: ParameterValue must be a number, not an array (Pattern[0].ParameterCurve.ParameterCurveControlPoints[0].ParameterValue)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom"}}⏎]}
      -4824 waveform-path t.ahap:2:13: error: an AudioCustom event must have the key "EventWaveformPath" (Pattern[0].Event)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": ""}}⏎]}
      -4824 waveform-path t.ahap:2:74: error: EventWaveformPath is empty (Pattern[0].Event.EventWaveformPath)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "/etc/passwd"}}⏎]}
      -4824 waveform-path t.ahap:2:74: error: EventWaveformPath is an absolute path; it must be relative to the pattern's folder (Pattern[0].Event.EventWaveformPath)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a/../../b.wav"}}⏎]}
      -4824 waveform-path t.ahap:2:74: error: EventWaveformPath leads outside the pattern's folder with ".." (Pattern[0].Event.EventWaveformPath)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a\\b.wav"}}⏎]}
      -4824 waveform-path t.ahap:2:74: error: EventWaveformPath contains a backslash; use / between folders (Pattern[0].Event.EventWaveformPath)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": 5}}⏎]}
      -4824 wrong-type t.ahap:2:74: error: EventWaveformPath must be a string, not a number (Pattern[0].Event.EventWaveformPath)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a.wav", "EventWaveformLoopEnabled": 2}}⏎]}
      -4824 wrong-type t.ahap:2:111: error: EventWaveformLoopEnabled must be true or false, not 2 (Pattern[0].Event.EventWaveformLoopEnabled)
    {"Pattern": [⏎  {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "a.wav", "EventWaveformUseVolumeEnvelope": "yes"}}⏎]}
      -4824 wrong-type t.ahap:2:117: error: EventWaveformUseVolumeEnvelope must be true or false, not a string (Pattern[0].Event.EventWaveformUseVolumeEnvelope)
    ␍⏎{"Pattern": [␍⏎ {"Event": {"Name": "é🎉", "Time": -1, "EventType": "HapticTransient"}}]}
      -4822 negative-time t.ahap:3:35: error: Time is -1.0; it must not be negative (Pattern[0].Event.Time)
    """#)

  @Test(arguments: invalidTexts) func refusesWithOneLine(_ row: TableRow) throws {
    let document = try AHAPDocument(
      text: Array(row.input.replacing("␍", with: "\r").utf8), name: "t.ahap")
    let error = try #require(#expect(throws: InputError.self) { try document.read() })
    #expect(["\(error.finding.errorCode ?? 0) \(error.rule.text) \(error)"] == row.expectedLines)
    let result = document.examine()
    #expect(result.pattern == nil)
    #expect(result.findings.contains { $0.description == error.description })
  }

  @Test func textOtherThanJSONIsRefused() {
    let error = #expect(throws: InputError.self) {
      try AHAPDocument(text: Array("{\"Pattern\": [}".utf8), name: "t.ahap")
    }
    #expect(error?.description == "t.ahap:1:14: error: expected a value, found \"}\"")
    #expect(error?.rule == "syntax")
    #expect(error?.finding.errorCode == -4813)
  }

  @Test func everyErrorIsCollectedAndCounted() throws {
    let text = """
      {"Pattern": [{"Event": {"Time": -1, "EventType": "Tap", "EventDuration": -1}},
        {"Parameter": {"Time": 0}}]}
      """
    let document = try AHAPDocument(text: Array(text.utf8), name: "t.ahap")
    let errors = document.examine().findings.filter { $0.severity == .error }
    #expect(
      errors.map(\.rule) == [
        "negative-time", "unknown-event-type", "negative-duration", "missing-key", "missing-key",
      ])
    let error = #expect(throws: InputError.self) { try document.read() }
    #expect(error?.finding == errors[0])
    #expect(error?.additionalErrorCount == 4)
  }
}
