internal import CMath
import HapticModel
import SignalAnalysis

struct SignalDifferences {
  private let pair: SignalPair
  private let options: ComparisonOptions
  private(set) var found: FoundDifferences
  private let measures: [SoundMeasure]
  /// Seconds that the other comes later as a whole, and decibels that it is stronger.
  private(set) var (delay, level): (Double, Double)

  private static let maximumSegmentCount = 3

  init(_ pair: SignalPair, options: ComparisonOptions) {
    self.pair = pair
    self.options = options
    delay = Double(pair.shift) / pair.rate
    level = 0
    let noise = AddedSound.under(pair)
    let clipping = ClippedPeaks(pair.reference) == nil ? ClippedPeaks(pair.other) : nil
    func regions(_ samples: [Float]) -> [ActiveRegion] {
      ActiveRegion.find(
        in: samples, rate: pair.rate, threshold: max(SignalPair.silence(samples), noise?.reach ?? 0)
      )
    }
    let own = regions(pair.reference)
    let others = regions(pair.other)
    let start = own.first?.start ?? 0
    found = FoundDifferences(
      names: EventNames(others.map { $0.event() }, owner: options.otherLabel),
      referenceNames: EventNames(own.map { $0.event() }, owner: options.referenceLabel),
      whole: start...max(start, own.last?.end ?? start))
    func levels(_ regions: [ActiveRegion], _ samples: [Float]) -> [Double] {
      regions.map { Decibels.of(power: SignalPair.power(samples[$0.frames])) }
    }
    let first = levels(own, pair.reference)
    let second = levels(others, pair.other)
    let matched = SequenceMatching.pairs(own.map(\.start), others.map(\.start)) {
      own[$0].cost(of: others[$1], level: first[$0], otherLevel: second[$1])
    }
    measures = matched.map { index, otherIndex in
      SoundMeasure(
        own[index], others[otherIndex], of: pair, noise: noise?.power ?? 0,
        ceiling: clipping?.ceiling ?? .infinity)
    }
    addSignalWide(noise, clipping)
    // One sound is the whole only where there is no other.
    addTimes(
      isWhole: measures.count > 1 || measures.count == 1 && own.count <= 1 && others.count <= 1)
    addLevels()
    addFrequencies()
    addRest()
    addPresence(.missing, own, Set(matched.map(\.0)), pair.reference, pair.other, delay: 0)
    addPresence(.added, others, Set(matched.map(\.1)), pair.other, pair.reference, delay: later)
  }

  /// Seconds that the other take was shifted by.
  private var later: Double { Double(pair.shift) / pair.rate }
  /// The sounds of the other take as they are, before it was shifted.
  private func partners(_ measures: [SoundMeasure]) -> [ListedEvent] {
    measures.map { $0.partner.event(delay: later) }
  }

  private mutating func addSignalWide(_ noise: AddedSound?, _ clipping: ClippedPeaks?) {
    if pair.isInverted {
      found.add(whole: .polarity)
    }
    if pair.offset != 0 {
      found.add(whole: .offset, Decibels.of(amplitude: abs(pair.offset)), after: pair.offset)
    }
    if let noise {
      found.add(background: noise.decibels, hertz: noise.hertz)
    }
    guard let clipping else { return }
    let level = SentenceFormatting.number(
      Decibels.of(amplitude: Double(clipping.ceiling)), places: 1)
    let range =
      Double(clipping.frames.lowerBound) / pair.rate...Double(clipping.frames.upperBound)
      / pair.rate
    found.add(
      Difference(
        .clipping, in: range, amount: Double(clipping.sampleCount),
        after: Double(clipping.ceiling)),
      saying: "\(options.otherLabel) is clipped at \(level) dBFS in \(clipping.placeCount) place"
        + "\(clipping.placeCount == 1 ? "" : "s"), between \(SentenceFormatting.range(range))")
  }

