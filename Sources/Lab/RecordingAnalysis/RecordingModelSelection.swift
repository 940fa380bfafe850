internal import CMath
import SignalAnalysis

/// Finds the most probable model of a recording by Bayesian model selection.
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
  private(set) var best: RecordingModel?

  private var predictor: RecordingPredictor

  /// The sample rate of the analysis, in hertz. Haptic signals lie far below its Nyquist frequency.
  static let rate = 2_000.0
  /// The margins of an excerpt before and after the reference, in seconds.
  static let margin = (before: 0.08, after: 0.5)
  /// The minimum changes to report: in decibels, in seconds, and as the logarithm of a frequency
  /// ratio.
  package static let minimumChange = (decibels: 2.5, seconds: 0.006, logRatio: 0.1)

  /// The residuals, in decibels relative to the recording, that end a step of the search.
  private enum SufficientResidual {
    /// Below this residual, no further delay is tried.
    static let delay = -15.0
    /// Below this residual, no room is tried.
    static let room = -19.0
    /// Below this residual, no further kind of response is tried.
    static let response = -24.0
    /// Below this residual, no automatic gain control is tried.
    static let gain = -20.0
  }

  /// Selects the most probable model.
  ///
  /// - Parameters:
  ///   - pair: The pattern and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the pattern.
  /// - Returns: Nil if the events of the pattern cannot be rendered, or if the recording is shorter
  ///   than 0.2 s.
  init?(_ pair: RecordingPair, searchSeconds: Double) {
    let recording = LowRateSignal(
      of: pair.recording.mono, rate: pair.recording.rate, targetRate: Self.rate)
    guard let reference = RecordingReference(pair.pattern, target: Self.rate),
      !reference.waveforms.isEmpty,
      let renderer = reference.renderer,
      abs(reference.rate - recording.rate) < 1e-6 * recording.rate,
      recording.samples.count > Int(0.2 * recording.rate)
    else { return nil }
    self.reference = reference
    let leadLength = Int(Self.margin.before * recording.rate)
    let observation = RecordingObservation(
      recording, leadLength: leadLength,
      excerptLength: leadLength + Int((reference.duration + Self.margin.after) * recording.rate))
    predictor = RecordingPredictor(
      reference: reference, observation: observation, transientBank: renderer.transientBank())
    select(searchSeconds: searchSeconds)
  }

  // MARK: - Selection

  private mutating func select(searchSeconds: Double) {
    var models: [RecordingModel] = []
    let search = RecordingDelaySearch(predictor: predictor)
    for (number, delay) in search.candidateDelays(searchSeconds: searchSeconds).enumerated() {
      if number > 0, isExplained(within: SufficientResidual.delay) { break }
      for kind in [RecordingResponse.Kind.anyResonance, .filter, .anyRoom] {
        let sufficient = kind == .anyRoom ? SufficientResidual.room : SufficientResidual.response
        if isExplained(within: sufficient) { continue }
        let model = model(kind, at: delay)
        models.append(model)
        consider(model)
      }
    }
    selectGain(for: models)
  }

  private mutating func consider(_ model: RecordingModel) {
    if model.isBetter(than: best) {
      best = model
    }
  }

  /// Returns whether the best model has a small residual and at most one change.
  private func isExplained(within decibels: Double) -> Bool {
    guard let best else { return false }
    return best.residualDecibels < decibels && best.changes.count < 2
  }

  /// Refits the models near the best delay with an automatic gain control.
  private mutating func selectGain(for models: [RecordingModel]) {
    guard let best, best.residualDecibels > SufficientResidual.gain || !best.changes.isEmpty else {
      return
    }
    let recording = predictor.observation.samples
    for model in models {
      guard abs(model.delay - best.delay) < predictor.observation.leadLength,
        model.response.kind.withoutParameters != .anyRoom
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
        let undone = gain.undone(in: recording, rate: predictor.rate)
        predictor.observation.samples = undone.samples
        let logJacobian = predictor.sumOfLogarithms(of: undone.gains, at: model.delay)
        current = self.model(model.response.kind.withoutParameters, at: model.delay)
        current.logEvidence -= logJacobian + 2 * predictor.logSampleCount
        current.automaticGain = gain
        predictor.observation.samples = recording
        consider(current)
      }
    }
  }

  /// Returns the best model with one kind of response near a delay.
  private func model(_ kind: RecordingResponse.Kind, at delay: Int) -> RecordingModel {
    let unchanged = RecordingDelaySearch(predictor: predictor).fitted(kind, near: delay)
    let search = RecordingChangeSearch(predictor: predictor)
    let model = search.addingChanges(to: unchanged)
    // If most events moved by the same amount, correct the delay instead.
    let shifts = model.changes.filter { $0.kind == .time }.map(\.amount)
    let shift = Statistics.median(of: shifts)
    guard 2 * shifts.count > reference.waveforms.count,
      shifts.allSatisfy({ abs($0 - shift) < 0.002 })
    else {
      return model
    }
    var shifted = unchanged
    shifted.delay += Int((shift * predictor.rate).rounded())
    predictor.fitResponse(of: &shifted, to: predictor.whitenedSignal(of: shifted))
    let shiftedModel = search.addingChanges(to: shifted)
    return shiftedModel.score > model.score ? shiftedModel : model
  }

  // MARK: - Results

  /// Returns the level of the recording under a model, in decibels relative to the reference.
  func level(of model: RecordingModel) -> Double {
    let recorded = Vector.energy(predictor.observation.excerpt(at: model.delay))
    let predicted = Vector.energy(predictor.predictedSignal([], tempo: 0))
    return 10 * log10(max(1e-30, recorded) / max(1e-30, predicted))
  }

  /// Returns the changes to report for a model.
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
          || !model.changes[..<index].contains { abs(time(of: $0) - change.time) < 0.06 }
      }.map { model.changes[$0] }
    }
    return reported.map { change in
      var result = recordingChange(change)
      result.isAmbiguous = isPair && [.missing, .level, .time].contains(result.kind)
      return result
    }
  }

  private func time(of change: RecordingModel.Change) -> Double {
    change.waveformIndex.map { reference.waveforms[$0].time } ?? change.time
  }

  private func recordingChange(_ change: RecordingModel.Change) -> RecordingChange {
    guard let index = change.waveformIndex else { return addedTransient(change) }
    let waveform = reference.waveforms[index]
    var result = RecordingChange(
      kind: change.kind, event: waveform.event,
      range: waveform.time...max(waveform.time, waveform.end), amount: change.amount,
      waveformIndex: index, explainedRange: 0..<0, improvement: 2 * change.evidenceGain)
    switch change.kind {
    case .missing:
      result.amount = 20 * log10(max(Double(Statistics.peak(of: waveform.samples)), 1e-6))
    case .time:
      result.before = waveform.time
      result.after = waveform.time + change.amount
    case .frequency:
      let variant = EventVariants(reference: reference).retuned(index, by: exp(change.amount))
      result.amount = 100 * (exp(change.amount) - 1)
      result.before = variant?.before
      result.after = variant?.after
    default: break
    }
    return result
  }

  private func addedTransient(_ change: RecordingModel.Change) -> RecordingChange {
    let transient = predictor.transientBank[change.bankIndex]
    let duration = transient.end - transient.time
    return RecordingChange(
      kind: .added, event: ActiveRegion.event(start: change.time, duration: duration),
      range: change.time...change.time + duration, amount: 20 * log10(max(1e-6, change.amount)),
      explainedRange: 0..<0,
      improvement: 2 * change.evidenceGain)
  }
}
