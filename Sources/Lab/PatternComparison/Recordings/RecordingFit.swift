internal import CMath
import SignalAnalysis

struct Placement {
  /// Seconds of the take at which the reference starts.
  var delay: Double
  /// The share by which the take is slower.
  var tempo: Double
  /// Whether sounds are slower as well, as of a recording that was resampled; else their times
  /// alone.
  var isResampled = true

  var speed: Double { isResampled ? 1 + tempo : 1 }

  func time(_ time: Double) -> Double { delay + (1 + tempo) * time }
}

/// A segment of a recording as the sum of a reference's sounds, hum, an offset and noise.
struct RecordingFit {
  var reference: RecordingReference
  var take: [Float]
  var place: Placement
  var greatestTempo: Double
  var whitener: [Float] = [1]
  private(set) var lines: [Double] = []
  var excluded: [Range<Int>] = [] {
    didSet {
      if excluded != oldValue {
        set(lines: lines)
      }
    }
  }
  /// Stems that changed: where two others are heard, they do not hold the place.
  var unanchored: Set<Int> = []
  private(set) var tempoError = Double.infinity
  private var nuisances: [Column] = []
  private var nuisanceProducts: [[Double]] = []

  private var rate: Double { reference.rate }

  var isUsual: Bool { greatestTempo <= Self.usualTempo }

  /// The share of the strongest event's energy from which an event says something of the gain.
  private static let leastEnergy = 1e-5
  private static let whitenerLength = 33
  /// The share of tempo up to which clocks differ.
  static let usualTempo = 0.002

  init(_ reference: RecordingReference, take: [Float], place: Placement) {
    self.reference = reference
    self.take = take
    self.place = place
    // Another tempo than that of clocks is not found by the way: short sounds would take it for
    // theirs.
    greatestTempo = abs(place.tempo) > Self.usualTempo ? 0.034 : Self.usualTempo
    set(lines: [])
  }

  struct Solution {
    var gains: [Double]
    /// Their standard errors where the noise is 1.
    var errors: [Double]
    /// The take through the whitener, less what the gains explain.
    var residual: [Float]
    var columns: [Column]
    /// The take through the whitener, less hum and offset.
    var cleaned: [Float]
    var energy: Double

    var sigma: Double { RecordingFit.sigma(residual) }
    var gain: Double { RecordingFit.common(gains, errors, sigma: sigma) }
    var left: Double { Samples.energy(residual) / max(energy, 1e-30) }
  }

  /// Makes steady tones part of the fit: each with a sine, a cosine, and both over a slope.
  mutating func set(lines: [Double]) {
    self.lines = lines
    let count = take.count
    let first = min(Self.whitenerLength, count)
    var columns = [[Float](repeating: 1, count: count)]
    let middle = Double(count) / 2
    for hertz in lines {
      let step = 2 * .pi * hertz / rate
      let parts = (0..<count).map { index -> (cosine: Double, sine: Double, slope: Double) in
        let angle = step * Double(index)
        return (cos(angle), sin(angle), (Double(index) - middle) / max(1, middle))
      }
      columns += [parts.map { Float($0.cosine) }, parts.map { Float($0.sine) }]
      columns += [
        parts.map { Float($0.cosine * $0.slope) }, parts.map { Float($0.sine * $0.slope) },
      ]
    }
    // A filter turns such columns into each other, so they need none.
    nuisances = columns.map {
      var column = Column(start: first, samples: Array($0[first...]))
      column.silence(excluded)
      return column
    }
    nuisanceProducts = nuisances.indices.map { i in (0...i).map { nuisances[i].dot(nuisances[$0]) }
    }
  }

  func column(_ index: Int) -> Column { column(of: reference.stems[index]) }

  func column(of stem: Stem) -> Column {
    stem.column(onset: place.time(stem.time), speed: place.speed, count: take.count)
  }

