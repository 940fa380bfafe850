internal import CMath
internal import SignalAnalysis

/// A transient's wave as it was found.
struct FoundBurst {
  /// The wave among those of the table, and the sample where it begins.
  var wave, start: Int
  /// Frames by which it begins later, −½…½.
  var shift: Double
  /// How much of the wave and of its quarter turn there is.
  var sine, cosine: Float
  /// What it explains of the power.
  var energy: Float

  /// The frame of the transient's onset.
  func onset(_ table: VoiceTable) -> Double { Double(start) + table.bursts[wave].lead + shift }
  /// The burst, so many samples later.
  func moved(by count: Int) -> FoundBurst {
    var moved = self
    moved.start += count
    return moved
  }
  /// The wave's size, as a part of that at full intensity.
  func factor(_ table: VoiceTable) -> Double {
    Double((sine * sine + cosine * cosine).squareRoot() / table.bursts[wave].norm)
  }
}

/// Samples with silence around them, in which bursts are searched and subtracted.
struct BurstField {
  let table: VoiceTable
  /// Whether bursts begin in the table's direction, or with any phase.
  let hasPhase: Bool
  private(set) var samples: [Float]
  /// Samples of silence at each end.
  let padding: Int

  init(_ given: [Float], _ table: VoiceTable, hasPhase: Bool) {
    self.table = table
    self.hasPhase = hasPhase
    padding = 2 * table.longest + 32
    let silence = [Float](repeating: 0, count: padding)
    samples = silence + given + silence
  }

  /// Samples from which bursts are taken away.
  init(_ given: [Float], _ table: VoiceTable, without bursts: [FoundBurst]) {
    self.init(given, table, hasPhase: false)
    for burst in bursts {
      add(burst.moved(by: padding), times: -1)
    }
  }

  /// The wave that explains most where it begins within a range of `samples`, whose middle may
  /// depend on its length.
  func best(waves: some Sequence<Int>, within reach: Int, of place: (_ count: Int) -> Int)
    -> FoundBurst
  {
    var best = FoundBurst(wave: 0, start: 0, shift: 0, sine: 0, cosine: 0, energy: -1)
    let matcher = Matcher(self)
    for wave in waves {
      let burst = table.bursts[wave]
      let center = place(burst.count)
      for index in max(0, center - reach)...min(samples.count - table.longest, center + reach) {
        let (sine, cosine) = matcher.parts(of: burst.range, at: index)
        let energy = hasPhase && sine < 0 ? 0 : sine * sine + cosine * cosine
        guard energy > best.energy else { continue }
        best = FoundBurst(
          wave: wave, start: index, shift: 0, sine: sine, cosine: cosine, energy: energy)
      }
    }
    return best
  }

  /// The best of all waves like one that was found among the coarse ones, near it.
  func finest(around found: FoundBurst) -> FoundBurst {
    let center = found.start + table.bursts[found.wave].count / 2
    let waves = max(0, found.wave - 4)..<min(table.bursts.count, found.wave + 5)
    return best(waves: waves, within: 2) { center - $0 / 2 }
  }

  /// How much there is of a wave at an index, and of its quarter turn where the phase is free.
  private struct Matcher: ~Escapable {
    private let samples, sines, cosines: Span<Float>
    private let hasPhase: Bool

    @_lifetime(borrow field) init(_ field: borrowing BurstField) {
      samples = field.samples.span
      sines = field.table.sines.span
      cosines = field.table.cosines.span
      hasPhase = field.hasPhase
    }

    @inline(__always) func parts(of wave: Range<Int>, at index: Int) -> (sine: Float, cosine: Float)
    {
      (
        DotProduct.of(samples, from: index, sines.extracting(wave)),
        hasPhase ? 0 : DotProduct.of(samples, from: index, cosines.extracting(wave))
      )
    }
  }

  /// Takes a burst away from the samples and says how much of it there was; its start becomes one
  /// of the given ones.
  mutating func take(_ found: FoundBurst) -> FoundBurst {
    var found = found
    let beside = [-1, 1].map { offset in
      best(waves: [found.wave], within: 0) { _ in
        min(samples.count - table.longest, max(0, found.start + offset))
      }
      .energy
    }
    found.shift = SampleMath.top(beside[0], found.energy, beside[1])
    add(found, times: -1)
    found.start -= padding
    return found
  }

