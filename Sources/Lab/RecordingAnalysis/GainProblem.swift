/// A recording that a gain has changed, and the evidence of restored recordings.
struct GainProblem {
  /// The samples of the recording.
  let samples: [Double]
  let sampleRate: Double
  /// The peak magnitude of the recorded events.
  let peakMagnitude: Double
  /// Returns the log evidence of a restored recording, minus the sum of the gains' logarithms.
  ///
  /// The restoration divides the samples by the gains. The sum approximates the logarithm of the
  /// Jacobian determinant.
  let logEvidence: (RestoredRecording) -> Double
}
