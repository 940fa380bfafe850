extension JSONParser {
  /// Reads a quoted string, and returns true if the string contains escape sequences.
  mutating func readString(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    let start = position
    var isEscaped = false
    position += 1
    while position < text.count {
      skipPlainASCII(text)
      guard position < text.count else { break }
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try readEscape(text, stringStart: start)
      case 0..<0x20:
        throw controlCharacterError(byte)
      case 0..<0x80:
        position += 1
      default:
        position += try utf8SequenceLength(text)
      }
    }
    throw endOfStringError(start: start)
  }

  /// Skips ASCII characters other than quotes, backslashes, and control characters, eight at a
  /// time.
  ///
  /// In `bytes ^ pattern`, a byte that equals the character is 0, and subtracting 1 from each byte
  /// sets its highest bit. Likewise, subtracting 0x20 sets the highest bit of control characters.
  /// Borrows can only set bits after the first match, so the number of trailing zeros locates the
  /// first match. Non-ASCII bytes already have their highest bit set in `bytes`.
  @inline(__always) private mutating func skipPlainASCII(_ text: Span<UInt8>) {
    let lowBitOfEachByte: UInt64 = 0x0101_0101_0101_0101
    let highBitOfEachByte = lowBitOfEachByte << 7
    while position + 8 <= text.count {
      let bytes = unsafe UInt64(
        littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
      let quotes = bytes ^ lowBitOfEachByte &* UInt64(UInt8(ascii: "\""))
      let backslashes = bytes ^ lowBitOfEachByte &* UInt64(UInt8(ascii: "\\"))
      let special =
        (quotes &- lowBitOfEachByte) | (backslashes &- lowBitOfEachByte)
        | (bytes &- lowBitOfEachByte &* 0x20) | bytes
      position += (special & highBitOfEachByte).trailingZeroBitCount / 8
      if special & highBitOfEachByte != 0 { return }
    }
  }

  private mutating func readEscape(_ text: Span<UInt8>, stringStart: Int)
    throws(JSONParseError)
  {
    let start = position
    guard start + 1 < text.count else { throw endOfStringError(start: stringStart) }
    switch text[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      let unit = try readUTF16Unit(text, stringStart: stringStart)
      guard 0xD800...0xDFFF ~= unit else { return }
      guard unit < 0xDC00, position + 1 < text.count, text[position] == UInt8(ascii: "\\"),
        text[position + 1] == UInt8(ascii: "u"),
        0xDC00...0xDFFF ~= (try readUTF16Unit(text, stringStart: stringStart))
      else {
        throw JSONParseError(
          offset: start, message: "\(JSONString.unicodeEscape(unit)) is an unpaired surrogate")
      }
    default:
      position += 1
      throw JSONParseError(
        offset: start, message: "invalid escape: backslash before \(quotedCharacter(in: text))")
    }
  }

  private mutating func readUTF16Unit(_ text: Span<UInt8>, stringStart: Int)
    throws(JSONParseError) -> UInt16
  {
    var utf16Unit: UInt16 = 0
    for offset in 2..<6 {
      guard position + offset < text.count else { throw endOfStringError(start: stringStart) }
      guard let digit = JSONString.hexadecimalValue(of: text[position + offset]) else {
        throw parseError("\\u requires four hexadecimal digits")
      }
      utf16Unit = utf16Unit << 4 | digit
    }
    position += 6
    return utf16Unit
  }

  /// Returns the length of the UTF-8 sequence at the current position.
  ///
  /// Source: The Unicode Standard, table 3-7 (well-formed byte sequences).
  private func utf8SequenceLength(_ text: Span<UInt8>) throws(JSONParseError) -> Int {
    let length = JSONString.utf8SequenceLength(text, at: position)
    guard length > 0 else {
      throw JSONParseError(
        kind: .encoding, offset: position,
        message:
          "the byte \(JSONString.hexadecimalText(ofByte: text[position])) is not valid UTF-8",
        suggestion: "save the text as UTF-8")
    }
    return length
  }

  /// Reads a JSON number, and checks that it is in the range of `Double`.
  mutating func readNumber(_ text: Span<UInt8>) throws(JSONParseError) {
    let start = position
    if text[position] == UInt8(ascii: "-") {
      position += 1
    }
    let leadsWithZero = position < text.count && text[position] == UInt8(ascii: "0")
    let integerDigitCount = skipDigits(text)
    guard integerDigitCount > 0 else {
      if JSONString.text(text, start..<min(start + 9, text.count)) == "-Infinity" {
        throw JSONParseError(offset: start, message: "-Infinity is not a JSON number")
      }
      throw parseError("expected a digit, found \(quotedCharacter(in: text))")
    }
    if leadsWithZero && integerDigitCount > 1 {
      throw JSONParseError(
        offset: start, message: "a number cannot start with a zero and more digits")
    }
    if position < text.count, text[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits(text) > 0 else {
        throw parseError("expected a digit after the point, found \(quotedCharacter(in: text))")
      }
    }
    let hasExponent = try readExponent(text)
    // A number with at most 300 integer digits and no exponent is within the range of `Double`.
    guard hasExponent || integerDigitCount > 300 else { return }
    if !JSONNumber.parsedValue(in: text, range: start..<position).isFinite {
      throw JSONParseError(offset: start, message: "number out of range")
    }
  }

  /// Reads the exponent of a number. Returns true if the number has an exponent.
  private mutating func readExponent(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    guard position < text.count, text[position] | 0x20 == UInt8(ascii: "e") else { return false }
    position += 1
    if position < text.count,
      text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-")
    {
      position += 1
    }
    guard skipDigits(text) > 0 else {
      throw parseError("expected a digit in the exponent, found \(quotedCharacter(in: text))")
    }
    return true
  }

  /// Skips digits, and returns the number of digits skipped.
  private mutating func skipDigits(_ text: Span<UInt8>) -> Int {
    let start = position
    while position < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[position] {
      position += 1
    }
    return position - start
  }

  /// Reads `true`, `false`, or `null`.
  mutating func readLiteral(_ text: Span<UInt8>) throws(JSONParseError) -> JSONNode.Form {
    let start = position
    var literalEnd = start
    while literalEnd < text.count, literalEnd - start < 32, JSONString.isLetter(text[literalEnd]) {
      literalEnd += 1
    }
    position = literalEnd
    switch JSONString.text(text, start..<literalEnd) {
    case "true":
      return .true
    case "false":
      return .false
    case "null":
      return .null
    case let word:
      position = start
      throw invalidValueError(text, word: word)
    }
  }
}