  /// For each sample of the take, whether the reference is silent there: 50 dB below its peak.
  func quiet() -> [Bool] {
    var isQuiet = [Bool](repeating: true, count: take.count)
    let limit = Float(0.003 * reference.peak)
    let margin = Int(0.01 * rate)
    for index in reference.stems.indices {
      let column = column(index)
      var last = -margin
      for (offset, sample) in column.samples.enumerated() where abs(sample) > limit {
        let place = column.start + offset
        for near in max(0, last + margin, place - margin)..<min(take.count, place + margin) {
          isQuiet[near] = false
        }
        last = place
      }
    }
    return isQuiet
  }

  private func groupColumns() -> [Column] {
    reference.groups.map { group in
      let columns = group.map { column($0) }.filter { !$0.samples.isEmpty }
      guard columns.count > 1 else { return columns.first ?? Column(start: 0, samples: []) }
      let start = columns.map(\.start).min() ?? 0
      let end = columns.map(\.range.upperBound).max() ?? 0
      var samples = [Float](repeating: 0, count: end - start)
      for column in columns {
        column.add(to: &samples, from: start, times: 1)
      }
      return Column(start: start, samples: samples)
    }
  }

  func solve(isWhitened: Bool = true) -> Solution {
    let taps = isWhitened ? whitener : [1]
    var y = Samples.filtered(take, by: taps)
    Samples.silence(&y, 0..<Self.whitenerLength)
    for range in excluded {
      Samples.silence(&y, range)
    }
    let columns = groupColumns().map { column in
      var column = column.whitened(by: taps, count: take.count)
      column.silence(excluded)
      return column
    }
    var matrix = SkylineMatrix()
    var right: [Double] = []
    for (index, column) in columns.enumerated() {
      let first =
        (0..<index).first { columns[$0].range.overlaps(column.range) && !column.samples.isEmpty }
        ?? index
      matrix.append((first...index).map { column.dot(columns[$0]) }, from: first)
      right.append(column.dot(y))
    }
    for (index, nuisance) in nuisances.enumerated() {
      matrix.append(columns.map { nuisance.dot($0) } + nuisanceProducts[index], from: 0)
      right.append(nuisance.dot(y))
    }
    matrix.factor()
    let gains = matrix.solution(of: right)
    let energy = Samples.energy(y)
    let energies = columns.map { Samples.energy($0.samples) }
    let least = Self.leastEnergy * (energies.max() ?? 0)
    for (column, gain) in zip(nuisances, gains[columns.count...]) {
      column.add(to: &y, times: -gain)
    }
    var residual = y
    for (column, gain) in zip(columns, gains) {
      column.add(to: &residual, times: -gain)
    }
    return Solution(
      gains: Array(gains[..<columns.count]),
      errors: columns.indices.map {
        energies[$0] > least ? matrix.rootOfInverse(at: $0) : .infinity
      },
      residual: residual, columns: columns, cleaned: y, energy: energy)
  }

  /// The gain that most of the reference has: that of the largest set of gains which agree.
  private static func common(_ gains: [Double], _ errors: [Double], sigma: Double) -> Double {
    let weights = errors.map { 1 / max($0 * $0, 1e-24) }
    let limit = 4 * Samples.median(weights)
    var best = (score: 0.0, gain: 0.0)
    for (gain, error) in zip(gains, errors) where gain > 0 {
      var votes = 0.0
      var weight = 0.0
      var sum = 0.0
      for index in gains.indices {
        let slack = 0.05 * gain + 3 * sigma * (error + errors[index])
        guard abs(gains[index] - gain) < min(slack, 0.3 * gain) else { continue }
        // One event outvotes no two others, however strong it is.
        let clarity = gain / max(1e-30, 2 * RecordingThreshold.z * sigma * errors[index])
        votes += min(1, clarity * clarity)
        let own = min(weights[index], limit)
        weight += own
        sum += own * gains[index]
      }
      // An event that changed in any way but its level has a lower gain.
      let score = votes * pow(gain, 0.25)
      if score > best.score * 1.001 {
        best = (score, sum / weight)
      }
    }
    return best.gain
  }

