internal import CMath
import HapticModel
import SignalAnalysis

struct SignalDifferences {
  private let pair: SignalPair
  private let options: ComparisonOptions
  private(set) var differences: DifferenceList
  private let comparisons: [SoundComparison]
  /// Seconds that the other comes later as a whole, and decibels that it is stronger.
  private(set) var (delaySeconds, levelDecibels): (Double, Double)

  private static let maximumSegmentCount = 3

  init(_ pair: SignalPair, options: ComparisonOptions) {
    self.pair = pair
    self.options = options
    delaySeconds = Double(pair.shiftFrames) / pair.rate
    levelDecibels = 0
    let noise = BackgroundSound.background(of: pair)
    let clipping = ClippedPeaks(pair.reference) == nil ? ClippedPeaks(pair.candidate) : nil
    func regions(_ samples: [Float]) -> [ActiveRegion] {
      ActiveRegion.find(
        in: samples, rate: pair.rate,
        threshold: max(SignalPair.silenceThreshold(of: samples), noise?.magnitudeBound ?? 0)
      )
    }
    let own = regions(pair.reference)
    let others = regions(pair.candidate)
    let start = own.first?.start ?? 0
    differences = DifferenceList(
      candidateNames: EventNames(others.map { $0.event() }, owner: options.candidateLabel),
      referenceNames: EventNames(own.map { $0.event() }, owner: options.referenceLabel),
      overallRange: start...max(start, own.last?.end ?? start))
    func levels(_ regions: [ActiveRegion], _ samples: [Float]) -> [Double] {
      regions.map { Decibels.of(power: SignalPair.power(samples[$0.frames])) }
    }
    let first = levels(own, pair.reference)
    let second = levels(others, pair.candidate)
    let matched = SequenceAlignment.pairs(own.map(\.start), others.map(\.start)) {
      own[$0].pairingCost(with: others[$1], level: first[$0], otherLevel: second[$1])
    }
    comparisons = matched.map { index, otherIndex in
      SoundComparison(
        own[index], others[otherIndex], of: pair, noise: noise?.power ?? 0,
        ceiling: clipping?.ceiling ?? .infinity)
    }
    addWholeSignalDifferences(background: noise, clipping: clipping)
    // One sound is the whole only where there is no other.
    addTimeShifts(
      reportsWhole: comparisons.count > 1
        || comparisons.count == 1 && own.count <= 1 && others.count <= 1)
    addLevelChanges()
    addFrequencyChanges()
    addDurationsAndResiduals()
    addUnpairedRegions(
      .missing, own, paired: Set(matched.map(\.0)), in: pair.reference, opposite: pair.candidate,
      delay: 0)
    addUnpairedRegions(
      .added, others, paired: Set(matched.map(\.1)), in: pair.candidate, opposite: pair.reference,
      delay: shiftSeconds)
  }

  /// Seconds that the other take was shifted by.
  private var shiftSeconds: Double { Double(pair.shiftFrames) / pair.rate }
  /// The sounds of the other take as they are, before it was shifted.
  private func candidateEvents(of measures: [SoundComparison]) -> [IndexedEvent] {
    measures.map { $0.candidateRegion.event(delay: shiftSeconds) }
  }

  private mutating func addWholeSignalDifferences(
    background noise: BackgroundSound?, clipping: ClippedPeaks?
  ) {
    if pair.isInverted {
      differences.addOverall(.polarity)
    }
    if pair.offset != 0 {
      differences.addOverall(
        .offset, amount: Decibels.of(amplitude: abs(pair.offset)), after: pair.offset)
    }
    if let noise {
      differences.addBackground(decibels: noise.decibels, hertz: noise.hertz)
    }
    guard let clipping else { return }
    let level = SentenceFormatting.number(
      Decibels.of(amplitude: Double(clipping.ceiling)), places: 1)
    let range =
      Double(clipping.frames.lowerBound) / pair.rate...Double(clipping.frames.upperBound)
      / pair.rate
    differences.add(
      Difference(
        .clipping, in: range, amount: Double(clipping.sampleCount),
        after: Double(clipping.ceiling)),
      sentence:
        "\(options.candidateLabel) is clipped at \(level) dBFS in \(clipping.runCount) place"
        + "\(clipping.runCount == 1 ? "" : "s"), between \(SentenceFormatting.range(range))")
  }

