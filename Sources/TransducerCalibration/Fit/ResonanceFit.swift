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
      ?? ResonanceShape(resonance: band.lowerBound, quality: 1, delay: 0, order: 2)
    let coiled = Self.withCoil(shape, response, band: band)
    if coiled.match(response).cost < Self.advantage * shape.match(response).cost { shape = coiled }
    (gain, cost) = shape.match(response)
    self.shape = shape
    residual = Decibels.of(power: cost / max(response.power, 1e-300))
    let octaves = min(
      log2(shape.resonance / band.lowerBound), log2(band.upperBound / shape.resonance))
    isAtBound =
      octaves < 1.0 / 6 || shape.quality < Self.qualities.lowerBound * 1.001
      || shape.quality > Self.qualities.upperBound * 0.999
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
        resonance: exp(point[0]), quality: exp(point[1]), delay: point[2] * unit,
        order: start.order, coil: point.count > 3 ? exp(point[3]) : 0)
    }
    var point = [log(start.resonance), log(start.quality), start.delay / unit]
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
