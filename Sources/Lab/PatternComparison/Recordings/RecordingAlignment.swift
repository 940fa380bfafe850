internal import CMath
import SignalAnalysis

struct RecordingAlignment {
  struct Candidate {
    var delay: Double
    var tempo: Double
    var sign: Double
    var sum: Double
    /// Whether it is known by rises and falls alone: a hum of another frequency has nothing else in
    /// common.
    var isEdge = false
  }

  /// The places, the simplest explanation first.
  private(set) var candidates: [Candidate] = []

  /// Seconds before the take's start that a reference's start is looked for.
  static let earliest = -1.0
  /// The greatest share of tempo that is searched.
  static let greatestTempo = 0.032
  /// Hertz that count, and seconds of a part of the reference.
  private static let band = 20.0...800.0
  private static let partLength = 0.1
  private static let greatestPartCount = 64
  /// Lags that are searched together: 8 ms at 2 kHz.
  private static let pool = 16

  /// Frames per second, half those of the take.
  let rate: Double
  private let low: Int
  private let lagCount: Int
  private(set) var x: [Float] = []
  private(set) var y: [Float] = []
  private let noise: NoiseSpectrum
  private let fullRate: Double
  /// For each part: its middle in seconds, and its complex correlation at each lag.
  private var times: [Double] = []
  private var real: [[Float]] = []
  private var imaginary: [[Float]] = []
  private var energies: [Double] = []

  /// - Parameter search: Seconds from the take's start to where the reference starts at most.
  init(_ reference: RecordingReference, _ take: [Float], search: Double) {
    rate = reference.rate / 2
    let duration = Double(take.count) / reference.rate
    low = Int(Self.earliest * rate)
    let high = Int(min(search, duration) * rate) + Self.pool
    lagCount = (high - low) / Self.pool * Self.pool
    var noise = NoiseSpectrum(of: take, quantile: 0.1)
    let greatest = NoiseSpectrum(of: take, quantile: nil).powers.max() ?? 0
    for bin in noise.powers.indices {
      noise.powers[bin] = max(noise.powers[bin], 1e-3 * greatest) + 1e-16
    }
    self.noise = noise
    fullRate = reference.rate
    let length =
      FourierTransform.fastLength(atLeast: max(take.count, reference.whole.count) / 4 + 1_024) * 4
    let all = Self.weighted(take, by: noise, rate: reference.rate, length: length)
    x = Array(
      Self.weighted(reference.whole, by: noise, rate: reference.rate, length: length).prefix(
        reference.whole.count / 2 + 100))
    y = Array(all.prefix(take.count / 2))
    correlate(x, all)
    guard !times.isEmpty else { return }
    findCandidates()
  }

  func weighted(_ samples: [Float]) -> [Float] {
    let length = FourierTransform.fastLength(atLeast: samples.count / 4 + 100) * 4
    return Array(
      Self.weighted(samples, by: noise, rate: fullRate, length: length).prefix(
        samples.count / 2 + 100))
  }

  /// Samples at half the rate, weighted by the inverse of the noise's amplitude.
  private static func weighted(
    _ samples: [Float], by noise: NoiseSpectrum, rate: Double, length: Int
  ) -> [Float] {
    var transform = FourierTransform(length: length)
    var half = FourierTransform(length: length / 2)
    var bins = Array(transform.forward(samples)[0..<half.binCount])
    for bin in bins.indices {
      let hertz = Double(bin) * rate / Double(length)
      let weight =
        band.contains(hertz)
        ? Float(0.5 / noise.power(at: 2 * Double(bin) / Double(length)).squareRoot()) : 0
      bins[bin].real *= weight
      bins[bin].imaginary *= weight
    }
    return half.backward(bins)
  }

