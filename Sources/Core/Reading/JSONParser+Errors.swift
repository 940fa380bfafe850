extension JSONParser {
  /// Returns a description of the byte or character at the current position.
  func quotedCharacter(in text: Span<UInt8>) -> String {
    guard byteOffset < text.count else { return "the end of the text" }
    let unexpectedByte = text[byteOffset]
    if unexpectedByte < 0x20 || unexpectedByte == 0x7F {
      return "the control character \(JSONString.hexadecimalText(ofByte: unexpectedByte))"
    }
    let characterLength = JSONString.utf8SequenceLength(text, at: byteOffset)
    guard characterLength > 0 else {
      return "the byte \(JSONString.hexadecimalText(ofByte: unexpectedByte))"
    }
    return unexpectedByte == UInt8(ascii: "\"")
      ? "a string"
      : "\"\(JSONString.text(text, byteOffset..<byteOffset + characterLength).escapingInvisibles)\""
  }

  /// Returns the error for a text that ends inside the innermost container.
  func endOfTextError(_ text: Span<UInt8>) -> JSONParseError {
    let containerName = isInObject ? "object" : "array"
    return JSONParseError(
      kind: .truncated, byteOffset: text.count,
      message: "the text ends inside the \(containerName) that starts at",
      openingBracketOffset: Int(nodes[Int(parentIndex)].startOffset))
  }

  /// Returns the error for a missing comma or closing bracket.
  func missingSeparatorError(_ text: Span<UInt8>) -> JSONParseError {
    let closingBracket = isInObject ? "}" : "]"
    return parseError("expected \",\" or \"\(closingBracket)\", found \(quotedCharacter(in: text))")
  }

  /// Returns the error for a missing key.
  func missingKeyError(_ text: Span<UInt8>) -> JSONParseError {
    if let error = commentError(text) { return error }
    if text[byteOffset] == UInt8(ascii: "'") { return singleQuoteError() }
    return parseError("expected a key in double quotes, found \(quotedCharacter(in: text))")
  }

  /// Returns the error for a C-style or script-style comment at the current position, or nil.
  func commentError(_ text: Span<UInt8>) -> JSONParseError? {
    guard byteOffset < text.count else { return nil }
    let nextByte = byteOffset + 1 < text.count ? text[byteOffset + 1] : 0
    let isSlashComment =
      text[byteOffset] == UInt8(ascii: "/")
      && (nextByte == UInt8(ascii: "/") || nextByte == UInt8(ascii: "*"))
    guard text[byteOffset] == UInt8(ascii: "#") || isSlashComment else { return nil }
    return parseError("comments are not allowed in JSON")
  }

  /// Returns the error for a missing or invalid value. `word` is the letters at the current
  /// position.
  func invalidValueError(_ text: Span<UInt8>, word: String) -> JSONParseError {
    if let error = commentError(text) { return error }
    switch text[byteOffset] {
    case UInt8(ascii: "'"): return singleQuoteError()
    case UInt8(ascii: "+"): return parseError("a number cannot start with \"+\"")
    case UInt8(ascii: "."): return parseError("a number needs a digit before the point")
    default: break
    }
    switch word.lowercased() {
    case "":
      return parseError("expected a value, found \(quotedCharacter(in: text))")
    case "nan", "infinity", "inf":
      return parseError("\(word) is not a JSON number")
    case let lowercasedWord where ["true", "false", "null"].contains(lowercasedWord):
      return parseError(
        "expected a value, found \"\(word)\"", suggestion: "did you mean \(lowercasedWord)?")
    default:
      return parseError("expected a value, found \"\(word)\"")
    }
  }

  /// Returns the error for a string in single quotes.
  private func singleQuoteError() -> JSONParseError {
    parseError("strings must be in double quotes")
  }

  /// Creates an error at the current position.
  func parseError(_ message: String, suggestion: String? = nil) -> JSONParseError {
    JSONParseError(byteOffset: byteOffset, message: message, suggestion: suggestion)
  }

  /// Returns the error for a control character in a string.
  func controlCharacterError(_ byte: UInt8) -> JSONParseError {
    switch byte {
    case 0x0A, 0x0D:
      parseError("unterminated string")
    case 0x09:
      parseError("a tab inside a string must be written as \\t")
    default:
      parseError(
        "a control character inside a string must be written as "
          + JSONString.unicodeEscape(UInt16(byte)))
    }
  }

  /// Returns the error for a text that ends inside a string.
  func endOfStringError(start: Int) -> JSONParseError {
    JSONParseError(
      kind: .truncated, byteOffset: byteOffset,
      message: "the text ends inside the string that starts at",
      openingBracketOffset: start)
  }
}
