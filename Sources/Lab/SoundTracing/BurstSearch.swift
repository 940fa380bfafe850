internal import CMath
internal import SignalAnalysis

/// A transient's wave as it was found.
struct FoundBurst {
  /// The wave among those of the table, and the sample where it begins.
  var atomIndex, start: Int
  /// Frames by which it begins later, −½…½.
  var fractionalShift: Double
  /// How much of the wave and of its quarter turn there is.
  var inPhase, quadrature: Float
  /// What it explains of the power.
  var energy: Float

  /// The frame of the transient's onset.
  func onset(in table: AtomDictionary) -> Double {
    Double(start) + table.atoms[atomIndex].onset + fractionalShift
  }
  /// The burst, so many samples later.
  func moved(by count: Int) -> FoundBurst {
    var moved = self
    moved.start += count
    return moved
  }
  /// The wave's size, as a part of that at full intensity.
  func relativeLevel(in table: AtomDictionary) -> Double {
    Double((inPhase * inPhase + quadrature * quadrature).squareRoot() / table.atoms[atomIndex].norm)
  }
}

/// Samples with silence around them, in which bursts are searched and subtracted.
struct PursuitResidual {
  let dictionary: AtomDictionary
  /// Whether bursts begin in the table's direction, or with any phase.
  let hasFixedPhase: Bool
  private(set) var samples: [Float]
  /// Samples of silence at each end.
  let padding: Int

  init(_ given: [Float], dictionary table: AtomDictionary, hasFixedPhase hasPhase: Bool) {
    self.dictionary = table
    self.hasFixedPhase = hasPhase
    padding = 2 * table.maximumAtomLength + 32
    let silence = [Float](repeating: 0, count: padding)
    samples = silence + given + silence
  }

  /// Samples from which bursts are taken away.
  init(_ given: [Float], dictionary table: AtomDictionary, subtracting bursts: [FoundBurst]) {
    self.init(given, dictionary: table, hasFixedPhase: false)
    for burst in bursts {
      add(burst.moved(by: padding), times: -1)
    }
  }

  /// The wave that explains most where it begins within a range of `samples`, whose middle may
  /// depend on its length.
  func bestBurst(
    atoms waves: some Sequence<Int>, within reach: Int, of place: (_ count: Int) -> Int
  )
    -> FoundBurst
  {
    var best = FoundBurst(
      atomIndex: 0, start: 0, fractionalShift: 0, inPhase: 0, quadrature: 0, energy: -1)
    let matcher = Matcher(self)
    for wave in waves {
      let burst = dictionary.atoms[wave]
      let center = place(burst.count)
      for index in max(
        0, center - reach)...min(samples.count - dictionary.maximumAtomLength, center + reach)
      {
        let (sine, cosine) = matcher.projections(of: burst.sampleRange, at: index)
        let energy = hasFixedPhase && sine < 0 ? 0 : sine * sine + cosine * cosine
        guard energy > best.energy else { continue }
        best = FoundBurst(
          atomIndex: wave, start: index, fractionalShift: 0, inPhase: sine, quadrature: cosine,
          energy: energy)
      }
    }
    return best
  }

  /// The best of all waves like one that was found among the coarse ones, near it.
  func refined(_ found: FoundBurst) -> FoundBurst {
    let center = found.start + dictionary.atoms[found.atomIndex].count / 2
    let waves = max(0, found.atomIndex - 4)..<min(dictionary.atoms.count, found.atomIndex + 5)
    return bestBurst(atoms: waves, within: 2) { center - $0 / 2 }
  }

  /// How much there is of a wave at an index, and of its quarter turn where the phase is free.
  private struct Matcher: ~Escapable {
    private let samples, inPhase, quadrature: Span<Float>
    private let hasFixedPhase: Bool

    @_lifetime(borrow field) init(_ field: borrowing PursuitResidual) {
      samples = field.samples.span
      inPhase = field.dictionary.inPhaseSamples.span
      quadrature = field.dictionary.quadratureSamples.span
      hasFixedPhase = field.hasFixedPhase
    }

    @inline(__always) func projections(of wave: Range<Int>, at index: Int) -> (
      sine: Float, cosine: Float
    ) {
      (
        DotProduct.of(samples, from: index, inPhase.extracting(wave)),
        hasFixedPhase ? 0 : DotProduct.of(samples, from: index, quadrature.extracting(wave))
      )
    }
  }

