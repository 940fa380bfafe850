internal import CMath

/// A recording whose level-dependent gain was undone, and the gain.
struct RestoredRecording {
  /// The samples divided by the gains.
  let samples: [Double]
  /// The natural logarithm of the gain at each sample.
  let logGains: [Double]

  /// Creates the restoration of a recording by dividing its samples by gains.
  ///
  /// - Parameters:
  ///   - logGains: The natural logarithm of the gain at each sample.
  ///   - recording: The recorded samples.
  init(undoing logGains: [Double], in recording: [Double]) {
    // Most gains are 1, and the exponential function is slow.
    samples = zip(recording, logGains).map { $1 == 0 ? $0 : $0 * exp(-$1) }
    self.logGains = logGains
  }

  /// Creates the restoration of a recording with a gain of 1.
  init(unchanged recording: [Double]) {
    samples = recording
    logGains = [Double](repeating: 0, count: recording.count)
  }

  /// Creates a restoration from its samples and the logarithms of the gains.
  init(samples: [Double], logGains: [Double]) {
    self.samples = samples
    self.logGains = logGains
  }
}
