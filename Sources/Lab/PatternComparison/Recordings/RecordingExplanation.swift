internal import CMath
import SignalAnalysis

/// One cause of what a reference leaves of a recording: an event that changed, or a sound that was
/// added.
struct RecordingChange {
  var kind: Difference.Kind
  var event: ListedEvent
  /// Seconds of the reference.
  var range: ClosedRange<Double>
  /// Decibels, seconds or percent; of a sound that is missing or added, decibels relative to full
  /// scale.
  var amount: Double
  var before: Double?
  var after: Double?
  var stem: Int?
  var sound: Stem?
  var filled: Range<Int>?
  /// Samples of the take that it explains, and by how much, in multiples of the noise's power.
  var explained: Range<Int>
  var improvement = 0.0
  var score = 0.0
  var doubt = 0.0
  /// Whether it may be the opposite change of the other of two events as well.
  var isOfEither = false

  var confidence: Double { improvement.squareRoot() }
  var standardError: Double { confidence > 0 ? abs(amount) / confidence : 0 }
}

/// The least differences that are reported, however good a recording is.
enum RecordingThreshold {
  /// Standard errors that something must be away from none: about one false alarm in 10⁷ tests.
  static let z = 5.5
  static let decibels = 0.5
  static let seconds = 0.001
  static let percent = 3.0
  /// The share of an event's energy that a change of it explains.
  static let share = 0.003
  /// Below this level an event is missing: −12 dB.
  static let missing = 0.25
  /// What may be hidden of an event in a recording that is not explained.
  static let hidden = (decibels: 12.0, seconds: RecordingExplanation.reach)
}

/// A recording as its reference at one place and a list of changes, found from what is left: the
/// clearest first.
struct RecordingExplanation {
  let place: RecordingSearch.Found
  private(set) var fit: RecordingFit
  private(set) var changes: [RecordingChange] = []
  private(set) var gain = 0.0
  /// The events that stand out of the noise enough to be judged.
  private(set) var judged: [Int] = []
  private(set) var isFound = false
  /// How many things must be said; the vague ones and those about the reference's events weigh
  /// more.
  private(set) var cost = 0.0
  /// For each stem, how many standard errors its gain is away from none, and the standard error of
  /// its time in seconds.
  private(set) var clarity: [Double] = []
  private(set) var timeErrors: [Double] = []
  private var sigma = 0.0
  /// The whitened take less what the reference explains at one gain.
  private var residual: [Float] = []
  private var columns: [Column] = []
  private let bank: ToneBursts
  private let original: RecordingReference
  private let hypothesis: RecordingHypotheses.Hypothesis?

  private static let greatestCount = 24
  /// How many changes more than its limit an explanation finds: some are taken back.
  private static let leeway = 2.0
  /// Seconds by which an event may have moved.
  static let reach = 0.06
  /// How much better than a change of an event an added sound over it must explain what is left.
  private static let doubt = 1.3
  /// What saying that something sounds otherwise is worth, of what it explains.
  private static let ambiguityCost = 0.25
  /// What explains so much of what is left around it is more than a leftover.
  private static let clearShare = 0.95
  /// What was already explained must leave this share of what explains it to count again.
  private static let leftover = 0.1
  private static let greatestRefinement = 6
  /// From what is left on that is four times the noise, the model is not all there is.
  private static let greatestMisfit = 0.3
  private static let greatestSimplified = 4
  private static let leastShare = 0.4
  private static let leastCoherence = 0.4
  /// The same where single events are judged, and the greatest doubt of an added sound.
  private static let judgedCoherence = 0.98
  private static let greatestDoubt = 2.0
  /// How much weaker than what was added a reference may be and still be what was recorded: −26 dB.
  private static let leastStrength = 0.05
  /// So many events as they should be are seldom found by chance, and leave less of a doubt.
  private static let leastSupport = 3
  private static let supportedDoubt = 0.3
  /// The greatest share of events that may differ where there are several.
  private static let greatestShare = 0.6

