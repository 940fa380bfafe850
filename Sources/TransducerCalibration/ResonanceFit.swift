internal import Glibc
internal import HapticRender
internal import SignalAnalysis

/// The resonance that explains most of a response.
struct ResonanceFit {
  /// The shape that was found.
  let shape: ResonanceShape
  /// The factor on it; below zero where the polarity is turned.
  let gain: Double
  /// The power that is left over.
  let cost: Double
  /// That power as a part of all, in decibels.
  let residual: Double
  /// Whether a figure ran against the end of what is tried.
  let isAtBound: Bool

  /// The qualities that are tried.
  static let qualities = 0.2...100.0
  /// The time constants of a coil that are tried, in seconds.
  static let coils = 1e-6...5e-3
  /// Powers by which another sensor, and a coil, must explain more than without: 3 dB.
  private static let advantage = 0.5

  /// Fits all shapes of some sensors; acceleration is preferred.
  init(
    _ response: MeasuredResponse, band: ClosedRange<Double>, sensors: [TransducerMeasurement.Sensor]
  ) {
    var best: (shape: ResonanceShape, cost: Double)?
    for sensor in sensors {
      var own: (shape: ResonanceShape, cost: Double)?
      for start in InitialEstimates.shapes(for: response, order: sensor.order, band: band) {
        let shape = Self.refine(start, response, band: band)
        let cost = shape.match(response).cost
        if cost < own?.cost ?? .infinity { own = (shape, cost) }
      }
      guard let own else { continue }
      if own.cost < (best.map { $0.cost * Self.advantage } ?? .infinity) { best = own }
    }
    var shape =
      best?.shape
      ?? ResonanceShape(resonance: band.lowerBound, qualityFactor: 1, delay: 0, order: 2)
    let coiled = Self.withCoil(shape, response, band: band)
    if coiled.match(response).cost < Self.advantage * shape.match(response).cost { shape = coiled }
    (gain, cost) = shape.match(response)
    self.shape = shape
    residual = Decibels.of(power: cost / max(response.power, 1e-300))
    let octaves = min(
      log2(shape.resonance / band.lowerBound), log2(band.upperBound / shape.resonance))
    isAtBound =
      octaves < 1.0 / 6 || shape.qualityFactor < Self.qualities.lowerBound * 1.001
      || shape.qualityFactor > Self.qualities.upperBound * 0.999
  }

  /// The best of some time constants of a coil to start from.
  private static func withCoil(
    _ shape: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>
  ) -> ResonanceShape {
    var best = shape
    var least = Double.infinity
    for coil in [1e-4, 5e-4, 1.5e-3] {
      var start = shape
      start.coil = coil
      // The coil explains most of what was taken for delay.
      start.delay -= 0.7 * coil
      let refined = refine(start, response, band: band)
      let cost = refined.match(response).cost
      if cost < least { (best, least) = (refined, cost) }
    }
    return best
  }

  /// Adapts resonance, quality, delay and, where it has one, the coil.
  private static func refine(
    _ start: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>
  ) -> ResonanceShape {
    /// Seconds that the delay is counted in, so that its steps are like the others'.
    let unit = 1.0 / 48_000
    func shape(_ point: [Double]) -> ResonanceShape {
      ResonanceShape(
        resonance: exp(point[0]), qualityFactor: exp(point[1]), delay: point[2] * unit,
        order: start.order, coil: point.count > 3 ? exp(point[3]) : 0)
    }
    var point = [log(start.resonance), log(start.qualityFactor), start.delay / unit]
    var steps = [1e-5, 1e-4, 1e-3]
    var bounds = [
      log(band.lowerBound / 2)...log(band.upperBound * 2),
      log(qualities.lowerBound)...log(qualities.upperBound), -1e7...1e7,
    ]
    if start.coil > 0 {
      point.append(log(start.coil))
      steps.append(1e-4)
      bounds.append(log(coils.lowerBound)...log(coils.upperBound))
    }
    let roots = response.groups.map { $0.weight.squareRoot() }
    let found = LevenbergMarquardt.fit(from: point, steps: steps, bounds: bounds) { point in
      let shape = shape(point)
      let values = response.groups.map { shape.value(atHertz: $0.hertz) }
      var overlap = 0.0
      var own = 0.0
      for (group, value) in zip(response.groups, values) {
        overlap += group.weight * (value.conjugate * group.gain).real
        own += group.weight * value.power
      }
      let gain = own > 0 ? overlap / own : 0
      var left: [Double] = []
      left.reserveCapacity(2 * values.count)
      for index in values.indices {
        let rest = response.groups[index].gain - values[index] * gain
        left.append(roots[index] * rest.real)
        left.append(roots[index] * rest.imaginary)
      }
      return left
    }
    return shape(found)
  }
}

