internal import JSONText

/// Values that a page's script reads from an element of the page.
enum EmbeddedJSON {
  /// The JSON text of an object, in which no `<` can end the element it stands in.
  static func object(_ contents: (inout JSONObjectWriter) -> Void) -> [UInt8] {
    var json = JSONWriter(layout: .compact)
    json.object(contents)
    var text: [UInt8] = []
    // Outside of strings JSON has no such sign.
    for byte in json.bytes {
      if byte == UInt8(ascii: "<") { text += Array(#"\u003c"#.utf8) } else { text.append(byte) }
    }
    return text
  }
}
