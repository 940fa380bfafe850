/// Conversion of JSON numbers to `Double`.
package enum JSONNumber {
  /// The powers of ten that `Double` represents exactly.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// Returns the nearest `Double`, or infinity for a number out of range. The text must be a valid
  /// JSON number.
  ///
  /// 1. An integer below 2^53 with at most 19 digits is multiplied or divided by an exact power of
  ///    ten. The result is rounded only once and is therefore correct (W. D. Clinger, How to Read
  ///    Floating Point Numbers Accurately, 1990).
  /// 2. A number of at most 19 digits with a divisor below 2^64 is computed by integer division.
  /// 3. All other numbers are converted by the standard library.
  package static func parsedValue(in text: Span<UInt8>, range: Range<Int>) -> Double {
    var byteIndex = range.lowerBound
    let isNegative = text[byteIndex] == UInt8(ascii: "-")
    if isNegative {
      byteIndex += 1
    }
    var mantissa: UInt64 = 0
    var digitCount = 0
    var exponent: Int64 = 0
    var isAfterPoint = false
    scan: while byteIndex < range.upperBound {
      let byte = text[byteIndex]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        mantissa = mantissa &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
        if digitCount > 0 || byte != UInt8(ascii: "0") {
          digitCount += 1
        }
        if isAfterPoint {
          exponent -= 1
        }
      case UInt8(ascii: "."):
        isAfterPoint = true
      default:
        break scan
      }
      byteIndex += 1
    }
    if byteIndex < range.upperBound {
      exponent += exponentInText(text, byteIndex + 1..<range.upperBound)
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

  /// Returns the exponent that follows the letter `e`.
  private static func exponentInText(_ text: Span<UInt8>, _ range: Range<Int>) -> Int64 {
    var byteIndex = range.lowerBound
    let isNegative = text[byteIndex] == UInt8(ascii: "-")
    if isNegative || text[byteIndex] == UInt8(ascii: "+") {
      byteIndex += 1
    }
    var exponent: Int64 = 0
    while byteIndex < range.upperBound {
      // Larger exponents have the same result: infinity or 0.
      exponent = min(exponent * 10 + Int64(text[byteIndex] - UInt8(ascii: "0")), 1 << 32)
      byteIndex += 1
    }
    return isNegative ? -exponent : exponent
  }

  /// Returns the `Double` nearest to a positive integer divided by a power of ten.
  ///
  /// The power of ten has an exponent from 1 to 19.
  private static func quotient(_ mantissa: UInt64, powerOfTen exponent: Int) -> Double {
    var divisor: UInt64 = 1
    for _ in 0..<exponent {
      divisor &*= 10
    }
    // Shift both numbers to the highest bit, and halve the dividend, so that the quotient has 63 or
    // 64 bits.
    let mantissaShift = mantissa.leadingZeroBitCount
    let divisorShift = divisor.leadingZeroBitCount
    let dividend = mantissa << mantissaShift
    let (quotient, remainder) = (divisor << divisorShift).dividingFullWidth(
      (dividend >> 1, dividend << 63))
    // `Double` has 53 bits. A nonzero remainder sets the lowest bit, so that a value above the
    // midpoint between two numbers is not rounded as a tie.
    let significand = Double(remainder == 0 ? quotient : quotient | 1)
    return Double(
      sign: .plus, exponent: divisorShift - mantissaShift - 63, significand: significand)
  }
}
