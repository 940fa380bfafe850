internal import Glibc

/// A second-order resonance, simulated exactly for an input that is linear between its samples.
public struct SimulatedTransducer {
  /// The quantity of the response.
  public enum Quantity: Sendable { case acceleration, velocity, displacement }

  private let resonance: Double
  private let qualityFactor: Double
  private let rate: Double

  /// Creates a transducer at rest.
  public init(resonance: Double, qualityFactor: Double, rate: Double) {
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.rate = rate
  }

  /// Returns the response to an input, scaled to 1 at resonance.
  public func response(to input: [Double], as quantity: Quantity = .acceleration) -> [Double] {
    let omega = 2 * Double.pi * resonance
    let step = 1 / rate
    let decay = omega / (2 * qualityFactor)
    let square = omega * omega - decay * decay
    var cosine = 1.0
    var sine = step
    if square > 1e-9 {
      cosine = cos(square.squareRoot() * step)
      sine = sin(square.squareRoot() * step) / square.squareRoot()
    } else if square < -1e-9 {
      cosine = cosh((-square).squareRoot() * step)
      sine = sinh((-square).squareRoot() * step) / (-square).squareRoot()
    }
    let fall = exp(-decay * step)
    let a11 = fall * (cosine + decay * sine)
    let a12 = fall * omega * sine
    let a21 = -fall * omega * sine
    let a22 = fall * (cosine - decay * sine)
    // The hold of order zero, then the correction for a straight line.
    let hold = ((1 - a11) / qualityFactor, 0 - a21 / qualityFactor)
    let rest = (hold.0 / step, hold.1 / step - omega / qualityFactor)
    let line = (-rest.0 / (qualityFactor * omega) - rest.1 / omega, rest.0 / omega)
    var x = 0.0
    var w = 0.0
    var last = 0.0
    return input.map { sample in
      let moved = (
        a11 * x + a12 * w + (hold.0 - line.0) * last + line.0 * sample,
        a21 * x + a22 * w + (hold.1 - line.1) * last + line.1 * sample
      )
      (x, w) = moved
      last = sample
      switch quantity {
      case .acceleration: return (sample - w) / qualityFactor - x
      case .velocity: return w
      case .displacement: return x
      }
    }
  }
}
