internal import CMath
import SignalAnalysis

/// Predicts a recording from the reference, a response, and changes, and computes the log evidence
/// of the model.
///
/// 1. The predicted signal is the sum of the events' waveforms at their positions in an excerpt of
///    the recording, before the response. Changed events replace the original ones.
/// 2. A whitener, which makes noise and model errors white, filters the signal and the excerpt.
/// 3. `RecordingResponse` integrates the coefficients of the response out. The result is the log
///    evidence of the model.
struct RecordingPredictor {
  let reference: RecordingReference
  var observation: RecordingObservation
  /// The waveforms of transients that may have been added.
  let transientBank: [EventWaveform]

  var sampleRate: Double { observation.sampleRate }
  var sampleCount: Int { observation.excerptSampleCount }
  var logSampleCount: Double { log(Double(sampleCount)) }

  // MARK: - Signals

  /// Returns the changed reference, aligned to the excerpt, before the response is applied.
  func predictedSignal(_ changes: [RecordingModel.Change], tempo: Double) -> [Double] {
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

  /// Returns the whitened signal that a model with changes predicts, before the response.
  func whitenedSignal(
    of model: RecordingModel, changes: [RecordingModel.Change] = []
  ) -> [Double] {
    whitenedSamples(predictedSignal(changes, tempo: model.tempoDeviation), by: model.whitenerTaps)
  }

  /// Returns an event's waveform at its position in the excerpt.
  func waveform(of source: EventWaveform, tempo: Double) -> RecordingResponse.OffsetSignal {
    let onset = Double(observation.leadSampleCount) / sampleRate + source.eventSeconds * (1 + tempo)
    let column = source.designColumn(onset: onset, timeScale: 1 + tempo, count: sampleCount)
    return RecordingResponse.OffsetSignal(
      firstSampleIndex: column.firstSampleIndex, samples: column.samples.map(Double.init))
  }

  /// Returns the waveform of a changed event or an added transient, or nil if the change is
  /// impossible.
  func waveform(
    of change: RecordingModel.Change, tempo: Double
  ) -> RecordingResponse.OffsetSignal? {
    guard let index = change.waveformIndex else {
      var transient = transientBank[change.transientBankIndex].scaled(by: change.signedAmount)
      transient.eventSeconds = change.transientSeconds
      return waveform(of: transient, tempo: tempo)
    }
    let variants = EventVariants(reference: reference)
    let changed: EventWaveform?
    switch change.kind {
    case .missing:
      changed = reference.waveforms[index].scaled(by: 0)
    case .level:
      changed = reference.waveforms[index].scaled(by: pow(10, change.signedAmount / 20))
    case .time:
      changed = variants.shiftedWaveform(index, by: (change.signedAmount * 1_000).rounded() / 1_000)
    default:
      changed = variants.retunedEvent(index, by: exp(change.signedAmount))?.retunedWaveform
    }
    return changed.map { waveform(of: $0, tempo: tempo) }
  }

  /// Returns a waveform filtered by a model's response and whitener.
  func recordedWaveform(
    of part: RecordingResponse.OffsetSignal, in model: RecordingModel
  ) -> RecordingResponse.OffsetSignal {
    model.response.output(
      for: part.filtered(by: model.whitenerTaps), coefficients: model.responseFit.coefficients,
      rate: sampleRate,
      count: sampleCount)
  }

  /// Returns filtered samples without the tail of the filter.
  func whitenedSamples(_ samples: [Double], by whitener: [Double]) -> [Double] {
    Array(
      RecordingResponse.OffsetSignal(samples: samples).filtered(by: whitener).samples.prefix(
        samples.count))
  }

  /// Returns the whitened excerpt of the recording at the delay of a model.
  func whitenedExcerpt(of model: RecordingModel) -> [Double] {
    whitenedSamples(observation.excerpt(at: model.delaySamples), by: model.whitenerTaps)
  }

  // MARK: - Evidence

  /// Returns the log evidence of a model with the given changes instead of its own, using its
  /// whitener.
  ///
  /// - Parameter refitsResonance: Pass true to refit the parameters of the resonance.
  func evidence(
    of model: RecordingModel, changes: [RecordingModel.Change], recorded: [Double],
    refitsResonance: Bool = false
  ) -> Double {
    let signal = whitenedSignal(of: model, changes: changes)
    if refitsResonance, model.response.kind.parameterFreeKind == .anyResonance {
      return model.response.mostProbableResponse(for: signal, recorded: recorded, rate: sampleRate)
        .fit
        .logEvidence
    }
    return model.response.fit(signal, to: recorded, rate: sampleRate).logEvidence
  }

  /// Returns the log evidence of a model with the given changes, using the noise spectrum of its
  /// residual.
  func evidenceWithResidualNoise(
    of model: RecordingModel, changes: [RecordingModel.Change], recorded: [Double]
  ) -> Double {
    let predicted = predictedSignal(changes, tempo: model.tempoDeviation)
    let signal = whitenedSamples(predicted, by: model.whitenerTaps)
    var response = model.response
    var fit = response.fit(signal, to: recorded, rate: sampleRate)
    if response.kind.parameterFreeKind == .anyResonance {
      let best = response.mostProbableResponse(for: signal, recorded: recorded, rate: sampleRate)
      response = best.response
      fit = best.fit
    }
    let excerpt = observation.excerpt(at: model.delaySamples)
    var evidence = -Double.infinity
    for _ in 0..<2 {
      let explained = response.output(
        for: RecordingResponse.OffsetSignal(samples: predicted), coefficients: fit.coefficients,
        rate: sampleRate, count: sampleCount)
      var residual = excerpt
      explained.add(to: &residual, times: -1)
      let whitener = residualWhitener(residual, excerptEnergy: Vector.energy(excerpt))
      let signal = whitenedSamples(predicted, by: whitener)
      let recorded = whitenedSamples(excerpt, by: whitener)
      for _ in 0..<2 {
        fit = response.fit(signal, to: recorded, rate: sampleRate)
        evidence = max(evidence, fit.logEvidence)
        let strongest = fit.coefficients.map { $0 * $0 }.max() ?? 0
        response.priorVarianceScale =
          max(strongest, 1e-12) / (fit.residualEnergy / Double(sampleCount))
      }
    }
    return evidence
  }

  private func residualWhitener(_ residual: [Double], excerptEnergy: Double) -> [Double] {
    var spectrum = NoiseSpectralDensity(of: residual.map(Float.init), quantile: nil)
    let powerFloor = 1e-7 * excerptEnergy / Double(sampleCount) + 1e-4 * spectrum.totalPower
    for bin in spectrum.binPowers.indices {
      spectrum.binPowers[bin] += powerFloor
    }
    return spectrum.whiteningFilter(order: RecordingObservation.whitenerOrder).map(Double.init)
  }

  /// Returns the sum of the logarithms of the automatic gain over the excerpt at a delay.
  func logGainSum(of gains: [Double], at delay: Int) -> Double {
    observation.excerpt(of: gains, at: delay).reduce(0) { $0 + ($1 > 0 ? log($1) : 0) }
  }

  /// Replaces the response of a model with the most probable one for a signal, and fits it to the
  /// recording.
  func fitResponse(of model: inout RecordingModel, to signal: [Double]) {
    let recorded = whitenedExcerpt(of: model)
    model.excerptEnergy = Vector.energy(recorded)
    let best = model.response.mostProbableResponse(
      for: signal, recorded: recorded, rate: sampleRate)
    model.response = best.response
    model.responseFit = best.fit
  }
}
