/// A transient that was traced from a sound.
struct TracedTransient {
  /// The time from the start of the sound, in seconds.
  var timeSeconds: Double
  var intensity: Double
  var sharpness: Double
}

/// A continuous event that was traced, with its controls over time.
struct TracedContinuousEvent {
  /// The time of the first value from the start of the sound, in seconds.
  var startSeconds: Double
  /// The interval between the values of a control, in seconds.
  var stepSeconds: Double
  var intensities: [Double]
  var sharpnesses: [Double]

  /// The end time of the event, in seconds from the start of the sound.
  var endSeconds: Double { startSeconds + Double(intensities.count) * stepSeconds }
}