  /// Takes a burst away from the samples and says how much of it there was; its start becomes one
  /// of the given ones.
  mutating func subtract(_ found: FoundBurst) -> FoundBurst {
    var found = found
    let beside = [-1, 1].map { offset in
      bestBurst(atoms: [found.atomIndex], within: 0) { _ in
        min(samples.count - dictionary.maximumAtomLength, max(0, found.start + offset))
      }
      .energy
    }
    found.fractionalShift = SampleMath.parabolicPeakOffset(beside[0], found.energy, beside[1])
    add(found, times: -1)
    found.start -= padding
    return found
  }

  /// Gives a burst back whose start counts in the given samples.
  mutating func restore(_ found: FoundBurst) { add(found.moved(by: padding), times: 1) }

  private mutating func add(_ found: FoundBurst, times sign: Float) {
    let range = dictionary.atoms[found.atomIndex].sampleRange
    for index in range where samples.indices.contains(found.start + index - range.lowerBound) {
      samples[found.start + index - range.lowerBound] +=
        sign
        * (found.inPhase * dictionary.inPhaseSamples[index] + found.quadrature
          * dictionary.quadratureSamples[index])
    }
  }

  /// What so many samples from a place on hold.
  func energy(from start: Int, count: Int) -> Float {
    SampleMath.energy(of: samples, in: start + padding..<start + padding + count)
  }

  /// The given samples, as far as nothing was taken from them.
  var unpaddedSamples: [Float] { Array(samples[padding..<samples.count - padding]) }
}

/// Bursts beside a hum: peaks of what is left beside it, the strongest first.
struct BurstSearch {
  let dictionary: AtomDictionary
  /// The level of the hum.
  let toneLevels: [Float]
  /// Amplitudes below which nothing counts.
  let minimumAmplitude: Float

  /// A burst weaker than this part of the hum beside it is masked by it.
  private static let minimumToneRatio = Float(0.3)
  /// How many times the usual rest a burst must reach.
  private static let minimumNoiseRatio = Float(3.5)
  /// The part of the power around it that a burst must explain, when it is found and when all
  /// others are known.
  private static let minimumEnergyFraction = Float(0.5)
  private static let minimumIsolatedEnergyFraction = Float(0.55)

  /// - Parameter rest: The samples without the hum.
  func bursts(in rest: [Float]) -> [FoundBurst] {
    let rate = dictionary.rate
    let levels = AnalyticSignal(of: rest, padding: 200).magnitudes
    let smooth = SampleMath.movingMean(of: levels, over: max(3, Int(0.004 * rate)))
    // The usual rest, by every eighth sample.
    let noise = SampleMath.movingMedian(
      of: stride(from: 0, to: smooth.count, by: 8).map { smooth[$0] }, over: Int(0.5 * rate) / 8 | 1
    )
    let beside = SampleMath.movingMean(of: toneLevels, over: Int(0.05 * rate))
    func least(_ index: Int) -> Float {
      max(
        minimumAmplitude, Self.minimumNoiseRatio * noise[index / 8],
        Self.minimumToneRatio * beside[index])
    }
    let peaks = SampleMath.peaks(of: smooth, minimumDistance: max(1, Int(0.006 * rate))) {
      smooth[$0] > least($0)
    }
    var field = PursuitResidual(rest, dictionary: dictionary, hasFixedPhase: false)
    var found: [FoundBurst] = []
    for peak in peaks.sorted(by: { smooth[$0] > smooth[$1] }) {
      let center = peak + field.padding
      let near = field.samples[center - 6...center + 6].reduce(0) { max($0, abs($1)) }
      // A stronger one explained it already.
      guard near >= 0.6 * least(peak) else { continue }
      let best = field.refined(
        field.bestBurst(atoms: dictionary.coarseIndices, within: 12) { center - $0 / 2 })
      let burst = dictionary.atoms[best.atomIndex]
      let around = field.energy(from: best.start - 8 - field.padding, count: burst.count + 16)
      guard best.energy >= Self.minimumEnergyFraction * around else { continue }
      let taken = field.subtract(best)
      guard taken.energy.squareRoot() * burst.peak >= least(peak) else {
        field.restore(taken)
        continue
      }
      found.append(taken)
    }
    // It stands alone: beside it, once all others are taken away, there is little.
    return found.filter { burst in
      let count = dictionary.atoms[burst.atomIndex].count
      let half = max(8, count / 2)
      let around = field.energy(from: burst.start - half, count: count + 2 * half) + burst.energy
      return burst.energy > Self.minimumIsolatedEnergyFraction * around
    }.sorted { $0.start < $1.start }
  }
}