  private var rate: Double { original.rate }
  var least: (decibels: Double, seconds: Double) {
    isJudged ? (RecordingThreshold.decibels, RecordingThreshold.seconds) : RecordingThreshold.hidden
  }
  private var variants: EventVariants { EventVariants(reference: original) }
  private var isAlone: Bool { original.groups.count == 1 }

  /// - Parameter limit: What a better one costs less than.
  init(
    _ found: RecordingSearch.Found, original: RecordingReference,
    hypothesis: RecordingHypotheses.Hypothesis? = nil,
    limit: Double
  ) {
    let settled = found.settled()
    let stretched = hypothesis == nil ? settled.stretched() : nil
    place = stretched ?? settled
    fit = place.fit
    self.original = stretched?.fit.reference ?? original
    self.hypothesis = hypothesis
    bank = ToneBursts(rate: original.rate, extra: self.original.renderer?.bank() ?? [])
    settle()
    guard gain > 0 else { return }
    for x in columns.map(\.samples) {
      let slope = zip(x.dropFirst(2), x).reduce(0.0) { sum, pair in
        let step = Double(pair.0 - pair.1) * rate / 2
        return sum + step * step
      }
      clarity.append(Samples.energy(x).squareRoot() * gain / sigma)
      timeErrors.append(slope > 0 ? sigma / (gain * slope.squareRoot()) : .infinity)
    }
    judged = columns.indices.filter { clarity[$0] > 2 * RecordingThreshold.z }
    if let index = hypothesis?.index {
      // Gain and place stay as they were found without the original.
      columns[index].add(to: &residual, times: gain)
      fit.reference.stems[index] = original.stems[index]
      columns[index] = whitened(original.stems[index])
      columns[index].add(to: &residual, times: -gain)
    }
    for _ in 0..<Self.greatestCount {
      guard let next = clearestCause() else { break }
      guard Double(changes.count) <= limit + Self.leeway else { return }
      changes.append(next)
      refine(rounds: 1)
    }
    if fit.greatestTempo == 0, !changes.isEmpty {
      fit.greatestTempo = RecordingFit.usualTempo
      refine(rounds: 2)
    }
    simplify()
    if !judged.isEmpty {
      judge()
    }
  }

  private mutating func settle() {
    let solution = fit.solve()
    sigma = solution.sigma
    gain = solution.gain
    residual = solution.cleaned
    for column in solution.columns {
      column.add(to: &residual, times: -gain)
    }
    for range in changes.compactMap(\.filled) {
      Samples.silence(&residual, range)
    }
    columns = fit.reference.stems.map(whitened)
  }

  /// Fits the reference with the changes; events that moved or changed their frequency do not hold
  /// the place.
  private mutating func fitChanges(rounds: Int) {
    fit.reference.stems = original.stems
    for change in changes {
      if let index = change.stem {
        fit.reference.stems[index] = change.sound ?? original.stems[index].scaled(by: 0)
      }
    }
    fit.excluded = changes.filter { $0.stem == nil }.compactMap(\.filled)
    fit.unanchored = Set(
      changes.compactMap { $0.kind == .frequency || $0.kind == .time ? $0.stem : nil })
    fit.refine(rounds: rounds)
    settle()
  }

  var coherence: Double {
    var explained = 0.0
    var left = 0.0
    var isCounted = [Bool](repeating: false, count: residual.count)
    for column in columns {
      explained += gain * gain * Samples.energy(column.samples)
      for sample in column.range.clamped(to: residual.indices) where !isCounted[sample] {
        isCounted[sample] = true
        left += Double(residual[sample] * residual[sample]) - sigma * sigma
      }
    }
    return explained > 0 ? explained / (explained + max(0, left)) : 0
  }

