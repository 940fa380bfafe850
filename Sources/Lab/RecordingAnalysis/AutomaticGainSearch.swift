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
  private var sampleRate: Double { predictor.sampleRate }

  /// Returns the automatic gain control that explains a recording's level changes, or nil.
  ///
  /// The result is nil unless it makes the recording much more probable.
  func bestGain(for model: RecordingModel) -> AutomaticGainControl? {
    let otherChanges = model.changes.filter { $0.kind != .level }
    let alternativeChanges = otherChanges.isEmpty ? [[]] : [[], otherChanges]
    let gainCandidates = alternativeChanges.compactMap { bestGain(for: model, changes: $0) }
    return gainCandidates.max { $0.evidence < $1.evidence }?.gain
  }

  /// Searches a grid of thresholds, exponents, and time constants, and refines the best gain.
  ///
  /// The gain control is refined by coordinate descent.
  private func bestGain(
    for model: RecordingModel, changes: [RecordingModel.Change]
  ) -> (gain: AutomaticGainControl, evidence: Double)? {
    let whitenedSignal = predictor.whitenedSignal(of: model, changes: changes)
    let regression = RecordingResponse.Regression(
      model.response, of: whitenedSignal, rate: sampleRate)
    let excerptPeak = observation.excerpt(at: model.delaySamples).reduce(0) { max($0, abs($1)) }
    let evidenceWithoutGain = regression.fit(predictor.whitenedExcerpt(of: model)).logEvidence
    let minimumLogEvidence =
      evidenceWithoutGain + RecordingModel.minimumLogEvidenceGain + 2 * predictor.logSampleCount
    var bestGain: AutomaticGainControl?
    var bestLogEvidence = -Double.infinity
    // The inversion is causal, so the samples after the excerpt have no effect.
    let endSample =
      model.delaySamples - observation.leadSampleCount + observation.excerptSampleCount
    let precedingSamples = Array(observation.samples.prefix(max(0, endSample)))
    func adoptIfBetter(_ gain: AutomaticGainControl) {
      let undone = gain.undone(in: precedingSamples, rate: sampleRate)
      let excerpt = observation.excerpt(of: undone.samples, at: model.delaySamples)
      let fit = regression.fit(predictor.whitenedSamples(excerpt, by: model.whitenerTaps))
      let evidence =
        fit.logEvidence - predictor.logGainSum(of: undone.gains, at: model.delaySamples)
      guard evidence > bestLogEvidence else { return }
      bestGain = gain
      bestLogEvidence = evidence
    }
    for release in [0.15, 0.4, 1] {
      for attack in [0.003, 0.012, 0.05] {
        for exponent in [0.25, 0.5, 1] {
          for threshold in [0.05, 0.12, 0.3, 0.6] {
            adoptIfBetter(
              AutomaticGainControl(
                thresholdAmplitude: excerptPeak * threshold, reductionExponent: exponent,
                attackSeconds: attack, releaseSeconds: release))
          }
        }
      }
    }
    let gainParameterPaths = [
      \AutomaticGainControl.thresholdAmplitude, \.reductionExponent, \.attackSeconds,
      \.releaseSeconds,
    ]
    // Each factor is used twice, because a change to one parameter moves the optimum of the others.
    for factor in [1.4, 1.4, 1.18, 1.18, 1.09] {
      for parameter in gainParameterPaths {
        for step in [factor, 1 / factor] {
          guard var gain = bestGain else { return nil }
          gain[keyPath: parameter] *= step
          adoptIfBetter(gain)
        }
      }
    }
    guard let bestGain, bestLogEvidence > minimumLogEvidence else { return nil }
    return (bestGain, bestLogEvidence)
  }
}