/// Whether a change of the hum at one moment, from one tone to another, explains a neighbourhood as
/// well as a burst does.
struct ToneStepTest {
  let dictionary: AtomDictionary
  let samples: [Float]
  /// The samples without hum and bursts.
  let residual, toneLevels: [Float]
  let toneHertz: [Double]

  /// A burst leaves less than this part of what the best step leaves, and less than that of the
  /// excursion from the hum.
  private static let maximumStepRatio = Float(0.5)
  private static let maximumExcursionRatio = Float(0.4)

  func isStep(_ burst: FoundBurst) -> Bool {
    let count = dictionary.atoms[burst.atomIndex].count
    let side = Int(0.03 * dictionary.timeScale * dictionary.rate)
    let range = max(0, burst.start - side)..<min(samples.count, burst.start + count + side)
    let before = max(0, burst.start - side)..<max(1, min(samples.count, burst.start - 4))
    let behind =
      min(samples.count, burst.start + count + 4)..<min(samples.count, burst.start + count + side)
    guard before.lowerBound < before.upperBound else { return false }
    let amplitude = (burst.energy * 2 / Float(count)).squareRoot()
    let beside = max(
      toneLevels[before].max() ?? 0, behind.isEmpty ? 0 : toneLevels[behind].max() ?? 0)
    guard beside >= 0.15 * amplitude else { return false }
    let left = SampleMath.energy(of: residual, in: range)
    guard left <= Self.maximumExcursionRatio * (left + burst.energy) else { return true }
    let first = medianHertz(in: before)
    let second = behind.isEmpty ? first : medianHertz(in: behind)
    return left > Self.maximumStepRatio
      * bestStepResidual(
        in: range, around: burst.start..<burst.start + count, before: first, after: second)
  }

  private func medianHertz(in range: Range<Int>) -> Double {
    let sorted = toneHertz[range].sorted()
    return sorted[sorted.count / 2]
  }

  /// What the best step leaves: on each side a tone whose amplitude moves along a line, by least
  /// squares.
  private func bestStepResidual(
    in range: Range<Int>, around burst: Range<Int>, before first: Double, after second: Double
  ) -> Float {
    var best = SampleMath.energy(of: samples, in: range)
    let steps = Set(
      stride(from: burst.lowerBound - 12, to: burst.upperBound + 12, by: max(1, burst.count / 8))
        .filter(range.contains)
    )
    var front = ToneFit(hertz: first, rate: dictionary.rate, range: range)
    var left: [Int: Double] = [:]
    for index in range {
      if steps.contains(index) {
        left[index] = front.residualEnergy
      }
      front.add(samples[index], at: index)
    }
    var back = ToneFit(hertz: second, rate: dictionary.rate, range: range)
    for index in range.reversed() {
      back.add(samples[index], at: index)
      if let front = left[index] {
        best = min(best, Float(front + back.residualEnergy))
      }
    }
    return best
  }
}

/// A tone of a known frequency whose amplitude moves along a line, by least squares over samples
/// that are added.
private struct ToneFit {
  private let phaseIncrement, center, scale: Double
  private var normalMatrix = InlineArray<16, Double>(repeating: 0)
  private var rightSide = InlineArray<4, Double>(repeating: 0)
  private var energy = 0.0

  init(hertz: Double, rate: Double, range: Range<Int>) {
    phaseIncrement = 2 * .pi * hertz / rate
    center = Double(range.lowerBound + range.upperBound) / 2
    scale = 1 / Double(range.count)
  }

  mutating func add(_ sample: Float, at index: Int) {
    let offset = (Double(index) - center)
    let c = cos(phaseIncrement * offset)
    let s = sin(phaseIncrement * offset)
    let basis: InlineArray<4, Double> = [c, s, c * offset * scale, s * offset * scale]
    let value = Double(sample)
    for row in 0..<4 {
      for column in 0...row {
        normalMatrix[4 * row + column] += basis[row] * basis[column]
      }
      rightSide[row] += basis[row] * value
    }
    energy += value * value
  }

