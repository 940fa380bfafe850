internal import CMath
import SignalAnalysis

/// An explanation of a recording as a reference at one placement with a list of changes.
///
/// 1. Estimate noise and hum, and fit one gain for all events (`RecordingResidual`).
/// 2. Find the change of an event (`EventChangeEstimator`) or the added sound
///    (`AddedSoundEstimator`) that explains most of the residual. Add it, and refine placement,
///    frequencies, and times. Repeat until nothing significant remains.
/// 3. Remove or simplify changes that explain too little.
/// 4. Assess the explanation: a cost for each change, and the misfit of the residual.
struct RecordingModelFit {
  /// A processor that changed the recording before it was compared.
  enum UndoneProcessor {
    case compressor, noiseSuppressor
  }

  let fittedPlacement: RecordingSearch.FittedPlacement
  private(set) var changes: [RecordingChange] = []
  /// The indices of the waveforms that neither noise nor a noise suppressor hides.
  private(set) var detectableWaveformIndices: [Int] = []
  /// A Boolean value that indicates whether the recording contains the reference.
  private(set) var containsReference = false
  /// A Boolean value that indicates whether single events can be compared.
  ///
  /// They cannot if an unknown response changed the recording.
  private(set) var allowsEventComparison = true
  /// The total cost of all changes.
  ///
  /// Changes that explain less clearly, and changes of the reference's events, cost more.
  private(set) var totalChangeCost = 0.0
  /// The processor whose effect on the recording was undone, or nil.
  private(set) var undoneProcessor: UndoneProcessor?
  /// The gain of each waveform, divided by its standard error.
  private(set) var gainsInStandardErrors: [Double] = []
  /// The standard error of each waveform's time, in seconds.
  private(set) var timeErrorsSeconds: [Double] = []
  private var residual: RecordingResidual
  private let burstDetector: BurstDetector
  private let originalReference: RecordingReference
  private let changedEventHypothesis: ChangedEventSearch.Hypothesis?

  private static let maximumChangeCount = 24
  /// The number of changes in excess of the cost limit that the search may try.
  ///
  /// The excess is allowed because some changes are removed later.
  private static let triedChangesAboveCostLimit = 2.0
  /// The maximum time shift of an event, in seconds.
  static let maximumTimeShiftSeconds = 0.06
  /// The minimum ratio of an added sound's score to the score of an overlapping event's change.
  private static let minimumAddedSoundScoreRatio = 1.3
  /// The minimum fraction of a residual that a change independent of earlier changes explains.
  private static let minimumIndependentResidualFraction = 0.95
  /// The minimum score of a change relative to the explained energy of an earlier nearby change.
  ///
  /// A change with a lower score is attributed to the residual of the earlier change.
  private static let minimumScoreToImprovementRatio = 0.1
  private static let maximumRefinementCount = 6
  /// The cost of assuming a compressor or a noise suppressor, which is less than that of assuming a
  /// response.
  private static let undoneProcessorCost = 0.2
  /// The maximum misfit of a complete explanation: a residual of four times the noise power.
  private static let maximumExplainedMisfit = 0.3
  /// The maximum misfit of a residual that is only noise: 10 % more than the noise power.
  ///
  /// The misfit of a changed copy without a recording chain is at most 0.003. That of a compressor
  /// with the default settings of a browser's DynamicsCompressorNode is at least 0.04.
  private static let maximumMisfitOfNoise = 0.02
  /// The maximum number of changes in an explanation to simplify by removals.
  private static let maximumSimplifiedChangeCount = 4
  /// The minimum fraction of the detectable events' energy that is present in the recording.
  private static let minimumPresentEnergyFraction = 0.4
  /// The minimum coherence of a recording that contains the reference.
  private static let minimumCoherence = 0.4
  /// The minimum coherence for a comparison of single events.
  private static let minimumReliableCoherence = 0.98
  /// The maximum ambiguity penalty of a reported change.
  private static let maximumReportedAmbiguityPenalty = 2.0
  /// The minimum ratio of the reference's peak to the peak of added sounds: −26 dB.
  private static let minimumReferencePeakRatio = 0.05
  /// The minimum number of unchanged events that makes a match by chance unlikely.
  private static let minimumUnchangedEventCount = 3
  /// The factor for penalties with at least `minimumUnchangedEventCount` unchanged events.
  private static let penaltyFactorWithUnchangedEvents = 0.3
  /// The maximum fraction of changed events, for a reference with more than three events.
  private static let maximumChangedEventFraction = 0.6

