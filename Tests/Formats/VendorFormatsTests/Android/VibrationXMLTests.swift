import Reading
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

/// Texts of vibration XML, and their findings.
enum VibrationFixtures {
  /// A file of one effect.
  static func file(_ content: String) -> String {
    "<vibration-effect>\(content)</vibration-effect>"
  }

  static func readResult(_ text: String) -> ReadResult {
    HapticFormat.androidXML.examine(
      SourceFile(Array(text.utf8), name: "v.xml"), options: ReadingOptions())
  }

  static func errors(_ text: String) -> [String] {
    readResult(text).findings.filter { $0.severity == .error }.map(\.description)
  }

  /// Returns a basic envelope of points, each with intensity, sharpness, and milliseconds.
  static func basic(_ points: String, attributes: String = "") -> String {
    let points = points.split(separator: ",").map { point in
      let values = point.split(separator: " ")
      return "<control-point intensity=\"\(values[0])\" sharpness=\"\(values[1])\" "
        + "durationMs=\"\(values[2])\"/>"
    }
    return "<basic-envelope-effect\(attributes)>\(points.joined())</basic-envelope-effect>"
  }

  /// Returns a waveform envelope of points, each with amplitude, hertz, and milliseconds.
  static func envelope(_ points: String, attributes: String = "") -> String {
    let points = points.split(separator: ",").map { point in
      let values = point.split(separator: " ")
      return "<control-point amplitude=\"\(values[0])\" frequencyHz=\"\(values[1])\" "
        + "durationMs=\"\(values[2])\"/>"
    }
    return "<waveform-envelope-effect\(attributes)>\(points.joined())</waveform-envelope-effect>"
  }

  static func entries(_ entries: String) -> String {
    entries.split(separator: ",").map { entry in
      let values = entry.split(separator: " ")
      return "<waveform-entry durationMs=\"\(values[0])\" amplitude=\"\(values[1])\"/>"
    }.joined()
  }
}

@Suite struct VibrationXMLTests {
  private typealias V = VibrationFixtures
  private static let tick = "<primitive-effect name=\"tick\"/>"

  private static let acceptedTexts: [String] = [
    V.file("<predefined-effect name=\"tick\"/>"), V.file("<predefined-effect name=\"click\"/>"),
    V.file("<predefined-effect name=\"heavy_click\"/>"),
    V.file("<predefined-effect name=\"double_click\"/>"),
    "<vibration><predefined-effect name=\"tick\"/></vibration>",
    "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><!-- a --> \n" + V.file(tick)
      + "<!-- b --> ",
    V.file("<!-- a -->\(tick)\n\t<!-- b --><?x y?>"),
    V.file(
      ["low_tick", "tick", "click", "slow_rise", "quick_rise", "quick_fall", "spin", "thud"].map {
        "<primitive-effect name=\"\($0)\"></primitive-effect>"
      }.joined()),
    V.file("<primitive-effect name=\"click\" scale=\"0\" delayMs=\"0\" delayType=\"pause\"/>"),
    V.file(
      tick + "<primitive-effect scale=\"1.0\" name=\"thud\" delayMs=\"20\" "
        + "delayType=\"relative_start_offset\"/>"),
    V.file("<waveform-effect>\(V.entries("0 0,10 default,25 255"))</waveform-effect>"),
    V.file("<waveform-effect><repeating>\(V.entries("10 1"))</repeating></waveform-effect>"),
    V.file(
      "<waveform-effect>\(V.entries("0 9"))<repeating>\(V.entries("10 1,0 2"))</repeating>"
        + "</waveform-effect>"),
    V.file(V.basic("0.4 0.5 50,0 1 20")), V.file(V.basic("0 0 1")),
    V.file(V.basic("1e-1 +.5 50,0.0 1. 20", attributes: " initialSharpness='0.2'")),
    V.file(V.envelope("0.4 150 50")),
    V.file(V.envelope("1 1000 50,0 20 9", attributes: " initialFrequencyHz=\"30\"")),
    V.file(
      "<repeating-effect><repeating>\(V.basic("0.4 0.5 50,0 1 20"))</repeating></repeating-effect>"),
    V.file(
      "<repeating-effect><preamble>\(V.envelope("1 150 9"))</preamble><repeating>\(tick)\(tick)"
        + "</repeating></repeating-effect>"),
    V.file(
      "<repeating-effect><preamble><predefined-effect name=\"click\"/></preamble><repeating>"
        + "\(V.entries("10 0,10 255"))</repeating></repeating-effect>"), "<vibration-select/>",
    "<vibration-select> <!-- a --> \(V.file(tick))\(V.file(V.basic("0 0 1")))</vibration-select>",
  ]

