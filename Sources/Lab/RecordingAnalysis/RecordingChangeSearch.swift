internal import CMath
import SignalAnalysis

/// A search for changed events and added transients that make a recording's model more probable.
///
/// 1. With the response held fixed, rate candidates for every event by the residual energy that
///    they explain.
/// 2. Compute the evidence of the best candidates, and refine the amounts of the most promising
///    candidates by pattern search.
/// 3. Accept the best candidate if it raises the log evidence enough, and repeat.
struct RecordingChangeSearch {
  let predictor: RecordingPredictor

  /// The residual at which the search for changes ends, in decibels relative to the recording.
  private static let sufficientResidualDecibels = -27.0
  /// The maximum number of changes in a model.
  private static let maximumChangeCount = 4
  /// The minimum fraction of the residual that a change must explain.
  private static let minimumExplainedResidualFraction = 0.2
  /// The magnitudes of changes that the search considers, by kind of change.
  ///
  /// The units are decibels, seconds, or the logarithm of a frequency ratio.
  private static let changeAmountRanges: [RecordingChange.Kind: ClosedRange<Double>] = [
    .level: RecordingModelSelection.minimumReportedChange.decibels...40,
    .time: RecordingModelSelection.minimumReportedChange
      .seconds...RecordingModelFit.maximumTimeShiftSeconds,
    .frequency: RecordingModelSelection.minimumReportedChange.logRatio...1,
  ]
  /// The penalty of a change in log evidence, by kind of change.
  ///
  /// The unit is the logarithm of the sample count.
  private static let logEvidencePenaltiesByKind: [RecordingChange.Kind: Double] = [
    .level: 0.5, .time: 0.5, .frequency: 0.5, .added: 1.5,
  ]

  private var reference: RecordingReference { predictor.reference }
  private var transientBank: [EventWaveform] { predictor.transientBank }
  private var sampleRate: Double { predictor.sampleRate }
  private var sampleCount: Int { predictor.sampleCount }

  /// The maximum numbers of candidates with computed evidence, and with refined amounts.
  ///
  /// A room's response has so many coefficients that each evidence takes milliseconds.
  private static let maximumCandidateCounts = (evaluated: 60, refined: 8)
  private static let maximumRoomCandidateCounts = (evaluated: 24, refined: 4)

  /// A change, and the residual energy that it explains with an unchanged response.
  private struct CandidateChange {
    var change: RecordingModel.Change
    var explainedEnergy: Double
  }

  private struct RatedChange {
    var change: RecordingModel.Change
    /// The log evidence with the noise estimate of the unchanged model.
    var logEvidenceWithUnchangedNoise: Double
    /// The log evidence minus the cost of the change's parameters.
    var penalizedLogEvidence: Double
    /// The penalized log evidence with the noise estimate of the changed model.
    var penalizedLogEvidenceWithOwnNoise = -Double.infinity
  }

  /// A change with the log evidence of the model with the change.
  private struct EvaluatedChange {
    var change: RecordingModel.Change
    var logEvidence: Double
  }

  /// Adds the best change to a model repeatedly, as long as the evidence increases enough.
  func addingChanges(to unchanged: RecordingModel) -> RecordingModel {
    var changedModel = unchanged
    changedModel.residualDecibelsWithoutChanges = unchanged.residualDecibels
    let recordedExcerpt = predictor.whitenedExcerpt(of: changedModel)
    var correlations = predictor.correlations(
      of: changedModel, changes: [], recorded: recordedExcerpt)
    var currentLogEvidence = predictor.evidence(
      of: changedModel, correlations, refitsResonance: true)
    changedModel.logEvidence = predictor.evidenceWithResidualNoise(
      of: changedModel, changes: [], recorded: recordedExcerpt)
    while changedModel.changes.count < Self.maximumChangeCount,
      changedModel.residualDecibels > Self.sufficientResidualDecibels
    {
      guard
        let added = bestChange(
          of: changedModel, evidence: currentLogEvidence, correlations: correlations),
        added.penalizedLogEvidenceWithOwnNoise - changedModel.logEvidence
          >= RecordingModel.minimumLogEvidenceGain
      else { break }
      let gainWithUnchangedNoise = added.logEvidenceWithUnchangedNoise - currentLogEvidence
      let explainedResidualFraction = 1 - exp(-2 * gainWithUnchangedNoise / Double(sampleCount))
      guard explainedResidualFraction >= Self.minimumExplainedResidualFraction else { break }
      var change = added.change
      change.logEvidenceGain = added.penalizedLogEvidenceWithOwnNoise - changedModel.logEvidence
      changedModel.changes.append(change)
      changedModel.logEvidence = added.penalizedLogEvidenceWithOwnNoise
      correlations = predictor.correlations(
        of: changedModel, changes: changedModel.changes, recorded: recordedExcerpt)
      predictor.fitResponse(of: &changedModel, to: correlations.input)
      currentLogEvidence = predictor.evidence(
        of: changedModel, correlations, refitsResonance: true)
    }
    return changedModel
  }