  /// Explains a recording by the reference at one placement.
  ///
  /// - Parameters:
  ///   - placement: The placement.
  ///   - originalReference: The reference without the change of the hypothesis.
  ///   - hypothesis: The hypothesis of a changed event on which the placement is based, or nil if
  ///     there is none.
  ///   - limit: The cost of the best explanation so far.
  init(
    _ placement: RecordingSearch.FittedPlacement, original originalReference: RecordingReference,
    hypothesis: ChangedEventSearch.Hypothesis? = nil, limit: Double
  ) {
    let refinedPlacement = placement.withEstimatedNoise()
    let stretchedPlacement = hypothesis == nil ? refinedPlacement.stretchedAlternative() : nil
    fittedPlacement = stretchedPlacement ?? refinedPlacement
    self.originalReference = stretchedPlacement?.fit.reference ?? originalReference
    self.changedEventHypothesis = hypothesis
    burstDetector = BurstDetector(
      rate: originalReference.sampleRate,
      extra: self.originalReference.eventRenderer?.transientBank() ?? [],
      whitener: fittedPlacement.fit.whitenerTaps)
    residual = RecordingResidual(fittedPlacement.fit)
    guard commonGain > 0 else { return }
    measureDetectability()
    if let changedWaveformIndex = hypothesis?.waveformIndex {
      // Gain and placement remain those of the hypothesis.
      residual.replaceWaveform(
        at: changedWaveformIndex, with: originalReference.waveforms[changedWaveformIndex])
    }
    guard findChanges(limit: limit) else { return }
    simplifyChanges()
    if !detectableWaveformIndices.isEmpty {
      decideOutcome()
    }
  }

  /// The fit of the reference with its changes.
  var fit: RecordingFit { residual.fit }
  /// The fit at the same placement, but without the changes.
  var fitWithoutChanges: RecordingFit {
    var fit = fit
    fit.reference.waveforms = originalReference.waveforms
    fit.excludedRanges = []
    return fit
  }
  /// The gain that all events have in common.
  var commonGain: Double { residual.commonGain }
  /// The explained energy at the events, relative to the total energy there.
  var coherence: Double { residual.coherence }

  private var sampleRate: Double { originalReference.sampleRate }

  private var estimator: EventChangeEstimator {
    EventChangeEstimator(
      residual: residual, originalReference: originalReference,
      changedEventHypothesis: changedEventHypothesis)
  }

  private var additionEstimator: AddedSoundEstimator {
    AddedSoundEstimator(residual: residual, referencePeakMagnitude: originalReference.peakMagnitude)
  }

  /// Computes the signal-to-noise ratio and the time error of each waveform.
  ///
  /// By the Cramér–Rao bound, the standard error of the time is σ divided by the root of the
  /// derivative's energy.
  private mutating func measureDetectability() {
    for samples in residual.whitenedColumns.map(\.samples) {
      let derivativeEnergy = zip(samples.dropFirst(2), samples).reduce(0.0) { sum, pair in
        let slope = Double(pair.0 - pair.1) * sampleRate / 2
        return sum + slope * slope
      }
      gainsInStandardErrors.append(
        Vector.energy(samples).squareRoot() * commonGain / residual.noiseDeviation)
      timeErrorsSeconds.append(
        derivativeEnergy > 0
          ? residual.noiseDeviation / (commonGain * derivativeEnergy.squareRoot()) : .infinity)
    }
    detectableWaveformIndices = residual.whitenedColumns.indices.filter {
      gainsInStandardErrors[$0] > 2 * RecordingThreshold.minimumZScore
    }
  }

  // MARK: - Search

  /// Adds the best change repeatedly until the residual is explained or a limit is reached.
  ///
  /// - Returns: False if the changes cost much more than the limit.
  private mutating func findChanges(limit: Double) -> Bool {
    for _ in 0..<Self.maximumChangeCount {
      guard let change = bestCandidate() else { break }
      guard Double(changes.count) <= limit + Self.triedChangesAboveCostLimit else { return false }
      changes.append(change)
      refine(rounds: 1)
    }
    if residual.fit.maximumTempoDeviation == 0, !changes.isEmpty {
      residual.fit.maximumTempoDeviation = RecordingFit.maximumClockTempoDeviation
      refine(rounds: 2)
    }
    return true
  }

