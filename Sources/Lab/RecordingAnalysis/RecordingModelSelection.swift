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

  private var observation: RecordingObservation
  /// The candidates for added transients.
  private let transientBank: [EventWaveform]

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
    /// Below this residual, no further change is tried.
    static let change = -27.0
  }

  private enum DelaySearch {
    static let maximumCount = 3
    /// The minimum explained power relative to the best candidate.
    static let minimumRatio = 0.6
    /// The minimum spacing of candidates, in seconds.
    static let spacing = 0.07
  }

  private static let maximumChangeCount = 4
  /// The minimum fraction of the residual that a change must explain.
  private static let minimumExplainedFraction = 0.2
  /// The amounts of change to consider: decibels, seconds, and logarithms of a frequency ratio.
  private static let changeRanges: [RecordingChange.Kind: ClosedRange<Double>] = [
    .level: minimumChange.decibels...40,
    .time: minimumChange.seconds...RecordingModelFit.maximumTimeShift,
    .frequency: minimumChange.logRatio...1,
  ]
  /// The cost of each kind of change, in multiples of the logarithm of the number of samples.
  private static let changeCosts: [RecordingChange.Kind: Double] = [
    .level: 0.5, .time: 0.5, .frequency: 0.5, .added: 1.5,
  ]

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
    observation = RecordingObservation(
      recording, leadLength: leadLength,
      excerptLength: leadLength + Int((reference.duration + Self.margin.after) * recording.rate))
    transientBank = renderer.transientBank()
    select(searchSeconds: searchSeconds)
  }

  private var rate: Double { observation.rate }
  private var sampleCount: Int { observation.excerptLength }
  private var logSampleCount: Double { log(Double(sampleCount)) }

  // MARK: - Selection

  private mutating func select(searchSeconds: Double) {
    var models: [RecordingModel] = []
    for (number, delay) in candidateDelays(searchSeconds: searchSeconds).enumerated() {
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
    let recording = observation.samples
    for model in models {
      guard abs(model.delay - best.delay) < observation.leadLength,
        model.response.kind.withoutParameters != .anyRoom
      else {
        continue
      }
      var current = model
      // Gain control looks like level changes. After it is inverted, fewer changes remain and the
      // estimate improves.
      for _ in 0..<2 {
        guard let gain = bestGain(for: current), gain != current.automaticGain else {
          break
        }
        let undone = gain.undone(in: recording, rate: rate)
        observation.samples = undone.samples
        let logJacobian = sumOfLogarithms(of: undone.gains, at: model.delay)
        current = self.model(model.response.kind.withoutParameters, at: model.delay)
        current.logEvidence -= logJacobian + 2 * logSampleCount
        current.automaticGain = gain
        observation.samples = recording
        consider(current)
      }
    }
  }

  // MARK: - Delay and tempo

  /// Returns the delays at which a 44 ms response explains most of the recording, in descending
  /// order.
  private func candidateDelays(searchSeconds: Double) -> [Int] {
    let signal = Array(predictedSignal([], tempo: 0)[observation.leadLength...])
    let response = RecordingResponse(
      kind: .unconstrained, priorScale: 1_000 / max(Vector.energy(signal), 1e-30))
    let regression = RecordingResponse.Regression(response, of: signal, rate: rate)
    let first = -Int(0.5 * rate)
    let end = max(
      first + 1, min(Int(searchSeconds * rate), observation.samples.count - Int(0.05 * rate)))

    // The cross-correlation at all lags, by FFT.
    let lags = regression.lags
    let length = FourierTransform.fastLength(
      atLeast: signal.count + observation.samples.count + lags.count)
    var transform = FourierTransform(length: length)
    let bins = transform.forward(observation.samples.map(Float.init))
    let products = transform.correlation(bins, signal.map(Float.init)).map(Double.init)
    let explained = (first..<end).map { delay in
      regression.explainedEnergy(lags.map { products[(delay + $0 + length) % length] })
    }

    let spacing = Int(DelaySearch.spacing * rate)
    let minimum = DelaySearch.minimumRatio * (explained.max() ?? 0)
    var delays: [Int] = []
    for index in explained.indices.sorted(by: { explained[$0] > explained[$1] }) {
      guard explained[index] > minimum, delays.count < DelaySearch.maximumCount else { break }
      let delay = first + index
      if delays.allSatisfy({ abs($0 - delay) >= spacing }) {
        delays.append(delay)
      }
    }
    return delays
  }

  /// Fits one kind of response near a delay, refining the delay within 30 ms and the tempo.
  private func fitted(_ kind: RecordingResponse.Kind, near delay: Int) -> RecordingModel {
    let whitener = observation.whitener(at: delay)
    var model = RecordingModel(
      delay: delay, response: RecordingResponse(kind: kind, priorScale: 0), whitener: whitener)
    let signal = whitened(predictedSignal([], tempo: 0), by: whitener)
    fitResponse(of: &model, to: signal)
    let isRoom = kind == .anyRoom
    let searches = isRoom ? [(reach: 60, step: 12), (5, 5)] : [(reach: 60, step: 6), (5, 2)]
    for (reach, step) in searches {
      let regression = RecordingResponse.Regression(model.response, of: signal, rate: rate)
      let center = model.delay
      var bestEvidence = -Double.infinity
      for shift in stride(from: -reach, through: reach, by: step) {
        let evidence = regression.fit(
          whitened(observation.excerpt(at: center + shift), by: whitener)
        ).evidence
        if evidence > bestEvidence {
          bestEvidence = evidence
          model.delay = center + shift
        }
      }
      model.response = RecordingResponse(kind: kind, priorScale: 0)
      fitResponse(of: &model, to: signal)
    }
    fitTempo(of: &model)
    return model
  }

  /// Refines the tempo within ±300 ppm, the typical deviation between two clocks.
  private func fitTempo(of model: inout RecordingModel) {
    guard reference.duration > 1.5 else { return }
    let recorded = whitenedExcerpt(of: model)
    for step in [1e-4, 5e-5, 2.5e-5] {
      let center = model.tempo
      for offset in [-2 * step, -step, step, 2 * step] {
        let tempo = center + offset
        guard abs(tempo) <= 3e-4 else { continue }
        let signal = whitened(predictedSignal([], tempo: tempo), by: model.whitener)
        let fit = model.response.fit(signal, to: recorded, rate: rate)
        guard fit.evidence > model.fit.evidence else { continue }
        model.tempo = tempo
        model.fit = fit
      }
    }
  }

  private func fitResponse(of model: inout RecordingModel, to signal: [Double]) {
    let recorded = whitenedExcerpt(of: model)
    model.energy = Vector.energy(recorded)
    let best = model.response.mostProbable(for: signal, recorded: recorded, rate: rate)
    model.response = best.response
    model.fit = best.fit
  }

  // MARK: - Changes

  /// Returns the best model with one kind of response near a delay.
  private func model(_ kind: RecordingResponse.Kind, at delay: Int) -> RecordingModel {
    let unchanged = fitted(kind, near: delay)
    let model = addingChanges(to: unchanged)
    // If most events moved by the same amount, correct the delay instead.
    let shifts = model.changes.filter { $0.kind == .time }.map(\.amount)
    let shift = Statistics.median(of: shifts)
    guard 2 * shifts.count > reference.waveforms.count,
      shifts.allSatisfy({ abs($0 - shift) < 0.002 })
    else {
      return model
    }
    var shifted = unchanged
    shifted.delay += Int((shift * rate).rounded())
    fitResponse(
      of: &shifted, to: whitened(predictedSignal([], tempo: shifted.tempo), by: shifted.whitener))
    let shiftedModel = addingChanges(to: shifted)
    return shiftedModel.score > model.score ? shiftedModel : model
  }

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
  private func addingChanges(to unchanged: RecordingModel) -> RecordingModel {
    var model = unchanged
    let recorded = whitenedExcerpt(of: model)
    var evidence = evidence(of: model, changes: [], recorded: recorded, refitsResonance: true)
    model.logEvidence = evidenceWithResidualNoise(of: model, changes: [], recorded: recorded)
    while model.changes.count < Self.maximumChangeCount,
      model.residualDecibels > SufficientResidual.change
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
      fitResponse(
        of: &model,
        to: whitened(predictedSignal(model.changes, tempo: model.tempo), by: model.whitener))
      evidence = self.evidence(
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
      let evidence = evidenceWithResidualNoise(
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
      (change, self.evidence(of: model, changes: model.changes + [change], recorded: recorded))
    }
    candidates.sort { $0.1 > $1.1 }
    return candidates.prefix(8).compactMap { candidate, _ in
      let change = refined(candidate, in: model, recorded: recorded)
      if let range = Self.changeRanges[change.kind], !range.contains(abs(change.amount)) {
        return nil
      }
      var withChange = self.evidence(
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
    return eventCost + Self.changeCosts[change.kind, default: 0] * logSampleCount
  }

  /// Maximizes the evidence over a change's parameters by pattern search with step halving.
  private func refined(
    _ change: RecordingModel.Change, in model: RecordingModel, recorded: [Double]
  ) -> RecordingModel.Change {
    func evidence(_ change: RecordingModel.Change) -> Double {
      self.evidence(of: model, changes: model.changes + [change], recorded: recorded)
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
    let signal = whitened(predictedSignal(model.changes, tempo: model.tempo), by: model.whitener)
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
    let original = waveform(of: reference.waveforms[index], tempo: model.tempo)
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
    guard let changed = waveform(of: change, tempo: model.tempo) else { return nil }
    let start = min(original.start, changed.start)
    let end = max(original.start + original.samples.count, changed.start + changed.samples.count)
    var difference = RecordingResponse.OffsetSignal(start: start)
    difference.samples = [Double](repeating: 0, count: max(0, end - start))
    Vector.add(changed.samples, times: 1, to: &difference.samples, at: changed.start - start)
    Vector.add(original.samples, times: -1, to: &difference.samples, at: original.start - start)

    let recorded = recordedWaveform(of: difference, in: model)
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
    let waveform = recordedWaveform(
      of: waveform(of: unit, tempo: 0) ?? RecordingResponse.OffsetSignal(), in: model)
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

  // MARK: - Signals

  /// Returns the changed reference, aligned to the excerpt, before the response is applied.
  private func predictedSignal(_ changes: [RecordingModel.Change], tempo: Double) -> [Double] {
    var sum = [Double](repeating: 0, count: sampleCount)
    let changedWaveforms = Set(changes.compactMap(\.waveformIndex))
    for (index, source) in reference.waveforms.enumerated() where !changedWaveforms.contains(index)
    {
      waveform(of: source, tempo: tempo).add(to: &sum)
    }
    for change in changes {
      waveform(of: change, tempo: tempo)?.add(to: &sum)
    }
    return sum
  }

  /// Returns an event's waveform at its position in the excerpt.
  private func waveform(of source: EventWaveform, tempo: Double) -> RecordingResponse.OffsetSignal {
    let onset = Double(observation.leadLength) / rate + source.time * (1 + tempo)
    let column = source.column(onset: onset, timeScale: 1 + tempo, count: sampleCount)
    return RecordingResponse.OffsetSignal(
      start: column.start, samples: column.samples.map(Double.init))
  }

  /// Returns the waveform of a changed event or an added transient, or nil if the change is
  /// impossible.
  private func waveform(
    of change: RecordingModel.Change, tempo: Double
  ) -> RecordingResponse.OffsetSignal? {
    guard let index = change.waveformIndex else {
      var transient = transientBank[change.bankIndex].scaled(by: change.amount)
      transient.time = change.time
      return waveform(of: transient, tempo: tempo)
    }
    let variants = EventVariants(reference: reference)
    let changed: EventWaveform?
    switch change.kind {
    case .missing:
      changed = reference.waveforms[index].scaled(by: 0)
    case .level:
      changed = reference.waveforms[index].scaled(by: pow(10, change.amount / 20))
    case .time:
      changed = variants.shifted(index, by: (change.amount * 1_000).rounded() / 1_000)
    default:
      changed = variants.retuned(index, by: exp(change.amount))?.waveform
    }
    return changed.map { waveform(of: $0, tempo: tempo) }
  }

  /// Returns a waveform filtered by a model's response and whitener.
  private func recordedWaveform(
    of part: RecordingResponse.OffsetSignal, in model: RecordingModel
  ) -> RecordingResponse.OffsetSignal {
    model.response.output(
      for: part.filtered(by: model.whitener), coefficients: model.fit.coefficients, rate: rate,
      count: sampleCount)
  }

  private func whitened(_ samples: [Double], by whitener: [Double]) -> [Double] {
    Array(
      RecordingResponse.OffsetSignal(samples: samples).filtered(by: whitener).samples.prefix(
        samples.count))
  }

  private func whitenedExcerpt(of model: RecordingModel) -> [Double] {
    whitened(observation.excerpt(at: model.delay), by: model.whitener)
  }

  // MARK: - Evidence

  /// Returns the log evidence of a model with different changes, using the model's whitener.
  ///
  /// - Parameter refitsResonance: Pass true to refit the parameters of the resonance.
  private func evidence(
    of model: RecordingModel, changes: [RecordingModel.Change], recorded: [Double],
    refitsResonance: Bool = false
  ) -> Double {
    let signal = whitened(predictedSignal(changes, tempo: model.tempo), by: model.whitener)
    if refitsResonance, model.response.kind.withoutParameters == .anyResonance {
      return model.response.mostProbable(for: signal, recorded: recorded, rate: rate).fit.evidence
    }
    return model.response.fit(signal, to: recorded, rate: rate).evidence
  }

  /// Returns the log evidence with the noise spectrum estimated from the model's residual.
  private func evidenceWithResidualNoise(
    of model: RecordingModel, changes: [RecordingModel.Change], recorded: [Double]
  ) -> Double {
    let predicted = predictedSignal(changes, tempo: model.tempo)
    let signal = whitened(predicted, by: model.whitener)
    var response = model.response
    var fit = response.fit(signal, to: recorded, rate: rate)
    if response.kind.withoutParameters == .anyResonance {
      let best = response.mostProbable(for: signal, recorded: recorded, rate: rate)
      response = best.response
      fit = best.fit
    }
    let excerpt = observation.excerpt(at: model.delay)
    var evidence = -Double.infinity
    for _ in 0..<2 {
      let explained = response.output(
        for: RecordingResponse.OffsetSignal(samples: predicted), coefficients: fit.coefficients,
        rate: rate, count: sampleCount)
      var residual = excerpt
      explained.add(to: &residual, times: -1)
      let whitener = residualWhitener(residual, excerptEnergy: Vector.energy(excerpt))
      let signal = whitened(predicted, by: whitener)
      let recorded = whitened(excerpt, by: whitener)
      for _ in 0..<2 {
        fit = response.fit(signal, to: recorded, rate: rate)
        evidence = max(evidence, fit.evidence)
        let strongest = fit.coefficients.map { $0 * $0 }.max() ?? 0
        response.priorScale = max(strongest, 1e-12) / (fit.residualEnergy / Double(sampleCount))
      }
    }
    return evidence
  }

  private func residualWhitener(_ residual: [Double], excerptEnergy: Double) -> [Double] {
    var spectrum = NoiseSpectralDensity(of: residual.map(Float.init), quantile: nil)
    let floor = 1e-7 * excerptEnergy / Double(sampleCount) + 1e-4 * spectrum.power
    for bin in spectrum.powers.indices {
      spectrum.powers[bin] += floor
    }
    return spectrum.whitener(order: RecordingObservation.whitenerOrder).map(Double.init)
  }

  private func sumOfLogarithms(of gains: [Double], at delay: Int) -> Double {
    observation.excerpt(of: gains, at: delay).reduce(0) { $0 + ($1 > 0 ? log($1) : 0) }
  }

  // MARK: - Automatic gain

  /// Returns the automatic gain control that explains the level changes and makes the recording
  /// much more probable, or nil.
  private func bestGain(for model: RecordingModel) -> AutomaticGainControl? {
    let otherChanges = model.changes.filter { $0.kind != .level }
    let alternatives = otherChanges.isEmpty ? [[]] : [[], otherChanges]
    let gains = alternatives.compactMap { bestGain(for: model, changes: $0) }
    return gains.max { $0.evidence < $1.evidence }?.gain
  }

  /// Searches a grid of thresholds, exponents and time constants, then refines each by coordinate
  /// descent.
  private func bestGain(
    for model: RecordingModel, changes: [RecordingModel.Change]
  ) -> (gain: AutomaticGainControl, evidence: Double)? {
    let signal = whitened(predictedSignal(changes, tempo: model.tempo), by: model.whitener)
    let regression = RecordingResponse.Regression(model.response, of: signal, rate: rate)
    let peak = observation.excerpt(at: model.delay).reduce(0) { max($0, abs($1)) }
    let unchanged = regression.fit(whitenedExcerpt(of: model)).evidence
    var best: AutomaticGainControl?
    var bestEvidence = unchanged + RecordingModel.minimumEvidenceGain + 2 * logSampleCount
    func consider(_ gain: AutomaticGainControl) {
      let undone = gain.undone(in: observation.samples, rate: rate)
      let excerpt = observation.excerpt(of: undone.samples, at: model.delay)
      let fit = regression.fit(whitened(excerpt, by: model.whitener))
      let evidence = fit.evidence - sumOfLogarithms(of: undone.gains, at: model.delay)
      guard evidence > bestEvidence else { return }
      best = gain
      bestEvidence = evidence
    }
    for release in [0.15, 0.4, 1] {
      for attack in [0.01, 0.03, 0.1] {
        for exponent in [0.4, 0.7, 1] {
          for threshold in [0.05, 0.12, 0.3, 0.6] {
            consider(
              AutomaticGainControl(
                threshold: peak * threshold, exponent: exponent, attack: attack, release: release))
          }
        }
      }
    }
    let parameters = [\AutomaticGainControl.threshold, \.exponent, \.attack, \.release]
    for factor in [1.4, 1.18, 1.09] {
      for parameter in parameters {
        for step in [factor, 1 / factor] {
          guard var gain = best else { return nil }
          gain[keyPath: parameter] *= step
          consider(gain)
        }
      }
    }
    return best.map { ($0, bestEvidence) }
  }

  // MARK: - Results

  /// Returns the level of the recording under a model, in decibels relative to the reference.
  func level(of model: RecordingModel) -> Double {
    let recorded = Vector.energy(observation.excerpt(at: model.delay))
    let predicted = Vector.energy(predictedSignal([], tempo: 0))
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
    let transient = transientBank[change.bankIndex]
    let duration = transient.end - transient.time
    return RecordingChange(
      kind: .added, event: ActiveRegion.event(start: change.time, duration: duration),
      range: change.time...change.time + duration, amount: 20 * log10(max(1e-6, change.amount)),
      explainedRange: 0..<0,
      improvement: 2 * change.evidenceGain)
  }
}
