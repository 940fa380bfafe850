internal import CMath

/// A compressor with a soft knee and a look-ahead, as in the DynamicsCompressorNode of browsers.
///
/// In decibels, the gain is a function of the level: 0 dB below the knee, a parabola within the
/// knee, and a line above it (D. Giannoulis, M. Massberg, J. Reiss, "Digital dynamic range
/// compressor design", Journal of the Audio Engineering Society 60, 2012; there, the knee is
/// centered at the threshold). The gain in decibels is smoothed, with the attack time while it
/// decreases and with the release time while it increases.
struct SoftKneeCompressor: Equatable, Sendable {
  /// The level at the start of the knee, as an amplitude.
  var thresholdAmplitude: Double
  /// The width of the knee, in decibels.
  var kneeDecibels: Double
  /// The decrease of the gain above the knee, in decibels per decibel: 1 minus the inverse ratio.
  var reductionSlope: Double
  /// The time constant of a decreasing gain, in seconds.
  var attackSeconds: Double
  /// The time constant of an increasing gain, in seconds.
  var releaseSeconds: Double
  /// The time by which the gain precedes the sound, in seconds.
  var lookAheadSeconds: Double

  /// The maximum slope that can be undone. At a slope of 1, all levels above the knee have the same
  /// output level.
  static let maximumReductionSlope = 0.93
  /// The maximum number of iterations, which reduce the error at the maximum slope to 1 %.
  private static let maximumIterationCount = 60
  /// The maximum change of the gain in the last iteration, as the logarithm of a ratio.
  private static let logGainTolerance = 1e-3
  /// The maximum reduction of the gain, in decibels.
  private static let maximumReductionDecibels = 30.0
  /// The natural logarithm of an amplitude ratio of 1 dB.
  private static let logOfDecibel = log(10.0) / 20
  /// The logarithm of the level of digital silence.
  private static let logOfSilence = -100.0

  /// Returns the signal before compression.
  ///
  /// The gain depends on later samples of the uncompressed signal. The restored signal is thus the
  /// fixed point of dividing the recording by the gain of the restored signal. Each iteration
  /// multiplies the error of the logarithm by at most the slope, which is less than 1.
  ///
  /// - Parameters:
  ///   - recording: The compressed samples.
  ///   - rate: The sample rate, in hertz.
  ///   - startingLogGains: The logarithms of gains close to the result, which reduce the number of
  ///     iterations, or nil.
  func undone(
    in recording: [Double], rate: Double, startingLogGains: [Double]? = nil
  ) -> RestoredRecording {
    let logLevels = Self.logLevels(of: recording)
    var logGains = startingLogGains ?? [Double](repeating: 0, count: recording.count)
    for _ in 0..<Self.maximumIterationCount {
      let previousLogGains = logGains
      logGains = self.logGains(
        forLogLevels: zip(logLevels, previousLogGains).map(-), rate: rate)
      let isConverged = zip(logGains, previousLogGains).allSatisfy {
        abs($0 - $1) < Self.logGainTolerance
      }
      if isConverged { break }
    }
    return RestoredRecording(undoing: logGains, in: recording)
  }

  /// Returns the gain at each sample of an uncompressed signal.
  func gains(for samples: [Double], rate: Double) -> [Double] {
    logGains(forLogLevels: Self.logLevels(of: samples), rate: rate).map { exp($0) }
  }

  /// Returns the natural logarithms of the magnitudes of samples.
  private static func logLevels(of samples: [Double]) -> [Double] {
    samples.map { $0 == 0 ? logOfSilence : log(abs($0)) }
  }

  /// Returns the natural logarithm of the gain at each sample of an uncompressed signal.
  ///
  /// - Parameters:
  ///   - logLevels: The natural logarithms of the magnitudes of the uncompressed samples.
  ///   - rate: The sample rate, in hertz.
  private func logGains(forLogLevels logLevels: [Double], rate: Double) -> [Double] {
    let attackCoefficient = 1 - exp(-1 / (attackSeconds * rate))
    let releaseCoefficient = 1 - exp(-1 / (releaseSeconds * rate))
    let lookAheadSamples = Int((lookAheadSeconds * rate).rounded())
    let logThreshold = log(thresholdAmplitude)
    var logGains = [Double](repeating: 0, count: logLevels.count)
    var logGain = 0.0
    for index in 0..<logLevels.count + lookAheadSamples {
      let logLevel = index < logLevels.count ? logLevels[index] : Self.logOfSilence
      let target = targetLogGain(atExcess: logLevel - logThreshold)
      logGain += (target < logGain ? attackCoefficient : releaseCoefficient) * (target - logGain)
      if index >= lookAheadSamples {
        logGains[index - lookAheadSamples] = logGain
      }
    }
    return logGains
  }

  /// Returns the natural logarithm of the gain for a constant level.
  ///
  /// - Parameter logExcess: The natural logarithm of the level relative to the threshold.
  private func targetLogGain(atExcess logExcess: Double) -> Double {
    guard logExcess > 0 else { return 0 }
    let logKnee = kneeDecibels * Self.logOfDecibel
    let reduction =
      logExcess < logKnee ? logExcess * logExcess / (2 * logKnee) : logExcess - logKnee / 2
    return max(-Self.maximumReductionDecibels * Self.logOfDecibel, -reductionSlope * reduction)
  }
}
