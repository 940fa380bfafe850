internal import CMath

/// Mains hum of a recording, fitted to its silences alone.
///
/// The phase carries over from silence to silence, so that a second of each yields the frequency to
/// millihertz. Sums of sines at the mains frequency and its harmonics are fitted by least squares.
/// Where silences fitted each by itself explain more, the frequency has moved: `HumPhase` follows
/// it.
struct MainsHum {
  /// The frequency in hertz, at the middle of the silences where it moves.
  let hertz: Double
  let isDrifting: Bool
  private let phase: HumPhase
  private let amplitudes: [(sine: Double, cosine: Double)]

  /// The mains frequencies of the world, and how far they and a recorder's clock stray.
  private static let nominalFrequencies = [50.0, 60]
  private static let frequencyTolerance = 0.3
  /// Steps of the search in hertz: over 15 s, harmonics of the nearest first step are a fraction of
  /// a turn off.
  private static let searchSteps = [0.005, 0.001, 0.0002]
  static let harmonicCount = 8
  /// Blocks in a second that are looked at.
  private static let blockRate = 2_000.0
  /// The least part of the silences' power that a hum explains, and the fewest seconds of silence.
  private static let minimumPowerFraction = 0.1
  private static let minimumSilence = 0.4
  /// The part of the hum by which silences fitted each by itself must explain more where the
  /// frequency moves, and how many times as much as they would of noise.
  private static let minimumDriftGain = 1e-4
  private static let driftSignificance = 4.0

  init?(in samples: [Float], rate: Double, silences: [Range<Int>]) {
    let block = max(1, Int(rate / Self.blockRate))
    var runs = silences.map { HumSilence(samples, rate: rate, range: $0, block: block) }
    let count = runs.reduce(0) { $0 + $1.blockMeans.count }
    guard Double(count * block) >= Self.minimumSilence * rate else { return nil }
    let mean = runs.reduce(0) { $0 + $1.blockMeans.reduce(0, +) } / Double(count)
    for index in runs.indices {
      runs[index].subtract(mean)
    }
    let power = runs.reduce(0) { $0 + $1.blockMeans.reduce(0) { $0 + $1 * $1 } }
    guard power > 0 else { return nil }

    let steady = Self.steadyFit(of: runs)
    let locals = runs.compactMap { run in
      run.blockMeans.isEmpty ? nil : (run: run, fit: Self.steadyFit(of: [run]))
    }
    let most = locals.reduce(0) { $0 + $1.fit.gained }
    let chance = Double(locals.count * (2 * Self.harmonicCount + 2)) / Double(count)
    isDrifting =
      locals.count > 1 && most > 0.5 * power
      && most - steady.gained > Self.minimumDriftGain * most + Self.driftSignificance * chance
        * (power - most)
    let moved = isDrifting ? HumPhase(through: locals.map { ($0.run, $0.fit.hertz) }) : nil
    let fit = moved.flatMap { phase in
      Self.fit(to: runs) { phase.cycles(at: $0) }.map { (phase: phase, fit: $0) }
    }
    let factors: [Double]
    if let fit, fit.fit.gained > steady.gained {
      guard fit.fit.gained >= Self.minimumPowerFraction * power else { return nil }
      phase = fit.phase
      factors = fit.fit.factors
    } else {
      guard steady.gained >= Self.minimumPowerFraction * power || isDrifting else { return nil }
      phase = HumPhase(hertz: steady.hertz)
      factors = steady.factors
    }
    let hertz = phase.centerFrequency
    self.hertz = hertz
    amplitudes = (0..<Self.harmonicCount).map { index in
      // The mean over a block is a sine of its own frequency, lower by Dirichlet's kernel.
      let turn = Double.pi * hertz * Double(index + 1) / rate
      let lowered = block == 1 ? 1 : sin(turn * Double(block)) / (Double(block) * sin(turn))
      return (factors[2 * index] / lowered, factors[2 * index + 1] / lowered)
    }
  }

