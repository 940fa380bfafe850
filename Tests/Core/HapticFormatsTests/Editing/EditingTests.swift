import HapticFormats
import HapticModel
import Reading
import Testing

/// The effect of changes on the bytes of an AHAP text, and their errors.
@Suite struct EditingTests {
  static let prettyPattern = """
    {
      "Version": 1.0,
      "Pattern": [
        {
          "Event": {
            "Time": 0.50,
            "EventType": "HapticTransient",
            "EventParameters": [
              { "ParameterID": "HapticIntensity", "ParameterValue": 1 }
            ]
          }
        },
        {
          "Event": {
            "Time": 1e-3,
            "EventType": "HapticContinuous",
            "EventDuration": 2
          }
        },
        {
          "Parameter": { "ParameterID": "HapticSharpnessControl", "Time": 0, "ParameterValue": -\
    0.5 }
        },
        {
          "ParameterCurve": {
            "ParameterID": "HapticIntensityControl",
            "Time": 0.25,
            "ParameterCurveControlPoints": [
              { "Time": 0, "ParameterValue": 0 },
              { "Time": 1, "ParameterValue": 1 }
            ]
          }
        }
      ]
    }

    """

  static func editor(_ text: String) throws -> AHAPEditor {
    try AHAPEditor(text: Array(text.utf8), name: "t")
  }

  static func text(_ editor: AHAPEditor) -> String { String(decoding: editor.text, as: UTF8.self) }

  func editedText(_ text: String, _ changes: PatternChange...) throws -> String {
    Self.text(try Self.editor(text).applying(changes))
  }

  /// Returns the removed and the added lines of the indented text.
  func lines(_ changes: PatternChange...) throws -> [String] {
    let old = Self.prettyPattern.split(separator: "\n", omittingEmptySubsequences: false)
    let new = Self.text(try Self.editor(Self.prettyPattern).applying(changes)).split(
      separator: "\n", omittingEmptySubsequences: false)
    return new.difference(from: old).map { change in
      switch change {
      case .insert(_, let line, _): "+" + line.drop { $0 == " " }
      case .remove(_, let line, _): "-" + line.drop { $0 == " " }
      }
    }
  }

