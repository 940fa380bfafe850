import Testing

@testable import Reading

@Suite struct JSONDocumentTests {
  func read(_ text: String) throws -> JSONDocument {
    try JSONDocument(text: Array(text.utf8), name: "t.json")
  }

  @Test func walksNestedValues() throws {
    let root = try read(#"{"a": [1, {"b": "x\u00e9"}, null], "c": true, "a b": [[]]}"#).root
    #expect(root.kind == .object)
    #expect(root.members.map(\.key) == ["a", "c", "a b"])
    #expect(root["a"]?.elements.map(\.kind) == [.number, .object, .null])
    #expect(root["c"]?.boolean == true)
    #expect(root["d"] == nil)
    #expect(root["a"]?.members.isEmpty == true)
    #expect(root.elements.isEmpty)
    let nestedValue = try #require(root["a"]?.elements.dropFirst().first { _ in true }?["b"])
    #expect(nestedValue.string == "xé")
    #expect(nestedValue.number == nil)
    #expect(nestedValue.path == "a[1].b")
    #expect(nestedValue.parent?.path == "a[1]")
    #expect(root["a b"]?.elements.first { _ in true }?.path == #"["a b"][0]"#)
    #expect(root.path == "")
  }

  @Test func decodesEveryEscape() throws {
    let root = try read(#"["\"\\\/\b\f\n\r\t\u0041\u00E9\ud83d\uDE00", "plain é😀"]"#).root
    #expect(root.elements.map(\.string) == ["\"\\/\u{8}\u{C}\n\r\tAé😀", "plain é😀"])
  }

  @Test func keysWithEscapesAreFound() throws {
    let root = try read(#"{"\u0054ime": 1}"#).root
    #expect(root["Time"]?.number == 1)
    let names = JSONNameList(["Time", "Value"])
    #expect(root.members.map { names.index(ofKey: $0) } == [0])
  }

  @Test(arguments: ["true", "0", "\"x\"", "null", "[]", "{}"]) func readsOneValueOfAnyKind(
    text: String
  ) throws {
    #expect(try read(" \n\(text)\t").nodes.count == 1)
  }

  @Test func deviationsFromStrictJSONAreRecorded() throws {
    let document = try read("\u{FEFF}{\"a\": [1,], \"b\": 2, \"\\u0061\": 3,}")
    #expect(
      document.deviations.map(\.kind) == [
        .byteOrderMark, .trailingComma, .duplicateKey, .trailingComma,
      ])
    #expect(document.deviations.map(\.byteOffset) == [0, 11, 23, 34])
    #expect(document.deviations.map { document.value(of: $0).path } == ["", "a", "a", ""])
    #expect(document.root["a"]?.number == 3)
    #expect(document.root.members.map(\.number) == [nil, 2, 3])
  }

  @Test(arguments: [2, 8, 9, 100_000]) func singleDuplicateKeyIsFound(count: Int) throws {
    let keys = (0..<count).map { "\"k\($0)\": 0" } + ["\"k1\": 1"]
    let document = try read("{" + keys.joined(separator: ",") + "}")
    #expect(document.deviations.map(\.kind) == [.duplicateKey])
    #expect(document.root["k1"]?.number == 1)
    #expect(document.nodes.count == count + 2)
  }

  @Test func nestingUpToTheMaximumIsRead() throws {
    let text = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
    #expect(try read(text).nodes.count == 256)
  }

  @Test func locationsMatchEditors() throws {
    let root = try read("\u{FEFF}[1,\r\n é,\r \"é😀\", 2,\n3]".replacing(" é,", with: " 0,")).root
    #expect(
      root.elements.map { "\($0.location)" } == [
        "t.json:1:2", "t.json:2:2", "t.json:3:2", "t.json:3:8", "t.json:4:1",
      ])
  }

  @Test func locationsInLongTextsAreExact() throws {
    // Several checkpoint intervals of the line index, on few and on many lines.
    let line = "[" + String(repeating: "\"é\",", count: 9_000) + "7]"
    #expect(
      try read(line).root.elements.map(\.location.position).last
        == .text(line: 1, column: 2 + 4 * 9_000))
    let lines = "[" + String(repeating: "\"é\",\r\n", count: 9_000) + "7]"
    let positions = try read(lines).root.elements.map(\.location.position)
    #expect(positions.dropFirst() == ArraySlice((2...9_001).map { .text(line: $0, column: 1) }))
  }

  @Test func escapedKeysInPathsAreShortenedDecoded() throws {
    let key = String(repeating: "k", count: 300)
    let escaped = String(repeating: "\\u006b", count: 300)
    let paths = try [key, escaped].map { try read("[{\"\($0)\": []}]").root }.map { root in
      root.elements.first { _ in true }?.members.first { _ in true }?.path
    }
    #expect(paths == Array(repeating: "[0][\"\(key.prefix(40))…\"]", count: 2))
  }

  @Test func shortensKeysInPaths() throws {
    let key = String(repeating: "k", count: 100)
    let root = try read("{\"\(key)\": 1, \"a\\nb\": 2, \"\": 3}").root
    #expect(root.members.map(\.path) == ["[\"\(key.prefix(40))…\"]", "[\"a\\nb\"]", "[\"\"]"])
  }
}
