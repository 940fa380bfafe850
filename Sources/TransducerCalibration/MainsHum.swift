internal import CMath

/// Mains hum of a recording, fitted to its silences alone.
///
/// The phase carries over from silence to silence, so that a second of each yields the frequency to millihertz. Sums of
/// sines at the mains frequency and its harmonics are fitted by least squares.
struct MainsHum {
  /// The frequency in hertz.
  let hertz: Double
  /// Amplitudes of sine and cosine of each harmonic.
  private let amplitudes: [(sine: Double, cosine: Double)]

  /// The mains frequencies of the world, and how far they and a recorder's clock stray.
  private static let nominal = [50.0, 60]
  private static let reach = 0.3
  /// Steps of the search in hertz: over 15 s, harmonics of the nearest first step are a fraction of a turn off.
  private static let steps = [0.005, 0.001, 0.0002]
  private static let harmonicCount = 8
  /// Blocks in a second that are looked at.
  private static let blockRate = 2_000.0
  /// The least part of the silences' power that a hum explains.
  private static let leastShare = 0.1
  /// The fewest seconds of silence.
  private static let leastSilence = 0.4

  /// The hum of some silences, or nothing where there is none.
  init?(in samples: [Float], rate: Double, silences: [Range<Int>]) {
    let block = max(1, Int(rate / Self.blockRate))
    var runs = silences.map { Run(samples, rate: rate, range: $0, block: block) }
    let count = runs.reduce(0) { $0 + $1.values.count }
    guard Double(count * block) >= Self.leastSilence * rate else { return nil }
    let mean = runs.reduce(0) { $0 + $1.values.reduce(0, +) } / Double(count)
    for index in runs.indices { runs[index].subtract(mean) }
    let power = runs.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1 * $1 } }
    guard power > 0 else { return nil }

    var best: (hertz: Double, gained: Double, factors: [Double]) = (0, 0, [])
    func look(at hertz: Double) {
      guard let fit = Self.fit(hertz, runs), fit.gained > best.gained else { return }
      best = (hertz, fit.gained, fit.factors)
    }
    for nominal in Self.nominal {
      let count = Int((Self.reach / Self.steps[0]).rounded())
      for step in -count...count { look(at: nominal + Double(step) * Self.steps[0]) }
    }
    for step in Self.steps.dropFirst() {
      let center = best.hertz
      for place in -4...4 where place != 0 { look(at: center + Double(place) * step) }
    }
    guard best.gained >= Self.leastShare * power else { return nil }
    hertz = best.hertz
    amplitudes = (0..<Self.harmonicCount).map { index in
      // The mean over a block is a sine of its own frequency, lower by Dirichlet's kernel.
      let turn = Double.pi * best.hertz * Double(index + 1) / rate
      let lowered = block == 1 ? 1 : sin(turn * Double(block)) / (Double(block) * sin(turn))
      return (best.factors[2 * index] / lowered, best.factors[2 * index + 1] / lowered)
    }
  }

  /// The samples without the hum.
  func removed(from samples: [Float], rate: Double) -> [Float] {
    let turn = 2 * Double.pi * hertz / rate
    return samples.indices.map { frame in
      let first = Phasor(cos(turn * Double(frame)), sin(turn * Double(frame)))
      var now = first
      var sum = 0.0
      for amplitude in amplitudes {
        sum += amplitude.sine * now.imaginary + amplitude.cosine * now.real
        now = now * first
      }
      return Float(Double(samples[frame]) - sum)
    }
  }

  /// A silence, by the means of blocks.
  private struct Run {
    /// Seconds of the first block's middle, and from one to the next.
    let start: Double
    let spacing: Double
    private(set) var values: [Double]

    init(_ samples: [Float], rate: Double, range: Range<Int>, block: Int) {
      let range = range.clamped(to: samples.indices)
      start = (Double(range.lowerBound) + Double(block - 1) / 2) / rate
      spacing = Double(block) / rate
      values = (0..<range.count / block).map { index in
        let first = range.lowerBound + index * block
        return samples[first..<(first + block)].reduce(0) { $0 + Double($1) } / Double(block)
      }
    }

    mutating func subtract(_ mean: Double) {
      for index in values.indices { values[index] -= mean }
    }

    /// Σ exp(jωt) over the blocks.
    func sum(atHertz hertz: Double) -> Phasor {
      let half = Double.pi * hertz * spacing
      let count = Double(values.count)
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
      for value in values {
        sum = sum + now * value
        now = now * advance
      }
      return sum
    }
  }

  /// The squares that a frequency with its harmonics and a constant explains, and the factors of each.
  private static func fit(_ hertz: Double, _ runs: [Run]) -> (gained: Double, factors: [Double])? {
    // Products of sines are sums of sines at the sum and the difference of their numbers.
    let sums = (0...2 * harmonicCount).map { number in
      runs.reduce(Phasor.zero) { $0 + $1.sum(atHertz: Double(number) * hertz) }
    }
    let constant = 2 * harmonicCount
    var rows = [[Double]](
      repeating: [Double](repeating: 0, count: constant + 2), count: constant + 1)
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
}
