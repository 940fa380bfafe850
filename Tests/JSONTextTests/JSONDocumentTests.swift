import JSONText
import Testing

@Suite struct JSONDocumentTests {
  @Test func walksNestedValues() throws {
    let document = try JSONDocument(
      text: Array(#"{"a": [1, {"b": "x\u00e9"}], "c": true}"#.utf8), name: "t")
    #expect(document.root["a"]?.elements.map(\.kind) == [.number, .object])
    let b = document.root["a"]?.elements.map { $0 }[1]["b"]
    #expect(b?.string == "xé")
    #expect(b?.path == "a[1].b")
    #expect(document.root["c"]?.boolean == true)
  }
}