  private static func steadyFit(of runs: [HumSilence]) -> (
    hertz: Double, gained: Double, factors: [Double]
  ) {
    var best: (hertz: Double, gained: Double, factors: [Double]) = (0, 0, [])
    func look(at hertz: Double) {
      guard let fit = fit(atHertz: hertz, to: runs), fit.gained > best.gained else { return }
      best = (hertz, fit.gained, fit.factors)
    }
    for nominal in nominalFrequencies {
      let count = Int((frequencyTolerance / searchSteps[0]).rounded())
      for step in -count...count {
        look(at: nominal + Double(step) * searchSteps[0])
      }
    }
    for step in searchSteps.dropFirst() {
      let center = best.hertz
      for place in -4...4 where place != 0 {
        look(at: center + Double(place) * step)
      }
    }
    return best
  }

  func removed(from samples: [Float], rate: Double) -> [Float] {
    samples.indices.map { frame in
      let turn = 2 * Double.pi * phase.cycles(at: Double(frame) / rate)
      let first = Phasor(cos(turn), sin(turn))
      var now = first
      var sum = 0.0
      for amplitude in amplitudes {
        sum += amplitude.sine * now.imaginary + amplitude.cosine * now.real
        now = now * first
      }
      return Float(Double(samples[frame]) - sum)
    }
  }

  /// The squares that a frequency with its harmonics and a constant explains, and the factors of
  /// each.
  private static func fit(atHertz hertz: Double, to runs: [HumSilence]) -> (
    gained: Double, factors: [Double]
  )? {
    // Products of sines are sums of sines at the sum and the difference of their numbers.
    let sums = (0...2 * harmonicCount).map { number in
      runs.reduce(Phasor.zero) { $0 + $1.exponentialSum(atHertz: Double(number) * hertz) }
    }
    let constant = 2 * harmonicCount
    var rows = [[Double]](
      repeating: [Double](repeating: 0, count: constant + 2), count: constant + 1)
    for first in 1...harmonicCount {
      let sine = 2 * first - 2
      let cosine = 2 * first - 1
      for second in 1...harmonicCount {
        let plus = sums[first + second]
        let minus = sums[abs(first - second)]
        rows[sine][2 * second - 2] = (minus.real - plus.real) / 2
        rows[cosine][2 * second - 1] = (minus.real + plus.real) / 2
        let sign = first > second ? 1.0 : first < second ? -1 : 0
        rows[sine][2 * second - 1] = (plus.imaginary + sign * minus.imaginary) / 2
        rows[2 * second - 1][sine] = rows[sine][2 * second - 1]
      }
      rows[sine][constant] = sums[first].imaginary
      rows[cosine][constant] = sums[first].real
      rows[constant][sine] = sums[first].imaginary
      rows[constant][cosine] = sums[first].real
      let correlation = runs.reduce(Phasor.zero) {
        $0 + $1.correlation(atHertz: Double(first) * hertz)
      }
      rows[sine][constant + 1] = correlation.imaginary
      rows[cosine][constant + 1] = correlation.real
    }
    rows[constant][constant] = sums[0].real
    let explained = rows.map { $0[constant + 1] }
    guard let factors = LevenbergMarquardt.solve(rows) else { return nil }
    return (zip(factors, explained).reduce(0) { $0 + $1.0 * $1.1 }, factors)
  }

  private static func fit(to runs: [HumSilence], cycles turns: (Double) -> Double) -> (
    gained: Double, factors: [Double]
  )? {
    let rows = runs.map { $0.normalEquations(cycles: turns) }.reduce(nil) {
      (sum: [[Double]]?, rows) in
      sum.map { zip($0, rows).map { zip($0, $1).map(+) } } ?? rows
    }
    guard let rows, let factors = LevenbergMarquardt.solve(rows) else { return nil }
    return (zip(factors, rows).reduce(0) { $0 + $1.0 * ($1.1.last ?? 0) }, factors)
  }
}

/// A silence of a recording, by the means of blocks.
struct HumSilence {
  /// Seconds of the first block's middle, and from one to the next.
  let start, spacing: Double
  private(set) var blockMeans: [Double]

