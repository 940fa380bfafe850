internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots
internal import SystemSupport

/// A difference in the words of a list: what and how, by how much, when.
struct FindingText: Equatable {
  /// What differs, as `Second transient 50 ms later`.
  let title: String
  /// How, as `onset 1.2 → 1.25 s`; may be empty.
  let detail: String
  /// By how much, as `+50 ms`.
  let amount: String
  /// When, as `1.2 – 1.25 s`.
  let timeText: String

  /// From how many seconds on places in time are minutes and seconds.
  private static let minimumSecondsForMinutes = 120.0

  init(_ difference: Difference, of comparison: Comparison) {
    let sentence = Self.heading(from: difference.sentence, label: comparison.options.candidateLabel)
    amount = Self.amount(of: difference)
    timeText = Self.timeText(
      of: difference,
      usesMinutes: comparison.takes.contains { $0.signal.duration >= Self.minimumSecondsForMinutes }
    )
    if let control = Self.controlTitle(of: difference, in: comparison) {
      title = control
      detail = sentence
      return
    }
    detail = Self.detail(of: difference, in: comparison)
    guard let subject = Self.subject(of: difference, in: comparison),
      let predicate = Self.predicate(of: difference)
    else {
      title = sentence
      return
    }
    title =
      difference.isPresence ? "\(predicate) \(subject)" : "\(subject.capitalizedFirst) \(predicate)"
  }

  /// The events that differ, as `second transient`; nil where it is not about events.
  private static func subject(of difference: Difference, in comparison: Comparison) -> String? {
    let (indices, composition) = events(of: difference, in: comparison)
    guard let composition, !indices.isEmpty else {
      return difference.isOverall ? "everything" : nil
    }
    let events = composition.layers.flatMap(\.pattern.events)
    guard indices.allSatisfy(events.indices.contains) else { return nil }
    if difference.isOverall, indices.count == events.count {
      return "everything"
    }
    let kinds = Set(indices.map { events[$0].kind })
    guard kinds.count == 1, let kind = kinds.first else { return "\(indices.count) events" }
    let same = events.indices.filter { events[$0].kind == kind }.sorted {
      (events[$0].time, $0) < (events[$1].time, $1)
    }
    let places = indices.compactMap { same.firstIndex(of: $0) }.sorted()
    let isAdded = difference.kind == .added
    if places.count > 1 {
      guard places.count < 4, !isAdded else { return "\(places.count) \(kind.noun)s" }
      return "\(kind.noun)s \(places.map { "\($0 + 1)" }.joinedWithAnd)"
    }
    if isAdded || same.count == 1 { return kind.noun }
    return "\(SentenceFormatting.ordinalText((places.first ?? 0) + 1)) \(kind.noun)"
  }

  /// The places of the events that differ, and the pattern that they are of: the one that has them.
  private static func events(of difference: Difference, in comparison: Comparison) -> (
    indices: [Int], composition: HapticComposition?
  ) {
    difference.kind == .added
      ? (difference.candidateEvents, comparison.candidate.composition)
      : (difference.referenceEvents, comparison.reference.composition)
  }

  private static func predicate(of difference: Difference) -> String? {
    switch difference.kind {
    case .missing:
      return "Missing"
    case .added:
      return "Extra"
    case .level where difference.unit == .decibels && abs(difference.amount) < 60, .time,
      .frequency, .duration:
      let range = difference.spread.flatMap { rangeText(of: $0, unit: difference.unit) }
      if range != nil, let spread = difference.spread, spread.lowerBound * spread.upperBound < 0 {
        return nil
      }
      let amount = range ?? SentenceFormatting.magnitude(difference.amount, unit: difference.unit)
      return difference.kind.comparative(isMore: difference.amount > 0).map { "\(amount) \($0)" }
    default:
      return nil
    }
  }

  /// `22–40 dB`; nil where one figure says it.
  private static func rangeText(of spread: ClosedRange<Double>, unit: Difference.Unit) -> String? {
    let scale = unit == .seconds ? 1_000.0 : 1
    let sizes = [spread.lowerBound, spread.upperBound].map { abs($0) * scale }.sorted()
    let texts = sizes.map { number($0, decimalPlaces: sizes[1] < 9.95 ? 1 : 0) }
    return texts[0] == texts[1]
      ? nil : "\(texts[0])–\(texts[1]) \(unit == .seconds ? "ms" : unit.rawValue)"
  }

