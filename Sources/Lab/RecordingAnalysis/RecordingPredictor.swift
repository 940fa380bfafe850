internal import CMath
import SignalAnalysis

/// A predictor of a recording from the reference, a response, and changes.
///
/// It also computes the log evidence of a model.
///
/// 1. The predicted signal is the sum of the events' waveforms at their positions in an excerpt of
///    the recording, before the response. Changed events replace the original ones.
/// 2. A whitener, which makes noise and model errors white, filters the signal and the excerpt.
/// 3. `RecordingResponse` integrates the coefficients of the response out. The result is the log
///    evidence of the model.
struct RecordingPredictor {
  let reference: RecordingReference
  var observation: RecordingObservation
  /// The waveforms of possible added transients.
  let transientBank: [EventWaveform]

  var sampleRate: Double { observation.sampleRate }
  var sampleCount: Int { observation.excerptSampleCount }
  var logSampleCount: Double { log(Double(sampleCount)) }

  // MARK: - Signals

  /// Returns the reference with changes, aligned to the excerpt, before the response is applied.
  func predictedSignal(_ changes: [RecordingModel.Change], tempo: Double) -> [Double] {
    var signalSum = [Double](repeating: 0, count: sampleCount)
    let changedWaveformIndices = Set(changes.compactMap(\.waveformIndex))
    for (index, source) in reference.waveforms.enumerated()
    where !changedWaveformIndices.contains(index) {
      waveform(of: source, tempo: tempo).add(to: &signalSum)
    }
    for change in changes {
      waveform(of: change, tempo: tempo)?.add(to: &signalSum)
    }
    return signalSum
  }

  /// Returns the whitened signal predicted by a model with changes, before the response.
  func whitenedSignal(
    of model: RecordingModel, changes: [RecordingModel.Change] = []
  ) -> [Double] {
    whitenedSamples(predictedSignal(changes, tempo: model.tempoDeviation), by: model.whitenerTaps)
  }

  /// Returns an event's waveform at its position in the excerpt.
  func waveform(of source: EventWaveform, tempo: Double) -> RecordingResponse.OffsetSignal {
    let onsetSeconds =
      Double(observation.leadSampleCount) / sampleRate + source.eventSeconds * (1 + tempo)
    let waveformColumn = source.designColumn(
      onset: onsetSeconds, timeScale: 1 + tempo, count: sampleCount)
    return RecordingResponse.OffsetSignal(
      firstSampleIndex: waveformColumn.firstSampleIndex,
      samples: waveformColumn.samples.map(Double.init))
  }

  /// Returns the waveform of a changed event or an added transient.
  ///
  /// Returns nil if the change is impossible.
  func waveform(
    of change: RecordingModel.Change, tempo: Double
  ) -> RecordingResponse.OffsetSignal? {
    guard let waveformIndex = change.waveformIndex else {
      var transient = transientBank[change.transientBankIndex].scaled(by: change.signedAmount)
      transient.eventSeconds = change.transientSeconds
      return waveform(of: transient, tempo: tempo)
    }
    let eventVariants = EventVariants(reference: reference)
    let changedWaveform: EventWaveform?
    switch change.kind {
    case .missing:
      changedWaveform = reference.waveforms[waveformIndex].scaled(by: 0)
    case .level:
      changedWaveform = reference.waveforms[waveformIndex].scaled(
        by: pow(10, change.signedAmount / 20))
    case .time:
      changedWaveform = eventVariants.shiftedWaveform(
        waveformIndex, by: Self.roundedShift(change.signedAmount))
    default:
      changedWaveform =
        eventVariants.retunedEvent(waveformIndex, by: exp(change.signedAmount))?.retunedWaveform
    }
    return changedWaveform.map { waveform(of: $0, tempo: tempo) }
  }

  /// Returns a time shift rounded to 1 ms, the resolution of predicted signals, in seconds.
  static func roundedShift(_ seconds: Double) -> Double { (seconds * 1_000).rounded() / 1_000 }

