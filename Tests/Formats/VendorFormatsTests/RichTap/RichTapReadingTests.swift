import Reading
import HapticFormats
import VendorFormats
import HapticModel
import Testing

/// Texts of HE and HarmonyOS files, and their findings.
enum RichTapFixtures {
  /// Returns a file of version 1 or 2 with the texts of events.
  static func he(_ events: String..., version: String = "1") -> String {
    let pattern = "\"Pattern\": [\(events.joined(separator: ", "))]"
    return version == "2"
      ? "{\"Metadata\": {\"Version\": 2}, \"PatternList\": [{\"AbsoluteTime\": 250, \(pattern)}]}"
      : "{\"Metadata\": {\"Version\": \(version)}, \(pattern)}"
  }

  static func oh(_ events: String..., metadata: String = "\"Version\": 1.0, \"ChannelNumber\": 1")
    -> String
  {
    "{\"MetaData\": {\(metadata)}, \"Channels\": [{\"Parameters\": {\"Index\": 0}, "
      + "\"Pattern\": [\(events.joined(separator: ", "))]}]}"
  }

  /// Returns a transient. The time is a key with a value.
  static func tap(
    _ time: String = "\"RelativeTime\": 0", intensity: String = "80", frequency: String = "60",
    index: String? = nil
  ) -> String {
    "{\"Event\": {\"Type\": \"transient\", \(time), " + (index.map { "\"Index\": \($0), " } ?? "")
      + "\"Parameters\": {\"Intensity\": \(intensity), \"Frequency\": \(frequency)}}}"
  }

  /// Returns a continuous event. The time is a key with a value. Each point of the curve has a time,
  /// an intensity, and a frequency.
  static func hum(
    _ time: String = "\"RelativeTime\": 0", duration: String = "100",
    curve: String? = "0 0 0, 10 1 0, 60 0.5 20, 100 0 -5"
  ) -> String {
    let points = curve.map { curve in
      let points = curve.split(separator: ",").map { point in
        let values = point.split(separator: " ")
        return "{\"Time\": \(values[0]), \"Intensity\": \(values[1]), \"Frequency\": \(values[2])}"
      }
      return ", \"Curve\": [\(points.joined(separator: ", "))]"
    }
    return "{\"Event\": {\"Type\": \"continuous\", \(time), \"Duration\": \(duration), "
      + "\"Parameters\": {\"Intensity\": 50, \"Frequency\": 40\(points ?? "")}}}"
  }

  static func readResult(_ text: String) -> ReadResult {
    FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: "f"))
  }

  /// Returns the warnings and errors, without their locations.
  static func findings(_ text: String) -> [String] {
    readResult(text).findings.filter { $0.severity > .note }.map { finding in
      "\(finding.rule): \(finding.message)"
    }
  }
}

