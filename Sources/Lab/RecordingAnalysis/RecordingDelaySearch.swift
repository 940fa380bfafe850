internal import CMath
import SignalAnalysis

/// A search for the delays and the tempo of the response that explains most of a recording.
struct RecordingDelaySearch {
  let predictor: RecordingPredictor

  /// The maximum number of candidate delays.
  private static let maximumDelayCount = 3
  /// The minimum explained power of a delay, relative to the best delay.
  private static let minimumExplainedPowerRatio = 0.6
  /// The minimum explained power of a delay for a reference with few events.
  ///
  /// The power is relative to the best delay.
  private static let minimumPowerRatioWithFewEvents = 0.05
  /// The minimum spacing of candidate delays, in seconds.
  private static let minimumCandidateSpacingSeconds = 0.07

  private var reference: RecordingReference { predictor.reference }
  private var observation: RecordingObservation { predictor.observation }
  private var sampleRate: Double { predictor.sampleRate }

  /// Returns the best delays of the reference for a 44 ms response, the best first.
  ///
  /// At each delay, the response explains most of the recording.
  func candidateDelays(searchSeconds: Double) -> [Int] {
    let predictedSignal = Array(
      predictor.predictedSignal([], tempo: 0)[observation.leadSampleCount...])
    let unconstrainedResponse = RecordingResponse(
      kind: .unconstrained, priorVarianceScale: 1_000 / max(Vector.energy(predictedSignal), 1e-30))
    let regression = RecordingResponse.Regression(
      unconstrainedResponse, of: predictedSignal, rate: sampleRate)
    let firstDelaySamples = -Int(0.5 * sampleRate)
    let endDelaySamples = max(
      firstDelaySamples + 1,
      min(Int(searchSeconds * sampleRate), observation.samples.count - Int(0.05 * sampleRate)))

    // The cross-correlation at all lags, by FFT.
    let tapLags = regression.tapLags
    let transformLength = FourierTransform.fastLength(
      atLeast: predictedSignal.count + observation.samples.count + tapLags.count)
    var transform = FourierTransform(length: transformLength)
    let recordingBins = transform.forward(observation.samples.map(Float.init))
    let correlationsByDelay = transform.correlation(recordingBins, predictedSignal.map(Float.init))
      .map(Double.init)
    let explainedEnergiesByDelay = (firstDelaySamples..<endDelaySamples).map { delay in
      regression.explainedEnergy(
        tapLags.map { correlationsByDelay[(delay + $0 + transformLength) % transformLength] })
    }

    let spacingSamples = Int(Self.minimumCandidateSpacingSeconds * sampleRate)
    let minimumExplainedEnergy =
      (reference.hasFewEvents
        ? Self.minimumPowerRatioWithFewEvents : Self.minimumExplainedPowerRatio)
      * (explainedEnergiesByDelay.max() ?? 0)
    var acceptedDelays: [Int] = []
    for index in explainedEnergiesByDelay.indices.sorted(by: {
      explainedEnergiesByDelay[$0] > explainedEnergiesByDelay[$1]
    }) {
      guard explainedEnergiesByDelay[index] > minimumExplainedEnergy,
        acceptedDelays.count < Self.maximumDelayCount
      else { break }
      let delay = firstDelaySamples + index
      if acceptedDelays.allSatisfy({ abs($0 - delay) >= spacingSamples }) {
        acceptedDelays.append(delay)
      }
    }
    return acceptedDelays
  }

  /// Fits one kind of response near a delay.
  ///
  /// The delay is refined within 30 ms, and the tempo is refined as well.
  func fittedModel(_ kind: RecordingResponse.Kind, near delay: Int) -> RecordingModel {
    let whitener = observation.whitener(at: delay)
    var model = RecordingModel(
      delaySamples: delay, response: RecordingResponse(kind: kind, priorVarianceScale: 0),
      whitenerTaps: whitener)
    let whitenedSignal = predictor.whitenedSamples(
      predictor.predictedSignal([], tempo: 0), by: whitener)
    predictor.fitResponse(of: &model, to: whitenedSignal)
    let isRoom = kind == .anyRoom
    let delayGridSearches =
      isRoom ? [(reach: 60, step: 12), (5, 5)] : [(reach: 60, step: 6), (5, 2)]
    for (reach, step) in delayGridSearches {
      let regression = RecordingResponse.Regression(
        model.response, of: whitenedSignal, rate: sampleRate)
      let center = model.delaySamples
      var bestEvidence = -Double.infinity
      for shift in stride(from: -reach, through: reach, by: step) {
        let evidence = regression.fit(
          predictor.whitenedSamples(observation.excerpt(at: center + shift), by: whitener)
        ).logEvidence
        if evidence > bestEvidence {
          bestEvidence = evidence
          model.delaySamples = center + shift
        }
      }
      // At the same delay, the most probable response is known.
      guard model.delaySamples != center else { continue }
      model.response = RecordingResponse(kind: kind, priorVarianceScale: 0)
      predictor.fitResponse(of: &model, to: whitenedSignal)
    }
    fitTempo(of: &model)
    return model
  }

  /// Refines the tempo within ±300 ppm, the typical deviation between two clocks.
  private func fitTempo(of model: inout RecordingModel) {
    guard reference.durationSeconds > 1.5 else { return }
    let whitenedExcerpt = predictor.whitenedExcerpt(of: model)
    for step in [1e-4, 5e-5, 2.5e-5] {
      let center = model.tempoDeviation
      for offset in [-2 * step, -step, step, 2 * step] {
        let tempo = center + offset
        guard abs(tempo) <= 3e-4 else { continue }
        let signal = predictor.whitenedSamples(
          predictor.predictedSignal([], tempo: tempo), by: model.whitenerTaps)
        let fit = model.response.fit(signal, to: whitenedExcerpt, rate: sampleRate)
        guard fit.logEvidence > model.responseFit.logEvidence else { continue }
        model.tempoDeviation = tempo
        model.responseFit = fit
      }
    }
  }
}
