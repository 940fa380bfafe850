internal import CMath
import SignalAnalysis

/// Finds the delays and the tempo at which a response explains most of a recording.
struct RecordingDelaySearch {
  let predictor: RecordingPredictor

  /// The maximum number of delays to try.
  private static let maximumDelayCount = 3
  /// The minimum explained power relative to the best candidate.
  private static let minimumPowerRatio = 0.6
  /// The minimum spacing of candidates, in seconds.
  private static let spacing = 0.07

  private var reference: RecordingReference { predictor.reference }
  private var observation: RecordingObservation { predictor.observation }
  private var rate: Double { predictor.rate }

  /// Returns the delays at which a 44 ms response explains most of the recording, in descending
  /// order.
  func candidateDelays(searchSeconds: Double) -> [Int] {
    let signal = Array(predictor.predictedSignal([], tempo: 0)[observation.leadLength...])
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

    let spacing = Int(Self.spacing * rate)
    let minimum = Self.minimumPowerRatio * (explained.max() ?? 0)
    var delays: [Int] = []
    for index in explained.indices.sorted(by: { explained[$0] > explained[$1] }) {
      guard explained[index] > minimum, delays.count < Self.maximumDelayCount else { break }
      let delay = first + index
      if delays.allSatisfy({ abs($0 - delay) >= spacing }) {
        delays.append(delay)
      }
    }
    return delays
  }

  /// Fits one kind of response near a delay, refining the delay within 30 ms and the tempo.
  func fitted(_ kind: RecordingResponse.Kind, near delay: Int) -> RecordingModel {
    let whitener = observation.whitener(at: delay)
    var model = RecordingModel(
      delay: delay, response: RecordingResponse(kind: kind, priorScale: 0), whitener: whitener)
    let signal = predictor.whitened(predictor.predictedSignal([], tempo: 0), by: whitener)
    predictor.fitResponse(of: &model, to: signal)
    let isRoom = kind == .anyRoom
    let searches = isRoom ? [(reach: 60, step: 12), (5, 5)] : [(reach: 60, step: 6), (5, 2)]
    for (reach, step) in searches {
      let regression = RecordingResponse.Regression(model.response, of: signal, rate: rate)
      let center = model.delay
      var bestEvidence = -Double.infinity
      for shift in stride(from: -reach, through: reach, by: step) {
        let evidence = regression.fit(
          predictor.whitened(observation.excerpt(at: center + shift), by: whitener)
        ).evidence
        if evidence > bestEvidence {
          bestEvidence = evidence
          model.delay = center + shift
        }
      }
      model.response = RecordingResponse(kind: kind, priorScale: 0)
      predictor.fitResponse(of: &model, to: signal)
    }
    fitTempo(of: &model)
    return model
  }

  /// Refines the tempo within ±300 ppm, the typical deviation between two clocks.
  private func fitTempo(of model: inout RecordingModel) {
    guard reference.duration > 1.5 else { return }
    let recorded = predictor.whitenedExcerpt(of: model)
    for step in [1e-4, 5e-5, 2.5e-5] {
      let center = model.tempo
      for offset in [-2 * step, -step, step, 2 * step] {
        let tempo = center + offset
        guard abs(tempo) <= 3e-4 else { continue }
        let signal = predictor.whitened(
          predictor.predictedSignal([], tempo: tempo), by: model.whitener)
        let fit = model.response.fit(signal, to: recorded, rate: rate)
        guard fit.evidence > model.fit.evidence else { continue }
        model.tempo = tempo
        model.fit = fit
      }
    }
  }
}
