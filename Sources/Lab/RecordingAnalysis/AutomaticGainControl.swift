internal import CMath

/// A compressor like the ones in phone microphones: above a threshold, the gain is a negative power
/// of the level.
struct AutomaticGainControl: Equatable, Sendable {
  /// The level above which the gain falls.
  var threshold: Double
  /// The exponent of the gain reduction: 0 for no compression, 1 for a constant output level.
  var exponent: Double
  /// The attack time constant of the level detector, in seconds.
  var attack: Double
  /// The release time constant of the level detector, in seconds.
  var release: Double

  private static let minimumGain = 0.05

  /// Returns the signal before compression, and the gain at each sample.
  ///
  /// The detector is driven by the uncompressed signal, so the gain can be reconstructed sample by
  /// sample from the recording.
  func undone(in recording: [Double], rate: Double) -> (samples: [Double], gains: [Double]) {
    let attackCoefficient = 1 - exp(-1 / (attack * rate))
    let releaseCoefficient = 1 - exp(-1 / (release * rate))
    var samples = recording
    var gains = recording
    var level = 0.0
    var gain = 1.0
    for index in recording.indices {
      samples[index] /= gain
      gains[index] = gain
      let magnitude = abs(samples[index])
      let coefficient = magnitude > level ? attackCoefficient : releaseCoefficient
      level += coefficient * (magnitude - level)
      gain = level > threshold ? max(Self.minimumGain, pow(threshold / level, exponent)) : 1
    }
    return (samples, gains)
  }
}
