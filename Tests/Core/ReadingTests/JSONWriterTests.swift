import Reading
import Testing

@Suite struct JSONWriterTests {
  func write(_ layout: JSONWriter.Layout, _ contents: (inout JSONObjectWriter) -> Void) -> String {
    var writer = JSONWriter(layout: layout)
    writer.object(contents)
    return String(decoding: writer.finish(), as: UTF8.self)
  }

  func example(_ object: inout JSONObjectWriter) {
    object.member("text", "a\"b\\\n\u{1}é")
    object.member("real", 0.1)
    object.member("single", Float(0.1))
    object.member("whole", 3)
    object.member("truth", false)
    object.null("nothing")
    object.object("none") { _ in }
    object.array("list") { list in
      list.element(1)
      list.element(2.0)
      list.element("x")
      list.array { _ in }
    }
    object.array("row", layout: .singleLine) { row in
      row.element(1)
      row.object { $0.member("a", 1) }
    }
  }

  @Test func nullIsWrittenAsElement() {
    let text = write(.compact) { object in
      object.array("list") { list in
        list.null()
        list.null()
      }
    }
    #expect(text == "{\"list\":[null,null]}\n")
  }

  @Test func writesLines() {
    #expect(
      write(.multiline, example) == #"""
        {
          "text": "a\"b\\\n\u0001é",
          "real": 0.1,
          "single": 0.1,
          "whole": 3,
          "truth": false,
          "nothing": null,
          "none": {},
          "list": [
            1,
            2.0,
            "x",
            []
          ],
          "row": [1, { "a": 1 }]
        }

        """#)
  }

  @Test func writesCompactly() {
    #expect(
      write(.compact, example) == #"{"text":"a\"b\\\n\u0001é","real":0.1,"single":0.1,"whole":3,"#
        + #""truth":false,"nothing":null,"none":{},"list":[1,2.0,"x",[]],"row":[1,{"a":1}]}"# + "\n"
    )
  }

  @Test func writtenTextReadsBackEqual() throws {
    for layout in [JSONWriter.Layout.singleLine, .compact] {
      let text = write(layout, example)
      let document = try JSONDocument(text: Array(text.utf8), name: "t")
      #expect(document.deviations.isEmpty)
      #expect(document.root["text"]?.string == "a\"b\\\n\u{1}é")
      var copy = JSONWriter(layout: layout)
      copy.value(copying: document.root)
      #expect(String(decoding: copy.finish(), as: UTF8.self) == text)
    }
  }

  @Test func copiesOrderRepetitionsAndDigits() throws {
    let text = #"{"b":1.50,"a":1E5,"b":[-0,0.10]}"#
    var copy = JSONWriter(layout: .compact)
    copy.value(copying: try JSONDocument(text: Array(text.utf8), name: "t").root)
    #expect(String(decoding: copy.bytes, as: UTF8.self) == text)
  }

  @Test func writesNumbersThatReadBackEqual() throws {
    for value in [
      0.1, 1e-7, 1e300, Double.leastNonzeroMagnitude, -0.0, 1.0 / 3.0, 123_456_789.0, .pi,
    ] {
      let text = write(.compact) { $0.member("x", value) }
      let number = try JSONDocument(text: Array(text.utf8), name: "t").root["x"]?.number
      #expect(number?.bitPattern == value.bitPattern)
    }
  }

  @Test func throwingContentsKeepPrecedingText() {
    struct Stop: Error {}
    var writer = JSONWriter(layout: .compact)
    #expect(throws: Stop.self) {
      try writer.object { object throws(Stop) in
        object.member("a", 1)
        throw Stop()
      }
    }
    #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":1"#)
  }

  @Test func nonFiniteNumbersTrap() async {
    await #expect(processExitsWith: .failure) {
      var writer = JSONWriter()
      writer.object { $0.member("x", Double.nan) }
    }
  }
}
