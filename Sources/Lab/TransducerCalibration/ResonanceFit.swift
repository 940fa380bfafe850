internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// The resonances that explain most of a response.
struct ResonanceFit {
  /// The shape that was found, the main resonance first.
  let shape: ResonanceShape
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
  static let qualities = 0.2...100.0
  static let coils = 1e-6...5e-3
  static let highPasses = 0.5...200.0
  /// The most resonances that are looked for.
  static let mostModes = 3

  /// What another sensor, a coil or a further resonance must leave of the rest to be believed in, 3
  /// dB less, and what a high-pass of the recorder must.
  private static let advantage = 0.5
  private static let highPassAdvantage = 0.6
  /// The residual in decibels above which a high-pass is looked for from every start.
  private static let doubtful = -20.0
  /// The residual in decibels up to which no further resonance is looked for, and how far above
  /// noise it begins.
  private static let clean = -36.0
  private static let aboveNoise = 2.0
  /// The least factor of a further resonance, as a part of the strongest, 30 dB, and its least
  /// quality.
  private static let leastGain = 0.03
  private static let leastQuality = 1.0
  /// How strong a resonance must be, as a part of the strongest, to be the main one where it is the
  /// lowest.
  private static let mainGain = 0.5

  /// - Parameter noise: The power that noise leaves, as a part of the response's.
  init(
    _ response: MeasuredResponse, band: ClosedRange<Double>,
    sensors: [TransducerMeasurement.Sensor], noise: Double = 0
  ) {
    let search = ResonanceSearch(response: response, band: band)
    var best: (shape: ResonanceShape, cost: Double)?
    for sensor in sensors {
      let starts = InitialEstimates.shapes(for: response, order: sensor.order, band: band)
      guard let own = search.best(of: starts) else { continue }
      if own.cost < (best.map { $0.cost * Self.advantage } ?? .infinity) {
        best = own
      }
    }
    var shape =
      best?.shape
      ?? ResonanceShape(
        modes: [.init(resonance: band.lowerBound, qualityFactor: 1)], delay: 0, order: 2)
    shape = Self.withCoil(shape, search)
    shape = Self.withHighPass(shape, search, sensors: sensors)
    let floor = max(
      response.power * pow(10, Self.clean / 10),
      response.power * noise * pow(10, Self.aboveNoise / 10))
    while shape.modes.count < Self.mostModes, shape.match(response).cost > floor,
      let more = Self.withMode(shape, search)
    {
      shape = more
    }
    if shape.modes.count > 1 {
      // What was taken for a coil or a high-pass may have been a resonance, and the other way
      // round.
      if shape.coil == 0 {
        shape = Self.withCoil(shape, search)
      }
      if shape.highPassOrder == 0 {
        shape = Self.withHighPass(shape, search, sensors: [])
      }
      shape = Self.sorted(shape, by: shape.match(response).gains)
    }
    self.init(shape, response, band: band)
  }

  /// Fits the same kind of shape to another response, from where one ended.
  init(refining shape: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>) {
    self.init(ResonanceSearch(response: response, band: band).refine(shape), response, band: band)
  }

  private init(_ shape: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>) {
    self.shape = shape
    let match = shape.match(response)
    gains = match.gains
    cost = match.cost
    intervals = Self.intervals(of: shape, response)
    residual = Decibels.of(power: cost / max(response.power, 1e-300))
    let main = shape.main
    let octaves = min(
      log2(main.resonance / band.lowerBound), log2(band.upperBound / main.resonance))
    isAtBound =
      octaves < 1.0 / 6 || main.qualityFactor < Self.qualities.lowerBound * 1.001
      || main.qualityFactor > Self.qualities.upperBound * 0.999
  }

  /// The sum at a frequency, without the delay.
  func still(atHertz hertz: Double) -> Phasor {
    var sum = Phasor.zero
    for (index, gain) in gains.enumerated() {
      sum = sum + shape.still(index, atHertz: hertz) * gain
    }
    return sum * shape.passed(atHertz: hertz)
  }