  /// Gives a burst back whose start counts in the given samples.
  mutating func give(_ found: FoundBurst) { add(found.moved(by: padding), times: 1) }

  private mutating func add(_ found: FoundBurst, times sign: Float) {
    let range = table.bursts[found.wave].range
    for index in range where samples.indices.contains(found.start + index - range.lowerBound) {
      samples[found.start + index - range.lowerBound] +=
        sign * (found.sine * table.sines[index] + found.cosine * table.cosines[index])
    }
  }

  /// What so many samples from a place on hold.
  func energy(from start: Int, count: Int) -> Float {
    SampleMath.energy(samples, start + padding..<start + padding + count)
  }

  /// The given samples, as far as nothing was taken from them.
  var rest: [Float] { Array(samples[padding..<samples.count - padding]) }
}

/// Bursts beside a hum: peaks of what is left beside it, the strongest first.
struct BurstSearch {
  let table: VoiceTable
  /// The level of the hum.
  let hum: [Float]
  /// Amplitudes below which nothing counts.
  let floor: Float

  /// A burst weaker than this part of the hum beside it is masked by it.
  private static let leastBesideHum = Float(0.3)
  /// How many times the usual rest a burst must reach.
  private static let aboveRest = Float(3.5)
  /// The part of the power around it that a burst must explain, when it is found and when all
  /// others are known.
  private static let leastShare = Float(0.5)
  private static let leastAlone = Float(0.55)

  /// - Parameter rest: The samples without the hum.
  func bursts(in rest: [Float]) -> [FoundBurst] {
    let rate = table.rate
    let levels = AnalyticSignal(of: rest, silence: 200).levels
    let smooth = SampleMath.mean(levels, over: max(3, Int(0.004 * rate)))
    // The usual rest, by every eighth sample.
    let noise = SampleMath.median(
      stride(from: 0, to: smooth.count, by: 8).map { smooth[$0] }, over: Int(0.5 * rate) / 8 | 1)
    let beside = SampleMath.mean(hum, over: Int(0.05 * rate))
    func least(_ index: Int) -> Float {
      max(floor, Self.aboveRest * noise[index / 8], Self.leastBesideHum * beside[index])
    }
    let peaks = SampleMath.peaks(smooth, distance: max(1, Int(0.006 * rate))) {
      smooth[$0] > least($0)
    }
    var field = BurstField(rest, table, hasPhase: false)
    var found: [FoundBurst] = []
    for peak in peaks.sorted(by: { smooth[$0] > smooth[$1] }) {
      let center = peak + field.padding
      let near = field.samples[center - 6...center + 6].reduce(0) { max($0, abs($1)) }
      // A stronger one explained it already.
      guard near >= 0.6 * least(peak) else { continue }
      let best = field.finest(
        around: field.best(waves: table.coarse, within: 12) { center - $0 / 2 })
      let burst = table.bursts[best.wave]
      let around = field.energy(from: best.start - 8 - field.padding, count: burst.count + 16)
      guard best.energy >= Self.leastShare * around else { continue }
      let taken = field.take(best)
      guard taken.energy.squareRoot() * burst.peak >= least(peak) else {
        field.give(taken)
        continue
      }
      found.append(taken)
    }
    // It stands alone: beside it, once all others are taken away, there is little.
    return found.filter { burst in
      let count = table.bursts[burst.wave].count
      let half = max(8, count / 2)
      let around = field.energy(from: burst.start - half, count: count + 2 * half) + burst.energy
      return burst.energy > Self.leastAlone * around
    }.sorted { $0.start < $1.start }
  }
}

/// Whether a change of the hum at one moment, from one tone to another, explains a neighbourhood as
/// well as a burst does.
struct StepTest {
  let table: VoiceTable
  let samples: [Float]
  /// The samples without hum and bursts.
  let rest, levels: [Float]
  let hertz: [Double]

  /// A burst leaves less than this part of what the best step leaves, and less than that of the
  /// excursion from the hum.
  private static let ofStep = Float(0.5)
  private static let ofExcursion = Float(0.4)