  init(_ samples: [Float], rate: Double, range: Range<Int>, block: Int) {
    let range = range.clamped(to: samples.indices)
    start = (Double(range.lowerBound) + Double(block - 1) / 2) / rate
    spacing = Double(block) / rate
    blockMeans = (0..<range.count / block).map { index in
      let first = range.lowerBound + index * block
      return samples[first..<(first + block)].reduce(0) { $0 + Double($1) } / Double(block)
    }
  }

  mutating func subtract(_ mean: Double) {
    for index in blockMeans.indices {
      blockMeans[index] -= mean
    }
  }

  /// Seconds of its middle.
  var middle: Double { start + spacing * Double(blockMeans.count - 1) / 2 }

  /// Σ exp(jωt) over the blocks.
  func exponentialSum(atHertz hertz: Double) -> Phasor {
    let half = Double.pi * hertz * spacing
    let count = Double(blockMeans.count)
    let size = abs(sin(half)) < 1e-12 ? count : sin(half * count) / sin(half)
    let turn = 2 * Double.pi * hertz * start + half * (count - 1)
    return Phasor(cos(turn), sin(turn)) * size
  }

  /// Σ value·exp(jωt) over the blocks.
  func correlation(atHertz hertz: Double) -> Phasor {
    let turn = 2 * Double.pi * hertz * start
    let step = 2 * Double.pi * hertz * spacing
    var now = Phasor(cos(turn), sin(turn))
    let advance = Phasor(cos(step), sin(step))
    var sum = Phasor.zero
    for value in blockMeans {
      sum = sum + now * value
      now = now * advance
    }
    return sum
  }

  /// The normal equations of sine and cosine of each harmonic and a constant, the values last, for
  /// any phase.
  /// - Parameter turns: Turns of the fundamental at a time in seconds.
  func normalEquations(cycles turns: (Double) -> Double) -> [[Double]] {
    let count = 2 * MainsHum.harmonicCount + 1
    var rows = [[Double]](repeating: [Double](repeating: 0, count: count + 1), count: count)
    var terms = [Double](repeating: 1, count: count + 1)
    for (index, value) in blockMeans.enumerated() {
      let turn = 2 * Double.pi * turns(start + Double(index) * spacing)
      let first = Phasor(cos(turn), sin(turn))
      var now = first
      for harmonic in 0..<MainsHum.harmonicCount {
        terms[2 * harmonic] = now.imaginary
        terms[2 * harmonic + 1] = now.real
        now = now * first
      }
      terms[count] = value
      for row in 0..<count {
        for column in row...count {
          rows[row][column] += terms[row] * terms[column]
        }
      }
    }
    for row in 0..<count {
      for column in 0..<row {
        rows[row][column] = rows[column][row]
      }
    }
    return rows
  }
}

/// The phase of mains hum, whose frequency is a parabola of time at most.
struct HumPhase {
  /// The frequency at the origin in hertz, its slope and its bend.
  private var frequencyPolynomial = SIMD3<Double>()
  /// Seconds at which it is `middle`.
  private var origin = 0.0

  init(hertz: Double) { frequencyPolynomial.x = hertz }

  var centerFrequency: Double { frequencyPolynomial.x }

  /// Turns since the origin.
  func cycles(at seconds: Double) -> Double {
    let time = seconds - origin
    return time
      * (frequencyPolynomial.x + time
        * (frequencyPolynomial.y / 2 + time * frequencyPolynomial.z / 3))
  }

  /// Steps of a turn in which the phase of a silence is looked for.
  private static let phaseStepCount = 32
  /// How well silences show the frequency, and their phases the mean frequency between them, in
  /// hertz.
  private static let localFrequencyDeviation = 0.02
  private static let meanFrequencyDeviation = 0.002