  private mutating func judge() {
    let own = changes.filter { $0.stem != nil }
    let lost = Set(own.filter { $0.kind == .missing || $0.kind == .spectrum }.map(\.event.index))
    func energy(_ stems: [Int]) -> Double { stems.reduce(0) { $0 + original.stems[$1].energy } }
    let there = judged.filter { !lost.contains(original.stems[$0].event.index) && !isCovered($0) }
    let isMost = energy(there) >= Self.leastShare * energy(judged)
    cost = changes.reduce(0) { sum, change in
      switch change.kind {
      case .spectrum: sum + 2.5
      case .frequency, .time: sum + 1.2
      default: sum + 1
      }
    }
    let isSupported = there.count >= Self.leastSupport && isMost
    cost += changes.reduce(0) { $0 + $1.doubt } * (isSupported ? Self.supportedDoubt : 1)
    // Of a short pattern, a change of any event is likelier than another tempo.
    if !fit.isUsual || place.stretch != 1 {
      cost += original.isShort ? 1.5 : 0.5
    }
    if place.sign < 0 {
      cost += 0.1
    }
    let count = Double(original.stems.count)
    let added = changes.filter { $0.stem == nil }.map { pow(10, $0.amount / 20) }.max() ?? 0
    isFound =
      (isMost || Double(there.count) > 0.5 * Double(judged.count))
      && (count <= 3 || Double(own.count) <= Self.greatestShare * count)
      && gain * original.peak >= Self.leastStrength * added && coherence >= Self.leastCoherence
    isJudged = isExplained || coherence >= Self.judgedCoherence
  }

  var commonShift: Double? {
    let shifts = changes.filter { $0.kind == .time }.map(\.amount)
    let shift = Samples.median(shifts)
    let together = shifts.filter { abs($0 - shift) < 0.002 }.count
    return together > 1 && 2 * together > shifts.count ? shift : nil
  }

  func isBetter(than other: RecordingExplanation?) -> Bool {
    guard let other else { return true }
    guard isFound, other.isFound else { return isFound }
    return doubt < other.doubt - 0.02
  }

  var doubt: Double { cost + misfit }

  private var misfit: Double {
    0.5 * log10(max(1, Samples.energy(residual) / (sigma * sigma * Double(max(1, residual.count)))))
  }

  var isExplained: Bool { misfit < Self.greatestMisfit }
  /// Whether single events can be judged: else what was recorded through is not known.
  private(set) var isJudged = true
  /// The changes that are likelier than another cause: where more than noise is left, those that
  /// explain more than that.
  var told: [RecordingChange] {
    guard isJudged, !isExplained else { return isJudged ? changes : [] }
    let left = surplus(sigma)
    return changes.filter { $0.improvement > left && $0.doubt < Self.greatestDoubt }
  }

  private func clearestCause() -> RecordingChange? {
    let free = judged.filter { index in !changes.contains { $0.stem == index } }
    let best = free.flatMap(alternatives).max { $0.score < $1.score }
    guard
      let burst = bank.strongest(
        in: residual, through: fit.whitener, sigma: sigma, hidden: hidden()),
      isIndependent(burst.range, burst.score)
    else { return best }
    // An event that changed leaves bursts as well.
    let overlaps = best.map { best in
      best.explained.lowerBound - 60 < burst.range.upperBound
        && burst.range.lowerBound < best.explained.upperBound + 60
    }
    let isClearer = burst.score > (best?.score ?? 0) * (overlaps == true ? Self.doubt : 1)
    return isClearer ? addition(burst) : best
  }

  /// Whether what was explained before does not explain this as well.
  ///
  /// - Parameter share: The share of what is left there that it explains: leftovers are not
  ///   explained well.
  private func isIndependent(_ range: Range<Int>, _ score: Double, share: Double = 0) -> Bool {
    if share > Self.clearShare { return true }
    let margin = Int(0.08 * rate)
    return changes.allSatisfy { known in
      known.explained.upperBound + margin < range.lowerBound
        || range.upperBound + margin < known.explained.lowerBound
        || score > Self.leftover * known.improvement
    }
  }

