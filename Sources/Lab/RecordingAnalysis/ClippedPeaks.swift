import SignalAnalysis

/// Runs of clipped samples.
///
/// A run has at least four samples at the maximum magnitude, and a steep edge.
package struct ClippedPeaks {
  /// The minimum magnitude of a clipped sample.
  package let clippedMagnitude: Float
  /// The frames of each run.
  package private(set) var clippedRuns: [Range<Int>] = []
  /// The number of clipped samples.
  package var clippedSampleCount: Int { clippedRuns.reduce(0) { $0 + $1.count } }
  /// The range of frames from the start of the first run to the end of the last run.
  package var clippedFrames: Range<Int> {
    (clippedRuns.first?.lowerBound ?? 0)..<(clippedRuns.last?.upperBound ?? 0)
  }

  private static let minimumRunLength = 4
  /// The minimum peak magnitude of a signal with clipped samples.
  ///
  /// The peaks of weaker signals are flat due to quantization.
  private static let minimumClippedMagnitude: Float = 0.1
  /// The minimum drop of the magnitude before or after a run, as a fraction of the peak.
  private static let minimumDropBesideRun: Float = 0.001

  /// Finds the clipped samples of a signal, or returns nil if it is not clipped.
  package init?(_ samples: [Float]) {
    let peakMagnitude = Statistics.peak(of: samples)
    guard peakMagnitude >= Self.minimumClippedMagnitude else { return nil }
    clippedMagnitude = peakMagnitude * (1 - 1e-4)
    var runStart: Int?
    for index in 0...samples.count {
      let isHigh = index < samples.count && abs(samples[index]) >= clippedMagnitude
      if isHigh, runStart == nil {
        runStart = index
      }
      if !isHigh, let start = runStart {
        let previousMagnitude = start > 0 ? abs(samples[start - 1]) : 0
        let nextMagnitude = index < samples.count ? abs(samples[index]) : 0
        let maximumMagnitudeBesideRun = peakMagnitude * (1 - Self.minimumDropBesideRun)
        if index - start >= Self.minimumRunLength,
          min(previousMagnitude, nextMagnitude) < maximumMagnitudeBesideRun
        {
          clippedRuns.append(start..<index)
        }
        runStart = nil
      }
    }
    guard !clippedRuns.isEmpty else { return nil }
  }
}
