internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// The resonances that explain most of a response.
struct ResonanceFit {
  /// The shape that was found, the main resonance first.
  let transferFunction: TransferFunction
  /// The factor on each resonance; below zero where the polarity is turned.
  let gains: [Double]
  let cost: Double
  /// That power as a part of all, in decibels.
  let residual: Double
  let isAtBound: Bool
  /// Half of the 95 % intervals of each resonance and its quality, as fractions of them.
  let intervals: [(resonance: Double, qualityFactor: Double)]

  /// What is tried: qualities, time constants of a coil in seconds, and corners of a recorder's
  /// high-pass in hertz.
  static let qualityFactorRange = 0.2...100.0
  static let coilTimeConstantRange = 1e-6...5e-3
  static let highPassCornerRange = 0.5...200.0
  /// The most resonances that are looked for.
  static let maximumModeCount = 3

  /// What another sensor, a coil or a further resonance must leave of the rest to be believed in, 3
  /// dB less, and what a high-pass of the recorder must.
  private static let maximumCostRatio = 0.5
  private static let maximumHighPassCostRatio = 0.6
  /// The residual in decibels above which a high-pass is looked for from every start.
  private static let doubtfulResidual = -20.0
  /// The residual in decibels up to which no further resonance is looked for, and how far above
  /// noise it begins.
  private static let cleanResidual = -36.0
  private static let noiseMargin = 2.0
  /// The least factor of a further resonance, as a part of the strongest, 30 dB, and its least
  /// quality.
  private static let minimumModeGain = 0.03
  private static let minimumModeQualityFactor = 1.0
  /// How strong a resonance must be, as a part of the strongest, to be the main one where it is the
  /// lowest.
  private static let minimumMainModeGain = 0.5

  /// - Parameter noise: The power that noise leaves, as a part of the response's.
  init(
    _ response: MeasuredResponse, band: ClosedRange<Double>,
    sensors: [TransducerMeasurement.Sensor], noise: Double = 0
  ) {
    let search = ResonanceSearch(response: response, band: band)
    var best: (shape: TransferFunction, cost: Double)?
    for sensor in sensors {
      let starts = InitialEstimates.estimates(
        for: response, derivativeOrder: sensor.derivativeOrder, band: band)
      guard let own = search.bestFit(from: starts) else { continue }
      if own.cost < (best.map { $0.cost * Self.maximumCostRatio } ?? .infinity) {
        best = own
      }
    }
    var shape =
      best?.shape
      ?? TransferFunction(
        modes: [.init(resonance: band.lowerBound, qualityFactor: 1)], delay: 0, derivativeOrder: 2)
    shape = Self.addingCoil(to: shape, search: search)
    shape = Self.addingHighPass(to: shape, search: search, sensors: sensors)
    let floor = max(
      response.power * pow(10, Self.cleanResidual / 10),
      response.power * noise * pow(10, Self.noiseMargin / 10))
    while shape.modes.count < Self.maximumModeCount, shape.fitGains(to: response).cost > floor,
      let more = Self.addingMode(to: shape, search: search)
    {
      shape = more
    }
    if shape.modes.count > 1 {
      // What was taken for a coil or a high-pass may have been a resonance, and the other way
      // round.
      if shape.coilTimeConstant == 0 {
        shape = Self.addingCoil(to: shape, search: search)
      }
      if shape.highPassOrder == 0 {
        shape = Self.addingHighPass(to: shape, search: search, sensors: [])
      }
      shape = Self.sortingModes(of: shape, by: shape.fitGains(to: response).gains)
    }
    self.init(shape, response, band: band)
  }

  /// Fits the same kind of shape to another response, from where one ended.
  init(refining shape: TransferFunction, _ response: MeasuredResponse, band: ClosedRange<Double>) {
    self.init(ResonanceSearch(response: response, band: band).refine(shape), response, band: band)
  }

  private init(_ shape: TransferFunction, _ response: MeasuredResponse, band: ClosedRange<Double>) {
    self.transferFunction = shape
    let match = shape.fitGains(to: response)
    gains = match.gains
    cost = match.cost
    intervals = Self.modeIntervals(of: shape, in: response)
    residual = Decibels.of(power: cost / max(response.power, 1e-300))
    let main = shape.mainMode
    let octaves = min(
      log2(main.resonance / band.lowerBound), log2(band.upperBound / main.resonance))
    isAtBound =
      octaves < 1.0 / 6 || main.qualityFactor < Self.qualityFactorRange.lowerBound * 1.001
      || main.qualityFactor > Self.qualityFactorRange.upperBound * 0.999
  }