  /// The noise of a whitened residual: the root of the median power of blocks of 25 ms.
  static func sigma(_ residual: [Float]) -> Double {
    let powers = stride(from: 0, to: residual.count - 99, by: 100).map {
      Samples.energy(residual, $0..<$0 + 100) / 100
    }
    return max(1e-12, (Samples.median(powers) * 1.007).squareRoot())
  }

  /// Refines delay and tempo by the shifts of blocks of 25 ms, through most of which a line goes.
  mutating func refine(rounds: Int = 3) {
    for _ in 0..<rounds {
      let solution = solve()
      let gain = max(1e-9, solution.gain)
      var fitted = [Float](repeating: 0, count: take.count)
      for (column, own) in zip(solution.columns, solution.gains) {
        column.add(to: &fitted, times: min(max(own, 0.3 * gain), 3 * gain))
      }
      move(by: shifts(fitted, solution, sigma: solution.sigma))
    }
  }

  private struct Shift {
    var time: Double
    var seconds: Double
    var weight: Double
    /// The event that is most of the block, and then its share of the blocks of that event.
    var event: Int
    var share = 1.0
  }

  private func shifts(_ x: [Float], _ solution: Solution, sigma: Double) -> [Shift] {
    let length = Int(rate / 40)
    let residual = solution.residual
    var loudest = [(energy: Double, column: Int)](repeating: (0, -1), count: x.count / length + 1)
    for (index, column) in solution.columns.enumerated() where !column.samples.isEmpty {
      for block in max(0, column.start - 1) / length...max(0, column.range.upperBound - 1) / length
      where block < loudest.count {
        let part = (1 + block * length..<1 + (block + 1) * length).clamped(to: column.range)
        guard !part.isEmpty else { continue }
        let energy = Samples.energy(
          column.samples, part.lowerBound - column.start..<part.upperBound - column.start)
        if energy > loudest[block].energy {
          loudest[block] = (energy, index)
        }
      }
    }
    let half = Float(rate / 2)
    var shifts: [Shift] = []
    for start in stride(from: 1, to: x.count - length, by: length) {
      var xx = Float(1e-30)
      var dx = Float(0)
      var dd = Float(0)
      var rx = Float(0)
      var rd = Float(0)
      unsafe x.withUnsafeBufferPointer { x in
        unsafe residual.withUnsafeBufferPointer { r in
          for i in start..<start + length {
            let d = unsafe (x[i + 1] - x[i - 1]) * half
            unsafe xx += x[i] * x[i]
            unsafe dx += d * x[i]
            dd += d * d
            unsafe rx += r[i] * x[i]
            unsafe rd += r[i] * d
          }
        }
      }
      // The part of the slope that is not a change of level.
      let share = dx / xx
      let weight = Double(dd - share * dx)
      guard weight > 0 else { continue }
      shifts.append(
        Shift(
          time: (Double(start) + Double(length) / 2) / rate - place.delay,
          seconds: -Double(rd - share * rx) / weight,
          weight: weight, event: loudest[start / length].column))
    }
    let least = 1e-4 * (shifts.map(\.weight).max() ?? 0)
    shifts.removeAll { $0.weight <= least }
    if !unanchored.isEmpty {
      let holding = shifts.filter { shift in
        shift.event >= 0 && !reference.groups[shift.event].contains { unanchored.contains($0) }
      }
      if Set(holding.map(\.event)).count > 1 {
        shifts = holding
      }
    }
    // Ten microseconds are as much as the model is good for.
    for index in shifts.indices {
      shifts[index].weight = min(shifts[index].weight / (sigma * sigma), 1e10)
    }
    let limit = 9 * Samples.median(shifts.map(\.weight))
    let counts = shifts.reduce(into: [:]) { $0[$1.event, default: 0.0] += 1 }
    for index in shifts.indices {
      shifts[index].weight = min(shifts[index].weight, limit)
      shifts[index].share = 1 / (counts[shifts[index].event] ?? 1)
    }
    return shifts
  }