  private func addition(_ burst: ToneBursts.Found) -> RecordingChange {
    // All that sounds on around it belongs to it.
    let block = Int(0.012 * rate)
    var range = burst.range
    // What is weaker by far is left of the events around.
    let power = Samples.energy(residual, range.clamped(to: residual.indices)) / Double(range.count)
    let least = max(6 * sigma * sigma, 0.03 * power) * Double(block)
    func isLoud(_ part: Range<Int>) -> Bool {
      let part = part.clamped(to: residual.indices)
      return part.count == block && Samples.energy(residual, part) > least
    }
    while isLoud(range.upperBound..<range.upperBound + block) {
      range = range.lowerBound..<range.upperBound + block
    }
    while range.lowerBound >= block, isLoud(range.lowerBound - block..<range.lowerBound) {
      range = range.lowerBound - block..<range.upperBound
    }
    let sample = range.lowerBound == burst.range.lowerBound ? burst.start : range.lowerBound
    let start = (Double(sample) / rate - fit.place.delay) / (1 + fit.place.tempo)
    let duration = Double(range.count) / rate
    let margin = Int(0.02 * rate)
    return RecordingChange(
      kind: .added, event: ActiveRegion.event(start: start, duration: duration),
      range: start...start + duration,
      amount: 20 * log10(burst.amplitude),
      filled: max(0, range.lowerBound - margin)..<min(residual.count, range.upperBound + margin),
      explained: range,
      improvement: burst.score, doubt: doubt(of: range))
  }

  /// Whether most of an event lies where sounds were added, or where another sounds otherwise: it
  /// may be anything there.
  private func isCovered(_ index: Int) -> Bool {
    changes.contains { change in
      guard let stem = change.stem else { return isCovered(index, by: change.explained) }
      return stem != index && change.filled.map { isCovered(index, by: $0) } ?? false
    }
  }

  private func isCovered(_ index: Int, by range: Range<Int>) -> Bool {
    columns[index].energy(in: range) > 0.5 * Samples.energy(columns[index].samples)
  }

  private func doubt(of range: Range<Int>) -> Double {
    func own(in range: Range<Int>) -> Double {
      columns.reduce(0) { $0 + gain * gain * $1.energy(in: range) }
    }
    let energy = Samples.energy(residual, range)
    var doubt = 0.0
    // It begins while an event of the reference is heard.
    if own(in: range) > 0.01 * energy {
      doubt += 0.5
    }
    // It is much stronger than the events about it.
    let reach = Int(0.025 * rate)
    let near = own(in: range.lowerBound - reach..<range.upperBound + reach)
    if near > 0.000_1 * energy, near < 0.25 * energy, range.count > Int(0.015 * rate) {
      doubt += 1.5
    }
    // It sounds where an event should: it would explain any change of it.
    return doubt + 1.5 * Double(columns.indices.count { isCovered($0, by: range) })
  }

  /// What is not felt beside what sounds around: a tenth of it within 50 ms, or a fiftieth of all.
  private func hidden() -> [Float] {
    var levels = [Float](repeating: 0, count: residual.count)
    for index in fit.reference.stems.indices {
      let column = fit.column(index)
      for (offset, sample) in column.samples.enumerated() {
        levels[column.start + offset] += abs(sample)
      }
    }
    let block = Int(rate / 80)
    let own = stride(from: 0, to: levels.count, by: block).map {
      SignalPair.peak(levels[$0..<min(levels.count, $0 + block)])
    }
    let greatest = own.indices.map { own[max(0, $0 - 4)...min(own.count - 1, $0 + 4)].max() ?? 0 }
    let least = Float(0.02 * original.peak)
    let near = Float(0.1)
    return levels.indices.map { Float(gain) * max(near * greatest[$0 / block], least) }
  }

  private struct Context {
    var index: Int
    var column: Column
    var values: Column
    var energy: Double
    var before: Double
  }

  private func context(of index: Int) -> Context {
    let column = columns[index]
    let margin = Int(Self.reach * rate) + 20
    let window =
      max(0, column.start - margin)..<min(residual.count, column.range.upperBound + margin)
    var values = Array(residual[window])
    column.add(to: &values, from: window.lowerBound, times: gain)
    return Context(
      index: index, column: column, values: Column(start: window.lowerBound, samples: values),
      energy: Samples.energy(values), before: Samples.energy(residual, window))
  }

