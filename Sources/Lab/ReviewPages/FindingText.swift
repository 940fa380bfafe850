internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots
internal import SystemSupport

/// The texts that describe a difference in the list of a page.
struct FindingText: Equatable {
  /// The title of the difference, such as `Second transient 50 ms later`.
  let titleText: String
  /// The values in the reference and in the candidate, such as `onset 1.2 → 1.25 s`.
  ///
  /// The text may be empty.
  let detailText: String
  /// The amount of the difference, such as `+50 ms`.
  let amountText: String
  /// The time range of the difference, such as `1.2 – 1.25 s`.
  let timeText: String

  /// The minimum duration of a take for times in minutes and seconds, in seconds.
  private static let minuteNotationThresholdSeconds = 120.0

  /// Creates the texts that describe a difference found by a comparison.
  init(_ difference: Difference, of comparison: Comparison) {
    let shortenedSentence = Self.titleText(
      from: difference.sentence, label: comparison.options.candidateLabel)
    amountText = Self.amountText(of: difference)
    let usesMinutes = comparison.takes.contains { take in
      take.signal.durationSeconds >= Self.minuteNotationThresholdSeconds
    }
    timeText = Self.timeText(of: difference, usesMinutes: usesMinutes)
    if let controlTitle = Self.controlTitleText(of: difference, in: comparison) {
      titleText = controlTitle
      detailText = shortenedSentence
      return
    }
    detailText = Self.valuesText(of: difference, in: comparison)
    guard let subject = Self.subjectText(of: difference, in: comparison),
      let predicate = Self.changeText(of: difference)
    else {
      titleText = shortenedSentence
      return
    }
    titleText =
      difference.isMissingOrAdded
      ? "\(predicate) \(subject)" : "\(subject.capitalizedFirst) \(predicate)"
  }

  /// Returns the differing events as text, such as `second transient`.
  ///
  /// Returns nil for a difference that does not concern events.
  private static func subjectText(of difference: Difference, in comparison: Comparison) -> String? {
    let (indices, composition) = differingEvents(of: difference, in: comparison)
    guard let composition, !indices.isEmpty else {
      return difference.isOverall ? "everything" : nil
    }
    let events = composition.layers.flatMap(\.pattern.events)
    guard indices.allSatisfy(events.indices.contains) else { return nil }
    if difference.isOverall, indices.count == events.count {
      return "everything"
    }
    let eventKinds = Set(indices.map { events[$0].kind })
    guard eventKinds.count == 1, let kind = eventKinds.first else {
      return "\(indices.count) events"
    }
    let indicesOfKind = events.indices.filter { events[$0].kind == kind }
    let indicesByTime = indicesOfKind.sorted { (events[$0].time, $0) < (events[$1].time, $1) }
    let ordinalIndices = indices.compactMap { indicesByTime.firstIndex(of: $0) }.sorted()
    let isAdded = difference.kind == .added
    if ordinalIndices.count > 1 {
      guard ordinalIndices.count < 4, !isAdded else {
        return "\(ordinalIndices.count) \(kind.noun)s"
      }
      return "\(kind.noun)s \(ordinalIndices.map { "\($0 + 1)" }.joinedWithAnd)"
    }
    if isAdded || indicesByTime.count == 1 { return kind.noun }
    return "\(SentenceFormatting.ordinalText((ordinalIndices.first ?? 0) + 1)) \(kind.noun)"
  }

  /// Returns the indices of the differing events, and the pattern that contains them.
  private static func differingEvents(
    of difference: Difference, in comparison: Comparison
  ) -> (indices: [Int], composition: HapticComposition?) {
    difference.kind == .added
      ? (difference.candidateEventIndices, comparison.candidate.composition)
      : (difference.referenceEventIndices, comparison.reference.composition)
  }

  /// Returns the change of the events as text, such as `50 ms later`.
  ///
  /// Returns nil if only a sentence describes the change.
  private static func changeText(of difference: Difference) -> String? {
    switch difference.kind {
    case .missing:
      return "Missing"
    case .added:
      return "Extra"
    case .level where difference.unit == .decibels && abs(difference.amount) < 60, .time,
      .frequency, .duration:
      let range = difference.amountRange.flatMap { amountRangeText(of: $0, unit: difference.unit) }
      if range != nil, let spread = difference.amountRange,
        spread.lowerBound * spread.upperBound < 0
      {
        return nil
      }
      let amount = range ?? SentenceFormatting.magnitude(difference.amount, unit: difference.unit)
      return difference.kind.comparativeWord(isMore: difference.amount > 0).map {
        "\(amount) \($0)"
      }
    default:
      return nil
    }
  }

