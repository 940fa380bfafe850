internal import CMath

/// Finds the automatic gain control or the compressor that explains a recording's level changes.
///
/// 1. Invert each gain control of a grid of thresholds, exponents, and time constants, and compute
///    the evidence of the model for the restored recording.
/// 2. Refine the parameters of the best gain control by coordinate descent.
/// 3. Do the same for compressors (`CompressorSearch`). Select the more probable one.
///
/// Level changes may be an effect of the gain. The search runs without any change, and with the
/// changes of other kinds.
struct AutomaticGainSearch {
  let predictor: RecordingPredictor

  /// The time before the excerpt that determines the gain in the excerpt, in seconds.
  private static let precedingSeconds = 2.0

  private var observation: RecordingObservation { predictor.observation }
  private var sampleRate: Double { predictor.sampleRate }

  /// A gain, and the log evidence of the recording under this gain.
  ///
  /// The evidence includes the cost of the parameters.
  private struct RatedGain {
    var gain: LevelDependentGain
    var logEvidence: Double
  }

  /// Returns the gain that explains a recording's level changes, or nil.
  ///
  /// The result is nil unless it makes the recording much more probable.
  func bestGain(for model: RecordingModel) -> LevelDependentGain? {
    let otherChanges = model.changes.filter { $0.kind != .level }
    let alternativeChanges = otherChanges.isEmpty ? [[]] : [[], otherChanges]
    let gainCandidates = alternativeChanges.compactMap { bestGain(for: model, changes: $0) }
    return gainCandidates.max { $0.logEvidence < $1.logEvidence }?.gain
  }

  /// Returns the most probable gain for a model with changes.
  private func bestGain(
    for model: RecordingModel, changes: [RecordingModel.Change]
  ) -> RatedGain? {
    let whitenedSignal = predictor.whitenedSignal(of: model, changes: changes)
    let regression = RecordingResponse.Regression(
      model.response, of: whitenedSignal, rate: sampleRate)
    let excerptPeak = observation.excerpt(at: model.delaySamples).reduce(0) { max($0, abs($1)) }
    let evidenceWithoutGain = regression.fit(predictor.whitenedExcerpt(of: model)).logEvidence
    // Only the look-ahead of a compressor depends on samples after the excerpt.
    let excerptStart = model.delaySamples - observation.leadSampleCount
    let endSample = min(
      observation.samples.count, max(0, excerptStart + observation.excerptSampleCount))
    let firstSample = min(
      endSample, max(0, excerptStart - Int(Self.precedingSeconds * sampleRate)))
    let delay = model.delaySamples - firstSample
    let problem = GainProblem(
      samples: Array(observation.samples[firstSample..<endSample]), sampleRate: sampleRate,
      peakMagnitude: excerptPeak
    ) { restored in
      let excerpt = observation.excerpt(of: restored.samples, at: delay)
      let fit = regression.fit(predictor.whitenedSamples(excerpt, by: model.whitenerTaps))
      return fit.logEvidence - predictor.logGainSum(of: restored, at: delay)
    }
    func rated(_ gain: LevelDependentGain, _ logEvidence: Double) -> RatedGain {
      RatedGain(gain: gain, logEvidence: logEvidence - predictor.cost(of: gain))
    }
    let candidates = [
      bestGainControl(for: problem).map {
        rated(.automaticGainControl($0.gainControl), $0.logEvidence)
      },
      CompressorSearch(problem: problem).bestCompressor().map {
        rated(.compressor($0.compressor), $0.logEvidence)
      },
    ].compactMap(\.self)
    return candidates.filter {
      $0.logEvidence > evidenceWithoutGain + RecordingModel.minimumLogEvidenceGain
    }.max { $0.logEvidence < $1.logEvidence }
  }

  /// Searches a grid of thresholds, exponents, and time constants, and refines the best gain
  /// control.
  private func bestGainControl(
    for problem: GainProblem
  ) -> (gainControl: AutomaticGainControl, logEvidence: Double)? {
    var best: (gainControl: AutomaticGainControl, logEvidence: Double)?
    func adoptIfBetter(_ gainControl: AutomaticGainControl) {
      let logEvidence = problem.logEvidence(
        gainControl.undone(in: problem.samples, rate: sampleRate))
      guard logEvidence > best?.logEvidence ?? -.infinity else { return }
      best = (gainControl, logEvidence)
    }
    for release in [0.15, 0.4, 1] {
      for attack in [0.003, 0.012, 0.05] {
        for exponent in [0.25, 0.5, 1] {
          for threshold in [0.05, 0.12, 0.3, 0.6] {
            adoptIfBetter(
              AutomaticGainControl(
                thresholdAmplitude: problem.peakMagnitude * threshold,
                reductionExponent: exponent, attackSeconds: attack, releaseSeconds: release))
          }
        }
      }
    }
    let parameterPaths = [
      \AutomaticGainControl.thresholdAmplitude, \.reductionExponent, \.attackSeconds,
      \.releaseSeconds,
    ]
    // The larger factors are used twice, because a change of one parameter moves the optimum of
    // the others.
    for factor in [1.4, 1.4, 1.18, 1.18, 1.09] {
      for parameter in parameterPaths {
        for step in [factor, 1 / factor] {
          guard var gainControl = best?.gainControl else { return nil }
          gainControl[keyPath: parameter] *= step
          adoptIfBetter(gainControl)
        }
      }
    }
    return best
  }
}
