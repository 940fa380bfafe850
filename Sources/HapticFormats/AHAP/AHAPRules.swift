package import Reading

/// The rules that patterns are checked for, with the words of AHAP.
package enum AHAPRules {
  /// The rules, in the order in which they are listed.
  package static let all: [Rule] = [
    .syntax, .textEncoding, .trailingComma, .byteOrderMark, .duplicateKey, .structure, .missingKey, .wrongType,
    .unknownEventType, .unknownParameter, .unknownEntry, .unknownKey, .durationKey, .missingVersion, .oddVersion,
    .missingDuration, .nullValue, .duplicateParameter, .waveformPath, .negativeTime, .negativeDuration, .outOfRange,
    .eventLength, .timeUnit, .curveAbsoluteTimes, .curvePointCount, .curveOrder, .parameterNotApplicable,
  ]
}

extension Rule {
  // MARK: Syntax

  static let syntax = Rule("syntax", group: "syntax", .error, "The text must be JSON in UTF-8.")
  static let textEncoding = Rule(
    "text-encoding", group: "syntax", .warning,
    "The text should be UTF-8; UTF-16 and UTF-32 are read, but not by all readers.")
  static let trailingComma = Rule(
    "trailing-comma", group: "syntax", .warning,
    "A comma before a closing bracket is not valid JSON; Apple's reader accepts it, others do not.")
  static let byteOrderMark = Rule(
    "byte-order-mark", group: "syntax", .warning, "A byte-order mark is not valid in JSON; some readers reject it.")
  static let duplicateKey = Rule(
    "duplicate-key", group: "syntax", .warning,
    "A key should appear only once in an object; Temblor uses the last one, other readers may not.")

  // MARK: Grammar

  static let structure = Rule(
    "structure", group: "grammar", .error,
    "The file must be an object with an array named Pattern whose entries are objects.")
  static let missingKey = Rule(
    "missing-key", group: "grammar", .error, "An event, parameter or curve must have its required keys.")
  static let wrongType = Rule(
    "wrong-type", group: "grammar", .error, "A value must have the type that its key requires.")
  static let unknownEventType = Rule(
    "unknown-event-type", group: "grammar", .error,
    "EventType must be HapticTransient, HapticContinuous, AudioContinuous or AudioCustom.")
  static let unknownParameter = Rule(
    "unknown-parameter", group: "grammar", .error,
    "ParameterID must be a Core Haptics parameter that is valid in this position.")
  static let unknownEntry = Rule(
    "unknown-entry", group: "grammar", .warning,
    "An entry should be one Event, Parameter or ParameterCurve; others are ignored.")
  static let unknownKey = Rule("unknown-key", group: "grammar", .note, "Unknown keys are ignored.")
  static let durationKey = Rule(
    "duration-key", group: "grammar", .warning, "Use EventDuration and ParameterValue; Duration and Value are ignored.")
  static let missingVersion = Rule("missing-version", group: "grammar", .warning, "A file should have a Version.")
  static let oddVersion = Rule(
    "odd-version", group: "grammar", .warning, "The Version should be 1.0; readers may refuse another one.")
  static let nullValue = Rule(
    "null-value", group: "grammar", .warning,
    "A key without a value should be left out; null counts as absent, but other readers may refuse it.")
  static let duplicateParameter = Rule(
    "duplicate-parameter", group: "grammar", .warning,
    "An event should have a parameter only once; Temblor uses the last one, other readers may not.")
  static let missingDuration = Rule(
    "missing-duration", group: "grammar", .warning,
    "A continuous event should have a duration; without one its end is up to the device.")
  static let waveformPath = Rule(
    "waveform-path", group: "grammar", .error,
    "The path of a sound file must be relative, inside the folder of the pattern, with forward slashes.")

  // MARK: Range

  static let negativeTime = Rule("negative-time", group: "range", .error, "Times must not be negative.")
  static let negativeDuration = Rule("negative-duration", group: "range", .error, "Durations must not be negative.")
  static let outOfRange = Rule(
    "out-of-range", group: "range", .warning, "A value should be within its range; others are clamped.")
  static let eventLength = Rule(
    "event-length", group: "range", .warning, "A continuous event longer than 30 s may be cut off by the device.")

  static let timeUnit = Rule(
    "time-unit", group: "range", .warning,
    "Times and durations are in seconds; whole numbers of 100 and more are usually milliseconds.")

  // MARK: Compatibility

  static let curveAbsoluteTimes = Rule(
    "curve-absolute-times", group: "compatibility", .warning,
    "Times of control points should be relative to the start of their curve; absolute times are converted.")
  static let curvePointCount = Rule(
    "curve-point-count", group: "compatibility", .warning,
    "A curve should have between 1 and 16 control points; more than that, older devices refuse.")
  static let curveOrder = Rule(
    "curve-order", group: "compatibility", .warning,
    "Control points should be sorted by time; others are sorted on reading.")
  static let parameterNotApplicable = Rule(
    "parameter-not-applicable", group: "compatibility", .warning, "A parameter should have an effect on its event.")
}

/// Codes of `CHHapticError`.
///
/// Source: the header CHHapticErrors.h of Apple's SDK. Which input gives which code is not
/// documented; the names are the only guide.
enum CoreHapticsCode {
  static let invalidPatternData = -4813
  static let invalidPatternDictionary = -4814
  static let invalidParameterType = -4820
  static let invalidEventType = -4821
  static let invalidEventTime = -4822
  static let invalidEventDuration = -4823
  static let invalidAudioResource = -4824
  static let badEventEntry = -4830
  static let badParameterEntry = -4831
  static let invalidTime = -4840
}