  /// The value that at least six in ten share within a tolerance, or all where they are two.
  private static func commonValue(of values: [Double], within tolerance: Double) -> Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    var best: ArraySlice<Double> = []
    var end = 0
    for start in sorted.indices {
      while end < sorted.count, sorted[end] - sorted[start] <= tolerance {
        end += 1
      }
      if end - start > best.count {
        best = sorted[start..<end]
      }
    }
    let needed = max(Double(sorted.count) * 0.6, min(2, Double(sorted.count)))
    guard Double(best.count) >= needed else { return nil }
    return best[(best.startIndex + best.endIndex) / 2]
  }

  private mutating func addGrouped(
    _ kind: Difference.Kind, _ values: [(SoundComparison, Double)], within tolerance: Double
  ) {
    for group in values.grouped(by: \.1, within: { _ in tolerance }) {
      let group = group.sorted { $0.0.region.start < $1.0.region.start }
      let measures = group.map(\.0)
      let events = candidateEvents(of: measures)
      let hasTimes = kind == .time && group.count == 1
      differences.add(
        Difference(
          kind, in: measures[0].region.start...measures[measures.count - 1].region.end,
          amount: group[0].1,
          before: hasTimes ? measures[0].region.start : nil,
          after: hasTimes ? events[0].time : nil),
        of: events)
    }
  }

  private mutating func addTimeShifts(reportsWhole isWhole: Bool) {
    let whole =
      isWhole ? Self.commonValue(of: comparisons.map(\.timeShift), within: 0.000_1) ?? 0 : 0
    let shift = options.alignment == .start ? whole : delaySeconds + whole
    delaySeconds += whole
    // Where shapes differ, times are those of the first sound, which the shape moves.
    let isExact = comparisons.count { $0.hasMatchingShape } * 2 > comparisons.count
    if abs(shift) > (isExact ? 0.000_04 : 0.001) {
      differences.addOverall(.time, amount: shift)
    }
    let late = comparisons.map { ($0, $0.timeShift - whole) }.filter {
      abs($0.1) > ($0.0.hasMatchingShape ? SoundComparison.minimumTimeShift : 0.001)
    }
    addGrouped(.time, late, within: 0.000_2)
  }

  private mutating func addLevelChanges() {
    let even = comparisons.filter { $0.levelSegments.isEmpty }
    let shared = Self.commonValue(of: even.map(\.levelChange), within: 0.1) ?? 0
    let isShared = comparisons.allSatisfy {
      $0.levelSegments.isEmpty && abs($0.levelChange - shared) <= 0.1
    }
    // Without a match every level is reported as it is, unless all are the same.
    let whole = options.levelMatch == LevelMatch.none && !isShared ? 0 : shared
    if abs(whole) >= SoundComparison.minimumLevelChange {
      levelDecibels = whole
      differences.addOverall(.level, amount: whole)
    }
    addGrouped(
      .level, even.map { ($0, $0.levelChange - whole) }.filter { abs($0.1) > 0.15 }, within: 0.1)
    for measure in comparisons {
      addLevelSegments(of: measure, overall: whole)
    }
  }

  private mutating func addLevelSegments(of measure: SoundComparison, overall whole: Double) {
    let segments = measure.levelSegments.map { segment in
      let isEven = abs(segment.greatest - segment.usual) < 0.5
      return (
        range: segment.range, amount: (isEven ? segment.usual : segment.greatest) - whole, isEven
      )
    }.filter { abs($0.amount) > LevelDifferenceCurve.minimumDifference }
    let owner = differences.candidateNames.owner
    guard segments.count > Self.maximumSegmentCount else {
      for (range, amount, isEven) in segments {
        let change = (isEven ? "" : "up to ") + Difference.Kind.level.changeText(amount)
        differences.add(
          Difference(.level, in: range, amount: amount),
          sentence: "\(owner) is \(change) between \(SentenceFormatting.range(range))")
      }
      return
    }
    let low = segments.map(\.amount).min() ?? 0
    let high = segments.map(\.amount).max() ?? 0
    let range = segments[0].range.lowerBound...segments[segments.count - 1].range.upperBound
    differences.add(
      Difference(.level, in: range, amount: abs(low) > high ? low : high),
      sentence:
        "\(owner)'s level has a different course between \(SentenceFormatting.range(range)): "
        + SentenceFormatting.spread(from: low, to: high, unit: .decibels))
  }

  private mutating func addFrequencyChanges() {
    // A single sound is reported with its frequencies.
    let whole =
      comparisons.count == 1
      ? 0
      : Self.commonValue(of: comparisons.map { $0.frequencyChange?.percent ?? 0 }, within: 0.6) ?? 0
    if abs(whole) >= SoundComparison.minimumFrequencyPercent {
      differences.addOverall(.frequency, amount: whole)
    }
    for measure in comparisons {
      guard let frequency = measure.frequencyChange, abs(frequency.percent - whole) > 1 else {
        continue
      }
      differences.add(
        Difference(
          .frequency, in: measure.region.range, amount: frequency.percent, before: frequency.before,
          after: frequency.after), of: candidateEvents(of: [measure]),
        detail: ": " + SentenceFormatting.frequencies(frequency.after, insteadOf: frequency.before))
    }
  }

  private mutating func addDurationsAndResiduals() {
    for measure in comparisons {
      if measure.durationChange != 0 {
        differences.add(
          Difference(
            .duration, in: measure.region.range, amount: measure.durationChange,
            before: measure.region.duration,
            after: measure.candidateRegion.duration), of: candidateEvents(of: [measure]))
      }
      guard let unexplained = measure.residualDecibels else { continue }
      differences.add(
        Difference(residual: unexplained, in: measure.region.range),
        of: candidateEvents(of: [measure]))
    }
  }

  private mutating func addUnpairedRegions(
    _ kind: Difference.Kind, _ regions: [ActiveRegion], paired: Set<Int>, in own: [Float],
    opposite: [Float],
    delay: Double
  ) {
    let alone = regions.indices.filter { !paired.contains($0) }.map { regions[$0] }.filter {
      SignalPair.power(opposite[$0.frames]) < 0.1 * SignalPair.power(own[$0.frames])
    }
    for areTaps in [true, false] {
      let chosen = alone.filter { $0.isTap == areTaps }
      guard let first = chosen.first, let last = chosen.last else { continue }
      let peak = chosen.map { SignalPair.peak(own[$0.frames]) }.max() ?? 0
      differences.add(
        Difference(kind, in: first.start...last.end, amount: Decibels.of(amplitude: Double(peak))),
        of: chosen.map { $0.event(delay: delay) })
    }
  }
}