  /// Returns the best further change of a model, and the log evidence with that change.
  private func bestChange(
    of model: RecordingModel, evidence: Double, correlations: RecordingResponse.Correlations
  ) -> RatedChange? {
    let ratedCandidates = ratedChanges(of: model, evidence: evidence, correlations: correlations)
    guard
      let bestRatedChange = ratedCandidates.max(by: {
        $0.penalizedLogEvidence < $1.penalizedLogEvidence
      })
    else {
      return nil
    }
    // Decide between near-equal candidates with the refined noise estimate.
    let scoreTolerance = 0.3 * abs(bestRatedChange.penalizedLogEvidence - evidence)
    let similarlyRatedChanges = ratedCandidates.sorted {
      $0.penalizedLogEvidence > $1.penalizedLogEvidence
    }
    .prefix(4).filter {
      $0.penalizedLogEvidence > bestRatedChange.penalizedLogEvidence - scoreTolerance
    }
    let scoredChanges = similarlyRatedChanges.map { candidate in
      var candidate = candidate
      let evidence = predictor.evidenceWithResidualNoise(
        of: model, changes: model.changes + [candidate.change], recorded: correlations.recorded)
      candidate.penalizedLogEvidenceWithOwnNoise = evidence - logEvidenceCost(of: candidate.change)
      return candidate
    }
    return scoredChanges.max {
      $0.penalizedLogEvidenceWithOwnNoise < $1.penalizedLogEvidenceWithOwnNoise
    }
  }

  /// Returns the most promising changes with refined amounts.
  private func ratedChanges(
    of model: RecordingModel, evidence: Double, correlations: RecordingResponse.Correlations
  ) -> [RatedChange] {
    let maximumCounts =
      model.response.kind.isRoom ? Self.maximumRoomCandidateCounts : Self.maximumCandidateCounts
    let candidates = candidateChanges(of: model, correlations).sorted {
      $0.explainedEnergy > $1.explainedEnergy
    }
    // Refinements of similar candidates lead to the same changes.
    var knownLogEvidences: [RecordingModel.Change: Double] = [:]
    func evaluatedChange(_ change: RecordingModel.Change) -> EvaluatedChange {
      var predictedChange = change
      if change.kind == .time {
        predictedChange.signedAmount = RecordingPredictor.roundedShift(change.signedAmount)
      }
      let evidence =
        knownLogEvidences[predictedChange] ?? logEvidence(of: model, with: change, correlations)
      knownLogEvidences[predictedChange] = evidence
      return EvaluatedChange(change: change, logEvidence: evidence)
    }
    var unrefinedCandidates = candidates.prefix(maximumCounts.evaluated).map {
      evaluatedChange($0.change)
    }
    unrefinedCandidates.sort { $0.logEvidence > $1.logEvidence }
    return unrefinedCandidates.prefix(maximumCounts.refined).compactMap { candidate in
      let refinedCandidate = refinedChange(candidate, evaluate: evaluatedChange)
      let change = refinedCandidate.change
      if let range = Self.changeAmountRanges[change.kind], !range.contains(abs(change.signedAmount))
      {
        return nil
      }
      var withChange = refinedCandidate.logEvidence
      if model.response.kind.isResonance {
        withChange = logEvidence(of: model, with: change, correlations, refitsResonance: true)
      }
      // An added transient near an event can mimic any change to that event.
      let isNearEvent = reference.waveforms.contains {
        abs($0.eventSeconds - change.transientSeconds) < 0.03
      }
      if change.waveformIndex == nil, isNearEvent {
        withChange -= 0.3 * (withChange - evidence)
      }
      return RatedChange(
        change: change, logEvidenceWithUnchangedNoise: withChange,
        penalizedLogEvidence: withChange - logEvidenceCost(of: change))
    }
  }

