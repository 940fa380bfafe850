/// A transient that was traced.
struct TracedTransient {
  /// The time from the start of the sound, in seconds.
  var time: Double
  var intensity: Double
  var sharpness: Double
}

/// A continuous event that was traced, with its controls over time.
struct TracedContinuous {
  /// The time of the first value from the start of the sound, in seconds.
  var start: Double
  /// The interval between values, in seconds.
  var step: Double
  var intensities: [Double]
  var sharpnesses: [Double]

  /// The end, in seconds.
  var end: Double { start + Double(intensities.count) * step }
}