extension Difference {
  init(residual: Double, in range: ClosedRange<Double>, isOverall isThroughout: Bool = false) {
    self.init(
      .spectrum, in: range, isOverall: isThroughout, amount: residual,
      significance: max(0, (residual + 30) / 6))
  }
}

struct SoundComparison {
  let (region, candidateRegion): (ActiveRegion, ActiveRegion)
  /// Seconds that the partner comes later, and decibels that it is stronger where that is one
  /// figure.
  private(set) var timeShift = 0.0
  private(set) var levelChange = 0.0
  /// Percent the partner is higher, and both frequencies.
  private(set) var frequencyChange: (percent: Double, before: Double, after: Double)?
  private(set) var durationChange = 0.0
  private(set) var levelSegments: [LevelSegment] = []
  /// What none of these explains, in dB relative to the sound.
  private(set) var residualDecibels: Double?
  private(set) var hasMatchingShape = true

  /// Shapes that differ by less of their power are the same.
  private static let maximumShapeResidual = 1e-3
  /// The smallest differences that are reported: decibels, seconds, percent.
  static let minimumLevelChange = 0.05
  static let minimumTimeShift = 0.0002
  static let minimumDurationChange = 0.003
  static let minimumFrequencyPercent = 1.0

  /// - Parameter noise: The mean square of the noise that the other has and the reference has not.
  init(
    _ region: ActiveRegion, _ partner: ActiveRegion, of pair: SignalPair, noise: Double,
    ceiling: Float
  ) {
    self.region = region
    self.candidateRegion = partner
    let rate = pair.rate
    let base = partner.frames.lowerBound - region.frames.lowerBound
    let margin = Int(0.006 * rate)
    let count = max(region.frames.count, partner.frames.count) + 2 * margin
    let x = Self.excerpt(of: pair.reference, from: region.frames.lowerBound - margin, count: count)
    let y = Self.excerpt(of: pair.candidate, from: partner.frames.lowerBound - margin, count: count)
    let isClipped = y.contains { abs($0) >= ceiling }
    let fit = SignalAlignment.bestMatch(x, y, rate: rate, maximumLag: 0.005)
    let lag = fit.map { $0.correlation > 0.6 ? $0.lag : 0 } ?? 0
    let moved = lag * rate
    timeShift = (Double(base) + moved) / rate
    let frames = Int(moved.rounded())
    let z = Self.excerpt(
      of: pair.candidate, from: partner.frames.lowerBound - margin + frames, count: count)
    let noiseEnergy = noise * Double(count)
    if isClipped
      || Self.isExplained(correlation: fit?.correlation ?? 0, samples: z, noiseEnergy: noiseEnergy)
    {
      levelChange = Self.leastSquaresGain(x, z, below: isClipped ? ceiling : .infinity).decibels
      return
    }
    measureChanges(x, z, margin: margin, rate: rate, noiseEnergy: noiseEnergy)
    // A weaker end falls into silence earlier.
    if !levelSegments.isEmpty, abs(durationChange) < 0.02 {
      durationChange = 0
    }
    hasMatchingShape = frequencyChange == nil && levelSegments.isEmpty && residualDecibels == nil
    // A tone that is higher fits best somewhere; it begins where it is first heard.
    guard frequencyChange != nil || (fit?.correlation ?? 0) < 0.6 else { return }
    hasMatchingShape = false
    timeShift = Double(base) / rate
  }

