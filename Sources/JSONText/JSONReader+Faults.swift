extension JSONReader {
  /// What stands at the position, for "found …".
  func found(_ text: Span<UInt8>) -> String {
    guard position < text.count else { return "the end of the text" }
    let byte = text[position]
    if byte < 0x20 || byte == 0x7F { return "the control character \(JSONString.byteText(byte))" }
    let length = JSONString.sequenceLength(text, at: position)
    guard length > 0 else { return "the byte \(JSONString.byteText(byte))" }
    return byte == UInt8(ascii: "\"")
      ? "a string" : "\"\(JSONString.text(text, position..<position + length).onOneLine)\""
  }

  /// The text stops inside the innermost container.
  func endOfText(_ text: Span<UInt8>) -> JSONFault {
    let kind = isInObject ? "object" : "array"
    return JSONFault(
      kind: .truncated, offset: text.count,
      message: "the text ends inside the \(kind) that begins at",
      origin: Int(nodes[Int(parent)].start))
  }

  /// Neither a comma nor the end of the container follows a value.
  func missingSeparator(_ text: Span<UInt8>) -> JSONFault {
    let closing = isInObject ? "}" : "]"
    return JSONFault(
      offset: position, message: "expected \",\" or \"\(closing)\", found \(found(text))")
  }

  /// Something other than a string stands where a key belongs.
  func missingKey(_ text: Span<UInt8>) -> JSONFault {
    if let fault = commentFault(text) { return fault }
    if text[position] == UInt8(ascii: "'") { return singleQuoteFault() }
    return JSONFault(
      offset: position, message: "expected a key in double quotes, found \(found(text))")
  }

  /// A comment in the style of C, or of a script, at the position.
  func commentFault(_ text: Span<UInt8>) -> JSONFault? {
    guard position < text.count else { return nil }
    let next = position + 1 < text.count ? text[position + 1] : 0
    let isComment =
      text[position] == UInt8(ascii: "#")
      || text[position] == UInt8(ascii: "/")
        && (next == UInt8(ascii: "/") || next == UInt8(ascii: "*"))
    guard isComment else { return nil }
    return JSONFault(offset: position, message: "JSON has no comments")
  }

  /// Something stands where a value belongs; `word` is the letters there.
  func notAValue(_ text: Span<UInt8>, word: String) -> JSONFault {
    if let fault = commentFault(text) { return fault }
    switch text[position] {
    case UInt8(ascii: "'"): return singleQuoteFault()
    case UInt8(ascii: "+"):
      return JSONFault(offset: position, message: "a number cannot begin with \"+\"")
    case UInt8(ascii: "."):
      return JSONFault(
        offset: position, message: "a number needs a digit before the point")
    default: break
    }
    switch word.lowercased() {
    case "": return JSONFault(offset: position, message: "expected a value, found \(found(text))")
    case "nan", "infinity", "inf":
      return JSONFault(offset: position, message: "\(word) is not a JSON number")
    case let lower where ["true", "false", "null"].contains(lower):
      return JSONFault(
        offset: position, message: "expected a value, found \"\(word)\"",
        suggestion: "did you mean \(lower)?")
    default: return JSONFault(offset: position, message: "expected a value, found \"\(word)\"")
    }
  }

  private func singleQuoteFault() -> JSONFault {
    JSONFault(offset: position, message: "strings are written in double quotes")
  }
}
