extension JSONParser {
  /// Reads a quoted string, and returns true if the string contains escape sequences.
  mutating func readString(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    let stringStartOffset = byteOffset
    var isEscaped = false
    byteOffset += 1
    while byteOffset < text.count {
      skipPlainASCII(text)
      guard byteOffset < text.count else { break }
      let byte = text[byteOffset]
      switch byte {
      case UInt8(ascii: "\""):
        byteOffset += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try readEscape(text, stringStart: stringStartOffset)
      case 0..<0x20:
        throw controlCharacterError(byte)
      case 0..<0x80:
        byteOffset += 1
      default:
        byteOffset += try utf8SequenceLength(text)
      }
    }
    throw endOfStringError(start: stringStartOffset)
  }

  /// Skips ordinary ASCII characters, eight at a time.
  ///
  /// Quotes, backslashes, and control characters are not skipped.
  ///
  /// In `bytes ^ pattern`, a byte that equals the character is 0, and subtracting 1 from each byte
  /// sets its highest bit. Likewise, subtracting 0x20 sets the highest bit of control characters.
  /// Borrows can only set bits after the first match, so the number of trailing zeros locates the
  /// first match. Non-ASCII bytes already have their highest bit set in `bytes`.
  @inline(__always) private mutating func skipPlainASCII(_ text: Span<UInt8>) {
    let lowBitOfEachByte: UInt64 = 0x0101_0101_0101_0101
    let highBitOfEachByte = lowBitOfEachByte << 7
    while byteOffset + 8 <= text.count {
      let bytes = unsafe UInt64(
        littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: byteOffset, as: UInt64.self))
      let quotes = bytes ^ lowBitOfEachByte &* UInt64(UInt8(ascii: "\""))
      let backslashes = bytes ^ lowBitOfEachByte &* UInt64(UInt8(ascii: "\\"))
      let special =
        (quotes &- lowBitOfEachByte) | (backslashes &- lowBitOfEachByte)
        | (bytes &- lowBitOfEachByte &* 0x20) | bytes
      byteOffset += (special & highBitOfEachByte).trailingZeroBitCount / 8
      if special & highBitOfEachByte != 0 { return }
    }
  }

  private mutating func readEscape(_ text: Span<UInt8>, stringStart: Int)
    throws(JSONParseError)
  {
    let escapeStartOffset = byteOffset
    guard escapeStartOffset + 1 < text.count else { throw endOfStringError(start: stringStart) }
    switch text[escapeStartOffset + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      byteOffset += 2
    case UInt8(ascii: "u"):
      let unit = try readUTF16Unit(text, stringStart: stringStart)
      guard 0xD800...0xDFFF ~= unit else { return }
      guard unit < 0xDC00, byteOffset + 1 < text.count, text[byteOffset] == UInt8(ascii: "\\"),
        text[byteOffset + 1] == UInt8(ascii: "u"),
        0xDC00...0xDFFF ~= (try readUTF16Unit(text, stringStart: stringStart))
      else {
        throw JSONParseError(
          byteOffset: escapeStartOffset,
          message: "\(JSONString.unicodeEscape(unit)) is an unpaired surrogate")
      }
    default:
      byteOffset += 1
      throw JSONParseError(
        byteOffset: escapeStartOffset,
        message: "invalid escape: backslash before \(quotedCharacter(in: text))")
    }
  }

  private mutating func readUTF16Unit(_ text: Span<UInt8>, stringStart: Int)
    throws(JSONParseError) -> UInt16
  {
    var utf16Unit: UInt16 = 0
    for offset in 2..<6 {
      guard byteOffset + offset < text.count else { throw endOfStringError(start: stringStart) }
      guard let digit = JSONString.hexadecimalValue(of: text[byteOffset + offset]) else {
        throw parseError("\\u requires four hexadecimal digits")
      }
      utf16Unit = utf16Unit << 4 | digit
    }
    byteOffset += 6
    return utf16Unit
  }

  /// Returns the length of the UTF-8 sequence at the current position.
  ///
  /// Source: The Unicode Standard, table 3-7 (well-formed byte sequences).
  private func utf8SequenceLength(_ text: Span<UInt8>) throws(JSONParseError) -> Int {
    let sequenceLength = JSONString.utf8SequenceLength(text, at: byteOffset)
    guard sequenceLength > 0 else {
      throw JSONParseError(
        kind: .encoding, byteOffset: byteOffset,
        message:
          "the byte \(JSONString.hexadecimalText(ofByte: text[byteOffset])) is not valid UTF-8",
        suggestion: "save the text as UTF-8")
    }
    return sequenceLength
  }

  /// Reads a JSON number, and checks that it is in the range of `Double`.
  mutating func readNumber(_ text: Span<UInt8>) throws(JSONParseError) {
    let numberStartOffset = byteOffset
    if text[byteOffset] == UInt8(ascii: "-") {
      byteOffset += 1
    }
    let leadsWithZero = byteOffset < text.count && text[byteOffset] == UInt8(ascii: "0")
    let integerDigitCount = skipDigits(text)
    guard integerDigitCount > 0 else {
      if JSONString.text(text, numberStartOffset..<min(numberStartOffset + 9, text.count))
        == "-Infinity"
      {
        throw JSONParseError(
          byteOffset: numberStartOffset, message: "-Infinity is not a JSON number")
      }
      throw parseError("expected a digit, found \(quotedCharacter(in: text))")
    }
    if leadsWithZero && integerDigitCount > 1 {
      throw JSONParseError(
        byteOffset: numberStartOffset, message: "a number cannot start with a zero and more digits")
    }
    if byteOffset < text.count, text[byteOffset] == UInt8(ascii: ".") {
      byteOffset += 1
      guard skipDigits(text) > 0 else {
        throw parseError("expected a digit after the point, found \(quotedCharacter(in: text))")
      }
    }
    let hasExponent = try readExponent(text)
    // A number with at most 300 integer digits and no exponent is within the range of `Double`.
    guard hasExponent || integerDigitCount > 300 else { return }
    if !JSONNumber.parsedValue(in: text, range: numberStartOffset..<byteOffset).isFinite {
      throw JSONParseError(byteOffset: numberStartOffset, message: "number out of range")
    }
  }

  /// Reads the exponent of a number. Returns true if the number has an exponent.
  private mutating func readExponent(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    guard byteOffset < text.count, text[byteOffset] | 0x20 == UInt8(ascii: "e") else {
      return false
    }
    byteOffset += 1
    if byteOffset < text.count,
      text[byteOffset] == UInt8(ascii: "+") || text[byteOffset] == UInt8(ascii: "-")
    {
      byteOffset += 1
    }
    guard skipDigits(text) > 0 else {
      throw parseError("expected a digit in the exponent, found \(quotedCharacter(in: text))")
    }
    return true
  }

  /// Skips digits, and returns the number of digits skipped.
  private mutating func skipDigits(_ text: Span<UInt8>) -> Int {
    let digitsStartOffset = byteOffset
    while byteOffset < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[byteOffset] {
      byteOffset += 1
    }
    return byteOffset - digitsStartOffset
  }

  /// Reads `true`, `false`, or `null`.
  mutating func readLiteral(_ text: Span<UInt8>) throws(JSONParseError) -> JSONNode.Encoding {
    let literalStartOffset = byteOffset
    var literalEndOffset = literalStartOffset
    while literalEndOffset < text.count, literalEndOffset - literalStartOffset < 32,
      JSONString.isLetter(text[literalEndOffset])
    {
      literalEndOffset += 1
    }
    byteOffset = literalEndOffset
    switch JSONString.text(text, literalStartOffset..<literalEndOffset) {
    case "true":
      return .true
    case "false":
      return .false
    case "null":
      return .null
    case let unknownWord:
      byteOffset = literalStartOffset
      throw invalidValueError(text, word: unknownWord)
    }
  }
}
