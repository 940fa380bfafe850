/// One thing that a recording has otherwise than its reference.
struct RecordingChange {
  /// What differs.
  var kind: Difference.Kind
  /// The event it is about; for an added sound, one made up.
  var event: ListedEvent
  /// Seconds of the reference at which it is, and ends.
  var range: ClosedRange<Double>
  /// How much it differs: decibels, seconds, or percent of a frequency; decibels relative to full scale
  /// of a sound that is missing or added.
  var amount: Double
  /// The values of the reference and of the recording, where it has some.
  var before: Double?
  var after: Double?
  /// How many standard errors it is away from none.
  var confidence: Double
  /// The standard error of the amount.
  var standardError: Double { confidence > 0 ? abs(amount) / confidence : 0 }
}

/// The least differences that are reported, however good a recording is.
enum RecordingThreshold {
  /// Standard errors that something must be away from none: about one false alarm in 10⁷ tests.
  static let z = 5.5
  /// Decibels of one event.
  static let decibels = 0.5
  /// Seconds that one event is earlier or later.
  static let seconds = 0.001
  /// Percent of a frequency.
  static let percent = 3.0
  /// The share of an event's energy that a change of it explains.
  static let share = 0.003
  /// Below this level an event is missing: −12 dB.
  static let missing = 0.25
}
