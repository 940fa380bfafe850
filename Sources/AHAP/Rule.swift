/// Something a file is checked for; the raw value is its name for users.
public enum Rule: String, CaseIterable, Sendable {
  /// What a rule is about.
  public enum Group: String, CaseIterable, Sendable {
    /// JSON itself.
    case syntax
    /// What AHAP asks for.
    case grammar
    /// Values and their bounds.
    case range
    /// What devices and tools differ in.
    case compatibility
    /// What feels good.
    case design
    /// What the hardware of a profile can do; checked where a profile is named.
    case transducer
  }

  /// The text is no JSON.
  case syntax
  /// A comma in front of a closing bracket.
  case trailingComma = "trailing-comma"
  /// U+FEFF in front of the text.
  case byteOrderMark = "byte-order-mark"
  /// A key its object already has.
  case duplicateKey = "duplicate-key"

  /// No object, or no list of entries.
  case structure
  /// A key that must be there is not.
  case missingKey = "missing-key"
  /// A value of another type than its key asks for.
  case wrongType = "wrong-type"
  /// An event type that does not exist.
  case unknownEventType = "unknown-event-type"
  /// A parameter that does not exist here.
  case unknownParameter = "unknown-parameter"
  /// An entry that is none of the three things it can be.
  case unknownEntry = "unknown-entry"
  /// A key that does not exist here.
  case unknownKey = "unknown-key"
  /// `Duration` or `Value` for the keys they abbreviate.
  case durationKey = "duration-key"
  /// No `Version`.
  case missingVersion = "missing-version"
  /// A continuous event without `EventDuration`.
  case missingDuration = "missing-duration"
  /// Nothing to play.
  case noEvents = "no-events"
  /// A sound file that cannot be looked for.
  case waveformPath = "waveform-path"
  /// An allowance for no rule.
  case unknownRule = "unknown-rule"
  /// An allowance for nothing.
  case unusedAllowance = "unused-allowance"

  /// A time below zero.
  case negativeTime = "negative-time"
  /// A duration below zero.
  case negativeDuration = "negative-duration"
  /// A value beyond its bounds.
  case outOfRange = "out-of-range"
  /// A continuous event of more than 30 s.
  case eventLength = "event-length"

  /// Control points that count from the start of the pattern.
  case curveAbsoluteTimes = "curve-absolute-times"
  /// More than 16 control points, or none.
  case curvePointCount = "curve-point-count"
  /// Control points out of order.
  case curveOrder = "curve-order"
  /// Curves of one control at one time.
  case curveOverlap = "curve-overlap"
  /// A parameter that its event does not react to.
  case parameterNotApplicable = "parameter-not-applicable"

  /// Taps too close to be two.
  case tapGap = "tap-gap"
  /// Too many taps in a row.
  case tapCount = "tap-count"
  /// Taps without a rhythm.
  case tapSpacing = "tap-spacing"
  /// Too many heavy taps.
  case heavyOveruse = "heavy-overuse"
  /// A tap both strong and sharp.
  case harsh
  /// Strong vibration without a break.
  case sustained
  /// A pattern longer than feedback usually is.
  case patternLength = "pattern-length"

  /// Frequencies that hardware hardly makes felt, and that are played at others.
  case transducerBand = "transducer-band"
  /// More movement than hardware bears.
  case transducerExcursion = "transducer-excursion"
  /// More warmth than hardware bears.
  case transducerPower = "transducer-power"
  /// More level than the output passes.
  case transducerCeiling = "transducer-ceiling"
}

extension Rule {
  /// What the rule is about.
  public var group: Group {
    switch self {
    case .syntax, .trailingComma, .byteOrderMark, .duplicateKey: .syntax
    case .structure, .missingKey, .wrongType, .unknownEventType, .unknownParameter, .unknownEntry,
      .unknownKey, .durationKey, .missingVersion, .missingDuration, .noEvents, .waveformPath,
      .unknownRule, .unusedAllowance:
      .grammar
    case .negativeTime, .negativeDuration, .outOfRange, .eventLength: .range
    case .curveAbsoluteTimes, .curvePointCount, .curveOrder, .curveOverlap,
      .parameterNotApplicable:
      .compatibility
    case .tapGap, .tapCount, .tapSpacing, .heavyOveruse, .harsh, .sustained, .patternLength:
      .design
    case .transducerBand, .transducerExcursion, .transducerPower, .transducerCeiling: .transducer
    }
  }

