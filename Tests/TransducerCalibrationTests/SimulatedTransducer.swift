import Foundation

/// A resonance driven sample by sample, exact for a signal that runs straight between its samples.
struct SimulatedTransducer {
  /// What is given out.
  enum Quantity { case acceleration, velocity, displacement }

  let resonance: Double
  let quality: Double
  let rate: Double

  /// What a signal makes of it, scaled to 1 at resonance.
  func response(to input: [Double], as quantity: Quantity = .acceleration) -> [Double] {
    let omega = 2 * Double.pi * resonance
    let step = 1 / rate
    let decay = omega / (2 * quality)
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
    let (a11, a12) = (fall * (cosine + decay * sine), fall * omega * sine)
    let (a21, a22) = (-fall * omega * sine, fall * (cosine - decay * sine))
    // The hold of order zero, then the correction for a straight line.
    let hold = ((1 - a11) / quality, -a21 / quality)
    let rest = (hold.0 / step, hold.1 / step - omega / quality)
    let line = (-rest.0 / (quality * omega) - rest.1 / omega, rest.0 / omega)
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
      case .acceleration: return (sample - w) / quality - x
      case .velocity: return w
      case .displacement: return x
      }
    }
  }
}

/// Chance that can be repeated.
struct Chance: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number between 0 and 1.
  mutating func share() -> Double { Double.random(in: 0..<1, using: &self) }

  /// A number of the normal distribution.
  mutating func normal() -> Double {
    (-2 * log(1 - share())).squareRoot() * cos(2 * .pi * share())
  }
}
