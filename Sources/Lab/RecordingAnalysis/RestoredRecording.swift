internal import CMath

/// A recording before a gain, and the gain.
struct RestoredRecording {
  /// The samples before the gain.
  let samples: [Double]
  /// The natural logarithm of the gain at each sample.
  let logGains: [Double]

  /// Creates the restoration of a recording by dividing its samples by gains.
  ///
  /// - Parameters:
  ///   - recording: The recorded samples.
  ///   - logGains: The natural logarithm of the gain at each sample.
  init(dividing recording: [Double], byExponentialsOf logGains: [Double]) {
    samples = zip(recording, logGains).map { $1 == 0 ? $0 : $0 * exp(-$1) }
    self.logGains = logGains
  }

  /// Creates a restoration from its samples and the logarithms of the gains.
  init(samples: [Double], logGains: [Double]) {
    self.samples = samples
    self.logGains = logGains
  }
}