  /// Returns the log evidence of a model with one further change.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - change: The change.
  ///   - correlations: The correlations without the change.
  ///   - refitsResonance: Pass true to refit the parameters of the resonance.
  private func logEvidence(
    of model: RecordingModel, with change: RecordingModel.Change,
    _ correlations: RecordingResponse.Correlations, refitsResonance: Bool = false
  ) -> Double {
    // An impossible change removes its event.
    let difference =
      predictor.waveformDifference(of: change, tempo: model.tempoDeviation)
      ?? predictor.waveformDifference(
        of: RecordingModel.Change(kind: .missing, waveformIndex: change.waveformIndex),
        tempo: model.tempoDeviation)
      ?? RecordingResponse.OffsetSignal()
    return predictor.evidence(
      of: model, correlations.adding(difference.filtered(by: model.whitenerTaps)),
      refitsResonance: refitsResonance)
  }

  /// Returns the log evidence cost of choosing an event and the parameters of its change.
  private func logEvidenceCost(of change: RecordingModel.Change) -> Double {
    let eventSelectionCost = log(Double(max(2, reference.waveforms.count)))
    return eventSelectionCost + Self.logEvidencePenaltiesByKind[change.kind, default: 0]
      * predictor.logSampleCount
  }

  /// Returns a change with refined parameters and maximum evidence, with its log evidence.
  ///
  /// The parameters are refined by pattern search with step halving.
  ///
  /// - Parameters:
  ///   - candidate: The change to refine.
  ///   - evaluate: A closure that evaluates a variant of the change.
  private func refinedChange(
    _ candidate: EvaluatedChange,
    evaluate: (RecordingModel.Change) -> EvaluatedChange
  ) -> EvaluatedChange {
    var best = candidate

    /// Accepts a variant of the change if it improves the evidence.
    ///
    /// Returns true if the variant was accepted.
    func adoptIfBetter(_ variant: RecordingModel.Change) -> Bool {
      let evaluatedVariant = evaluate(variant)
      let isValid = variant.kind != .added || variant.signedAmount > 0
      guard evaluatedVariant.logEvidence > best.logEvidence, isValid else { return false }
      best = evaluatedVariant
      return true
    }

    func refineParameter(
      _ parameter: WritableKeyPath<RecordingModel.Change, Double>, by firstStep: Double
    ) {
      var step = firstStep
      // The opposite of an accepted step leads back to a change with less evidence.
      var triedSigns = [1.0, -1]
      for _ in 0..<5 {
        let acceptedSign = triedSigns.first { sign in
          var variant = best.change
          variant[keyPath: parameter] += sign * step
          return adoptIfBetter(variant)
        }
        if let acceptedSign {
          triedSigns = [acceptedSign]
        } else {
          triedSigns = [1, -1]
          step /= 2
        }
      }
    }

    let change = candidate.change
    switch change.kind {
    case .level: refineParameter(\.signedAmount, by: 1)
    case .time: refineParameter(\.signedAmount, by: 0.002)
    case .frequency: refineParameter(\.signedAmount, by: 0.06)
    case .added:
      refineParameter(\.transientSeconds, by: 0.002)
      refineParameter(\.signedAmount, by: 0.3 * best.change.signedAmount)
      for index in [change.transientBankIndex - 1, change.transientBankIndex + 1]
      where transientBank.indices.contains(index) {
        var neighbor = best.change
        neighbor.transientBankIndex = index
        _ = adoptIfBetter(neighbor)
      }
    default: break
    }
    return best
  }

  // MARK: - Candidates

  /// Returns candidate changes of every event, and candidate added transients.
  ///
  /// The response remains fixed.
  private func candidateChanges(
    of model: RecordingModel, _ correlations: RecordingResponse.Correlations
  ) -> [CandidateChange] {
    let responseFit = model.response.fit(correlations, rate: sampleRate)
    let residual = model.response.residual(
      of: correlations.recorded, input: correlations.input,
      coefficients: responseFit.coefficients, rate: sampleRate)

    var proposedChanges: [CandidateChange] = []
    let changedWaveforms = Set(model.changes.compactMap(\.waveformIndex))
    for index in reference.waveforms.indices where !changedWaveforms.contains(index) {
      proposedChanges += candidateChanges(ofEvent: index, in: model, residual: residual)
    }
    for index in stride(from: 0, to: transientBank.count, by: 2) {
      proposedChanges += addedTransients(bankIndex: index, in: model, residual: residual)
    }
    return proposedChanges
  }

