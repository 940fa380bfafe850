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

    // The square of the damped angular frequency; negative for an overdamped resonance.
    let dampedSquare = omega * omega - decay * decay
    var cosine = 1.0
    var sine = step
    if dampedSquare > 1e-9 {
      cosine = cos(dampedSquare.squareRoot() * step)
      sine = sin(dampedSquare.squareRoot() * step) / dampedSquare.squareRoot()
    } else if dampedSquare < -1e-9 {
      cosine = cosh((-dampedSquare).squareRoot() * step)
      sine = sinh((-dampedSquare).squareRoot() * step) / (-dampedSquare).squareRoot()
    }
    let damping = exp(-decay * step)
    let a11 = damping * (cosine + decay * sine)
    let a12 = damping * omega * sine
    let a21 = -damping * omega * sine
    let a22 = damping * (cosine - decay * sine)
    // The response to a constant input (zero-order hold), then the correction for a linear input.
    let hold = ((1 - a11) / qualityFactor, 0 - a21 / qualityFactor)
    let residual = (hold.0 / step, hold.1 / step - omega / qualityFactor)
    let ramp = (
      -residual.0 / (qualityFactor * omega) - residual.1 / omega, residual.0 / omega
    )
    // The velocity is relative to the displacement times ω.
    var displacement = 0.0
    var velocity = 0.0
    var lastSample = 0.0
    return input.map { sample in
      let nextDisplacement =
        a11 * displacement + a12 * velocity + (hold.0 - ramp.0) * lastSample + ramp.0 * sample
      let nextVelocity =
        a21 * displacement + a22 * velocity + (hold.1 - ramp.1) * lastSample + ramp.1 * sample
      displacement = nextDisplacement
      velocity = nextVelocity
      lastSample = sample
      switch quantity {
      case .acceleration: return (sample - velocity) / qualityFactor - displacement
      case .velocity: return velocity
      case .displacement: return displacement
      }
    }
  }
}