  private static func isExplained(
    correlation: Double, samples y: [Float], noiseEnergy noise: Double
  ) -> Bool {
    let energy = SignalPair.power(y) * Double(y.count)
    guard correlation > 0, energy > 0 else { return false }
    return (1 - correlation * correlation) * energy < maximumShapeResidual * energy + 4 * noise
  }

  private static func excerpt(of samples: [Float], from start: Int, count: Int) -> [Float] {
    (start..<start + count).map { samples.indices.contains($0) ? samples[$0] : 0 }
  }

  /// The factor from one to the other by least squares, over the samples below a ceiling.
  private static func leastSquaresGain(_ x: [Float], _ y: [Float], below ceiling: Float = .infinity)
    -> (
      decibels: Double, correlation: Double
    )
  {
    var xx = 0.0
    var xy = 0.0
    var yy = 0.0
    for (a, b) in zip(x, y) where abs(b) < ceiling * 0.98 {
      xx += Double(a) * Double(a)
      xy += Double(a) * Double(b)
      yy += Double(b) * Double(b)
    }
    guard xx > 0, yy > 0, xy > 0 else { return (0, 0) }
    return (20 * log10(xy / xx), xy / (xx * yy).squareRoot())
  }

  private mutating func measureChanges(
    _ x: [Float], _ y: [Float], margin: Int, rate: Double, noiseEnergy: Double
  ) {
    let change = candidateRegion.duration - region.duration
    let isLonger = abs(change) > max(Self.minimumDurationChange, 0.01 * region.duration)
    let common = min(region.frames.count, candidateRegion.frames.count)
    let bothTaps = region.isTap && candidateRegion.isTap
    if isLonger, !bothTaps {
      // Edges at the end belong to the length; nine tenths of what both have give the rest.
      let part = margin + common * 9 / 10
      let (decibels, correlation) = Self.leastSquaresGain(Array(x[..<part]), Array(y[..<part]))
      durationChange = change
      if Self.isExplained(
        correlation: correlation, samples: Array(y[..<part]), noiseEnergy: noiseEnergy)
      {
        levelChange = decibels
        return
      }
    }
    let window = margin..<(margin + common)
    let tones =
      bothTaps
      ? FrequencyPair(x, y, rate: rate, areTaps: true)
      : FrequencyPair(Array(x[window]), Array(y[window]), rate: rate, areTaps: false)
    if let tones, abs(tones.percent) >= Self.minimumFrequencyPercent {
      frequencyChange = (tones.percent, tones.before, tones.after)
    }
    if bothTaps {
      let ratio = SignalPair.peak(y) / max(SignalPair.peak(x), 1e-9)
      let decibels = 20 * log10(Double(max(ratio, 1e-6)))
      if abs(decibels) > 0.3 {
        levelChange = decibels
      }
      if frequencyChange == nil, isLonger {
        durationChange = change
      }
    } else {
      // Another frequency crosses the threshold of silence at another moment.
      if frequencyChange != nil, abs(durationChange) < 0.01 {
        durationChange = 0
      }
      findLevelSegments(Array(x[window]), Array(y[window]), rate: rate)
    }
    if frequencyChange == nil, durationChange == 0, levelSegments.isEmpty, abs(levelChange) < 0.3 {
      let correlation = Self.leastSquaresGain(x, y).correlation
      residualDecibels = 10 * log10(max(1e-12, 1 - correlation * correlation))
    }
  }

