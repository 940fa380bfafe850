import Testing

@testable import Reading

/// A schema with a property of each kind, read and written.
@Suite struct JSONObjectSchemaTests {
  private struct Reader: JSONSchemaReader {
    var findingLog = FindingLog()
    let schemaRules = JSONSchemaRules(
      missingKey: Rule.error("missing", "", ""), recommendedKey: Rule.warning("expected", "", ""),
      wrongType: Rule.error("type", "", ""), outOfRange: Rule.error("range", "", ""),
      unknownKey: Rule.note("unknown", "", ""), unknownValue: Rule.error("word", "", ""))
  }

  private enum Form: String, CaseIterable, JSONEnumeration { case smooth, rough }

  private struct Point: Equatable {
    var time = 0.0
    var level: Float?
  }

  private struct Clip: Equatable {
    var name = ""
    var count = 1
    var offset = 0
    var form = Form.smooth
    var origin = Point()
    var end: Point?
    var points: [Point] = []
    var tags: [String] = []
    var inner: [Clip] = []
  }

  private static let point: JSONObjectSchema<Point, Reader> = JSONObjectSchema(
    "a point",
    [
      .value("time", .number(0...10), is: .required) { $1(&$0.time) },
      .value("level", .number(0...1)) { $1(&$0.level) },
    ])

  private static let clip: JSONObjectSchema<Clip, Reader> = JSONObjectSchema(
    "a clip",
    [
      .value("name", .string(), is: .required) { $1(&$0.name) },
      .value("count", .integer(0...9), default: 1) { $1(&$0.count) },
      .value("offset", .integer(0...Int(Int32.max)), default: 0) { $1(&$0.offset) },
      .enumeration("form") { $1(&$0.form) },
      .object("origin", point, layout: .singleLine) { $1(&$0.origin) },
      .object("end", point, new: Point(), layout: .singleLine) { $1(&$0.end) },
      .array("points", of: point, count: 0...2, new: Point(), layout: .singleLine) {
        $1(&$0.points)
      },
      .values("tags", of: .string(), layout: .singleLine) { $1(&$0.tags) },
      .array("inner", of: JSONObjectSchemaTests.clip, new: Clip()) { $1(&$0.inner) },
    ])

  private static let example = Clip(
    name: "one", count: 3, form: .rough, end: Point(time: 2, level: 0.1),
    points: [Point(), Point(time: 1)],
    tags: ["a", "b"], inner: [Clip(name: "two")])

  private static let text = """
    {
      "name": "one",
      "count": 3,
      "form": "rough",
      "end": { "time": 2.0, "level": 0.1 },
      "points": [
        { "time": 0.0 },
        { "time": 1.0 }
      ],
      "tags": ["a", "b"],
      "inner": [
        {
          "name": "two",
          "form": "smooth"
        }
      ]
    }

    """

  private static func read(_ text: String) throws -> (clip: Clip, findings: [String]) {
    let document = try JSONDocument(text: Array(text.utf8), name: "t")
    var reader = Reader()
    var clip = Clip()
    Self.clip.read(document.root, into: &clip, reader: &reader)
    return (clip, reader.findingLog.findings(in: document).map { "\($0.rule) \($0)" })
  }

  @Test func writtenTextReadsBackEqual() throws {
    let writtenText = String(
      decoding: {
        var writer = JSONWriter()
        writer.writeObject { Self.clip.write(Self.example, unless: Clip(), to: &$0) }
        return writer.finishedText()
      }(), as: UTF8.self)
    #expect(writtenText == Self.text)
    let (clip, findings) = try Self.read(writtenText)
    #expect(clip == Self.example)
    #expect(findings.isEmpty)
  }

  @Test(arguments: [
    ("[]", ["type t:1:1: error: a clip must be an object, not an array"]),
    (
      #"{"nme": "a"}"#,
      [
        #"missing t:1:1: error: a clip must have the key "name"; rename "nme" to "name""#,
        #"unknown t:1:2: note: unknown key "nme" is ignored (nme); did you mean "name"?"#,
      ]
    ),
    (#"{"name": "a", "count": 10}"#, ["range t:1:24: error: count is 10, outside 0 to 9 (count)"]),
    (
      #"{"name": "a", "count": 1.5}"#,
      ["range t:1:24: error: count is 1.5; it must be a whole number (count)"]
    ),
    (
      #"{"name": "a", "offset": -1}"#,
      ["range t:1:25: error: offset is -1; it must not be negative (offset)"]
    ),
    (
      #"{"name": "a", "offset": 2147483648}"#,
      ["range t:1:25: error: offset is 2147483648; it must be at most 2147483647 (offset)"]
    ),
    (#"{"name": "a", "form": "ruff"}"#, [#"word t:1:23: error: unknown form "ruff" (form)"#]),
    (
      #"{"name": "a", "count": "1"}"#,
      [
        "type t:1:24: error: count must be a number, not a string (count); write it without quotes"
      ]
    ),
    (
      #"{"name": "a", "points": [{"time": 0}, {}, {"time": 1}]}"#,
      [
        "range t:1:25: error: points has 3 entries, outside 0 to 2 (points)",
        #"missing t:1:39: error: a point must have the key "time" (points[1])"#,
      ]
    ),
    (
      #"{"name": "a", "tags": ["b", 1]}"#,
      ["type t:1:29: error: tags must be a string, not a number (tags[1])"]
    ),
    (
      #"{"name": "a", "end": {"time": 11}}"#,
      ["range t:1:31: error: time is 11, outside 0 to 10 (end.time)"]
    ),
  ])
  func violationsAreReported(text: String, findings: [String]) throws {
    #expect(try Self.read(text).findings == findings)
  }

  @Test func canonicalTextHasOrderAndLayoutOfProperties() throws {
    let unorderedText =
      #"{"x": {"b": 1, "a": 2}, "points": [{"level": 1e0, "time": 0}], "name": "one", "name": "two"}"#
    let document = try JSONDocument(text: Array(unorderedText.utf8), name: "t")
    #expect(
      String(
        decoding: Self.clip.schema.canonicalText(of: document.root, normalizesNumbers: true),
        as: UTF8.self)
          == """
          {
            "name": "one",
            "name": "two",
            "points": [
              { "time": 0.0, "level": 1.0 }
            ],
            "x": {
              "b": 1,
              "a": 2
            }
          }

          """)
  }
}