  /// The sum at a frequency, without the delay.
  func undelayedValue(atHertz hertz: Double) -> Phasor {
    var sum = Phasor.zero
    for (index, gain) in gains.enumerated() {
      sum = sum + transferFunction.undelayedMode(index, atHertz: hertz) * gain
    }
    return sum * transferFunction.filterValue(atHertz: hertz)
  }

  func value(atHertz hertz: Double) -> Phasor {
    undelayedValue(atHertz: hertz) * transferFunction.delayPhasor(atHertz: hertz)
  }

  /// The shape with the lowest of the strong resonances first, and then the stronger ones.
  private static func sortingModes(of shape: TransferFunction, by gains: [Double])
    -> TransferFunction
  {
    let strongest = gains.map(abs).max() ?? 0
    let strong = shape.modes.indices.filter { abs(gains[$0]) >= minimumMainModeGain * strongest }
    guard let main = strong.min(by: { shape.modes[$0].resonance < shape.modes[$1].resonance })
    else { return shape }
    var shape = shape
    let others = shape.modes.indices.filter { $0 != main }.sorted {
      abs(gains[$0]) > abs(gains[$1])
    }
    shape.modes = ([main] + others).map { shape.modes[$0] }
    return shape
  }

  private static func addingMode(to shape: TransferFunction, search: ResonanceSearch)
    -> TransferFunction?
  {
    let response = search.response
    let before = shape.fitGains(to: response)
    var plain = shape
    plain.coilTimeConstant = 0
    plain.highPassOrder = 0
    let places =
      Self.residualPeaks(of: before.left, in: response)
      + [0.5, 0.7, 1.4, 2].map { $0 * shape.mainMode.resonance }
    var starts: [TransferFunction] = []
    for base in plain == shape ? [shape] : [shape, plain] {
      for place in places where search.band.contains(place) {
        var start = base
        start.modes.append(.init(resonance: place, qualityFactor: 7))
        starts.append(start)
      }
    }
    guard let found = search.bestFit(from: starts), found.cost < maximumCostRatio * before.cost
    else {
      return nil
    }
    let gains = found.shape.fitGains(to: response).gains.map(abs)
    let strongest = gains.max() ?? 0
    for (mode, gain) in zip(found.shape.modes, gains) {
      guard gain >= minimumModeGain * strongest, search.band.contains(mode.resonance),
        (minimumModeQualityFactor...qualityFactorRange.upperBound * 0.99).contains(
          mode.qualityFactor)
          || mode == found.shape.mainMode
      else { return nil }
    }
    return found.shape
  }

  /// Where most is left over, in hertz: the tops of up to three humps a sixth of an octave wide.
  private static func residualPeaks(of left: [Double], in response: MeasuredResponse) -> [Double] {
    let reach = Int(MeasuredResponse.groupsPerOctave / 12)
    var remaining = response.groups.indices.map { index in
      let range = max(0, index - reach)...min(response.groups.count - 1, index + reach)
      return range.reduce(0) {
        $0 + left[2 * $1] * left[2 * $1] + left[2 * $1 + 1] * left[2 * $1 + 1]
      }
    }
    var found: [Double] = []
    for _ in 0..<3 {
      guard let top = remaining.indices.max(by: { remaining[$0] < remaining[$1] }),
        remaining[top] > 0
      else { break }
      found.append(response.groups[top].hertz)
      for index in max(0, top - 2 * reach)...min(remaining.count - 1, top + 2 * reach) {
        remaining[index] = 0
      }
    }
    return found
  }

  /// The shape with the high-pass of a recorder's input, where that explains much of what is left.
  /// - Parameter sensors: Those that are looked for again where little is explained.
  private static func addingHighPass(
    to shape: TransferFunction, search: ResonanceSearch, sensors: [TransducerMeasurement.Sensor]
  ) -> TransferFunction {
    let response = search.response
    var best = shape
    var least = shape.fitGains(to: response).cost
    let residual = Decibels.of(power: least / max(response.power, 1e-300))
    var starts = [shape]
    if residual > doubtfulResidual {
      starts += sensors.flatMap {
        InitialEstimates.estimates(
          for: response, derivativeOrder: $0.derivativeOrder, band: search.band
        ).prefix(2)
      }
    }
    let corners = residual > doubtfulResidual ? [15.0, 50] : [15]
    for order in 1...2 {
      let own = search.bestFit(
        from: starts.flatMap { start in
          corners.map { corner in
            var start = start
            start.highPassCorner = corner
            start.highPassOrder = order
            // A high-pass turns the phase as a delay does.
            return residual > doubtfulResidual && start.modes.count == 1
              ? InitialEstimates.fittingDelay(of: start, to: response, band: search.band) : start
          }
        })
      if let own, own.cost < maximumHighPassCostRatio * least {
        best = own.shape
        least = own.cost
      }
    }
    return best
  }