  /// What sentences say of a curve or step that only one take has, and the word of a heading for
  /// it.
  private static let presencePhrases: [(says: String, word: String)] = [
    ("lacks", "missing"), ("does not set", "missing"), ("has an extra", "added"), ("sets", "added"),
  ]

  private static func controlTitle(of difference: Difference, in comparison: Comparison) -> String?
  {
    guard difference.kind == .curve || difference.kind == .parameter else { return nil }
    let noun = difference.kind == .curve ? "curve" : "control"
    let label = comparison.options.candidateLabel
    let presence = presencePhrases.first(where: {
      difference.sentence.hasPrefix("\(label) \($0.says) ")
    })
    let change = presence?.word ?? (difference.amount < 0 ? "lowered" : "raised")
    switch difference.unit {
    case .decibels: return "Intensity \(noun) \(change)"
    case .percent: return "Sharpness \(noun) \(change)"
    default: return nil
    }
  }

  /// A sentence as a heading: without the name of the take and its full stop.
  private static func heading(from sentence: String, label: String) -> String {
    var text = sentence[...]
    if text.hasSuffix(".") {
      text = text.dropLast()
    }
    while let owner = text.byteRange(of: " of \(label)'s ") {
      text.replaceSubrange(owner, with: " of the ")
    }
    for starts in [
      ["'s ", " has ", " is ", " as a whole ", " "].map { label + $0 },
      ["a ", "an ", "the ", "The "],
    ] {
      if let start = starts.first(where: { text.hasPrefix($0) }) {
        text = text.dropFirst(start.count)
      }
    }
    return String(text).capitalizedFirst
  }

  private static func detail(of difference: Difference, in comparison: Comparison) -> String {
    if difference.isPresence {
      let (indices, composition) = events(of: difference, in: comparison)
      guard indices.count == 1, let composition else {
        return difference.unit == .fullScale
          ? "\(number(difference.amount, decimalPlaces: 1)) dBFS" : ""
      }
      return valuesText(ofEvent: indices[0], in: composition)
    }
    guard let before = difference.before, let after = difference.after else { return "" }
    let values = "\(number(before, decimalPlaces: 3)) → \(number(after, decimalPlaces: 3))"
    let isPattern =
      comparison.reference.composition != nil && comparison.candidate.composition != nil
    switch difference.kind {
    case .level:
      return isPattern ? "intensity \(values)" : values
    case .time:
      return "onset \(values) s"
    case .frequency:
      guard isPattern else { return "\(values) Hz" }
      let law = comparison.reference.profile.frequency
      let hertz = [before, after].map { number(law.hertz(atSharpness: $0), decimalPlaces: 0) }
      return (0...1).contains(before) && (0...1).contains(after)
        ? "sharpness \(values), \(hertz[0]) → \(hertz[1]) Hz" : "\(values) Hz"
    case .duration, .length:
      return "\(difference.kind.rawValue) \(values) s"
    default:
      return values
    }
  }

  /// Intensity and sharpness of an event as written, the controls, and what comes of both.
  private static func valuesText(ofEvent index: Int, in composition: HapticComposition) -> String {
    let events = composition.layers.flatMap { layer in
      layer.pattern.events.map { ($0, layer.pattern) }
    }
    guard events.indices.contains(index) else { return "" }
    let (event, pattern) = events[index]
    let isHaptic = event.kind.isHaptic
    let strength = Double(event.value(of: isHaptic ? .hapticIntensity : .audioVolume))
    let tone = Double(event.value(of: isHaptic ? .hapticSharpness : .audioBrightness))
    func control(_ id: DynamicParameterID) -> Double {
      ControlTimeline(of: id, in: pattern).value(at: event.time)
    }
    let factor = control(isHaptic ? .hapticIntensityControl : .audioVolumeControl)
    let shift = control(isHaptic ? .hapticSharpnessControl : .audioBrightnessControl)
    return "\(isHaptic ? "intensity" : "volume") \(number(strength, decimalPlaces: 2))"
      + (abs(factor - 1) < 0.004
        ? ""
        : " × \(number(factor, decimalPlaces: 2)) = \(number(strength * factor, decimalPlaces: 2))")
        + """
        , \(isHaptic ? "sharpness" : "brightness") \
        \(number(min(max(0, tone + shift), 1), decimalPlaces: 2))
        """
  }

