internal import CMath

/// A compressor with a model of the automatic gain control in phone microphones.
///
/// Above a threshold, the gain is a negative power of the level.
struct AutomaticGainControl: Equatable, Sendable {
  /// The threshold of compression, as an amplitude. Louder levels lower the gain.
  var thresholdAmplitude: Double
  /// The negative exponent of the gain above the threshold.
  ///
  /// The exponent is 0 for no compression, and 1 for a constant output level.
  var reductionExponent: Double
  /// The attack time constant of the level detector, in seconds.
  var attackSeconds: Double
  /// The release time constant of the level detector, in seconds.
  var releaseSeconds: Double

  private static let minimumGain = 0.05

  /// Returns the signal before compression.
  ///
  /// The detector is driven by the uncompressed signal, so the gain can be reconstructed sample by
  /// sample from the recording.
  func undone(in recording: [Double], rate: Double) -> RestoredRecording {
    let attackCoefficient = 1 - exp(-1 / (attackSeconds * rate))
    let releaseCoefficient = 1 - exp(-1 / (releaseSeconds * rate))
    let minimumLogGain = log(Self.minimumGain)
    var restoredSamples = recording
    var logGains = [Double](repeating: 0, count: recording.count)
    var detectorLevel = 0.0
    var logGain = 0.0
    for index in recording.indices {
      if logGain < 0 {
        restoredSamples[index] *= exp(-logGain)
      }
      logGains[index] = logGain
      let magnitude = abs(restoredSamples[index])
      let coefficient = magnitude > detectorLevel ? attackCoefficient : releaseCoefficient
      detectorLevel += coefficient * (magnitude - detectorLevel)
      logGain =
        detectorLevel > thresholdAmplitude
        ? max(minimumLogGain, reductionExponent * log(thresholdAmplitude / detectorLevel)) : 0
    }
    return RestoredRecording(samples: restoredSamples, logGains: logGains)
  }
}
