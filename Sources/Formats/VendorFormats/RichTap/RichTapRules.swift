internal import HapticFormats
internal import HapticModel
internal import Reading

extension RichTapDialect {
  /// The rules for files of the dialect, in listing order.
  var rules: [Rule] {
    switch self {
    case .richTapHE:
      [
        .invalidSyntax, .richTapDuplicateKey, .richTapTrailingComma, .richTapByteOrderMark,
        .richTapInvalidStructure, .richTapUnknownVersion,
        .richTapMissingKey,
        .wrongType, .richTapUnknownEventType, .richTapMissingEventWrapper, .richTapWrongEventCount,
        .richTapInvalidAbsoluteTime,
        .richTapInvalidRelativeTime,
        .richTapDurationOutOfRange, .richTapInvalidVibratorIndex,
        .richTapIntensityOutOfRange, .richTapFrequencyOutOfRange, .richTapFractionalNumber,
        .richTapMissingCurve, .richTapWrongCurvePointCount, .richTapInvalidCurveTime,
        .richTapInvalidCurveEnds,
        .richTapCurvePointOutOfRange, .richTapCurveInPercent, .richTapOverlappingEvents,
      ]
    case .harmonyOS:
      [
        .invalidSyntax, .richTapDuplicateKey, .richTapTrailingComma, .richTapByteOrderMark,
        .harmonyOSFileTooLarge, .harmonyOSInvalidStructure,
        .harmonyOSUnknownVersion,
        .richTapMissingKey, .wrongType, .richTapUnknownEventType, .harmonyOSInvalidChannelNumber,
        .harmonyOSChannelCountMismatch,
        .richTapMissingEventWrapper, .harmonyOSTooManyEvents,
        .harmonyOSStartTimeOutOfRange, .harmonyOSDurationOutOfRange, .richTapInvalidVibratorIndex,
        .richTapIntensityOutOfRange, .harmonyOSFrequencyOutOfRange, .richTapFractionalNumber,
        .richTapWrongCurvePointCount,
        .harmonyOSCurveTimeOutOfRange,
        .richTapCurvePointOutOfRange, .richTapCurveInPercent, .harmonyOSMissingOptionalKeys,
        .richTapOverlappingEvents,
      ]
    }
  }
}

/// The rules for RichTap files. Rules with `richTap` in their names apply to both formats; those
/// with `harmonyOS` are specific to HarmonyOS, or state the same rule in its terms.
extension Rule {
  static let richTapDuplicateKey = warning(
    "duplicate-key", "syntax", "A key should appear only once in an object. The last value is used."
  )
  static let richTapTrailingComma = warning(
    "trailing-comma", "syntax",
    "A comma before a closing bracket is not valid JSON. Devices reject it.")
  static let richTapByteOrderMark = note(
    "byte-order-mark", "syntax", "The text should not start with a byte-order mark.")
  static let harmonyOSFileTooLarge = error(
    "file-size", "syntax",
    "The file must not be larger than 64 KiB. HarmonyOS rejects larger files."
  )

  static let richTapInvalidStructure = error(
    "structure", "grammar",
    "The file must be an object with Metadata and Pattern (version 1) or PatternList (version 2).")
  static let harmonyOSInvalidStructure = error(
    "structure", "grammar",
    "The file must be an object with MetaData and Channels, each with Parameters and Pattern.")
  static let richTapUnknownVersion = error("version", "grammar", "Metadata.Version must be 1 or 2.")
  static let harmonyOSUnknownVersion = error("version", "grammar", "MetaData.Version must be 1.0.")
  static let richTapMissingKey = error(
    "missing-key", "grammar", "Events and points of curves must have their required keys.")
  static let richTapUnknownEventType = error(
    "event-type", "grammar", "Type must be transient or continuous.")
  static let harmonyOSInvalidChannelNumber = error(
    "channel-number", "grammar", "MetaData.ChannelNumber must be 1 or 2.")
  static let harmonyOSChannelCountMismatch = error(
    "channel-count", "grammar", "The number of Channels must match MetaData.ChannelNumber.")

  static let richTapWrongEventCount = warning(
    "event-count", "range",
    "A Pattern should have 1 to 16 events. HarmonyOS rejects other patterns.")
  static let harmonyOSTooManyEvents = error(
    "event-count", "range", "A Pattern must not have more than 128 events.")
  static let richTapInvalidAbsoluteTime = error(
    "absolute-time", "range",
    "AbsoluteTime must not be negative, and must increase from pattern to pattern.")
  static let richTapInvalidRelativeTime = error(
    "relative-time", "range",
    "RelativeTime must not be negative, and must not decrease from event to event.")
  static let harmonyOSStartTimeOutOfRange = error(
    "start-time", "range", "StartTime must be 0 to 1800000 ms.")
  static let richTapDurationOutOfRange = error(
    "duration", "range", "The Duration of a continuous event must be 1 to 5000 ms.")
  static let harmonyOSDurationOutOfRange = error(
    "duration", "range", "The Duration of a continuous event must be 0 to 5000 ms.")
  static let richTapInvalidVibratorIndex = error(
    "index", "range", "Index must be 0 (both vibrators), 1 (left), or 2 (right).")
  static let richTapIntensityOutOfRange = error("intensity", "range", "Intensity must be 0 to 100.")
  static let richTapFrequencyOutOfRange = error(
    "frequency", "range", "Frequency must be 0 to 100, or -50 to 150 for a transient.")
  static let harmonyOSFrequencyOutOfRange = error(
    "frequency", "range", "Frequency must be 0 to 100.")
  static let richTapFractionalNumber = warning(
    "fraction", "range",
    "Values other than the Intensity of a curve should be whole numbers. Devices drop fractions.")
  static let richTapMissingCurve = error(
    "curve-required", "range", "A continuous event must have a Curve.")
  static let richTapWrongCurvePointCount = error(
    "curve-point-count", "range", "A Curve must have 4 to 16 points.")
  static let richTapInvalidCurveTime = error(
    "curve-time", "range",
    "Times of a Curve must increase from point to point, from 0 to the Duration of the event.")
  static let harmonyOSCurveTimeOutOfRange = error(
    "curve-time", "range", "Times of a Curve must be 0 to the Duration of the event.")
  static let richTapInvalidCurveEnds = error(
    "curve-ends", "range",
    "A Curve must start at Time 0 and end at the Duration of the event, both with Intensity 0.")
  static let richTapCurvePointOutOfRange = error(
    "curve-range", "range",
    "The Intensity of a point must be 0 to 1, and its Frequency -100 to 100.")

  static let richTapMissingEventWrapper = warning(
    "no-event-wrapper", "compatibility",
    """
    An entry of Pattern should contain its event under the key Event. Devices reject other \
    entries, but OpenHarmony's converter writes them.
    """
  )
  static let richTapCurveInPercent = warning(
    "percent-curve", "compatibility",
    """
    The Intensity of a Curve should be 0 to 1. Devices reject percentages, but OpenHarmony's \
    converter writes them.
    """
  )
  static let harmonyOSMissingOptionalKeys = warning(
    "partial-keys", "compatibility",
    """
    Transients should have a Frequency, and points of a Curve an Intensity and a Frequency. \
    Devices reject other events, but OpenHarmony's schema allows them.
    """
  )
  static let richTapOverlappingEvents = note(
    "overlap", "compatibility",
    "Events should not overlap on one vibrator. Hardware may play only one at a time.")
}
