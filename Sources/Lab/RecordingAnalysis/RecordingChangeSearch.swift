internal import CMath
import SignalAnalysis

/// Finds the changes of events, and the added transients, that make a model of a recording more
/// probable.
///
/// 1. With the response held fixed, rate candidates for every event by the residual energy that
///    they explain.
/// 2. Refine the amounts of the eight most promising candidates by pattern search.
/// 3. Accept the best candidate if it raises the log evidence enough, and repeat.
struct RecordingChangeSearch {
  let predictor: RecordingPredictor

  /// The residual, in decibels relative to the recording, below which no further change is tried.
  private static let sufficientResidual = -27.0
  /// The maximum number of changes of a model.
  private static let maximumChangeCount = 4
  /// The minimum fraction of the residual that a change must explain.
  private static let minimumExplainedFraction = 0.2
  /// The amounts of change to consider: decibels, seconds, and logarithms of a frequency ratio.
  private static let changeRanges: [RecordingChange.Kind: ClosedRange<Double>] = [
    .level: RecordingModelSelection.minimumChange.decibels...40,
    .time: RecordingModelSelection.minimumChange.seconds...RecordingModelFit.maximumTimeShift,
    .frequency: RecordingModelSelection.minimumChange.logRatio...1,
  ]
  /// The cost of each kind of change, in multiples of the logarithm of the number of samples.
  private static let changeCosts: [RecordingChange.Kind: Double] = [
    .level: 0.5, .time: 0.5, .frequency: 0.5, .added: 1.5,
  ]

  private var reference: RecordingReference { predictor.reference }
  private var transientBank: [EventWaveform] { predictor.transientBank }
  private var rate: Double { predictor.rate }
  private var sampleCount: Int { predictor.sampleCount }

  private struct RatedChange {
    var change: RecordingModel.Change
    /// The log evidence with the noise estimate of the unchanged model.
    var evidence: Double
    /// The log evidence minus the cost of the parameters.
    var score: Double
    /// The log evidence with the noise estimate of the changed model, minus the cost of the
    /// parameters.
    var logEvidence = -Double.infinity
  }

  /// Adds the best change repeatedly, for as long as it gains enough evidence.
  func addingChanges(to unchanged: RecordingModel) -> RecordingModel {
    var model = unchanged
    let recorded = predictor.whitenedExcerpt(of: model)
    var evidence = predictor.evidence(
      of: model, changes: [], recorded: recorded, refitsResonance: true)
    model.logEvidence = predictor.evidenceWithResidualNoise(
      of: model, changes: [], recorded: recorded)
    while model.changes.count < Self.maximumChangeCount,
      model.residualDecibels > Self.sufficientResidual
    {
      guard
        let added = bestChange(of: model, evidence: evidence, recorded: recorded),
        added.logEvidence - model.logEvidence >= RecordingModel.minimumEvidenceGain,
        1 - exp(-2 * (added.evidence - evidence) / Double(sampleCount))
          >= Self.minimumExplainedFraction
      else { break }
      var change = added.change
      change.evidenceGain = added.logEvidence - model.logEvidence
      model.changes.append(change)
      model.logEvidence = added.logEvidence
      predictor.fitResponse(
        of: &model,
        to: predictor.whitenedSignal(of: model, changes: model.changes))
      evidence = predictor.evidence(
        of: model, changes: model.changes, recorded: recorded, refitsResonance: true)
    }
    return model
  }

  /// Returns the best further change, with the log evidence of the model that includes it.
  private func bestChange(
    of model: RecordingModel, evidence: Double, recorded: [Double]
  ) -> RatedChange? {
    let rated = ratedChanges(of: model, evidence: evidence, recorded: recorded)
    guard let first = rated.max(by: { $0.score < $1.score }) else { return nil }
    // Decide between near-equal candidates with the refined noise estimate.
    let tolerance = 0.3 * abs(first.score - evidence)
    let close = rated.sorted { $0.score > $1.score }.prefix(4).filter {
      $0.score > first.score - tolerance
    }
    let scored = close.map { candidate in
      var candidate = candidate
      let evidence = predictor.evidenceWithResidualNoise(
        of: model, changes: model.changes + [candidate.change], recorded: recorded)
      candidate.logEvidence = evidence - cost(of: candidate.change)
      return candidate
    }
    return scored.max { $0.logEvidence < $1.logEvidence }
  }

