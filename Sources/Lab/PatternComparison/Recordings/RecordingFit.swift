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

  var timeScale: Double { isResampled ? 1 + tempo : 1 }

  func recordingTime(at time: Double) -> Double { delay + (1 + tempo) * time }
}

/// A segment of a recording as the sum of a reference's sounds, hum, an offset and noise.
struct RecordingFit {
  var reference: RecordingReference
  var recording: [Float]
  var placement: Placement
  var maximumTempo: Double
  var whitener: [Float] = [1]
  private(set) var humFrequencies: [Double] = []
  var excludedRanges: [Range<Int>] = [] {
    didSet {
      if excludedRanges != oldValue {
        setHum(frequencies: humFrequencies)
      }
    }
  }
  /// Stems that changed: where two others are heard, they do not hold the place.
  var alignmentExclusions: Set<Int> = []
  private(set) var tempoError = Double.infinity
  private var nuisanceColumns: [DesignColumn] = []
  private var nuisanceProducts: [[Double]] = []

  private var rate: Double { reference.rate }

  var isLimitedToClockDeviation: Bool { maximumTempo <= Self.maximumClockDeviation }

  /// The share of the strongest event's energy from which an event says something of the gain.
  private static let minimumEnergyRatio = 1e-5
  private static let whitenerLength = 33
  /// The share of tempo up to which clocks differ.
  static let maximumClockDeviation = 0.002

  init(_ reference: RecordingReference, recording take: [Float], placement place: Placement) {
    self.reference = reference
    self.recording = take
    self.placement = place
    // Another tempo than that of clocks is not found by the way: short sounds would take it for
    // theirs.
    maximumTempo =
      abs(place.tempo) > Self.maximumClockDeviation ? 0.034 : Self.maximumClockDeviation
    setHum(frequencies: [])
  }

  struct Solution {
    var gains: [Double]
    /// Their standard errors where the noise is 1.
    var standardErrors: [Double]
    /// The take through the whitener, less what the gains explain.
    var residual: [Float]
    var columns: [DesignColumn]
    /// The take through the whitener, less hum and offset.
    var humFreeRecording: [Float]
    var energy: Double

    var sigma: Double { RecordingFit.noiseSigma(of: residual) }
    var gain: Double {
      RecordingFit.commonGain(gains, standardErrors: standardErrors, sigma: sigma)
    }
    var residualRatio: Double { Samples.energy(residual) / max(energy, 1e-30) }
  }

  /// Makes steady tones part of the fit: each with a sine, a cosine, and both over a slope.
  mutating func setHum(frequencies lines: [Double]) {
    self.humFrequencies = lines
    let count = recording.count
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
    nuisanceColumns = columns.map {
      var column = DesignColumn(start: first, samples: Array($0[first...]))
      column.silence(excludedRanges)
      return column
    }
    nuisanceProducts = nuisanceColumns.indices.map { i in
      (0...i).map { nuisanceColumns[i].dot(nuisanceColumns[$0]) }
    }
  }

  func column(at index: Int) -> DesignColumn { column(of: reference.waveforms[index]) }

  func column(of stem: EventWaveform) -> DesignColumn {
    stem.column(
      onset: placement.recordingTime(at: stem.time), timeScale: placement.timeScale,
      count: recording.count)
  }

  /// For each sample of the take, whether the reference is silent there: 50 dB below its peak.
  func silenceMask() -> [Bool] {
    var isQuiet = [Bool](repeating: true, count: recording.count)
    let limit = Float(0.003 * reference.peak)
    let margin = Int(0.01 * rate)
    for index in reference.waveforms.indices {
      let column = column(at: index)
      var last = -margin
      for (offset, sample) in column.samples.enumerated() where abs(sample) > limit {
        let place = column.start + offset
        for near in max(0, last + margin, place - margin)..<min(recording.count, place + margin) {
          isQuiet[near] = false
        }
        last = place
      }
    }
    return isQuiet
  }

  private func groupColumns() -> [DesignColumn] {
    reference.indistinguishableWaveforms.map { group in
      let columns = group.map { column(at: $0) }.filter { !$0.samples.isEmpty }
      guard columns.count > 1 else { return columns.first ?? DesignColumn(start: 0, samples: []) }
      let start = columns.map(\.start).min() ?? 0
      let end = columns.map(\.range.upperBound).max() ?? 0
      var samples = [Float](repeating: 0, count: end - start)
      for column in columns {
        column.add(to: &samples, from: start, times: 1)
      }
      return DesignColumn(start: start, samples: samples)
    }
  }

