/// Elementary functions of the render path, which may call no C library.
enum RealtimeMath {
  /// 2 to the power of x, to 1 part in 10⁷; x is clamped to ±126.
  ///
  /// A minimax polynomial of degree 5 on the fraction, fitted with a linear programme.
  @_noLocks @inline(__always) static func exp2(_ x: Float) -> Float {
    let bounded = x < -126 ? -126 : (x > 126 ? 126 : x)
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest whole number without a library call.
    let whole = (bounded + 12_582_912) - 12_582_912
    let f = bounded - whole
    var y: Float = 0.001327806328513091
    y = y * f + 0.009675587060910915
    y = y * f + 0.05550709370433682
    y = y * f + 0.24022118858886332
    y = y * f + 0.6931469689552965
    y = y * f + 1.0000000718766
    return y * Float(bitPattern: UInt32(bitPattern: (Int32(whole) &+ 127) &<< 23))
  }

  /// The logarithm to base 2 of a positive normal number, to about 2 parts in 10⁷.
  ///
  /// The series of 2 artanh((m−1)/(m+1)) on a mantissa m between √½ and √2.
  @_noLocks static func log2(_ x: Float) -> Float {
    let bits = Int32(bitPattern: x.bitPattern)
    // 0x3f3504f3 is √½: subtracting it first puts the mantissa around 1.
    let exponent = (bits &- 0x3f35_04f3) &>> 23
    let mantissa = Float(bitPattern: UInt32(bitPattern: bits &- (exponent &<< 23)))
    let s = (mantissa - 1) / (mantissa + 1)
    let q = s * s
    var y: Float = 0.32059889797532525  // 2 / (9 ln 2)
    y = y * q + 0.4121985831111325  // 2 / (7 ln 2)
    y = y * q + 0.5770780163555855  // 2 / (5 ln 2)
    y = y * q + 0.9617966939259756  // 2 / (3 ln 2)
    y = y * q + 2.885390081777927  // 2 / ln 2
    return Float(exponent) + s * y
  }

  /// One over the square root of a number from 10⁻³⁰⁰ to 10³⁰⁰, to 5 parts in 10⁶.
  ///
  /// Two of Newton's steps, without a division, from halving the exponent, which is within 3.5 %.
  @_noLocks static func inverseSquareRoot(_ x: Double) -> Double {
    var y = Double(bitPattern: 0x5fe6_eb50_c7b5_37a9 &- (x.bitPattern &>> 1))
    y *= 1.5 - 0.5 * x * y * y
    y *= 1.5 - 0.5 * x * y * y
    return y
  }

  /// The square root of a number from 0 to 10³⁰⁰, to 3 parts in 10¹¹; 0 below 10⁻³⁰⁰.
  @_noLocks static func squareRoot(_ x: Double) -> Double {
    guard x > 1e-300 else { return 0 }
    let near = x * inverseSquareRoot(x)
    return 0.5 * (near + x / near)
  }
}

extension MutableSpan where Element == Float {
  /// The address of the first sample, to be used while the span is held.
  @_noLocks @unsafe @inline(__always) mutating func address() -> UnsafeMutablePointer<Float>? {
    unsafe withUnsafeMutableBufferPointer { $0.baseAddress }
  }
}
