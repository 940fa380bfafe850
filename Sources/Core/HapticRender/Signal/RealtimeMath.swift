/// Elementary functions for the render path, which may not call the C library.
enum RealtimeMath {
  /// Returns 2 to the power of x, clamped to ±126, with a relative error of 10⁻⁷.
  ///
  /// A minimax polynomial of degree 5 approximates the fraction; it was fitted by linear
  /// programming.
  @_noLocks @inline(__always) static func exp2(_ x: Float) -> Float {
    let clampedExponent = x < -126 ? -126 : min(x, 126)
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest integer without a library call.
    let wholeExponent = (clampedExponent + 12_582_912) - 12_582_912
    let fractionalExponent = clampedExponent - wholeExponent
    var polynomialValue: Float = 0.001327806328513091
    polynomialValue = polynomialValue * fractionalExponent + 0.009675587060910915
    polynomialValue = polynomialValue * fractionalExponent + 0.05550709370433682
    polynomialValue = polynomialValue * fractionalExponent + 0.24022118858886332
    polynomialValue = polynomialValue * fractionalExponent + 0.6931469689552965
    polynomialValue = polynomialValue * fractionalExponent + 1.0000000718766
    return polynomialValue
      * Float(bitPattern: UInt32(bitPattern: (Int32(wholeExponent) &+ 127) &<< 23))
  }

  /// Returns the binary logarithm of a positive normal number, with an error of about 2·10⁻⁷.
  ///
  /// The series of 2 artanh((m−1)/(m+1)) is evaluated for a mantissa m between √½ and √2.
  @_noLocks static func log2(_ x: Float) -> Float {
    let bitPattern = Int32(bitPattern: x.bitPattern)
    // 0x3f3504f3 is √½. Subtracting it first centers the mantissa around 1.
    let binaryExponent = (bitPattern &- 0x3f35_04f3) &>> 23
    let mantissa = Float(bitPattern: UInt32(bitPattern: bitPattern &- (binaryExponent &<< 23)))
    let seriesArgument = (mantissa - 1) / (mantissa + 1)
    let seriesArgumentSquare = seriesArgument * seriesArgument
    var polynomialValue: Float = 0.32059889797532525  // 2 / (9 ln 2)
    polynomialValue = polynomialValue * seriesArgumentSquare + 0.4121985831111325  // 2 / (7 ln 2)
    polynomialValue = polynomialValue * seriesArgumentSquare + 0.5770780163555855  // 2 / (5 ln 2)
    polynomialValue = polynomialValue * seriesArgumentSquare + 0.9617966939259756  // 2 / (3 ln 2)
    polynomialValue = polynomialValue * seriesArgumentSquare + 2.885390081777927  // 2 / ln 2
    return Float(binaryExponent) + seriesArgument * polynomialValue
  }

  /// Returns the reciprocal square root of a number, with a relative error of 5·10⁻⁶.
  ///
  /// The number must be from 10⁻³⁰⁰ to 10³⁰⁰.
  ///
  /// Halving the exponent yields an estimate within 3.5 %, which two Newton iterations without
  /// division refine.
  @_noLocks static func inverseSquareRoot(_ x: Double) -> Double {
    var inverseRootEstimate = Double(bitPattern: 0x5fe6_eb50_c7b5_37a9 &- (x.bitPattern &>> 1))
    inverseRootEstimate *= 1.5 - 0.5 * x * inverseRootEstimate * inverseRootEstimate
    inverseRootEstimate *= 1.5 - 0.5 * x * inverseRootEstimate * inverseRootEstimate
    return inverseRootEstimate
  }

  /// Returns the square root of a number up to 10³⁰⁰, with a relative error of 3·10⁻¹¹.
  ///
  /// Returns 0 for a number below 10⁻³⁰⁰.
  @_noLocks static func squareRoot(_ x: Double) -> Double {
    guard x > 1e-300 else { return 0 }
    let rootEstimate = x * inverseSquareRoot(x)
    return 0.5 * (rootEstimate + x / rootEstimate)
  }
}

extension MutableSpan where Element == Float {
  /// Returns the address of the span's first sample. The address is valid only during the access to
  /// the span.
  @_noLocks @unsafe @inline(__always) mutating func address() -> UnsafeMutablePointer<Float>? {
    unsafe withUnsafeMutableBufferPointer { $0.baseAddress }
  }
}