  func solve(isWhitened: Bool = true) -> Solution {
    let taps = isWhitened ? whitener : [1]
    var y = Samples.filtered(recording, by: taps)
    Samples.silence(&y, in: 0..<Self.whitenerLength)
    for range in excludedRanges {
      Samples.silence(&y, in: range)
    }
    let columns = groupColumns().map { column in
      var column = column.whitened(by: taps, count: recording.count)
      column.silence(excludedRanges)
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
    for (index, nuisance) in nuisanceColumns.enumerated() {
      matrix.append(columns.map { nuisance.dot($0) } + nuisanceProducts[index], from: 0)
      right.append(nuisance.dot(y))
    }
    matrix.factorize()
    let gains = matrix.solution(of: right)
    let energy = Samples.energy(y)
    let energies = columns.map { Samples.energy($0.samples) }
    let least = Self.minimumEnergyRatio * (energies.max() ?? 0)
    for (column, gain) in zip(nuisanceColumns, gains[columns.count...]) {
      column.add(to: &y, times: -gain)
    }
    var residual = y
    for (column, gain) in zip(columns, gains) {
      column.add(to: &residual, times: -gain)
    }
    return Solution(
      gains: Array(gains[..<columns.count]),
      standardErrors: columns.indices.map {
        energies[$0] > least ? matrix.inverseDiagonalRoot(at: $0) : .infinity
      },
      residual: residual, columns: columns, humFreeRecording: y, energy: energy)
  }

  /// The gain that most of the reference has: that of the largest set of gains which agree.
  private static func commonGain(_ gains: [Double], standardErrors errors: [Double], sigma: Double)
    -> Double
  {
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
        let clarity = gain / max(1e-30, 2 * RecordingThreshold.zScore * sigma * errors[index])
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
  static func noiseSigma(of residual: [Float]) -> Double {
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
      var fitted = [Float](repeating: 0, count: recording.count)
      for (column, own) in zip(solution.columns, solution.gains) {
        column.add(to: &fitted, times: min(max(own, 0.3 * gain), 3 * gain))
      }
      updatePlacement(from: blockShifts(of: fitted, solution, sigma: solution.sigma))
    }
  }

  private struct BlockShift {
    var time: Double
    var seconds: Double
    var weight: Double
    /// The event that is most of the block, and then its share of the blocks of that event.
    var columnIndex: Int
    var eventWeight = 1.0
  }

  private func blockShifts(of x: [Float], _ solution: Solution, sigma: Double) -> [BlockShift] {
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
    var shifts: [BlockShift] = []
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
        BlockShift(
          time: (Double(start) + Double(length) / 2) / rate - placement.delay,
          seconds: -Double(rd - share * rx) / weight,
          weight: weight, columnIndex: loudest[start / length].column))
    }
    let least = 1e-4 * (shifts.map(\.weight).max() ?? 0)
    shifts.removeAll { $0.weight <= least }
    if !alignmentExclusions.isEmpty {
      let holding = shifts.filter { shift in
        shift.columnIndex >= 0
          && !reference.indistinguishableWaveforms[shift.columnIndex].contains {
            alignmentExclusions.contains($0)
          }
      }
      if Set(holding.map(\.columnIndex)).count > 1 {
        shifts = holding
      }
    }
    // Ten microseconds are as much as the model is good for.
    for index in shifts.indices {
      shifts[index].weight = min(shifts[index].weight / (sigma * sigma), 1e10)
    }
    let limit = 9 * Samples.median(shifts.map(\.weight))
    let counts = shifts.reduce(into: [:]) { $0[$1.columnIndex, default: 0.0] += 1 }
    for index in shifts.indices {
      shifts[index].weight = min(shifts[index].weight, limit)
      shifts[index].eventWeight = 1 / (counts[shifts[index].columnIndex] ?? 1)
    }
    return shifts
  }

  private mutating func updatePlacement(from shifts: [BlockShift]) {
    // A long event is one voice of many, as a short one.
    let shares = shifts.map(\.eventWeight)
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
    let doubt = excess / (Self.maximumClockDeviation * Self.maximumClockDeviation)
    slope = (slope * spread - doubt * placement.tempo) / max(1e-30, spread + doubt)
    if tempoError > 0.01 {
      slope = -placement.tempo
    }
    slope = min(max(slope, -0.01), 0.01)
    middle = min(max(middle, -0.003), 0.003)
    let tempo = min(max(placement.tempo + slope, -maximumTempo), maximumTempo)
    placement.delay += middle - (tempo - placement.tempo) * center
    placement.tempo = tempo
  }
}

struct RecordingSearch {
  let reference: RecordingReference
  let recording: [Float]