  @Test(arguments: acceptedTexts) func acceptsWhatAndroidAccepts(text: String) throws {
    #expect(V.errors(text) == [])
    #expect(V.readResult(text).composition != nil)
    let file = SourceFile(Array(text.utf8), name: "x")
    #expect(try FormatRegistry.standard.format(of: file).id == "android-xml")
  }

  private static let invalidTexts = TableRow.rows(
    """
    <vibration-effect></vibration-effect>
      1:1: error: vibration-effect is empty (vibration-effect)
    <vibration-effect/>
      1:1: error: vibration-effect is empty (vibration-effect)
    <haptics/>
      1:1: error: the root is "haptics", not "vibration-effect" or "vibration-select" (haptics)
    <vibration-effect a="1"><primitive-effect name="tick"/></vibration-effect>
      1:19: error: unexpected attribute "a" (vibration-effect)
    <vibration-effect><primitive-effect name="tick"/><predefined-effect \
    name="tick"/></vibration-effect>
      1:50: error: unexpected element "predefined-effect" in vibration-effect \
    (vibration-effect.predefined-effect[1])
    <vibration-effect><predefined-effect name="tick"/><primitive-effect \
    name="tick"/></vibration-effect>
      1:51: error: unexpected element "primitive-effect" in vibration-effect \
    (vibration-effect.primitive-effect[1])
    <vibration-effect><predefined-effect name="thud"/></vibration-effect>
      1:38: error: name is "thud"; must be one of tick, click, heavy_click, double_click \
    (vibration-effect.predefined-effect[0])
    <vibration-effect><predefined-effect id="0"/></vibration-effect>
      1:19: error: predefined-effect must have the attribute "name" \
    (vibration-effect.predefined-effect[0])
    <vibration-effect><primitive-effect name="tick" scale="1.01"/></vibration-effect>
      1:49: error: scale is "1.01"; must be a number 0 to 1 (vibration-effect.primitive-effect[0])
    <vibration-effect><primitive-effect name="tick" delayMs="-1"/></vibration-effect>
      1:49: error: delayMs is "-1"; must be a whole number of at least 0 \
    (vibration-effect.primitive-effect[0])
    <vibration-effect><primitive-effect name="tick" delayMs="2147483648"/></vibration-effect>
      1:49: error: delayMs is "2147483648"; must be at most 2147483647 \
    (vibration-effect.primitive-effect[0])
    <vibration-effect><primitive-effect name="tick" \
    delayMs="99999999999999999999"/></vibration-effect>
      1:49: error: delayMs is "99999999999999999999"; must be at most 2147483647 \
    (vibration-effect.primitive-effect[0])
    <vibration-effect><primitive-effect name="tick" delayMs="1e10"/></vibration-effect>
      1:49: error: delayMs is "1e10"; must be a whole number of at least 0 \
    (vibration-effect.primitive-effect[0])
    <vibration-effect><primitive-effect name="tick" delayType="later"/></vibration-effect>
      1:49: error: delayType is "later"; must be pause or relative_start_offset \
    (vibration-effect.primitive-effect[0])
    <vibration-effect><primitive-effect name="tick"><primitive-effect \
    name="tick"/></primitive-effect></vibration-effect>
      1:49: error: unexpected element "primitive-effect" in primitive-effect \
    (vibration-effect.primitive-effect[0].primitive-effect[0])
    <vibration-effect><primitiv-effect name="tick"/></vibration-effect>
      1:19: error: unexpected element "primitiv-effect" in vibration-effect \
    (vibration-effect.primitiv-effect[0]); did you mean "primitive-effect"?
    <vibration-effect><waveform-effect></waveform-effect></vibration-effect>
      1:19: error: the durations of the waveform are all 0 (vibration-effect.waveform-effect[0])
    <vibration-effect><waveform-effect><waveform-entry durationMs="0" \
    amplitude="9"/><waveform-entry durationMs="0" \
    amplitude="0"/></waveform-effect></vibration-effect>
      1:19: error: the durations of the waveform are all 0 (vibration-effect.waveform-effect[0])
    <vibration-effect><waveform-effect><waveform-entry durationMs="5" \
    amplitude="9"/><repeating/></waveform-effect></vibration-effect>
      1:82: error: repeating is empty (vibration-effect.waveform-effect[0].repeating[1])
    <vibration-effect><waveform-effect><repeating><waveform-entry durationMs="5" \
    amplitude="9"/></repeating><waveform-entry durationMs="5" \
    amplitude="9"/></waveform-effect></vibration-effect>
      1:105: error: unexpected element "waveform-entry" in waveform-effect \
    (vibration-effect.waveform-effect[0].waveform-entry[1])
    <vibration-effect><waveform-effect><waveform-entry durationMs="5" \
    amplitude="256"/></waveform-effect></vibration-effect>
      1:67: error: amplitude is "256"; must be 0 to 255 or default \
    (vibration-effect.waveform-effect[0].waveform-entry[0])
    <vibration-effect><waveform-effect><waveform-entry durationMs="5.5" \
    amplitude="2"/></waveform-effect></vibration-effect>
      1:52: error: durationMs is "5.5"; must be a whole number of at least 0 \
    (vibration-effect.waveform-effect[0].waveform-entry[0])
    <vibration-effect><waveform-entry durationMs="5" amplitude="9"/></vibration-effect>
      1:19: error: unexpected element "waveform-entry" in vibration-effect \
    (vibration-effect.waveform-entry[0])
    <vibration-effect><basic-envelope-effect></basic-envelope-effect></vibration-effect>
      1:19: error: basic-envelope-effect has no control-point \
    (vibration-effect.basic-envelope-effect[0])
    <vibration-effect><basic-envelope-effect><control-point intensity="0.4" sharpness="0.5" \
    durationMs="50"/></basic-envelope-effect></vibration-effect>
      1:19: error: the envelope ends with intensity 0.4, not 0 \
    (vibration-effect.basic-envelope-effect[0]); add a control-point with intensity 0
    <vibration-effect><basic-envelope-effect><control-point intensity="0.4" sharpness="0.5" \
    durationMs="0"/><control-point intensity="0" sharpness="0" \
    durationMs="1"/></basic-envelope-effect></vibration-effect>
      1:89: error: durationMs is "0"; must be a whole number of at least 1 \
    (vibration-effect.basic-envelope-effect[0].control-point[0])
    <vibration-effect><basic-envelope-effect initialSharpness="-0.1"><control-point intensity="0" \
    sharpness="0" durationMs="1"/></basic-envelope-effect></vibration-effect>
      1:42: error: initialSharpness is "-0.1"; must be a number 0 to 1 \
    (vibration-effect.basic-envelope-effect[0])
    <vibration-effect><waveform-envelope-effect><control-point amplitude="0.4" frequencyHz="0" \
    durationMs="50"/></waveform-envelope-effect></vibration-effect>
      1:76: error: frequencyHz is "0"; must be a number greater than 0 \
    (vibration-effect.waveform-envelope-effect[0].control-point[0])
    <vibration-effect><repeating-effect></repeating-effect></vibration-effect>
      1:19: error: repeating-effect has no repeating (vibration-effect.repeating-effect[0])
    <vibration-effect><repeating-effect><preamble><primitive-effect \
    name="tick"/></preamble></repeating-effect></vibration-effect>
      1:19: error: repeating-effect has no repeating (vibration-effect.repeating-effect[0])
    <vibration-effect><repeating-effect><repeating/></repeating-effect></vibration-effect>
      1:37: error: repeating is empty (vibration-effect.repeating-effect[0].repeating[0])
    <vibration-effect><repeating-effect><repeating><repeating-effect/></repeating></repeating-effect></vibration-effect>
      1:48: error: unexpected element "repeating-effect" in repeating \
    (vibration-effect.repeating-effect[0].repeating[0].repeating-effect[0])
    <vibration-effect><vendor-effect>AAAA</vendor-effect></vibration-effect>
      1:34: error: text content is not allowed; use only elements and attributes
    <vibration-effect><vendor-effect/></vibration-effect>
      1:19: error: a vendor effect cannot be read (vibration-effect.vendor-effect[0])
    <vibration-select><vibration/></vibration-select>
      1:19: error: unexpected element "vibration" in vibration-select \
    (vibration-select.vibration[0]); did you mean "vibration-effect"?
    <vibration-effect><primitive-effect \
    name="tick"/></vibration-effect><vibration-effect><primitive-effect \
    name="tick"/></vibration-effect>
      1:69: error: the text is not valid XML: junk after document element
    text<vibration-effect><primitive-effect name="tick"/></vibration-effect>
      1:5: error: the text is not valid XML: not well-formed (invalid token)
    <vibration-effect>text<primitive-effect name="tick"/></vibration-effect>
      1:19: error: text content is not allowed; use only elements and attributes
    <vibration-effect><primitive-effect name="tick"/></vibration-effect>text
      1:69: error: the text is not valid XML: junk after document element
    <vibration-effect><primitive-effect></vibration-effect>
      1:39: error: the text is not valid XML: mismatched tag
    <vibration-effect>
      1:19: error: the text is not valid XML: no element found
    <vibration-effect><primitive-effect name="tick" name="click"/></vibration-effect>
      1:49: error: the text is not valid XML: duplicate attribute
    <vibration-effect><primitive-effect name="&x;"/></vibration-effect>
      1:19: error: the text is not valid XML: undefined entity
    <!DOCTYPE vibration-effect [<!ENTITY x SYSTEM \
    "/etc/passwd">]><vibration-effect><primitive-effect name="tick"/></vibration-effect>
      1:28: error: document type declarations are not allowed; remove it
    <!DOCTYPE vibration-effect SYSTEM "file:///etc/passwd"><vibration-effect><primitive-effect \
    name="tick"/></vibration-effect>
      1:55: error: document type declarations are not allowed; remove it
    """)

