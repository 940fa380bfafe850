extension JSONReader {
  /// Reads a string, quotes included; true when it has escapes.
  mutating func readString(_ text: Span<UInt8>) throws(JSONFault) -> Bool {
    let start = position
    var isEscaped = false
    position += 1
    while position < text.count {
      skipPlain(text)
      guard position < text.count else { break }
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try readEscape(text, string: start)
      case 0..<0x20: throw controlCharacterFault(byte)
      case 0..<0x80: position += 1
      default: position += try sequenceLength(text)
      }
    }
    throw endOfString(start)
  }

  /// Passes ASCII without quotes, backslashes and controls, eight bytes at a time.
  @inline(__always) private mutating func skipPlain(_ text: Span<UInt8>) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    while position + 8 <= text.count {
      let bytes = unsafe UInt64(littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
      // A difference has its highest bit set where a byte was less than what was taken away.
      let quotes = bytes ^ ones &* UInt64(UInt8(ascii: "\""))
      let backslashes = bytes ^ ones &* UInt64(UInt8(ascii: "\\"))
      let special = (quotes &- ones) | (backslashes &- ones) | (bytes &- ones &* 0x20) | bytes
      position += (special & highs).trailingZeroBitCount / 8
      if special & highs != 0 { return }
    }
  }

  /// Reads one escape, two for a surrogate pair.
  private mutating func readEscape(_ text: Span<UInt8>, string: Int) throws(JSONFault) {
    let start = position
    guard start + 1 < text.count else { throw endOfString(string) }
    switch text[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      let unit = try readUnit(text, string: string)
      guard 0xD800...0xDFFF ~= unit else { return }
      guard unit < 0xDC00, position + 1 < text.count, text[position] == UInt8(ascii: "\\"),
        text[position + 1] == UInt8(ascii: "u"), 0xDC00...0xDFFF ~= (try readUnit(text, string: string))
      else { throw JSONFault(offset: start, message: "\(JSONString.unitText(unit)) is an unpaired surrogate") }
    default:
      position += 1
      throw JSONFault(offset: start, message: "invalid escape: backslash before \(found(text))")
    }
  }

  /// Reads `\uXXXX`.
  private mutating func readUnit(_ text: Span<UInt8>, string: Int) throws(JSONFault) -> UInt16 {
    var unit: UInt16 = 0
    for step in 2..<6 {
      guard position + step < text.count else { throw endOfString(string) }
      guard let digit = JSONString.hexadecimal(text[position + step]) else {
        throw JSONFault(offset: position, message: "\\u needs four hexadecimal digits")
      }
      unit = unit << 4 | digit
    }
    position += 6
    return unit
  }

  /// The length of the UTF-8 sequence at the position, by the table of well-formed sequences.
  ///
  /// Source: The Unicode Standard, table 3-7.
  private func sequenceLength(_ text: Span<UInt8>) throws(JSONFault) -> Int {
    let length = JSONString.sequenceLength(text, at: position)
    guard length > 0 else {
      throw JSONFault(
        kind: .encoding, offset: position,
        message: "the byte \(JSONString.byteText(text[position])) is not valid UTF-8",
        suggestion: "save the text as UTF-8")
    }
    return length
  }

  private func controlCharacterFault(_ byte: UInt8) -> JSONFault {
    switch byte {
    case 0x0A, 0x0D: JSONFault(offset: position, message: "unterminated string")
    case 0x09: JSONFault(offset: position, message: "a tab inside a string is written \\t")
    default:
      JSONFault(
        offset: position, message: "a control character inside a string is written " + JSONString.unitText(UInt16(byte))
      )
    }
  }

  private func endOfString(_ start: Int) -> JSONFault {
    JSONFault(
      kind: .truncated, offset: position, message: "the text ends inside the string that begins at", origin: start)
  }

  /// Reads a number by JSON's grammar and makes sure that a `Double` can hold it.
  mutating func readNumber(_ text: Span<UInt8>) throws(JSONFault) {
    let start = position
    if text[position] == UInt8(ascii: "-") { position += 1 }
    let leadsWithZero = position < text.count && text[position] == UInt8(ascii: "0")
    let wholeDigits = skipDigits(text)
    guard wholeDigits > 0 else {
      if JSONString.text(text, start..<min(start + 9, text.count)) == "-Infinity" {
        throw JSONFault(offset: start, message: "-Infinity is not a JSON number")
      }
      throw JSONFault(offset: position, message: "expected a digit, found \(found(text))")
    }
    if leadsWithZero && wholeDigits > 1 {
      throw JSONFault(offset: start, message: "a number cannot begin with a zero and more digits")
    }
    if position < text.count, text[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits(text) > 0 else {
        throw JSONFault(offset: position, message: "expected a digit after the point, found \(found(text))")
      }
    }
    var hasExponent = false
    if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
      hasExponent = true
      position += 1
      if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
        position += 1
      }
      guard skipDigits(text) > 0 else {
        throw JSONFault(offset: position, message: "expected a digit in the exponent, found \(found(text))")
      }
    }
    // Fewer digits than this cannot reach 1.8e308.
    guard hasExponent || wholeDigits > 300 else { return }
    if !JSONNumber.value(text, start..<position).isFinite {
      throw JSONFault(offset: start, message: "number out of range")
    }
  }

  private mutating func skipDigits(_ text: Span<UInt8>) -> Int {
    let start = position
    while position < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[position] { position += 1 }
    return position - start
  }

  /// Reads `true`, `false` or `null`.
  mutating func readWord(_ text: Span<UInt8>) throws(JSONFault) -> JSONNode.Form {
    let start = position
    var end = start
    while end < text.count, end - start < 32, JSONString.isLetter(text[end]) { end += 1 }
    position = end
    switch JSONString.text(text, start..<end) {
    case "true": return .true
    case "false": return .false
    case "null": return .null
    case let word:
      position = start
      throw notAValue(text, word: word)
    }
  }
}