  /// Returns a range of magnitudes as text, such as `22–40 dB`.
  ///
  /// Returns nil if both ends would be displayed as the same number.
  private static func amountRangeText(of spread: ClosedRange<Double>, unit: Difference.Unit)
    -> String?
  {
    let unitScale = unit == .seconds ? 1_000.0 : 1
    let magnitudes = [spread.lowerBound, spread.upperBound].map { abs($0) * unitScale }.sorted()
    let magnitudeTexts = magnitudes.map {
      numberText($0, decimalPlaces: magnitudes[1] < 9.95 ? 1 : 0)
    }
    if magnitudeTexts[0] == magnitudeTexts[1] { return nil }
    return "\(magnitudeTexts[0])–\(magnitudeTexts[1]) \(unit == .seconds ? "ms" : unit.rawValue)"
  }

  /// The verbs for a control in only one take, with the corresponding words in titles.
  private static let presencePhrases: [(verb: String, titleWord: String)] = [
    ("is missing", "missing"), ("does not set", "missing"), ("has an extra", "added"),
    ("sets", "added"),
  ]

  /// Returns the title for a difference in a control, such as `Intensity curve raised`.
  ///
  /// Returns nil for other differences.
  private static func controlTitleText(
    of difference: Difference, in comparison: Comparison
  ) -> String? {
    guard difference.kind == .curve || difference.kind == .parameter else { return nil }
    let controlNoun = difference.kind == .curve ? "curve" : "control"
    let candidateLabel = comparison.options.candidateLabel
    let presencePhrase = presencePhrases.first { phrase in
      difference.sentence.hasPrefix("\(candidateLabel) \(phrase.verb) ")
    }
    let changeWord = presencePhrase?.titleWord ?? (difference.amount < 0 ? "lowered" : "raised")
    switch difference.unit {
    case .decibels: return "Intensity \(controlNoun) \(changeWord)"
    case .percent: return "Sharpness \(controlNoun) \(changeWord)"
    default: return nil
    }
  }

  /// Returns a sentence shortened to a title, without the label of the take and the full stop.
  private static func titleText(from sentence: String, label: String) -> String {
    var shortenedText = sentence[...]
    if shortenedText.hasSuffix(".") {
      shortenedText = shortenedText.dropLast()
    }
    while let possessive = shortenedText.byteRange(of: " of \(label)'s ") {
      shortenedText.replaceSubrange(possessive, with: " of the ")
    }
    let subjectPrefixes = ["'s ", " has ", " is ", " as a whole ", " "].map { label + $0 }
    let articlePrefixes = ["a ", "an ", "the ", "The "]
    for prefixes in [subjectPrefixes, articlePrefixes] {
      if let prefix = prefixes.first(where: { shortenedText.hasPrefix($0) }) {
        shortenedText = shortenedText.dropFirst(prefix.count)
      }
    }
    return String(shortenedText).capitalizedFirst
  }

  /// Returns the values of a difference as text.
  ///
  /// These are the values of an added or missing event, or otherwise the values in the reference
  /// and in the candidate.
  private static func valuesText(of difference: Difference, in comparison: Comparison) -> String {
    if difference.isMissingOrAdded {
      let (indices, composition) = differingEvents(of: difference, in: comparison)
      guard indices.count == 1, let composition else {
        return difference.unit == .fullScale
          ? "\(numberText(difference.amount, decimalPlaces: 1)) dBFS" : ""
      }
      return valuesText(ofEvent: indices[0], in: composition)
    }
    guard let referenceValue = difference.referenceValue,
      let candidateValue = difference.candidateValue
    else {
      return ""
    }
    let referenceText = numberText(referenceValue, decimalPlaces: 3)
    let candidateText = numberText(candidateValue, decimalPlaces: 3)
    let valueChangeText = "\(referenceText) → \(candidateText)"
    let comparesPatterns =
      comparison.reference.composition != nil && comparison.candidate.composition != nil
    switch difference.kind {
    case .level:
      return comparesPatterns ? "intensity \(valueChangeText)" : valueChangeText
    case .time:
      return "onset \(valueChangeText) s"
    case .frequency:
      guard comparesPatterns else { return "\(valueChangeText) Hz" }
      let mapping = comparison.reference.profile.frequency
      let hertz = [referenceValue, candidateValue].map { sharpness in
        numberText(mapping.hertz(atSharpness: sharpness), decimalPlaces: 0)
      }
      let areSharpnesses = (0...1).contains(referenceValue) && (0...1).contains(candidateValue)
      return areSharpnesses
        ? "sharpness \(valueChangeText), \(hertz[0]) → \(hertz[1]) Hz" : "\(valueChangeText) Hz"
    case .duration, .length:
      return "\(difference.kind.rawValue) \(valueChangeText) s"
    default:
      return valueChangeText
    }
  }

