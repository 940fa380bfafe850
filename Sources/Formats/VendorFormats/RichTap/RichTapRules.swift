internal import HapticFormats
internal import HapticModel
internal import Reading

extension RichTapDialect {
  /// The rules of the notation, in listing order.
  var rules: [Rule] {
    switch self {
    case .he:
      [
        .syntax, .heDuplicateKey, .heTrailingComma, .heByteOrderMark, .heStructure, .heVersion,
        .heMissingKey,
        .wrongType, .heEventType, .heNoEventWrapper, .heEventCount, .heAbsoluteTime,
        .heRelativeTime,
        .heDuration, .heIndex,
        .heIntensity, .heFrequency, .heFraction, .heCurveRequired, .heCurvePointCount, .heCurveTime,
        .heCurveEnds,
        .heCurveRange, .hePercentCurve, .heOverlap,
      ]
    case .oh:
      [
        .syntax, .heDuplicateKey, .heTrailingComma, .heByteOrderMark, .ohFileSize, .ohStructure,
        .ohVersion,
        .heMissingKey, .wrongType, .heEventType, .ohChannelNumber, .ohChannelCount,
        .heNoEventWrapper, .ohEventCount,
        .ohStartTime, .ohDuration, .heIndex, .heIntensity, .ohFrequency, .heFraction,
        .heCurvePointCount,
        .ohCurveTime,
        .heCurveRange, .hePercentCurve, .ohPartialKeys, .heOverlap,
      ]
    }
  }
}

/// The rules of RichTap files. Names with `he` apply to both notations; names with `oh` are
/// specific to HarmonyOS, or state the same rule in its terms.
extension Rule {
  static let heDuplicateKey = warning(
    "duplicate-key", "syntax", "A key should appear only once in an object. The last value is used."
  )
  static let heTrailingComma = warning(
    "trailing-comma", "syntax",
    "A comma before a closing bracket is not valid JSON. Devices reject it.")
  static let heByteOrderMark = note(
    "byte-order-mark", "syntax", "The text should not start with a byte-order mark.")
  static let ohFileSize = error(
    "file-size", "syntax",
    "The file must not be larger than 64 KiB. HarmonyOS rejects larger files."
  )

  static let heStructure = error(
    "structure", "grammar",
    "The file must be an object with Metadata and Pattern (version 1) or PatternList (version 2).")
  static let ohStructure = error(
    "structure", "grammar",
    "The file must be an object with MetaData and Channels, each with Parameters and Pattern.")
  static let heVersion = error("version", "grammar", "Metadata.Version must be 1 or 2.")
  static let ohVersion = error("version", "grammar", "MetaData.Version must be 1.0.")
  static let heMissingKey = error(
    "missing-key", "grammar", "Events and points of curves must have their required keys.")
  static let heEventType = error("event-type", "grammar", "Type must be transient or continuous.")
  static let ohChannelNumber = error(
    "channel-number", "grammar", "MetaData.ChannelNumber must be 1 or 2.")
  static let ohChannelCount = error(
    "channel-count", "grammar", "The number of Channels must match MetaData.ChannelNumber.")

  static let heEventCount = warning(
    "event-count", "range",
    "A Pattern should have 1 to 16 events. HarmonyOS rejects other patterns.")
  static let ohEventCount = error(
    "event-count", "range", "A Pattern must not have more than 128 events.")
  static let heAbsoluteTime = error(
    "absolute-time", "range",
    "AbsoluteTime must not be negative, and must increase from pattern to pattern.")
  static let heRelativeTime = error(
    "relative-time", "range",
    "RelativeTime must not be negative, and must not decrease from event to event.")
  static let ohStartTime = error("start-time", "range", "StartTime must be 0 to 1800000 ms.")
  static let heDuration = error(
    "duration", "range", "The Duration of a continuous event must be 1 to 5000 ms.")
  static let ohDuration = error(
    "duration", "range", "The Duration of a continuous event must be 0 to 5000 ms.")
  static let heIndex = error(
    "index", "range", "Index must be 0 (both vibrators), 1 (left), or 2 (right).")
  static let heIntensity = error("intensity", "range", "Intensity must be 0 to 100.")
  static let heFrequency = error(
    "frequency", "range", "Frequency must be 0 to 100, or -50 to 150 for a transient.")
  static let ohFrequency = error("frequency", "range", "Frequency must be 0 to 100.")
  static let heFraction = warning(
    "fraction", "range",
    "Values other than the Intensity of a curve should be whole numbers. Devices drop fractions.")
  static let heCurveRequired = error(
    "curve-required", "range", "A continuous event must have a Curve.")
  static let heCurvePointCount = error(
    "curve-point-count", "range", "A Curve must have 4 to 16 points.")
  static let heCurveTime = error(
    "curve-time", "range",
    "Times of a Curve must increase from point to point, from 0 to the Duration of the event.")
  static let ohCurveTime = error(
    "curve-time", "range", "Times of a Curve must be 0 to the Duration of the event.")
  static let heCurveEnds = error(
    "curve-ends", "range",
    "A Curve must start at Time 0 and end at the Duration of the event, both with Intensity 0.")
  static let heCurveRange = error(
    "curve-range", "range",
    "The Intensity of a point must be 0 to 1, and its Frequency -100 to 100.")

  static let heNoEventWrapper = warning(
    "no-event-wrapper", "compatibility",
    """
    An entry of Pattern should contain its event under the key Event. Devices reject other \
    entries, but OpenHarmony's converter writes them.
    """
  )
  static let hePercentCurve = warning(
    "percent-curve", "compatibility",
    """
    The Intensity of a Curve should be 0 to 1. Devices reject percentages, but OpenHarmony's \
    converter writes them.
    """
  )
  static let ohPartialKeys = warning(
    "partial-keys", "compatibility",
    """
    Transients should have a Frequency, and points of a Curve an Intensity and a Frequency. \
    Devices reject other events, but OpenHarmony's schema allows them.
    """
  )
  static let heOverlap = note(
    "overlap", "compatibility",
    "Events should not overlap on one vibrator. Hardware may play only one at a time.")
}