  func value(atHertz hertz: Double) -> Phasor { still(atHertz: hertz) * shape.turn(atHertz: hertz) }

  /// The shape with the lowest of the strong resonances first, and then the stronger ones.
  private static func sorted(_ shape: ResonanceShape, by gains: [Double]) -> ResonanceShape {
    let strongest = gains.map(abs).max() ?? 0
    let strong = shape.modes.indices.filter { abs(gains[$0]) >= mainGain * strongest }
    guard let main = strong.min(by: { shape.modes[$0].resonance < shape.modes[$1].resonance })
    else { return shape }
    var shape = shape
    let others = shape.modes.indices.filter { $0 != main }.sorted {
      abs(gains[$0]) > abs(gains[$1])
    }
    shape.modes = ([main] + others).map { shape.modes[$0] }
    return shape
  }

  private static func withMode(_ shape: ResonanceShape, _ search: ResonanceSearch)
    -> ResonanceShape?
  {
    let response = search.response
    let before = shape.match(response)
    var plain = shape
    plain.coil = 0
    plain.highPassOrder = 0
    let places =
      Self.peaks(of: before.left, response) + [0.5, 0.7, 1.4, 2].map { $0 * shape.main.resonance }
    var starts: [ResonanceShape] = []
    for base in plain == shape ? [shape] : [shape, plain] {
      for place in places where search.band.contains(place) {
        var start = base
        start.modes.append(.init(resonance: place, qualityFactor: 7))
        starts.append(start)
      }
    }
    guard let found = search.best(of: starts), found.cost < advantage * before.cost else {
      return nil
    }
    let gains = found.shape.match(response).gains.map(abs)
    let strongest = gains.max() ?? 0
    for (mode, gain) in zip(found.shape.modes, gains) {
      guard gain >= leastGain * strongest, search.band.contains(mode.resonance),
        (leastQuality...qualities.upperBound * 0.99).contains(mode.qualityFactor)
          || mode == found.shape.main
      else { return nil }
    }
    return found.shape
  }

