internal import CMath
import SignalAnalysis

/// One cause of what a reference leaves of a recording: an event that changed, or a sound that was
/// added.
struct RecordingChange {
  var kind: Difference.Kind
  var event: IndexedEvent
  /// Seconds of the reference.
  var range: ClosedRange<Double>
  /// Decibels, seconds or percent; of a sound that is missing or added, decibels relative to full
  /// scale.
  var amount: Double
  var before: Double?
  var after: Double?
  var waveformIndex: Int?
  var waveform: EventWaveform?
  var excludedRange: Range<Int>?
  /// Samples of the take that it explains, and by how much, in multiples of the noise's power.
  var explainedRange: Range<Int>
  var improvement = 0.0
  var score = 0.0
  var penalty = 0.0
  /// Whether it may be the opposite change of the other of two events as well.
  var isAmbiguous = false

  var confidence: Double { improvement.squareRoot() }
  var standardError: Double { confidence > 0 ? abs(amount) / confidence : 0 }
}

/// The least differences that are reported, however good a recording is.
enum RecordingThreshold {
  /// Standard errors that something must be away from none: about one false alarm in 10⁷ tests.
  static let zScore = 5.5
  static let decibels = 0.5
  static let seconds = 0.001
  static let percent = 3.0
  /// The share of an event's energy that a change of it explains.
  static let energyFraction = 0.003
  /// Below this level an event is missing: −12 dB.
  static let missingGain = 0.25
  /// What may be hidden of an event in a recording that is not explained.
  static let undetectableChange = (decibels: 12.0, seconds: RecordingModelFit.maximumTimeShift)
}

/// A recording as its reference at one place and a list of changes, found from what is left: the
/// clearest first.
struct RecordingModelFit {
  let fittedPlacement: RecordingSearch.FittedPlacement
  private(set) var fit: RecordingFit
  private(set) var changes: [RecordingChange] = []
  private(set) var gain = 0.0
  /// The events that stand out of the noise enough to be judged.
  private(set) var detectableEvents: [Int] = []
  private(set) var isFound = false
  /// How many things must be said; the vague ones and those about the reference's events weigh
  /// more.
  private(set) var cost = 0.0
  /// For each stem, how many standard errors its gain is away from none, and the standard error of
  /// its time in seconds.
  private(set) var signalToNoise: [Double] = []
  private(set) var timeErrors: [Double] = []
  private var sigma = 0.0
  /// The whitened take less what the reference explains at one gain.
  private var residual: [Float] = []
  private var columns: [DesignColumn] = []
  private let burstDetector: BurstDetector
  private let originalReference: RecordingReference
  private let hypothesis: ChangedEventSearch.Hypothesis?

  private static let maximumChangeCount = 24
  /// How many changes more than its limit an explanation finds: some are taken back.
  private static let changeCountMargin = 2.0
  /// Seconds by which an event may have moved.
  static let maximumTimeShift = 0.06
  /// How much better than a change of an event an added sound over it must explain what is left.
  private static let penalty = 1.3
  /// What saying that something sounds otherwise is worth, of what it explains.
  private static let ambiguityWeight = 0.25
  /// What explains so much of what is left around it is more than a leftover.
  private static let clearFraction = 0.95
  /// What was already explained must leave this share of what explains it to count again.
  private static let minimumIndependentFraction = 0.1
  private static let maximumRefinementCount = 6
  /// From what is left on that is four times the noise, the model is not all there is.
  private static let maximumMisfit = 0.3
  private static let maximumSimplifiedCount = 4
  private static let minimumPresentFraction = 0.4
  private static let minimumCoherence = 0.4
  /// The same where single events are judged, and the greatest doubt of an added sound.
  private static let reliableCoherence = 0.98
  private static let maximumPenalty = 2.0
  /// How much weaker than what was added a reference may be and still be what was recorded: −26 dB.
  private static let minimumReferenceRatio = 0.05
  /// So many events as they should be are seldom found by chance, and leave less of a doubt.
  private static let minimumSupport = 3
  private static let supportedPenaltyWeight = 0.3
  /// The greatest share of events that may differ where there are several.
  private static let maximumChangedFraction = 0.6

