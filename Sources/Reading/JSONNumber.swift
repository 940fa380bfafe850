/// Turns the digits of a number into a `Double`.
package enum JSONNumber {
  /// The powers of ten that a `Double` holds exactly.
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// The nearest `Double`; infinite where there is none.
  ///
  /// Up to 19 digits that make an integer below 2^53, times or over an exact power of ten, round
  /// once and so correctly (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
  /// Up to 19 digits over a power of ten below 2^64 are divided as whole numbers. The rest is left
  /// to the standard library.
  package static func value(_ text: Span<UInt8>, _ range: Range<Int>) -> Double {
    var position = range.lowerBound
    let isNegative = text[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var mantissa: UInt64 = 0
    var digitCount = 0
    var exponent: Int64 = 0
    var isFraction = false
    scan: while position < range.upperBound {
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        mantissa = mantissa &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
        if digitCount > 0 || byte != UInt8(ascii: "0") { digitCount += 1 }
        if isFraction { exponent -= 1 }
      case UInt8(ascii: "."): isFraction = true
      default: break scan
      }
      position += 1
    }
    if position < range.upperBound {
      position += 1
      let isNegativeExponent = text[position] == UInt8(ascii: "-")
      if isNegativeExponent || text[position] == UInt8(ascii: "+") { position += 1 }
      var written: Int64 = 0
      while position < range.upperBound {
        // Beyond this the exact digits no longer matter to the fast way.
        written = min(written * 10 + Int64(text[position] - UInt8(ascii: "0")), 1 << 32)
        position += 1
      }
      exponent += isNegativeExponent ? -written : written
    }
    let magnitude: Double
    if digitCount <= 19, mantissa <= 1 << 53, -22...22 ~= exponent {
      magnitude = exponent < 0 ? Double(mantissa) / powers[Int(-exponent)] : Double(mantissa) * powers[Int(exponent)]
    } else if 1...19 ~= digitCount, -19 ... -1 ~= exponent {
      magnitude = quotient(mantissa, tenTo: Int(-exponent))
    } else {
      return Double(JSONString.text(text, range)) ?? .infinity
    }
    return isNegative ? -magnitude : magnitude
  }

  /// The nearest `Double` to a whole number above 0 over a power of ten from 1 to 19.
  private static func quotient(_ mantissa: UInt64, tenTo exponent: Int) -> Double {
    var divisor: UInt64 = 1
    for _ in 0..<exponent { divisor &*= 10 }
    // With the highest bits of both set, and the one halved, the quotient has 63 or 64 bits.
    let left = mantissa.leadingZeroBitCount
    let divisorLeft = divisor.leadingZeroBitCount
    let high = mantissa << left
    let (whole, rest) = (divisor << divisorLeft).dividingFullWidth((high >> 1, high << 63))
    // A rest moves what would lie in the middle between two numbers, which need 53 bits, behind it.
    let rounded = Double(rest == 0 ? whole : whole | 1)
    return Double(sign: .plus, exponent: divisorLeft - left - 63, significand: rounded)
  }
}