  private static func amount(of difference: Difference) -> String {
    if let spread = difference.spread, rangeText(of: spread, unit: difference.unit) != nil {
      return SentenceFormatting.spread(
        from: spread.lowerBound, to: spread.upperBound, unit: difference.unit)
    }
    if difference.isPresence {
      return difference.kind == .added ? "added" : "missing"
    }
    let size = SentenceFormatting.magnitude(difference.amount, unit: difference.unit)
    switch difference.unit {
    case .none: return ""
    case .fullScale: return size
    default: return (difference.amount < 0 ? "−" : "+") + size
    }
  }

  private static func timeText(of difference: Difference, usesMinutes hasMinutes: Bool) -> String {
    func place(_ seconds: Double) -> String {
      guard hasMinutes else { return number(seconds, decimalPlaces: 3) }
      let rest = number(seconds.truncatingRemainder(dividingBy: 60), decimalPlaces: 3)
      return "\(Int(seconds / 60)):\(rest.prefix { $0 != "." }.count < 2 ? "0" : "")\(rest)"
    }
    let unit = hasMinutes ? "min" : "s"
    if difference.isOverall { return "throughout" }
    let start = difference.range.lowerBound
    let end = difference.range.upperBound
    if difference.kind == .time, let before = difference.before, let after = difference.after {
      return "\(place(before)) → \(place(after)) \(unit)"
    }
    guard end - start > 0.06 else { return "\(place(start)) \(unit)" }
    return "\(place(start)) – \(place(end)) \(unit)"
  }

  private static func number(_ value: Double, decimalPlaces places: Int) -> String {
    SentenceFormatting.number(value, places: places)
  }
}

extension Difference {
  /// Whether only one take has something.
  fileprivate var isPresence: Bool { kind == .missing || kind == .added }
}

/// What a comparison came to in one sentence, for a reader who wants no list.
enum ComparisonSummary {
  /// The least difference of two ends, in seconds, that is worth a word.
  private static let minimumEndDifference = 0.02

  /// `B is stronger and duller, lacks an event and ends 0.2 s later.`
  static func text(of comparison: Comparison) -> String {
    let label = comparison.options.candidateLabel
    let felt = comparison.differences.filter(\.isNoticeable)
    guard !felt.isEmpty else {
      return comparison.differences.isEmpty
        ? comparison.verdict ?? "\(label) is equal to \(comparison.options.referenceLabel)."
        : """
        \(label) feels like \(comparison.options.referenceLabel): no difference is above the \
        threshold.
        """
    }
    let qualities = [
      comparative(
        of: felt.filter { $0.unit == .decibels && $0.kind != .spectrum }, more: "stronger",
        less: "weaker"),
      comparative(
        of: felt.filter { $0.unit == .percent && $0.kind != .tempo && $0.kind != .pan },
        more: "sharper", less: "duller"),
      comparative(of: felt.filter { $0.kind == .tempo }, more: "slower", less: "faster"),
    ].compactMap(\.self)
    var parts = qualities.isEmpty ? [] : ["is \(qualities.joinedWithAnd)"]
    for (kind, verb) in [(Difference.Kind.missing, "lacks"), (.added, "has")] {
      let count = felt.filter { $0.kind == kind }.reduce(0) {
        $0 + max(1, (kind == .missing ? $1.referenceEvents : $1.candidateEvents).count)
      }
      let extra = kind == .added ? "extra " : ""
      if count > 0 {
        parts.append("\(verb) \(count == 1 ? "an \(extra)event" : "\(count) \(extra)events")")
      }
    }
    let times = felt.filter { $0.kind == .time }
    let ends = comparison.measurements.map { $0["duration"] ?? 0 }
    let end = ends[1] - ends[0]
    if abs(end) >= minimumEndDifference {
      parts.append(
        "ends \(SentenceFormatting.magnitude(end, unit: .seconds)) \(end > 0 ? "later" : "earlier")"
      )
    } else if !times.isEmpty {
      let count = times.reduce(0) { $0 + max(1, $1.referenceEvents.count) }
      parts.append("moves \(count == 1 ? "one event" : "\(count) events")")
    }
    return "\(label) \(parts.isEmpty ? "differs in its details" : parts.joinedWithAnd)."
  }

  /// What is more or less; where it is both, that it is so in parts.
  private static func comparative(of differences: [Difference], more: String, less: String)
    -> String?
  {
    guard !differences.isEmpty else { return nil }
    let isMore = differences.contains { ($0.spread?.upperBound ?? $0.amount) > 0 }
    let isLess = differences.contains { ($0.spread?.lowerBound ?? $0.amount) < 0 }
    return isMore && isLess ? "partly \(more), partly \(less)" : isMore ? more : less
  }
}
