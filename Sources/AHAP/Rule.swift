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
  case transientGap = "tap-gap"
  /// Too many taps in a row.
  case transientCount = "tap-count"
  /// Taps without a rhythm.
  case transientSpacing = "tap-spacing"
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
    case .transientGap, .transientCount, .transientSpacing, .heavyOveruse, .harsh, .sustained,
      .patternLength:
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
      "A comma before a closing bracket is not valid JSON; Apple's reader accepts it, others do not."
    case .byteOrderMark:
      "A byte-order mark is not valid in JSON; some readers reject it."
    case .duplicateKey:
      "A key should appear only once in an object; Temblor uses the last one, other readers may not."
    case .structure:
      "The file must be an object with an array named Pattern whose entries are objects."
    case .missingKey: "An event, parameter or curve must have its required keys."
    case .wrongType: "A value must have the type that its key requires."
    case .unknownEventType:
      "EventType must be HapticTransient, HapticContinuous, AudioContinuous or AudioCustom."
    case .unknownParameter:
      "ParameterID must be a Core Haptics parameter that is valid in this position."
    case .unknownEntry:
      "An entry should be one Event, Parameter or ParameterCurve; others are ignored."
    case .unknownKey: "Unknown keys are ignored."
    case .durationKey:
      "Use EventDuration and ParameterValue; Duration and Value are ignored."
    case .missingVersion: "A file should have a Version."
    case .missingDuration:
      "A continuous event should have a duration; without one its end is up to the device."
    case .noEvents: "A pattern should have events; without them it is silent."
    case .waveformPath:
      "The path of a sound file must be relative, inside the folder of the pattern, with forward slashes."
    case .unknownRule: "AllowedRules should contain only existing rules."
    case .unusedAllowance: "AllowedRules should not contain rules that the file does not break."
    case .negativeTime: "Times must not be negative."
    case .negativeDuration: "Durations must not be negative."
    case .outOfRange: "A value should be within its range; others are clamped."
    case .eventLength: "A continuous event longer than 30 s may be cut off by the device."
    case .curveAbsoluteTimes:
      "Times of control points should be relative to the start of their curve; absolute times are converted."
    case .curvePointCount:
      "A curve should have between 1 and 16 control points; more than that, older devices refuse."
    case .curveOrder: "Control points should be sorted by time; others are sorted on reading."
    case .curveOverlap:
      "Curves of one parameter should not overlap; devices differ in which one applies."
    case .parameterNotApplicable: "A parameter should have an effect on its event."
    case .transientGap: "Transients should be at least 50 ms apart to be felt as separate taps."
    case .transientCount:
      "A sequence (transients at most 250 ms apart) should have at most 4 transients."
    case .transientSpacing:
      "Four or more transients should be evenly spaced, accelerate, slow down, or form equal groups."
    case .heavyOveruse:
      "Transients of intensity 0.95 or more should be rare: at most 2 in a sequence, and not the majority."
    case .harsh: "A transient should not have both intensity and sharpness of 0.9 or more."
    case .sustained:
      "Vibration of intensity 0.8 or more should not last longer than 1 s without a pause."
    case .patternLength:
      "A pattern should not be longer than 5 s; feedback usually lasts 0.2 to 0.5 s."
    case .transducerBand:
      "Frequencies should be within the band of the profile's hardware; others are mapped into it."
    case .transducerExcursion:
      "A pattern should not exceed the excursion limit of the profile's hardware; beyond it, gain is reduced."
    case .transducerPower:
      "A pattern should not exceed the thermal limit of the profile's hardware; beyond it, gain is reduced."
    case .transducerCeiling:
      "The drive signal should stay below the output ceiling; beyond it, the limiter acts."
    }
  }
}
