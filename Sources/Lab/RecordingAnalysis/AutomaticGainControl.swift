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

  /// Returns the signal before compression, and the gain at each sample.
  ///
  /// The detector is driven by the uncompressed signal, so the gain can be reconstructed sample by
  /// sample from the recording.
  func undone(in recording: [Double], rate: Double) -> (samples: [Double], gains: [Double]) {
    let attackCoefficient = 1 - exp(-1 / (attackSeconds * rate))
    let releaseCoefficient = 1 - exp(-1 / (releaseSeconds * rate))
    var restoredSamples = recording
    var appliedGains = recording
    var detectorLevel = 0.0
    var currentGain = 1.0
    for index in recording.indices {
      restoredSamples[index] /= currentGain
      appliedGains[index] = currentGain
      let magnitude = abs(restoredSamples[index])
      let coefficient = magnitude > detectorLevel ? attackCoefficient : releaseCoefficient
      detectorLevel += coefficient * (magnitude - detectorLevel)
      currentGain =
        detectorLevel > thresholdAmplitude
        ? max(Self.minimumGain, pow(thresholdAmplitude / detectorLevel, reductionExponent)) : 1
    }
    return (restoredSamples, appliedGains)
  }
}
