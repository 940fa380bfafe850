internal import CMath
import SignalAnalysis

/// An explanation of a recording by a reference at one placement and a list of changes.
///
/// 1. Estimate noise and hum, and fit one gain for all events (`RecordingResidual`).
/// 2. Find the change of an event (`EventChangeEstimator`) or the added sound
///    (`AddedSoundEstimator`) that explains most of the residual. Add it, and refine placement,
///    frequencies, and times. Repeat until nothing significant remains.
/// 3. Remove or simplify changes that explain too little.
/// 4. Assess the explanation: a cost for each change, and the misfit of the residual.
struct RecordingModelFit {
  let fittedPlacement: RecordingSearch.FittedPlacement
  private(set) var changes: [RecordingChange] = []
  /// The indices of waveforms that exceed the noise enough to be compared.
  private(set) var detectableEvents: [Int] = []
  /// A Boolean value that indicates whether the recording contains the reference.
  private(set) var isFound = false
  /// A Boolean value that indicates whether single events can be compared. Otherwise, the recording
  /// was changed by an unknown response.
  private(set) var isReliable = true
  /// The cost of the changes. Vague changes, and changes of the reference's events, cost more.
  private(set) var cost = 0.0
  /// The gain of each waveform, in standard errors.
  private(set) var signalToNoise: [Double] = []
  /// The standard error of each waveform's time, in seconds.
  private(set) var timeErrors: [Double] = []
  private var residual: RecordingResidual
  private let burstDetector: BurstDetector
  private let originalReference: RecordingReference
  private let hypothesis: ChangedEventSearch.Hypothesis?

  private static let maximumChangeCount = 24
  /// The number of changes above the cost limit that are tried. Some changes are removed again.
  private static let changeCountMargin = 2.0
  /// The maximum time shift of an event, in seconds.
  static let maximumTimeShift = 0.06
  /// The factor by which an added sound must score higher than a change of an overlapping event.
  private static let minimumAdditionAdvantage = 1.3
  /// The fraction of a residual that a change must explain to be independent of earlier changes.
  private static let clearFraction = 0.95
  /// The minimum ratio of a change's score to the improvement by an earlier change nearby. A
  /// smaller score is part of the residual of that change.
  private static let minimumIndependentFraction = 0.1
  private static let maximumRefinementCount = 6
  /// The misfit from which the model is incomplete: four times the noise.
  private static let maximumMisfit = 0.3
  /// The maximum number of changes for which removals are tried.
  private static let maximumSimplifiedCount = 4
  /// The minimum fraction of the detectable events' energy that is present.
  private static let minimumPresentFraction = 0.4
  /// The minimum coherence of a recording that contains the reference.
  private static let minimumCoherence = 0.4
  /// The minimum coherence to compare single events.
  private static let reliableCoherence = 0.98
  /// The maximum penalty of a reported change.
  private static let maximumPenalty = 2.0
  /// The minimum peak of the reference relative to that of added sounds: −26 dB.
  private static let minimumReferenceRatio = 0.05
  /// The number of unchanged events that are seldom found by chance.
  private static let minimumSupport = 3
  /// The factor for penalties if that many events are unchanged.
  private static let supportedPenaltyWeight = 0.3
  /// The maximum fraction of changed events if there are more than three.
  private static let maximumChangedFraction = 0.6

  /// Explains a recording.
  ///
  /// - Parameters:
  ///   - placement: The placement.
  ///   - originalReference: The reference without the change of the hypothesis.
  ///   - hypothesis: The hypothesis that led to the placement, if any.
  ///   - limit: The cost of the best explanation so far.
  init(
    _ placement: RecordingSearch.FittedPlacement, original originalReference: RecordingReference,
    hypothesis: ChangedEventSearch.Hypothesis? = nil, limit: Double
  ) {
    let refined = placement.withEstimatedNoise()
    let stretched = hypothesis == nil ? refined.stretchedAlternative() : nil
    fittedPlacement = stretched ?? refined
    self.originalReference = stretched?.fit.reference ?? originalReference
    self.hypothesis = hypothesis
    burstDetector = BurstDetector(
      rate: originalReference.rate,
      extra: self.originalReference.renderer?.transientBank() ?? [])
    residual = RecordingResidual(fittedPlacement.fit)
    guard gain > 0 else { return }
    measureDetectability()
    if let index = hypothesis?.waveformIndex {
      // Gain and placement remain those of the hypothesis.
      residual.replaceWaveform(at: index, with: originalReference.waveforms[index])
    }
    guard findChanges(limit: limit) else { return }
    simplify()
    if !detectableEvents.isEmpty {
      assess()
    }
  }

