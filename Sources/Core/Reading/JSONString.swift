/// Functions on the bytes of JSON strings.
enum JSONString {
  /// Returns the decoded bytes of a string.
  ///
  /// - Parameters:
  ///   - text: The bytes of the document.
  ///   - range: The byte range between the quotes of a valid string.
  ///   - isEscaped: True if the string contains escape sequences.
  ///   - limit: The number of bytes after which decoding stops.
  static func decode(_ text: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool, limit: Int = .max)
    -> [UInt8]
  {
    var decodedBytes: [UInt8] = []
    decodedBytes.reserveCapacity(min(range.count, limit))
    var byteIndex = range.lowerBound
    while byteIndex < range.upperBound, decodedBytes.count < limit {
      let byte = text[byteIndex]
      byteIndex += 1
      guard isEscaped, byte == UInt8(ascii: "\\") else {
        decodedBytes.append(byte)
        continue
      }
      let letter = text[byteIndex]
      byteIndex += 1
      switch letter {
      case UInt8(ascii: "b"):
        decodedBytes.append(0x08)
      case UInt8(ascii: "f"):
        decodedBytes.append(0x0C)
      case UInt8(ascii: "n"):
        decodedBytes.append(0x0A)
      case UInt8(ascii: "r"):
        decodedBytes.append(0x0D)
      case UInt8(ascii: "t"):
        decodedBytes.append(0x09)
      case UInt8(ascii: "u"):
        var code = UInt32(utf16Unit(text, at: byteIndex))
        byteIndex += 4
        if 0xD800...0xDBFF ~= code {
          code =
            0x10000 + (code - 0xD800) << 10 + (UInt32(utf16Unit(text, at: byteIndex + 2)) - 0xDC00)
          byteIndex += 6
        }
        if let scalar = Unicode.Scalar(code) {
          decodedBytes.append(contentsOf: Array(String(scalar).utf8))
        }
      default:
        decodedBytes.append(letter)
      }
    }
    return decodedBytes
  }

  private static func utf16Unit(_ text: Span<UInt8>, at position: Int) -> UInt16 {
    var codeUnit: UInt16 = 0
    for offset in 0..<4 {
      codeUnit = codeUnit << 4 | (hexadecimalValue(of: text[position + offset]) ?? 0)
    }
    return codeUnit
  }

  /// Returns the value of a hexadecimal digit, or nil if the byte is not a hexadecimal digit.
  static func hexadecimalValue(of byte: UInt8) -> UInt16? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// Returns the length of the well-formed UTF-8 sequence at a position, or 0 if there is none.
  ///
  /// Source: The Unicode Standard, table 3-7.
  static func utf8SequenceLength(_ text: Span<UInt8>, at position: Int) -> Int {
    let secondByteRange: ClosedRange<UInt8>
    let sequenceLength: Int
    switch text[position] {
    case 0x00...0x7F:
      return 1
    case 0xC2...0xDF:
      secondByteRange = 0x80...0xBF
      sequenceLength = 2
    case 0xE0:
      secondByteRange = 0xA0...0xBF
      sequenceLength = 3
    case 0xED:
      secondByteRange = 0x80...0x9F
      sequenceLength = 3
    case 0xE1...0xEF:
      secondByteRange = 0x80...0xBF
      sequenceLength = 3
    case 0xF0:
      secondByteRange = 0x90...0xBF
      sequenceLength = 4
    case 0xF1...0xF3:
      secondByteRange = 0x80...0xBF
      sequenceLength = 4
    case 0xF4:
      secondByteRange = 0x80...0x8F
      sequenceLength = 4
    default:
      return 0
    }
    guard position + sequenceLength <= text.count, secondByteRange ~= text[position + 1] else {
      return 0
    }
    for offset in 2..<max(sequenceLength, 2) where text[position + offset] & 0xC0 != 0x80 {
      return 0
    }
    return sequenceLength
  }

  /// Returns true if a byte is an ASCII letter.
  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Returns a range of the text as a string, without decoding escape sequences.
  static func text(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: decode(text, range, isEscaped: false), as: UTF8.self)
  }

  /// Returns a byte in hexadecimal notation, such as `0xFF`.
  static func hexadecimalText(ofByte byte: UInt8) -> String {
    "0x" + hexadecimalText(UInt16(byte), digits: 2)
  }

  /// Returns a UTF-16 code unit as an escape sequence, such as `\uD800`.
  static func unicodeEscape(_ unit: UInt16) -> String { "\\u" + hexadecimalText(unit, digits: 4) }

  private static func hexadecimalText(_ value: UInt16, digits: Int) -> String {
    let hexadecimalDigits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - hexadecimalDigits.count) + hexadecimalDigits
  }
}