  private mutating func correlate(_ x: [Float], _ y: [Float]) {
    let size = Int(Self.partLength * rate)
    var parts = stride(from: 0, to: x.count, by: size).map { start in
      (start: start, energy: Samples.energy(x, start..<min(x.count, start + size)))
    }
    let strongest = parts.map(\.energy).max() ?? 0
    parts = parts.filter { $0.energy > 1e-3 * strongest && $0.energy > 0 }
    parts = parts.sorted { $0.energy > $1.energy }.prefix(Self.greatestPartCount).sorted {
      $0.start < $1.start
    }
    let length = FourierTransform.fastLength(atLeast: lagCount + size)
    var transform = FourierTransform(length: length)
    var part = [Float](repeating: 0, count: length)
    for (start, energy) in parts {
      for index in part.indices {
        part[index] = index < size && start + index < x.count ? x[start + index] : 0
      }
      let own = transform.forward(part)
      let first = start + low
      for index in part.indices {
        let place = first + index
        part[index] = place >= 0 && place < y.count ? y[place] : 0
      }
      var bins = transform.forward(part)
      for bin in bins.indices {
        bins[bin] = bins[bin] * own[bin].conjugate
      }
      real.append(Array(transform.backward(bins).prefix(lagCount)))
      for bin in bins.indices {
        bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real)
      }
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
      for index in pooled.indices.dropFirst().reversed() {
        pooled[index] = max(pooled[index], pooled[index - 1])
      }
      return pooled
    }
  }

  private mutating func findCandidates() {
    let span = (times.last ?? 0) - times[0]
    let maps = pooled()
    // A step of tempo moves the ends by 8 ms against each other.
    let steps =
      span < 0.1 ? 0 : min(400, Int((Self.greatestTempo / max(2e-4, 0.008 / span)).rounded(.up)))
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
      if step == 0 {
        plain = Self.best([sums], count: times.count < 8 ? 3 : 1, apart: 3).map(\.index)
      }
      if sums[index] > best.value * 1.01 {
        best = (sums[index], index, tempo)
      }
    }
    let near = span > 2 ? (-2...2).map { Double($0) * 1.5e-4 } : [0]
    func lag(_ index: Int) -> Double { (Double(index * Self.pool) + Double(Self.pool) / 2) / rate }
    for peak in plain {
      add(about: lag(peak), tempos: near, reach: 0.014)
    }
    if span >= 0.1 {
      let step = 0.008 / span
      let tempos = (-16...16).map { best.tempo + Double($0) * step / 8 }.filter {
        abs($0) <= Self.greatestTempo
      }
      add(about: lag(best.index), tempos: tempos, reach: 0.014)
    }
    for edge in edges() {
      add(about: edge, tempos: near, reach: 0.006, isEdge: true)
    }
  }

  /// The greatest values whose columns are not beside each other: a hum fits a period later as
  /// well.
  private static func best<Value: BinaryFloatingPoint>(_ rows: [[Value]], count: Int, apart: Int)
    -> [(
      row: Int, index: Int, value: Value
    )]
  {
    var rows = rows
    return (0..<count).compactMap { _ in
      var best = (row: -1, index: 0, value: Value(0))
      for (row, values) in rows.enumerated() {
        for (index, value) in values.enumerated() where value > best.value {
          best = (row, index, value)
        }
      }
      guard best.row >= 0 else { return nil }
      for row in rows.indices {
        for index in max(0, best.index - apart)...min(rows[row].count - 1, best.index + apart) {
          rows[row][index] = 0
        }
      }
      return best
    }
  }

  /// Adds the best signed sums about a lag, counted in seconds from the first lag on.
  private mutating func add(
    about lag: Double, tempos: [Double], reach: Double, isEdge: Bool = false
  ) {
    let step = 0.000_25
    let count = Int(reach / step)
    var sums: [[Double]] = []
    for tempo in tempos {
      var row = [Double](repeating: 0, count: 2 * count + 1)
      for (part, time) in zip(real, times) {
        for index in row.indices {
          let place = (lag + Double(index - count) * step + tempo * (time - times[0])) * rate
          let lower = min(max(0, Int(place.rounded(.down))), part.count - 2)
          let share = Float(min(1, max(0, place - Double(lower))))
          row[index] += Double(part[lower] * (1 - share) + part[lower + 1] * share)
        }
      }
      sums.append(row)
    }
    for sign in [1.0, -1] {
      candidates += Self.best(sums.map { $0.map { $0 * sign } }, count: 3, apart: 12).map {
        row, index, value in
        Candidate(
          delay: lag + Double(index - count) * step + Double(low) / rate - tempos[row] * times[0],
          tempo: tempos[row],
          sign: sign, sum: value, isEdge: isEdge)
      }
    }
  }

  /// The two lags at which the rises and falls fit best: a steady hum fits everywhere along itself.
  private func edges() -> [Double] {
    let rises = Rises(self)
    guard !rises.isEmpty else { return [] }
    return Self.best([rises.products(tempo: 0)], count: 2, apart: 4).map {
      rises.delay($0.index) - Double(low) / rate
    }
  }

  var delays: ClosedRange<Double> { Double(low) / rate...Double(low + lagCount) / rate }
}