@Suite struct RichTapReadingTests {
  @Test func readsEventsWithTheirCurves() throws {
    let text = RichTapFixtures.he(
      RichTapFixtures.tap(frequency: "120"), RichTapFixtures.hum("\"RelativeTime\": 40"),
      RichTapFixtures.tap("\"RelativeTime\": 90", index: "2"), version: "2")
    let examination = RichTapFixtures.readResult(text)
    let composition = try examination.get()
    #expect(composition.layers.map(\.name) == ["", "", "right"])
    #expect(
      composition.layers.map(\.bodyLocation) == [
        nil, nil, HapticComposition.BodyLocation(2, of: 2, name: "right"),
      ])
    #expect(
      composition.layers[0].pattern
        == HapticPattern(events: [
          HapticEvent(
            kind: .hapticTransient, time: 0.25,
            parameters: [.hapticIntensity: 0.8, .hapticSharpness: 1])
        ]))
    let continuousPattern = composition.layers[1].pattern
    #expect(
      continuousPattern.events == [
        HapticEvent(
          kind: .hapticContinuous, time: 0.29, duration: 0.1,
          parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.4])
      ])
    #expect(
      continuousPattern.curves.map(\.id) == [.hapticIntensityControl, .hapticSharpnessControl])
    #expect(continuousPattern.curves.map(\.time) == [0.29, 0.29])
    #expect(continuousPattern.curves[0].controlPoints.map(\.value) == [0, 1, 0.5, 0])
    #expect(continuousPattern.curves[1].controlPoints.map(\.value) == [0, 0, 0.2, -0.05])
    #expect(continuousPattern.curves[1].controlPoints.map(\.time) == [0, 0.01, 0.06, 0.1])
    #expect(
      examination.losses.map {
        "\($0.kind) \($0.compositionElement) \($0.message) \($0.lossMagnitude ?? 0)"
      }
        == [
          "approximated event(HapticModel.EventReference(layerIndex: 0, eventIndex: 0)) "
            + """
            frequencies outside 0 to 100 are clamped to the nearest sharpness, by up to 0.2 of \
            full scale 0.2
            """
        ])
    let location = examination.sourceMap.location(
      of: .event(EventReference(layerIndex: 2, eventIndex: 0)))
    #expect(location.path == "PatternList[0].Pattern[2].Event")
  }

  @Test func overlappingEventsAreKept() throws {
    let composition = try RichTapFixtures.readResult(
      RichTapFixtures.he(
        RichTapFixtures.hum(), RichTapFixtures.hum("\"RelativeTime\": 50"),
        RichTapFixtures.tap("\"RelativeTime\": 70"))
    ).get()
    #expect(composition.layers.map(\.pattern.events.count) == [1, 1, 1])
    #expect(composition.layers[0].pattern.curves.isEmpty, "a curve bends the transient")
    let overlaps = RichTapFixtures.readResult(
      RichTapFixtures.he(RichTapFixtures.hum(), RichTapFixtures.tap("\"RelativeTime\": 99"))
    )
    .findings.map(
      \.description)
    #expect(
      overlaps == [
        "f:1:372: note: an event starts while another event plays on the same vibrator; both play, but "
          + "hardware may play only one (Pattern[1].Event)"
      ])
  }

  /// OpenHarmony's schema allows such points, but its decoder does not.
  @Test func partialPointsAreReadForHarmonyOS() throws {
    let hum = """
      {"Event": {"Type": "continuous", "StartTime": 0, "Duration": 300, "Parameters": {"Intensity"\
      : 80, "Frequency": 50,
       "Curve": [{"Time": 0, "Intensity": 0}, {"Time": 50, "Frequency": 20}, {"Time": 200, "Intens\
      ity": 0.5},
                 {"Time": 300, "Intensity": 0}]}}}
      """
    let tap =
      #"{"Event": {"Type": "transient", "StartTime": 400, "Parameters": {"Intensity": 80}}}"#
    func examine(_ events: String) -> ReadResult {
      RichTapFixtures.readResult(
        #"{"MetaData": {"Version": 1.0, "ChannelNumber": 1}, "Channels": [{"Parameters": {"Index": 0}, "Pattern": ["#
          + events + "]}]}")
    }
    let examination = examine(hum + "," + tap)
    let layers = try examination.get().layers
    #expect(layers[1].pattern.curves[0].controlPoints.map(\.value) == [0, 1, 0.5, 0])
    #expect(layers[1].pattern.curves[1].controlPoints.map(\.value) == [0, 0.2, 0, 0])
    #expect(layers[0].pattern.events[0].value(of: .hapticSharpness) == 0.5)
    #expect(
      examination.findings.map { $0.rule.text } == Array(repeating: "oh/partial-keys", count: 5))
    #expect(
      examine(
        #"{"Event": {"Type": "continuous", "StartTime": 0, "Duration": 9, "Parameters": {"Intensity": 8}}}"#
      )
      .findings.first { $0.severity == .error }?.message
        == "Parameters must have the key \"Frequency\"")
    #expect(
      examine(hum.replacing(#", "Frequency": 20"#, with: "")).findings.first {
        $0.severity == .error
      }?.message
        == "a point of Curve must have the key \"Intensity\" or \"Frequency\"")
  }

  @Test func curveThatOnlyRampsTheEndsIsOmitted() throws {
    let text = RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0 0, 1 1 0, 99 1 0, 100 0 0"))
    let composition = try RichTapFixtures.readResult(text).get()
    #expect(composition.layers.count == 1 && composition.layers[0].pattern.curves.isEmpty)
    let compositionWithoutCurve = try RichTapFixtures.readResult(
      RichTapFixtures.oh(RichTapFixtures.hum("\"StartTime\": 0", curve: nil))
    ).get()
    #expect(compositionWithoutCurve == composition)
  }

  @Test func readsTheDialectOfOpenHarmonysConverter() throws {
    let unwrappedEvent =
      "{\"Type\": \"continuous\", \"RelativeTime\": 5, \"Duration\": 20, \"Parameters\": "
      + "{\"Intensity\": 50, \"Frequency\": 40, \"Curve\": ["
      + [(0, 50), (5, 100), (10, 70), (20, 20)].map {
        "{\"Time\": \($0.0), \"Intensity\": \($0.1), \"Frequency\": 0}"
      }
      .joined(separator: ", ") + "]}}"
    let text = RichTapFixtures.he(unwrappedEvent)
    #expect(
      RichTapFixtures.findings(text) == [
        "he/no-event-wrapper: an event is not under the key \"Event\"",
        "he/curve-ends: Curve runs from Intensity 0.5 at 0 to 0.2 at 20; it must run from 0 at 0 to 0 "
          + "at 20",
        """
        he/percent-curve: curve intensities are read as percentages, because one of them is \
        greater than 1
        """,
      ])
    let curve = try RichTapFixtures.readResult(text).get().layers[0].pattern.curves[0]
    #expect(curve.controlPoints.map(\.value) == [0.5, 1, 0.7, 0.2])
  }

  static let invalidTexts: [(String, String)] = [
    ("{}", "he/missing-key: the file must have the key \"Metadata\""),
    (RichTapFixtures.he(version: "3"), "he/version: Version is 3; expected 1 or 2"),
    (RichTapFixtures.he(), "he/event-count: Pattern is empty"),
    (RichTapFixtures.he("{}"), "he/missing-key: an entry of Pattern must have the key \"Event\""),
    (
      RichTapFixtures.he("[]"), "he/wrong-type: an entry of Pattern must be an object, not an array"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.tap("\"RelativeTime\": -1")),
      "he/relative-time: RelativeTime is -1; it must not be negative"
    ),
    (
      RichTapFixtures.he(
        RichTapFixtures.tap("\"RelativeTime\": 9"), RichTapFixtures.tap("\"RelativeTime\": 8")),
      "he/relative-time: RelativeTime is 8, before the previous event at 9"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.tap(intensity: "101")),
      "he/intensity: Intensity is 101, outside 0 to 100"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.tap(frequency: "-51")),
      "he/frequency: Frequency is -51, outside -50 to 150"
    ),
    (RichTapFixtures.he(RichTapFixtures.tap(index: "3")), "he/index: Index is 3, outside 0 to 2"),
    (
      RichTapFixtures.he(RichTapFixtures.tap(intensity: "\"9\"")),
      "he/wrong-type: Intensity must be a number, not a string"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.tap(intensity: "7.5")),
      "he/fraction: Intensity is 7.5; 7 is used"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: nil)),
      "he/curve-required: a continuous event must have the key \"Curve\""
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0 0, 5 1 0, 100 0 0")),
      "he/curve-point-count: Curve has 3 points; expected 4 to 16"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0 0, 5 1 0, 5 1 0, 100 0 0")),
      "he/curve-time: Time is 5, not after the previous point at 5"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0 0, 5 1 0, 101 1 0, 100 0 0")),
      "he/curve-time: Time is 101, outside 0 to 100"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0.1 0, 5 1 0, 9 1 0, 100 0 0")),
      "he/curve-ends: Curve runs from Intensity 0.1 at 0 to 0.0 at 100; it must run from 0 at 0 to 0 "
        + "at 100"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0 0, 5 -1 0, 9 1 0, 100 0 0")),
      "he/curve-range: Intensity is -1, outside 0 to 1"
    ),
    (
      RichTapFixtures.he(RichTapFixtures.hum(curve: "0 0 0, 5 1 101, 9 1 0, 100 0 0")),
      "he/curve-range: Frequency is 101, outside -100 to 100"
    ),
    ("{\"Metadata\": {\"Version\": 2}, \"PatternList\": []}", "he/structure: PatternList is empty"),
    (
      "{\"Metadata\": {\"Version\": 2}, \"PatternList\": ["
        + [3, 3].map { "{\"AbsoluteTime\": \($0), \"Pattern\": [\(RichTapFixtures.tap())]}" }
        .joined(
          separator: ", ") + "]}",
      "he/absolute-time: AbsoluteTime is 3, not after the previous pattern at 3"
    ),
    (
      RichTapFixtures.oh(
        RichTapFixtures.tap("\"StartTime\": 0"), metadata: "\"Version\": 2, \"ChannelNumber\": 1"),
      "oh/version: Version is 2; expected 1.0"
    ),
    (
      RichTapFixtures.oh(
        RichTapFixtures.tap("\"StartTime\": 0"), metadata: "\"Version\": 1, \"ChannelNumber\": 2"),
      "oh/channel-count: ChannelNumber is 2, but Channels has 1"
    ),
    (
      RichTapFixtures.oh(RichTapFixtures.tap("\"StartTime\": 1800001")),
      "oh/start-time: StartTime is 1800001, outside 0 to 1800000"
    ),
    (
      RichTapFixtures.oh(RichTapFixtures.tap("\"StartTime\": 0", frequency: "101")),
      "oh/frequency: Frequency is 101, outside 0 to 100"
    ),
    (
      RichTapFixtures.oh(RichTapFixtures.hum("\"StartTime\": 0", duration: "5001", curve: nil)),
      "oh/duration: Duration is 5001, outside 0 to 5000"
    ),
    (
      RichTapFixtures.oh(
        RichTapFixtures.tap("\"StartTime\": 0").replacing("transient", with: "contnuous")),
      "oh/event-type: unknown event type \"contnuous\""
    ),
  ]

  @Test(arguments: invalidTexts) func reportsViolationsOfTheDecoder(text: String, message: String) {
    let id = message.prefix(2) == "he" ? HapticFormat.richTapHE : HapticFormat.harmonyOS
    let examination = id.examine(SourceFile(Array(text.utf8), name: "f"), options: ReadingOptions())
    let messages = examination.findings.filter { $0.severity > .note }.map {
      "\($0.rule): \($0.message)"
    }
    #expect(messages.first == message)
    #expect((examination.composition == nil) == !message.contains("he/fraction"))
  }

  @Test func countsAreLimitedLikeInTheDecoder() {
    let taps = { (count: Int, key: String) in
      (0..<count).map { RichTapFixtures.tap("\"\(key)\": \($0)") }.joined(separator: ", ")
    }
    #expect(RichTapFixtures.findings(RichTapFixtures.he(taps(16, "RelativeTime"))) == [])
    #expect(
      RichTapFixtures.findings(RichTapFixtures.he(taps(17, "RelativeTime"))) == [
        "he/event-count: Pattern has 17 events; HarmonyOS rejects more than 16"
      ])
    #expect(
      RichTapFixtures.readResult(RichTapFixtures.he(taps(17, "RelativeTime"))).composition != nil)
    #expect(RichTapFixtures.findings(RichTapFixtures.oh(taps(128, "StartTime"))) == [])
    #expect(
      RichTapFixtures.findings(RichTapFixtures.oh(taps(129, "StartTime"))) == [
        "oh/event-count: Pattern has 129 events; HarmonyOS rejects more than 128"
      ])
    let padding = String(repeating: " ", count: 65_536)
    #expect(
      RichTapFixtures.findings(RichTapFixtures.oh(taps(1, "StartTime")) + padding).map {
        $0.prefix(12)
      } == [
        "oh/file-size"
      ])
  }

  @Test func contentDecidesBetweenAppleAndRichTap() throws {
    func id(_ text: String) throws -> String {
      try FormatRegistry.standard.format(of: SourceFile(Array(text.utf8), name: "x.ahap")).id
    }
    #expect(try id(RichTapFixtures.he(RichTapFixtures.tap())) == "he")
    #expect(try id(RichTapFixtures.he(RichTapFixtures.tap(), version: "2")) == "he")
    #expect(try id(RichTapFixtures.oh(RichTapFixtures.tap())) == "oh")
    #expect(
      try id("{\"Metadata\": {\"Type\": 1}, \"Pattern\": [{\"Event\": {\"EventType\": \"x\"}}]}")
        == "ahap")
  }
}
