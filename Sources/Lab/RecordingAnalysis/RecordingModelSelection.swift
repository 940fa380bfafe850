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
  /// The minimum residual of a model with a gain control and without changes, in decibels.
  ///
  /// The residual is relative to the restored recording, so it tends to be lower than a residual
  /// relative to the recording. It is infinite if no gain control was accepted.
  private(set) var unchangedResidualDecibelsWithGain = Double.infinity

  private var predictor: RecordingPredictor

  /// The sample rate of the analysis, in hertz.
  ///
  /// Haptic signals lie far below its Nyquist frequency.
  static let analysisSampleRate = 2_000.0
  /// The margins of an excerpt before and after the reference, in seconds.
  static let excerptMarginSeconds = (before: 0.08, after: 0.5)
  /// The margin of an excerpt before a reference with few events, in seconds.
  ///
  /// Any sound can resemble one of the events, so the model must also explain the preceding sounds.
  private static let leadSecondsWithFewEvents = 0.5
  /// The maximum difference between the delays of models that share a gain control, in seconds.
  private static let maximumDelayDifferenceSeconds = 0.08
  /// The assumed maximum improvement of a residual by inverting a gain, in decibels.
  private static let maximumResidualImprovementDecibels = 10.0
  /// The minimum changes to report, for each kind of change.
  ///
  /// They are in decibels, in seconds, and as the logarithm of a frequency ratio.
  package static let minimumReportedChange = (decibels: 2.5, seconds: 0.006, logRatio: 0.1)

  /// The maximum residuals for skipping steps of the search, in decibels.
  ///
  /// The residuals are relative to the recording, or to the restored recording of a model with a
  /// gain.
  private enum SufficientResidual {
    /// The maximum residual for skipping further delays.
    static let delayDecibels = -15.0
    /// The maximum residual for skipping room responses.
    static let roomDecibels = -19.0
    /// The maximum residual for skipping further kinds of response.
    static let responseDecibels = -24.0
    /// The maximum residual of an unchanged model with a gain for skipping further models.
    static let unchangedWithGainDecibels = -19.0
    /// The maximum residual for skipping automatic gain controls.
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
    let lowRateRecording = pair.decimatedRecording(targetRate: Self.analysisSampleRate)
    guard let reference = RecordingReference(pair.referenceSource, target: Self.analysisSampleRate),
      !reference.waveforms.isEmpty,
      let renderer = reference.eventRenderer,
      abs(reference.sampleRate - lowRateRecording.decimatedRate) < 1e-6
        * lowRateRecording.decimatedRate,
      lowRateRecording.samples.count > Int(0.2 * lowRateRecording.decimatedRate)
    else { return nil }
    self.reference = reference
    let leadSeconds =
      reference.hasFewEvents ? Self.leadSecondsWithFewEvents : Self.excerptMarginSeconds.before
    let leadSampleCount = Int(leadSeconds * lowRateRecording.decimatedRate)
    let observation = RecordingObservation(
      lowRateRecording, leadSampleCount: leadSampleCount,
      excerptSampleCount: leadSampleCount
        + Int(
          (reference.durationSeconds + Self.excerptMarginSeconds.after)
            * lowRateRecording.decimatedRate))
    predictor = RecordingPredictor(
      reference: reference, observation: observation, transientBank: renderer.transientBank())
    selectModel(searchSeconds: searchSeconds)
  }

  // MARK: - Selection

  private mutating func selectModel(searchSeconds: Double) {
    var triedModels: [RecordingModel] = []
    let delaySearch = RecordingDelaySearch(predictor: predictor)
    for (number, delay) in delaySearch.candidateDelays(searchSeconds: searchSeconds).enumerated() {
      if number > 0, isRecordingExplained(within: SufficientResidual.delayDecibels) { break }
      for kind in [RecordingResponse.Kind.anyResonance, .filter, .anyRoom] {
        let sufficient =
          kind == .anyRoom ? SufficientResidual.roomDecibels : SufficientResidual.responseDecibels
        if isRecordingExplained(within: sufficient) { continue }
        let model = modelWithChanges(kind, at: delay)
        triedModels.append(model)
        consider(model)
      }
    }
    refitWithAutomaticGain(triedModels)
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
    guard let bestModelWithoutGain = bestModel,
      bestModelWithoutGain.residualDecibels > SufficientResidual.automaticGainDecibels
        || !bestModelWithoutGain.changes.isEmpty
    else {
      return
    }
    let originalSamples = predictor.observation.samples
    for model in models {
      if isUnchangedWithAutomaticGain { break }
      guard isPlausibleWithAutomaticGain(model, comparedWith: bestModelWithoutGain) else {
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
        let restored = gain.undone(in: originalSamples, rate: predictor.sampleRate)
        predictor.observation.samples = restored.samples
        current = self.modelWithChanges(
          model.response.kind.parameterFreeKind, at: model.delaySamples)
        current.logEvidence +=
          predictor.logEvidenceDifference(ofRecordingWith: restored.logGains, model: current)
          - predictor.cost(of: gain)
        current.automaticGain = gain
        predictor.observation.samples = originalSamples
        unchangedResidualDecibelsWithGain = min(
          unchangedResidualDecibelsWithGain, current.residualDecibelsWithoutChanges)
        consider(current)
      }
    }
  }

  /// A Boolean value that indicates whether the best model has a gain, no changes, and a small
  /// residual.
  private var isUnchangedWithAutomaticGain: Bool {
    guard let bestModel else { return false }
    return bestModel.automaticGain != nil && bestModel.changes.isEmpty
      && bestModel.residualDecibels < SufficientResidual.unchangedWithGainDecibels
  }

  /// Returns true if a model with an automatic gain may become the best model.
  ///
  /// - Parameters:
  ///   - model: The model without a gain.
  ///   - best: The best model without a gain.
  private func isPlausibleWithAutomaticGain(
    _ model: RecordingModel, comparedWith best: RecordingModel
  ) -> Bool {
    let delayDifferenceSeconds =
      Double(abs(model.delaySamples - best.delaySamples)) / predictor.sampleRate
    // A room takes the most time to fit. If another response explains the recording better, rooms
    // are not tried with a gain.
    return delayDifferenceSeconds < Self.maximumDelayDifferenceSeconds
      && model.residualDecibels < best.residualDecibels + Self.maximumResidualImprovementDecibels
      && (best.response.kind.isRoom || !model.response.kind.isRoom)
  }

  /// Returns the best model with one kind of response near a delay.
  private func modelWithChanges(_ kind: RecordingResponse.Kind, at delay: Int) -> RecordingModel {
    let unchangedModel = RecordingDelaySearch(predictor: predictor).fittedModel(kind, near: delay)
    let changeSearch = RecordingChangeSearch(predictor: predictor)
    let changedModel = changeSearch.addingChanges(to: unchangedModel)
    // If most events moved by the same amount, correct the delay instead.
    let timeShiftsSeconds = changedModel.changes.filter { $0.kind == .time }.map(\.signedAmount)
    let medianShiftSeconds = Statistics.median(of: timeShiftsSeconds)
    guard 2 * timeShiftsSeconds.count > reference.waveforms.count,
      timeShiftsSeconds.allSatisfy({ abs($0 - medianShiftSeconds) < 0.002 })
    else {
      return changedModel
    }
    var delayedModel = unchangedModel
    delayedModel.delaySamples += Int((medianShiftSeconds * predictor.sampleRate).rounded())
    predictor.fitResponse(of: &delayedModel, to: predictor.whitenedSignal(of: delayedModel))
    let shiftedModel = changeSearch.addingChanges(to: delayedModel)
    return shiftedModel.comparisonScore > changedModel.comparisonScore ? shiftedModel : changedModel
  }

  // MARK: - Results

  /// Returns the level of the recording under a model, in decibels relative to the reference.
  func levelDecibels(of model: RecordingModel) -> Double {
    let recordedEnergy = Vector.energy(predictor.observation.excerpt(at: model.delaySamples))
    let predictedEnergy = Vector.energy(predictor.predictedSignal([], tempo: 0))
    return 10 * log10(max(1e-30, recordedEnergy) / max(1e-30, predictedEnergy))
  }

  /// Returns the reported changes of a model.
  ///
  /// If one of two events is missing, neither the delay nor the sound of the other can be
  /// determined, so nothing else is reported. An added transient within 60 ms of another change is
  /// part of that change's residual and is dropped.
  func changes(of model: RecordingModel) -> [RecordingChange] {
    let hasTwoEvents = reference.waveforms.count == 2
    let missingEventChange = model.changes.first { $0.kind == .missing }
    let reportedChanges: [RecordingModel.Change]
    if hasTwoEvents, let missingEventChange {
      reportedChanges = [missingEventChange]
    } else {
      reportedChanges = model.changes.indices.filter { index in
        let change = model.changes[index]
        return change.kind != .added
          || !model.changes[..<index].contains {
            abs(eventSeconds(of: $0) - change.transientSeconds) < 0.06
          }
      }.map { model.changes[$0] }
    }
    return reportedChanges.map { change in
      var result = recordingChange(change)
      result.isAmbiguous = hasTwoEvents && [.missing, .level, .time].contains(result.kind)
      return result
    }
  }

  private func eventSeconds(of change: RecordingModel.Change) -> Double {
    change.waveformIndex.map { reference.waveforms[$0].eventSeconds } ?? change.transientSeconds
  }

  private func recordingChange(_ change: RecordingModel.Change) -> RecordingChange {
    guard let waveformIndex = change.waveformIndex else { return addedTransient(change) }
    let waveform = reference.waveforms[waveformIndex]
    var eventChange = RecordingChange(
      kind: change.kind, indexedEvent: waveform.indexedEvent,
      secondsRange: waveform.eventSeconds...max(waveform.eventSeconds, waveform.endSeconds),
      signedAmount: change.signedAmount,
      waveformIndex: waveformIndex, explainedRange: 0..<0,
      explainedEnergyRatio: 2 * change.logEvidenceGain)
    switch change.kind {
    case .missing:
      eventChange.signedAmount =
        20 * log10(max(Double(Statistics.peak(of: waveform.samples)), 1e-6))
    case .time:
      eventChange.originalValue = waveform.eventSeconds
      eventChange.changedValue = waveform.eventSeconds + change.signedAmount
    case .frequency:
      let variant = EventVariants(reference: reference).retunedEvent(
        waveformIndex, by: exp(change.signedAmount))
      eventChange.signedAmount = 100 * (exp(change.signedAmount) - 1)
      eventChange.originalValue = variant?.originalHertz
      eventChange.changedValue = variant?.newHertz
    default: break
    }
    return eventChange
  }

  private func addedTransient(_ change: RecordingModel.Change) -> RecordingChange {
    let bankTransient = predictor.transientBank[change.transientBankIndex]
    let durationSeconds = bankTransient.endSeconds - bankTransient.eventSeconds
    return RecordingChange(
      kind: .added,
      indexedEvent: ActiveRegion.event(start: change.transientSeconds, duration: durationSeconds),
      secondsRange: change.transientSeconds...change.transientSeconds + durationSeconds,
      signedAmount: 20 * log10(max(1e-6, change.signedAmount)),
      explainedRange: 0..<0,
      explainedEnergyRatio: 2 * change.logEvidenceGain)
  }
}