  /// Where most is left over, in hertz: the tops of up to three humps a sixth of an octave wide.
  private static func peaks(of left: [Double], _ response: MeasuredResponse) -> [Double] {
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
  private static func withHighPass(
    _ shape: ResonanceShape, _ search: ResonanceSearch, sensors: [TransducerMeasurement.Sensor]
  ) -> ResonanceShape {
    let response = search.response
    var best = shape
    var least = shape.match(response).cost
    let residual = Decibels.of(power: least / max(response.power, 1e-300))
    var starts = [shape]
    if residual > doubtful {
      starts += sensors.flatMap {
        InitialEstimates.shapes(for: response, order: $0.order, band: search.band).prefix(2)
      }
    }
    let corners = residual > doubtful ? [15.0, 50] : [15]
    for order in 1...2 {
      let own = search.best(
        of: starts.flatMap { start in
          corners.map { corner in
            var start = start
            start.highPass = corner
            start.highPassOrder = order
            // A high-pass turns the phase as a delay does.
            return residual > doubtful && start.modes.count == 1
              ? InitialEstimates.delayed(start, response, band: search.band) : start
          }
        })
      if let own, own.cost < highPassAdvantage * least {
        best = own.shape
        least = own.cost
      }
    }
    return best
  }

  private static func withCoil(_ shape: ResonanceShape, _ search: ResonanceSearch) -> ResonanceShape
  {
    let starts = [1e-4, 5e-4, 1.5e-3].map { coil in
      var start = shape
      start.coil = coil
      // The coil explains most of what was taken for delay.
      start.delay -= 0.7 * coil
      return start
    }
    guard let coiled = search.best(of: starts),
      coiled.cost < advantage * shape.match(search.response).cost
    else {
      return shape
    }
    return coiled.shape
  }

  private static func intervals(of shape: ResonanceShape, _ response: MeasuredResponse) -> [(
    resonance: Double, qualityFactor: Double
  )] {
    let parameters = ResonanceParameters(shape)
    let left = shape.match(response).left
    let columns = LevenbergMarquardt.columns(
      at: parameters.point, steps: parameters.steps, left: left
    ) {
      parameters.shape($0).match(response).left
    }
    guard let found = intervals(of: columns, left: left, gainCount: shape.modes.count) else {
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
  static func intervals(of columns: [[Double]], left: [Double], gainCount: Int) -> [Double]? {
    guard let inverse = LevenbergMarquardt.inverse(of: columns) else { return nil }
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
  private let thinned: MeasuredResponse

  init(response: MeasuredResponse, band: ClosedRange<Double>) {
    self.response = response
    self.band = band
    thinned = response.thinned(by: 3)
  }

  /// The shape that some starts lead to, the best of them by part of the response.
  func best(of starts: [ResonanceShape]) -> (shape: ResonanceShape, cost: Double)? {
    var best: (shape: ResonanceShape, cost: Double)?
    for start in starts {
      let shape = refine(start, thinned, .coarse)
      let cost = shape.match(thinned).cost
      if cost < best?.cost ?? .infinity {
        best = (shape, cost)
      }
    }
    return best.map {
      let shape = refine($0.shape)
      return (shape, shape.match(response).cost)
    }
  }

  /// Adapts resonances, qualities, delay and, where it has them, the coil and the high-pass.
  func refine(_ start: ResonanceShape) -> ResonanceShape { refine(start, response, .full) }

  private func refine(
    _ start: ResonanceShape, _ response: MeasuredResponse, _ precision: LevenbergMarquardt.Precision
  )
    -> ResonanceShape
  {
    let parameters = ResonanceParameters(start, band: band)
    let found = LevenbergMarquardt.fit(
      from: parameters.point, steps: parameters.steps, bounds: parameters.bounds,
      precision: precision
    ) { parameters.shape($0).match(response).left }
    return parameters.shape(found)
  }
}

/// What of a shape is fitted, as a point, and how.
private struct ResonanceParameters {
  private let start: ResonanceShape
  private(set) var point = [Double]()
  private(set) var steps = [Double]()
  private(set) var bounds = [ClosedRange<Double>]()

  /// Seconds that the delay is counted in, so that its steps are like the others'.
  private static let unit = 1.0 / 48_000

  init(_ start: ResonanceShape, band: ClosedRange<Double> = 1e-3...1e6) {
    self.start = start
    for mode in start.modes {
      add(mode.resonance, step: 1e-5, within: band.lowerBound / 2...band.upperBound * 2)
      add(mode.qualityFactor, step: 1e-4, within: ResonanceFit.qualities)
    }
    point.append(start.delay / Self.unit)
    steps.append(1e-3)
    bounds.append(-1e7...1e7)
    if start.coil > 0 {
      add(start.coil, step: 1e-4, within: ResonanceFit.coils)
    }
    if start.highPassOrder > 0 {
      add(start.highPass, step: 1e-4, within: ResonanceFit.highPasses)
    }
  }

  private mutating func add(_ value: Double, step: Double, within range: ClosedRange<Double>) {
    point.append(log(value))
    steps.append(step)
    bounds.append(log(range.lowerBound)...log(range.upperBound))
  }

  func shape(_ point: [Double]) -> ResonanceShape {
    var shape = start
    for index in shape.modes.indices {
      shape.modes[index] = .init(
        resonance: exp(point[2 * index]), qualityFactor: exp(point[2 * index + 1]))
    }
    let next = 2 * shape.modes.count
    shape.delay = point[next] * Self.unit
    if start.coil > 0 {
      shape.coil = exp(point[next + 1])
    }
    // The last.
    if start.highPassOrder > 0 {
      shape.highPass = exp(point[point.count - 1])
    }
    return shape
  }
}

/// Resonances as a sensor sees them, up to a factor on each: what is fitted.
struct ResonanceShape: Equatable {
  struct Mode: Equatable, BitwiseCopyable {
    /// Resonance in hertz.
    var resonance: Double
    var qualityFactor: Double
  }

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

  func turn(atHertz hertz: Double) -> Phasor {
    let turn = 2 * Double.pi * hertz * delay
    return Phasor(cos(turn), -sin(turn))
  }

  /// The factors on the resonances that bring their sum nearest to what was measured, and what is
  /// then left over.
  /// - Parameter left: The rest of each group, real and imaginary parts, by the root of its weight.
  func match(_ response: MeasuredResponse) -> (gains: [Double], cost: Double, left: [Double]) {
    let groups = response.groups
    let measured = response.weighted
    var columns = [[Phasor]](
      repeating: [Phasor](repeating: .zero, count: groups.count), count: modes.count)
    for index in groups.indices {
      let hertz = groups[index].hertz
      let common = passed(atHertz: hertz) * turn(atHertz: hertz) * response.roots[index]
      for mode in modes.indices {
        columns[mode][index] = still(mode, atHertz: hertz) * common
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
  /// Steps of the resonance in an octave, groups of the response that are taken as one, and how
  /// many starts are kept.
  private static let stepsPerOctave = 24.0
  private static let coarseness = 3
  private static let count = 4
  private static let qualities = (0..<13).map { 0.4 * pow(100, Double($0) / 12) }

  /// The starts for a sensor, best first; their delays are those that fit them best.
  static func shapes(for response: MeasuredResponse, order: Int, band: ClosedRange<Double>)
    -> [ResonanceShape]
  {
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
          modes: [.init(resonance: hertz, qualityFactor: qualityFactor)], delay: 0, order: order)
        candidates.append((cost(of: shape, groups), shape))
      }
    }
    var kept: [ResonanceShape] = []
    for (_, shape) in candidates.sorted(by: { $0.cost < $1.cost }) where kept.count < count {
      // Neighbours of one another lead to one end.
      let isNew = kept.allSatisfy {
        abs(log2(shape.main.resonance / $0.main.resonance)) > 1.0 / 6
          || abs(log(shape.main.qualityFactor / $0.main.qualityFactor)) > 0.8
      }
      if isNew {
        kept.append(shape)
      }
    }
    return kept.map { delayed($0, response, band: band) }
  }

  static func delayed(
    _ shape: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>
  )
    -> ResonanceShape
  {
    let terms = response.groups.map { group in
      let value = shape.still(0, atHertz: group.hertz) * shape.passed(atHertz: group.hertz)
      return (hertz: group.hertz, value: value.conjugate * group.gain * group.weight)
    }
    var shape = shape
    shape.delay = DelaySearch.delay(of: terms, within: 0.5 / band.lowerBound, ignoresSign: true)
    return shape
  }

  private struct Magnitude { var hertz, value, weight: Double }

  private static func cost(of shape: ResonanceShape, _ groups: [Magnitude]) -> Double {
    var overlap = 0.0
    var own = 0.0
    for group in groups {
      let power = shape.still(0, atHertz: group.hertz).power
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
  struct Precision {
    var rounds: Int
    var gain: Double

    static let full = Precision(rounds: 60, gain: 1e-10)
    static let coarse = Precision(rounds: 30, gain: 1e-4)
  }

  /// The parameters for which the squares of the residuals sum to the least.
  /// - Parameter steps: How far each parameter is moved to see what it does.
  static func fit(
    from start: [Double], steps: [Double], bounds: [ClosedRange<Double>],
    precision: Precision = .full,
    residuals: ([Double]) -> [Double]
  ) -> [Double] {
    var point = start
    var left = residuals(point)
    var cost = left.reduce(0) { $0 + $1 * $1 }
    var damping = 1e-3
    for _ in 0..<precision.rounds {
      let columns = columns(at: point, steps: steps, left: left, residuals)
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
        isDone = cost - nextCost < precision.gain * cost
        point = next
        left = remaining
        cost = nextCost
      }
      if !isBetter || isDone { return point }
    }
    return point
  }

  /// What moving each parameter does to the residuals, which are what is left at a point.
  static func columns(
    at point: [Double], steps: [Double], left: [Double], _ residuals: ([Double]) -> [Double]
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
  static func inverse(of columns: [[Double]]) -> [Double]? {
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