  /// Returns the difference between the predicted signals with and without a change.
  ///
  /// Returns nil if the change is impossible.
  func waveformDifference(
    of change: RecordingModel.Change, tempo: Double
  ) -> RecordingResponse.OffsetSignal? {
    guard let changedWaveform = waveform(of: change, tempo: tempo) else { return nil }
    guard let waveformIndex = change.waveformIndex else { return changedWaveform }
    let originalWaveform = waveform(of: reference.waveforms[waveformIndex], tempo: tempo)
    let firstSample = min(originalWaveform.firstSampleIndex, changedWaveform.firstSampleIndex)
    let endSample = max(
      originalWaveform.firstSampleIndex + originalWaveform.samples.count,
      changedWaveform.firstSampleIndex + changedWaveform.samples.count)
    var difference = RecordingResponse.OffsetSignal(
      firstSampleIndex: firstSample,
      samples: [Double](repeating: 0, count: max(0, endSample - firstSample)))
    Vector.add(
      changedWaveform.samples, times: 1, to: &difference.samples,
      at: changedWaveform.firstSampleIndex - firstSample)
    Vector.add(
      originalWaveform.samples, times: -1, to: &difference.samples,
      at: originalWaveform.firstSampleIndex - firstSample)
    return difference
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

  /// Returns the correlations of a model's predicted signal with the recording.
  ///
  /// Both signals are whitened, and the model includes changes.
  func correlations(
    of model: RecordingModel, changes: [RecordingModel.Change], recorded: [Double]
  ) -> RecordingResponse.Correlations {
    model.response.correlations(
      of: whitenedSignal(of: model, changes: changes), with: recorded, rate: sampleRate)
  }

  /// Returns the log evidence of a model for its whitened signal and the recording.
  ///
  /// - Parameter refitsResonance: Pass true to refit the parameters of the resonance.
  func evidence(
    of model: RecordingModel, _ correlations: RecordingResponse.Correlations,
    refitsResonance: Bool = false
  ) -> Double {
    fittedResponse(of: model, correlations, refitsResonance: refitsResonance).fit.logEvidence
  }

  /// Returns the response of a model, fitted to correlations.
  ///
  /// - Parameter refitsResonance: Pass true to refit the parameters of the resonance.
  private func fittedResponse(
    of model: RecordingModel, _ correlations: RecordingResponse.Correlations, refitsResonance: Bool
  ) -> RecordingResponse.FittedResponse {
    if refitsResonance, model.response.kind.isResonance {
      return model.response.mostProbableResponse(for: correlations, rate: sampleRate)
    }
    return RecordingResponse.FittedResponse(
      response: model.response, fit: model.response.fit(correlations, rate: sampleRate))
  }

  /// Returns the log evidence of a model with changes.
  ///
  /// The evidence uses the noise spectrum of the model's residual.
  func evidenceWithResidualNoise(
    of model: RecordingModel, changes: [RecordingModel.Change], recorded: [Double]
  ) -> Double {
    let predictedSamples = predictedSignal(changes, tempo: model.tempoDeviation)
    let initialCorrelations = model.response.correlations(
      of: whitenedSamples(predictedSamples, by: model.whitenerTaps), with: recorded,
      rate: sampleRate)
    let initialResponse = fittedResponse(of: model, initialCorrelations, refitsResonance: true)
    var response = initialResponse.response
    var responseFit = initialResponse.fit
    let recordedExcerpt = observation.excerpt(at: model.delaySamples)
    var bestLogEvidence = -Double.infinity
    for _ in 0..<2 {
      let residual = response.residual(
        of: recordedExcerpt, input: predictedSamples, coefficients: responseFit.coefficients,
        rate: sampleRate)
      let whitener = residualWhitener(residual, excerptEnergy: Vector.energy(recordedExcerpt))
      let correlations = response.correlations(
        of: whitenedSamples(predictedSamples, by: whitener),
        with: whitenedSamples(recordedExcerpt, by: whitener), rate: sampleRate)
      for _ in 0..<2 {
        responseFit = response.fit(correlations, rate: sampleRate)
        bestLogEvidence = max(bestLogEvidence, responseFit.logEvidence)
        let strongest = responseFit.coefficients.map { $0 * $0 }.max() ?? 0
        response.priorVarianceScale =
          max(strongest, 1e-12) / (responseFit.residualEnergy / Double(sampleCount))
      }
    }
    return bestLogEvidence
  }

  private func residualWhitener(_ residual: [Double], excerptEnergy: Double) -> [Double] {
    var residualSpectrum = NoiseSpectralDensity(of: residual.map(Float.init), quantile: nil)
    let powerFloor = 1e-7 * excerptEnergy / Double(sampleCount) + 1e-4 * residualSpectrum.totalPower
    residualSpectrum.addWhiteNoise(power: powerFloor)
    return residualSpectrum.whiteningFilter(order: RecordingObservation.whitenerOrder).map(
      Double.init)
  }

  /// Returns the cost of the parameters of a gain by the Bayesian information criterion.
  func cost(of gain: LevelDependentGain) -> Double {
    0.5 * Double(gain.parameterCount) * logSampleCount
  }

  /// Returns the sum of the gains' logarithms over the excerpt at a delay.
  func logGainSum(of restored: RestoredRecording, at delay: Int) -> Double {
    observation.excerpt(of: restored.logGains, at: delay).reduce(0, +)
  }

  /// Returns the difference between the log evidences of a recording and of its restoration.
  ///
  /// The noise and the model error have a constant power in the recording, but not in the
  /// restoration, where the inverse gain amplifies them. With N samples and the energies of the
  /// whitened residuals:
  ///
  /// ln p(recording) − ln p(restoration) ≈ N/2 · ln(restored energy / recorded energy)
  ///
  /// The observation must contain the restored recording.
  ///
  /// - Parameters:
  ///   - logGains: The natural logarithms of the gains by which the restoration divided the
  ///     recording.
  ///   - model: The model of the restored recording.
  func logEvidenceDifference(
    ofRecordingWith logGains: [Double], model: RecordingModel
  ) -> Double {
    let restoredExcerpt = observation.excerpt(at: model.delaySamples)
    let restoredResidual = model.response.residual(
      of: restoredExcerpt, input: predictedSignal(model.changes, tempo: model.tempoDeviation),
      coefficients: model.responseFit.coefficients, rate: sampleRate)
    let gains = observation.excerpt(of: logGains, at: model.delaySamples).map { exp($0) }
    let restoredEnergy = whitenedEnergy(ofResidual: restoredResidual, of: restoredExcerpt)
    let recordedEnergy = whitenedEnergy(
      ofResidual: zip(restoredResidual, gains).map(*), of: zip(restoredExcerpt, gains).map(*))
    return 0.5 * Double(sampleCount)
      * log(max(1e-300, restoredEnergy) / max(1e-300, recordedEnergy))
  }

  /// Returns the energy of an excerpt's residual, whitened by the spectrum of the residual.
  private func whitenedEnergy(ofResidual residual: [Double], of excerpt: [Double]) -> Double {
    let whitener = residualWhitener(residual, excerptEnergy: Vector.energy(excerpt))
    return Vector.energy(whitenedSamples(residual, by: whitener))
  }

  /// Replaces a model's response with the most probable response, and fits it to the recording.
  func fitResponse(of model: inout RecordingModel, to signal: [Double]) {
    let recordedExcerpt = whitenedExcerpt(of: model)
    model.excerptEnergy = Vector.energy(recordedExcerpt)
    let bestResponse = model.response.mostProbableResponse(
      for: signal, recorded: recordedExcerpt, rate: sampleRate)
    model.response = bestResponse.response
    model.responseFit = bestResponse.fit
  }
}
