internal import Glibc
import SignalAnalysis

/// What differs between two signals, sound by sound, each cause told once.
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
  private let islands: [SoundIsland]
  private let others: [SoundIsland]

  init(_ pair: SignalPair, options: ComparisonOptions) {
    self.pair = pair
    self.options = options
    delay = Double(pair.shift) / pair.rate
    let noise = AddedSound.under(pair)
    let clipping = Clipping(pair.reference) == nil ? Clipping(pair.other) : nil
    let reach = noise?.reach ?? 0
    islands = SoundIsland.find(
      in: pair.reference, rate: pair.rate, threshold: max(SignalPair.silence(pair.reference), reach)
    )
    others = SoundIsland.find(
      in: pair.other, rate: pair.rate, threshold: max(SignalPair.silence(pair.other), reach))
    referenceNames = EventNames(islands.map { $0.event() }, owner: options.referenceLabel)
    names = EventNames(others.map { $0.event() }, owner: options.otherLabel)
    let matched = match()
    measures = matched.map { index, otherIndex in
      SoundMeasure(
        islands[index], others[otherIndex], of: pair, noise: noise?.power ?? 0,
        ceiling: clipping?.ceiling ?? .infinity)
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
    let start = islands.first?.start ?? 0
    return start...max(start, islands.last?.end ?? start)
  }

  /// The sounds of the other take as it is, before it was shifted.
  func partner(_ measure: SoundMeasure) -> ListedEvent {
    measure.partner.event(delay: Double(pair.shift) / pair.rate)
  }

  mutating func add(_ difference: Difference) { found.append(difference) }

  mutating func set(delay: Double) { self.delay = delay }
  mutating func set(level: Double) { self.level = level }

  private func match() -> [(Int, Int)] {
    func levels(_ islands: [SoundIsland], _ samples: [Float]) -> [Double] {
      islands.map { Decibels.of(power: SignalPair.power(samples[$0.frames])) }
    }
    let first = levels(islands, pair.reference)
    let second = levels(others, pair.other)
    return SequenceMatching.pairs(islands.map(\.start), others.map(\.start)) {
      islands[$0].cost(of: others[$1], level: first[$0], otherLevel: second[$1])
    }
  }

  private mutating func addSignalWide(_ noise: AddedSound?, _ clipping: Clipping?) {
    let name = options.otherLabel
    if pair.isInverted {
      add(
        Difference(
          .polarity, in: whole, isThroughout: true, amount: 0, unit: .none, significance: 0,
          sentence: "\(name) is upside down: its polarity is inverted."))
    }
    if pair.offset != 0 {
      add(
        Difference(
          .offset, in: whole, isThroughout: true, amount: Decibels.of(amplitude: abs(pair.offset)),
          unit: .fullScale, before: 0, after: pair.offset, significance: 0,
          sentence: "\(name) is offset by \(Words.number(pair.offset, places: 4)) of full scale."))
    }
    if let noise {
      add(
        Difference(
          .noise, in: whole, isThroughout: true, amount: noise.decibels, unit: .fullScale,
          after: noise.hertz, sentence: "\(name) has \(noise.words) under it."))
    }
    if let clipping {
      let places = clipping.placeCount
      let level = Words.number(Decibels.of(amplitude: Double(clipping.ceiling)), places: 1)
      let start = Double(clipping.frames.lowerBound) / pair.rate
      let end = Double(clipping.frames.upperBound) / pair.rate
      add(
        Difference(
          .clipping, in: start...end, amount: Double(clipping.sampleCount), unit: .count,
          after: Double(clipping.ceiling),
          sentence: "\(name) is clipped at \(level) dBFS in \(places) place"
            + "\(places == 1 ? "" : "s"), between \(Words.stretch(start...end))."))
    }
  }

  /// Tells which sounds have no counterpart; where the other sounds too, what it is stronger by.
  private mutating func addPresence(_ matched: [(Int, Int)]) {
    let paired = Set(matched.map(\.0))
    let otherPaired = Set(matched.map(\.1))
    for (index, island) in islands.enumerated() where !paired.contains(index) {
      let own = SignalPair.power(pair.reference[island.frames])
      let left = SignalPair.power(pair.other[island.frames])
      guard left < 0.1 * own else { continue }
      let name = referenceNames.short(island.event())
      add(
        Difference(
          .missing, in: island.start...island.end,
          amount: Decibels.of(amplitude: Double(SignalPair.peak(pair.reference[island.frames]))),
          unit: .fullScale,
          sentence: "\(options.otherLabel) lacks \(name), at \(Words.moment(island.start))."))
    }
    for (index, island) in others.enumerated() where !otherPaired.contains(index) {
      let own = SignalPair.power(pair.other[island.frames])
      let left = SignalPair.power(pair.reference[island.frames])
      guard left < 0.1 * own else { continue }
      let event = island.event(delay: Double(pair.shift) / pair.rate)
      add(
        Difference(
          .added, in: island.start...island.end,
          amount: Decibels.of(amplitude: Double(SignalPair.peak(pair.other[island.frames]))),
          unit: .fullScale,
          sentence: "\(options.otherLabel) has an extra \(event.kind.word) at "
            + "\(Words.moment(event.time))."))
    }
  }
}