  /// What the best tone leaves of the energy, by a Cholesky factorisation.
  var residualEnergy: Double {
    var factor = normalMatrix
    var solved = rightSide
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
struct BurstTrainSearch {
  let dictionary: AtomDictionary
  /// Amplitudes below which nothing counts.
  let minimumAmplitude: Float

  /// Seconds over which readings are compared.
  private static let comparisonWindow = 0.12
  /// The part of the power that a reading may leave before the other is tried, and the longest that
  /// is tried at once.
  private static let minimumResidualFraction = Float(0.04)
  private static let maximumSegmentDuration = 20.0
  /// The other reading wins where what it leaves pays for its bursts by the length of a description
  /// (J. Rissanen, Modeling by shortest data description, 1978): half a logarithm for each
  /// independent sample, of which there are so many a second for each hertz of the band, against
  /// the numbers of a burst. A hum and its movement cost as much as some bursts, and no reading is
  /// exact.
  private static let independentSamplesPerHertz = 2.6
  private static let burstCost = Float(12)
  private static let toneCost = Float(2)
  private static let modelErrorFraction = Float(0.004)
  /// Bursts in a second at most.
  private static let maximumBurstRate = 90.0
  /// The power of a burst as a part of the strongest of all, and of the strongest within 50 ms.
  private static let minimumPowerRatio = Float(0.006)
  private static let minimumNeighborRatio = Float(0.03)
  /// Seconds within which two are felt as one.
  private static let fusionInterval = 0.006

  /// What a segment is read as.
  struct Interpretation {
    var bursts: [FoundBurst]
    /// Where bursts alone are read, without a hum.
    var isTrain: [Bool]
  }

  /// The readings that explain the samples with less to say: these bursts, others beside the hum,
  /// or others alone.
  ///
  /// - Parameter slow: The hum of a range, by longer medians, which ignore several bursts.
  func interpretation(
    of samples: [Float], tone hum: SustainedTone, bursts known: [FoundBurst],
    slowTone slow: (Range<Int>) -> [Float]
  )
    -> Interpretation
  {
    let rate = dictionary.rate
    let count = Int(Self.comparisonWindow * dictionary.timeScale * rate)
    let perRatio =
      Float(Self.independentSamplesPerHertz * dictionary.toneBand.upperBound * Double(count) / rate)
      / 2
    let beside = zip(samples, hum.samples).map { $0 - $1 }
    let power = SampleMath.movingMean(of: samples.map { $0 * $0 }, over: count)
    let left = SampleMath.movingMean(
      of: PursuitResidual(beside, dictionary: dictionary, subtracting: known).unpaddedSamples.map {
        $0 * $0
      }, over: count)
    let least = 4 * minimumAmplitude * minimumAmplitude
    let margin = Int(0.05 * dictionary.timeScale * rate)
    var reading = Interpretation(
      bursts: known, isTrain: [Bool](repeating: false, count: samples.count))
    let segments = SampleMath.segments(samples.count, closing: 2 * margin) {
      left[$0] > Self.minimumResidualFraction * power[$0] && power[$0] > least
    }
    let pieces = segments.flatMap { segment in
      stride(
        from: segment.lowerBound, to: segment.upperBound,
        by: Int(Self.maximumSegmentDuration * rate)
      ).map {
        $0..<min(segment.upperBound, $0 + Int(Self.maximumSegmentDuration * rate))
      }
    }
    var rest = samples
    for segment in pieces {
      let range =
        max(0, segment.lowerBound - margin)..<min(samples.count, segment.upperBound + margin)
      let fewer = Self.density(known, in: range, over: count)
      // By how much each reading is shorter than the first, at each sample.
      func gains(_ bursts: [FoundBurst], _ rest: [Float], hums: Float) -> [Float] {
        let own = SampleMath.movingMean(of: rest.map { $0 * $0 }, over: count)
        let more = Self.density(bursts, in: range, over: count)
        return range.indices.map { place in
          let index = place - range.lowerBound
          guard left[place] > Self.minimumResidualFraction * power[place] else { return 0 }
          let inexact = Self.modelErrorFraction * power[place]
          let gain = Float(log(Double((left[place] + inexact) / (own[index] + inexact))))
          return perRatio * gain - Self.burstCost * (more[index] - fewer[index] - hums)
        }
      }
      let alone = matchingPursuit(of: Array(samples[range]), from: range.lowerBound)
      let besideSlow = zip(samples[range], slow(range)).map { $0 - $1 }
      let pursued = matchingPursuit(of: besideSlow, from: range.lowerBound)
      rest.replaceSubrange(range, with: pursued.rest)
      let test = ToneStepTest(
        dictionary: dictionary, samples: samples, residual: rest, toneLevels: hum.levels,
        toneHertz: hum.track.hertz)
      let additional = pursued.bursts.filter { !test.isStep($0) }
      rest.replaceSubrange(range, with: samples[range])
      let other = PursuitResidual(
        besideSlow, dictionary: dictionary,
        subtracting: additional.map { $0.moved(by: -range.lowerBound) })
      let trains = gains(alone.bursts, alone.rest, hums: Self.toneCost)
      let both = gains(additional, other.unpaddedSamples, hums: 0)
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
    return SampleMath.movingMean(of: marks, over: count)
  }

  /// Matching pursuit, the strongest first (S. Mallat, Z. Zhang, Matching pursuits with
  /// time-frequency dictionaries, 1993); each is fitted once more when its neighbours are known.
  private func matchingPursuit(of samples: [Float], from start: Int) -> (
    bursts: [FoundBurst], rest: [Float]
  ) {
    var field = PursuitResidual(samples, dictionary: dictionary, hasFixedPhase: true)
    let last = field.samples.count - dictionary.maximumAtomLength
    var best = [FoundBurst?](repeating: nil, count: last)
    // The greatest of each 64, so that the next burst is found in few steps.
    var tops = [Float](repeating: 0, count: last / 64 + 1)
    func refresh(_ range: Range<Int>) {
      let range = range.clamped(to: 0..<last)
      for index in range {
        best[index] = field.bestBurst(atoms: dictionary.coarseIndices, within: 0) { _ in index }
      }
      guard !range.isEmpty else { return }
      for block in range.lowerBound / 64...(range.upperBound - 1) / 64 {
        tops[block] = best[block * 64..<min(last, block * 64 + 64)].reduce(0) {
          max($0, $1?.energy ?? 0)
        }
      }
    }
    refresh(0..<last)
    let least = max(
      64 * minimumAmplitude * minimumAmplitude, (tops.max() ?? 0) * Self.minimumPowerRatio)
    var bursts: [FoundBurst] = []
    for _ in 0..<Int(Double(samples.count) / dictionary.rate * Self.maximumBurstRate) + 4 {
      guard let block = tops.indices.max(by: { tops[$0] < tops[$1] }), tops[block] >= least,
        let found = best[block * 64..<min(last, block * 64 + 64)].first(where: {
          $0?.energy == tops[block]
        }) ?? nil
      else { break }
      bursts.append(field.subtract(field.refined(found)))
      refresh(
        found.start - dictionary.maximumAtomLength..<found.start
          + dictionary.atoms[found.atomIndex].count)
    }
    for _ in 0..<2 {
      for index in bursts.indices {
        field.restore(bursts[index])
        let start = bursts[index].start + field.padding
        bursts[index] = field.subtract(
          field.refined(field.bestBurst(atoms: dictionary.coarseIndices, within: 8) { _ in start }))
      }
    }
    return (merged(bursts).map { $0.moved(by: start) }, field.unpaddedSamples)
  }

  /// Without those that are masked or felt as one with another.
  private func merged(_ bursts: [FoundBurst]) -> [FoundBurst] {
    let bursts = bursts.sorted { $0.start < $1.start }
    var kept: [FoundBurst] = []
    for (index, burst) in bursts.enumerated() {
      func isNear(_ other: FoundBurst) -> Bool {
        abs(Double(other.start - burst.start)) < 0.05 * dictionary.rate
      }
      let before = bursts[..<index].reversed().prefix(while: isNear)
      let behind = bursts[index...].prefix(while: isNear)
      let strongest = (Array(before) + Array(behind)).reduce(0) { max($0, $1.energy) }
      guard burst.energy > Self.minimumNeighborRatio * strongest else { continue }
      if let last = kept.last,
        burst.onset(in: dictionary) - last.onset(in: dictionary) < Self.fusionInterval
          * dictionary.rate
      {
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