  private mutating func move(by shifts: [Shift]) {
    // A long event is one voice of many, as a short one.
    let shares = shifts.map(\.share)
    func uses(_ residuals: [Double]) -> [Double] {
      let scale = 1e-4 + 2 * Samples.median(residuals, weights: shares)
      return residuals.map {
        1 / ((1 + ($0 / scale) * ($0 / scale)) * (1 + ($0 / scale) * ($0 / scale)))
      }
    }
    let usual = Samples.median(shifts.map(\.seconds), weights: shares)
    var use = uses(shifts.map { abs($0.seconds - usual) })
    var middle = 0.0
    var slope = 0.0
    var center = 0.0
    var spread = 0.0
    for _ in 0..<8 {
      var sum = 0.0
      var times = 0.0
      for (shift, use) in zip(shifts, use) {
        sum += shift.weight * use
        times += shift.weight * use * shift.time
      }
      guard sum > 0 else { return }
      center = times / sum
      spread = 0
      var product = 0.0
      var seconds = 0.0
      for (shift, use) in zip(shifts, use) {
        let weight = shift.weight * use
        let time = shift.time - center
        spread += weight * time * time
        product += weight * time * shift.seconds
        seconds += weight * shift.seconds
      }
      slope = spread > 0 ? product / spread : 0
      middle = seconds / sum
      use = uses(shifts.map { abs($0.seconds - middle - slope * ($0.time - center)) })
    }
    // Where shifts scatter more than noise makes them, the model is what limits them.
    let scatter = Samples.median(
      shifts.map {
        let residual = $0.seconds - middle - slope * ($0.time - center)
        return residual * residual * $0.weight
      })
    let excess = max(1, scatter / 0.455)
    tempoError = spread > 0 ? (excess / spread).squareRoot() : .infinity
    // Another tempo is rare: misfits are no evidence of one.
    let doubt = excess / (Self.usualTempo * Self.usualTempo)
    slope = (slope * spread - doubt * place.tempo) / max(1e-30, spread + doubt)
    if tempoError > 0.01 {
      slope = -place.tempo
    }
    slope = min(max(slope, -0.01), 0.01)
    middle = min(max(middle, -0.003), 0.003)
    let tempo = min(max(place.tempo + slope, -greatestTempo), greatestTempo)
    place.delay += middle - (tempo - place.tempo) * center
    place.tempo = tempo
  }
}

struct RecordingSearch {
  let reference: RecordingReference
  let recording: [Float]

  /// Seconds of the recording before and behind the reference that are part of the fit.
  private static let margin = 0.7
  /// Candidates that have less than this share of the best sum in common with the recording are not
  /// fitted.
  private static let leastSum = 0.7
  private static let leastShortSum = 0.1
  private static let greatestPlaceCount = 5
  /// A fit that leaves no more than this many times the noise is not replaced by another place.
  private static let noiseAlone = 1.15
  /// How much likelier, in twice the natural logarithm, a later candidate must be.
  private static let advantage = 30.0
  /// Where a fit leaves more than this share, another tempo may be why.
  private static let leastLeft = 0.02

  struct Found {
    var fit: RecordingFit
    var first: Int
    /// 1 or −1.
    var sign: Double
    /// 50 or 60 where the fit's lines are multiples of it.
    var mains: Double?
    /// The share of the segment's whitened energy that the fit leaves.
    var left: Double
    var excess = Double.infinity
    /// Whether the whole is another tempo with its pitch kept; the fit's reference is stretched by
    /// it.
    var stretch = 1.0
    var isEdge = false

