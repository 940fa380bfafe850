internal import Glibc

/// A Butterworth high-pass of second order, so that ramps move nothing below the sweep.
///
/// By the bilinear transform, its corner kept in place.
struct SweepHighPass {
  private let gain: Double
  private let first: Double
  private let second: Double
  private var memory = (0.0, 0.0)

  /// A filter at rest.
  init(hertz: Double, rate: Double) {
    let corner = tan(.pi * hertz / rate)
    let scale = 1 / (1 + 2.squareRoot() * corner + corner * corner)
    gain = scale
    first = 2 * (corner * corner - 1) * scale
    second = (1 - 2.squareRoot() * corner + corner * corner) * scale
  }

  /// The next sample.
  mutating func step(_ input: Double) -> Double {
    let inner = input - first * memory.0 - second * memory.1
    let output = gain * (inner - 2 * memory.0 + memory.1)
    memory = (inner, memory.0)
    return output
  }
}