  /// The value that at least six in ten share within a tolerance, or all where they are two.
  private static func common(_ values: [Double], within tolerance: Double) -> Double? {
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

  private mutating func add(
    _ kind: Difference.Kind, _ values: [(SoundMeasure, Double)], within tolerance: Double
  ) {
    for group in values.grouped(by: \.1, within: { _ in tolerance }) {
      let group = group.sorted { $0.0.region.start < $1.0.region.start }
      let measures = group.map(\.0)
      let events = partners(measures)
      let hasTimes = kind == .time && group.count == 1
      found.add(
        Difference(
          kind, in: measures[0].region.start...measures[measures.count - 1].region.end,
          amount: group[0].1,
          before: hasTimes ? measures[0].region.start : nil,
          after: hasTimes ? events[0].time : nil),
        of: events)
    }
  }

  private mutating func addTimes(isWhole: Bool) {
    let whole = isWhole ? Self.common(measures.map(\.time), within: 0.000_1) ?? 0 : 0
    let shift = options.alignment == .start ? whole : delay + whole
    delay += whole
    // Where shapes differ, times are those of the first sound, which the shape moves.
    let isExact = measures.count { $0.isExact } * 2 > measures.count
    if abs(shift) > (isExact ? 0.000_04 : 0.001) {
      found.add(whole: .time, shift)
    }
    let late = measures.map { ($0, $0.time - whole) }.filter {
      abs($0.1) > ($0.0.isExact ? SoundMeasure.leastTime : 0.001)
    }
    add(.time, late, within: 0.000_2)
  }

  private mutating func addLevels() {
    let even = measures.filter { $0.segments.isEmpty }
    let shared = Self.common(even.map(\.level), within: 0.1) ?? 0
    let isShared = measures.allSatisfy { $0.segments.isEmpty && abs($0.level - shared) <= 0.1 }
    // Without a match every level is reported as it is, unless all are the same.
    let whole = options.levelMatch == LevelMatch.none && !isShared ? 0 : shared
    if abs(whole) >= SoundMeasure.leastLevel {
      level = whole
      found.add(whole: .level, whole)
    }
    add(.level, even.map { ($0, $0.level - whole) }.filter { abs($0.1) > 0.15 }, within: 0.1)
    for measure in measures {
      addSegments(of: measure, whole: whole)
    }
  }

  private mutating func addSegments(of measure: SoundMeasure, whole: Double) {
    let segments = measure.segments.map { segment in
      let isEven = abs(segment.greatest - segment.usual) < 0.5
      return (
        range: segment.range, amount: (isEven ? segment.usual : segment.greatest) - whole, isEven
      )
    }.filter { abs($0.amount) > LevelDifferenceCurve.least }
    let owner = found.names.owner
    guard segments.count > Self.maximumSegmentCount else {
      for (range, amount, isEven) in segments {
        let change = (isEven ? "" : "up to ") + Difference.Kind.level.change(amount)
        found.add(
          Difference(.level, in: range, amount: amount),
          saying: "\(owner) is \(change) between \(SentenceFormatting.range(range))")
      }
      return
    }
    let low = segments.map(\.amount).min() ?? 0
    let high = segments.map(\.amount).max() ?? 0
    let range = segments[0].range.lowerBound...segments[segments.count - 1].range.upperBound
    found.add(
      Difference(.level, in: range, amount: abs(low) > high ? low : high),
      saying: "\(owner)'s level has a different course between \(SentenceFormatting.range(range)): "
        + SentenceFormatting.spread(low, high, .decibels))
  }

  private mutating func addFrequencies() {
    // A single sound is reported with its frequencies.
    let whole =
      measures.count == 1
      ? 0 : Self.common(measures.map { $0.frequency?.percent ?? 0 }, within: 0.6) ?? 0
    if abs(whole) >= SoundMeasure.leastPercent {
      found.add(whole: .frequency, whole)
    }
    for measure in measures {
      guard let frequency = measure.frequency, abs(frequency.percent - whole) > 1 else { continue }
      found.add(
        Difference(
          .frequency, in: measure.region.range, amount: frequency.percent, before: frequency.before,
          after: frequency.after), of: partners([measure]),
        detail: ": " + SentenceFormatting.hertz(frequency.after, insteadOf: frequency.before))
    }
  }

  private mutating func addRest() {
    for measure in measures {
      if measure.duration != 0 {
        found.add(
          Difference(
            .duration, in: measure.region.range, amount: measure.duration,
            before: measure.region.duration,
            after: measure.partner.duration), of: partners([measure]))
      }
      guard let unexplained = measure.unexplained else { continue }
      found.add(
        Difference(residual: unexplained, in: measure.region.range), of: partners([measure]))
    }
  }

  private mutating func addPresence(
    _ kind: Difference.Kind, _ regions: [ActiveRegion], _ paired: Set<Int>, _ own: [Float],
    _ opposite: [Float],
    delay: Double
  ) {
    let alone = regions.indices.filter { !paired.contains($0) }.map { regions[$0] }.filter {
      SignalPair.power(opposite[$0.frames]) < 0.1 * SignalPair.power(own[$0.frames])
    }
    for areTaps in [true, false] {
      let chosen = alone.filter { $0.isTap == areTaps }
      guard let first = chosen.first, let last = chosen.last else { continue }
      let peak = chosen.map { SignalPair.peak(own[$0.frames]) }.max() ?? 0
      found.add(
        Difference(kind, in: first.start...last.end, amount: Decibels.of(amplitude: Double(peak))),
        of: chosen.map { $0.event(delay: delay) })
    }
  }
}

extension Difference {
  init(residual: Double, in range: ClosedRange<Double>, isThroughout: Bool = false) {
    self.init(
      .spectrum, in: range, isThroughout: isThroughout, amount: residual,
      significance: max(0, (residual + 30) / 6))
  }
}

struct SoundMeasure {
  let (region, partner): (ActiveRegion, ActiveRegion)
  /// Seconds that the partner comes later, and decibels that it is stronger where that is one
  /// figure.
  private(set) var time = 0.0
  private(set) var level = 0.0
  /// Percent the partner is higher, and both frequencies.
  private(set) var frequency: (percent: Double, before: Double, after: Double)?
  private(set) var duration = 0.0
  private(set) var segments: [LevelSegment] = []
  /// What none of these explains, in dB relative to the sound.
  private(set) var unexplained: Double?
  private(set) var isExact = true

