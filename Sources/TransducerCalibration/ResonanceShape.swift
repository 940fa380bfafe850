internal import CMath
internal import HapticRender

/// Resonances as a sensor sees them, up to a factor on each: what is fitted.
struct ResonanceShape: Equatable {
  /// A resonance of its own.
  struct Mode: Equatable, BitwiseCopyable {
    /// Resonance in hertz.
    var resonance: Double
    /// Quality factor.
    var qualityFactor: Double
  }

  /// The resonances, at least one, the main one first.
  var modes: [Mode]
  /// Seconds by which all is late.
  var delay: Double
  /// Times ω in the numerator: 2 for acceleration, 1 for velocity, 0 for displacement.
  var order: Int
  /// Seconds of the coil's own time constant; 0 where it plays no part.
  var coil = 0.0
  /// The corner of a high-pass of the recorder's input in hertz, and its order: 0 for none, 1 or 2.
  var highPass = 0.0
  var highPassOrder = 0

  /// The main resonance.
  var main: Mode { modes[0] }

  /// One resonance alone, scaled to 1 at it.
  func still(_ index: Int, atHertz hertz: Double) -> Phasor {
    let mode = modes[index]
    let ratio = hertz / mode.resonance
    let numerator =
      switch order {
      case 2: Phasor(-ratio * ratio, 0)
      case 1: Phasor(0, ratio)
      default: Phasor(1, 0)
      }
    let scaled = numerator * (1 / mode.qualityFactor)
    return scaled / Phasor(1 - ratio * ratio, ratio / mode.qualityFactor)
  }

  /// What the coil and the recorder's high-pass leave of every resonance.
  func passed(atHertz hertz: Double) -> Phasor {
    let passed = highPassValue(atHertz: hertz)
    return coil > 0 ? passed / Phasor(1, 2 * .pi * hertz * coil) : passed
  }

  /// What the recorder's high-pass leaves; the second order is Butterworth's.
  func highPassValue(atHertz hertz: Double) -> Phasor {
    let ratio = hertz / max(highPass, 1e-9)
    switch highPassOrder {
    case 1: return Phasor(0, ratio) / Phasor(1, ratio)
    case 2: return Phasor(-ratio * ratio, 0) / Phasor(1 - ratio * ratio, 2.0.squareRoot() * ratio)
    default: return Phasor(1, 0)
    }
  }

  /// The delay as a turn.
  func turn(atHertz hertz: Double) -> Phasor {
    let turn = 2 * Double.pi * hertz * delay
    return Phasor(cos(turn), -sin(turn))
  }

  /// The factors on the resonances that bring their sum nearest to what was measured, and what is then left over.
  ///
  /// - Parameter left: The rest of each group, real and imaginary parts, by the root of its weight.
  func match(_ response: MeasuredResponse) -> (gains: [Double], cost: Double, left: [Double]) {
    let groups = response.groups
    let measured = response.weighted
    var columns = [[Phasor]](repeating: [Phasor](repeating: .zero, count: groups.count), count: modes.count)
    for index in groups.indices {
      let hertz = groups[index].hertz
      let common = passed(atHertz: hertz) * turn(atHertz: hertz) * response.roots[index]
      for mode in modes.indices { columns[mode][index] = still(mode, atHertz: hertz) * common }
    }
    func overlap(_ left: [Phasor], _ right: [Phasor]) -> Double {
      var sum = 0.0
      for index in left.indices {
        sum += left[index].real * right[index].real + left[index].imaginary * right[index].imaginary
      }
      return sum
    }
    let rows = columns.indices.map { row in
      columns.indices.map { column in
        // The least of a ridge keeps two equal resonances solvable.
        overlap(columns[row], columns[column]) * (row == column ? 1 + 1e-12 : 1)
      } + [overlap(columns[row], measured)]
    }
    let gains = LevenbergMarquardt.solve(rows) ?? columns.map { _ in 0 }
    var left: [Double] = []
    left.reserveCapacity(2 * groups.count)
    var cost = 0.0
    for index in groups.indices {
      var rest = measured[index]
      for mode in columns.indices { rest = rest - columns[mode][index] * gains[mode] }
      left.append(rest.real)
      left.append(rest.imaginary)
      cost += rest.power
    }
    return (gains, cost, left)
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