  private func alternatives(for index: Int) -> [RecordingChange] {
    guard columns[index].samples.count > 20, isSuspicious(columns[index]) else { return [] }
    let context = context(of: index)
    var found = level(context) + times(context) + frequencies(context)
    found += otherSound(context).filter { other in
      found.allSatisfy { $0.improvement < 0.5 * other.improvement }
    }
    return found.filter {
      // That something else sounds explains all that is left, whatever it is.
      let share =
        $0.kind == .spectrum ? 0 : $0.improvement * sigma * sigma / max(context.before, 1e-30)
      return isIndependent($0.explained, $0.improvement, share: share)
    }
  }

  private func isSuspicious(_ column: Column) -> Bool {
    let count = Double(column.samples.count)
    let excess =
      (Samples.energy(residual, column.range) / (sigma * sigma) - count) / (2 * count).squareRoot()
    let (slope, energy) = slope(of: column)
    let level = column.dot(residual)
    let time = slope.dot(residual)
    let tests = max(
      level * level / Samples.energy(column.samples), time * time / max(energy, 1e-30))
    return max(tests / (sigma * sigma), 4 * excess) > 0.8 * RecordingThreshold.z
      * RecordingThreshold.z
  }

  /// The slope of a column, less what of it is a change of level, and its energy.
  private func slope(of column: Column) -> (Column, Double) {
    let energy = max(Samples.energy(column.samples), 1e-30)
    var slope = column
    let x = column.samples
    guard x.count > 2 else { return (slope, 0) }
    for index in 1..<x.count - 1 {
      slope.samples[index] = (x[index + 1] - x[index - 1]) / 2
    }
    slope.samples[0] = 0
    slope.samples[x.count - 1] = 0
    Samples.add(x, times: -slope.dot(column) / energy, to: &slope.samples, at: 0)
    return (slope, Samples.energy(slope.samples))
  }

  private func whitened(_ stem: Stem) -> Column {
    fit.column(of: stem).whitened(by: fit.whitener, count: fit.take.count)
  }

  private func change(
    _ kind: Difference.Kind, _ context: Context, _ amount: Double, before: Double? = nil,
    after: Double? = nil
  ) -> RecordingChange {
    let stem = original.stems[context.index]
    return RecordingChange(
      kind: kind, event: stem.event, range: stem.time...max(stem.time, stem.end), amount: amount,
      before: before,
      after: after, stem: context.index, filled: kind == .spectrum ? context.column.range : nil,
      explained: context.column.range)
  }

  /// Rates one way that leaves some energy; nothing where it is too little to be reported.
  private func rated(
    _ change: RecordingChange, _ context: Context, after: Double, parameters: Double = 1,
    _ sound: Stem? = nil
  ) -> [RecordingChange] {
    var change = change
    change.sound = sound
    change.improvement = (context.before - after) / (sigma * sigma)
    change.score = change.improvement - parameters * RecordingThreshold.z * RecordingThreshold.z
    let energy = Samples.energy(context.column.samples) * gain * gain
    return change.score > 0 && context.before - after > RecordingThreshold.share * energy
      ? [change] : []
  }

  /// Rates another sound of the event at the level of the whole, and at its own where that is not
  /// too low.
  private func rated(
    _ change: RecordingChange, _ context: Context, leastShare: Double, hasLevel: Bool = false,
    _ stem: Stem
  ) -> [RecordingChange] {
    let column = whitened(stem)
    let energy = Samples.energy(column.samples)
    let product = column.dot(context.values)
    let plain = rated(
      change, context, after: context.energy - 2 * gain * product + gain * gain * energy, stem)
    let own = product / max(energy, 1e-30)
    guard own > leastShare * gain else { return plain }
    return plain
      + rated(
        change, context, after: context.energy - own * own * energy, parameters: hasLevel ? 1 : 2.2,
        stem.scaled(by: hasLevel ? 1 : own / gain))
  }