  /// Shapes that differ by less of their power are the same.
  private static let sameShape = 1e-3
  /// The smallest differences that are reported: decibels, seconds, percent.
  static let leastLevel = 0.05
  static let leastTime = 0.0002
  static let leastDuration = 0.003
  static let leastPercent = 1.0

  /// - Parameter noise: The mean square of the noise that the other has and the reference has not.
  init(
    _ region: ActiveRegion, _ partner: ActiveRegion, of pair: SignalPair, noise: Double,
    ceiling: Float
  ) {
    self.region = region
    self.partner = partner
    let rate = pair.rate
    let base = partner.frames.lowerBound - region.frames.lowerBound
    let margin = Int(0.006 * rate)
    let count = max(region.frames.count, partner.frames.count) + 2 * margin
    let x = Self.cut(pair.reference, from: region.frames.lowerBound - margin, count: count)
    let y = Self.cut(pair.other, from: partner.frames.lowerBound - margin, count: count)
    let isClipped = y.contains { abs($0) >= ceiling }
    let fit = SignalDistance.alignment(x, y, rate: rate, maximumLag: 0.005)
    let lag = fit.map { $0.correlation > 0.6 ? $0.lag : 0 } ?? 0
    let moved = lag * rate
    time = (Double(base) + moved) / rate
    let frames = Int(moved.rounded())
    let z = Self.cut(pair.other, from: partner.frames.lowerBound - margin + frames, count: count)
    let noiseEnergy = noise * Double(count)
    if isClipped || Self.explained(fit?.correlation ?? 0, z, noiseEnergy) {
      level = Self.gain(x, z, below: isClipped ? ceiling : .infinity).decibels
      return
    }
    explain(x, z, margin: margin, rate: rate, noiseEnergy: noiseEnergy)
    // A weaker end falls into silence earlier.
    if !segments.isEmpty, abs(duration) < 0.02 {
      duration = 0
    }
    isExact = frequency == nil && segments.isEmpty && unexplained == nil
    // A tone that is higher fits best somewhere; it begins where it is first heard.
    guard frequency != nil || (fit?.correlation ?? 0) < 0.6 else { return }
    isExact = false
    time = Double(base) / rate
  }

  private static func explained(_ correlation: Double, _ y: [Float], _ noise: Double) -> Bool {
    let energy = SignalPair.power(y) * Double(y.count)
    guard correlation > 0, energy > 0 else { return false }
    return (1 - correlation * correlation) * energy < sameShape * energy + 4 * noise
  }