  private static func addingCoil(to shape: TransferFunction, search: ResonanceSearch)
    -> TransferFunction
  {
    let starts = [1e-4, 5e-4, 1.5e-3].map { coil in
      var start = shape
      start.coilTimeConstant = coil
      // The coil explains most of what was taken for delay.
      start.delay -= 0.7 * coil
      return start
    }
    guard let coiled = search.bestFit(from: starts),
      coiled.cost < maximumCostRatio * shape.fitGains(to: search.response).cost
    else {
      return shape
    }
    return coiled.shape
  }

  private static func modeIntervals(of shape: TransferFunction, in response: MeasuredResponse) -> [(
    resonance: Double, qualityFactor: Double
  )] {
    let parameters = ResonanceParameters(shape)
    let left = shape.fitGains(to: response).left
    let columns = LevenbergMarquardt.jacobian(
      at: parameters.point, steps: parameters.steps, residuals: left
    ) {
      parameters.transferFunction(at: $0).fitGains(to: response).left
    }
    guard let found = intervals(jacobian: columns, residuals: left, gainCount: shape.modes.count)
    else {
      return shape.modes.map { _ in (1, 1) }
    }
    return shape.modes.indices.map { (found[2 * $0], found[2 * $0 + 1]) }
  }

  /// Half of the 95 % intervals by the curvature of the squares at their least.
  ///
  /// The variance is that of what is left, widened by how much neighbours are alike: what the model
  /// lacks is not independent from group to group.
  /// - Parameters:
  ///   - columns: What is left over the parameters, by each of them.
  ///   - left: What is left: real and imaginary parts in turn.
  ///   - gainCount: Factors that were fitted besides.
  static func intervals(jacobian columns: [[Double]], residuals left: [Double], gainCount: Int)
    -> [Double]?
  {
    guard let inverse = LevenbergMarquardt.inverseDiagonal(of: columns) else { return nil }
    var cost = 0.0
    var alike = 0.0
    for index in left.indices {
      cost += left[index] * left[index]
      if index >= 2 {
        alike += left[index] * left[index - 2]
      }
    }
    let correlation = min(0.97, max(0, alike / max(cost, 1e-300)))
    let freedom = Double(max(1, left.count - columns.count - gainCount))
    let variance = cost / freedom * (1 + correlation) / (1 - correlation)
    return inverse.map { 1.96 * (variance * $0).squareRoot() }
  }
}

/// A response in which shapes are looked for.
struct ResonanceSearch {
  let response: MeasuredResponse
  let band: ClosedRange<Double>
  /// Part of the response, by which starts are compared.
  private let subsampledResponse: MeasuredResponse

  init(response: MeasuredResponse, band: ClosedRange<Double>) {
    self.response = response
    self.band = band
    subsampledResponse = response.subsampled(by: 3)
  }

  /// The shape that some starts lead to, the best of them by part of the response.
  func bestFit(from starts: [TransferFunction]) -> (shape: TransferFunction, cost: Double)? {
    var best: (shape: TransferFunction, cost: Double)?
    for start in starts {
      let shape = refine(start, subsampledResponse, .coarse)
      let cost = shape.fitGains(to: subsampledResponse).cost
      if cost < best?.cost ?? .infinity {
        best = (shape, cost)
      }
    }
    return best.map {
      let shape = refine($0.shape)
      return (shape, shape.fitGains(to: response).cost)
    }
  }

  /// Adapts resonances, qualities, delay and, where it has them, the coil and the high-pass.
  func refine(_ start: TransferFunction) -> TransferFunction { refine(start, response, .full) }

  private func refine(
    _ start: TransferFunction, _ response: MeasuredResponse,
    _ precision: LevenbergMarquardt.Termination
  )
    -> TransferFunction
  {
    let parameters = ResonanceParameters(start, band: band)
    let found = LevenbergMarquardt.fit(
      from: parameters.point, steps: parameters.steps, bounds: parameters.bounds,
      termination: precision
    ) { parameters.transferFunction(at: $0).fitGains(to: response).left }
    return parameters.transferFunction(at: found)
  }
}

