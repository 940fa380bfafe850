internal import Reading

/// Numbers in a page.
enum PageNumberFormatting {
  /// Seconds to the millisecond: `0.160`.
  static func seconds(_ seconds: Double) -> String { fixed(seconds, places: 3) }

  /// A number with exactly some decimal places.
  static func fixed(_ value: Double, places: Int) -> String {
    guard value.isFinite else { return "–" }
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard scaled < 9e15 else { return "\(value)" }
    let whole = Int(scaled)
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(whole)" }
    let digits = String(whole % Int(scale))
    let zeros = String(repeating: "0", count: places - digits.count)
    return "\(sign)\(whole / Int(scale)).\(zeros)\(digits)"
  }

  /// A number with at most some decimal places.
  static func plain(_ value: Double, places: Int) -> String {
    var text = fixed(value, places: places)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A number as people read it, with a true minus sign.
  static func shown(_ text: String) -> String { text.hasPrefix("-") ? "−" + text.dropFirst() : text }
}

/// Values that a page's script reads from an element of the page.
enum EmbeddedJSON {
  /// The JSON text of an object, in which no `<` can end its element.
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