  func isStep(_ burst: FoundBurst) -> Bool {
    let count = table.bursts[burst.wave].count
    let side = Int(0.03 * table.slowness * table.rate)
    let range = max(0, burst.start - side)..<min(samples.count, burst.start + count + side)
    let before = max(0, burst.start - side)..<max(1, min(samples.count, burst.start - 4))
    let behind =
      min(samples.count, burst.start + count + 4)..<min(samples.count, burst.start + count + side)
    guard before.lowerBound < before.upperBound else { return false }
    let amplitude = (burst.energy * 2 / Float(count)).squareRoot()
    let beside = max(levels[before].max() ?? 0, behind.isEmpty ? 0 : levels[behind].max() ?? 0)
    guard beside >= 0.15 * amplitude else { return false }
    let left = SampleMath.energy(rest, range)
    guard left <= Self.ofExcursion * (left + burst.energy) else { return true }
    let first = median(before)
    let second = behind.isEmpty ? first : median(behind)
    return left > Self.ofStep
      * bestStep(range, around: burst.start..<burst.start + count, first, second)
  }

  private func median(_ range: Range<Int>) -> Double {
    let sorted = hertz[range].sorted()
    return sorted[sorted.count / 2]
  }

  /// What the best step leaves: on each side a tone whose amplitude moves along a line, by least
  /// squares.
  private func bestStep(
    _ range: Range<Int>, around burst: Range<Int>, _ first: Double, _ second: Double
  ) -> Float {
    var best = SampleMath.energy(samples, range)
    let steps = Set(
      stride(from: burst.lowerBound - 12, to: burst.upperBound + 12, by: max(1, burst.count / 8))
        .filter(range.contains)
    )
    var front = ToneFit(hertz: first, rate: table.rate, range: range)
    var left: [Int: Double] = [:]
    for index in range {
      if steps.contains(index) {
        left[index] = front.rest
      }
      front.add(samples[index], at: index)
    }
    var back = ToneFit(hertz: second, rate: table.rate, range: range)
    for index in range.reversed() {
      back.add(samples[index], at: index)
      if let front = left[index] {
        best = min(best, Float(front + back.rest))
      }
    }
    return best
  }
}

/// A tone of a known frequency whose amplitude moves along a line, by least squares over samples
/// that are added.
private struct ToneFit {
  private let turn, middle, scale: Double
  private var normal = InlineArray<16, Double>(repeating: 0)
  private var right = InlineArray<4, Double>(repeating: 0)
  private var energy = 0.0

  init(hertz: Double, rate: Double, range: Range<Int>) {
    turn = 2 * .pi * hertz / rate
    middle = Double(range.lowerBound + range.upperBound) / 2
    scale = 1 / Double(range.count)
  }

  mutating func add(_ sample: Float, at index: Int) {
    let offset = (Double(index) - middle)
    let c = cos(turn * offset)
    let s = sin(turn * offset)
    let basis: InlineArray<4, Double> = [c, s, c * offset * scale, s * offset * scale]
    let value = Double(sample)
    for row in 0..<4 {
      for column in 0...row {
        normal[4 * row + column] += basis[row] * basis[column]
      }
      right[row] += basis[row] * value
    }
    energy += value * value
  }

  /// What the best tone leaves of the energy, by a Cholesky factorisation.
  var rest: Double {
    var factor = normal
    var solved = right
    for row in 0..<4 {
      for column in 0...row {
        var sum = factor[4 * row + column]
        for inner in 0..<column {
          sum -= factor[4 * row + inner] * factor[4 * column + inner]
        }
        if row == column {
          factor[4 * row + row] = (max(0, sum) + 1e-9).squareRoot()
        } else {
          factor[4 * row + column] = sum / factor[4 * column + column]
        }
      }
      for inner in 0..<row {
        solved[row] -= factor[4 * row + inner] * solved[inner]
      }
      solved[row] /= factor[4 * row + row]
    }
    return max(0, energy - (0..<4).reduce(0) { $0 + solved[$1] * solved[$1] })
  }
}

/// Bursts alone, as close as they may be: the other reading of what hum and bursts leave
/// unexplained.
struct BurstTrains {
  let table: VoiceTable
  /// Amplitudes below which nothing counts.
  let floor: Float

