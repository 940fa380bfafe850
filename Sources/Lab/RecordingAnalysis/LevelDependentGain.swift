/// A gain that depends on the level of the sound.
enum LevelDependentGain: Equatable, Sendable {
  case automaticGainControl(AutomaticGainControl)
  case compressor(SoftKneeCompressor)

  /// The number of free parameters.
  var parameterCount: Int {
    switch self {
    case .automaticGainControl: 4
    case .compressor: 6
    }
  }

  /// Returns the signal before the gain, and the gain at each sample.
  func undone(in recording: [Double], rate: Double) -> (samples: [Double], gains: [Double]) {
    switch self {
    case .automaticGainControl(let gainControl): gainControl.undone(in: recording, rate: rate)
    case .compressor(let compressor): compressor.undone(in: recording, rate: rate)
    }
  }
}

/// A recording that a gain has changed, and the evidence of restored recordings.
struct GainProblem {
  /// The samples of the recording.
  let samples: [Double]
  let sampleRate: Double
  /// The peak magnitude of the recorded events.
  let peakMagnitude: Double
  /// Returns the log evidence of the restored samples, minus the sum of the gains' logarithms.
  ///
  /// The restoration divides the samples by the gains. The sum approximates the logarithm of the
  /// Jacobian determinant.
  let logEvidence: (_ restored: [Double], _ gains: [Double]) -> Double
}