  private var rate: Double { originalReference.rate }
  var minimumChange: (decibels: Double, seconds: Double) {
    isReliable
      ? (RecordingThreshold.decibels, RecordingThreshold.seconds)
      : RecordingThreshold.undetectableChange
  }
  private var variants: EventVariants { EventVariants(reference: originalReference) }
  private var hasSingleEvent: Bool { originalReference.indistinguishableWaveforms.count == 1 }

  /// - Parameter limit: What a better one costs less than.
  init(
    _ found: RecordingSearch.FittedPlacement, original: RecordingReference,
    hypothesis: ChangedEventSearch.Hypothesis? = nil,
    limit: Double
  ) {
    let settled = found.withEstimatedNoise()
    let stretched = hypothesis == nil ? settled.stretchedAlternative() : nil
    fittedPlacement = stretched ?? settled
    fit = fittedPlacement.fit
    self.originalReference = stretched?.fit.reference ?? original
    self.hypothesis = hypothesis
    burstDetector = BurstDetector(
      rate: original.rate, extra: self.originalReference.renderer?.transientBank() ?? [])
    updateResidual()
    guard gain > 0 else { return }
    for x in columns.map(\.samples) {
      let slope = zip(x.dropFirst(2), x).reduce(0.0) { sum, pair in
        let step = Double(pair.0 - pair.1) * rate / 2
        return sum + step * step
      }
      signalToNoise.append(Samples.energy(x).squareRoot() * gain / sigma)
      timeErrors.append(slope > 0 ? sigma / (gain * slope.squareRoot()) : .infinity)
    }
    detectableEvents = columns.indices.filter { signalToNoise[$0] > 2 * RecordingThreshold.zScore }
    if let index = hypothesis?.waveformIndex {
      // Gain and place stay as they were found without the original.
      columns[index].add(to: &residual, times: gain)
      fit.reference.waveforms[index] = original.waveforms[index]
      columns[index] = whitened(original.waveforms[index])
      columns[index].add(to: &residual, times: -gain)
    }
    for _ in 0..<Self.maximumChangeCount {
      guard let next = bestCandidate() else { break }
      guard Double(changes.count) <= limit + Self.changeCountMargin else { return }
      changes.append(next)
      refine(rounds: 1)
    }
    if fit.maximumTempo == 0, !changes.isEmpty {
      fit.maximumTempo = RecordingFit.maximumClockDeviation
      refine(rounds: 2)
    }
    simplify()
    if !detectableEvents.isEmpty {
      assess()
    }
  }

  private mutating func updateResidual() {
    let solution = fit.solve()
    sigma = solution.sigma
    gain = solution.gain
    residual = solution.humFreeRecording
    for column in solution.columns {
      column.add(to: &residual, times: -gain)
    }
    for range in changes.compactMap(\.excludedRange) {
      Samples.silence(&residual, in: range)
    }
    columns = fit.reference.waveforms.map(whitened)
  }

