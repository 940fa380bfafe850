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
  /// Half of the 95 % intervals of resonance and quality, as fractions of them.
  let intervals: (resonance: Double, qualityFactor: Double)

  /// The qualities that are tried.
  static let qualities = 0.2...100.0
  /// The time constants of a coil that are tried, in seconds.
  static let coils = 1e-6...5e-3
  /// Powers by which another sensor, and a coil, must explain more than without: 3 dB.
  private static let advantage = 0.5
  /// What a high-pass of the recorder must leave of the rest to be believed in.
  private static let highPassAdvantage = 0.6
  /// The corners of a recorder's high-pass that are tried, in hertz.
  static let highPasses = 0.5...200.0
  /// The residual in decibels above which a high-pass is looked for from every start.
  private static let doubtful = -20.0

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
    shape = Self.withHighPass(shape, response, band: band, sensors: sensors)
    (gain, cost) = shape.match(response)
    self.shape = shape
    intervals = Self.intervals(of: shape, response)
    residual = Decibels.of(power: cost / max(response.power, 1e-300))
    let octaves = min(
      log2(shape.resonance / band.lowerBound), log2(band.upperBound / shape.resonance))
    isAtBound =
      octaves < 1.0 / 6 || shape.qualityFactor < Self.qualities.lowerBound * 1.001
      || shape.qualityFactor > Self.qualities.upperBound * 0.999
  }

  /// The shape with the high-pass of a recorder's input, where that explains much of what is left.
  private static func withHighPass(
    _ shape: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>,
    sensors: [TransducerMeasurement.Sensor]
  ) -> ResonanceShape {
    var best = shape
    var least = shape.match(response).cost
    let residual = Decibels.of(power: least / max(response.power, 1e-300))
    var starts = [shape]
    if residual > doubtful {
      starts += sensors.flatMap {
        InitialEstimates.shapes(for: response, order: $0.order, band: band).prefix(2)
      }
    }
    for order in 1...2 {
      var own: (shape: ResonanceShape, cost: Double)?
      for start in starts {
        var start = start
        start.highPass = 15
        start.highPassOrder = order
        let refined = refine(start, response, band: band)
        let cost = refined.match(response).cost
        if cost < own?.cost ?? .infinity { own = (refined, cost) }
      }
      if let own, own.cost < highPassAdvantage * least { (best, least) = own }
    }
    return best
  }

  /// Half of the 95 % intervals by the curvature of the squares at their least.
  ///
  /// The variance is that of what is left, widened by how much neighbours are alike: what the model lacks is not
  /// independent from group to group.
  private static func intervals(of shape: ResonanceShape, _ response: MeasuredResponse)
    -> (resonance: Double, qualityFactor: Double)
  {
    let parameters = Parameters(shape)
    let left = residuals(of: shape, response)
    let columns = parameters.point.indices.map { index in
      var moved = parameters.point
      moved[index] += parameters.steps[index]
      return zip(residuals(of: parameters.shape(moved), response), left).map {
        ($0 - $1) / parameters.steps[index]
      }
    }
    guard let inverse = LevenbergMarquardt.inverse(of: columns) else { return (1, 1) }
    var cost = 0.0
    var alike = 0.0
    for index in left.indices {
      cost += left[index] * left[index]
      if index >= 2 { alike += left[index] * left[index - 2] }
    }
    let correlation = min(0.97, max(0, alike / max(cost, 1e-300)))
    let freedom = Double(max(1, left.count - parameters.point.count - 1))
    let variance = cost / freedom * (1 + correlation) / (1 - correlation)
    return (
      1.96 * (variance * inverse[0]).squareRoot(), 1.96 * (variance * inverse[1]).squareRoot()
    )
  }

  /// What a shape at its best gain leaves of each group, real and imaginary parts.
  private static func residuals(of shape: ResonanceShape, _ response: MeasuredResponse)
    -> [Double]
  {
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
    for (group, value) in zip(response.groups, values) {
      let rest = group.gain - value * gain
      let root = group.weight.squareRoot()
      left.append(root * rest.real)
      left.append(root * rest.imaginary)
    }
    return left
  }

  /// What of a shape is fitted, as a point, and how.
  private struct Parameters {
    private let start: ResonanceShape
    private(set) var point: [Double]
    private(set) var steps = [1e-5, 1e-4, 1e-3]
    private(set) var bounds: [ClosedRange<Double>]

    /// Seconds that the delay is counted in, so that its steps are like the others'.
    private static let unit = 1.0 / 48_000

    init(_ start: ResonanceShape, band: ClosedRange<Double> = 1e-3...1e6) {
      self.start = start
      point = [log(start.resonance), log(start.qualityFactor), start.delay / Self.unit]
      bounds = [
        log(band.lowerBound / 2)...log(band.upperBound * 2),
        log(qualities.lowerBound)...log(qualities.upperBound), -1e7...1e7,
      ]
      if start.coil > 0 { add(start.coil, within: coils) }
      if start.highPassOrder > 0 { add(start.highPass, within: highPasses) }
    }

    private mutating func add(_ value: Double, within range: ClosedRange<Double>) {
      point.append(log(value))
      steps.append(1e-4)
      bounds.append(log(range.lowerBound)...log(range.upperBound))
    }

    func shape(_ point: [Double]) -> ResonanceShape {
      var shape = start
      shape.resonance = exp(point[0])
      shape.qualityFactor = exp(point[1])
      shape.delay = point[2] * Self.unit
      var next = 3
      if start.coil > 0 {
        shape.coil = exp(point[next])
        next += 1
      }
      if start.highPassOrder > 0 { shape.highPass = exp(point[next]) }
      return shape
    }
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

  /// Adapts resonance, quality, delay and, where it has them, the coil and the high-pass.
  private static func refine(
    _ start: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>
  ) -> ResonanceShape {
    let parameters = Parameters(start, band: band)
    let found = LevenbergMarquardt.fit(
      from: parameters.point, steps: parameters.steps, bounds: parameters.bounds
    ) { residuals(of: parameters.shape($0), response) }
    return parameters.shape(found)
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
  /// The corner of a high-pass of the recorder's input in hertz, and its order: 0 for none, 1 or 2.
  var highPass = 0.0
  var highPassOrder = 0

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
    return numerator / denominator * highPassValue(atHertz: hertz)
  }

  /// What the recorder's high-pass leaves; the second order is Butterworth's.
  func highPassValue(atHertz hertz: Double) -> Phasor {
    let ratio = hertz / max(highPass, 1e-9)
    switch highPassOrder {
    case 1: return Phasor(0, ratio) / Phasor(1, ratio)
    case 2:
      return Phasor(-ratio * ratio, 0) / Phasor(1 - ratio * ratio, 2.0.squareRoot() * ratio)
    default: return Phasor(1, 0)
    }
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
