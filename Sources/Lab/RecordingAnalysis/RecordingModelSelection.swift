internal import CMath
import SignalAnalysis

/// The search for the most probable model of a recording by Bayesian model selection.
///
/// 1. Find candidate delays at which an arbitrary short response explains most of the recording.
/// 2. For each delay and each kind of response, refine delay and tempo. Then add changes one at a
///    time for as long as the evidence increases enough.
/// 3. If the residual of the best model is large, or if it needs changes, invert a range of
///    automatic gain controls and repeat.
///
/// `RecordingResponse` computes the evidence with its coefficients integrated out. Each selected
/// parameter costs half the logarithm of the number of samples (the Bayesian information
/// criterion; G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6, 1978).
package struct RecordingModelSelection {
  let reference: RecordingReference
  private(set) var bestModel: RecordingModel?

  private var predictor: RecordingPredictor

  /// The sample rate of the analysis, in hertz. Haptic signals lie far below its Nyquist frequency.
  static let analysisSampleRate = 2_000.0
  /// The durations by which an excerpt extends before and after the reference, in seconds.
  static let excerptMarginSeconds = (before: 0.08, after: 0.5)
  /// The minimum changes to report: in decibels, in seconds, and as the logarithm of a frequency
  /// ratio.
  package static let minimumReportedChange = (decibels: 2.5, seconds: 0.006, logRatio: 0.1)

  /// The residuals, in decibels relative to the recording, below which steps of the search are
  /// skipped.
  private enum SufficientResidual {
    /// The residual below which no further delay is tried.
    static let delayDecibels = -15.0
    /// The residual below which no room response is tried.
    static let roomDecibels = -19.0
    /// The residual below which no further kind of response is tried.
    static let responseDecibels = -24.0
    /// The residual below which no automatic gain control is tried.
    static let automaticGainDecibels = -20.0
  }

  /// Selects the most probable model of a recording.
  ///
  /// - Parameters:
  ///   - pair: The pattern and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the pattern.
  /// - Returns: Nil if the events of the pattern cannot be rendered, or if the recording is shorter
  ///   than 0.2 s.
  init?(_ pair: RecordingPair, searchSeconds: Double) {
    let recording = LowRateSignal(
      of: pair.recording.mono, decimatedRate: pair.recording.rate,
      targetRate: Self.analysisSampleRate)
    guard let reference = RecordingReference(pair.referenceSource, target: Self.analysisSampleRate),
      !reference.waveforms.isEmpty,
      let renderer = reference.eventRenderer,
      abs(reference.sampleRate - recording.decimatedRate) < 1e-6 * recording.decimatedRate,
      recording.samples.count > Int(0.2 * recording.decimatedRate)
    else { return nil }
    self.reference = reference
    let leadLength = Int(Self.excerptMarginSeconds.before * recording.decimatedRate)
    let observation = RecordingObservation(
      recording, leadSampleCount: leadLength,
      excerptSampleCount: leadLength
        + Int(
          (reference.durationSeconds + Self.excerptMarginSeconds.after) * recording.decimatedRate))
    predictor = RecordingPredictor(
      reference: reference, observation: observation, transientBank: renderer.transientBank())
    selectModel(searchSeconds: searchSeconds)
  }

  // MARK: - Selection

  private mutating func selectModel(searchSeconds: Double) {
    var models: [RecordingModel] = []
    let search = RecordingDelaySearch(predictor: predictor)
    for (number, delay) in search.candidateDelays(searchSeconds: searchSeconds).enumerated() {
      if number > 0, isRecordingExplained(within: SufficientResidual.delayDecibels) { break }
      for kind in [RecordingResponse.Kind.anyResonance, .filter, .anyRoom] {
        let sufficient =
          kind == .anyRoom ? SufficientResidual.roomDecibels : SufficientResidual.responseDecibels
        if isRecordingExplained(within: sufficient) { continue }
        let model = modelWithChanges(kind, at: delay)
        models.append(model)
        consider(model)
      }
    }
    refitWithAutomaticGain(models)
  }

  private mutating func consider(_ model: RecordingModel) {
    if model.isBetter(than: bestModel) {
      bestModel = model
    }
  }

  /// Returns true if the best model has a small residual and at most one change.
  private func isRecordingExplained(within decibels: Double) -> Bool {
    guard let bestModel else { return false }
    return bestModel.residualDecibels < decibels && bestModel.changes.count < 2
  }

  /// Refits the models near the best delay with an automatic gain control.
  private mutating func refitWithAutomaticGain(_ models: [RecordingModel]) {
    guard let bestModel,
      bestModel.residualDecibels > SufficientResidual.automaticGainDecibels
        || !bestModel.changes.isEmpty
    else {
      return
    }
    let recording = predictor.observation.samples
    for model in models {
      guard
        abs(model.delaySamples - bestModel.delaySamples) < predictor.observation.leadSampleCount,
        model.response.kind.parameterFreeKind != .anyRoom
      else {
        continue
      }
      var current = model
      // Gain control looks like level changes. After it is inverted, fewer changes remain and the
      // estimate improves.
      for _ in 0..<2 {
        guard let gain = AutomaticGainSearch(predictor: predictor).bestGain(for: current),
          gain != current.automaticGain
        else {
          break
        }
        let undone = gain.undone(in: recording, rate: predictor.sampleRate)
        predictor.observation.samples = undone.samples
        let logJacobian = predictor.logGainSum(of: undone.gains, at: model.delaySamples)
        current = self.modelWithChanges(
          model.response.kind.parameterFreeKind, at: model.delaySamples)
        current.logEvidence -= logJacobian + 2 * predictor.logSampleCount
        current.automaticGain = gain
        predictor.observation.samples = recording
        consider(current)
      }
    }
  }

  /// Returns the best model with one kind of response near a delay.
  private func modelWithChanges(_ kind: RecordingResponse.Kind, at delay: Int) -> RecordingModel {
    let unchanged = RecordingDelaySearch(predictor: predictor).fittedModel(kind, near: delay)
    let search = RecordingChangeSearch(predictor: predictor)
    let model = search.addingChanges(to: unchanged)
    // If most events moved by the same amount, correct the delay instead.
    let shifts = model.changes.filter { $0.kind == .time }.map(\.signedAmount)
    let shift = Statistics.median(of: shifts)
    guard 2 * shifts.count > reference.waveforms.count,
      shifts.allSatisfy({ abs($0 - shift) < 0.002 })
    else {
      return model
    }
    var shifted = unchanged
    shifted.delaySamples += Int((shift * predictor.sampleRate).rounded())
    predictor.fitResponse(of: &shifted, to: predictor.whitenedSignal(of: shifted))
    let shiftedModel = search.addingChanges(to: shifted)
    return shiftedModel.comparisonScore > model.comparisonScore ? shiftedModel : model
  }

  // MARK: - Results

  /// Returns the level of the recording under a model, in decibels relative to the reference.
  func levelDecibels(of model: RecordingModel) -> Double {
    let recorded = Vector.energy(predictor.observation.excerpt(at: model.delaySamples))
    let predicted = Vector.energy(predictor.predictedSignal([], tempo: 0))
    return 10 * log10(max(1e-30, recorded) / max(1e-30, predicted))
  }

  /// Returns the changes of a model that are reported.
  ///
  /// If one of two events is missing, neither the delay nor the sound of the other can be
  /// determined, so nothing else is reported. An added transient within 60 ms of another change is
  /// part of that change's residual and is dropped.
  func changes(of model: RecordingModel) -> [RecordingChange] {
    let isPair = reference.waveforms.count == 2
    let missing = model.changes.first { $0.kind == .missing }
    let reported: [RecordingModel.Change]
    if isPair, let missing {
      reported = [missing]
    } else {
      reported = model.changes.indices.filter { index in
        let change = model.changes[index]
        return change.kind != .added
          || !model.changes[..<index].contains {
            abs(eventSeconds(of: $0) - change.transientSeconds) < 0.06
          }
      }.map { model.changes[$0] }
    }
    return reported.map { change in
      var result = recordingChange(change)
      result.isAmbiguous = isPair && [.missing, .level, .time].contains(result.kind)
      return result
    }
  }

  private func eventSeconds(of change: RecordingModel.Change) -> Double {
    change.waveformIndex.map { reference.waveforms[$0].eventSeconds } ?? change.transientSeconds
  }

  private func recordingChange(_ change: RecordingModel.Change) -> RecordingChange {
    guard let index = change.waveformIndex else { return addedTransient(change) }
    let waveform = reference.waveforms[index]
    var result = RecordingChange(
      kind: change.kind, indexedEvent: waveform.indexedEvent,
      secondsRange: waveform.eventSeconds...max(waveform.eventSeconds, waveform.endSeconds),
      signedAmount: change.signedAmount,
      waveformIndex: index, explainedRange: 0..<0, explainedEnergyRatio: 2 * change.logEvidenceGain)
    switch change.kind {
    case .missing:
      result.signedAmount = 20 * log10(max(Double(Statistics.peak(of: waveform.samples)), 1e-6))
    case .time:
      result.originalValue = waveform.eventSeconds
      result.changedValue = waveform.eventSeconds + change.signedAmount
    case .frequency:
      let variant = EventVariants(reference: reference).retunedEvent(
        index, by: exp(change.signedAmount))
      result.signedAmount = 100 * (exp(change.signedAmount) - 1)
      result.originalValue = variant?.originalHertz
      result.changedValue = variant?.newHertz
    default: break
    }
    return result
  }

  private func addedTransient(_ change: RecordingModel.Change) -> RecordingChange {
    let transient = predictor.transientBank[change.transientBankIndex]
    let duration = transient.endSeconds - transient.eventSeconds
    return RecordingChange(
      kind: .added,
      indexedEvent: ActiveRegion.event(start: change.transientSeconds, duration: duration),
      secondsRange: change.transientSeconds...change.transientSeconds + duration,
      signedAmount: 20 * log10(max(1e-6, change.signedAmount)),
      explainedRange: 0..<0,
      explainedEnergyRatio: 2 * change.logEvidenceGain)
  }
}