    /// Seconds of the recording at which the fitted segment starts, and the reference.
    var offset: Double { Double(first) / fit.reference.rate }
    var delay: Double { fit.place.delay + offset }
  }

  /// The likeliest places, the best first; none where nothing fits at all.
  ///
  /// A later candidate is better only where it is much likelier; others leave not much more than
  /// it.
  func places(in alignment: RecordingAlignment) -> [Found] {
    guard let greatest = alignment.candidates.map(\.sum).max() else { return [] }
    // Of one or two events, others may be like them and stronger.
    let isShort = reference.stems.count <= 3
    let least = isShort ? Self.leastShortSum : Self.leastSum
    let greatestLeft = isShort ? 30.0 : 3
    var found: [Found] = []
    var best: Int?
    var seen: Set<[Int]> = []
    func attempt(_ candidate: RecordingAlignment.Candidate) {
      let key = [
        Int((candidate.delay * 500).rounded()), Int((candidate.tempo * 1_000).rounded()),
        Int(candidate.sign),
      ]
      guard seen.insert(key).inserted, let next = fitted(candidate) else { return }
      found.append(next)
      let isBest = best.map {
        (found[$0].left - next.left) * Double(next.fit.take.count) > Self.advantage * next.left
      }
      if isBest ?? true {
        best = found.count - 1
      }
    }
    for candidate in alignment.candidates
    where candidate.sum >= least * greatest || candidate.isEdge {
      attempt(candidate)
      if let best, found[best].excess < Self.noiseAlone { break }
    }
    if best.map({ found[$0].left }) ?? 1 > Self.leastLeft {
      for candidate in alignment.tempoCandidates() {
        attempt(candidate)
      }
    }
    guard let best else { return [] }
    var places = [found[best]]
    for other in found.sorted(by: { $0.left < $1.left })
    where places.count < Self.greatestPlaceCount
      && other.left < (other.fit.isUsual ? 30 : greatestLeft) * found[best].left
      && places.allSatisfy({ Self.areApart($0, other) })
    {
      places.append(other)
    }
    let edges = found.filter { other in
      other.isEdge && places.allSatisfy { Self.areApart($0, other) }
    }
    return places + (edges.min { $0.left < $1.left }.map { [$0] } ?? [])
  }

  /// Whether two places are not a period or two of one sound apart.
  private static func areApart(_ one: Found, _ other: Found) -> Bool {
    let tempo = abs(one.fit.place.tempo - other.fit.place.tempo)
    return abs(one.delay - other.delay) > 0.015 || tempo * one.fit.reference.duration > 0.005
  }

  func fitted(_ candidate: RecordingAlignment.Candidate) -> Found? {
    let rate = reference.rate
    let first = max(0, Int((candidate.delay - Self.margin) * rate))
    let length = reference.duration * (1 + candidate.tempo)
    let last = min(recording.count, Int((candidate.delay + length + Self.margin) * rate))
    guard last - first >= Int(0.1 * rate) else { return nil }
    // What a recording ends before is missing from it.
    let end = max(last, Int((candidate.delay + length + 0.1) * rate))
    let take =
      recording[first..<last].map { $0 * Float(candidate.sign) }
      + [Float](repeating: 0, count: end - last)
    var fit = RecordingFit(
      reference, take: take,
      place: Placement(delay: candidate.delay - Double(first) / rate, tempo: candidate.tempo))
    var noise = quietNoise(from: candidate.delay, to: candidate.delay + length)
    let greatest = noise.powers.max() ?? 0
    for bin in noise.powers.indices {
      noise.powers[bin] += 1e-5 * greatest + 1e-16
    }
    fit.whitener = noise.whitener()
    fit.refine(rounds: 2)
    let solution = fit.solve()
    guard solution.gain > 0 else { return nil }
    let noiseEnergy = solution.sigma * solution.sigma * Double(max(1, solution.residual.count))
    return Found(
      fit: fit, first: first, sign: candidate.sign, left: solution.left,
      excess: Samples.energy(solution.residual) / noiseEnergy, isEdge: candidate.isEdge)
  }

