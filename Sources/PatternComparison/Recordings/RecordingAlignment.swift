internal import CMath
import SignalAnalysis

/// Looks for the places of a take at which a reference may lie.
struct RecordingAlignment {
  /// A place, with the sum of what the parts of the reference have in common with the take there.
  struct Candidate {
    var delay: Double
    var tempo: Double
    var sign: Double
    var sum: Double
    /// Whether it is known by rises and falls alone: a hum of another frequency has nothing else in common.
    var isEdge = false
  }

  /// The places, the simplest story first.
  private(set) var candidates: [Candidate] = []

  /// Seconds before the take's start that a reference's start is looked for.
  static let earliest = -1.0
  /// The greatest share of tempo that is searched.
  static let greatestTempo = 0.032
  /// Hertz that count.
  private static let band = 20.0...800.0
  /// Seconds of a part of the reference.
  private static let partLength = 0.1
  /// The strongest parts that are looked for.
  private static let greatestPartCount = 64
  /// Lags that are searched together: 8 ms at 2 kHz.
  private static let pool = 16

  /// Frames per second, half those of the take.
  let rate: Double
  private let low: Int
  /// The lags, from `low` on.
  private let lagCount: Int
  /// The reference and the take, weighted by the noise.
  private(set) var x: [Float] = []
  private(set) var y: [Float] = []
  private let noise: NoiseSpectrum
  private let fullRate: Double
  /// For each part: its middle in seconds, and its complex correlation at each lag.
  private var times: [Double] = []
  private var real: [[Float]] = []
  private var imaginary: [[Float]] = []
  private var energies: [Double] = []

  /// - Parameters:
  ///   - take: The whole take at the low rate.
  ///   - search: Seconds from the take's start to where the reference starts at most.
  init(_ reference: RecordingReference, _ take: [Float], search: Double) {
    rate = reference.rate / 2
    let duration = Double(take.count) / reference.rate
    low = Int(Self.earliest * rate)
    let high = Int(min(search, duration) * rate) + Self.pool
    lagCount = (high - low) / Self.pool * Self.pool
    var noise = NoiseSpectrum(of: take, quantile: 0.1)
    let greatest = NoiseSpectrum(of: take, quantile: nil).powers.max() ?? 0
    for bin in noise.powers.indices { noise.powers[bin] = max(noise.powers[bin], 1e-3 * greatest) + 1e-16 }
    self.noise = noise
    fullRate = reference.rate
    let length = FourierTransform.fastLength(atLeast: max(take.count, reference.whole.count) / 4 + 1_024) * 4
    let all = Self.weighted(take, by: noise, rate: reference.rate, length: length)
    x = Array(
      Self.weighted(reference.whole, by: noise, rate: reference.rate, length: length).prefix(
        reference.whole.count / 2 + 100))
    y = Array(all.prefix(take.count / 2))
    correlate(x, all)
    guard !times.isEmpty else { return }
    findCandidates()
  }

  /// Samples at half the rate, weighted as the take is.
  func weighted(_ samples: [Float]) -> [Float] {
    let length = FourierTransform.fastLength(atLeast: samples.count / 4 + 100) * 4
    return Array(Self.weighted(samples, by: noise, rate: fullRate, length: length).prefix(samples.count / 2 + 100))
  }

  /// Samples at half the rate, weighted by the inverse of the noise's amplitude.
  private static func weighted(_ samples: [Float], by noise: NoiseSpectrum, rate: Double, length: Int) -> [Float] {
    var transform = FourierTransform(length: length)
    var half = FourierTransform(length: length / 2)
    var bins = Array(transform.forward(samples)[0..<half.binCount])
    for bin in bins.indices {
      let hertz = Double(bin) * rate / Double(length)
      let weight =
        band.contains(hertz) ? Float(0.5 / noise.power(at: 2 * Double(bin) / Double(length)).squareRoot()) : 0
      bins[bin].real *= weight
      bins[bin].imaginary *= weight
    }
    return half.backward(bins)
  }

