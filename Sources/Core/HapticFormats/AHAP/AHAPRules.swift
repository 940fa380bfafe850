package import Reading

extension Rule {
  /// All AHAP rules, in listing order.
  package static let ahapRules: [Rule] = [
    .invalidSyntax, .unusualTextEncoding, .trailingComma, .unexpectedByteOrderMark, .duplicateKey,
    .invalidStructure, .missingKey,
    .wrongType,
    .unknownEventType, .unknownParameter, .bareEntry, .unknownEntry, .unknownKey,
    .ignoredDurationKey,
    .missingVersion, .unexpectedVersion,
    .missingDuration, .nullValue, .duplicateParameter, .invalidWaveformPath, .negativeTime,
    .negativeDuration, .valueOutOfRange,
    .eventLongerThan30Seconds, .timesInMilliseconds, .absoluteCurveTimes, .wrongCurvePointCount,
    .unsortedCurvePoints,
    .ineffectiveParameter,
  ]

  // MARK: Syntax

  package static let invalidSyntax = error("syntax", "syntax", "The text must be JSON in UTF-8.")
  static let unusualTextEncoding = warning(
    "text-encoding", "syntax",
    "The text should be UTF-8. UTF-16 and UTF-32 are supported, but not by all readers.")
  static let trailingComma = warning(
    "trailing-comma", "syntax",
    """
    A comma before a closing bracket is not valid JSON. Apple's reader accepts it, but other \
    readers do not.
    """)
  static let unexpectedByteOrderMark = warning(
    "byte-order-mark", "syntax", "A byte-order mark is not valid in JSON; some readers reject it.")
  static let duplicateKey = warning(
    "duplicate-key", "syntax",
    """
    A key should appear only once in an object. Temblor uses the last value, but other readers may \
    not.
    """)

  // MARK: Grammar

  static let invalidStructure = error(
    "structure", "grammar",
    "The file must be an object with an array named Pattern whose entries are objects.")
  static let missingKey = error(
    "missing-key", "grammar", "An event, parameter, or curve must have its required keys.")
  package static let wrongType = error(
    "wrong-type", "grammar", "A value must have the type that its key requires.")
  static let unknownEventType = error(
    "unknown-event-type", "grammar",
    "EventType must be HapticTransient, HapticContinuous, AudioContinuous, or AudioCustom.")
  static let unknownParameter = warning(
    "unknown-parameter", "grammar",
    """
    ParameterID should be a Core Haptics parameter that is valid in this position. Other \
    parameters are ignored.
    """
  )
  static let bareEntry = error(
    "bare-entry", "grammar",
    "The contents of an entry must be in an object named Event, Parameter, or ParameterCurve.")
  static let unknownEntry = warning(
    "unknown-entry", "grammar",
    "An entry should be one Event, Parameter, or ParameterCurve. Other entries are ignored.")
  package static let unknownKey = note("unknown-key", "grammar", "Unknown keys are ignored.")
  static let ignoredDurationKey = warning(
    "duration-key", "grammar",
    "Use EventDuration and ParameterValue. The keys Duration and Value are ignored.")
  static let missingVersion = warning("missing-version", "grammar", "A file should have a Version.")
  static let unexpectedVersion = warning(
    "odd-version", "grammar", "The Version should be 1.0. Readers may reject other versions.")
  static let nullValue = warning(
    "null-value", "grammar",
    "Omit a key that has no value. Null counts as absent, but other readers may reject it."
  )
  static let duplicateParameter = warning(
    "duplicate-parameter", "grammar",
    """
    An event should have each parameter only once. Temblor uses the last value, but other readers \
    may not.
    """)
  static let missingDuration = warning(
    "missing-duration", "grammar",
    """
    A continuous event should have a duration. Without a duration, the device decides when it ends.
    """
  )
  static let invalidWaveformPath = error(
    "waveform-path", "grammar",
    """
    The path of a sound file must be relative and inside the pattern's folder, with forward slashes.
    """
  )

  // MARK: Range

  static let negativeTime = error("negative-time", "range", "Times must not be negative.")
  static let negativeDuration = error(
    "negative-duration", "range", "Durations must not be negative.")
  static let valueOutOfRange = warning(
    "out-of-range", "range", "A value should be within its range. Other values are clamped.")
  static let eventLongerThan30Seconds = warning(
    "event-length", "range", "A continuous event longer than 30 s may be cut off by the device.")

  static let timesInMilliseconds = warning(
    "time-unit", "range",
    "Times and durations are in seconds. Integers of 100 or more usually mean milliseconds.")

  // MARK: Changes

  /// The rule for invalid edits. It is not listed because no file can violate it.
  static let invalidChange = error(
    "change", "change", "A change must name an existing part of the pattern and a valid value.")

  // MARK: Compatibility

  static let absoluteCurveTimes = warning(
    "curve-absolute-times", "compatibility",
    """
    Control point times should be relative to the start of their curve. Absolute times are \
    converted.
    """
  )
  static let wrongCurvePointCount = warning(
    "curve-point-count", "compatibility",
    "A curve should have 1 to 16 control points. Older devices reject longer curves.")
  static let unsortedCurvePoints = warning(
    "curve-order", "compatibility",
    "Control points should be sorted by time. Unsorted points are sorted on reading.")
  static let ineffectiveParameter = warning(
    "parameter-not-applicable", "compatibility", "A parameter should have an effect on its event.")
}