/// How the levels of a reference and of a take rise and fall, whatever the phase of what sounds.
struct Rises {
  /// Frames of one value: 5 ms.
  private static let hop = 10
  /// Values of silence before the reference.
  private static let lead = 20

  private let first: [Float]
  private let second: [Float]
  private let reach: Int
  private let delays: ClosedRange<Double>
  private let step: Double

  init(_ alignment: RecordingAlignment) {
    let silence = [Float](repeating: 0, count: Self.hop * Self.lead)
    first = Self.rises(silence + alignment.x + silence, share: 0)
    second = Self.rises(alignment.y, share: 3)
    step = Double(Self.hop) / alignment.rate
    delays = alignment.delays
    reach = Int((delays.upperBound - delays.lowerBound) / step) + 60
  }

  var isEmpty: Bool { first.isEmpty || second.isEmpty }

  func delay(_ index: Int) -> Double { Double(index - reach + Self.lead) * step }

  /// How well both fit for each delay, the reference slower by a share.
  func products(tempo: Double) -> [Float] {
    var reference = first
    if tempo != 0 {
      let count = Int((Double(first.count - Self.lead) * (1 + tempo)).rounded(.up)) + Self.lead
      reference = (0..<count).map { index in
        let place = Double(index - Self.lead) / (1 + tempo) + Double(Self.lead)
        let lower = Int(place.rounded(.down))
        guard lower >= 0, lower + 1 < first.count else { return 0 }
        let share = Float(place - Double(lower))
        return first[lower] * (1 - share) + first[lower + 1] * share
      }
    }
    var products = CrossCorrelation.of(reference, second, reach: reach)
    for index in products.indices
    where delay(index) < delays.lowerBound + 0.02 || delay(index) > delays.upperBound - 0.02 {
      products[index] = 0
    }
    return products
  }

  /// How much the logarithm of the power of 20 ms grows in 20 ms.
  private static func rises(_ samples: [Float], share: Double) -> [Float] {
    var powers: [Double] = []
    for center in stride(from: 0, to: samples.count, by: hop) {
      let range = max(0, center - 20)..<min(samples.count, center + 20)
      powers.append(Samples.energy(samples, range) / 40)
    }
    let sorted = powers.sorted()
    guard let greatest = sorted.last, greatest > 0 else { return [] }
    let floor = share * sorted[sorted.count / 10] + 1e-3 * greatest
    let levels = powers.map { log($0 + floor) }
    return levels.indices.map { $0 < 4 ? 0 : Float(levels[$0] - levels[$0 - 4]) }
  }
}

extension RecordingAlignment {
  /// Seconds by which the ends of the reference move against each other from one tempo to the next,
  /// where only rises and falls are held against each other, and where samples are.
  private static let coarse = 0.008
  private static let fine = 0.001
  private static let reach = 16

  /// The parts of a hum that is slower are not like those of the reference: only its rises and
  /// falls show where and how fast it is. There, the whole at that speed is held against the take.
  func tempoCandidates() -> [Candidate] {
    let span = Double(x.count) / rate
    let rises = Rises(self)
    guard span > 0.2, !rises.isEmpty else { return [] }
    let step = min(0.008, Self.coarse / span)
    let steps = Int((Self.greatestTempo / step).rounded(.up))
    var peaks: [(value: Float, delay: Double, tempo: Double)] = []
    for number in -steps...steps {
      let tempo = Double(number) * Self.greatestTempo / Double(steps)
      let products = rises.products(tempo: tempo)
      guard let best = products.indices.max(by: { products[$0] < products[$1] }) else { continue }
      peaks.append((products[best], rises.delay(best), tempo))
    }
    peaks.sort { $0.value > $1.value }
    var chosen: [(value: Float, delay: Double, tempo: Double)] = []
    // What is next to a peak is the same peak.
    for peak in peaks
    where chosen.count < 2 && chosen.allSatisfy({ abs($0.tempo - peak.tempo) > 2.5 * step }) {
      chosen.append(peak)
    }
    return chosen.flatMap { near($0.delay, tempo: $0.tempo, step: Self.fine / span) }.filter {
      abs($0.tempo) > RecordingFit.usualTempo
    }
  }

