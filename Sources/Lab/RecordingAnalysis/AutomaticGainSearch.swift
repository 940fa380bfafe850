internal import CMath

/// Finds the automatic gain control that explains the level changes of a recording.
///
/// 1. Invert each gain control of a grid of thresholds, exponents, and time constants, and compute
///    the evidence of the model for the restored recording. The inversion changes the density of
///    the samples, so the logarithm of its Jacobian is subtracted.
/// 2. Refine the parameters of the best gain control by coordinate descent.
///
/// Level changes may be an effect of the gain control. The search runs without any change, and with
/// the changes of other kinds.
struct AutomaticGainSearch {
  let predictor: RecordingPredictor

  private var observation: RecordingObservation { predictor.observation }
  private var rate: Double { predictor.rate }

  /// Returns the automatic gain control that explains the level changes and makes the recording
  /// much more probable, or nil.
  func bestGain(for model: RecordingModel) -> AutomaticGainControl? {
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
    let signal = predictor.whitenedSignal(of: model, changes: changes)
    let regression = RecordingResponse.Regression(model.response, of: signal, rate: rate)
    let peak = observation.excerpt(at: model.delay).reduce(0) { max($0, abs($1)) }
    let unchanged = regression.fit(predictor.whitenedExcerpt(of: model)).evidence
    var best: AutomaticGainControl?
    var bestEvidence = unchanged + RecordingModel.minimumEvidenceGain + 2 * predictor.logSampleCount
    func consider(_ gain: AutomaticGainControl) {
      let undone = gain.undone(in: observation.samples, rate: rate)
      let excerpt = observation.excerpt(of: undone.samples, at: model.delay)
      let fit = regression.fit(predictor.whitened(excerpt, by: model.whitener))
      let evidence = fit.evidence - predictor.sumOfLogarithms(of: undone.gains, at: model.delay)
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
}
