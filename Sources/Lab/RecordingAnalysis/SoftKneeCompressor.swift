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
  /// The maximum change of the gain in the last iteration, relative to the gain.
  private static let gainTolerance = 1e-3
  /// The maximum reduction of the gain, in decibels.
  private static let maximumReductionDecibels = 30.0

  /// Returns the signal before compression, and the gain at each sample.
  ///
  /// The gain depends on later samples of the uncompressed signal. The restored signal is thus the
  /// fixed point of dividing the recording by the gain of the restored signal. In decibels, each
  /// iteration multiplies the error by at most the slope, which is less than 1.
  ///
  /// - Parameters:
  ///   - recording: The compressed samples.
  ///   - rate: The sample rate, in hertz.
  ///   - startingGains: Gains close to the result, which reduce the number of iterations, or nil.
  func undone(
    in recording: [Double], rate: Double, startingGains: [Double]? = nil
  ) -> (samples: [Double], gains: [Double]) {
    var appliedGains = startingGains ?? [Double](repeating: 1, count: recording.count)
    for _ in 0..<Self.maximumIterationCount {
      let previousGains = appliedGains
      appliedGains = gains(for: zip(recording, previousGains).map(/), rate: rate)
      let isConverged = zip(appliedGains, previousGains).allSatisfy { gain, previousGain in
        abs(gain - previousGain) < Self.gainTolerance * gain
      }
      if isConverged { break }
    }
    return (zip(recording, appliedGains).map(/), appliedGains)
  }

  /// Returns the gain at each sample of an uncompressed signal.
  func gains(for samples: [Double], rate: Double) -> [Double] {
    let attackCoefficient = 1 - exp(-1 / (attackSeconds * rate))
    let releaseCoefficient = 1 - exp(-1 / (releaseSeconds * rate))
    let lookAheadSamples = Int((lookAheadSeconds * rate).rounded())
    var gains = [Double](repeating: 1, count: samples.count)
    var gainDecibels = 0.0
    for index in 0..<samples.count + lookAheadSamples {
      let magnitude = index < samples.count ? abs(samples[index]) : 0
      let target = targetGainDecibels(atLevel: magnitude)
      gainDecibels +=
        (target < gainDecibels ? attackCoefficient : releaseCoefficient) * (target - gainDecibels)
      if index >= lookAheadSamples, gainDecibels < -1e-3 {
        gains[index - lookAheadSamples] = pow(10, gainDecibels / 20)
      }
    }
    return gains
  }

  private func targetGainDecibels(atLevel amplitude: Double) -> Double {
    guard amplitude > thresholdAmplitude else { return 0 }
    let excessDecibels = 20 * log10(amplitude / thresholdAmplitude)
    let reduction =
      excessDecibels < kneeDecibels
      ? excessDecibels * excessDecibels / (2 * kneeDecibels) : excessDecibels - kneeDecibels / 2
    return max(-Self.maximumReductionDecibels, -reductionSlope * reduction)
  }
}