/// What of a shape is fitted, as a point, and how.
private struct ResonanceParameters {
  private let start: TransferFunction
  private(set) var point = [Double]()
  private(set) var steps = [Double]()
  private(set) var bounds = [ClosedRange<Double>]()

  /// Seconds that the delay is counted in, so that its steps are like the others'.
  private static let delayUnit = 1.0 / 48_000

  init(_ start: TransferFunction, band: ClosedRange<Double> = 1e-3...1e6) {
    self.start = start
    for mode in start.modes {
      add(mode.resonance, step: 1e-5, within: band.lowerBound / 2...band.upperBound * 2)
      add(mode.qualityFactor, step: 1e-4, within: ResonanceFit.qualityFactorRange)
    }
    point.append(start.delay / Self.delayUnit)
    steps.append(1e-3)
    bounds.append(-1e7...1e7)
    if start.coilTimeConstant > 0 {
      add(start.coilTimeConstant, step: 1e-4, within: ResonanceFit.coilTimeConstantRange)
    }
    if start.highPassOrder > 0 {
      add(start.highPassCorner, step: 1e-4, within: ResonanceFit.highPassCornerRange)
    }
  }

  private mutating func add(_ value: Double, step: Double, within range: ClosedRange<Double>) {
    point.append(log(value))
    steps.append(step)
    bounds.append(log(range.lowerBound)...log(range.upperBound))
  }

  func transferFunction(at point: [Double]) -> TransferFunction {
    var shape = start
    for index in shape.modes.indices {
      shape.modes[index] = .init(
        resonance: exp(point[2 * index]), qualityFactor: exp(point[2 * index + 1]))
    }
    let next = 2 * shape.modes.count
    shape.delay = point[next] * Self.delayUnit
    if start.coilTimeConstant > 0 {
      shape.coilTimeConstant = exp(point[next + 1])
    }
    // The last.
    if start.highPassOrder > 0 {
      shape.highPassCorner = exp(point[point.count - 1])
    }
    return shape
  }
}

/// Resonances as a sensor sees them, up to a factor on each: what is fitted.
struct TransferFunction: Equatable {
  struct Mode: Equatable, BitwiseCopyable {
    /// Resonance in hertz.
    var resonance: Double
    var qualityFactor: Double
  }

  var modes: [Mode]
  /// Seconds by which all is late.
  var delay: Double
  /// Times ω in the numerator: 2 for acceleration, 1 for velocity, 0 for displacement.
  var derivativeOrder: Int
  /// Seconds of the coil's own time constant; 0 where it plays no part.
  var coilTimeConstant = 0.0
  /// The corner of a high-pass of the recorder's input in hertz, and its order: 0 for none, 1 or 2.
  var highPassCorner = 0.0
  var highPassOrder = 0

  var mainMode: Mode { modes[0] }

  /// One resonance alone, scaled to 1 at it.
  func undelayedMode(_ index: Int, atHertz hertz: Double) -> Phasor {
    let mode = modes[index]
    let ratio = hertz / mode.resonance
    let numerator =
      switch derivativeOrder {
      case 2: Phasor(-ratio * ratio, 0)
      case 1: Phasor(0, ratio)
      default: Phasor(1, 0)
      }
    let scaled = numerator * (1 / mode.qualityFactor)
    return scaled / Phasor(1 - ratio * ratio, ratio / mode.qualityFactor)
  }

  /// What the coil and the recorder's high-pass leave of every resonance.
  func filterValue(atHertz hertz: Double) -> Phasor {
    let passed = highPassValue(atHertz: hertz)
    return coilTimeConstant > 0 ? passed / Phasor(1, 2 * .pi * hertz * coilTimeConstant) : passed
  }

  /// What the recorder's high-pass leaves; the second order is Butterworth's.
  func highPassValue(atHertz hertz: Double) -> Phasor {
    let ratio = hertz / max(highPassCorner, 1e-9)
    switch highPassOrder {
    case 1: return Phasor(0, ratio) / Phasor(1, ratio)
    case 2: return Phasor(-ratio * ratio, 0) / Phasor(1 - ratio * ratio, 2.0.squareRoot() * ratio)
    default: return Phasor(1, 0)
    }
  }

  func delayPhasor(atHertz hertz: Double) -> Phasor {
    let turn = 2 * Double.pi * hertz * delay
    return Phasor(cos(turn), -sin(turn))
  }