  /// Seconds over which readings are compared.
  private static let window = 0.12
  /// The part of the power that a reading may leave before the other is tried, and the longest that
  /// is tried at once.
  private static let unexplained = Float(0.04)
  private static let longest = 20.0
  /// The other reading wins where what it leaves pays for its bursts by the length of a description
  /// (J. Rissanen, Modeling by shortest data description, 1978): half a logarithm for each
  /// independent sample, of which there are so many a second for each hertz of the band, against
  /// the numbers of a burst. A hum and its movement cost as much as some bursts, and no reading is
  /// exact.
  private static let independent = 2.6
  private static let perBurst = Float(12)
  private static let perHum = Float(2)
  private static let inexact = Float(0.004)
  /// Bursts in a second at most.
  private static let most = 90.0
  /// The power of a burst as a part of the strongest of all, and of the strongest within 50 ms.
  private static let leastPower = Float(0.006)
  private static let leastBeside = Float(0.03)
  /// Seconds within which two are felt as one.
  private static let together = 0.006

  /// What a segment is read as.
  struct Reading {
    var bursts: [FoundBurst]
    /// Where bursts alone are read, without a hum.
    var isTrain: [Bool]
  }

  /// The readings that explain the samples with less to say: these bursts, others beside the hum,
  /// or others alone.
  ///
  /// - Parameter slow: The hum of a range, by longer medians, which ignore several bursts.
  func find(in samples: [Float], hum: Hum, known: [FoundBurst], slow: (Range<Int>) -> [Float])
    -> Reading
  {
    let rate = table.rate
    let count = Int(Self.window * table.slowness * rate)
    let perRatio = Float(Self.independent * table.band.upperBound * Double(count) / rate) / 2
    let beside = zip(samples, hum.samples).map { $0 - $1 }
    let power = SampleMath.mean(samples.map { $0 * $0 }, over: count)
    let left = SampleMath.mean(
      BurstField(beside, table, without: known).rest.map { $0 * $0 }, over: count)
    let least = 4 * floor * floor
    let margin = Int(0.05 * table.slowness * rate)
    var reading = Reading(bursts: known, isTrain: [Bool](repeating: false, count: samples.count))
    let segments = SampleMath.segments(samples.count, closing: 2 * margin) {
      left[$0] > Self.unexplained * power[$0] && power[$0] > least
    }
    let pieces = segments.flatMap { segment in
      stride(from: segment.lowerBound, to: segment.upperBound, by: Int(Self.longest * rate)).map {
        $0..<min(segment.upperBound, $0 + Int(Self.longest * rate))
      }
    }
    var rest = samples
    for segment in pieces {
      let range =
        max(0, segment.lowerBound - margin)..<min(samples.count, segment.upperBound + margin)
      let fewer = Self.density(known, in: range, over: count)
      // By how much each reading is shorter than the first, at each sample.
      func gains(_ bursts: [FoundBurst], _ rest: [Float], hums: Float) -> [Float] {
        let own = SampleMath.mean(rest.map { $0 * $0 }, over: count)
        let more = Self.density(bursts, in: range, over: count)
        return range.indices.map { place in
          let index = place - range.lowerBound
          guard left[place] > Self.unexplained * power[place] else { return 0 }
          let inexact = Self.inexact * power[place]
          let gain = Float(log(Double((left[place] + inexact) / (own[index] + inexact))))
          return perRatio * gain - Self.perBurst * (more[index] - fewer[index] - hums)
        }
      }
      let alone = pursue(Array(samples[range]), from: range.lowerBound)
      let besideSlow = zip(samples[range], slow(range)).map { $0 - $1 }
      let pursued = pursue(besideSlow, from: range.lowerBound)
      rest.replaceSubrange(range, with: pursued.rest)
      let test = StepTest(
        table: table, samples: samples, rest: rest, levels: hum.levels, hertz: hum.track.hertz)
      let additional = pursued.bursts.filter { !test.isStep($0) }
      rest.replaceSubrange(range, with: samples[range])
      let other = BurstField(
        besideSlow, table, without: additional.map { $0.moved(by: -range.lowerBound) })
      let trains = gains(alone.bursts, alone.rest, hums: Self.perHum)
      let both = gains(additional, other.rest, hums: 0)
      func take(_ bursts: [FoundBurst], isTrain: Bool, where isBetter: (Int) -> Bool) {
        for part in SampleMath.segments(range.count, closing: 1, where: isBetter)
        where part.count >= count / 2 {
          let part = part.lowerBound + range.lowerBound..<part.upperBound + range.lowerBound
          reading.bursts.removeAll { part.contains($0.start) }
          reading.bursts += bursts.filter { part.contains($0.start) }
          if isTrain {
            for index in part {
              reading.isTrain[index] = true
            }
          }
        }
      }
      take(additional, isTrain: false) { both[$0] > max(0, trains[$0]) }
      take(alone.bursts, isTrain: true) { trains[$0] > max(0, both[$0]) }
    }
    reading.bursts.sort { $0.start < $1.start }
    return reading
  }