  @Test(arguments: invalidTexts) func refusesTextsThatAndroidRefuses(row: TableRow) {
    #expect(
      V.errors(row.input).first.map { [String($0.dropFirst("v.xml:".count))] } == row.expectedLines)
    #expect(V.readResult(row.input).composition == nil)
  }

  @Test(arguments: ["NaN", "Infinity", "-0.5", "1e999", "0x1", "", " 0.5", "1,0", "0.5f", "."])
  func refusesInvalidNumbers(value: String) {
    let text = V.file("<primitive-effect name=\"tick\" scale=\"\(value)\"/>")
    #expect(
      V.errors(text) == [
        "v.xml:1:49: error: scale is \"\(value)\"; must be a number 0 to 1 "
          + "(vibration-effect.primitive-effect[0])"
      ])
  }

  @Test func refusesDeepAndWideTexts() {
    #expect(V.errors("") == ["v.xml:1:1: error: the text is not valid XML: no element found"])
    let deepText = String(repeating: "<a>", count: 100_000)
    #expect(
      V.errors(deepText) == ["v.xml:1:97: error: elements are nested more than 32 levels deep"])
    let largeText = String(repeating: " ", count: 10_000_001)
    #expect(
      V.errors(largeText) == ["v.xml:1:1: error: the text has 10000001 bytes; the limit is 10 MB"])
    let utf16Text: [UInt8] = [0xFE, 0xFF] + V.file("").utf8.flatMap { [0, $0] }
    let examination = HapticFormat.androidXML.examine(
      SourceFile(utf16Text, name: "w"), options: ReadingOptions())
    #expect(
      examination.findings.map(\.description) == [
        "w:1:1: error: the text is UTF-16; save it as UTF-8"
      ])
    let bytes: [UInt8] = Array("<a".utf8) + [0xFF, 0xFE]
    #expect(
      HapticFormat.androidXML.examine(SourceFile(bytes, name: "w"), options: ReadingOptions())
        .composition == nil)
  }

  @Test func locationsCountLinesAndCharacters() {
    let text =
      "<vibration-effect>\r\n  <!-- ä𝄞 --><primitive-effect\n name=\"x\"/>\n</vibration-effect>"
    #expect(
      V.errors(text) == [
        "v.xml:3:2: error: name is \"x\"; must be one of low_tick, tick, click, slow_rise, "
          + "quick_rise, quick_fall, spin, thud (vibration-effect.primitive-effect[0])"
      ])
  }

  @Test func readsTheCorpus() throws {
    for file in try FormatsCorpus.files(in: "android-xml", suffix: ".xml") {
      let examination = FormatRegistry.standard.examine(SourceFile(file.bytes, name: "x"))
      let isRefused = examination.composition == nil
      #expect(isRefused == file.name.hasPrefix("bad-"), "\(file.name)")
    }
  }

  @Test func canonicalTextKeepsTheContent() throws {
    let text = """
      <!--first--><vibration-effect>
      <basic-envelope-effect initialSharpness = '0.2'><!-- second --><control-point durationMs="5"
        sharpness="0.50" intensity="1"/><control-point intensity="0" sharpness="1" durationMs="6" />
      </basic-envelope-effect></vibration-effect>
      """
    let file = SourceFile(Array(text.utf8), name: "c.xml")
    let canonicalText = try #require(try HapticFormat.androidXML.canonicalText(of: file))
    #expect(
      String(decoding: canonicalText, as: UTF8.self) == """
        <!--first-->
        <vibration-effect>
          <basic-envelope-effect initialSharpness="0.2">
            <!-- second -->
            <control-point intensity="1" sharpness="0.50" durationMs="5" />
            <control-point intensity="0" sharpness="1" durationMs="6" />
          </basic-envelope-effect>
        </vibration-effect>

        """)
    #expect(
      try HapticFormat.androidXML.canonicalText(of: SourceFile(canonicalText, name: "c.xml"))
        == canonicalText)
  }
}

