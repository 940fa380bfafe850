/// A cause of a recording's residual: a changed event, or an added sound.
package struct RecordingChange {
  /// The kind of a change.
  package enum Kind {
    /// The level of an event.
    case level
    /// The time of an event.
    case time
    /// The frequency of an event.
    case frequency
    /// The waveform of an event.
    case spectrum
    /// An event is not in the recording.
    case missing
    /// The recording has an additional sound.
    case added
  }

  package var kind: RecordingChange.Kind
  package var event: IndexedEvent
  /// The time range, in seconds of the reference.
  package var range: ClosedRange<Double>
  /// The amount of change, in decibels, seconds, or percent. For a missing or added sound, its peak
  /// in dBFS.
  package var amount: Double
  /// The original time or frequency.
  package var before: Double?
  /// The changed time or frequency.
  package var after: Double?
  /// The index of the changed waveform, or nil for an added sound.
  var waveformIndex: Int?
  /// The changed waveform, or nil for a missing event.
  var waveform: EventWaveform?
  /// The samples of the recording to exclude from the fit.
  var excludedRange: Range<Int>?
  /// The samples of the recording that the change explains.
  var explainedRange: Range<Int>
  /// The explained energy, in multiples of the noise power.
  var improvement = 0.0
  /// The improvement minus a threshold for each parameter of the change.
  var score = 0.0
  /// The cost of the doubt about an added sound.
  var penalty = 0.0
  /// A Boolean value that indicates whether the opposite change of the other one of two events is
  /// equally likely.
  package var isAmbiguous = false

  /// The distance of the amount from zero, in standard errors.
  package var confidence: Double { improvement.squareRoot() }
  /// The standard error of the amount.
  package var standardError: Double { confidence > 0 ? abs(amount) / confidence : 0 }
}

/// The minimum differences to report, regardless of the recording's quality.
package enum RecordingThreshold {
  /// The minimum distance from zero, in standard errors: about one false detection in 10⁷ tests.
  static let zScore = 5.5
  static let decibels = 0.5
  static let seconds = 0.001
  static let percent = 3.0
  /// The minimum fraction of an event's energy that its change explains.
  static let energyFraction = 0.003
  /// The relative gain below which an event is missing: −12 dB.
  static let missingGain = 0.25
  /// The minimum power of a background: −84 dBFS. A weaker background is the rounding of stored
  /// samples to 16 bits.
  package static let backgroundPower = 4e-9
  /// The changes that a recording may hide if single events cannot be compared.
  static let undetectableChange = (decibels: 12.0, seconds: RecordingModelFit.maximumTimeShift)
}