  /// Returns the intensity and sharpness of an event as text with the effect of controls.
  ///
  /// An example is `intensity 0.8 × 0.5 = 0.4, sharpness 0.6`.
  private static func valuesText(ofEvent index: Int, in composition: HapticComposition) -> String {
    let eventsWithPatterns = composition.layers.flatMap { layer in
      layer.pattern.events.map { ($0, layer.pattern) }
    }
    guard eventsWithPatterns.indices.contains(index) else { return "" }
    let (event, pattern) = eventsWithPatterns[index]
    let isHaptic = event.kind.isHaptic
    let intensity = Double(event.value(of: isHaptic ? .hapticIntensity : .audioVolume))
    let sharpness = Double(event.value(of: isHaptic ? .hapticSharpness : .audioBrightness))
    func controlValue(_ id: DynamicParameterID) -> Double {
      ControlTimeline(of: id, in: pattern).value(at: event.time)
    }
    let intensityFactor = controlValue(isHaptic ? .hapticIntensityControl : .audioVolumeControl)
    let sharpnessOffset = controlValue(isHaptic ? .hapticSharpnessControl : .audioBrightnessControl)
    var valueText =
      "\(isHaptic ? "intensity" : "volume") \(numberText(intensity, decimalPlaces: 2))"
    if abs(intensityFactor - 1) >= 0.004 {
      let product = numberText(intensity * intensityFactor, decimalPlaces: 2)
      valueText += " × \(numberText(intensityFactor, decimalPlaces: 2)) = \(product)"
    }
    let shiftedSharpness = numberText(min(max(0, sharpness + sharpnessOffset), 1), decimalPlaces: 2)
    return valueText + ", \(isHaptic ? "sharpness" : "brightness") \(shiftedSharpness)"
  }

  /// Returns the signed amount of a difference as text, such as `+50 ms`.
  private static func amountText(of difference: Difference) -> String {
    if let spread = difference.amountRange,
      amountRangeText(of: spread, unit: difference.unit) != nil
    {
      return SentenceFormatting.amountRange(
        from: spread.lowerBound, to: spread.upperBound, unit: difference.unit)
    }
    if difference.isMissingOrAdded {
      return difference.kind == .added ? "added" : "missing"
    }
    let magnitudeText = SentenceFormatting.magnitude(difference.amount, unit: difference.unit)
    switch difference.unit {
    case .none: return ""
    case .fullScale: return magnitudeText
    default: return (difference.amount < 0 ? "−" : "+") + magnitudeText
    }
  }

  /// Returns the time of a difference as text: a point in time, a range, or a shift.
  private static func timeText(of difference: Difference, usesMinutes: Bool) -> String {
    func clockText(_ seconds: Double) -> String {
      guard usesMinutes else { return numberText(seconds, decimalPlaces: 3) }
      let secondsText = numberText(seconds.truncatingRemainder(dividingBy: 60), decimalPlaces: 3)
      let integerDigits = secondsText.prefix { $0 != "." }
      return "\(Int(seconds / 60)):\(integerDigits.count < 2 ? "0" : "")\(secondsText)"
    }
    let unitText = usesMinutes ? "min" : "s"
    if difference.isOverall { return "throughout" }
    let startSeconds = difference.timeRange.lowerBound
    let endSeconds = difference.timeRange.upperBound
    if difference.kind == .time, let referenceSeconds = difference.referenceValue,
      let candidateSeconds = difference.candidateValue
    {
      return "\(clockText(referenceSeconds)) → \(clockText(candidateSeconds)) \(unitText)"
    }
    guard endSeconds - startSeconds > 0.06 else { return "\(clockText(startSeconds)) \(unitText)" }
    return "\(clockText(startSeconds)) – \(clockText(endSeconds)) \(unitText)"
  }

  private static func numberText(_ value: Double, decimalPlaces: Int) -> String {
    SentenceFormatting.number(value, places: decimalPlaces)
  }
}

extension Difference {
  /// A Boolean value that indicates whether only one take has the differing events.
  fileprivate var isMissingOrAdded: Bool { kind == .missing || kind == .added }
}

/// The summary of a comparison in one sentence.
enum ComparisonSummary {
  /// The minimum duration difference of takes in the summary, in seconds.
  private static let minimumDurationDifferenceSeconds = 0.02