  /// How many bursts begin within a window around each sample.
  private static func density(_ bursts: [FoundBurst], in range: Range<Int>, over count: Int)
    -> [Float]
  {
    var marks = [Float](repeating: 0, count: range.count)
    for burst in bursts where range.contains(burst.start) {
      marks[burst.start - range.lowerBound] += Float(count)
    }
    return SampleMath.mean(marks, over: count)
  }

  /// Matching pursuit, the strongest first (S. Mallat, Z. Zhang, Matching pursuits with
  /// time-frequency dictionaries, 1993); each is fitted once more when its neighbours are known.
  private func pursue(_ samples: [Float], from start: Int) -> (bursts: [FoundBurst], rest: [Float])
  {
    var field = BurstField(samples, table, hasPhase: true)
    let last = field.samples.count - table.longest
    var best = [FoundBurst?](repeating: nil, count: last)
    // The greatest of each 64, so that the next burst is found in few steps.
    var tops = [Float](repeating: 0, count: last / 64 + 1)
    func refresh(_ range: Range<Int>) {
      let range = range.clamped(to: 0..<last)
      for index in range {
        best[index] = field.best(waves: table.coarse, within: 0) { _ in index }
      }
      guard !range.isEmpty else { return }
      for block in range.lowerBound / 64...(range.upperBound - 1) / 64 {
        tops[block] = best[block * 64..<min(last, block * 64 + 64)].reduce(0) {
          max($0, $1?.energy ?? 0)
        }
      }
    }
    refresh(0..<last)
    let least = max(64 * floor * floor, (tops.max() ?? 0) * Self.leastPower)
    var bursts: [FoundBurst] = []
    for _ in 0..<Int(Double(samples.count) / table.rate * Self.most) + 4 {
      guard let block = tops.indices.max(by: { tops[$0] < tops[$1] }), tops[block] >= least,
        let found = best[block * 64..<min(last, block * 64 + 64)].first(where: {
          $0?.energy == tops[block]
        }) ?? nil
      else { break }
      bursts.append(field.take(field.finest(around: found)))
      refresh(found.start - table.longest..<found.start + table.bursts[found.wave].count)
    }
    for _ in 0..<2 {
      for index in bursts.indices {
        field.give(bursts[index])
        let start = bursts[index].start + field.padding
        bursts[index] = field.take(
          field.finest(around: field.best(waves: table.coarse, within: 8) { _ in start }))
      }
    }
    return (merged(bursts).map { $0.moved(by: start) }, field.rest)
  }

  /// Without those that are masked or felt as one with another.
  private func merged(_ bursts: [FoundBurst]) -> [FoundBurst] {
    let bursts = bursts.sorted { $0.start < $1.start }
    var kept: [FoundBurst] = []
    for (index, burst) in bursts.enumerated() {
      func isNear(_ other: FoundBurst) -> Bool {
        abs(Double(other.start - burst.start)) < 0.05 * table.rate
      }
      let before = bursts[..<index].reversed().prefix(while: isNear)
      let behind = bursts[index...].prefix(while: isNear)
      let strongest = (Array(before) + Array(behind)).reduce(0) { max($0, $1.energy) }
      guard burst.energy > Self.leastBeside * strongest else { continue }
      if let last = kept.last, burst.onset(table) - last.onset(table) < Self.together * table.rate {
        if burst.energy > last.energy {
          kept[kept.count - 1] = burst
        }
      } else {
        kept.append(burst)
      }
    }
    return kept
  }
}