  /// Seconds of the recording before and behind the reference that are part of the fit.
  private static let margin = 0.7
  /// Candidates that have less than this share of the best sum in common with the recording are not
  /// fitted.
  private static let minimumScoreRatio = 0.7
  private static let minimumShortScoreRatio = 0.1
  private static let maximumPlacementCount = 5
  /// A fit that leaves no more than this many times the noise is not replaced by another place.
  private static let noiseOnlyExcess = 1.15
  /// How much likelier, in twice the natural logarithm, a later candidate must be.
  private static let minimumDeviance = 30.0
  /// Where a fit leaves more than this share, another tempo may be why.
  private static let minimumTempoResidual = 0.02

  struct FittedPlacement {
    var fit: RecordingFit
    var firstSample: Int
    /// 1 or −1.
    var polarity: Double
    /// 50 or 60 where the fit's lines are multiples of it.
    var mainsFrequency: Double?
    /// The share of the segment's whitened energy that the fit leaves.
    var residualRatio: Double
    var noiseExcess = Double.infinity
    /// Whether the whole is another tempo with its pitch kept; the fit's reference is stretched by
    /// it.
    var stretchFactor = 1.0
    var isEnvelopeBased = false

    /// Seconds of the recording at which the fitted segment starts, and the reference.
    var startTime: Double { Double(firstSample) / fit.reference.rate }
    var delay: Double { fit.placement.delay + startTime }
  }

  /// The likeliest places, the best first; none where nothing fits at all.
  ///
  /// A later candidate is better only where it is much likelier; others leave not much more than
  /// it.
  func placements(in alignment: RecordingAlignment) -> [FittedPlacement] {
    guard let greatest = alignment.candidates.map(\.score).max() else { return [] }
    // Of one or two events, others may be like them and stronger.
    let isShort = reference.waveforms.count <= 3
    let least = isShort ? Self.minimumShortScoreRatio : Self.minimumScoreRatio
    let greatestLeft = isShort ? 30.0 : 3
    var found: [FittedPlacement] = []
    var best: Int?
    var seen: Set<[Int]> = []
    func attempt(_ candidate: RecordingAlignment.Candidate) {
      let key = [
        Int((candidate.delay * 500).rounded()), Int((candidate.tempo * 1_000).rounded()),
        Int(candidate.polarity),
      ]
      guard seen.insert(key).inserted, let next = fittedPlacement(for: candidate) else { return }
      found.append(next)
      let isBest = best.map {
        (found[$0].residualRatio - next.residualRatio) * Double(next.fit.recording.count) > Self
          .minimumDeviance * next.residualRatio
      }
      if isBest ?? true {
        best = found.count - 1
      }
    }
    for candidate in alignment.candidates
    where candidate.score >= least * greatest || candidate.isEnvelopeBased {
      attempt(candidate)
      if let best, found[best].noiseExcess < Self.noiseOnlyExcess { break }
    }
    if best.map({ found[$0].residualRatio }) ?? 1 > Self.minimumTempoResidual {
      for candidate in alignment.tempoCandidates() {
        attempt(candidate)
      }
    }
    guard let best else { return [] }
    var places = [found[best]]
    for other in found.sorted(by: { $0.residualRatio < $1.residualRatio })
    where places.count < Self.maximumPlacementCount
      && other.residualRatio < (other.fit.isLimitedToClockDeviation ? 30 : greatestLeft)
        * found[best].residualRatio
      && places.allSatisfy({ Self.areApart($0, other) })
    {
      places.append(other)
    }
    let edges = found.filter { other in
      other.isEnvelopeBased && places.allSatisfy { Self.areApart($0, other) }
    }
    return places + (edges.min { $0.residualRatio < $1.residualRatio }.map { [$0] } ?? [])
  }

  /// Whether two places are not a period or two of one sound apart.
  private static func areApart(_ one: FittedPlacement, _ other: FittedPlacement) -> Bool {
    let tempo = abs(one.fit.placement.tempo - other.fit.placement.tempo)
    return abs(one.delay - other.delay) > 0.015 || tempo * one.fit.reference.duration > 0.005
  }