  /// Correlates the strongest parts of the reference with the take, each where it can lie.
  private mutating func correlate(_ x: [Float], _ y: [Float]) {
    let size = Int(Self.partLength * rate)
    var parts = stride(from: 0, to: x.count, by: size).map { start in
      (start: start, energy: Samples.energy(x, start..<min(x.count, start + size)))
    }
    let strongest = parts.map(\.energy).max() ?? 0
    parts = parts.filter { $0.energy > 1e-3 * strongest && $0.energy > 0 }
    parts = parts.sorted { $0.energy > $1.energy }.prefix(Self.greatestPartCount).sorted { $0.start < $1.start }
    let length = FourierTransform.fastLength(atLeast: lagCount + size)
    var transform = FourierTransform(length: length)
    var part = [Float](repeating: 0, count: length)
    for (start, energy) in parts {
      for index in part.indices { part[index] = index < size && start + index < x.count ? x[start + index] : 0 }
      let own = transform.forward(part)
      let first = start + low
      for index in part.indices {
        let place = first + index
        part[index] = place >= 0 && place < y.count ? y[place] : 0
      }
      var bins = transform.forward(part)
      for bin in bins.indices { bins[bin] = bins[bin] * own[bin].conjugate }
      real.append(Array(transform.backward(bins).prefix(lagCount)))
      for bin in bins.indices { bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real) }
      imaginary.append(Array(transform.backward(bins).prefix(lagCount)))
      energies.append(energy)
      times.append(Double(start) / rate + Self.partLength / 2)
    }
  }

  /// The squares of the correlations, the greatest of each 8 ms and the next.
  private func pooled() -> [[Float]] {
    real.indices.map { part in
      let scale = Float(1 / energies[part])
      var pooled = [Float](repeating: 0, count: lagCount / Self.pool)
      unsafe real[part].withUnsafeBufferPointer { re in
        unsafe imaginary[part].withUnsafeBufferPointer { im in
          for index in pooled.indices {
            var greatest = Float(0)
            for lag in index * Self.pool..<(index + 1) * Self.pool {
              greatest = unsafe max(greatest, re[lag] * re[lag] + im[lag] * im[lag])
            }
            pooled[index] = greatest * scale
          }
        }
      }
      for index in pooled.indices.dropFirst().reversed() { pooled[index] = max(pooled[index], pooled[index - 1]) }
      return pooled
    }
  }

  private mutating func findCandidates() {
    let span = (times.last ?? 0) - times[0]
    let maps = pooled()
    // A step of tempo moves the ends by 8 ms against each other.
    let steps = span < 0.1 ? 0 : min(400, Int((Self.greatestTempo / max(2e-4, 0.008 / span)).rounded(.up)))
    var plain: [Int] = []
    var best = (value: Float(-1), index: 0, tempo: 0.0)
    for step in (-steps...steps).sorted(by: { abs($0) < abs($1) }) {
      let tempo = steps == 0 ? 0 : Double(step) * Self.greatestTempo / Double(steps)
      var sums = [Float](repeating: 0, count: maps[0].count)
      for (map, time) in zip(maps, times) {
        let moved = Int((tempo * (time - times[0]) * rate / Double(Self.pool)).rounded())
        unsafe sums.withUnsafeMutableBufferPointer { sums in
          unsafe map.withUnsafeBufferPointer { map in
            for index in max(0, -moved)..<max(0, -moved, min(map.count, map.count - moved)) {
              unsafe sums[index] += map[index &+ moved]
            }
          }
        }
      }
      let index = sums.indices.max { sums[$0] < sums[$1] } ?? 0
      if step == 0 { plain = Self.peaks(sums, count: times.count < 8 ? 3 : 1) }
      if sums[index] > best.value * 1.01 { best = (sums[index], index, tempo) }
    }
    let near = span > 2 ? (-2...2).map { Double($0) * 1.5e-4 } : [0]
    func lag(_ index: Int) -> Double { (Double(index * Self.pool) + Double(Self.pool) / 2) / rate }
    for peak in plain { add(about: lag(peak), tempos: near, reach: 0.014) }
    if span >= 0.1 {
      let step = 0.008 / span
      let tempos = (-16...16).map { best.tempo + Double($0) * step / 8 }.filter { abs($0) <= Self.greatestTempo }
      add(about: lag(best.index), tempos: tempos, reach: 0.014)
    }
    let count = candidates.count
    for edge in edges() { add(about: edge, tempos: near, reach: 0.006) }
    for index in count..<candidates.count { candidates[index].isEdge = true }
  }

  /// The indices of the greatest values that are not beside each other.
  private static func peaks(_ values: [Float], count: Int) -> [Int] {
    var left = values
    return (0..<count).compactMap { _ in
      guard let best = left.indices.max(by: { left[$0] < left[$1] }), left[best] > 0 else { return nil }
      for index in max(0, best - 3)...min(left.count - 1, best + 3) { left[index] = 0 }
      return best
    }
  }

  /// Adds the best signed sums about a lag, counted in seconds from the first lag on.
  private mutating func add(about lag: Double, tempos: [Double], reach: Double) {
    let step = 0.000_25
    let count = Int(reach / step)
    var sums: [[Double]] = []
    for tempo in tempos {
      var row = [Double](repeating: 0, count: 2 * count + 1)
      for (part, time) in zip(real, times) {
        for index in row.indices {
          let place = (lag + Double(index - count) * step + tempo * (time - times[0])) * rate
          let whole = min(max(0, Int(place.rounded(.down))), part.count - 2)
          let share = Float(min(1, max(0, place - Double(whole))))
          row[index] += Double(part[whole] * (1 - share) + part[whole + 1] * share)
        }
      }
      sums.append(row)
    }
    for sign in [1.0, -1] {
      var left = sums.map { $0.map { $0 * sign } }
      // A hum fits nearly as well a period later.
      for _ in 0..<3 {
        var best = (value: 0.0, row: 0, index: 0)
        for (row, values) in left.enumerated() {
          for (index, value) in values.enumerated() where value > best.value { best = (value, row, index) }
        }
        guard best.value > 0 else { break }
        candidates.append(
          Candidate(
            delay: lag + Double(best.index - count) * step + Double(low) / rate - tempos[best.row] * times[0],
            tempo: tempos[best.row], sign: sign, sum: best.value))
        for row in left.indices {
          for index in max(0, best.index - 12)...min(2 * count, best.index + 12) { left[row][index] = -1 }
        }
      }
    }
  }

  /// The two lags at which the rises and falls fit best: a steady hum fits everywhere along itself.
  private func edges() -> [Double] {
    let rises = Rises(self)
    guard !rises.isEmpty else { return [] }
    var products = rises.products(tempo: 0)
    return (0..<2).map { _ in
      let best = products.indices.max { products[$0] < products[$1] } ?? 0
      for index in max(0, best - 4)...min(products.count - 1, best + 4) { products[index] = 0 }
      return rises.delay(best) - Double(low) / rate
    }
  }

  /// Seconds of the take at which the reference may start.
  var delays: ClosedRange<Double> { Double(low) / rate...Double(low + lagCount) / rate }
}