  /// The fit with the changes.
  var fit: RecordingFit { residual.fit }
  /// The gain of all events.
  var gain: Double { residual.gain }
  /// The explained energy relative to the total energy at the events.
  var coherence: Double { residual.coherence }

  private var rate: Double { originalReference.rate }

  private var estimator: EventChangeEstimator {
    EventChangeEstimator(
      residual: residual, originalReference: originalReference, hypothesis: hypothesis)
  }

  private var additionEstimator: AddedSoundEstimator {
    AddedSoundEstimator(residual: residual, referencePeak: originalReference.peak)
  }

  /// Computes the signal-to-noise ratio and the time error of each waveform.
  ///
  /// By the Cramér–Rao bound, the standard error of the time is σ divided by the root of the
  /// derivative's energy.
  private mutating func measureDetectability() {
    for samples in residual.columns.map(\.samples) {
      let derivativeEnergy = zip(samples.dropFirst(2), samples).reduce(0.0) { sum, pair in
        let slope = Double(pair.0 - pair.1) * rate / 2
        return sum + slope * slope
      }
      signalToNoise.append(Vector.energy(samples).squareRoot() * gain / residual.sigma)
      timeErrors.append(
        derivativeEnergy > 0 ? residual.sigma / (gain * derivativeEnergy.squareRoot()) : .infinity)
    }
    detectableEvents = residual.columns.indices.filter {
      signalToNoise[$0] > 2 * RecordingThreshold.zScore
    }
  }

  // MARK: - Search

  /// Adds the best change repeatedly.
  ///
  /// - Returns: False if the changes cost much more than the limit.
  private mutating func findChanges(limit: Double) -> Bool {
    for _ in 0..<Self.maximumChangeCount {
      guard let change = bestCandidate() else { break }
      guard Double(changes.count) <= limit + Self.changeCountMargin else { return false }
      changes.append(change)
      refine(rounds: 1)
    }
    if residual.fit.maximumTempo == 0, !changes.isEmpty {
      residual.fit.maximumTempo = RecordingFit.maximumClockDeviation
      refine(rounds: 2)
    }
    return true
  }

  /// Returns the change or the added sound with the highest score.
  private func bestCandidate() -> RecordingChange? {
    let estimator = estimator
    let unchanged = detectableEvents.filter { index in
      !changes.contains { $0.waveformIndex == index }
    }
    let candidates = unchanged.flatMap { index in
      independentChanges(for: index, estimator)
    }
    let best = candidates.max { $0.score < $1.score }
    let additionEstimator = additionEstimator
    guard let burst = additionEstimator.strongestBurst(of: burstDetector),
      isIndependent(burst.range, score: burst.score)
    else { return best }
    // A changed event also leaves bursts in the residual.
    let overlapsBest = best.map { best in
      best.explainedRange.lowerBound - 60 < burst.range.upperBound
        && burst.range.lowerBound < best.explainedRange.upperBound + 60
    }
    let advantage = overlapsBest == true ? Self.minimumAdditionAdvantage : 1
    let isClearer = burst.score > (best?.score ?? 0) * advantage
    return isClearer ? additionEstimator.addedSound(from: burst) : best
  }

  /// Returns the changes of an event that are not part of the residual of earlier changes.
  private func independentChanges(
    for index: Int, _ estimator: EventChangeEstimator
  ) -> [RecordingChange] {
    guard let neighborhood = estimator.significantNeighborhood(of: index) else { return [] }
    let residualEnergy = max(neighborhood.residualEnergy, 1e-30)
    return estimator.candidateChanges(in: neighborhood).filter { change in
      // Another waveform explains any residual, so its fraction does not count.
      var fraction = 0.0
      if change.kind != .spectrum {
        fraction = change.improvement * residual.sigma * residual.sigma / residualEnergy
      }
      return isIndependent(
        change.explainedRange, score: change.improvement, explainedFraction: fraction)
    }
  }

  /// Returns whether a residual exceeds the residuals of earlier changes nearby.
  ///
  /// - Parameters:
  ///   - range: The samples of the residual.
  ///   - score: The score of the change that explains it.
  ///   - explainedFraction: The fraction of the residual that the change explains. No change
  ///     explains much of the residual of another change.
  private func isIndependent(
    _ range: Range<Int>, score: Double, explainedFraction: Double = 0
  ) -> Bool {
    if explainedFraction > Self.clearFraction { return true }
    let margin = Int(0.08 * rate)
    return changes.allSatisfy { change in
      change.explainedRange.upperBound + margin < range.lowerBound
        || range.upperBound + margin < change.explainedRange.lowerBound
        || score > Self.minimumIndependentFraction * change.improvement
    }
  }