  /// The factors on the resonances that bring their sum nearest to what was measured, and what is
  /// then left over.
  /// - Parameter left: The rest of each group, real and imaginary parts, by the root of its weight.
  func fitGains(to response: MeasuredResponse) -> (gains: [Double], cost: Double, left: [Double]) {
    let groups = response.groups
    let measured = response.weightedGains
    var columns = [[Phasor]](
      repeating: [Phasor](repeating: .zero, count: groups.count), count: modes.count)
    for index in groups.indices {
      let hertz = groups[index].hertz
      let common =
        filterValue(atHertz: hertz) * delayPhasor(atHertz: hertz) * response.rootWeights[index]
      for mode in modes.indices {
        columns[mode][index] = undelayedMode(mode, atHertz: hertz) * common
      }
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
      var remaining = measured[index]
      for mode in columns.indices {
        remaining = remaining - columns[mode][index] * gains[mode]
      }
      left.append(remaining.real)
      left.append(remaining.imaginary)
      cost += remaining.power
    }
    return (gains, cost, left)
  }
}

extension TransducerMeasurement.Sensor {
  var derivativeOrder: Int {
    switch self {
    case .acceleration: 2
    case .velocity: 1
    case .displacement: 0
    }
  }
}

/// Shapes to start a fit from: the best of a grid, by magnitude alone.
enum InitialEstimates {
  /// Steps of the resonance in an octave, groups of the response that are taken as one, and how
  /// many starts are kept.
  private static let stepsPerOctave = 24.0
  private static let groupSize = 3
  private static let maximumCount = 4
  private static let qualityFactors = (0..<13).map { 0.4 * pow(100, Double($0) / 12) }

  /// The starts for a sensor, best first; their delays are those that fit them best.
  static func estimates(
    for response: MeasuredResponse, derivativeOrder order: Int, band: ClosedRange<Double>
  )
    -> [TransferFunction]
  {
    // Wider groups are enough to find where to begin.
    let groups = stride(from: 0, to: response.groups.count, by: groupSize).map { start in
      let run = response.groups[start..<min(start + groupSize, response.groups.count)]
      let weight = run.reduce(0) { $0 + $1.weight }
      return Magnitude(
        hertz: run.reduce(0) { $0 + $1.weight * $1.hertz } / weight,
        value: run.reduce(0) { $0 + $1.weight * $1.gain.magnitude } / weight, weight: weight)
    }
    let steps = Int(stepsPerOctave * log2(band.upperBound / band.lowerBound))
    var candidates: [(cost: Double, shape: TransferFunction)] = []
    for step in 0...max(1, steps) {
      let hertz = band.lowerBound * pow(2, Double(step) / stepsPerOctave)
      for qualityFactor in qualityFactors {
        let shape = TransferFunction(
          modes: [.init(resonance: hertz, qualityFactor: qualityFactor)], delay: 0,
          derivativeOrder: order)
        candidates.append((cost(of: shape, groups), shape))
      }
    }
    var kept: [TransferFunction] = []
    for (_, shape) in candidates.sorted(by: { $0.cost < $1.cost }) where kept.count < maximumCount {
      // Neighbours of one another lead to one end.
      let isNew = kept.allSatisfy {
        abs(log2(shape.mainMode.resonance / $0.mainMode.resonance)) > 1.0 / 6
          || abs(log(shape.mainMode.qualityFactor / $0.mainMode.qualityFactor)) > 0.8
      }
      if isNew {
        kept.append(shape)
      }
    }
    return kept.map { fittingDelay(of: $0, to: response, band: band) }
  }

  static func fittingDelay(
    of shape: TransferFunction, to response: MeasuredResponse, band: ClosedRange<Double>
  )
    -> TransferFunction
  {
    let terms = response.groups.map { group in
      let value =
        shape.undelayedMode(0, atHertz: group.hertz) * shape.filterValue(atHertz: group.hertz)
      return (hertz: group.hertz, value: value.conjugate * group.gain * group.weight)
    }
    var shape = shape
    shape.delay = DelaySearch.delay(of: terms, within: 0.5 / band.lowerBound, ignoresSign: true)
    return shape
  }

  private struct Magnitude { var hertz, value, weight: Double }

  private static func cost(of shape: TransferFunction, _ groups: [Magnitude]) -> Double {
    var overlap = 0.0
    var own = 0.0
    for group in groups {
      let power = shape.undelayedMode(0, atHertz: group.hertz).power
      overlap += group.weight * power.squareRoot() * group.value
      own += group.weight * power
    }
    return own > 0 ? -overlap * overlap / own : 0
  }

}