  /// Fits the reference with the changes; events that moved or changed their frequency do not hold
  /// the place.
  private mutating func fitChanges(rounds: Int) {
    fit.reference.waveforms = originalReference.waveforms
    for change in changes {
      if let index = change.waveformIndex {
        fit.reference.waveforms[index] =
          change.waveform ?? originalReference.waveforms[index].scaled(by: 0)
      }
    }
    fit.excludedRanges = changes.filter { $0.waveformIndex == nil }.compactMap(\.excludedRange)
    fit.alignmentExclusions = Set(
      changes.compactMap { $0.kind == .frequency || $0.kind == .time ? $0.waveformIndex : nil })
    fit.refine(rounds: rounds)
    updateResidual()
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

  private mutating func assess() {
    let own = changes.filter { $0.waveformIndex != nil }
    let lost = Set(own.filter { $0.kind == .missing || $0.kind == .spectrum }.map(\.event.index))
    func energy(_ stems: [Int]) -> Double {
      stems.reduce(0) { $0 + originalReference.waveforms[$1].energy }
    }
    let there = detectableEvents.filter {
      !lost.contains(originalReference.waveforms[$0].event.index) && !isMasked($0)
    }
    let isMost = energy(there) >= Self.minimumPresentFraction * energy(detectableEvents)
    cost = changes.reduce(0) { sum, change in
      switch change.kind {
      case .spectrum: sum + 2.5
      case .frequency, .time: sum + 1.2
      default: sum + 1
      }
    }
    let isSupported = there.count >= Self.minimumSupport && isMost
    cost += changes.reduce(0) { $0 + $1.penalty } * (isSupported ? Self.supportedPenaltyWeight : 1)
    // Of a short pattern, a change of any event is likelier than another tempo.
    if !fit.isLimitedToClockDeviation || fittedPlacement.stretchFactor != 1 {
      cost += originalReference.isShort ? 1.5 : 0.5
    }
    if fittedPlacement.polarity < 0 {
      cost += 0.1
    }
    let count = Double(originalReference.waveforms.count)
    let added =
      changes.filter { $0.waveformIndex == nil }.map { pow(10, $0.amount / 20) }.max() ?? 0
    isFound =
      (isMost || Double(there.count) > 0.5 * Double(detectableEvents.count))
      && (count <= 3 || Double(own.count) <= Self.maximumChangedFraction * count)
      && gain * originalReference.peak >= Self.minimumReferenceRatio * added
      && coherence >= Self.minimumCoherence
    isReliable = isExplained || coherence >= Self.reliableCoherence
  }

  var commonTimeShift: Double? {
    let shifts = changes.filter { $0.kind == .time }.map(\.amount)
    let shift = Samples.median(shifts)
    let together = shifts.filter { abs($0 - shift) < 0.002 }.count
    return together > 1 && 2 * together > shifts.count ? shift : nil
  }

  func isBetter(than other: RecordingModelFit?) -> Bool {
    guard let other else { return true }
    guard isFound, other.isFound else { return isFound }
    return penalty < other.penalty - 0.02
  }

  var penalty: Double { cost + misfit }

  private var misfit: Double {
    0.5 * log10(max(1, Samples.energy(residual) / (sigma * sigma * Double(max(1, residual.count)))))
  }

  var isExplained: Bool { misfit < Self.maximumMisfit }
  /// Whether single events can be judged: else what was recorded through is not known.
  private(set) var isReliable = true
  /// The changes that are likelier than another cause: where more than noise is left, those that
  /// explain more than that.
  var reportedChanges: [RecordingChange] {
    guard isReliable, !isExplained else { return isReliable ? changes : [] }
    let left = excessEnergy(sigma: sigma)
    return changes.filter { $0.improvement > left && $0.penalty < Self.maximumPenalty }
  }

  private func bestCandidate() -> RecordingChange? {
    let free = detectableEvents.filter { index in !changes.contains { $0.waveformIndex == index } }
    let best = free.flatMap(candidateChanges).max { $0.score < $1.score }
    guard
      let burst = burstDetector.strongestBurst(
        in: residual, whitener: fit.whitener, sigma: sigma, maskingThreshold: maskingThreshold()),
      isIndependent(burst.range, burst.score)
    else { return best }
    // An event that changed leaves bursts as well.
    let overlaps = best.map { best in
      best.explainedRange.lowerBound - 60 < burst.range.upperBound
        && burst.range.lowerBound < best.explainedRange.upperBound + 60
    }
    let isClearer = burst.score > (best?.score ?? 0) * (overlaps == true ? Self.penalty : 1)
    return isClearer ? addedSound(from: burst) : best
  }

  /// Whether what was explained before does not explain this as well.
  ///
  /// - Parameter share: The share of what is left there that it explains: leftovers are not
  ///   explained well.
  private func isIndependent(_ range: Range<Int>, _ score: Double, share: Double = 0) -> Bool {
    if share > Self.clearFraction { return true }
    let margin = Int(0.08 * rate)
    return changes.allSatisfy { known in
      known.explainedRange.upperBound + margin < range.lowerBound
        || range.upperBound + margin < known.explainedRange.lowerBound
        || score > Self.minimumIndependentFraction * known.improvement
    }
  }

  private func addedSound(from burst: BurstDetector.Burst) -> RecordingChange {
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
    let start = (Double(sample) / rate - fit.placement.delay) / (1 + fit.placement.tempo)
    let duration = Double(range.count) / rate
    let margin = Int(0.02 * rate)
    return RecordingChange(
      kind: .added, event: ActiveRegion.event(start: start, duration: duration),
      range: start...start + duration,
      amount: 20 * log10(burst.amplitude),
      excludedRange: max(
        0, range.lowerBound - margin)..<min(residual.count, range.upperBound + margin),
      explainedRange: range,
      improvement: burst.score, penalty: penalty(of: range))
  }

  /// Whether most of an event lies where sounds were added, or where another sounds otherwise: it
  /// may be anything there.
  private func isMasked(_ index: Int) -> Bool {
    changes.contains { change in
      guard let stem = change.waveformIndex else {
        return isMasked(index, by: change.explainedRange)
      }
      return stem != index && change.excludedRange.map { isMasked(index, by: $0) } ?? false
    }
  }

  private func isMasked(_ index: Int, by range: Range<Int>) -> Bool {
    columns[index].energy(in: range) > 0.5 * Samples.energy(columns[index].samples)
  }

  private func penalty(of range: Range<Int>) -> Double {
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
    return doubt + 1.5 * Double(columns.indices.count { isMasked($0, by: range) })
  }

  /// What is not felt beside what sounds around: a tenth of it within 50 ms, or a fiftieth of all.
  private func maskingThreshold() -> [Float] {
    var levels = [Float](repeating: 0, count: residual.count)
    for index in fit.reference.waveforms.indices {
      let column = fit.column(at: index)
      for (offset, sample) in column.samples.enumerated() {
        levels[column.start + offset] += abs(sample)
      }
    }
    let block = Int(rate / 80)
    let own = stride(from: 0, to: levels.count, by: block).map {
      SignalPair.peak(levels[$0..<min(levels.count, $0 + block)])
    }
    let greatest = own.indices.map { own[max(0, $0 - 4)...min(own.count - 1, $0 + 4)].max() ?? 0 }
    let least = Float(0.02 * originalReference.peak)
    let near = Float(0.1)
    return levels.indices.map { Float(gain) * max(near * greatest[$0 / block], least) }
  }

  private struct EventNeighborhood {
    var waveformIndex: Int
    var column: DesignColumn
    var samples: DesignColumn
    var energy: Double
    var residualEnergy: Double
  }

  private func neighborhood(of index: Int) -> EventNeighborhood {
    let column = columns[index]
    let margin = Int(Self.maximumTimeShift * rate) + 20
    let window =
      max(0, column.start - margin)..<min(residual.count, column.range.upperBound + margin)
    var values = Array(residual[window])
    column.add(to: &values, from: window.lowerBound, times: gain)
    return EventNeighborhood(
      waveformIndex: index, column: column,
      samples: DesignColumn(start: window.lowerBound, samples: values),
      energy: Samples.energy(values), residualEnergy: Samples.energy(residual, window))
  }

  private func candidateChanges(for index: Int) -> [RecordingChange] {
    guard columns[index].samples.count > 20, hasSignificantResidual(columns[index]) else {
      return []
    }
    let context = neighborhood(of: index)
    var found = levelChanges(in: context) + timeChanges(in: context) + frequencyChanges(in: context)
    found += waveformChanges(in: context).filter { other in
      found.allSatisfy { $0.improvement < 0.5 * other.improvement }
    }
    return found.filter {
      // That something else sounds explains all that is left, whatever it is.
      let share =
        $0.kind == .spectrum
        ? 0 : $0.improvement * sigma * sigma / max(context.residualEnergy, 1e-30)
      return isIndependent($0.explainedRange, $0.improvement, share: share)
    }
  }

  private func hasSignificantResidual(_ column: DesignColumn) -> Bool {
    let count = Double(column.samples.count)
    let excess =
      (Samples.energy(residual, column.range) / (sigma * sigma) - count) / (2 * count).squareRoot()
    let (slope, energy) = timeDerivative(of: column)
    let level = column.dot(residual)
    let time = slope.dot(residual)
    let tests = max(
      level * level / Samples.energy(column.samples), time * time / max(energy, 1e-30))
    return max(tests / (sigma * sigma), 4 * excess) > 0.8 * RecordingThreshold.zScore
      * RecordingThreshold.zScore
  }

  /// The slope of a column, less what of it is a change of level, and its energy.
  private func timeDerivative(of column: DesignColumn) -> (DesignColumn, Double) {
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

  private func whitened(_ stem: EventWaveform) -> DesignColumn {
    fit.column(of: stem).whitened(by: fit.whitener, count: fit.recording.count)
  }

  private func change(
    _ kind: Difference.Kind, of context: EventNeighborhood, amount: Double, before: Double? = nil,
    after: Double? = nil
  ) -> RecordingChange {
    let stem = originalReference.waveforms[context.waveformIndex]
    return RecordingChange(
      kind: kind, event: stem.event, range: stem.time...max(stem.time, stem.end), amount: amount,
      before: before,
      after: after, waveformIndex: context.waveformIndex,
      excludedRange: kind == .spectrum ? context.column.range : nil,
      explainedRange: context.column.range)
  }

  /// Rates one way that leaves some energy; nothing where it is too little to be reported.
  private func rated(
    _ change: RecordingChange, in context: EventNeighborhood, residualEnergy after: Double,
    parameterCount parameters: Double = 1,
    waveform sound: EventWaveform? = nil
  ) -> [RecordingChange] {
    var change = change
    change.waveform = sound
    change.improvement = (context.residualEnergy - after) / (sigma * sigma)
    change.score =
      change.improvement - parameters * RecordingThreshold.zScore * RecordingThreshold.zScore
    let energy = Samples.energy(context.column.samples) * gain * gain
    return change.score > 0
      && context.residualEnergy - after > RecordingThreshold.energyFraction * energy
      ? [change] : []
  }

  /// Rates another sound of the event at the level of the whole, and at its own where that is not
  /// too low.
  private func rated(
    _ change: RecordingChange, in context: EventNeighborhood, minimumGainRatio leastShare: Double,
    keepsLevel hasLevel: Bool = false,
    waveform stem: EventWaveform
  ) -> [RecordingChange] {
    let column = whitened(stem)
    let energy = Samples.energy(column.samples)
    let product = column.dot(context.samples)
    let plain = rated(
      change, in: context,
      residualEnergy: context.energy - 2 * gain * product + gain * gain * energy, waveform: stem)
    let own = product / max(energy, 1e-30)
    guard own > leastShare * gain else { return plain }
    return plain
      + rated(
        change, in: context, residualEnergy: context.energy - own * own * energy,
        parameterCount: hasLevel ? 1 : 2.2,
        waveform: stem.scaled(by: hasLevel ? 1 : own / gain))
  }

  private func waveformChanges(in context: EventNeighborhood) -> [RecordingChange] {
    let noise = sigma * sigma * Double(context.column.samples.count)
    let left = Samples.energy(residual, context.column.range) - noise
    let own = gain * gain * Samples.energy(context.column.samples)
    guard left > 0.2 * own else { return [] }
    let change = change(.spectrum, of: context, amount: 10 * log10(left / own))
    var rated = rated(
      change, in: context, residualEnergy: context.residualEnergy - left, parameterCount: 10)
    for index in rated.indices {
      rated[index].score *= Self.ambiguityWeight
    }
    return rated
  }

  private func levelChanges(in context: EventNeighborhood) -> [RecordingChange] {
    let energy = Samples.energy(context.column.samples)
    let own = context.column.dot(context.samples) / energy
    let stem = fit.reference.waveforms[context.waveformIndex]
    if own < RecordingThreshold.missingGain * gain {
      // Where something else sounds, it is not missing.
      let noise = sigma * sigma * Double(context.column.samples.count)
      guard context.samples.energy(in: context.column.range) - noise < 0.3 * gain * gain * energy
      else { return [] }
      let peak = 20 * log10(max(Double(SignalPair.peak(stem.samples)), 1e-6))
      return rated(
        change(.missing, of: context, amount: peak), in: context, residualEnergy: context.energy)
    }
    let decibels = 20 * log10(own / gain)
    guard abs(decibels) >= RecordingThreshold.decibels else { return [] }
    let after = context.energy - own * own * energy
    return rated(
      change(.level, of: context, amount: decibels), in: context, residualEnergy: after,
      waveform: stem.scaled(by: own / gain))
  }

  private func timeChanges(in context: EventNeighborhood) -> [RecordingChange] {
    let reach = Int(Self.maximumTimeShift * rate)
    let offset = [Float](repeating: 0, count: max(0, context.column.start - context.samples.start))
    let products = CrossCorrelation.of(
      offset + context.column.samples, context.samples.samples, maximumLag: reach
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
    for peak in peaks.prefix(originalReference.renderer?.hasControls == true ? 5 : 1) {
      let a = products[peak - 1]
      let b = products[peak]
      let c = products[peak + 1]
      let part = 0.5 * (a - c) / (a - 2 * b + c)
      shifts.append((Double(peak - reach) + part) / rate / (1 + fit.placement.tempo))
    }
    shifts.removeAll { !(abs($0) >= RecordingThreshold.seconds) }
    if let hypothesis, hypothesis.waveformIndex == context.waveformIndex,
      hypothesis.frequencyRatio == nil
    {
      shifts.insert(
        hypothesis.waveform.time - originalReference.waveforms[context.waveformIndex].time, at: 0)
    }
    return shifts.flatMap { shift -> [RecordingChange] in
      guard let stem = variants.shifted(context.waveformIndex, by: shift) else { return [] }
      let before = originalReference.waveforms[context.waveformIndex].time
      let change = change(.time, of: context, amount: shift, before: before, after: before + shift)
      return rated(change, in: context, minimumGainRatio: 0.1, waveform: stem)
    }
  }

  private func frequencyChanges(in context: EventNeighborhood) -> [RecordingChange] {
    var best: RecordingChange?
    func attempt(_ ratio: Double) {
      guard abs(ratio - 1) * 100 >= RecordingThreshold.percent,
        let (stem, before, after) = variants.retuned(context.waveformIndex, by: ratio)
      else { return }
      let change = change(
        .frequency, of: context, amount: 100 * (ratio - 1), before: before, after: after)
      for next in rated(
        change, in: context, minimumGainRatio: 0.2, keepsLevel: hasSingleEvent, waveform: stem)
      where next.score > best?.score ?? 0 {
        best = next
      }
    }
    let isShort = Double(context.column.samples.count) < 0.12 * rate
    let supposed = hypothesis.flatMap {
      $0.waveformIndex == context.waveformIndex ? $0.frequencyRatio : nil
    }
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
    if !isShort, let ratio = frequencyRatio(from: context) {
      attempt(ratio)
    }
    return [best].compactMap(\.self)
  }

  /// How much higher a long sound is: by its mean frequency, then by how its phase runs away.
  private func frequencyRatio(from context: EventNeighborhood) -> Double? {
    let values = context.samples
    let range = context.column.range
    func hertz(_ samples: [Float]) -> Double {
      EventWaveform(
        originalReference.waveforms[context.waveformIndex].event, time: 0, sampleOffset: 0,
        samples: samples, rate: rate
      )
      .meanFrequency
    }
    let own = hertz(
      Array(values.samples[range.lowerBound - values.start..<range.upperBound - values.start]))
    let plain = hertz(context.column.samples)
    guard own > 0, plain > 0 else { return nil }
    var ratio = own / plain
    for _ in 0..<5 {
      guard (0.2...5).contains(ratio) else { return nil }
      ratio = variants.clampedRatio(ratio, of: context.waveformIndex)
      guard let (stem, _, _) = variants.retuned(context.waveformIndex, by: ratio) else {
        return nil
      }
      ratio *= 1 + phaseDrift(of: whitened(stem), in: values) / max(20, stem.meanFrequency)
    }
    return variants.clampedRatio(ratio, of: context.waveformIndex)
  }

  /// Hertz by which what is around an event is higher than a variant of it, by its phase.
  private func phaseDrift(of column: DesignColumn, in values: DesignColumn) -> Double {
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
    for _ in 0..<Self.maximumRefinementCount {
      var isBetter = false
      for kind in [Difference.Kind.frequency, .time] {
        for position in changes.indices where changes[position].kind == kind {
          guard let index = changes[position].waveformIndex else { continue }
          let context = neighborhood(of: index)
          let change = changes[position]
          guard
            let better = kind == .time
              ? refinedTime(in: context, near: change) : refinedFrequency(in: context, near: change)
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
  private func refinedFrequency(in context: EventNeighborhood, near change: RecordingChange)
    -> RecordingChange?
  {
    /// How much more a column explains that may come a little earlier or later.
    func shifted(_ column: DesignColumn) -> Double {
      let (slope, energy) = timeDerivative(of: column)
      let product = slope.dot(context.samples)
      return energy > 0 ? product * product / energy : 0
    }
    var best: RecordingChange?
    var center = 1 + change.amount / 100
    // What explains a hundredth of a standard error more is as good.
    var least =
      context.residualEnergy - max(0.01 * sigma * sigma, 0.01 * context.residualEnergy)
      - shifted(context.column)
    let first = min(0.03, 0.003 / max(0.01, Double(context.column.samples.count) / rate))
    for step in [0, first, first / 2, first / 4, first / 8] {
      var ratio = center
      for sign in [1.0, -1] {
        let tried = center * exp(step * sign)
        guard let (stem, before, after) = variants.retuned(context.waveformIndex, by: tried) else {
          continue
        }
        let column = whitened(stem)
        let energy = max(Samples.energy(column.samples), 1e-30)
        let own = max(0, column.dot(context.samples)) / energy
        let left = context.energy - own * own * energy - shifted(column)
        guard left < least, own > 0.1 * gain else { continue }
        least = left
        var better = change
        better.amount = 100 * (tried - 1)
        better.before = before
        better.after = after
        better.waveform = stem.scaled(by: hasSingleEvent ? 1 : own / gain)
        best = better
        ratio = tried
      }
      center = ratio
    }
    return best
  }

  /// A shift near one that explains more than the one there is, by the slope of the event's sound.
  private func refinedTime(in context: EventNeighborhood, near change: RecordingChange)
    -> RecordingChange?
  {
    let (slope, energy) = timeDerivative(of: context.column)
    let own =
      context.column.dot(context.samples) / max(Samples.energy(context.column.samples), 1e-30)
    guard own > 0.1 * gain, energy > 0 else { return nil }
    let step = -slope.dot(context.samples) / (own * energy) / rate
    let index = context.waveformIndex
    guard abs(step) > 2e-6, abs(step) < 0.002,
      let stem = variants.shifted(index, by: change.amount + step)
    else {
      return nil
    }
    let scale =
      (fit.reference.waveforms[index].energy / max(originalReference.waveforms[index].energy, 1e-30))
      .squareRoot()
    var better = change
    better.waveform = stem.scaled(by: scale)
    let moved = whitened(stem.scaled(by: scale))
    let after =
      context.energy - 2 * gain * moved.dot(context.samples) + gain * gain
      * Samples.energy(moved.samples)
    guard after < 0.99 * context.residualEnergy else { return nil }
    better.amount += step
    better.after = (change.before ?? 0) + better.amount
    return better
  }

  /// Takes back what explains too little: what was found first was found while the rest was still
  /// wrong.
  private mutating func simplify() {
    if changes.count <= Self.maximumSimplifiedCount {
      while changes.count > 1,
        changes.indices.contains(where: { position in
          simplify(at: position) { $0.removeChange(at: position, rounds: 1) }
        })
      {}
    }
    for position in changes.indices.reversed()
    where changes[position].kind == .frequency
      && abs(changes[position].amount) < RecordingThreshold.percent
    {
      removeChange(at: position, rounds: 2)
    }
    // At the level of the whole, too, events of another frequency or time hold that level.
    for position in changes.indices {
      guard let plain = variants.waveform(of: changes[position]) else { continue }
      simplify(at: position) {
        $0.changes[position].waveform = plain
        $0.fitChanges(rounds: 2)
      }
    }
  }

  /// Makes a change simpler if that leaves no more than chance and the model's errors do; whether
  /// it was.
  @discardableResult private mutating func simplify(
    at position: Int, by simplify: (inout Self) -> Void
  )
    -> Bool
  {
    let count = Double(changes[position].excludedRange?.count ?? 0)
    let slack =
      RecordingThreshold.zScore * RecordingThreshold.zScore + 3 * (2 * count).squareRoot()
      + RecordingThreshold.energyFraction
      * changes[position].improvement
    var other = self
    simplify(&other)
    guard other.excessEnergy(sigma: sigma) - excessEnergy(sigma: sigma) < slack else {
      return false
    }
    self = other
    return true
  }

  private mutating func removeChange(at position: Int, rounds: Int) {
    changes.remove(at: position)
    refine(rounds: rounds)
  }

  private func excessEnergy(sigma: Double) -> Double {
    var isFilled = [Bool](repeating: false, count: residual.count)
    for range in changes.compactMap(\.excludedRange) {
      for index in range {
        isFilled[index] = true
      }
    }
    return Samples.energy(residual) / (sigma * sigma) - Double(isFilled.count { !$0 })
  }
}
