internal import CMath
import SignalAnalysis

struct RecordingAlignment {
  struct Candidate {
    var delay: Double
    var tempo: Double
    var polarity: Double
    var score: Double
    /// Whether it is known by rises and falls alone: a hum of another frequency has nothing else in
    /// common.
    var isEnvelopeBased = false
  }

  /// The places, the simplest explanation first.
  private(set) var candidates: [Candidate] = []

  /// Seconds before the take's start that a reference's start is looked for.
  static let minimumDelay = -1.0
  /// The greatest share of tempo that is searched.
  static let maximumTempo = 0.032
  /// Hertz that count, and seconds of a part of the reference.
  private static let band = 20.0...800.0
  private static let blockDuration = 0.1
  private static let maximumBlockCount = 64
  /// Lags that are searched together: 8 ms at 2 kHz.
  private static let poolSize = 16

  /// Frames per second, half those of the take.
  let rate: Double
  private let firstLag: Int
  private let lagCount: Int
  private(set) var weightedReference: [Float] = []
  private(set) var weightedRecording: [Float] = []
  private let noise: NoiseSpectralDensity
  private let inputRate: Double
  /// For each part: its middle in seconds, and its complex correlation at each lag.
  private var blockTimes: [Double] = []
  private var realCorrelations: [[Float]] = []
  private var imaginaryCorrelations: [[Float]] = []
  private var blockEnergies: [Double] = []

  /// - Parameter search: Seconds from the take's start to where the reference starts at most.
  init(_ reference: RecordingReference, _ take: [Float], search: Double) {
    rate = reference.rate / 2
    let duration = Double(take.count) / reference.rate
    firstLag = Int(Self.minimumDelay * rate)
    let high = Int(min(search, duration) * rate) + Self.poolSize
    lagCount = (high - firstLag) / Self.poolSize * Self.poolSize
    var noise = NoiseSpectralDensity(of: take, quantile: 0.1)
    let greatest = NoiseSpectralDensity(of: take, quantile: nil).powers.max() ?? 0
    for bin in noise.powers.indices {
      noise.powers[bin] = max(noise.powers[bin], 1e-3 * greatest) + 1e-16
    }
    self.noise = noise
    inputRate = reference.rate
    let length =
      FourierTransform.fastLength(atLeast: max(take.count, reference.mixedSignal.count) / 4 + 1_024)
      * 4
    let all = Self.noiseWeighted(take, by: noise, rate: reference.rate, length: length)
    weightedReference = Array(
      Self.noiseWeighted(reference.mixedSignal, by: noise, rate: reference.rate, length: length)
        .prefix(
          reference.mixedSignal.count / 2 + 100))
    weightedRecording = Array(all.prefix(take.count / 2))
    correlateBlocks(of: weightedReference, with: all)
    guard !blockTimes.isEmpty else { return }
    findCandidates()
  }

  func noiseWeighted(_ samples: [Float]) -> [Float] {
    let length = FourierTransform.fastLength(atLeast: samples.count / 4 + 100) * 4
    return Array(
      Self.noiseWeighted(samples, by: noise, rate: inputRate, length: length).prefix(
        samples.count / 2 + 100))
  }

  /// Samples at half the rate, weighted by the inverse of the noise's amplitude.
  private static func noiseWeighted(
    _ samples: [Float], by noise: NoiseSpectralDensity, rate: Double, length: Int
  ) -> [Float] {
    var transform = FourierTransform(length: length)
    var half = FourierTransform(length: length / 2)
    var bins = Array(transform.forward(samples)[0..<half.binCount])
    for bin in bins.indices {
      let hertz = Double(bin) * rate / Double(length)
      let weight =
        band.contains(hertz)
        ? Float(
          0.5 / noise.power(atNormalizedFrequency: 2 * Double(bin) / Double(length)).squareRoot())
        : 0
      bins[bin].real *= weight
      bins[bin].imaginary *= weight
    }
    return half.backward(bins)
  }