  private func otherSound(_ context: Context) -> [RecordingChange] {
    let noise = sigma * sigma * Double(context.column.samples.count)
    let left = Samples.energy(residual, context.column.range) - noise
    let own = gain * gain * Samples.energy(context.column.samples)
    guard left > 0.2 * own else { return [] }
    let change = change(.spectrum, context, 10 * log10(left / own))
    var rated = rated(change, context, after: context.before - left, parameters: 10)
    for index in rated.indices {
      rated[index].score *= Self.ambiguityCost
    }
    return rated
  }

  private func level(_ context: Context) -> [RecordingChange] {
    let energy = Samples.energy(context.column.samples)
    let own = context.column.dot(context.values) / energy
    let stem = fit.reference.stems[context.index]
    if own < RecordingThreshold.missing * gain {
      // Where something else sounds, it is not missing.
      let noise = sigma * sigma * Double(context.column.samples.count)
      guard context.values.energy(in: context.column.range) - noise < 0.3 * gain * gain * energy
      else { return [] }
      let peak = 20 * log10(max(Double(SignalPair.peak(stem.samples)), 1e-6))
      return rated(change(.missing, context, peak), context, after: context.energy)
    }
    let decibels = 20 * log10(own / gain)
    guard abs(decibels) >= RecordingThreshold.decibels else { return [] }
    let after = context.energy - own * own * energy
    return rated(
      change(.level, context, decibels), context, after: after, stem.scaled(by: own / gain))
  }

  private func times(_ context: Context) -> [RecordingChange] {
    let reach = Int(Self.reach * rate)
    let offset = [Float](repeating: 0, count: max(0, context.column.start - context.values.start))
    let products = CrossCorrelation.of(
      offset + context.column.samples, context.values.samples, reach: reach
    ).map {
      Double($0)
    }
    var peaks: [Int] = []
    for index in 1..<products.count - 1 where products[index] > 0 {
      if products[index] > products[index - 1], products[index] >= products[index + 1] {
        peaks.append(index)
      }
    }
    peaks.sort { products[$0] > products[$1] }
    var shifts: [Double] = []
    // Controls that do not move along make another peak than the highest the right one.
    for peak in peaks.prefix(original.renderer?.hasControls == true ? 5 : 1) {
      let a = products[peak - 1]
      let b = products[peak]
      let c = products[peak + 1]
      let part = 0.5 * (a - c) / (a - 2 * b + c)
      shifts.append((Double(peak - reach) + part) / rate / (1 + fit.place.tempo))
    }
    shifts.removeAll { !(abs($0) >= RecordingThreshold.seconds) }
    if let hypothesis, hypothesis.index == context.index, hypothesis.ratio == nil {
      shifts.insert(hypothesis.stem.time - original.stems[context.index].time, at: 0)
    }
    return shifts.flatMap { shift -> [RecordingChange] in
      guard let stem = variants.time(of: context.index, later: shift) else { return [] }
      let before = original.stems[context.index].time
      let change = change(.time, context, shift, before: before, after: before + shift)
      return rated(change, context, leastShare: 0.1, stem)
    }
  }

  private func frequencies(_ context: Context) -> [RecordingChange] {
    var best: RecordingChange?
    func attempt(_ ratio: Double) {
      guard abs(ratio - 1) * 100 >= RecordingThreshold.percent,
        let (stem, before, after) = variants.frequency(of: context.index, times: ratio)
      else { return }
      let change = change(.frequency, context, 100 * (ratio - 1), before: before, after: after)
      for next in rated(change, context, leastShare: 0.2, hasLevel: isAlone, stem)
      where next.score > best?.score ?? 0 {
        best = next
      }
    }
    let isShort = Double(context.column.samples.count) < 0.12 * rate
    let supposed = hypothesis.flatMap { $0.index == context.index ? $0.ratio : nil }
    if let supposed {
      attempt(supposed)
    }
    if isShort || supposed != nil {
      for step in 1...9 where isShort {
        for sign in [1.0, -1] {
          attempt(exp(0.06 * Double(step) * sign))
        }
      }
      for step in [0.03, 0.015, 0.007_5] {
        guard let ratio = best.map({ 1 + $0.amount / 100 }) else { break }
        for sign in [1.0, -1] {
          attempt(ratio * exp(step * sign))
        }
      }
    }
    if !isShort, let ratio = trackedRatio(context) {
      attempt(ratio)
    }
    return [best].compactMap(\.self)
  }