/// Least squares of a function that is not linear in its few parameters.
///
/// Levenberg, Quarterly of Applied Mathematics 2, 1944; Marquardt, Journal of SIAM 11, 1963.
enum LevenbergMarquardt {
  /// When a search ends: after so many rounds, or where a round gains less than a part of the
  /// squares.
  struct Termination {
    var maximumIterationCount: Int
    var minimumRelativeGain: Double

    static let full = Termination(maximumIterationCount: 60, minimumRelativeGain: 1e-10)
    static let coarse = Termination(maximumIterationCount: 30, minimumRelativeGain: 1e-4)
  }

  /// The parameters for which the squares of the residuals sum to the least.
  /// - Parameter steps: How far each parameter is moved to see what it does.
  static func fit(
    from start: [Double], steps: [Double], bounds: [ClosedRange<Double>],
    termination precision: Termination = .full,
    residuals: ([Double]) -> [Double]
  ) -> [Double] {
    var point = start
    var left = residuals(point)
    var cost = left.reduce(0) { $0 + $1 * $1 }
    var damping = 1e-3
    for _ in 0..<precision.maximumIterationCount {
      let columns = jacobian(at: point, steps: steps, residuals: left, residuals)
      var isBetter = false
      var isDone = false
      while damping < 1e8, !isBetter {
        guard let move = step(columns, left, damping: damping) else { return point }
        let next = point.indices.map { index in
          min(max(point[index] + move[index], bounds[index].lowerBound), bounds[index].upperBound)
        }
        let remaining = residuals(next)
        let nextCost = remaining.reduce(0) { $0 + $1 * $1 }
        isBetter = nextCost < cost
        damping = isBetter ? max(damping / 10, 1e-12) : damping * 10
        guard isBetter else { continue }
        isDone = cost - nextCost < precision.minimumRelativeGain * cost
        point = next
        left = remaining
        cost = nextCost
      }
      if !isBetter || isDone { return point }
    }
    return point
  }

  /// What moving each parameter does to the residuals, which are what is left at a point.
  static func jacobian(
    at point: [Double], steps: [Double], residuals left: [Double],
    _ residuals: ([Double]) -> [Double]
  )
    -> [[Double]]
  {
    point.indices.map { index in
      var moved = point
      moved[index] += steps[index]
      return zip(residuals(moved), left).map { ($0 - $1) / steps[index] }
    }
  }

  /// Solves (JᵀJ + damping·diagonal)·move = −Jᵀ·left by elimination.
  private static func step(_ columns: [[Double]], _ left: [Double], damping: Double) -> [Double]? {
    let count = columns.count
    var rows = (0..<count).map { row in
      (0..<count).map { dot(columns[row], columns[$0]) } + [-dot(columns[row], left)]
    }
    for index in 0..<count {
      rows[index][index] += damping * rows[index][index] + 1e-300
    }
    return solve(rows)
  }

  /// The solution of linear equations whose matrix is symmetric and positive; each row ends with
  /// its right side.
  static func solve(_ rows: [[Double]]) -> [Double]? {
    var rows = rows
    let count = rows.count
    for pivot in 0..<count {
      // The matrix is symmetric and positive: no rows need to change places.
      guard rows[pivot][pivot] > 0, rows[pivot][pivot].isFinite else { return nil }
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot] / rows[pivot][pivot]
        for column in pivot...count {
          rows[row][column] -= factor * rows[pivot][column]
        }
      }
    }
    let found = (0..<count).map { rows[$0][count] / rows[$0][$0] }
    return found.allSatisfy(\.isFinite) ? found : nil
  }

  /// The diagonal of the inverse of JᵀJ, or nothing where it has none.
  static func inverseDiagonal(of columns: [[Double]]) -> [Double]? {
    let matrix = columns.map { row in columns.map { dot(row, $0) } }
    var diagonal: [Double] = []
    for index in matrix.indices {
      let rows = matrix.enumerated().map { $1 + [$0 == index ? 1 : 0] }
      guard let column = solve(rows), column[index] >= 0 else { return nil }
      diagonal.append(column[index])
    }
    return diagonal
  }

  private static func dot(_ left: [Double], _ right: [Double]) -> Double {
    var sum = 0.0
    for index in left.indices {
      sum += left[index] * right[index]
    }
    return sum
  }
}
