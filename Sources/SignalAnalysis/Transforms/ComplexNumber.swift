/// A complex number in single precision.
public struct ComplexNumber: Equatable, Sendable, BitwiseCopyable {
  /// The real part.
  public var real: Float
  /// The imaginary part.
  public var imaginary: Float

  /// Makes a number of its parts.
  public init(_ real: Float = 0, _ imaginary: Float = 0) {
    self.real = real
    self.imaginary = imaginary
  }

  /// The square of the magnitude.
  public var power: Float { real * real + imaginary * imaginary }

  /// The number mirrored on the real axis.
  public var conjugate: ComplexNumber { ComplexNumber(real, -imaginary) }

  /// The product.
  public static func * (left: ComplexNumber, right: ComplexNumber) -> ComplexNumber {
    ComplexNumber(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }
}
