/// What is known about the bytes of strings.
enum JSONString {
  /// The bytes a string stands for; `range` is inside its quotes and was read before.
  ///
  /// Beyond a limit of bytes the rest is left out.
  static func decode(_ text: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool, limit: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(range.count, limit))
    var position = range.lowerBound
    while position < range.upperBound, bytes.count < limit {
      let byte = text[position]
      position += 1
      guard isEscaped, byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      let letter = text[position]
      position += 1
      switch letter {
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "f"): bytes.append(0x0C)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "u"):
        var code = UInt32(unit(text, at: position))
        position += 4
        if 0xD800...0xDBFF ~= code {
          code = 0x10000 + (code - 0xD800) << 10 + (UInt32(unit(text, at: position + 2)) - 0xDC00)
          position += 6
        }
        if let scalar = Unicode.Scalar(code) { bytes.append(contentsOf: Array(String(scalar).utf8)) }
      default: bytes.append(letter)
      }
    }
    return bytes
  }

  private static func unit(_ text: Span<UInt8>, at position: Int) -> UInt16 {
    var unit: UInt16 = 0
    for step in 0..<4 { unit = unit << 4 | (hexadecimal(text[position + step]) ?? 0) }
    return unit
  }

  /// The value of a hexadecimal digit.
  static func hexadecimal(_ byte: UInt8) -> UInt16? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// The length of the well-formed UTF-8 sequence at a position, or 0.
  ///
  /// Source: The Unicode Standard, table 3-7.
  static func sequenceLength(_ text: Span<UInt8>, at position: Int) -> Int {
    let second: ClosedRange<UInt8>
    let length: Int
    switch text[position] {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
    case 0xE0: (second, length) = (0xA0...0xBF, 3)
    case 0xED: (second, length) = (0x80...0x9F, 3)
    case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
    case 0xF0: (second, length) = (0x90...0xBF, 4)
    case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
    case 0xF4: (second, length) = (0x80...0x8F, 4)
    default: return 0
    }
    guard position + length <= text.count, second ~= text[position + 1] else { return 0 }
    for step in 2..<max(length, 2) where text[position + step] & 0xC0 != 0x80 { return 0 }
    return length
  }

  /// Whether a byte belongs to a word such as `true`.
  static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

  /// The text of a range of bytes.
  static func text(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: decode(text, range, isEscaped: false), as: UTF8.self)
  }

  /// A byte as `0xFF`.
  static func byteText(_ byte: UInt8) -> String { "0x" + hexadecimal(UInt16(byte), digits: 2) }

  /// A UTF-16 unit as `\uD800`.
  static func unitText(_ unit: UInt16) -> String { "\\u" + hexadecimal(unit, digits: 4) }

  private static func hexadecimal(_ value: UInt16, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