  @Test func numberIsReplacedInPlace() throws {
    #expect(
      try lines(
        .set("events[0].time", to: .number(1.25)),
        .set("curves[0].points[1].value", to: .number(0.5)))
        == [
          #"-{ "Time": 1, "ParameterValue": 1 }"#, #"-"Time": 0.50,"#, #"+"Time": 1.25,"#,
          #"+{ "Time": 1, "ParameterValue": 0.5 }"#,
        ])
  }

  @Test func numbersKeepTheStyleOfTheOldOnes() throws {
    for (number, written) in [
      (0.30000001192092896, "0.3"), (2, "2"), (0.1 + 0.2, "0.3"), (-0.0, "0"), (1e-6, "1e-06"),
      (86_400.123456, "86400.123456"),
    ] {
      let text = try editedText(Self.prettyPattern, .set("events[1].duration", to: .number(number)))
      #expect(text.contains("\"EventDuration\": \(written)\n"))
    }
    #expect(
      try editedText(Self.prettyPattern, .set("events[0].time", to: .number(3))).contains(
        "\"Time\": 3.0,"))
  }

  @Test func equalValueKeepsItsSpelling() throws {
    let changes: [PatternChange] = [
      .set("events[0].time", to: .number(0.5)), .set("events[1].time", to: .number(0.001)),
      .set("parameters[0].value", to: .number(Double(Float(-0.5)))),
      .set("events[1].kind", to: .text("HapticContinuous")),
    ]
    #expect(Self.text(try Self.editor(Self.prettyPattern).applying(changes)) == Self.prettyPattern)
    let text =
      #"{"Pattern":[{"Event":{"Time":0,"EventType":"HapticTransient","EventParameters":[{"Parame"#
      + #"terID":"HapticIntensity","ParameterValue":0.30000001192}]}}]}"#
    #expect(
      try editedText(text, .set("events[0].intensity", to: .number(Double(Float(0.3))))) == text)
  }

  @Test func missingFieldsAreInsertedInTheStyleOfTheText() throws {
    #expect(
      try lines(.set("events[0].sharpness", to: .number(0.4)))
        == [
          #"-{ "ParameterID": "HapticIntensity", "ParameterValue": 1 }"#,
          #"+{ "ParameterID": "HapticIntensity", "ParameterValue": 1 },"#,
          #"+{ "ParameterID": "HapticSharpness", "ParameterValue": 0.4 }"#,
        ])
    let editedEvents = try editedText(
      Self.prettyPattern, .set("events[1].intensity", to: .number(0.25)),
      .set("events[1].attack", to: .number(0.5)),
      .set("events[0].duration", to: .number(0.1)))
    #expect(
      editedEvents.contains(
        """
        \"EventType\": \"HapticTransient\",\n        \"EventDuration\": 0.1,\n        \
        \"EventParameters\"
        """
      ))
    #expect(
      editedEvents.contains(
        """
                "EventDuration": 2,
                "EventParameters": [
                  { "ParameterID": "HapticIntensity", "ParameterValue": 0.25 },
                  { "ParameterID": "AttackTime", "ParameterValue": 0.5 }
                ]
              }
        """))
  }

  @Test func compactTextStaysCompact() throws {
    let text = #"{"Pattern":[{"Event":{"Time":0,"EventType":"HapticContinuous"}}]}"#
    let textWithNewFields = try editedText(
      text, .set("events[0].duration", to: .number(1)), .set("events[0].release", to: .number(0.5)))
    #expect(
      textWithNewFields
        == #"{"Pattern":[{"Event":{"Time":0,"EventType":"HapticContinuous","EventDuration":1.0,"#
        + #""EventParameters":[{"ParameterID":"ReleaseTime","ParameterValue":0.5}]}}]}"#)
    let textWithNewEntry = try editedText(
      text,
      .add(
        Array(
          (#"{ "Parameter": { "ParameterID": "HapticIntensityControl", "Time": 0, "ParameterValue": 1"#
            + #" } }"#).utf8)))
    #expect(
      textWithNewEntry == #"{"Pattern":[{"Event":{"Time":0,"EventType":"HapticContinuous"}},"#
        + #"{"Parameter":{"ParameterID":"HapticIntensityControl","Time":0,"ParameterValue":1}}]}"#)
  }

  @Test func newEntryHasTheStyleOfItsNeighbors() throws {
    let entry = Array(
      (#"{"Event":{"EventType":"HapticTransient","Time":3,"EventParameters":[{"ParameterID":"Hapt"#
        + #"icIntensity","ParameterValue":0.5}]}}"#).utf8)
    let tabIndentedText =
      """
      {\r\n\t\"Pattern\": [\r\n\t\t{\r\n\t\t\t\"Event\": {\"Time\": 0, \"EventType\": \
      \"HapticTransient\"}\r\n\t\t}\r\n\t]\r\n}
      """
    #expect(
      try editedText(tabIndentedText, .add(entry, after: "events[0]"))
        == """
        {\r\n\t\"Pattern\": [\r\n\t\t{\r\n\t\t\t\"Event\": {\"Time\": 0, \"EventType\": \
        \"HapticTransient\"}\r\n\t\t},\r\n\t\t
        """
          + """
          {\r\n\t\t\t\"Event\": {\r\n\t\t\t\t\"Time\": 3,\r\n\t\t\t\t\"EventType\": \
          \"HapticTransient\",\r\n\t\t\t\t
          """
          + """
          \"EventParameters\": [\r\n\t\t\t\t\t{ \"ParameterID\": \"HapticIntensity\", \
          \"ParameterValue\": 0.5 }\r\n\t\t\t\t
          """
        + "]\r\n\t\t\t}\r\n\t\t}\r\n\t]\r\n}")
    let emptyPattern = "{\n    \"Pattern\": []\n}"
    #expect(
      try editedText(
        emptyPattern, .add(Array(#"{"Event":{"Time":1,"EventType":"HapticTransient"}}"#.utf8)))
          == """
          {\n    \"Pattern\": [\n        {\n            \"Event\": {\n                \"Time\": \
          1,\n                
          """
        + "\"EventType\": \"HapticTransient\"\n            }\n        }\n    ]\n}")
    #expect(
      try editedText(
        #"{"Pattern":[]}"#, .add(Array(#"{"Event":{"Time":1,"EventType":"HapticTransient"}}"#.utf8))
      )
        == #"{"Pattern":[{"Event":{"Time":1,"EventType":"HapticTransient"}}]}"#)
  }

  @Test func insertingAndRemovingRestoresTheBytes() throws {
    let editor = try Self.editor(Self.prettyPattern)
    for (change, inverse) in [
      (
        PatternChange.set("events[0].sharpness", to: .number(0.4)),
        PatternChange.remove("events[0].sharpness")
      ),
      (.set("events[1].intensity", to: .number(0.4)), .remove("events[1].intensity")),
      (.set("events[0].duration", to: .number(1)), .remove("events[0].duration")),
      (.duplicate("events[0]"), .remove("events[1]")),
      (.duplicate("events[0]"), .remove("events[0]")),
      (.duplicate("curves[0]"), .remove("curves[1]")),
      (.addPoint(time: 0.5, value: 0.25, to: "curves[0]"), .remove("curves[0].points[1]")),
      (.addPoint(time: 2, value: 0.25, to: "curves[0]"), .remove("curves[0].points[2]")),
      (.addPoint(time: 0, value: 0.25, to: "curves[0]"), .remove("curves[0].points[1]")),
    ] {
      let changed = try editor.applying([change])
      #expect(changed.text != editor.text)
      #expect(try changed.applying([inverse]).text == editor.text, "\(change)")
    }
  }

  @Test func pathsReferToTheTextBeforeTheChanges() throws {
    let editor = try Self.editor(Self.prettyPattern)
    let changed = try editor.applying([
      .remove("events[0]"), .set("events[1].time", to: .number(4)), .duplicate("events[1]"),
      .set("events[0].time", to: .number(9)), .remove("curves[0].points[0]"),
      .remove("curves[0].points[1]"),
    ])
    #expect(changed.pattern.events.map(\.time) == [4, 0.001])
    #expect(changed.pattern.curves[0].controlPoints == [])
    #expect(Self.text(changed).contains("\"ParameterCurveControlPoints\": []\n"))
    let swapped = try editor.applying([
      .remove("events[0]"), .add(try editor.bytes(of: "events[1]"), after: "events[0]"),
    ])
    #expect(swapped.pattern.events.map(\.time) == [0.001, 0.001])
    #expect(try editor.applying([]).text == editor.text)
    #expect(
      try editor.applying([
        .remove("events[0]"), .remove("events[1]"), .remove("parameters[0]"), .remove("curves[0]"),
      ])
      .pattern == HapticPattern())
  }

  @Test func pointsAreNumberedInTextOrder() throws {
    let text = Self.prettyPattern.replacing(
      "\"Time\": 1, \"ParameterValue\": 1", with: "\"Time\": -0, \"ParameterValue\": 1"
    )
    .replacing("\"Time\": 0, \"ParameterValue\": 0 ", with: "\"Time\": 2, \"ParameterValue\": 0 ")
    let editor = try Self.editor(text)
    #expect(
      editor.controlPointOrder(ofCurve: 0) == [1, 0] && editor.controlPointOrder(ofCurve: 1) == [])
    let changed = try editor.applying([.set("curves[0].points[0].time", to: .number(3))])
    #expect(changed.pattern.curves[0].controlPoints.map(\.time) == [0, 3])
    #expect(Self.text(changed).contains("{ \"Time\": 3, \"ParameterValue\": 0 },"))
  }

  @Test func lastRepeatedValueIsChangedAndAllAreRemoved() throws {
    let text =
      #"{"Pattern":[],"Pattern":[{"Event":{"Time":1,"EventType":"HapticTransient","Time":2,"Even"#
      + #"tDuration":1,"EventDuration":null,"EventParameters":[{"ParameterID":"HapticIntensity","P"#
      + #"arameterValue":0.1},{"ParameterValue":0.2,"ParameterID":"Haptic\u0049ntensity"}]}}]}"#
    #expect(
      try editedText(
        text, .set("events[0].time", to: .number(3)), .set("events[0].intensity", to: .number(0.5)),
        .set("events[0].duration", to: .number(4)))
        == text.replacing(":2,", with: ":3,").replacing("0.2", with: "0.5").replacing(
          "null", with: "4.0"))
    let textWithoutFields = try editedText(
      text, .remove("events[0].intensity"), .remove("events[0].duration"))
    #expect(
      textWithoutFields
        == #"{"Pattern":[],"Pattern":[{"Event":{"Time":1,"EventType":"HapticTransient","Time":2}}]}"#
    )
  }

  @Test func removingAPartKeepsOthersOfItsEntry() throws {
    let text =
      #"{"Pattern": [{"Event": {"Time": 1, "EventType": "HapticTransient"}, "Parameter": {"Param"#
      + #"eterID": "HapticIntensityControl", "Time": 0, "ParameterValue": 1}, "Note": 1}, {"Other""#
      + #": [1]}]}"#
    #expect(
      try editedText(text, .remove("events[0]"))
        == #"{"Pattern": [{"Parameter": {"ParameterID": "HapticIntensityControl", "Time": 0, "Paramet"#
        + #"erValue": 1}, "Note": 1}, {"Other": [1]}]}"#)
    let duplicated = try Self.editor(text).applying([.duplicate("parameters[0]")])
    #expect(duplicated.pattern.parameters.count == 2 && duplicated.pattern.events.count == 1)
    #expect(try duplicated.applying([.remove("parameters[1]")]).text == Array(text.utf8))
  }

  @Test func flagsKeepTheirSpelling() throws {
    let text =
      #"{"Pattern":[{"Event":{"Time":0,"EventType":"AudioCustom","EventWaveformPath":"a.wav","Ev"#
      + #"entWaveformLoopEnabled":0,"EventParameters":[{"ParameterID":"Sustained","ParameterValue""#
      + #":true}]}}]}"#
    #expect(
      try editedText(
        text, .set("events[0].loop", to: .flag(true)), .set("events[0].envelope", to: .number(0)),
        .set("events[0].sustained", to: .number(0)),
        .set("events[0].path", to: .text("b \"c\".wav")))
        == #"{"Pattern":[{"Event":{"Time":0,"EventType":"AudioCustom","EventWaveformPath":"b \"c\".wa"#
        + #"v","EventWaveformUseVolumeEnvelope":false,"EventWaveformLoopEnabled":1,"EventParameters""#
        + #":[{"ParameterID":"Sustained","ParameterValue":false}]}}]}"#)
  }

  @Test func absoluteTimesBecomeRelativeWithTheFirstChangeOfACurve() throws {
    let text = try Fixtures.text("Lossy/curve-absolute-times.ahap")
    let editor = try AHAPEditor(text: text, name: "t")
    #expect(editor.content.usesAbsoluteCurveTimes)
    let withMovedCurve = try editor.applying([.set("curves[1].time", to: .number(5))])
    var pattern = editor.pattern
    pattern.curves[1].time = 5
    #expect(withMovedCurve.pattern == pattern && !withMovedCurve.content.usesAbsoluteCurveTimes)
    let withMovedEvent = try editor.applying([.set("events[0].time", to: .number(0.123))])
    #expect(
      withMovedEvent.content.usesAbsoluteCurveTimes
        && withMovedEvent.pattern.curves == editor.pattern.curves)
  }

  @Test(
    arguments: [
      (
        .set("events[9].time", to: .number(1)),
        "events[9].time: the pattern has 2 events (events[0] to events[1])"
      ),
      (.remove("parameters[1]"), "parameters[1]: the pattern has 1 parameter (parameters[0])"),
      (
        .remove("curves[0].points[2]"),
        "curves[0].points[2]: the curve has 2 points (points[0] to points[1])"
      ),
      (
        .set("events[0].intensty", to: .number(1)),
        "events[0].intensty: unknown field of an event; did you mean \"intensity\"?"
      ),
      (
        .set("curves[0].value", to: .number(1)),
        "curves[0].value: unknown field of a curve; use time, id"
      ),
      (
        .set("event[0].time", to: .number(1)),
        "event[0].time: unknown list \"event\"; did you mean \"events\"?"
      ),
      (
        .set("events[0]", to: .number(1)),
        "events[0]: the path must name a field; write events[0].time"
      ),
      (
        .set("events[0].time.x", to: .number(1)),
        "events[0].time.x: the path continues after a field; remove the rest of the path"
      ),
      (
        .remove("events[-1]"),
        """
        events[-1]: invalid path; use events[3], parameters[0], curves[0].points[2], or a field of \
        one of these
        """
      ),
      (
        .remove("events"),
        """
        events: invalid path; use events[3], parameters[0], curves[0].points[2], or a field of one \
        of these
        """
      ),
      (
        .remove(""),
        """
        : invalid path; use events[3], parameters[0], curves[0].points[2], or a field of one of \
        these
        """
      ),
      (
        .remove("events[9999999999]"),
        """
        events[9999999999]: invalid path; use events[3], parameters[0], curves[0].points[2], or a \
        field of one of these
        """
      ),
      (.set("events[0].time", to: .number(.nan)), "events[0].time: the number must be finite"),
      (
        .set("events[0].time", to: .number(-1)),
        "events[0].time: Time is -1.0; it must not be negative"
      ),
      (.set("events[0].kind", to: .number(1)), "events[0].kind: expected a text"),
      (.set("events[0].loop", to: .number(2)), "events[0].loop: expected true or false"),
      (
        .set("events[0].kind", to: .text("HapticTransent")),
        "events[0].kind: unknown event type \"HapticTransent\"; did you mean \"HapticTransient\"?"
      ),
      (
        .set("events[0].time", to: .text("soon")),
        "events[0].time: expected a number, not \"soon\""
      ),
      (.remove("events[0].time"), "events[0].time: an event must have the key \"Time\""),
      (
        .duplicate("events[0].time"),
        "events[0].time: only an event, parameter, curve, or control point can be duplicated"
      ),
      (
        .addPoint(time: 0, value: 1, to: "events[0]"),
        "events[0]: control points can only be added to a curve"
      ),
      (
        .addPoint(time: -1, value: 1, to: "curves[0]"),
        "curves[0]: Time is -1.0; it must not be negative"
      ),
      (
        .addPoint(time: .infinity, value: 1, to: "curves[0]"),
        "curves[0]: the numbers must be finite"
      ),
      (
        .add(Array("{]".utf8)),
        "Pattern: the entry is not valid JSON: expected a key in double quotes, found \"]\":1:2"
      ),
      (
        .add(Array(#"{"EventType": 1}"#.utf8)),
        """
        Pattern: an entry must be an object with an Event, Parameter, or ParameterCurve; write \
        {"Event": {…}}
        """
      ),
      (
        .add(Array(#"{"Event": {}}"#.utf8), after: "curves[0].points[0]"),
        "curves[0].points[0]: entries can only be added after an event, parameter, or curve"
      ),
    ] as [(PatternChange, String)]) func invalidChangesAreRefused(
      change: PatternChange, message: String
    ) throws
  {
    let editor = try Self.editor(Self.prettyPattern)
    let error = #expect(throws: InputError.self) { try editor.applying([change]) }
    #expect(
      error.map {
        "\($0.location.path): \($0.finding.message)"
          + ($0.finding.suggestion.map { "; \($0)" } ?? "")
      }
        == message)
  }

  @Test func valueOutOfRangeIsWritten() throws {
    let changed = try Self.editor(Self.prettyPattern).applying([
      .set("events[0].intensity", to: .number(1.5))
    ])
    #expect(
      Self.text(changed).contains("1.5")
        && changed.pattern.events[0].parameters[.hapticIntensity] == 1)
    let error = #expect(throws: InputError.self) {
      try Self.editor(#"{"Pattern":[]}"#).applying([.remove("events[0]")])
    }
    #expect(
      error?.description == "t: error: the pattern has no events (events[0])"
        && error?.rule == "change")
    let invalidTimeError = #expect(throws: InputError.self) {
      try Self.editor(Self.prettyPattern).applying([
        .set("events[0].time", to: .number(-1)), .remove("events[1].kind"),
      ])
    }
    #expect(
      invalidTimeError?.rule == "negative-time"
        && invalidTimeError?.location.path == "Pattern[0].Event.Time")
  }

  @Test func findingsLeadToTheirParts() throws {
    let editor = try Self.editor(Self.prettyPattern)
    for (jsonPath, expectedPath) in [
      ("Pattern[1].Event.Time", "events[1]"), ("Pattern[2].Parameter", "parameters[0]"),
      (
        "Pattern[3].ParameterCurve.ParameterCurveControlPoints[1].ParameterValue",
        "curves[0].points[1]"
      ),
      ("Pattern[3].ParameterCurve.Time", "curves[0]"), ("Pattern[3]", nil),
      ("Pattern[4].Event", nil), ("Version", nil),
      ("Pattern[x].Event", nil), ("", nil), ("Pattern[0].Event.EventParameters[0]", "events[0]"),
    ] {
      #expect(editor.patternElementPath(forJSONPath: jsonPath) == expectedPath, "\(jsonPath)")
    }
  }

  /// In a megabyte on one line, the number of visited bytes grows with the changes, not with the
  /// text.
  @Test func changesVisitOnlyTheirParts() throws {
    let event =
      #"{"Event":{"Time":1,"EventType":"HapticTransient","EventParameters":[{"ParameterID":"Hapt"#
      + #"icIntensity","ParameterValue":0.5}]}}"#
    let count = 8_200
    let text =
      #"{"Pattern":["# + Array(repeating: event, count: count).joined(separator: ",") + "]}"
    try #require(text.utf8.count > 1_000_000)
    let editor = try Self.editor(text)
    let changedOnce = try editor.applying([.set("events[4000].time", to: .number(2))])
    #expect(changedOnce.visitedValueCount <= 8)
    let changes = (0..<count).map { PatternChange.set("events[\($0)].sharpness", to: .number(0.5)) }
    let changed = try editor.applying(changes)
    #expect(changed.pattern.events.allSatisfy { $0.parameters[.hapticSharpness] == 0.5 })
    #expect(changed.visitedValueCount <= 300 * count)
    #expect(try editor.applying([.remove("events[4000]")]).visitedValueCount <= count + 300)
    #expect(
      try editor.applying((0..<count).map { .remove("events[\($0)]") }).visitedValueCount <= 3
        * text.utf8.count)
  }
}
