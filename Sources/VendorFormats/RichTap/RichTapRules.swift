internal import HapticFormats
internal import Reading

/// The rules of one spelling; names begin with the id of its format.
struct RichTapRules: Sendable {
  static let he = RichTapRules(.he)
  static let oh = RichTapRules(.oh)

  let syntax, duplicateKey, trailingComma, byteOrderMark: Rule
  let structure, version, missingKey, wrongType, eventType, fraction: Rule
  let channelCount, channelNumber, fileSize, eventCount: Rule
  let absoluteTime, time, duration, index, intensity, frequency: Rule
  let curveRequired, curvePointCount, curveOrder, curveEnds, curveRange: Rule
  let noEventWrapper, percentCurve, overlap: Rule
  /// How tables judge.
  let fields: JSONFieldRules
  /// The rules, in the order in which they are listed.
  let all: [Rule]

  private init(_ dialect: RichTapDialect) {
    let isHE = dialect == .he
    var all: [Rule] = []
    func rule(_ name: String, _ group: String, _ severity: Severity, _ text: String, if applies: Bool = true) -> Rule {
      let rule = Rule(RuleID((isHE ? "he/" : "oh/") + name), group: group, severity, text)
      if applies { all.append(rule) }
      return rule
    }
    syntax = rule("syntax", "syntax", .error, "The text must be JSON in UTF-8.")
    duplicateKey = rule(
      "duplicate-key", "syntax", .warning, "A key should appear only once in an object; the last one is used.")
    trailingComma = rule(
      "trailing-comma", "syntax", .warning, "A comma before a closing bracket is not valid JSON; devices refuse it.")
    byteOrderMark = rule("byte-order-mark", "syntax", .note, "The text should not start with a byte-order mark.")
    fileSize = rule(
      "file-size", "syntax", .error, "The file must not be larger than 64 KiB; HarmonyOS refuses larger ones.",
      if: !isHE)

    structure = rule(
      "structure", "grammar", .error,
      isHE
        ? "The file must be an object with Metadata and Pattern (version 1) or PatternList (version 2)."
        : "The file must be an object with MetaData and Channels, each with Parameters and Pattern.")
    version = rule(
      "version", "grammar", .error, isHE ? "Metadata.Version must be 1 or 2." : "MetaData.Version must be 1.0.")
    missingKey = rule("missing-key", "grammar", .error, "Events and points of curves must have their required keys.")
    wrongType = rule("wrong-type", "grammar", .error, "A value must have the type that its key requires.")
    eventType = rule("event-type", "grammar", .error, "Type must be transient or continuous.")
    channelNumber = rule("channel-number", "grammar", .error, "MetaData.ChannelNumber must be 1 or 2.", if: !isHE)
    channelCount = rule(
      "channel-count", "grammar", .error, "There must be as many Channels as MetaData.ChannelNumber says.", if: !isHE)
    noEventWrapper = rule(
      "no-event-wrapper", "compatibility", .warning,
      "An entry of Pattern should hold its event under the key Event; devices refuse others, which "
        + "OpenHarmony's converter writes.")

    eventCount = rule(
      "event-count", "range", isHE ? .warning : .error,
      isHE
        ? "A Pattern should have 1 to 16 events; HarmonyOS refuses others."
        : "A Pattern must not have more than 128 events.")
    absoluteTime = rule(
      "absolute-time", "range", .error, "AbsoluteTime must not be negative, and must rise from pattern to pattern.",
      if: isHE)
    time = rule(
      isHE ? "relative-time" : "start-time", "range", .error,
      isHE
        ? "RelativeTime must not be negative, and must not fall from event to event."
        : "StartTime must be 0 to 1800000 ms.")
    duration = rule(
      "duration", "range", .error,
      "The Duration of a continuous event must be \(dialect.durations.lowerBound) to "
        + "\(dialect.durations.upperBound) ms.")
    index = rule("index", "range", .error, "Index must be 0 (both vibrators), 1 (left) or 2 (right).")
    intensity = rule("intensity", "range", .error, "Intensity must be 0 to 100.")
    frequency = rule(
      "frequency", "range", .error,
      isHE ? "Frequency must be 0 to 100, that of a transient -50 to 150." : "Frequency must be 0 to 100.")
    fraction = rule(
      "fraction", "range", .warning,
      "Values other than the Intensity of a curve should be whole numbers; devices drop fractions.")
    curveRequired = rule("curve-required", "range", .error, "A continuous event must have a Curve.", if: isHE)
    curvePointCount = rule("curve-point-count", "range", .error, "A Curve must have 4 to 16 points.")
    curveOrder = rule(
      "curve-time", "range", .error,
      isHE
        ? "Times of a Curve must rise from point to point, from 0 to the Duration of the event."
        : "Times of a Curve must be 0 to the Duration of the event.")
    curveEnds = rule(
      "curve-ends", "range", .error,
      "A Curve must begin at Time 0 and end at the Duration of the event, both with Intensity 0.", if: isHE)
    curveRange = rule(
      "curve-range", "range", .error, "The Intensity of a point must be 0 to 1, its Frequency -100 to 100.")
    percentCurve = rule(
      "percent-curve", "compatibility", .warning,
      "The Intensity of a Curve should be 0 to 1; devices refuse percent, which OpenHarmony's " + "converter writes.")
    overlap = rule(
      "overlap", "compatibility", .note, "Events should not overlap on one vibrator; hardware may play one at a time.")
    fields = JSONFieldRules(
      missingKey: missingKey, wrongType: wrongType, outOfRange: structure, fraction: .dropped(fraction))
    self.all = all
  }
}
