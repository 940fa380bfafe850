import Reading
import Testing

@Suite struct JSONWriterTests {
  func write(_ layout: JSONWriter.Layout, _ contents: (inout JSONObjectWriter) -> Void) -> String {
    var writer = JSONWriter(layout: layout)
    writer.writeObject(contents)
    return String(decoding: writer.finishedText(), as: UTF8.self)
  }

  func example(_ object: inout JSONObjectWriter) {
    object.writeMember("text", "a\"b\\\n\u{1}é")
    object.writeMember("real", 0.1)
    object.writeMember("single", Float(0.1))
    object.writeMember("whole", 3)
    object.writeMember("truth", false)
    object.writeNull("nothing")
    object.writeObject("none") { _ in }
    object.writeArray("list") { list in
      list.writeElement(1)
      list.writeElement(2.0)
      list.writeElement("x")
      list.writeArray { _ in }
    }
    object.writeArray("row", layout: .singleLine) { row in
      row.writeElement(1)
      row.writeObject { $0.writeMember("a", 1) }
    }
  }

  @Test func nullIsWrittenAsElement() {
    let text = write(.compact) { object in
      object.writeArray("list") { list in
        list.writeNull()
        list.writeNull()
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
      copy.writeValue(copying: document.root)
      #expect(String(decoding: copy.finishedText(), as: UTF8.self) == text)
    }
  }

  @Test func copiesOrderRepetitionsAndDigits() throws {
    let text = #"{"b":1.50,"a":1E5,"b":[-0,0.10]}"#
    var copy = JSONWriter(layout: .compact)
    copy.writeValue(copying: try JSONDocument(text: Array(text.utf8), name: "t").root)
    #expect(String(decoding: copy.writtenBytes, as: UTF8.self) == text)
  }

  @Test func writesNumbersThatReadBackEqual() throws {
    for value in [
      0.1, 1e-7, 1e300, Double.leastNonzeroMagnitude, -0.0, 1.0 / 3.0, 123_456_789.0, .pi,
    ] {
      let text = write(.compact) { $0.writeMember("x", value) }
      let number = try JSONDocument(text: Array(text.utf8), name: "t").root["x"]?.number
      #expect(number?.bitPattern == value.bitPattern)
    }
  }

  @Test func throwingContentsKeepPrecedingText() {
    struct Stop: Error {}
    var writer = JSONWriter(layout: .compact)
    #expect(throws: Stop.self) {
      try writer.writeObject { object throws(Stop) in
        object.writeMember("a", 1)
        throw Stop()
      }
    }
    #expect(String(decoding: writer.writtenBytes, as: UTF8.self) == #"{"a":1"#)
  }

  @Test func nonFiniteNumbersTrap() async {
    await #expect(processExitsWith: .failure) {
      var writer = JSONWriter()
      writer.writeObject { $0.writeMember("x", Double.nan) }
    }
  }
}