  /// How bad it is where nothing else is said; only errors keep a file from being read.
  public var severity: Finding.Severity {
    switch self {
    case .syntax, .structure, .missingKey, .wrongType, .unknownEventType, .unknownParameter,
      .negativeTime, .negativeDuration, .waveformPath:
      .error
    case .unknownKey, .patternLength, .unusedAllowance, .transducerBand, .transducerCeiling: .note
    default: .warning
    }
  }

  /// One sentence that says what the rule asks for and why.
  public var explanation: String {
    switch self {
    case .syntax: "The text must be JSON in UTF-8."
    case .trailingComma:
      "A comma in front of a closing bracket is not JSON; Apple's reader accepts it, others do not."
    case .byteOrderMark:
      "A byte-order mark in front of the text is not JSON; some readers refuse it."
    case .duplicateKey:
      "A key should appear once in its object; the last one counts here, but not in every reader."
    case .structure:
      "The file must be an object with an array named Pattern whose entries are objects."
    case .missingKey: "An event, parameter or curve must have the keys that define it."
    case .wrongType: "A value must be of the type that its key asks for."
    case .unknownEventType:
      "EventType must be HapticTransient, HapticContinuous, AudioContinuous or AudioCustom."
    case .unknownParameter:
      "ParameterID must be one of the parameters that Core Haptics has at this place."
    case .unknownEntry:
      "An entry should be one Event, Parameter or ParameterCurve; others are ignored."
    case .unknownKey: "A key that AHAP does not have is ignored."
    case .durationKey:
      "EventDuration and ParameterValue are the keys; Duration and Value are ignored."
    case .missingVersion: "A file should say which version of Core Haptics it needs."
    case .missingDuration:
      "A continuous event should have a duration; without one its end is up to the device."
    case .noEvents: "A pattern without events plays nothing."
    case .waveformPath:
      "A sound file must be named by a path inside the pattern's own folder, with forward slashes."
    case .unknownRule: "AllowedRules should name rules that exist."
    case .unusedAllowance: "AllowedRules should allow nothing that the file does not need."
    case .negativeTime: "Times must not be negative."
    case .negativeDuration: "Durations must not be negative."
    case .outOfRange: "A value outside its range is moved to the nearest bound."
    case .eventLength: "A continuous event of more than 30 seconds may be cut by the device."
    case .curveAbsoluteTimes:
      "Control points count from their curve's start; those that count from 0 are moved."
    case .curvePointCount:
      "A curve should have between 1 and 16 control points; more than that, older devices refuse."
    case .curveOrder: "Control points should be in order of time; they are sorted."
    case .curveOverlap:
      "Curves of one parameter should not overlap; which of them counts is up to the device."
    case .parameterNotApplicable: "A parameter should be one that its event reacts to."
    case .tapGap: "Taps should be at least 50 milliseconds apart to be felt as two."
    case .tapCount:
      "A sequence should have at most 4 taps; taps at most 250 milliseconds apart make a sequence."
    case .tapSpacing:
      "Four taps or more should come evenly, ever wider, ever closer, or in equal groups."
    case .heavyOveruse:
      "Heavy taps, of 0.95 or more, should be rare: at most 2 in a sequence, and no majority."
    case .harsh: "A tap should not have both intensity and sharpness of 0.9 or more."
    case .sustained:
      "Vibration of intensity 0.8 or more should not go on for more than 1 second without a break."
    case .patternLength:
      "Feedback usually takes 200 to 500 milliseconds; more than 5 seconds is rare."
    case .transducerBand:
      "Frequencies should be those the profile's hardware makes felt; others move into its band."
    case .transducerExcursion:
      "A pattern should not ask the profile's hardware to move further than it bears; it is held back."
    case .transducerPower:
      "A pattern should not warm the profile's hardware beyond what it bears; it is held back."
    case .transducerCeiling:
      "The drive should stay below the ceiling of the output; what goes beyond is turned down."
    }
  }
}