  private func candidateChanges(
    ofEvent index: Int, in model: RecordingModel, residual: [Double]
  ) -> [CandidateChange] {
    let maximumCountPerKind = model.response.kind.isRoom ? 2 : 4
    func bestChanges(
      _ kind: RecordingChange.Kind, amounts: [Double], count: Int
    ) -> [CandidateChange] {
      let rated = amounts.compactMap { amount -> CandidateChange? in
        let change = RecordingModel.Change(kind: kind, waveformIndex: index, signedAmount: amount)
        return explainedEnergy(by: change, in: model, residual: residual).map {
          CandidateChange(change: change, explainedEnergy: $0)
        }
      }
      let sorted = rated.sorted { $0.explainedEnergy > $1.explainedEnergy }
      return Array(sorted.prefix(min(count, maximumCountPerKind)))
    }
    var proposedChanges: [CandidateChange] = []
    if reference.waveforms.count > 1 {
      proposedChanges += bestChanges(.missing, amounts: [0], count: 1)
      proposedChanges += bestChanges(.level, amounts: [-9, -6, -4, -2.5, 2.5, 4, 6], count: 3)
      let shifts = (-15...15).filter { $0 != 0 }.map { 0.004 * Double($0) }
      proposedChanges += bestChanges(.time, amounts: shifts, count: 4)
    }
    proposedChanges += bestChanges(
      .frequency, amounts: [-0.48, -0.32, -0.16, 0.16, 0.32, 0.48], count: 3)
    return proposedChanges
  }

  /// Returns the residual energy that a change explains, or nil if the change is impossible.
  private func explainedEnergy(
    by change: RecordingModel.Change, in model: RecordingModel, residual: [Double]
  ) -> Double? {
    guard
      let waveformDifference = predictor.waveformDifference(
        of: change, tempo: model.tempoDeviation)
    else {
      return nil
    }
    let recordedDifference = predictor.recordedWaveform(of: waveformDifference, in: model)
    let firstRecordedSample = max(0, -recordedDifference.firstSampleIndex)
    let overlapSampleCount = min(
      recordedDifference.samples.count - firstRecordedSample,
      residual.count - recordedDifference.firstSampleIndex - firstRecordedSample)
    let residualProduct = Vector.dot(
      recordedDifference.samples, from: firstRecordedSample, residual,
      from: recordedDifference.firstSampleIndex + firstRecordedSample, count: overlapSampleCount)
    return 2 * residualProduct - Vector.energy(recordedDifference.samples)
  }

  /// Returns the two added transients that explain most of the residual.
  private func addedTransients(
    bankIndex: Int, in model: RecordingModel, residual: [Double]
  ) -> [CandidateChange] {
    let unitTransient = RecordingModel.Change(
      kind: .added, signedAmount: 1, transientBankIndex: bankIndex)
    let transientWaveform = predictor.recordedWaveform(
      of: predictor.waveform(of: unitTransient, tempo: 0) ?? RecordingResponse.OffsetSignal(),
      in: model)
    let recordedBurst = Array(transientWaveform.samples.prefix(Int(0.2 * sampleRate)))
    let burstEnergy = max(1e-30, Vector.energy(recordedBurst))
    let lagsInSamples = 0..<max(1, residual.count - recordedBurst.count / 2)
    var scoresByLag = Vector.crossCorrelation(recordedBurst, residual, lags: lagsInSamples).map {
      product in
      // Require the polarity of the events and at least 6 % of full intensity.
      product > 0.06 * burstEnergy ? product * product : 0
    }
    var transientChanges: [CandidateChange] = []
    for _ in 0..<2 {
      guard let lag = scoresByLag.indices.max(by: { scoresByLag[$0] < scoresByLag[$1] }),
        scoresByLag[lag] > 0
      else {
        break
      }
      var change = unitTransient
      change.signedAmount = scoresByLag[lag].squareRoot() / burstEnergy
      change.transientSeconds =
        Double(lag - transientWaveform.firstSampleIndex) / sampleRate / (1 + model.tempoDeviation)
      transientChanges.append(
        CandidateChange(change: change, explainedEnergy: scoresByLag[lag] / burstEnergy))
      for near in max(0, lag - 80)..<min(scoresByLag.count, lag + 80) {
        scoresByLag[near] = 0
      }
    }
    return transientChanges
  }
}