  /// Returns a sentence such as `B is stronger and duller, lacks an event and ends 0.2 s later.`
  static func summaryText(of comparison: Comparison) -> String {
    let candidateLabel = comparison.options.candidateLabel
    let referenceLabel = comparison.options.referenceLabel
    let noticeableDifferences = comparison.differences.filter(\.isNoticeable)
    guard !noticeableDifferences.isEmpty else {
      guard comparison.differences.isEmpty else {
        return """
          No difference between \(candidateLabel) and \(referenceLabel) is above the perceptual \
          threshold.
          """
      }
      return comparison.verdict ?? "\(candidateLabel) is identical to \(referenceLabel)."
    }
    let comparativePhrases = comparativeWords(of: noticeableDifferences)
    var summaryPredicates =
      comparativePhrases.isEmpty ? [] : ["is \(comparativePhrases.joinedWithAnd)"]
    summaryPredicates += presencePredicates(of: noticeableDifferences)
    let timeDifferences = noticeableDifferences.filter { $0.kind == .time }
    let durationsSeconds = comparison.measurements.map { $0["duration"] ?? 0 }
    let endDifferenceSeconds = durationsSeconds[1] - durationsSeconds[0]
    if abs(endDifferenceSeconds) >= minimumDurationDifferenceSeconds {
      let magnitude = SentenceFormatting.magnitude(endDifferenceSeconds, unit: .seconds)
      summaryPredicates.append(
        "ends \(magnitude) \(endDifferenceSeconds > 0 ? "later" : "earlier")")
    } else if !timeDifferences.isEmpty {
      let count = timeDifferences.reduce(0) { $0 + max(1, $1.referenceEventIndices.count) }
      summaryPredicates.append("has \(count == 1 ? "one moved event" : "\(count) moved events")")
    }
    let predicateText =
      summaryPredicates.isEmpty ? "differs in its details" : summaryPredicates.joinedWithAnd
    return "\(candidateLabel) \(predicateText)."
  }

  /// Returns the comparatives that describe differences, such as `stronger` and `duller`.
  private static func comparativeWords(of differences: [Difference]) -> [String] {
    let levelDifferences = differences.filter { $0.unit == .decibels && $0.kind != .spectrum }
    let sharpnessDifferences = differences.filter { difference in
      difference.unit == .percent && difference.kind != .tempo && difference.kind != .pan
    }
    let tempoDifferences = differences.filter { $0.kind == .tempo }
    let optionalWords = [
      comparativeWord(of: levelDifferences) {
        Difference.Kind.level.comparativeWord(isMore: $0)
      },
      comparativeWord(of: sharpnessDifferences) {
        Difference.Kind.frequency.comparativeWord(isMore: $0, isTransient: true)
      },
      comparativeWord(of: tempoDifferences) {
        Difference.Kind.speedWord(hasLongerIntervals: $0)
      },
    ]
    return optionalWords.compactMap(\.self)
  }

  /// Returns the predicates about missing and added events, such as `is missing an event`.
  ///
  /// Another example is `has 2 extra events`.
  private static func presencePredicates(of differences: [Difference]) -> [String] {
    let missingCount = differences.filter { $0.kind == .missing }.reduce(0) { count, difference in
      count + max(1, difference.referenceEventIndices.count)
    }
    let addedCount = differences.filter { $0.kind == .added }.reduce(0) { count, difference in
      count + max(1, difference.candidateEventIndices.count)
    }
    var presencePhrases: [String] = []
    if missingCount > 0 {
      presencePhrases.append(
        "is missing \(missingCount == 1 ? "an event" : "\(missingCount) events")")
    }
    if addedCount > 0 {
      presencePhrases.append(
        "has \(addedCount == 1 ? "an extra event" : "\(addedCount) extra events")")
    }
    return presencePhrases
  }

  /// Returns the comparative that describes several differences.
  ///
  /// If the signs of the differences vary, returns both comparatives with `partly`.
  ///
  /// - Parameters:
  ///   - differences: The differences.
  ///   - word: A closure that returns the comparative for an increase or a decrease.
  private static func comparativeWord(
    of differences: [Difference], word: (_ isMore: Bool) -> String?
  ) -> String? {
    guard !differences.isEmpty, let more = word(true), let less = word(false) else { return nil }
    let isMore = differences.contains { ($0.amountRange?.upperBound ?? $0.amount) > 0 }
    let isLess = differences.contains { ($0.amountRange?.lowerBound ?? $0.amount) < 0 }
    if isMore && isLess { return "partly \(more), partly \(less)" }
    return isMore ? more : less
  }
}