  /// Returns the eight most promising changes with refined amounts.
  private func ratedChanges(of model: RecordingModel, evidence: Double, recorded: [Double])
    -> [RatedChange]
  {
    var candidates = candidateChanges(of: model, recorded: recorded).map { change in
      (change, predictor.evidence(of: model, changes: model.changes + [change], recorded: recorded))
    }
    candidates.sort { $0.1 > $1.1 }
    return candidates.prefix(8).compactMap { candidate, _ in
      let change = refined(candidate, in: model, recorded: recorded)
      if let range = Self.changeRanges[change.kind], !range.contains(abs(change.amount)) {
        return nil
      }
      var withChange = predictor.evidence(
        of: model, changes: model.changes + [change], recorded: recorded, refitsResonance: true)
      // An added transient near an event can mimic any change to that event.
      let isNearEvent = reference.waveforms.contains { abs($0.time - change.time) < 0.03 }
      if change.waveformIndex == nil, isNearEvent {
        withChange -= 0.3 * (withChange - evidence)
      }
      return RatedChange(change: change, evidence: withChange, score: withChange - cost(of: change))
    }
  }

  /// The cost of choosing an event and the parameters of its change.
  private func cost(of change: RecordingModel.Change) -> Double {
    let eventCost = log(Double(max(2, reference.waveforms.count)))
    return eventCost + Self.changeCosts[change.kind, default: 0] * predictor.logSampleCount
  }

  /// Maximizes the evidence over a change's parameters by pattern search with step halving.
  private func refined(
    _ change: RecordingModel.Change, in model: RecordingModel, recorded: [Double]
  ) -> RecordingModel.Change {
    func evidence(_ change: RecordingModel.Change) -> Double {
      predictor.evidence(of: model, changes: model.changes + [change], recorded: recorded)
    }
    var best = change
    var bestEvidence = evidence(change)

    /// Accepts a variant if it improves the evidence, and returns whether it did.
    func adopt(_ variant: RecordingModel.Change) -> Bool {
      let variantEvidence = evidence(variant)
      let isValid = variant.kind != .added || variant.amount > 0
      guard variantEvidence > bestEvidence, isValid else { return false }
      best = variant
      bestEvidence = variantEvidence
      return true
    }

    func refine(_ parameter: WritableKeyPath<RecordingModel.Change, Double>, by firstStep: Double) {
      var step = firstStep
      for _ in 0..<5 {
        var increased = best
        increased[keyPath: parameter] += step
        var decreased = best
        decreased[keyPath: parameter] -= step
        if !adopt(increased), !adopt(decreased) {
          step /= 2
        }
      }
    }

    switch change.kind {
    case .level: refine(\.amount, by: 1)
    case .time: refine(\.amount, by: 0.002)
    case .frequency: refine(\.amount, by: 0.06)
    case .added:
      refine(\.time, by: 0.002)
      refine(\.amount, by: 0.3 * best.amount)
      for index in [change.bankIndex - 1, change.bankIndex + 1]
      where transientBank.indices.contains(index) {
        var neighbor = best
        neighbor.bankIndex = index
        _ = adopt(neighbor)
      }
    default: break
    }
    return best
  }

  // MARK: - Candidates

  /// Returns candidate changes for every event, and candidate added transients, with the response
  /// held fixed.
  private func candidateChanges(of model: RecordingModel, recorded: [Double]) -> [RecordingModel
    .Change]
  {
    let signal = predictor.whitenedSignal(of: model, changes: model.changes)
    let fit = model.response.fit(signal, to: recorded, rate: rate)
    let predicted = model.response.output(
      for: RecordingResponse.OffsetSignal(samples: signal), coefficients: fit.coefficients,
      rate: rate, count: sampleCount)
    var residual = recorded
    predicted.add(to: &residual, times: -1)

    var changes: [RecordingModel.Change] = []
    let changedWaveforms = Set(model.changes.compactMap(\.waveformIndex))
    for index in reference.waveforms.indices where !changedWaveforms.contains(index) {
      changes += candidateChanges(ofEvent: index, in: model, residual: residual)
    }
    for index in stride(from: 0, to: transientBank.count, by: 2) {
      changes += addedTransients(bankIndex: index, in: model, residual: residual)
    }
    return changes
  }

