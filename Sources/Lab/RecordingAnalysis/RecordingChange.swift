/// A cause of the residual of a recording: a changed event, or an added sound.
package struct RecordingChange {
  /// The kind of a change.
  package enum Kind {
    /// The level of an event differs.
    case level
    /// The time of an event differs.
    case time
    /// The frequency of an event differs.
    case frequency
    /// The waveform of an event differs.
    case spectrum
    /// An event is missing in the recording.
    case missing
    /// The recording has an additional sound.
    case added
  }

  package var kind: RecordingChange.Kind
  package var indexedEvent: IndexedEvent
  /// The time range that the change affects, in seconds of the reference.
  package var secondsRange: ClosedRange<Double>
  /// The amount of change, in decibels, seconds, or percent.
  ///
  /// For a missing or added sound, the amount is its peak in dBFS.
  package var signedAmount: Double
  /// The time in seconds, or the frequency in hertz, of the event in the reference.
  package var originalValue: Double?
  /// The time in seconds, or the frequency in hertz, of the event in the recording.
  package var changedValue: Double?
  /// The index of the changed event's waveform, or nil for an added sound.
  var waveformIndex: Int?
  /// The changed waveform, or nil for a missing event.
  var changedWaveform: EventWaveform?
  /// The range of recording samples to exclude from the fit, or nil.
  var excludedRange: Range<Int>?
  /// The range of recording samples that the change explains.
  var explainedRange: Range<Int>
  /// The energy that the change explains, in multiples of the noise power.
  var explainedEnergyRatio = 0.0
  /// The explained energy minus a penalty for each parameter of the change.
  var penalizedImprovement = 0.0
  /// The penalty for an added sound that existing events could explain instead.
  var ambiguityPenalty = 0.0
  /// A Boolean value that indicates whether the opposite change of another event is as likely.
  ///
  /// Only a reference with two events can have such a change.
  package var isAmbiguous = false

  /// The distance of the change's amount from zero, in standard errors.
  package var standardErrorsFromZero: Double { explainedEnergyRatio.squareRoot() }
  /// The standard error of the change's amount, in the unit of the amount.
  package var amountStandardError: Double {
    standardErrorsFromZero > 0 ? abs(signedAmount) / standardErrorsFromZero : 0
  }

  /// A Boolean value that indicates whether the change is too small to be reported.
  ///
  /// Refinement can reduce a shift in time or frequency below the threshold.
  var isNegligible: Bool {
    switch kind {
    case .frequency: abs(signedAmount) < RecordingThreshold.minimumFrequencyPercent
    case .time: abs(signedAmount) < RecordingThreshold.minimumTimeSeconds
    default: false
    }
  }

  /// Returns true if this is a level change of less than the given amount, in decibels.
  func isLevelChange(below decibels: Double) -> Bool {
    kind == .level && abs(signedAmount) < decibels
  }
}

/// The minimum differences to report, regardless of the recording's quality.
package enum RecordingThreshold {
  /// The minimum distance of an amount from zero, in standard errors.
  ///
  /// Chance alone exceeds it in about one of 10⁷ tests.
  static let minimumZScore = 5.5
  static let minimumLevelDecibels = 0.5
  /// The minimum level change to report if a gain control may have caused it.
  ///
  /// A fast compressor scales short events by nearly constant factors, so its effect looks like a
  /// level change.
  static let minimumLevelDecibelsWithGainControl = 3.5
  /// The minimum level change to report after the gain of a compressor was undone.
  static let minimumLevelDecibelsAfterCompressor = 3.0
  /// The minimum level change to report after quiet parts were restored.
  ///
  /// In compared events, the restoration can hide a decrease of up to 3 dB.
  static let minimumLevelDecibelsAfterNoiseSuppression = 3.0
  /// The minimum level change to report after the effect of a room was removed incompletely.
  ///
  /// Reflections that the model of the room does not contain look like smaller changes.
  static let minimumLevelDecibelsAfterRoom = 3.0
  static let minimumTimeSeconds = 0.001
  static let minimumFrequencyPercent = 3.0
  /// The minimum fraction of an event's energy that its change explains.
  static let minimumEventEnergyFraction = 0.003
  /// The maximum relative gain of a missing event: −12 dB.
  static let maximumMissingGain = 0.25
  /// The minimum power of background noise: −84 dBFS.
  ///
  /// Weaker noise is attributed to the rounding of stored samples to 16 bits.
  package static let minimumBackgroundPower = 4e-9
  /// The maximum undetected level change and time shift without comparison of single events.
  static let undetectableChange = (
    decibels: 12.0, seconds: RecordingModelFit.maximumTimeShiftSeconds
  )
}