  /// The noise outside of a range of seconds, or what goes on all the time where that is too short.
  private func quietNoise(from start: Double, to end: Double) -> NoiseSpectrum {
    let rate = reference.rate
    let before = max(0, min(recording.count, Int((start - 0.05) * rate)))
    let behind = max(0, min(recording.count, Int((end + 0.05) * rate)))
    let quiet = Array(recording[..<before]) + Array(recording[max(before, behind)...])
    return quiet.count > Int(0.25 * rate)
      ? NoiseSpectrum(of: quiet) : NoiseSpectrum(of: recording, quantile: 0.1)
  }
}

extension RecordingSearch.Found {
  /// The model of an event is no better than this share of the peak.
  private static let modelError = 5e-4
  /// The share of tempo from which it matters whether the pitch goes along.
  private static let leastStretch = 0.002

  /// The place, and before it the same without another tempo where the reference is too short to
  /// show one.
  ///
  /// Else a changed event would make one.
  var withAndWithoutTempo: [Self] {
    let reference = fit.reference
    guard !fit.isUsual || reference.isShort else { return [self] }
    var fixed = self
    // The middle stays where it is.
    fixed.fit.place.delay += fit.place.tempo * reference.duration / 2
    fixed.fit.place.tempo = 0
    fixed.fit.greatestTempo = reference.isShort ? 0 : RecordingFit.usualTempo
    return [fixed, self]
  }

  /// The same at another tempo, its pitch kept, where that is likelier.
  func stretched() -> Self? {
    guard abs(fit.place.tempo) > Self.leastStretch else { return nil }
    let factor = 1 + fit.place.tempo
    guard let take = fit.reference.renderer?.stretched(by: factor).take(),
      let reference = RecordingReference(take)
    else { return nil }
    var other = self
    other.fit = RecordingFit(
      reference, take: fit.take,
      place: Placement(delay: fit.place.delay, tempo: 0, isResampled: false))
    other.fit.set(lines: fit.lines)
    other.fit.whitener = fit.whitener
    other.fit.refine()
    guard other.fit.solve().left < left else { return nil }
    other.stretch = factor
    return other.settled()
  }

  /// Learns noise and hum from what the fit leaves, and refines the fit by them.
  func settled() -> Self {
    var found = self
    for turn in 0..<3 {
      if turn < 2 {
        found.fit.set(lines: [])
        let residual = found.fit.solve(isWhitened: false).residual
        let tones = SteadyTones.find(in: residual, rate: fit.reference.rate)
        found.mains = tones.mains
        found.fit.set(lines: tones.lines.filter { found.isSteady($0, residual) })
        if found.fit.lines.isEmpty {
          found.mains = nil
        }
      }
      let solution = found.fit.solve(isWhitened: false)
      var noise = NoiseSpectrum(of: solution.residual)
      let error = Self.modelError * solution.gain * fit.reference.peak
      for bin in noise.powers.indices {
        noise.powers[bin] += error * error + 1e-16
      }
      found.fit.whitener = noise.whitener()
      found.fit.refine()
    }
    found.left = found.fit.solve().left
    return found
  }

  /// Whether a line is as strong where the reference is silent: what belongs to an event is not.
  private func isSteady(_ hertz: Double, _ residual: [Float]) -> Bool {
    let rate = fit.reference.rate
    let isQuiet = fit.quiet()
    let quiet = SteadyTones.power(at: hertz, in: residual, rate: rate) { isQuiet[$0] }
    let loud = SteadyTones.power(at: hertz, in: residual, rate: rate) { !isQuiet[$0] }
    // Where nothing but the pattern was recorded, only the mains are known to hum under it.
    return quiet.count > Int(0.1 * rate) ? quiet.power > loud.power / 9 : mains != nil
  }
}