  private static func cut(_ samples: [Float], from start: Int, count: Int) -> [Float] {
    (start..<start + count).map { samples.indices.contains($0) ? samples[$0] : 0 }
  }

  /// The factor from one to the other by least squares, over the samples below a ceiling.
  private static func gain(_ x: [Float], _ y: [Float], below ceiling: Float = .infinity) -> (
    decibels: Double, correlation: Double
  ) {
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

  private mutating func explain(
    _ x: [Float], _ y: [Float], margin: Int, rate: Double, noiseEnergy: Double
  ) {
    let change = partner.duration - region.duration
    let isLonger = abs(change) > max(Self.leastDuration, 0.01 * region.duration)
    let common = min(region.frames.count, partner.frames.count)
    let bothTaps = region.isTap && partner.isTap
    if isLonger, !bothTaps {
      // Edges at the end belong to the length; nine tenths of what both have give the rest.
      let part = margin + common * 9 / 10
      let (decibels, correlation) = Self.gain(Array(x[..<part]), Array(y[..<part]))
      duration = change
      if Self.explained(correlation, Array(y[..<part]), noiseEnergy) {
        level = decibels
        return
      }
    }
    let window = margin..<(margin + common)
    let tones =
      bothTaps
      ? Tones(x, y, rate: rate, areTaps: true)
      : Tones(Array(x[window]), Array(y[window]), rate: rate, areTaps: false)
    if let tones, abs(tones.percent) >= Self.leastPercent {
      frequency = (tones.percent, tones.before, tones.after)
    }
    if bothTaps {
      let ratio = SignalPair.peak(y) / max(SignalPair.peak(x), 1e-9)
      let decibels = 20 * log10(Double(max(ratio, 1e-6)))
      if abs(decibels) > 0.3 {
        level = decibels
      }
      if frequency == nil, isLonger {
        duration = change
      }
    } else {
      // Another frequency crosses the threshold of silence at another moment.
      if frequency != nil, abs(duration) < 0.01 {
        duration = 0
      }
      findSegments(Array(x[window]), Array(y[window]), rate: rate)
    }
    if frequency == nil, duration == 0, segments.isEmpty, abs(level) < 0.3 {
      let correlation = Self.gain(x, y).correlation
      unexplained = 10 * log10(max(1e-12, 1 - correlation * correlation))
    }
  }

  private mutating func findSegments(_ x: [Float], _ y: [Float], rate: Double) {
    let line = LevelDifferenceCurve(x, y, rate: rate)
    if let even = line.even {
      if abs(even) > 0.1 {
        level = even
      }
      return
    }
    let start = region.start
    segments = line.segments.map {
      ($0.range.lowerBound + start...$0.range.upperBound + start, $0.usual, $0.greatest)
    }
  }
}

struct Tones {
  /// Hertz.
  let (before, after): (Double, Double)

  var percent: Double { 100 * (after / before - 1) }

  /// Above this many hertz nothing counts: what is felt lies below.
  static let highest = 1_000.0

  /// Measures both, or returns nil where one has no frequency.
  ///
  /// Taps are too short for a frequency; that of their spectrum's middle stands in, since a burst
  /// of as many cycles that is higher has its whole spectrum higher.
  init?(_ x: [Float], _ y: [Float], rate: Double, areTaps: Bool) {
    if !areTaps, let tracks = Self.tracked(x, y, rate: rate) {
      (before, after) = tracks
      return
    }
    let middles = [x, y].compactMap { Self.middle(Spectrum(of: Signal($0, rate: rate))) }
    guard middles.count == 2 else { return nil }
    before = middles[0]
    after = middles[1]
  }

  private static func tracked(_ x: [Float], _ y: [Float], rate: Double) -> (Double, Double)? {
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
  static func middle(_ spectrum: Spectrum) -> Double? {
    var power = 0.0
    var sum = 0.0
    for (frequency, part) in zip(spectrum.frequencies, spectrum.powers) {
      guard frequency <= highest else { break }
      power += part
      sum += part * frequency
    }
    return power > 0 ? sum / power : nil
  }
}
