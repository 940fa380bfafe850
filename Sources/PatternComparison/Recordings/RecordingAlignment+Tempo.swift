internal import CMath
import SignalAnalysis

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
  /// Seconds of a value.
  private let step: Double

  init(_ alignment: RecordingAlignment) {
    let silence = [Float](repeating: 0, count: Self.hop * Self.lead)
    first = Self.rises(silence + alignment.x + silence, share: 0)
    second = Self.rises(alignment.y, share: 3)
    step = Double(Self.hop) / alignment.rate
    delays = alignment.delays
    reach = Int((delays.upperBound - delays.lowerBound) / step) + 60
  }

  /// Whether one of both is silent.
  var isEmpty: Bool { first.isEmpty || second.isEmpty }

  /// The seconds of the take at which the reference starts, for an index of the products.
  func delay(_ index: Int) -> Double { Double(index - reach + Self.lead) * step }

  /// How well both fit for each delay, the reference slower by a share.
  func products(tempo: Double) -> [Float] {
    var reference = first
    if tempo != 0 {
      let count = Int((Double(first.count - Self.lead) * (1 + tempo)).rounded(.up)) + Self.lead
      reference = (0..<count).map { index in
        let place = Double(index - Self.lead) / (1 + tempo) + Double(Self.lead)
        let whole = Int(place.rounded(.down))
        guard whole >= 0, whole + 1 < first.count else { return 0 }
        let share = Float(place - Double(whole))
        return first[whole] * (1 - share) + first[whole + 1] * share
      }
    }
    var products = CrossCorrelation.of(reference, second, reach: reach)
    for index in products.indices
    where delay(index) < delays.lowerBound + 0.02 || delay(index) > delays.upperBound - 0.02 { products[index] = 0 }
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
  /// Frames by which the reference is moved to both sides.
  private static let reach = 16

  /// Places at another tempo than clocks have.
  ///
  /// The parts of a hum that is slower are not like those of the reference, so that nothing but its
  /// rises and falls shows where and how fast it is. There, the whole at that speed is held against
  /// the take.
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
    var chosen: [(delay: Double, tempo: Double)] = []
    for peak in peaks where chosen.count < 2 {
      // What is next to a peak is the same peak.
      guard chosen.allSatisfy({ abs($0.tempo - peak.tempo) > 2.5 * step }) else { continue }
      chosen.append((peak.delay, peak.tempo))
    }
    return chosen.flatMap { near($0.delay, tempo: $0.tempo, step: Self.fine / span) }.filter {
      abs($0.tempo) > RecordingFit.usualTempo
    }
  }

  /// The best places near one, by the products of the samples.
  private func near(_ delay: Double, tempo: Double, step: Double) -> [Candidate] {
    var (energy, sum) = (1e-30, 0.0)
    for (index, sample) in x.enumerated() {
      let power = Double(sample * sample)
      energy += power
      sum += power * Double(index)
    }
    // Another tempo turns the reference about the middle of what sounds.
    let middle = sum / energy / rate
    let event = ActiveRegion.event(start: 0, duration: Double(x.count) / rate)
    let stem = Stem(event, time: 0, origin: 0, samples: x, rate: rate)
    let tempos = (-12...12).map { tempo + Double($0) * step }.filter { abs($0) <= Self.greatestTempo + 0.001 }
    let rows = tempos.map { own in
      let start = delay + (tempo - own) * middle
      let column = stem.column(onset: start, speed: 1 + own, count: y.count)
      return (-Self.reach...Self.reach).map { lag in
        Column(start: max(0, column.start + lag), samples: column.samples).dot(y)
      }
    }
    return [1.0, -1].flatMap { sign in
      best(rows.map { $0.map { $0 * sign } }, count: 3).map { row, index, value in
        Candidate(
          delay: delay + (tempo - tempos[row]) * middle + Double(index - Self.reach) / rate, tempo: tempos[row],
          sign: sign, sum: value)
      }
    }
  }

  /// The greatest values whose columns are not beside each other: a hum fits a period later as well.
  private func best(_ rows: [[Double]], count: Int) -> [(row: Int, index: Int, value: Double)] {
    var rows = rows
    return (0..<count).compactMap { _ in
      var best = (row: -1, index: 0, value: 0.0)
      for (row, values) in rows.enumerated() {
        for (index, value) in values.enumerated() where value > best.value { best = (row, index, value) }
      }
      guard best.row >= 0 else { return nil }
      for row in rows.indices {
        for index in max(0, best.index - 3)...min(2 * Self.reach, best.index + 3) { rows[row][index] = 0 }
      }
      return best
    }
  }
}