  // MARK: - Refinement

  /// Fits the reference with the changes.
  ///
  /// Events with a changed time or frequency don't determine the placement.
  private mutating func fitChanges(rounds: Int) {
    var waveforms = originalReference.waveforms
    for change in changes {
      guard let index = change.waveformIndex else { continue }
      waveforms[index] = change.waveform ?? originalReference.waveforms[index].scaled(by: 0)
    }
    residual.fit.reference.waveforms = waveforms
    let additions = changes.filter { $0.waveformIndex == nil }
    residual.fit.excludedRanges = additions.compactMap(\.excludedRange)
    let moved = changes.filter { $0.kind == .frequency || $0.kind == .time }
    residual.fit.alignmentExclusions = Set(moved.compactMap(\.waveformIndex))
    residual.fit.refine(rounds: rounds)
    residual.update(excludedRanges: changes.compactMap(\.excludedRange))
  }

  /// Refines the placement, and then the frequencies and times that were found while changed events
  /// still affected the placement.
  private mutating func refine(rounds: Int) {
    fitChanges(rounds: rounds)
    for _ in 0..<Self.maximumRefinementCount {
      guard refineChanges() else { return }
      fitChanges(rounds: 1)
    }
  }

  /// Refines frequencies and times, and returns whether a change explains more than before.
  private mutating func refineChanges() -> Bool {
    let estimator = estimator
    var isImproved = false
    for kind in [RecordingChange.Kind.frequency, .time] {
      for position in changes.indices where changes[position].kind == kind {
        guard let index = changes[position].waveformIndex else { continue }
        let neighborhood = estimator.neighborhood(of: index)
        let refined =
          kind == .time
          ? estimator.refinedTime(in: neighborhood, near: changes[position])
          : estimator.refinedFrequency(in: neighborhood, near: changes[position])
        guard let refined else { continue }
        changes[position] = refined
        isImproved = true
      }
    }
    return isImproved
  }

  // MARK: - Simplification

  /// Removes or simplifies changes that explain too little. Early changes were found while others
  /// were still missing.
  private mutating func simplify() {
    if changes.count <= Self.maximumSimplifiedCount {
      while changes.count > 1, removeOneChange() {}
    }
    for position in changes.indices.reversed()
    where changes[position].kind == .frequency
      && abs(changes[position].amount) < RecordingThreshold.percent
    {
      removeChange(at: position, rounds: 2)
    }
    // If a changed event can have the common gain, it contributes to that gain.
    let variants = EventVariants(reference: originalReference)
    for position in changes.indices {
      guard let waveform = variants.waveform(of: changes[position]) else { continue }
      simplify(at: position) {
        $0.changes[position].waveform = waveform
        $0.fitChanges(rounds: 2)
      }
    }
  }

  /// Removes the first change that explains too little, and returns whether there was one.
  private mutating func removeOneChange() -> Bool {
    for position in changes.indices {
      let isRemoved = simplify(at: position) { $0.removeChange(at: position, rounds: 1) }
      if isRemoved { return true }
    }
    return false
  }

  /// Simplifies a change if the residual increases by no more than chance and model errors explain.
  ///
  /// - Parameters:
  ///   - position: The index of the change.
  ///   - change: A closure that simplifies the change.
  /// - Returns: True if the change was simplified.
  @discardableResult private mutating func simplify(
    at position: Int, by change: (inout Self) -> Void
  ) -> Bool {
    let excludedCount = Double(changes[position].excludedRange?.count ?? 0)
    let tolerance =
      RecordingThreshold.zScore * RecordingThreshold.zScore
      + 3 * (2 * excludedCount).squareRoot()
      + RecordingThreshold.energyFraction * changes[position].improvement
    var simplified = self
    change(&simplified)
    let sigma = residual.sigma
    let increase = simplified.excessEnergy(sigma: sigma) - excessEnergy(sigma: sigma)
    guard increase < tolerance else { return false }
    self = simplified
    return true
  }

  private mutating func removeChange(at position: Int, rounds: Int) {
    changes.remove(at: position)
    refine(rounds: rounds)
  }