  /// The phase through silences whose frequencies are known, or nothing where there is one silence
  /// alone.
  ///
  /// In each silence the hum is that of the first, but for a phase. The phases by which all are
  /// explained best make the mean frequencies between the silences known to millihertz, but for
  /// whole turns, of which those are taken that agree with the frequencies in the silences.
  init?(through silences: [(silence: HumSilence, hertz: Double)]) {
    guard silences.count > 1 else { return nil }
    let rows = silences.map { place in
      place.silence.normalEquations { ($0 - place.silence.middle) * place.hertz }
    }
    var sum = rows[0]
    var phases = [0.0]
    for later in rows.dropFirst() {
      // One after the other: what is known already holds the amplitudes.
      var best = (gained: -Double.infinity, phase: 0.0, sum: sum)
      func look(at phase: Double) {
        let turned = zip(sum, Self.phaseShifted(later, by: phase)).map { zip($0, $1).map(+) }
        guard let factors = LevenbergMarquardt.solve(turned) else { return }
        let gained = zip(factors, turned).reduce(0) { $0 + $1.0 * ($1.1.last ?? 0) }
        if gained > best.gained {
          best = (gained, phase, turned)
        }
      }
      for step in 0..<Self.phaseStepCount {
        look(at: Double(step) / Double(Self.phaseStepCount))
      }
      var width = 0.5 / Double(Self.phaseStepCount)
      for _ in 0..<8 {
        let middle = best.phase
        look(at: middle - width)
        look(at: middle + width)
        width /= 2
      }
      sum = best.sum
      phases.append(best.phase)
    }
    let middles = silences.map(\.silence.middle)
    let hertz = silences.map(\.hertz)
    let center = middles.reduce(0, +) / Double(middles.count)
    origin = center
    /// What frequency, slope and bend add to the frequency at a time, and to its mean over a span.
    func local(_ time: Double) -> SIMD3<Double> { [1, time, time * time] }
    func mean(_ low: Double, _ high: Double) -> SIMD3<Double> {
      [1, (low + high) / 2, (low * low + low * high + high * high) / 3]
    }
    let times = middles.map { $0 - center }
    var known = zip(times, hertz).map {
      (terms: local($0), value: $1, width: Self.localFrequencyDeviation)
    }
    frequencyPolynomial = Self.polynomial(fitting: known, count: min(3, times.count))
    for index in times.indices.dropFirst() {
      let span = times[index] - times[index - 1]
      let expected = cycles(at: middles[index]) - cycles(at: middles[index - 1])
      let part = phases[index] - phases[index - 1]
      let turnCount = (expected - part).rounded()
      known.append(
        (
          mean(times[index - 1], times[index]), (turnCount + part) / span,
          Self.meanFrequencyDeviation
        ))
    }
    frequencyPolynomial = Self.polynomial(fitting: known, count: min(3, known.count - 1))
  }

  /// Normal equations for a phase that is ahead by a part of a turn: what was sine is then a mix of
  /// sine and cosine.
  private static func phaseShifted(_ rows: [[Double]], by phase: Double) -> [[Double]] {
    var rows = rows
    for harmonic in 0..<MainsHum.harmonicCount {
      let turn = 2 * Double.pi * phase * Double(harmonic + 1)
      let cosine = cos(turn)
      let sine = sin(turn)
      let first = 2 * harmonic
      let second = 2 * harmonic + 1
      for column in rows[first].indices {
        let a = rows[first][column]
        let b = rows[second][column]
        rows[first][column] = cosine * a + sine * b
        rows[second][column] = cosine * b - sine * a
      }
      for row in rows.indices {
        let a = rows[row][first]
        let b = rows[row][second]
        rows[row][first] = cosine * a + sine * b
        rows[row][second] = cosine * b - sine * a
      }
    }
    return rows
  }

  /// The frequency, slope and bend that fit what is known best, the last left out where it is not
  /// asked for.
  private static func polynomial(
    fitting known: [(terms: SIMD3<Double>, value: Double, width: Double)], count: Int
  ) -> SIMD3<
    Double
  > {
    var rows = [[Double]](repeating: [Double](repeating: 0, count: count + 1), count: count)
    for (terms, value, width) in known {
      let weight = 1 / (width * width)
      for row in 0..<count {
        for column in 0..<count {
          rows[row][column] += weight * terms[row] * terms[column]
        }
        rows[row][count] += weight * terms[row] * value
      }
    }
    var found = SIMD3<Double>()
    for (index, value) in (LevenbergMarquardt.solve(rows) ?? []).enumerated() {
      found[index] = value
    }
    return found
  }
}
