internal import CMath
import SignalAnalysis

/// What differs between two signals, sound by sound, each cause once.
struct SignalDifferences {
  let pair: SignalPair
  let options: ComparisonOptions
  let names: EventNames
  let referenceNames: EventNames
  private(set) var found: [Difference] = []
  /// The sounds that belong together, measured.
  private(set) var measures: [SoundMeasure] = []
  /// Seconds the other comes later as a whole.
  private(set) var delay: Double
  /// Decibels the other is stronger as a whole.
  private(set) var level = 0.0
  private let regions: [ActiveRegion]
  private let others: [ActiveRegion]

  init(_ pair: SignalPair, options: ComparisonOptions) {
    self.pair = pair
    self.options = options
    delay = Double(pair.shift) / pair.rate
    let noise = AddedSound.under(pair)
    let clipping = ClippedPeaks(pair.reference) == nil ? ClippedPeaks(pair.other) : nil
    let reach = noise?.reach ?? 0
    regions = ActiveRegion.find(
      in: pair.reference, rate: pair.rate, threshold: max(SignalPair.silence(pair.reference), reach))
    others = ActiveRegion.find(in: pair.other, rate: pair.rate, threshold: max(SignalPair.silence(pair.other), reach))
    referenceNames = EventNames(regions.map { $0.event() }, owner: options.referenceLabel)
    names = EventNames(others.map { $0.event() }, owner: options.otherLabel)
    let matched = match()
    measures = matched.map { index, otherIndex in
      SoundMeasure(
        regions[index], others[otherIndex], of: pair, noise: noise?.power ?? 0, ceiling: clipping?.ceiling ?? .infinity)
    }
    addSignalWide(noise, clipping)
    addTimes()
    addLevels()
    addFrequencies()
    addRest()
    addPresence(matched)
  }

  /// From the first to the last sound of the reference.
  var whole: ClosedRange<Double> {
    let start = regions.first?.start ?? 0
    return start...max(start, regions.last?.end ?? start)
  }

  /// The sounds of the other take as it is, before it was shifted.
  func partner(_ measure: SoundMeasure) -> ListedEvent { measure.partner.event(delay: Double(pair.shift) / pair.rate) }

  /// Whether a sound of one has no counterpart in the other.
  var hasUnmatched: Bool { measures.count < max(regions.count, others.count) }

  mutating func add(_ difference: Difference) { found.append(difference) }

  mutating func set(delay: Double) { self.delay = delay }
  mutating func set(level: Double) { self.level = level }

  private func match() -> [(Int, Int)] {
    func levels(_ regions: [ActiveRegion], _ samples: [Float]) -> [Double] {
      regions.map { Decibels.of(power: SignalPair.power(samples[$0.frames])) }
    }
    let first = levels(regions, pair.reference)
    let second = levels(others, pair.other)
    return SequenceMatching.pairs(regions.map(\.start), others.map(\.start)) {
      regions[$0].cost(of: others[$1], level: first[$0], otherLevel: second[$1])
    }
  }

  private mutating func addSignalWide(_ noise: AddedSound?, _ clipping: ClippedPeaks?) {
    let name = options.otherLabel
    if pair.isInverted {
      add(
        Difference(
          .polarity, in: whole, isThroughout: true, amount: 0, unit: .none, significance: 0,
          sentence: "\(name)'s polarity is inverted."))
    }
    if pair.offset != 0 {
      add(
        Difference(
          .offset, in: whole, isThroughout: true, amount: Decibels.of(amplitude: abs(pair.offset)), unit: .fullScale,
          before: 0, after: pair.offset, significance: 0,
          sentence: "\(name) has a DC offset of \(SentenceFormatting.number(pair.offset, places: 4)) of full scale."))
    }
    if let noise {
      add(
        Difference(
          .noise, in: whole, isThroughout: true, amount: noise.decibels, unit: .fullScale, after: noise.hertz,
          sentence: "\(name) has \(noise.words) in the background."))
    }
    if let clipping {
      let places = clipping.placeCount
      let level = SentenceFormatting.number(Decibels.of(amplitude: Double(clipping.ceiling)), places: 1)
      let start = Double(clipping.frames.lowerBound) / pair.rate
      let end = Double(clipping.frames.upperBound) / pair.rate
      add(
        Difference(
          .clipping, in: start...end, amount: Double(clipping.sampleCount), unit: .count,
          after: Double(clipping.ceiling),
          sentence: "\(name) is clipped at \(level) dBFS in \(places) place"
            + "\(places == 1 ? "" : "s"), between \(SentenceFormatting.range(start...end))."))
    }
  }

  /// Tells which sounds have no counterpart, unless the other sounds there all the same.
  private mutating func addPresence(_ matched: [(Int, Int)]) {
    func alone(_ regions: [ActiveRegion], _ paired: Set<Int>, _ own: [Float], _ opposite: [Float]) -> [ActiveRegion] {
      regions.indices.filter { !paired.contains($0) }.map { regions[$0] }.filter { region in
        SignalPair.power(opposite[region.frames]) < 0.1 * SignalPair.power(own[region.frames])
      }
    }
    let missing = alone(regions, Set(matched.map(\.0)), pair.reference, pair.other)
    let added = alone(others, Set(matched.map(\.1)), pair.other, pair.reference)
    let words = PresenceSentence(names: names, referenceNames: referenceNames)
    let shift = Double(pair.shift) / pair.rate
    for areTaps in [true, false] {
      let gone = missing.filter { $0.isTap == areTaps }
      let come = added.filter { $0.isTap == areTaps }
      addPresence(.missing, gone, in: pair.reference) { words.missing(gone.map { $0.event() }) }
      addPresence(.added, come, in: pair.other) { words.added(come.map { $0.event(delay: shift) }) }
    }
  }

  private mutating func addPresence(
    _ kind: Difference.Kind, _ regions: [ActiveRegion], in samples: [Float], sentence: () -> String
  ) {
    guard let first = regions.first, let last = regions.last else { return }
    let peak = regions.map { SignalPair.peak(samples[$0.frames]) }.max() ?? 0
    add(
      Difference(
        kind, in: first.start...last.end, amount: Decibels.of(amplitude: Double(peak)), unit: .fullScale,
        sentence: sentence()))
  }
}