  /// How much higher a long sound is: by its mean frequency, then by how its phase runs away.
  private func trackedRatio(_ context: Context) -> Double? {
    let values = context.values
    let range = context.column.range
    func hertz(_ samples: [Float]) -> Double {
      Stem(original.stems[context.index].event, time: 0, origin: 0, samples: samples, rate: rate)
        .hertz
    }
    let own = hertz(
      Array(values.samples[range.lowerBound - values.start..<range.upperBound - values.start]))
    let plain = hertz(context.column.samples)
    guard own > 0, plain > 0 else { return nil }
    var ratio = own / plain
    for _ in 0..<5 {
      guard (0.2...5).contains(ratio) else { return nil }
      ratio = variants.nearest(ratio, of: context.index)
      guard let (stem, _, _) = variants.frequency(of: context.index, times: ratio) else {
        return nil
      }
      ratio *= 1 + drift(of: whitened(stem), values) / max(20, stem.hertz)
    }
    return variants.nearest(ratio, of: context.index)
  }

  /// Hertz by which what is around an event is higher than a variant of it, by its phase.
  private func drift(of column: Column, _ values: Column) -> Double {
    let x = column.samples
    let length = Int(0.04 * rate)
    var phases: [(phase: Double, weight: Double)] = []
    for start in stride(from: 1, to: x.count - length - 1, by: length) {
      var re = 0.0
      var im = 0.0
      var xx = 1e-30
      var qq = 1e-30
      for index in start..<start + length {
        let place = column.start - values.start + index
        guard place >= 0, place < values.samples.count else { continue }
        let q = Double(x[index + 1] - x[index - 1])
        re += Double(x[index]) * Double(values.samples[place])
        im += q * Double(values.samples[place])
        xx += Double(x[index]) * Double(x[index])
        qq += q * q
      }
      phases.append(
        (atan2(im / qq.squareRoot(), re / xx.squareRoot()), re * re / xx + im * im / qq))
    }
    guard phases.count > 1 else { return 0 }
    // The mean of the steps of the phase: what lies farther apart may have turned.
    var real = 0.0
    var imaginary = 0.0
    for (a, b) in zip(phases, phases.dropFirst()) {
      let weight = min(a.weight, b.weight)
      real += weight * cos(b.phase - a.phase)
      imaginary += weight * sin(b.phase - a.phase)
    }
    return atan2(imaginary, real) / (2 * .pi * Double(length) / rate)
  }

  /// Refines the place, then the frequencies and times that were found while it was still held by
  /// what changed.
  private mutating func refine(rounds: Int) {
    fitChanges(rounds: rounds)
    for _ in 0..<Self.greatestRefinement {
      var isBetter = false
      for kind in [Difference.Kind.frequency, .time] {
        for position in changes.indices where changes[position].kind == kind {
          guard let index = changes[position].stem else { continue }
          let context = context(of: index)
          let change = changes[position]
          guard
            let better = kind == .time
              ? time(context, near: change) : frequency(context, near: change)
          else {
            continue
          }
          changes[position] = better
          isBetter = true
        }
      }
      guard isBetter else { return }
      fitChanges(rounds: 1)
    }
  }