  private mutating func correlateBlocks(of x: [Float], with y: [Float]) {
    let size = Int(Self.blockDuration * rate)
    var parts = stride(from: 0, to: x.count, by: size).map { start in
      (start: start, energy: Samples.energy(x, start..<min(x.count, start + size)))
    }
    let strongest = parts.map(\.energy).max() ?? 0
    parts = parts.filter { $0.energy > 1e-3 * strongest && $0.energy > 0 }
    parts = parts.sorted { $0.energy > $1.energy }.prefix(Self.maximumBlockCount).sorted {
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
      let first = start + firstLag
      for index in part.indices {
        let place = first + index
        part[index] = place >= 0 && place < y.count ? y[place] : 0
      }
      var bins = transform.forward(part)
      for bin in bins.indices {
        bins[bin] = bins[bin] * own[bin].conjugate
      }
      realCorrelations.append(Array(transform.backward(bins).prefix(lagCount)))
      for bin in bins.indices {
        bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real)
      }
      imaginaryCorrelations.append(Array(transform.backward(bins).prefix(lagCount)))
      blockEnergies.append(energy)
      blockTimes.append(Double(start) / rate + Self.blockDuration / 2)
    }
  }

  /// The squares of the correlations, the greatest of each 8 ms and the next.
  private func pooledPowers() -> [[Float]] {
    realCorrelations.indices.map { part in
      let scale = Float(1 / blockEnergies[part])
      var pooled = [Float](repeating: 0, count: lagCount / Self.poolSize)
      unsafe realCorrelations[part].withUnsafeBufferPointer { re in
        unsafe imaginaryCorrelations[part].withUnsafeBufferPointer { im in
          for index in pooled.indices {
            var greatest = Float(0)
            for lag in index * Self.poolSize..<(index + 1) * Self.poolSize {
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
    let span = (blockTimes.last ?? 0) - blockTimes[0]
    let maps = pooledPowers()
    // A step of tempo moves the ends by 8 ms against each other.
    let steps =
      span < 0.1 ? 0 : min(400, Int((Self.maximumTempo / max(2e-4, 0.008 / span)).rounded(.up)))
    var plain: [Int] = []
    var best = (value: Float(-1), index: 0, tempo: 0.0)
    for step in (-steps...steps).sorted(by: { abs($0) < abs($1) }) {
      let tempo = steps == 0 ? 0 : Double(step) * Self.maximumTempo / Double(steps)
      var sums = [Float](repeating: 0, count: maps[0].count)
      for (map, time) in zip(maps, blockTimes) {
        let moved = Int((tempo * (time - blockTimes[0]) * rate / Double(Self.poolSize)).rounded())
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
        plain = Self.peaks(in: [sums], count: blockTimes.count < 8 ? 3 : 1, spacing: 3).map(\.index)
      }
      if sums[index] > best.value * 1.01 {
        best = (sums[index], index, tempo)
      }
    }
    let near = span > 2 ? (-2...2).map { Double($0) * 1.5e-4 } : [0]
    func lag(_ index: Int) -> Double {
      (Double(index * Self.poolSize) + Double(Self.poolSize) / 2) / rate
    }
    for peak in plain {
      addCandidates(near: lag(peak), tempos: near, reach: 0.014)
    }
    if span >= 0.1 {
      let step = 0.008 / span
      let tempos = (-16...16).map { best.tempo + Double($0) * step / 8 }.filter {
        abs($0) <= Self.maximumTempo
      }
      addCandidates(near: lag(best.index), tempos: tempos, reach: 0.014)
    }
    for edge in envelopeLags() {
      addCandidates(near: edge, tempos: near, reach: 0.006, isEnvelopeBased: true)
    }
  }

  /// The greatest values whose columns are not beside each other: a hum fits a period later as
  /// well.
  private static func peaks<Value: BinaryFloatingPoint>(
    in rows: [[Value]], count: Int, spacing apart: Int
  )
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
  private mutating func addCandidates(
    near lag: Double, tempos: [Double], reach: Double, isEnvelopeBased isEdge: Bool = false
  ) {
    let step = 0.000_25
    let count = Int(reach / step)
    var sums: [[Double]] = []
    for tempo in tempos {
      var row = [Double](repeating: 0, count: 2 * count + 1)
      for (part, time) in zip(realCorrelations, blockTimes) {
        for index in row.indices {
          let place = (lag + Double(index - count) * step + tempo * (time - blockTimes[0])) * rate
          let lower = min(max(0, Int(place.rounded(.down))), part.count - 2)
          let share = Float(min(1, max(0, place - Double(lower))))
          row[index] += Double(part[lower] * (1 - share) + part[lower + 1] * share)
        }
      }
      sums.append(row)
    }
    for sign in [1.0, -1] {
      candidates += Self.peaks(in: sums.map { $0.map { $0 * sign } }, count: 3, spacing: 12).map {
        row, index, value in
        Candidate(
          delay: lag + Double(index - count) * step + Double(firstLag) / rate - tempos[row]
            * blockTimes[0],
          tempo: tempos[row],
          polarity: sign, score: value, isEnvelopeBased: isEdge)
      }
    }
  }

  /// The two lags at which the rises and falls fit best: a steady hum fits everywhere along itself.
  private func envelopeLags() -> [Double] {
    let rises = EnvelopeCorrelation(self)
    guard !rises.isEmpty else { return [] }
    return Self.peaks(in: [rises.correlations(tempo: 0)], count: 2, spacing: 4).map {
      rises.delay(at: $0.index) - Double(firstLag) / rate
    }
  }

  var delayRange: ClosedRange<Double> {
    Double(firstLag) / rate...Double(firstLag + lagCount) / rate
  }
}

/// How the levels of a reference and of a take rise and fall, whatever the phase of what sounds.
struct EnvelopeCorrelation {
  /// Frames of one value: 5 ms.
  private static let hopLength = 10
  /// Values of silence before the reference.
  private static let leadCount = 20

  private let referenceChanges: [Float]
  private let recordingChanges: [Float]
  private let maximumLag: Int
  private let delayRange: ClosedRange<Double>
  private let hopDuration: Double

  init(_ alignment: RecordingAlignment) {
    let silence = [Float](repeating: 0, count: Self.hopLength * Self.leadCount)
    referenceChanges = Self.levelChanges(
      of: silence + alignment.weightedReference + silence, floorRatio: 0)
    recordingChanges = Self.levelChanges(of: alignment.weightedRecording, floorRatio: 3)
    hopDuration = Double(Self.hopLength) / alignment.rate
    delayRange = alignment.delayRange
    maximumLag = Int((delayRange.upperBound - delayRange.lowerBound) / hopDuration) + 60
  }

  var isEmpty: Bool { referenceChanges.isEmpty || recordingChanges.isEmpty }

  func delay(at index: Int) -> Double { Double(index - maximumLag + Self.leadCount) * hopDuration }

  /// How well both fit for each delay, the reference slower by a share.
  func correlations(tempo: Double) -> [Float] {
    var reference = referenceChanges
    if tempo != 0 {
      let count =
        Int((Double(referenceChanges.count - Self.leadCount) * (1 + tempo)).rounded(.up))
        + Self.leadCount
      reference = (0..<count).map { index in
        let place = Double(index - Self.leadCount) / (1 + tempo) + Double(Self.leadCount)
        let lower = Int(place.rounded(.down))
        guard lower >= 0, lower + 1 < referenceChanges.count else { return 0 }
        let share = Float(place - Double(lower))
        return referenceChanges[lower] * (1 - share) + referenceChanges[lower + 1] * share
      }
    }
    var products = CrossCorrelation.of(reference, recordingChanges, maximumLag: maximumLag)
    for index in products.indices
    where delay(at: index) < delayRange.lowerBound + 0.02
      || delay(at: index) > delayRange.upperBound - 0.02
    {
      products[index] = 0
    }
    return products
  }

  /// How much the logarithm of the power of 20 ms grows in 20 ms.
  private static func levelChanges(of samples: [Float], floorRatio share: Double) -> [Float] {
    var powers: [Double] = []
    for center in stride(from: 0, to: samples.count, by: hopLength) {
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
  private static let coarseStep = 0.008
  private static let fineStep = 0.001
  private static let maximumLagOffset = 16

  /// The parts of a hum that is slower are not like those of the reference: only its rises and
  /// falls show where and how fast it is. There, the whole at that speed is held against the take.
  func tempoCandidates() -> [Candidate] {
    let span = Double(weightedReference.count) / rate
    let rises = EnvelopeCorrelation(self)
    guard span > 0.2, !rises.isEmpty else { return [] }
    let step = min(0.008, Self.coarseStep / span)
    let steps = Int((Self.maximumTempo / step).rounded(.up))
    var peaks: [(value: Float, delay: Double, tempo: Double)] = []
    for number in -steps...steps {
      let tempo = Double(number) * Self.maximumTempo / Double(steps)
      let products = rises.correlations(tempo: tempo)
      guard let best = products.indices.max(by: { products[$0] < products[$1] }) else { continue }
      peaks.append((products[best], rises.delay(at: best), tempo))
    }
    peaks.sort { $0.value > $1.value }
    var chosen: [(value: Float, delay: Double, tempo: Double)] = []
    // What is next to a peak is the same peak.
    for peak in peaks
    where chosen.count < 2 && chosen.allSatisfy({ abs($0.tempo - peak.tempo) > 2.5 * step }) {
      chosen.append(peak)
    }
    return chosen.flatMap {
      refinedCandidates(near: $0.delay, tempo: $0.tempo, step: Self.fineStep / span)
    }.filter {
      abs($0.tempo) > RecordingFit.maximumClockDeviation
    }
  }

  private func refinedCandidates(near delay: Double, tempo: Double, step: Double) -> [Candidate] {
    var energy = 1e-30
    var sum = 0.0
    for (index, sample) in weightedReference.enumerated() {
      let power = Double(sample * sample)
      energy += power
      sum += power * Double(index)
    }
    // Another tempo turns the reference about the middle of what sounds.
    let middle = sum / energy / rate
    let event = ActiveRegion.event(start: 0, duration: Double(weightedReference.count) / rate)
    let stem = EventWaveform(
      event, time: 0, sampleOffset: 0, samples: weightedReference, rate: rate)
    let tempos = (-12...12).map { tempo + Double($0) * step }.filter {
      abs($0) <= Self.maximumTempo + 0.001
    }
    let rows = tempos.map { own in
      let start = delay + (tempo - own) * middle
      let column = stem.column(onset: start, timeScale: 1 + own, count: weightedRecording.count)
      return (-Self.maximumLagOffset...Self.maximumLagOffset).map { lag in
        DesignColumn(start: max(0, column.start + lag), samples: column.samples).dot(
          weightedRecording)
      }
    }
    return [1.0, -1].flatMap { sign in
      Self.peaks(in: rows.map { $0.map { $0 * sign } }, count: 3, spacing: 3).map {
        row, index, value in
        Candidate(
          delay: delay + (tempo - tempos[row]) * middle + Double(index - Self.maximumLagOffset)
            / rate,
          tempo: tempos[row],
          polarity: sign, score: value)
      }
    }
  }
}

/// Looks for a reference of which one event that is much of it has changed, everywhere in a take.
///
/// Nothing else may hold the place of such a recording: at its true place too little fits. So the
/// whole with the changed event is held against the take at each delay, at one gain.
struct ChangedEventSearch: ~Copyable {
  struct Hypothesis {
    var waveformIndex: Int
    var waveform: EventWaveform
    /// What changed: the event's frequency, by a ratio, or else its time; 1 of an event that is
    /// missing.
    var frequencyRatio: Double?
    /// Where the reference starts; its sum is the share of the take's weighted energy that is
    /// explained.
    var candidate: RecordingAlignment.Candidate
  }

  /// Seconds from one rendering of an event that moves under controls to the next.
  private static let renderingStep = 0.005
  private static let maximumRatioCount = 48
  /// As a logarithm.
  private static let maximumLogRatio = 0.56
  /// Seconds within which delays are one place.
  private static let delayTolerance = 0.004
  private static let maximumCount = 3

  private let reference: RecordingReference
  private let alignment: RecordingAlignment
  private var transform: FourierTransform
  private let recordingSpectrum: [ComplexNumber]

  init(_ reference: RecordingReference, _ alignment: RecordingAlignment) {
    self.reference = reference
    self.alignment = alignment
    let longest = reference.mixedSignal.count / 2 + Int(alignment.rate)
    transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: alignment.weightedRecording.count + longest + 64)
    )
    recordingSpectrum = transform.forward(alignment.weightedRecording)
  }

  /// The likeliest, each of another event, place or kind, and the likeliest of an event that is not
  /// there.
  mutating func bestHypotheses() -> [Hypothesis] {
    let stems = reference.waveforms
    let least = (stems.count <= 3 ? 0.1 : 0.25) * stems.reduce(0) { $0 + $1.energy }
    let strongest = stems.indices.sorted { stems[$0].energy > stems[$1].energy }.prefix(3)
    var found: [Hypothesis] = []
    for index in strongest where stems[index].energy > least {
      found += hypotheses(forWaveformAt: index)
    }
    found.sort { $0.candidate.score > $1.candidate.score }
    var chosen: [Hypothesis] = []
    for next in found where next.frequencyRatio != 1 && chosen.count < Self.maximumCount {
      let isNew = chosen.allSatisfy {
        $0.waveformIndex != next.waveformIndex
          || ($0.frequencyRatio == nil) != (next.frequencyRatio == nil)
          || abs($0.candidate.delay - next.candidate.delay) > Self.delayTolerance
      }
      if isNew {
        chosen.append(next)
      }
    }
    return chosen + found.filter { $0.frequencyRatio == 1 }.prefix(1)
  }

  private mutating func hypotheses(forWaveformAt index: Int) -> [Hypothesis] {
    let stem = reference.waveforms[index]
    var rest = reference.mixedSignal
    stem.column(onset: stem.time, timeScale: 1, count: rest.count).add(to: &rest, times: -1)
    let others = alignment.noiseWeighted(rest)
    let products = transform.correlation(recordingSpectrum, others)
    let variants = EventVariants(reference: reference)
    var changed: [(stem: EventWaveform?, ratio: Double?)] = [(stem.scaled(by: 1e-4), 1)]
    let seconds = Double(stem.samples.count) / reference.rate
    // A third of a turn more or less over its length.
    let step = max(
      2 * Self.maximumLogRatio / Double(Self.maximumRatioCount),
      min(0.06, 0.6 / (max(40, stem.meanFrequency) * seconds))
    )
    let steps = Int(Self.maximumLogRatio / step)
    for number in -steps...steps where number != 0 {
      let ratio = exp(Double(number) * step)
      changed.append((variants.retuned(index, by: ratio)?.stem, ratio))
    }
    // An event alone comes when the whole does.
    let reach = RecordingModelFit.maximumTimeShift
    let hasControls = reference.renderer?.hasControls == true
    if reference.waveforms.count > 1 {
      let shifts =
        hasControls ? Array(stride(from: -reach, through: reach, by: Self.renderingStep)) : [0]
      changed += shifts.map { (variants.shifted(index, by: $0), nil) }
    }
    let lags = Int((hasControls ? Self.renderingStep / 2 : reach) * alignment.rate)
    var found: [Hypothesis] = []
    for (stem, ratio) in changed {
      guard let stem else { continue }
      found += bestHypotheses(
        index: index, waveform: stem, frequencyRatio: ratio, maximumShift: ratio == nil ? lags : 0,
        others: others, products: products)
    }
    return found
  }

  /// The best places of the others with an event's changed sound, up to some frames earlier or
  /// later.
  private mutating func bestHypotheses(
    index: Int, waveform stem: EventWaveform, frequencyRatio ratio: Double?,
    maximumShift shifts: Int, others: [Float],
    products: [Float]
  ) -> [Hypothesis] {
    let margin = Int(0.1 * reference.rate)
    var samples = [Float](repeating: 0, count: reference.mixedSignal.count + 2 * margin)
    stem.column(onset: stem.time + 0.1, timeScale: 1, count: samples.count).add(
      to: &samples, times: 1)
    // Moved by 0.1 s, so that it may come before the reference's start.
    let changed = alignment.noiseWeighted(samples)
    let lead = Int(0.1 * alignment.rate)
    let own = transform.correlation(recordingSpectrum, changed)
    let energy = Samples.energy(others) + Samples.energy(changed)
    let low = alignment.delayRange.lowerBound
    let high = alignment.delayRange.upperBound
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
        delay: Double(greatest.delay) / alignment.rate, tempo: 0,
        polarity: greatest.sum < 0 ? -1 : 1,
        score: Double(greatest.sum * greatest.sum) / whole)
      best.append(
        Hypothesis(
          waveformIndex: index, waveform: moved, frequencyRatio: ratio, candidate: candidate))
    }
    return Array(best.sorted { $0.candidate.score > $1.candidate.score }.prefix(2))
  }
}