/// A resonance as a sensor sees it, up to a factor: what is fitted.
struct ResonanceShape: Equatable, BitwiseCopyable {
  /// Resonance in hertz.
  var resonance: Double
  /// Quality factor.
  var qualityFactor: Double
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
    var denominator = Phasor(1 - ratio * ratio, ratio / qualityFactor)
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

/// Shapes to start a fit from: the best of a grid, by magnitude alone.
enum InitialEstimates {
  /// Steps of the resonance in an octave.
  private static let stepsPerOctave = 24.0
  /// The qualities that are tried.
  private static let qualities = (0..<13).map { 0.4 * pow(100, Double($0) / 12) }
  /// Groups of the response that are taken as one.
  private static let coarseness = 3
  /// How many starts are kept.
  private static let count = 4

  /// The starts for a sensor, best first; their delays are those that fit them best.
  static func shapes(
    for response: MeasuredResponse, order: Int, band: ClosedRange<Double>
  ) -> [ResonanceShape] {
    // Wider groups are enough to find where to begin.
    let groups = stride(from: 0, to: response.groups.count, by: coarseness).map { start in
      let run = response.groups[start..<min(start + coarseness, response.groups.count)]
      let weight = run.reduce(0) { $0 + $1.weight }
      return Magnitude(
        hertz: run.reduce(0) { $0 + $1.weight * $1.hertz } / weight,
        value: run.reduce(0) { $0 + $1.weight * $1.gain.magnitude } / weight, weight: weight)
    }
    let steps = Int(stepsPerOctave * log2(band.upperBound / band.lowerBound))
    var candidates: [(cost: Double, shape: ResonanceShape)] = []
    for step in 0...max(1, steps) {
      let hertz = band.lowerBound * pow(2, Double(step) / stepsPerOctave)
      for qualityFactor in qualities {
        let shape = ResonanceShape(
          resonance: hertz, qualityFactor: qualityFactor, delay: 0, order: order)
        candidates.append((cost(of: shape, groups), shape))
      }
    }
    candidates.sort { $0.cost < $1.cost }
    var kept: [ResonanceShape] = []
    for candidate in candidates where kept.count < count {
      // Neighbours of one another lead to one end.
      let isNew = kept.allSatisfy {
        abs(log2(candidate.shape.resonance / $0.resonance)) > 1.0 / 6
          || abs(log(candidate.shape.qualityFactor / $0.qualityFactor)) > 0.8
      }
      if isNew { kept.append(candidate.shape) }
    }
    return kept.map { shape in
      var shape = shape
      shape.delay = delay(of: shape, response, reach: 0.5 / band.lowerBound)
      return shape
    }
  }

  /// A part of the response without its phase.
  private struct Magnitude {
    var hertz: Double
    var value: Double
    var weight: Double
  }

  private static func cost(of shape: ResonanceShape, _ groups: [Magnitude]) -> Double {
    var overlap = 0.0
    var own = 0.0
    for group in groups {
      let power = shape.still(atHertz: group.hertz).power
      overlap += group.weight * power.squareRoot() * group.value
      own += group.weight * power
    }
    return own > 0 ? -overlap * overlap / own : 0
  }

  private static func delay(
    of shape: ResonanceShape, _ response: MeasuredResponse, reach: Double
  ) -> Double {
    let terms = response.groups.map { group in
      (
        hertz: group.hertz,
        value: shape.still(atHertz: group.hertz).conjugate * group.gain * group.weight
      )
    }
    return DelaySearch.delay(of: terms, within: reach, ignoresSign: true)
  }
}
