/// Turns the digits of a number into a `Double`.
package enum JSONNumber {
  /// The powers of ten that a `Double` holds exactly.
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// The nearest `Double`; infinite where there is none.
  ///
  /// Up to 19 digits that make an integer below 2^53, times or over an exact power of ten, round
  /// once and so correctly (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
  /// The rest is left to the standard library.
  package static func value(_ text: Span<UInt8>, _ range: Range<Int>) -> Double {
    var position = range.lowerBound
    let isNegative = text[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var mantissa: UInt64 = 0
    var digitCount = 0
    var exponent = 0
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
      var written = 0
      while position < range.upperBound {
        // Beyond this the exact digits no longer matter to the fast way.
        written = min(written * 10 + Int(text[position] - UInt8(ascii: "0")), 1 << 32)
        position += 1
      }
      exponent += isNegativeExponent ? -written : written
    }
    guard digitCount <= 19, mantissa <= 1 << 53, -22...22 ~= exponent else {
      return Double(JSONString.text(text, range)) ?? .infinity
    }
    let magnitude =
      exponent < 0 ? Double(mantissa) / powers[-exponent] : Double(mantissa) * powers[exponent]
    return isNegative ? -magnitude : magnitude
  }
}