  private func near(_ delay: Double, tempo: Double, step: Double) -> [Candidate] {
    var energy = 1e-30
    var sum = 0.0
    for (index, sample) in x.enumerated() {
      let power = Double(sample * sample)
      energy += power
      sum += power * Double(index)
    }
    // Another tempo turns the reference about the middle of what sounds.
    let middle = sum / energy / rate
    let event = ActiveRegion.event(start: 0, duration: Double(x.count) / rate)
    let stem = Stem(event, time: 0, origin: 0, samples: x, rate: rate)
    let tempos = (-12...12).map { tempo + Double($0) * step }.filter {
      abs($0) <= Self.greatestTempo + 0.001
    }
    let rows = tempos.map { own in
      let start = delay + (tempo - own) * middle
      let column = stem.column(onset: start, speed: 1 + own, count: y.count)
      return (-Self.reach...Self.reach).map { lag in
        Column(start: max(0, column.start + lag), samples: column.samples).dot(y)
      }
    }
    return [1.0, -1].flatMap { sign in
      Self.best(rows.map { $0.map { $0 * sign } }, count: 3, apart: 3).map { row, index, value in
        Candidate(
          delay: delay + (tempo - tempos[row]) * middle + Double(index - Self.reach) / rate,
          tempo: tempos[row],
          sign: sign, sum: value)
      }
    }
  }
}

/// Looks for a reference of which one event that is much of it has changed, everywhere in a take.
///
/// Nothing else may hold the place of such a recording: at its true place too little fits. So the
/// whole with the changed event is held against the take at each delay, at one gain.
struct RecordingHypotheses: ~Copyable {
  struct Hypothesis {
    var index: Int
    var stem: Stem
    /// What changed: the event's frequency, by a ratio, or else its time; 1 of an event that is
    /// missing.
    var ratio: Double?
    /// Where the reference starts; its sum is the share of the take's weighted energy that is
    /// explained.
    var place: RecordingAlignment.Candidate
  }

  /// Seconds from one rendering of an event that moves under controls to the next.
  private static let step = 0.005
  private static let greatestFrequencyCount = 48
  /// As a logarithm.
  private static let greatestFrequency = 0.56
  /// Seconds within which delays are one place.
  private static let sameness = 0.004
  private static let greatestCount = 3

  private let reference: RecordingReference
  private let alignment: RecordingAlignment
  private var transform: FourierTransform
  private let take: [ComplexNumber]

