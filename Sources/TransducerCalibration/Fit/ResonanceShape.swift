internal import HapticRender
internal import Glibc

/// A resonance as a sensor sees it, up to a factor: what is fitted.
struct ResonanceShape: Equatable, BitwiseCopyable {
  /// Resonance in hertz.
  var resonance: Double
  /// Quality factor.
  var quality: Double
  /// Seconds by which all is late.
  var delay: Double
  /// Times ω in the numerator: 2 for acceleration, 1 for velocity, 0 for displacement.
  var order: Int
  /// Seconds of the coil's own time constant; 0 where it plays no part.
  var coil = 0.0

  /// Without the delay.
  func still(atHertz hertz: Double) -> Phasor {
    let ratio = hertz / resonance
    let numerator =
      switch order {
      case 2: Phasor(-ratio * ratio, 0)
      case 1: Phasor(0, ratio)
      default: Phasor(1, 0)
      }
    var denominator = Phasor(1 - ratio * ratio, ratio / quality)
    if coil > 0 { denominator = denominator * Phasor(1, 2 * .pi * hertz * coil) }
    return numerator / denominator
  }

  /// With it.
  func value(atHertz hertz: Double) -> Phasor {
    let turn = 2 * Double.pi * hertz * delay
    return still(atHertz: hertz) * Phasor(cos(turn), -sin(turn))
  }

  /// The factor that brings it nearest to what was measured, and the power that is then left over.
  func match(_ response: MeasuredResponse) -> (gain: Double, cost: Double) {
    var overlap = 0.0
    var own = 0.0
    var measured = 0.0
    for group in response.groups {
      let value = value(atHertz: group.hertz)
      overlap += group.weight * (value.conjugate * group.gain).real
      own += group.weight * value.power
      measured += group.weight * group.gain.power
    }
    guard own > 0 else { return (0, measured) }
    return (overlap / own, max(0, measured - overlap * overlap / own))
  }
}

extension TransducerMeasurement.Sensor {
  /// Times ω more than displacement has.
  var order: Int {
    switch self {
    case .acceleration: 2
    case .velocity: 1
    case .displacement: 0
    }
  }
}
