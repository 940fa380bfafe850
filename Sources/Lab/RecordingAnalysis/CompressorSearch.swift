internal import CMath
import SignalAnalysis

/// Finds the compressor that explains the residual of a recording without a transducer.
///
/// A compressor changes the levels of events, but also their envelopes. Only the envelopes
/// determine the compressor here, because each event has its own gain in the fit of the restored
/// recording. Levels can thus be compared afterwards.
///
/// 1. Undo each compressor of a coarse grid, fit the restored recording, and compute the likelihood
///    of the residual. The inversion changes the density of the samples, so the logarithm of its
///    Jacobian is subtracted.
/// 2. Refine the parameters of the best compressor by coordinate descent.
struct CompressorSearch {
  /// The fit of the reference, with its changes, to an excerpt of the recording.
  let fit: RecordingFit

  /// The minimum gain in log likelihood of an accepted compressor.
  ///
  /// The parameters of a compressor cost about 30 in the Bayesian information criterion.
  private static let minimumLogLikelihoodGain = 60.0
  /// The maximum slope of the gain. At 1, the recording no longer shows the level.
  private static let maximumReductionSlope = 0.98
  /// The factors of the successive steps of the coordinate descent.
  private static let refinementFactors = [1.5, 1.25, 1.25, 1.12, 1.12, 1.06, 1.06, 1.03, 1.03]
  /// The step of the look-ahead at a factor of 2, in seconds.
  private static let lookAheadStepSeconds = 0.008

  /// A compressor, and the log likelihood of the recording that it restores.
  private struct RatedCompressor {
    var compressor: SoftKneeCompressor
    var logLikelihood: Double
  }

  /// Returns the compressor that makes the recording much more probable, or nil.
  func bestCompressor() -> SoftKneeCompressor? {
    let excerpt = fit.recordingExcerpt.map(Double.init)
    let candidates = Self.startingCompressors(
      peakMagnitude: excerpt.reduce(0) { max($0, abs($1)) })
    let ratedCandidates = candidates.compactMap { rated($0, excerpt: excerpt) }
    guard var best = ratedCandidates.max(by: { $0.logLikelihood < $1.logLikelihood }) else {
      return nil
    }
    for factor in Self.refinementFactors {
      for adjust in Self.adjustments(by: factor) {
        var compressor = best.compressor
        adjust(&compressor)
        if let variant = rated(compressor, excerpt: excerpt),
          variant.logLikelihood > best.logLikelihood
        {
          best = variant
        }
      }
    }
    let minimumLogLikelihood =
      logLikelihood(of: fit.recordingExcerpt) + Self.minimumLogLikelihoodGain
    return best.logLikelihood > minimumLogLikelihood ? best.compressor : nil
  }

  /// Returns a coarse grid of compressors for a recording with a peak magnitude.
  private static func startingCompressors(peakMagnitude: Double) -> [SoftKneeCompressor] {
    var compressors: [SoftKneeCompressor] = []
    for lookAhead in [0, 0.006] {
      for knee in [6.0, 24] {
        for release in [0.1, 0.35] {
          for threshold in [0.04, 0.1, 0.25] {
            compressors.append(
              SoftKneeCompressor(
                thresholdAmplitude: threshold * peakMagnitude, kneeDecibels: knee,
                reductionSlope: 0.8, attackSeconds: 0.004, releaseSeconds: release,
                lookAheadSeconds: lookAhead))
          }
        }
      }
    }
    return compressors
  }

  /// Returns the adjustments of one round of the coordinate descent, in both directions.
  private static func adjustments(
    by factor: Double
  ) -> [(inout SoftKneeCompressor) -> Void] {
    let lookAheadStep = lookAheadStepSeconds * (factor - 1)
    let scaledParameters = [
      \SoftKneeCompressor.thresholdAmplitude, \.kneeDecibels, \.reductionSlope, \.attackSeconds,
      \.releaseSeconds,
    ]
    var adjustments: [(inout SoftKneeCompressor) -> Void] = []
    for scale in [factor, 1 / factor] {
      // In the knee, the gain depends on the ratio of the slope to the width.
      adjustments.append {
        $0.kneeDecibels *= scale
        $0.reductionSlope *= scale
      }
    }
    for step in [lookAheadStep, -lookAheadStep] {
      adjustments.append { $0.lookAheadSeconds += step }
    }
    for parameter in scaledParameters {
      for scale in [factor, 1 / factor] {
        adjustments.append { $0[keyPath: parameter] *= scale }
      }
    }
    return adjustments
  }

  /// Returns a compressor with its log likelihood, or nil if its parameters are out of range.
  private func rated(
    _ compressor: SoftKneeCompressor, excerpt: [Double]
  ) -> RatedCompressor? {
    guard compressor.reductionSlope < Self.maximumReductionSlope, compressor.lookAheadSeconds >= 0
    else { return nil }
    let undone = compressor.undone(in: excerpt, rate: fit.reference.sampleRate)
    let logJacobian = undone.gains.reduce(0) { $0 + log($1) }
    return RatedCompressor(
      compressor: compressor,
      logLikelihood: logLikelihood(of: undone.samples.map(Float.init)) - logJacobian)
  }

  /// Returns the log likelihood of an excerpt for noise of unknown power.
  private func logLikelihood(of excerpt: [Float]) -> Double {
    var restoredFit = fit
    restoredFit.recordingExcerpt = excerpt
    let residual = restoredFit.solve().whitenedResidual
    return -0.5 * Double(residual.count) * log(max(1e-30, Vector.energy(residual)))
  }
}