  func fittedPlacement(for candidate: RecordingAlignment.Candidate) -> FittedPlacement? {
    let rate = reference.rate
    let first = max(0, Int((candidate.delay - Self.margin) * rate))
    let length = reference.duration * (1 + candidate.tempo)
    let last = min(recording.count, Int((candidate.delay + length + Self.margin) * rate))
    guard last - first >= Int(0.1 * rate) else { return nil }
    // What a recording ends before is missing from it.
    let end = max(last, Int((candidate.delay + length + 0.1) * rate))
    let take =
      recording[first..<last].map { $0 * Float(candidate.polarity) }
      + [Float](repeating: 0, count: end - last)
    var fit = RecordingFit(
      reference, recording: take,
      placement: Placement(delay: candidate.delay - Double(first) / rate, tempo: candidate.tempo))
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
    return FittedPlacement(
      fit: fit, firstSample: first, polarity: candidate.polarity,
      residualRatio: solution.residualRatio,
      noiseExcess: Samples.energy(solution.residual) / noiseEnergy,
      isEnvelopeBased: candidate.isEnvelopeBased)
  }

  /// The noise outside of a range of seconds, or what goes on all the time where that is too short.
  private func quietNoise(from start: Double, to end: Double) -> NoiseSpectralDensity {
    let rate = reference.rate
    let before = max(0, min(recording.count, Int((start - 0.05) * rate)))
    let behind = max(0, min(recording.count, Int((end + 0.05) * rate)))
    let quiet = Array(recording[..<before]) + Array(recording[max(before, behind)...])
    return quiet.count > Int(0.25 * rate)
      ? NoiseSpectralDensity(of: quiet) : NoiseSpectralDensity(of: recording, quantile: 0.1)
  }
}

extension RecordingSearch.FittedPlacement {
  /// The model of an event is no better than this share of the peak.
  private static let modelError = 5e-4
  /// The share of tempo from which it matters whether the pitch goes along.
  private static let minimumStretch = 0.002

  /// The place, and before it the same without another tempo where the reference is too short to
  /// show one.
  ///
  /// Else a changed event would make one.
  var tempoAlternatives: [Self] {
    let reference = fit.reference
    guard !fit.isLimitedToClockDeviation || reference.isShort else { return [self] }
    var fixed = self
    // The middle stays where it is.
    fixed.fit.placement.delay += fit.placement.tempo * reference.duration / 2
    fixed.fit.placement.tempo = 0
    fixed.fit.maximumTempo = reference.isShort ? 0 : RecordingFit.maximumClockDeviation
    return [fixed, self]
  }

  /// The same at another tempo, its pitch kept, where that is likelier.
  func stretchedAlternative() -> Self? {
    guard abs(fit.placement.tempo) > Self.minimumStretch else { return nil }
    let factor = 1 + fit.placement.tempo
    guard let take = fit.reference.renderer?.stretched(by: factor).renderedTake(),
      let reference = RecordingReference(take)
    else { return nil }
    var other = self
    other.fit = RecordingFit(
      reference, recording: fit.recording,
      placement: Placement(delay: fit.placement.delay, tempo: 0, isResampled: false))
    other.fit.setHum(frequencies: fit.humFrequencies)
    other.fit.whitener = fit.whitener
    other.fit.refine()
    guard other.fit.solve().residualRatio < residualRatio else { return nil }
    other.stretchFactor = factor
    return other.withEstimatedNoise()
  }

  /// Learns noise and hum from what the fit leaves, and refines the fit by them.
  func withEstimatedNoise() -> Self {
    var found = self
    for turn in 0..<3 {
      if turn < 2 {
        found.fit.setHum(frequencies: [])
        let residual = found.fit.solve(isWhitened: false).residual
        let tones = HumDetector.find(in: residual, rate: fit.reference.rate)
        found.mainsFrequency = tones.mains
        found.fit.setHum(
          frequencies: tones.lines.filter { found.isSteadyTone(at: $0, in: residual) })
        if found.fit.humFrequencies.isEmpty {
          found.mainsFrequency = nil
        }
      }
      let solution = found.fit.solve(isWhitened: false)
      var noise = NoiseSpectralDensity(of: solution.residual)
      let error = Self.modelError * solution.gain * fit.reference.peak
      for bin in noise.powers.indices {
        noise.powers[bin] += error * error + 1e-16
      }
      found.fit.whitener = noise.whitener()
      found.fit.refine()
    }
    found.residualRatio = found.fit.solve().residualRatio
    return found
  }

  /// Whether a line is as strong where the reference is silent: what belongs to an event is not.
  private func isSteadyTone(at hertz: Double, in residual: [Float]) -> Bool {
    let rate = fit.reference.rate
    let isQuiet = fit.silenceMask()
    let quiet = HumDetector.power(at: hertz, in: residual, rate: rate) { isQuiet[$0] }
    let loud = HumDetector.power(at: hertz, in: residual, rate: rate) { !isQuiet[$0] }
    // Where nothing but the pattern was recorded, only the mains are known to hum under it.
    return quiet.count > Int(0.1 * rate) ? quiet.power > loud.power / 9 : mainsFrequency != nil
  }
}