/// Readers of several formats with extreme input.
@Suite struct BadFormatTests {
  private static let formats = FormatRegistry.standard.formats.filter {
    ["he", "oh", "android-xml", "android-arrays", "vibrate"].contains($0.id)
  }

  private func findings(_ format: HapticFormat, _ bytes: [UInt8]) -> [Finding] {
    let examination = format.examine(SourceFile(bytes, name: "b"), options: ReadingOptions())
    let isRefused = examination.findings.contains { $0.severity == .error }
    #expect(isRefused == (examination.composition == nil), "\(format.id)")
    return examination.findings
  }

  @Test func depthIsBounded() {
    let depth = 100_000
    for format in Self.formats {
      for open in ["[", "{\"Pattern\":", "<a>"] {
        let bytes = Array(String(repeating: open, count: depth).utf8)
        let results = findings(format, bytes)
        #expect(results.count == 1 && results[0].severity == .error, "\(format.id)")
        #expect(results[0].location.description != "b", "\(format.id): no location")
      }
    }
  }

  @Test func numbersBeyondAllRangesAreRefused() {
    for number in ["1e999", "NaN", "-Infinity", "1e400"] {
      for (text, id) in [
        (RichTapFixtures.he(RichTapFixtures.tap(intensity: number)), "he"),
        (RichTapFixtures.oh(RichTapFixtures.tap("\"StartTime\": \(number)")), "oh"),
        ("{\"timings\": [\(number)]}", "android-arrays"), ("[\(number)]", "vibrate"),
      ] {
        let format = Self.formats.first { $0.id == id }
        #expect(format.map { findings($0, Array(text.utf8)).isEmpty } == false, "\(id) \(number)")
      }
    }
    // Within the range of floating-point numbers, but not of integers.
    let lateText = RichTapFixtures.he(RichTapFixtures.tap("\"RelativeTime\": 1e300"))
    #expect(
      RichTapFixtures.readResult(lateText).composition?.layers[0].pattern.events[0].time
        == 2_147_483.647
    )
  }

  @Test func manyPointsAreReadAndReduced() throws {
    let count = 20_000
    let points = (0..<count).map { "0.\($0 % 10) 0.5 1" }.joined(separator: ",") + ",0 0 1"
    let text = VibrationFixtures.file(VibrationFixtures.basic(points))
    let composition = try VibrationFixtures.readResult(text).get()
    #expect(composition.layers[0].pattern.curves[0].controlPoints.count == count + 2)
    let richTapFile = try #require(try HapticFormat.richTapHE.write(composition))
    #expect(richTapFile.losses.contains { $0.message.contains("is reduced") })
  }

  @Test func everyTruncationIsRefusedOrRead() {
    let texts = [
      RichTapFixtures.he(RichTapFixtures.tap(), RichTapFixtures.hum()),
      RichTapFixtures.oh(
        RichTapFixtures.tap("\"StartTime\": 0"), RichTapFixtures.hum("\"StartTime\": 1")),
      VibrationFixtures.file(VibrationFixtures.basic("1 0.5 5,0 0 1")),
      "{\"timings\": [5, 6], \"amplitudes\": [7, 8]}",
    ]
    for (text, format) in zip(texts, Self.formats) {
      let bytes = Array(text.utf8)
      for length in bytes.indices {
        let results = findings(format, Array(bytes[..<length]))
        #expect(results.contains { $0.severity == .error }, "\(format.id) \(length)")
      }
    }
  }
}
