package enum JSONNumber {
  /// The powers of ten that `Double` represents exactly.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// Returns the nearest `Double`, or infinity for a number out of range. The text must be a valid
  /// number.
  ///
  /// 1. An integer of at most 19 digits, below 2^53, times or over an exact power of ten, rounds
  ///    only once, and so correctly (W. D. Clinger, How to Read Floating Point Numbers Accurately,
  ///    1990).
  /// 2. At most 19 digits over a power of ten below 2^64 are divided as integers.
  /// 3. The standard library converts all other numbers.
  package static func value(_ text: Span<UInt8>, _ range: Range<Int>) -> Double {
    var position = range.lowerBound
    let isNegative = text[position] == UInt8(ascii: "-")
    if isNegative {
      position += 1
    }
    var mantissa: UInt64 = 0
    var digitCount = 0
    var exponent: Int64 = 0
    var isFraction = false
    scan: while position < range.upperBound {
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        mantissa = mantissa &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
        if digitCount > 0 || byte != UInt8(ascii: "0") {
          digitCount += 1
        }
        if isFraction {
          exponent -= 1
        }
      case UInt8(ascii: "."):
        isFraction = true
      default:
        break scan
      }
      position += 1
    }
    if position < range.upperBound {
      position += 1
      let isNegativeExponent = text[position] == UInt8(ascii: "-")
      if isNegativeExponent || text[position] == UInt8(ascii: "+") {
        position += 1
      }
      var written: Int64 = 0
      while position < range.upperBound {
        // Larger exponents have the same effect: the number is infinite or 0.
        written = min(written * 10 + Int64(text[position] - UInt8(ascii: "0")), 1 << 32)
        position += 1
      }
      exponent += isNegativeExponent ? -written : written
    }
    let magnitude: Double
    if digitCount <= 19, mantissa <= 1 << 53, -22...22 ~= exponent {
      magnitude =
        exponent < 0
        ? Double(mantissa) / powersOfTen[Int(-exponent)]
        : Double(mantissa) * powersOfTen[Int(exponent)]
    } else if 1...19 ~= digitCount, -19 ... -1 ~= exponent {
      magnitude = quotient(mantissa, powerOfTen: Int(-exponent))
    } else {
      return Double(JSONString.text(text, range)) ?? .infinity
    }
    return isNegative ? -magnitude : magnitude
  }

  /// Returns the `Double` nearest to a positive integer over a power of ten, with an exponent of 1
  /// to 19.
  private static func quotient(_ mantissa: UInt64, powerOfTen exponent: Int) -> Double {
    var divisor: UInt64 = 1
    for _ in 0..<exponent {
      divisor &*= 10
    }
    // Both numbers are shifted to the highest bit, and the dividend halved, so that the quotient
    // has 63 or 64 bits.
    let left = mantissa.leadingZeroBitCount
    let divisorLeft = divisor.leadingZeroBitCount
    let high = mantissa << left
    let (whole, rest) = (divisor << divisorLeft).dividingFullWidth((high >> 1, high << 63))
    // `Double` has 53 bits. A nonzero remainder sets the lowest bit, so that a value above the
    // midpoint of two numbers is not rounded as a tie.
    let rounded = Double(rest == 0 ? whole : whole | 1)
    return Double(sign: .plus, exponent: divisorLeft - left - 63, significand: rounded)
  }
}

/// Functions for the bytes of JSON strings.
enum JSONString {
  /// Returns the bytes that a string represents.
  ///
  /// - Parameters:
  ///   - text: The text of the document.
  ///   - range: The range inside the quotes of a valid string.
  ///   - isEscaped: True if the string has escapes.
  ///   - limit: The number of bytes after which decoding stops.
  static func decode(_ text: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool, limit: Int = .max)
    -> [UInt8]
  {
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
      case UInt8(ascii: "b"):
        bytes.append(0x08)
      case UInt8(ascii: "f"):
        bytes.append(0x0C)
      case UInt8(ascii: "n"):
        bytes.append(0x0A)
      case UInt8(ascii: "r"):
        bytes.append(0x0D)
      case UInt8(ascii: "t"):
        bytes.append(0x09)
      case UInt8(ascii: "u"):
        var code = UInt32(utf16Unit(text, at: position))
        position += 4
        if 0xD800...0xDBFF ~= code {
          code =
            0x10000 + (code - 0xD800) << 10 + (UInt32(utf16Unit(text, at: position + 2)) - 0xDC00)
          position += 6
        }
        if let scalar = Unicode.Scalar(code) {
          bytes.append(contentsOf: Array(String(scalar).utf8))
        }
      default:
        bytes.append(letter)
      }
    }
    return bytes
  }

  private static func utf16Unit(_ text: Span<UInt8>, at position: Int) -> UInt16 {
    var unit: UInt16 = 0
    for step in 0..<4 {
      unit = unit << 4 | (hexadecimalValue(of: text[position + step]) ?? 0)
    }
    return unit
  }

  /// Returns the value of a hexadecimal digit, or nil for another byte.
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
    let second: ClosedRange<UInt8>
    let length: Int
    switch text[position] {
    case 0x00...0x7F:
      return 1
    case 0xC2...0xDF:
      second = 0x80...0xBF
      length = 2
    case 0xE0:
      second = 0xA0...0xBF
      length = 3
    case 0xED:
      second = 0x80...0x9F
      length = 3
    case 0xE1...0xEF:
      second = 0x80...0xBF
      length = 3
    case 0xF0:
      second = 0x90...0xBF
      length = 4
    case 0xF1...0xF3:
      second = 0x80...0xBF
      length = 4
    case 0xF4:
      second = 0x80...0x8F
      length = 4
    default:
      return 0
    }
    guard position + length <= text.count, second ~= text[position + 1] else { return 0 }
    for step in 2..<max(length, 2) where text[position + step] & 0xC0 != 0x80 {
      return 0
    }
    return length
  }

  /// Returns whether a byte is an ASCII letter, as in `true`.
  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  static func text(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: decode(text, range, isEscaped: false), as: UTF8.self)
  }

  /// Returns a byte as `0xFF`.
  static func hexadecimalText(ofByte byte: UInt8) -> String {
    "0x" + hexadecimalText(UInt16(byte), digits: 2)
  }

  /// Returns a UTF-16 code unit as `\uD800`.
  static func unicodeEscape(_ unit: UInt16) -> String { "\\u" + hexadecimalText(unit, digits: 4) }

  private static func hexadecimalText(_ value: UInt16, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
