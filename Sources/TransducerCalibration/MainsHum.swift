internal import CMath

/// Mains hum of a recording, fitted to its silences alone.
///
/// The phase carries over from silence to silence, so that a second of each yields the frequency to millihertz. Sums of
/// sines at the mains frequency and its harmonics are fitted by least squares. Where silences fitted each by itself
/// explain more, the frequency has moved: `HumPhase` follows it.
struct MainsHum {
  /// The frequency in hertz, at the middle of the silences where it moves.
  let hertz: Double
  /// Whether the frequency moves.
  let isMoving: Bool
  private let phase: HumPhase
  /// Amplitudes of sine and cosine of each harmonic.
  private let amplitudes: [(sine: Double, cosine: Double)]

  /// The mains frequencies of the world, and how far they and a recorder's clock stray.
  private static let nominal = [50.0, 60]
  private static let reach = 0.3
  /// Steps of the search in hertz: over 15 s, harmonics of the nearest first step are a fraction of a turn off.
  private static let steps = [0.005, 0.001, 0.0002]
  static let harmonicCount = 8
  /// Blocks in a second that are looked at.
  private static let blockRate = 2_000.0
  /// The least part of the silences' power that a hum explains.
  private static let leastShare = 0.1
  /// The fewest seconds of silence.
  private static let leastSilence = 0.4
  /// The part of the hum by which silences fitted each by itself must explain more where the frequency moves, and how
  /// many times as much as they would of noise.
  private static let leastGain = 1e-4
  private static let certainty = 4.0

  /// The hum of some silences, or nothing where there is none.
  init?(in samples: [Float], rate: Double, silences: [Range<Int>]) {
    let block = max(1, Int(rate / Self.blockRate))
    var runs = silences.map { HumSilence(samples, rate: rate, range: $0, block: block) }
    let count = runs.reduce(0) { $0 + $1.values.count }
    guard Double(count * block) >= Self.leastSilence * rate else { return nil }
    let mean = runs.reduce(0) { $0 + $1.values.reduce(0, +) } / Double(count)
    for index in runs.indices { runs[index].subtract(mean) }
    let power = runs.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1 * $1 } }
    guard power > 0 else { return nil }

    let steady = Self.search(runs)
    let locals = runs.compactMap { run in run.values.isEmpty ? nil : (run: run, fit: Self.search([run])) }
    let most = locals.reduce(0) { $0 + $1.fit.gained }
    let chance = Double(locals.count * (2 * Self.harmonicCount + 2)) / Double(count)
    isMoving =
      locals.count > 1 && most > 0.5 * power
      && most - steady.gained > Self.leastGain * most + Self.certainty * chance * (power - most)
    let moved = isMoving ? HumPhase(through: locals.map { ($0.run, $0.fit.hertz) }) : nil
    let fit = moved.flatMap { phase in Self.fit(runs) { phase.turns(at: $0) }.map { (phase: phase, fit: $0) } }
    let factors: [Double]
    if let fit, fit.fit.gained > steady.gained {
      guard fit.fit.gained >= Self.leastShare * power else { return nil }
      (phase, factors) = (fit.phase, fit.fit.factors)
    } else {
      guard steady.gained >= Self.leastShare * power || isMoving else { return nil }
      (phase, factors) = (HumPhase(hertz: steady.hertz), steady.factors)
    }
    let hertz = phase.middle
    self.hertz = hertz
    amplitudes = (0..<Self.harmonicCount).map { index in
      // The mean over a block is a sine of its own frequency, lower by Dirichlet's kernel.
      let turn = Double.pi * hertz * Double(index + 1) / rate
      let lowered = block == 1 ? 1 : sin(turn * Double(block)) / (Double(block) * sin(turn))
      return (factors[2 * index] / lowered, factors[2 * index + 1] / lowered)
    }
  }

  /// The mains frequency that explains most of some silences.
  private static func search(_ runs: [HumSilence]) -> (hertz: Double, gained: Double, factors: [Double]) {
    var best: (hertz: Double, gained: Double, factors: [Double]) = (0, 0, [])
    func look(at hertz: Double) {
      guard let fit = fit(hertz, runs), fit.gained > best.gained else { return }
      best = (hertz, fit.gained, fit.factors)
    }
    for nominal in nominal {
      let count = Int((reach / steps[0]).rounded())
      for step in -count...count { look(at: nominal + Double(step) * steps[0]) }
    }
    for step in steps.dropFirst() {
      let center = best.hertz
      for place in -4...4 where place != 0 { look(at: center + Double(place) * step) }
    }
    return best
  }

  /// The samples without the hum.
  func removed(from samples: [Float], rate: Double) -> [Float] {
    samples.indices.map { frame in
      let turn = 2 * Double.pi * phase.turns(at: Double(frame) / rate)
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

  /// The squares that a frequency with its harmonics and a constant explains, and the factors of each.
  private static func fit(_ hertz: Double, _ runs: [HumSilence]) -> (gained: Double, factors: [Double])? {
    // Products of sines are sums of sines at the sum and the difference of their numbers.
    let sums = (0...2 * harmonicCount).map { number in
      runs.reduce(Phasor.zero) { $0 + $1.sum(atHertz: Double(number) * hertz) }
    }
    let constant = 2 * harmonicCount
    var rows = [[Double]](repeating: [Double](repeating: 0, count: constant + 2), count: constant + 1)
    for first in 1...harmonicCount {
      let (sine, cosine) = (2 * first - 2, 2 * first - 1)
      for second in 1...harmonicCount {
        let (plus, minus) = (sums[first + second], sums[abs(first - second)])
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
      let correlation = runs.reduce(Phasor.zero) { $0 + $1.correlation(atHertz: Double(first) * hertz) }
      rows[sine][constant + 1] = correlation.imaginary
      rows[cosine][constant + 1] = correlation.real
    }
    rows[constant][constant] = sums[0].real
    let explained = rows.map { $0[constant + 1] }
    guard let factors = LevenbergMarquardt.solve(rows) else { return nil }
    return (zip(factors, explained).reduce(0) { $0 + $1.0 * $1.1 }, factors)
  }

  /// The same for any phase, in turns of the fundamental.
  private static func fit(_ runs: [HumSilence], turns: (Double) -> Double) -> (gained: Double, factors: [Double])? {
    let rows = runs.map { $0.rows(turns: turns) }.reduce(nil) { (sum: [[Double]]?, rows) in
      sum.map { zip($0, rows).map { zip($0, $1).map(+) } } ?? rows
    }
    guard let rows, let factors = LevenbergMarquardt.solve(rows) else { return nil }
    return (zip(factors, rows).reduce(0) { $0 + $1.0 * ($1.1.last ?? 0) }, factors)
  }
}