  private mutating func findLevelSegments(_ x: [Float], _ y: [Float], rate: Double) {
    let line = LevelDifferenceCurve(x, y, rate: rate)
    if let even = line.constantDifference {
      if abs(even) > 0.1 {
        levelChange = even
      }
      return
    }
    let start = region.start
    levelSegments = line.segments.map {
      ($0.range.lowerBound + start...$0.range.upperBound + start, $0.usual, $0.greatest)
    }
  }
}

struct FrequencyPair {
  /// Hertz.
  let (before, after): (Double, Double)

  var percent: Double { 100 * (after / before - 1) }

  /// Above this many hertz nothing counts: what is felt lies below.
  static let maximumHertz = 1_000.0

  /// Measures both, or returns nil where one has no frequency.
  ///
  /// Taps are too short for a frequency; that of their spectrum's middle stands in, since a burst
  /// of as many cycles that is higher has its whole spectrum higher.
  init?(_ x: [Float], _ y: [Float], rate: Double, areTaps: Bool) {
    if !areTaps, let tracks = Self.trackedFrequencies(x, y, rate: rate) {
      (before, after) = tracks
      return
    }
    let middles = [x, y].compactMap { Self.centroid(of: Spectrum(of: Signal($0, rate: rate))) }
    guard middles.count == 2 else { return nil }
    before = middles[0]
    after = middles[1]
  }

  private static func trackedFrequencies(_ x: [Float], _ y: [Float], rate: Double) -> (
    Double, Double
  )? {
    let first = FrequencyTrack(of: Signal(x, rate: rate))
    let second = FrequencyTrack(of: Signal(y, rate: rate))
    let hertz = Dictionary(
      second.points.map { (Int(($0.time / second.step).rounded()), $0.hertz) },
      uniquingKeysWith: { $1 })
    let both = first.points.compactMap { point in
      hertz[Int((point.time / first.step).rounded())].map { (point.hertz, $0) }
    }
    // Where hardly any moment has a tone in both, the rest says nothing.
    guard Double(both.count) * first.step > 0.3 * Double(x.count) / rate else { return nil }
    return (Samples.median(both.map(\.0)), Samples.median(both.map(\.1)))
  }

  /// The mean frequency of the spectrum below `highest`, weighted by power.
  static func centroid(of spectrum: Spectrum) -> Double? {
    var power = 0.0
    var sum = 0.0
    for (frequency, part) in zip(spectrum.frequencies, spectrum.powers) {
      guard frequency <= maximumHertz else { break }
      power += part
      sum += part * frequency
    }
    return power > 0 ? sum / power : nil
  }
}
