internal import CMath

/// A compressor with a soft knee and a look-ahead, such as those of browsers.
///
/// The gain is a function of the level in decibels: constant below the knee, with a constant slope
/// above it, and parabolic in between (D. Giannoulis, M. Massberg, J. Reiss, "Digital dynamic range
/// compressor design", Journal of the Audio Engineering Society 60, 2012). The gain in decibels is
/// smoothed, with the attack time while it decreases and with the release time while it increases.
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

  private static let iterationCount = 16
  /// The maximum reduction of the gain, in decibels.
  private static let maximumReductionDecibels = 30.0

  /// Returns the signal before compression, and the gain at each sample.
  ///
  /// The gain depends on later samples of the uncompressed signal. The restored signal is thus the
  /// fixed point of dividing the recording by the gain of the restored signal. In decibels, each
  /// iteration multiplies the error by at most the slope, which is less than 1.
  func undone(in recording: [Double], rate: Double) -> (samples: [Double], gains: [Double]) {
    var restoredSamples = recording
    var appliedGains = recording
    for _ in 0..<Self.iterationCount {
      appliedGains = gains(for: restoredSamples, rate: rate)
      for index in recording.indices {
        restoredSamples[index] = recording[index] / appliedGains[index]
      }
    }
    return (restoredSamples, appliedGains)
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