  init(_ reference: RecordingReference, _ alignment: RecordingAlignment) {
    self.reference = reference
    self.alignment = alignment
    let longest = reference.whole.count / 2 + Int(alignment.rate)
    transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: alignment.y.count + longest + 64))
    take = transform.forward(alignment.y)
  }

  /// The likeliest, each of another event, place or kind, and the likeliest of an event that is not
  /// there.
  mutating func best() -> [Hypothesis] {
    let stems = reference.stems
    let least = (stems.count <= 3 ? 0.1 : 0.25) * stems.reduce(0) { $0 + $1.energy }
    let strongest = stems.indices.sorted { stems[$0].energy > stems[$1].energy }.prefix(3)
    var found: [Hypothesis] = []
    for index in strongest where stems[index].energy > least {
      found += hypotheses(index)
    }
    found.sort { $0.place.sum > $1.place.sum }
    var chosen: [Hypothesis] = []
    for next in found where next.ratio != 1 && chosen.count < Self.greatestCount {
      let isNew = chosen.allSatisfy {
        $0.index != next.index || ($0.ratio == nil) != (next.ratio == nil)
          || abs($0.place.delay - next.place.delay) > Self.sameness
      }
      if isNew {
        chosen.append(next)
      }
    }
    return chosen + found.filter { $0.ratio == 1 }.prefix(1)
  }

  private mutating func hypotheses(_ index: Int) -> [Hypothesis] {
    let stem = reference.stems[index]
    var rest = reference.whole
    stem.column(onset: stem.time, speed: 1, count: rest.count).add(to: &rest, times: -1)
    let others = alignment.weighted(rest)
    let products = transform.correlation(take, others)
    let variants = EventVariants(reference: reference)
    var changed: [(stem: Stem?, ratio: Double?)] = [(stem.scaled(by: 1e-4), 1)]
    let seconds = Double(stem.samples.count) / reference.rate
    // A third of a turn more or less over its length.
    let step = max(
      2 * Self.greatestFrequency / Double(Self.greatestFrequencyCount),
      min(0.06, 0.6 / (max(40, stem.hertz) * seconds))
    )
    let steps = Int(Self.greatestFrequency / step)
    for number in -steps...steps where number != 0 {
      let ratio = exp(Double(number) * step)
      changed.append((variants.frequency(of: index, times: ratio)?.stem, ratio))
    }
    // An event alone comes when the whole does.
    let reach = RecordingExplanation.reach
    let hasControls = reference.renderer?.hasControls == true
    if reference.stems.count > 1 {
      let shifts = hasControls ? Array(stride(from: -reach, through: reach, by: Self.step)) : [0]
      changed += shifts.map { (variants.time(of: index, later: $0), nil) }
    }
    let lags = Int((hasControls ? Self.step / 2 : reach) * alignment.rate)
    var found: [Hypothesis] = []
    for (stem, ratio) in changed {
      guard let stem else { continue }
      found += explained(index, stem, ratio, shifts: ratio == nil ? lags : 0, others, products)
    }
    return found
  }

  /// The best places of the others with an event's changed sound, up to some frames earlier or
  /// later.
  private mutating func explained(
    _ index: Int, _ stem: Stem, _ ratio: Double?, shifts: Int, _ others: [Float],
    _ products: [Float]
  ) -> [Hypothesis] {
    let margin = Int(0.1 * reference.rate)
    var samples = [Float](repeating: 0, count: reference.whole.count + 2 * margin)
    stem.column(onset: stem.time + 0.1, speed: 1, count: samples.count).add(to: &samples, times: 1)
    // Moved by 0.1 s, so that it may come before the reference's start.
    let changed = alignment.weighted(samples)
    let lead = Int(0.1 * alignment.rate)
    let own = transform.correlation(take, changed)
    let energy = Samples.energy(others) + Samples.energy(changed)
    let low = alignment.delays.lowerBound
    let high = alignment.delays.upperBound
    var best: [Hypothesis] = []
    for shift in -shifts...shifts {
      // The product of the others with the event at its place.
      let place = shift - lead
      let start = max(0, place)
      let both = Samples.dot(
        others, from: start, changed, from: start - place,
        count: min(others.count - start, changed.count - (start - place)))
      let whole = energy + 2 * both
      guard whole > 0 else { continue }
      var greatest = (sum: Float(0), delay: 0)
      unsafe products.withUnsafeBufferPointer { a in
        unsafe own.withUnsafeBufferPointer { b in
          // The end of a transform holds delays before the start.
          for delay in Int(low * alignment.rate)..<Int(high * alignment.rate) {
            let moved = delay &+ place
            let sum =
              unsafe a[delay >= 0 ? delay : a.count &+ delay]
              + b[moved >= 0 ? moved : b.count &+ moved]
            if abs(sum) > abs(greatest.sum) {
              greatest = (sum, delay)
            }
          }
        }
      }
      var moved = stem
      moved.time += Double(shift) / alignment.rate
      let candidate = RecordingAlignment.Candidate(
        delay: Double(greatest.delay) / alignment.rate, tempo: 0, sign: greatest.sum < 0 ? -1 : 1,
        sum: Double(greatest.sum * greatest.sum) / whole)
      best.append(Hypothesis(index: index, stem: moved, ratio: ratio, place: candidate))
    }
    return Array(best.sorted { $0.place.sum > $1.place.sum }.prefix(2))
  }
}
