import Reading
import Testing

@Suite struct JSONNameListTests {
  static let names = JSONNameList(["Time", "EventType", "EventDuration", "HapticIntensity"])

  @Test(arguments: [
    ("Tiem", "Time"), ("time", "Time"), ("EventTpye", "EventType"), ("Duration", "EventDuration"),
    ("HapticIntensityControl", "HapticIntensity"), ("hapticintensty", "HapticIntensity"),
  ]) func findsTheNameThatWasMeant(text: String, name: String) {
    #expect(Self.names.nearest(to: text) == name)
  }

  @Test(arguments: ["", "x", "Color", "Frequency", String(repeating: "Time", count: 20)])
  func nearestNameIsSimilar(
    text: String
  ) { #expect(Self.names.nearest(to: text) == nil) }

  @Test func comparesStringsAndKeys() throws {
    let text = #"{"Time": "EventType", "Tim": "", "EventDuration": 1}"#
    let members = try JSONDocument(text: Array(text.utf8), name: "t").root.members
    #expect(members.map { Self.names.index(ofKey: $0) } == [0, nil, 2])
    #expect(members.map { Self.names.index(ofString: $0) } == [1, nil, nil])
  }

  @Test func quotesTextForMessages() {
    #expect("a\u{1B}[31m\"b".quoted() == #""a\u001B[31m\"b""#)
    #expect("a\u{85}\u{9B}\u{2028}é".quoted() == #""a\u0085\u009B\u2028é""#)
    #expect("\u{202E}\u{E0001}".quoted() == #""\u202E\uDB40\uDC01""#)
    #expect("abcdef".quoted(limit: 3) == "\"abc…\"")
  }
}