  /// A frequency near one that explains more than the one there is.
  ///
  /// The event's level is free, and so is its time a little: the place of the whole may still be
  /// wrong because of the event.
  private func frequency(_ context: Context, near change: RecordingChange) -> RecordingChange? {
    /// How much more a column explains that may come a little earlier or later.
    func shifted(_ column: Column) -> Double {
      let (slope, energy) = slope(of: column)
      let product = slope.dot(context.values)
      return energy > 0 ? product * product / energy : 0
    }
    var best: RecordingChange?
    var center = 1 + change.amount / 100
    // What explains a hundredth of a standard error more is as good.
    var least =
      context.before - max(0.01 * sigma * sigma, 0.01 * context.before) - shifted(context.column)
    let first = min(0.03, 0.003 / max(0.01, Double(context.column.samples.count) / rate))
    for step in [0, first, first / 2, first / 4, first / 8] {
      var ratio = center
      for sign in [1.0, -1] {
        let tried = center * exp(step * sign)
        guard let (stem, before, after) = variants.frequency(of: context.index, times: tried) else {
          continue
        }
        let column = whitened(stem)
        let energy = max(Samples.energy(column.samples), 1e-30)
        let own = max(0, column.dot(context.values)) / energy
        let left = context.energy - own * own * energy - shifted(column)
        guard left < least, own > 0.1 * gain else { continue }
        least = left
        var better = change
        better.amount = 100 * (tried - 1)
        better.before = before
        better.after = after
        better.sound = stem.scaled(by: isAlone ? 1 : own / gain)
        best = better
        ratio = tried
      }
      center = ratio
    }
    return best
  }

  /// A shift near one that explains more than the one there is, by the slope of the event's sound.
  private func time(_ context: Context, near change: RecordingChange) -> RecordingChange? {
    let (slope, energy) = slope(of: context.column)
    let own =
      context.column.dot(context.values) / max(Samples.energy(context.column.samples), 1e-30)
    guard own > 0.1 * gain, energy > 0 else { return nil }
    let step = -slope.dot(context.values) / (own * energy) / rate
    let index = context.index
    guard abs(step) > 2e-6, abs(step) < 0.002,
      let stem = variants.time(of: index, later: change.amount + step)
    else {
      return nil
    }
    let scale = (fit.reference.stems[index].energy / max(original.stems[index].energy, 1e-30))
      .squareRoot()
    var better = change
    better.sound = stem.scaled(by: scale)
    let moved = whitened(stem.scaled(by: scale))
    let after =
      context.energy - 2 * gain * moved.dot(context.values) + gain * gain
      * Samples.energy(moved.samples)
    guard after < 0.99 * context.before else { return nil }
    better.amount += step
    better.after = (change.before ?? 0) + better.amount
    return better
  }

  /// Takes back what explains too little: what was found first was found while the rest was still
  /// wrong.
  private mutating func simplify() {
    if changes.count <= Self.greatestSimplified {
      while changes.count > 1,
        changes.indices.contains(where: { position in
          accept(position) { $0.remove(position, rounds: 1) }
        })
      {}
    }
    for position in changes.indices.reversed()
    where changes[position].kind == .frequency
      && abs(changes[position].amount) < RecordingThreshold.percent
    {
      remove(position, rounds: 2)
    }
    // At the level of the whole, too, events of another frequency or time hold that level.
    for position in changes.indices {
      guard let plain = variants.sound(changes[position]) else { continue }
      accept(position) {
        $0.changes[position].sound = plain
        $0.fitChanges(rounds: 2)
      }
    }
  }

  /// Makes a change simpler if that leaves no more than chance and the model's errors do; whether
  /// it was.
  @discardableResult private mutating func accept(_ position: Int, _ simplify: (inout Self) -> Void)
    -> Bool
  {
    let count = Double(changes[position].filled?.count ?? 0)
    let slack =
      RecordingThreshold.z * RecordingThreshold.z + 3 * (2 * count).squareRoot()
      + RecordingThreshold.share
      * changes[position].improvement
    var other = self
    simplify(&other)
    guard other.surplus(sigma) - surplus(sigma) < slack else { return false }
    self = other
    return true
  }

  private mutating func remove(_ position: Int, rounds: Int) {
    changes.remove(at: position)
    refine(rounds: rounds)
  }

  private func surplus(_ sigma: Double) -> Double {
    var isFilled = [Bool](repeating: false, count: residual.count)
    for range in changes.compactMap(\.filled) {
      for index in range {
        isFilled[index] = true
      }
    }
    return Samples.energy(residual) / (sigma * sigma) - Double(isFilled.count { !$0 })
  }
}