  private func candidateChanges(
    ofEvent index: Int, in model: RecordingModel, residual: [Double]
  ) -> [RecordingModel.Change] {
    let maximumCount = model.response.kind.withoutParameters == .anyRoom ? 2 : 4
    let original = predictor.waveform(of: reference.waveforms[index], tempo: model.tempo)
    func best(_ kind: RecordingChange.Kind, _ amounts: [Double], _ count: Int) -> [RecordingModel
      .Change]
    {
      let rated = amounts.compactMap { amount -> (RecordingModel.Change, Double)? in
        let change = RecordingModel.Change(kind: kind, waveformIndex: index, amount: amount)
        return explainedEnergy(by: change, of: original, in: model, residual: residual).map {
          (change, $0)
        }
      }
      return rated.sorted { $0.1 > $1.1 }.prefix(min(count, maximumCount)).map(\.0)
    }
    var changes: [RecordingModel.Change] = []
    if reference.waveforms.count > 1 {
      changes.append(RecordingModel.Change(kind: .missing, waveformIndex: index))
      changes += best(.level, [-9, -6, -4, -2.5, 2.5, 4, 6], 3)
      changes += best(.time, (-15...15).filter { $0 != 0 }.map { 0.004 * Double($0) }, 4)
    }
    changes += best(.frequency, [-0.48, -0.32, -0.16, 0.16, 0.32, 0.48], 3)
    return changes
  }

  /// Returns the residual energy that a change explains, or nil if the change is impossible.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - original: The waveform of the unchanged event.
  ///   - model: The model.
  ///   - residual: The residual of the model.
  private func explainedEnergy(
    by change: RecordingModel.Change, of original: RecordingResponse.OffsetSignal,
    in model: RecordingModel, residual: [Double]
  ) -> Double? {
    guard let changed = predictor.waveform(of: change, tempo: model.tempo) else { return nil }
    let start = min(original.start, changed.start)
    let end = max(original.start + original.samples.count, changed.start + changed.samples.count)
    var difference = RecordingResponse.OffsetSignal(start: start)
    difference.samples = [Double](repeating: 0, count: max(0, end - start))
    Vector.add(changed.samples, times: 1, to: &difference.samples, at: changed.start - start)
    Vector.add(original.samples, times: -1, to: &difference.samples, at: original.start - start)

    let recorded = predictor.recordedWaveform(of: difference, in: model)
    let first = max(0, -recorded.start)
    let length = min(recorded.samples.count - first, residual.count - recorded.start - first)
    let product = Vector.dot(
      recorded.samples, from: first, residual, from: recorded.start + first, count: length)
    return 2 * product - Vector.energy(recorded.samples)
  }

  /// Returns the two added transients that explain most of the residual.
  private func addedTransients(
    bankIndex: Int, in model: RecordingModel, residual: [Double]
  ) -> [RecordingModel.Change] {
    let unit = RecordingModel.Change(kind: .added, amount: 1, bankIndex: bankIndex)
    let waveform = predictor.recordedWaveform(
      of: predictor.waveform(of: unit, tempo: 0) ?? RecordingResponse.OffsetSignal(), in: model)
    let burst = Array(waveform.samples.prefix(Int(0.2 * rate)))
    let energy = max(1e-30, Vector.energy(burst))
    let lags = 0..<max(1, residual.count - burst.count / 2)
    var scores = Vector.crossCorrelation(burst, residual, lags: lags).map { product in
      // Require the polarity of the events and at least 6 % of full intensity.
      product > 0.06 * energy ? product * product : 0
    }
    var changes: [RecordingModel.Change] = []
    for _ in 0..<2 {
      guard let lag = scores.indices.max(by: { scores[$0] < scores[$1] }), scores[lag] > 0 else {
        break
      }
      var change = unit
      change.amount = scores[lag].squareRoot() / energy
      change.time = Double(lag - waveform.start) / rate / (1 + model.tempo)
      changes.append(change)
      for near in max(0, lag - 80)..<min(scores.count, lag + 80) {
        scores[near] = 0
      }
    }
    return changes
  }
}