  /// Returns the best next change: a change of an event, or an added sound.
  ///
  /// The best change explains the most energy minus a penalty for its parameters.
  private func bestCandidate() -> RecordingChange? {
    let estimator = estimator
    let unchangedIndices = detectableWaveformIndices.filter { index in
      !changes.contains { $0.waveformIndex == index }
    }
    let changeCandidates = unchangedIndices.flatMap { index in
      independentChanges(for: index, estimator)
    }
    let bestChange = changeCandidates.max { $0.penalizedImprovement < $1.penalizedImprovement }
    let additionEstimator = additionEstimator
    guard let strongestBurst = additionEstimator.strongestBurst(of: burstDetector),
      isIndependent(strongestBurst.paddedSampleRange, score: strongestBurst.detectionScore)
    else { return bestChange }
    // A changed event also leaves bursts in the residual.
    let overlapsBest = bestChange.map { bestChange in
      bestChange.explainedRange.lowerBound - 60 < strongestBurst.paddedSampleRange.upperBound
        && strongestBurst.paddedSampleRange.lowerBound < bestChange.explainedRange.upperBound + 60
    }
    let minimumScoreRatio = overlapsBest == true ? Self.minimumAddedSoundScoreRatio : 1
    let isBurstClearer =
      strongestBurst.detectionScore > (bestChange?.penalizedImprovement ?? 0) * minimumScoreRatio
    return isBurstClearer ? additionEstimator.addedSound(from: strongestBurst) : bestChange
  }

  /// Returns the candidate changes of an event that are independent of earlier changes.
  ///
  /// Independent changes do not merely explain the residual of earlier changes.
  private func independentChanges(
    for index: Int, _ estimator: EventChangeEstimator
  ) -> [RecordingChange] {
    guard let neighborhood = estimator.significantNeighborhood(of: index) else { return [] }
    let residualEnergy = max(neighborhood.residualEnergyWithoutEvent, 1e-30)
    return estimator.candidateChanges(in: neighborhood).filter { change in
      // Another waveform explains any residual, so its fraction does not count.
      var fraction = 0.0
      if change.kind != .spectrum {
        fraction =
          change.explainedEnergyRatio * residual.noiseDeviation * residual.noiseDeviation
          / residualEnergy
      }
      return isIndependent(
        change.explainedRange, score: change.explainedEnergyRatio, explainedFraction: fraction)
    }
  }

  /// Returns true if a residual exceeds the residuals of earlier changes nearby.
  ///
  /// - Parameters:
  ///   - range: The samples of the residual.
  ///   - score: The score of the change that explains it.
  ///   - explainedFraction: The fraction of the residual that the change explains. No change
  ///     explains much of the residual of another change.
  private func isIndependent(
    _ range: Range<Int>, score: Double, explainedFraction: Double = 0
  ) -> Bool {
    if explainedFraction > Self.minimumIndependentResidualFraction { return true }
    let marginSamples = Int(0.08 * sampleRate)
    return changes.allSatisfy { change in
      change.explainedRange.upperBound + marginSamples < range.lowerBound
        || range.upperBound + marginSamples < change.explainedRange.lowerBound
        || score > Self.minimumScoreToImprovementRatio * change.explainedEnergyRatio
    }
  }

  // MARK: - Refinement

  /// Fits the reference with the changes applied to its waveforms.
  ///
  /// Events with a changed time or frequency don't determine the placement.
  private mutating func fitChanges(rounds: Int) {
    var changedWaveforms = originalReference.waveforms
    for change in changes {
      guard let index = change.waveformIndex else { continue }
      changedWaveforms[index] =
        change.changedWaveform ?? originalReference.waveforms[index].scaled(by: 0)
    }
    residual.fit.reference.waveforms = changedWaveforms
    let addedSounds = changes.filter { $0.waveformIndex == nil }
    residual.fit.excludedRanges = addedSounds.compactMap(\.excludedRange)
    let movedChanges = changes.filter { $0.kind == .frequency || $0.kind == .time }
    residual.fit.waveformsExcludedFromAlignment = Set(movedChanges.compactMap(\.waveformIndex))
    residual.fit.refinePlacement(rounds: rounds)
    residual.update(excludedRanges: changes.compactMap(\.excludedRange))
  }

