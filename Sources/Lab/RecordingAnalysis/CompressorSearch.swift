/// Finds the compressor that makes a recording most probable.
///
/// 1. Undo each compressor of a coarse grid, and compute the log evidence of the restored
///    recording. The grid contains fast compressors, and slow compressors with a high ratio, as
///    used to level speech and film sound.
/// 2. Refine the parameters of the best compressor by coordinate descent.
struct CompressorSearch {
  let problem: GainProblem

  /// The factors of the successive steps of the coordinate descent.
  private static let refinementFactors = [1.5, 1.25, 1.25, 1.12, 1.12, 1.06, 1.06, 1.03, 1.03]
  /// The step of the look-ahead at a factor of 2, in seconds.
  private static let lookAheadStepSeconds = 0.008

  /// The minimum threshold, relative to the peak of the recording.
  ///
  /// The inverse of a compressor with a lower threshold amplifies the loudest moment so much that
  /// the remainder of the recording has almost no weight in the fit. Such a compressor would
  /// explain any sound.
  private static let minimumThresholdRatio = 0.03

  /// A compressor, and the log evidence of the recording that it restores.
  struct RatedCompressor {
    var compressor: SoftKneeCompressor
    /// The logarithms of the gains that the compressor applied to the recording.
    fileprivate var logGains: [Double]
    var logEvidence: Double
  }

  /// Returns the most probable compressor, or nil for a silent recording.
  func bestCompressor() -> RatedCompressor? {
    guard problem.peakMagnitude > 0 else { return nil }
    var bestCandidate: RatedCompressor?
    for compressor in startingCompressors() {
      if let candidate = rated(compressor, near: bestCandidate),
        candidate.logEvidence > bestCandidate?.logEvidence ?? -.infinity
      {
        bestCandidate = candidate
      }
    }
    guard var best = bestCandidate else { return nil }
    for factor in Self.refinementFactors {
      for adjust in Self.adjustments(by: factor) {
        var compressor = best.compressor
        adjust(&compressor)
        if let variant = rated(compressor, near: best), variant.logEvidence > best.logEvidence {
          best = variant
        }
      }
    }
    return best
  }

  private func startingCompressors() -> [SoftKneeCompressor] {
    var compressors: [SoftKneeCompressor] = []
    for lookAhead in [0, 0.006] {
      for knee in [6.0, 24] {
        for release in [0.1, 0.35] {
          for threshold in [0.04, 0.1, 0.25] {
            compressors.append(
              SoftKneeCompressor(
                thresholdAmplitude: threshold * problem.peakMagnitude, kneeDecibels: knee,
                reductionSlope: 0.8, attackSeconds: 0.004, releaseSeconds: release,
                lookAheadSeconds: lookAhead))
          }
        }
      }
    }
    for release in [0.4, 1.5] {
      for threshold in [0.06, 0.2] {
        compressors.append(
          SoftKneeCompressor(
            thresholdAmplitude: threshold * problem.peakMagnitude, kneeDecibels: 3,
            reductionSlope: 0.85, attackSeconds: 0.03, releaseSeconds: release,
            lookAheadSeconds: 0))
      }
    }
    return compressors
  }

  /// Returns the adjustments of one round of the coordinate descent, in both directions.
  private static func adjustments(by factor: Double) -> [(inout SoftKneeCompressor) -> Void] {
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

  /// Returns a compressor with its log evidence, or nil if its parameters are out of range.
  ///
  /// - Parameters:
  ///   - compressor: The compressor.
  ///   - similar: A similar compressor, which makes the inversion faster, or nil.
  private func rated(
    _ compressor: SoftKneeCompressor, near similar: RatedCompressor?
  ) -> RatedCompressor? {
    guard compressor.reductionSlope <= SoftKneeCompressor.maximumReductionSlope,
      compressor.lookAheadSeconds >= 0,
      compressor.thresholdAmplitude >= Self.minimumThresholdRatio * problem.peakMagnitude
    else { return nil }
    let restored = compressor.undone(
      in: problem.samples, rate: problem.sampleRate, startingLogGains: similar?.logGains)
    return RatedCompressor(
      compressor: compressor, logGains: restored.logGains,
      logEvidence: problem.logEvidence(restored))
  }
}
