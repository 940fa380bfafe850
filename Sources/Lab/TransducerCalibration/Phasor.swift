internal import SignalAnalysis

/// A double-precision complex number.
struct Phasor: Equatable, BitwiseCopyable {
  var real: Double
  var imaginary: Double

  init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  /// Creates a phasor from a single-precision complex number.
  init(_ number: ComplexNumber) { self.init(Double(number.real), Double(number.imaginary)) }

  static let zero = Phasor(0, 0)

  /// The square of the magnitude.
  var power: Double { real * real + imaginary * imaginary }
  var magnitude: Double { power.squareRoot() }
  var conjugate: Phasor { Phasor(real, -imaginary) }

  static func + (left: Phasor, right: Phasor) -> Phasor {
    Phasor(left.real + right.real, left.imaginary + right.imaginary)
  }

  static func - (left: Phasor, right: Phasor) -> Phasor {
    Phasor(left.real - right.real, left.imaginary - right.imaginary)
  }

  static func * (left: Phasor, right: Phasor) -> Phasor {
    Phasor(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }

  static func * (left: Phasor, right: Double) -> Phasor {
    Phasor(left.real * right, left.imaginary * right)
  }

  static func / (left: Phasor, right: Phasor) -> Phasor {
    left * right.conjugate * (1 / right.power)
  }
}