  /// Refines the placement, and then frequencies and times.
  ///
  /// Frequencies and times were found while changed events still affected the placement.
  private mutating func refine(rounds: Int) {
    fitChanges(rounds: rounds)
    for _ in 0..<Self.maximumRefinementCount {
      guard refineChanges() else { return }
      fitChanges(rounds: 1)
    }
  }

  /// Refines frequencies and times. Returns true if a change explains more than before.
  private mutating func refineChanges() -> Bool {
    let estimator = estimator
    var hasImprovedChange = false
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
        hasImprovedChange = true
      }
    }
    return hasImprovedChange
  }

  // MARK: - Simplification

  /// Removes or simplifies changes that explain too little.
  ///
  /// Early changes were found while others were still missing.
  private mutating func simplifyChanges() {
    if changes.count <= Self.maximumSimplifiedChangeCount {
      while changes.count > 1, removeOneChange() {}
    }
    for position in changes.indices.reversed() where changes[position].isNegligible {
      removeChange(at: position, rounds: 2)
    }
    // If a changed event can have the common gain, it contributes to that gain.
    let eventVariants = EventVariants(reference: originalReference)
    for position in changes.indices {
      guard let waveform = eventVariants.waveform(of: changes[position]) else { continue }
      simplify(at: position) {
        $0.changes[position].changedWaveform = waveform
        $0.fitChanges(rounds: 2)
      }
    }
  }

  /// Removes the first change that explains too little. Returns true if a change was removed.
  private mutating func removeOneChange() -> Bool {
    for position in changes.indices {
      let isRemoved = simplify(at: position) { $0.removeChange(at: position, rounds: 1) }
      if isRemoved { return true }
    }
    return false
  }

  /// Simplifies a change if the residual increases little.
  ///
  /// Chance and model errors must explain the increase.
  ///
  /// - Parameters:
  ///   - position: The index of the change.
  ///   - change: A closure that simplifies the change.
  /// - Returns: True if the change was simplified.
  @discardableResult private mutating func simplify(
    at position: Int, by change: (inout Self) -> Void
  ) -> Bool {
    let excludedSampleCount = Double(changes[position].excludedRange?.count ?? 0)
    let energyTolerance =
      RecordingThreshold.minimumZScore * RecordingThreshold.minimumZScore
      + 3 * (2 * excludedSampleCount).squareRoot()
      + RecordingThreshold.minimumEventEnergyFraction * changes[position].explainedEnergyRatio
    var simplifiedFit = self
    change(&simplifiedFit)
    let noiseSigma = residual.noiseDeviation
    let excessEnergyIncrease =
      simplifiedFit.excessResidualEnergy(sigma: noiseSigma)
      - excessResidualEnergy(sigma: noiseSigma)
    guard excessEnergyIncrease < energyTolerance else { return false }
    self = simplifiedFit
    return true
  }

  private mutating func removeChange(at position: Int, rounds: Int) {
    changes.remove(at: position)
    refine(rounds: rounds)
  }

  private func excessResidualEnergy(sigma: Double) -> Double {
    residual.excessEnergy(sigma: sigma, excludedRanges: changes.compactMap(\.excludedRange))
  }

  // MARK: - Assessment

  /// Computes the cost, and decides whether the recording contains the reference.
  private mutating func decideOutcome() {
    let eventChanges = changes.filter { $0.waveformIndex != nil }
    let absentEventChanges = eventChanges.filter { $0.kind == .missing || $0.kind == .spectrum }
    let absentEventIndices = Set(absentEventChanges.map(\.indexedEvent.compositionIndex))
    let presentWaveformIndices = detectableWaveformIndices.filter {
      !absentEventIndices.contains(originalReference.waveforms[$0].indexedEvent.compositionIndex)
        && !isEventReplaced($0)
    }
    func waveformEnergy(_ indices: [Int]) -> Double {
      indices.reduce(0) { $0 + originalReference.waveforms[$1].sampleEnergy }
    }
    let hasMostEnergy =
      waveformEnergy(presentWaveformIndices) >= Self.minimumPresentEnergyFraction
      * waveformEnergy(detectableWaveformIndices)
    totalChangeCost = costOfChanges(
      isSupported: presentWaveformIndices.count >= Self.minimumUnchangedEventCount && hasMostEnergy)

    let waveformCount = Double(originalReference.waveforms.count)
    let addedSounds = changes.filter { $0.waveformIndex == nil }
    let addedPeakMagnitude = addedSounds.map { pow(10, $0.signedAmount / 20) }.max() ?? 0
    let hasMostEvents =
      Double(presentWaveformIndices.count) > 0.5 * Double(detectableWaveformIndices.count)
    containsReference =
      (hasMostEnergy || hasMostEvents)
      && (waveformCount <= 3
        || Double(eventChanges.count) <= Self.maximumChangedEventFraction * waveformCount)
      && commonGain * originalReference.peakMagnitude >= Self.minimumReferencePeakRatio
        * addedPeakMagnitude
      && coherence >= Self.minimumCoherence
    allowsEventComparison = explainsRecording || coherence >= Self.minimumReliableCoherence
  }

  /// Returns the total cost of all changes.
  ///
  /// The cost is lower if enough unchanged events support the changes.
  ///
  /// - Parameter isSupported: Pass true if enough events are unchanged.
  private func costOfChanges(isSupported: Bool) -> Double {
    var changeCost = changes.reduce(0.0) { sum, change in
      switch change.kind {
      case .spectrum: sum + 2.5
      case .frequency, .time: sum + 1.2
      default: sum + 1
      }
    }
    let ambiguityPenaltySum = changes.reduce(0) { $0 + $1.ambiguityPenalty }
    changeCost += ambiguityPenaltySum * (isSupported ? Self.penaltyFactorWithUnchangedEvents : 1)
    // In a short pattern, a change of any event is more likely than another tempo.
    if !fit.isLimitedToClockDeviation || fittedPlacement.pitchPreservingStretch != 1 {
      changeCost += originalReference.hasNegligibleClockDrift ? 1.5 : 0.5
    }
    if fittedPlacement.polaritySign < 0 {
      changeCost += 0.1
    }
    if undoneProcessor != nil {
      changeCost += Self.undoneProcessorCost
    }
    return changeCost
  }

  /// Returns true if added sounds or a different waveform replace most of an event.
  private func isEventReplaced(_ index: Int) -> Bool {
    let additionEstimator = additionEstimator
    return changes.contains { change in
      guard let changedIndex = change.waveformIndex else {
        return additionEstimator.isMasked(index, by: change.explainedRange)
      }
      guard changedIndex != index, let range = change.excludedRange else { return false }
      return additionEstimator.isMasked(index, by: range)
    }
  }

  /// Marks the recording as restored from a compressor, and updates the outcome.
  ///
  /// Small level changes are attributed to errors of the restoration. With two events, a change of
  /// either event explains the recording equally well. If one of two events is missing, the other
  /// cannot be compared.
  mutating func markAsRestoredFromCompressor() {
    undoneProcessor = .compressor
    let minimumLevelDecibels = minimumReportedChange.decibels
    changes.removeAll { $0.isLevelChange(below: minimumLevelDecibels) }
    if originalReference.waveforms.count == 2 {
      if let missingEventChange = changes.first(where: { $0.kind == .missing }) {
        changes = [missingEventChange]
      }
      for index in changes.indices where [.missing, .level, .time].contains(changes[index].kind) {
        changes[index].isAmbiguous = true
      }
    }
    decideOutcome()
  }

  /// Marks the recording as restored from a noise suppressor, and updates the outcome.
  ///
  /// Waveforms that the suppressor may have removed are not compared. Such a waveform remains only
  /// if it has a change that a suppressor cannot cause, such as another frequency.
  ///
  /// - Parameter indices: The indices of the waveforms that the suppressor may have removed.
  mutating func markAsRestoredFromNoiseSuppressor(removableWaveformIndices indices: Set<Int>) {
    undoneProcessor = .noiseSuppressor
    changes.removeAll { change in
      guard let index = change.waveformIndex, indices.contains(index) else { return false }
      return change.kind == .missing || change.kind == .level && change.signedAmount < 0
    }
    let changedIndices = Set(changes.compactMap(\.waveformIndex))
    detectableWaveformIndices.removeAll { indices.contains($0) && !changedIndices.contains($0) }
    decideOutcome()
  }

  // MARK: - Results

  /// The common time shift of most moved events, in seconds, or nil if their shifts differ.
  var commonTimeShiftSeconds: Double? {
    let timeShiftsSeconds = changes.filter { $0.kind == .time }.map(\.signedAmount)
    let medianShiftSeconds = Statistics.median(of: timeShiftsSeconds)
    let similarShiftCount = timeShiftsSeconds.filter { abs($0 - medianShiftSeconds) < 0.002 }.count
    return similarShiftCount > 1 && 2 * similarShiftCount > timeShiftsSeconds.count
      ? medianShiftSeconds : nil
  }

  /// Returns true if this explanation is preferable to an alternative.
  func isBetter(than alternative: RecordingModelFit?) -> Bool {
    guard let alternative else { return true }
    guard containsReference, alternative.containsReference else { return containsReference }
    return explanationPenalty < alternative.explanationPenalty - 0.02
  }

  /// The penalty of the explanation: the cost of its changes plus its misfit.
  var explanationPenalty: Double { totalChangeCost + residual.noiseMisfitDecades }

  /// The penalty of the explanation without its level changes, each of which costs 1.
  var penaltyWithoutLevelChanges: Double {
    explanationPenalty - Double(changes.count { $0.kind == .level })
  }

  /// A Boolean value that indicates whether the residual is little more than noise.
  private var explainsRecording: Bool { residual.noiseMisfitDecades < Self.maximumExplainedMisfit }

  /// A Boolean value that indicates whether the recording contains the reference, and single events
  /// can be compared.
  var isComparable: Bool { containsReference && allowsEventComparison }

  /// A Boolean value that indicates whether the residual is only noise.
  var leavesOnlyNoise: Bool { residual.noiseMisfitDecades <= Self.maximumMisfitOfNoise }

  /// The changes to report.
  ///
  /// Level changes below `minimumReportedChange` are omitted. If the residual exceeds four times
  /// the noise power, only changes that explain more than the residual are reported.
  var reportedChanges: [RecordingChange] {
    guard allowsEventComparison else { return [] }
    let minimumLevelDecibels = minimumReportedChange.decibels
    let clearChanges = changes.filter { !$0.isLevelChange(below: minimumLevelDecibels) }
    guard !explainsRecording else { return clearChanges }
    let excessEnergy = excessResidualEnergy(sigma: residual.noiseDeviation)
    return clearChanges.filter {
      $0.explainedEnergyRatio > excessEnergy
        && $0.ambiguityPenalty < Self.maximumReportedAmbiguityPenalty
    }
  }

  /// The indices of the waveforms that are strong enough for a comparison.
  ///
  /// If events are compared and the residual exceeds four times the noise power, a waveform must
  /// have more energy than the residual.
  var comparableWaveformIndices: [Int] {
    guard allowsEventComparison, !explainsRecording else { return detectableWaveformIndices }
    let excessEnergy = excessResidualEnergy(sigma: residual.noiseDeviation)
    return detectableWaveformIndices.filter {
      gainsInStandardErrors[$0] * gainsInStandardErrors[$0] > excessEnergy
    }
  }

  /// The minimum level change and time shift to report if noise does not hide them.
  var minimumReportedChange: (decibels: Double, seconds: Double) {
    guard allowsEventComparison else { return RecordingThreshold.undetectableChange }
    let minimumLevelDecibels =
      switch undoneProcessor {
      case .compressor: RecordingThreshold.minimumLevelDecibelsAfterCompressor
      case .noiseSuppressor: RecordingThreshold.minimumLevelDecibelsAfterNoiseSuppression
      case nil where leavesOnlyNoise: RecordingThreshold.minimumLevelDecibels
      case nil: RecordingThreshold.minimumLevelDecibelsWithGainControl
      }
    return (minimumLevelDecibels, RecordingThreshold.minimumTimeSeconds)
  }
}