  private func excessEnergy(sigma: Double) -> Double {
    residual.excessEnergy(sigma: sigma, excludedRanges: changes.compactMap(\.excludedRange))
  }

  // MARK: - Assessment

  /// Computes the cost, and decides whether the recording contains the reference.
  private mutating func assess() {
    let eventChanges = changes.filter { $0.waveformIndex != nil }
    let absent = eventChanges.filter { $0.kind == .missing || $0.kind == .spectrum }
    let absentIndices = Set(absent.map(\.event.index))
    let present = detectableEvents.filter {
      !absentIndices.contains(originalReference.waveforms[$0].event.index) && !isMasked($0)
    }
    func energy(_ indices: [Int]) -> Double {
      indices.reduce(0) { $0 + originalReference.waveforms[$1].energy }
    }
    let hasMostEnergy =
      energy(present) >= Self.minimumPresentFraction * energy(detectableEvents)
    cost = cost(isSupported: present.count >= Self.minimumSupport && hasMostEnergy)

    let count = Double(originalReference.waveforms.count)
    let additions = changes.filter { $0.waveformIndex == nil }
    let additionPeak = additions.map { pow(10, $0.amount / 20) }.max() ?? 0
    let hasMostEvents = Double(present.count) > 0.5 * Double(detectableEvents.count)
    isFound =
      (hasMostEnergy || hasMostEvents)
      && (count <= 3 || Double(eventChanges.count) <= Self.maximumChangedFraction * count)
      && gain * originalReference.peak >= Self.minimumReferenceRatio * additionPeak
      && coherence >= Self.minimumCoherence
    isReliable = isExplained || coherence >= Self.reliableCoherence
  }

  /// Returns the cost of the changes.
  ///
  /// - Parameter isSupported: Pass true if enough events are unchanged.
  private func cost(isSupported: Bool) -> Double {
    var cost = changes.reduce(0.0) { sum, change in
      switch change.kind {
      case .spectrum: sum + 2.5
      case .frequency, .time: sum + 1.2
      default: sum + 1
      }
    }
    let penalties = changes.reduce(0) { $0 + $1.penalty }
    cost += penalties * (isSupported ? Self.supportedPenaltyWeight : 1)
    // In a short pattern, a change of any event is more likely than another tempo.
    if !fit.isLimitedToClockDeviation || fittedPlacement.stretchFactor != 1 {
      cost += originalReference.isShort ? 1.5 : 0.5
    }
    if fittedPlacement.polarity < 0 {
      cost += 0.1
    }
    return cost
  }

  /// Returns whether added sounds or another waveform take the place of most of an event.
  private func isMasked(_ index: Int) -> Bool {
    let additionEstimator = additionEstimator
    return changes.contains { change in
      guard let changedIndex = change.waveformIndex else {
        return additionEstimator.isMasked(index, by: change.explainedRange)
      }
      guard changedIndex != index, let range = change.excludedRange else { return false }
      return additionEstimator.isMasked(index, by: range)
    }
  }

  // MARK: - Results

  /// The common shift of most moved events, or nil if they moved differently.
  var commonTimeShift: Double? {
    let shifts = changes.filter { $0.kind == .time }.map(\.amount)
    let median = Statistics.median(of: shifts)
    let equalCount = shifts.filter { abs($0 - median) < 0.002 }.count
    return equalCount > 1 && 2 * equalCount > shifts.count ? median : nil
  }

  /// Returns whether this explanation is preferable.
  func isBetter(than alternative: RecordingModelFit?) -> Bool {
    guard let alternative else { return true }
    guard isFound, alternative.isFound else { return isFound }
    return penalty < alternative.penalty - 0.02
  }

  /// The cost of the changes and the misfit.
  var penalty: Double { cost + residual.misfit }

  /// A Boolean value that indicates whether the residual is little more than noise.
  private var isExplained: Bool { residual.misfit < Self.maximumMisfit }

  /// The changes to report. If more than noise remains, only changes that explain more than the
  /// residual are reported.
  var reportedChanges: [RecordingChange] {
    guard isReliable else { return [] }
    guard !isExplained else { return changes }
    let excess = excessEnergy(sigma: residual.sigma)
    return changes.filter { $0.improvement > excess && $0.penalty < Self.maximumPenalty }
  }

  /// The smallest changes that are reported, if noise does not hide them.
  var minimumChange: (decibels: Double, seconds: Double) {
    isReliable
      ? (RecordingThreshold.decibels, RecordingThreshold.seconds)
      : RecordingThreshold.undetectableChange
  }
}
