internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
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
  let when: String

  /// From how many seconds on places in time are minutes and seconds.
  private static let leastMinutes = 120.0

  init(_ difference: Difference, of comparison: Comparison) {
    let subject = Self.subject(of: difference, in: comparison)
    let sentence = Self.shortened(difference.sentence, label: comparison.options.otherLabel)
    amount = Self.amount(of: difference)
    when = Self.when(difference, hasMinutes: comparison.takes.contains { $0.signal.duration >= Self.leastMinutes })
    let predicate = Self.predicate(of: difference)
    if let control = Self.control(of: difference, in: comparison) {
      (title, detail) = (control, sentence)
      return
    }
    if let subject, let predicate {
      title =
        difference.kind == .missing || difference.kind == .added
        ? "\(predicate) \(subject)" : "\(subject.capitalizedFirst) \(predicate)"
    } else {
      title = sentence
    }
    detail = Self.detail(of: difference, in: comparison)
  }

  // MARK: What

  /// The events that differ, as `second transient`; nil where it is not about events.
  private static func subject(of difference: Difference, in comparison: Comparison) -> String? {
    let isAdded = difference.kind == .added
    let indices = isAdded ? difference.otherEvents : difference.referenceEvents
    let take = isAdded ? comparison.other : comparison.reference
    guard let composition = take.composition, !indices.isEmpty else {
      return difference.isThroughout ? "everything" : nil
    }
    let events = composition.layers.flatMap(\.pattern.events)
    guard indices.allSatisfy(events.indices.contains) else { return nil }
    if difference.isThroughout, indices.count == events.count { return "everything" }
    let kinds = Set(indices.map { events[$0].kind })
    guard kinds.count == 1, let kind = kinds.first else { return "\(indices.count) events" }
    let same = events.indices.filter { events[$0].kind == kind }.sorted {
      (events[$0].time, $0) < (events[$1].time, $1)
    }
    let places = indices.compactMap { same.firstIndex(of: $0) }.sorted()
    if places.count > 1 {
      let numbers = places.map { "\($0 + 1)" }
      guard places.count < 4, !isAdded else { return "\(places.count) \(kind.noun)s" }
      return "\(kind.noun)s \(numbers.dropLast().joined(separator: ", ")) and \(numbers.last ?? "")"
    }
    if isAdded || same.count == 1 { return kind.noun }
    return "\(SentenceFormatting.anyOrdinal((places.first ?? 0) + 1)) \(kind.noun)"
  }

  private static func predicate(of difference: Difference) -> String? {
    switch difference.kind {
    case .missing: return "Missing"
    case .added: return "Extra"
    case .level where difference.unit == .decibels && abs(difference.amount) < 60, .time, .frequency, .duration:
      guard let spread = difference.spread, let size = size(of: spread, difference.unit) else {
        return difference.kind.comparative(isMore: difference.amount > 0).map {
          "\(SentenceFormatting.size(difference.amount, difference.unit)) \($0)"
        }
      }
      guard spread.lowerBound * spread.upperBound >= 0 else { return nil }
      return difference.kind.comparative(isMore: difference.amount > 0).map { "\(size) \($0)" }
    default: return nil
    }
  }

  /// `22–40 dB`; nil where one figure says it.
  private static func size(of spread: ClosedRange<Double>, _ unit: Difference.Unit) -> String? {
    let scale = unit == .seconds ? 1_000.0 : 1
    let sizes = [spread.lowerBound, spread.upperBound].map { abs($0) * scale }.sorted()
    let texts = sizes.map { number($0, places: sizes[1] < 9.95 ? 1 : 0) }
    return texts[0] == texts[1] ? nil : "\(texts[0])–\(texts[1]) \(unit == .seconds ? "ms" : unit.rawValue)"
  }

  /// What sentences say of a curve or step that only one take has, and the word of a heading for it.
  private static let presences: [(says: String, word: String)] = [
    ("lacks", "missing"), ("does not set", "missing"), ("has an extra", "added"), ("sets", "added"),
  ]

  private static func control(of difference: Difference, in comparison: Comparison) -> String? {
    guard difference.kind == .curve || difference.kind == .parameter else { return nil }
    let noun = difference.kind == .curve ? "curve" : "control"
    let label = comparison.options.otherLabel
    let presence = presences.first(where: { difference.sentence.hasPrefix("\(label) \($0.says) ") })
    let change = presence?.word ?? (difference.amount < 0 ? "lowered" : "raised")
    switch difference.unit {
    case .decibels: return "Intensity \(noun) \(change)"
    case .percent: return "Sharpness \(noun) \(change)"
    default: return nil
    }
  }

  /// A sentence as a heading: without the name of the take and its full stop.
  private static func shortened(_ sentence: String, label: String) -> String {
    var text = sentence[...]
    if text.hasSuffix(".") { text = text.dropLast() }
    while let owner = text.place(of: " of \(label)'s ") { text.replaceSubrange(owner, with: " of the ") }
    for start in ["\(label)'s ", "\(label) has ", "\(label) is ", "\(label) as a whole ", "\(label) "]
    where text.hasPrefix(start) {
      text = text.dropFirst(start.count)
      break
    }
    for article in ["a ", "an ", "the ", "The "] where text.hasPrefix(article) {
      text = text.dropFirst(article.count)
      break
    }
    return String(text).capitalizedFirst
  }

  // MARK: How, by how much, when

  private static func detail(of difference: Difference, in comparison: Comparison) -> String {
    if difference.kind == .missing || difference.kind == .added {
      let isAdded = difference.kind == .added
      let indices = isAdded ? difference.otherEvents : difference.referenceEvents
      let take = isAdded ? comparison.other : comparison.reference
      guard indices.count == 1, let composition = take.composition else {
        return difference.unit == .fullScale ? "\(number(difference.amount, places: 1)) dBFS" : ""
      }
      let events = composition.layers.flatMap(\.pattern.events)
      guard let index = indices.first, events.indices.contains(index) else { return "" }
      return values(of: index, in: composition)
    }
    guard let before = difference.before, let after = difference.after else { return "" }
    let values = "\(number(before, places: 3)) → \(number(after, places: 3))"
    let isPattern = comparison.reference.composition != nil && comparison.other.composition != nil
    switch difference.kind {
    case .level: return isPattern ? "intensity \(values)" : values
    case .time: return "onset \(values) s"
    case .frequency:
      guard isPattern else { return "\(values) Hz" }
      let law = comparison.reference.profile.frequency
      let hertz = [before, after].map { number(law.hertz(atSharpness: $0), places: 0) }
      return (0...1).contains(before) && (0...1).contains(after)
        ? "sharpness \(values), \(hertz[0]) → \(hertz[1]) Hz" : "\(values) Hz"
    case .duration, .length: return "\(difference.kind.rawValue) \(values) s"
    default: return values
    }
  }

  /// Intensity and sharpness of an event as written, the controls, and what comes of both.
  private static func values(of index: Int, in composition: HapticComposition) -> String {
    var place = index
    for layer in composition.layers {
      let events = layer.pattern.events
      guard place >= events.count else {
        let event = events[place]
        let names = event.kind.isHaptic ? ["intensity", "sharpness"] : ["volume", "brightness"]
        let strength = Double(event.value(of: event.kind.isHaptic ? .hapticIntensity : .audioVolume))
        let tone = Double(event.value(of: event.kind.isHaptic ? .hapticSharpness : .audioBrightness))
        func control(_ id: DynamicParameterID) -> Double {
          ControlTimeline(of: id, in: layer.pattern).value(at: event.time)
        }
        let factor = control(event.kind.isHaptic ? .hapticIntensityControl : .audioVolumeControl)
        let shift = control(event.kind.isHaptic ? .hapticSharpnessControl : .audioBrightnessControl)
        return "\(names[0]) \(number(strength, places: 2))"
          + (abs(factor - 1) < 0.004 ? "" : " × \(number(factor, places: 2)) = \(number(strength * factor, places: 2))")
          + ", \(names[1]) \(number(min(max(0, tone + shift), 1), places: 2))"
      }
      place -= events.count
    }
    return ""
  }

  private static func amount(of difference: Difference) -> String {
    if let spread = difference.spread, size(of: spread, difference.unit) != nil {
      return SentenceFormatting.spread(spread.lowerBound, spread.upperBound, difference.unit)
    }
    switch (difference.kind, difference.unit) {
    case (.missing, _): return "missing"
    case (.added, _): return "added"
    case (_, .none): return ""
    case (_, .fullScale): return SentenceFormatting.size(difference.amount, .fullScale)
    default:
      return (difference.amount < 0 ? "−" : "+") + SentenceFormatting.size(difference.amount, difference.unit)
    }
  }

  private static func when(_ difference: Difference, hasMinutes: Bool) -> String {
    func place(_ seconds: Double) -> String {
      guard hasMinutes else { return number(seconds, places: 3) }
      let rest = number(seconds.truncatingRemainder(dividingBy: 60), places: 3)
      return "\(Int(seconds / 60)):\(rest.prefix { $0 != "." }.count < 2 ? "0" : "")\(rest)"
    }
    let unit = hasMinutes ? "min" : "s"
    if difference.isThroughout { return "throughout" }
    let (start, end) = (difference.range.lowerBound, difference.range.upperBound)
    if difference.kind == .time, let before = difference.before, let after = difference.after {
      return "\(place(before)) → \(place(after)) \(unit)"
    }
    guard end - start > 0.06 else { return "\(place(start)) \(unit)" }
    return "\(place(start)) – \(place(end)) \(unit)"
  }

  private static func number(_ value: Double, places: Int) -> String {
    SentenceFormatting.number(value, places: places)
  }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
