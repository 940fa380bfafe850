internal import CMath
import HapticModel
import HapticRender

/// What differs between the events of two patterns, each cause once.
struct EventDifferences {
  let match: EventMatch
  let profile: TransducerProfile
  private let options: ComparisonOptions
  private let controls: PlayedValues
  let names: EventNames
  let referenceNames: EventNames
  private(set) var found: [Difference] = []

  /// Values of one quality that are not the same in a pair of events.
  struct Change {
    var event: ListedEvent
    var partner: ListedEvent
    var before: Double
    var after: Double
    var amount: Double
  }

  /// - Parameter reference: The composition whose controls act on the events.
  init(_ match: EventMatch, of reference: HapticComposition, profile: TransducerProfile, options: ComparisonOptions) {
    controls = PlayedValues(reference)
    self.match = match
    self.profile = profile
    self.options = options
    names = EventNames(match.other, owner: options.otherLabel)
    referenceNames = EventNames(match.reference, owner: options.referenceLabel)
    findTimes()
    if !findOrder() { for attribute in EventAttribute.allCases { findChanges(of: attribute) } }
    findWaveforms()
    findPresence()
  }

  /// From the first to the last event of the reference.
  var whole: ClosedRange<Double> {
    let ends = match.reference.map(end)
    let start = match.reference.first?.time ?? match.other.first?.time ?? 0
    return start...max(start, ends.max() ?? start)
  }

  /// Seconds at which an event ends, a tap's burst counted.
  func end(_ event: ListedEvent) -> Double {
    guard event.kind.isTransient else { return event.end }
    return event.time + profile.transient.seconds(atSharpness: event.value(.hapticSharpness))
  }

  /// The time that some events take.
  func range(_ events: [ListedEvent]) -> ClosedRange<Double> {
    let start = events.map(\.time).min() ?? 0
    return start...max(start, events.map(end).max() ?? start)
  }

  mutating func add(_ difference: Difference) { found.append(difference) }

  /// All changes of a quality, in pairs of events that have it.
  private func changes(of attribute: EventAttribute) -> (changes: [Change], all: Int) {
    var changes: [Change] = []
    var all = 0
    for (index, otherIndex) in match.pairs {
      let event = match.reference[index]
      let partner = match.other[otherIndex]
      guard let before = attribute.value(of: event), let after = attribute.value(of: partner) else { continue }
      all += 1
      guard abs(after - before) > attribute.least else { continue }
      // At another tempo, durations scale with it.
      if attribute == .duration, abs(after - before * match.clock.scale) < 5e-4 { continue }
      guard let amount = controls.amount(of: attribute, from: before, to: after, event, layer: event.layer, profile)
      else { continue }
      changes.append(Change(event: event, partner: partner, before: before, after: after, amount: amount))
    }
    return (changes, all)
  }

  private mutating func findChanges(of attribute: EventAttribute) {
    let (changes, all) = changes(of: attribute)
    guard !changes.isEmpty else { return }
    let groups = Self.groups(changes)
    let words = EventSentence(attribute: attribute, profile: profile)
    guard groups.count <= 3 else {
      addSpread(changes, all, words)
      return
    }
    for group in groups {
      let events = group.map(\.event)
      let first = group[0]
      let isWhole = group.count == all && all > 1 && Self.isOneBus(group, match)
      let subject =
        isWhole ? EventNames.Subject(text: names.owner, isPlural: false) : names.subject(group.map(\.partner))
      var sentence = words.predicate(subject, kind: first.event.kind, amount: first.amount)
      let isOneValue = group.allSatisfy {
        abs($0.before - first.before) < 1e-4 && abs($0.after - first.after) < 1e-4 && $0.event.kind == first.event.kind
      }
      if isWhole { sentence += " throughout" }
      if isOneValue {
        let values = words.values(first.before, first.after, kind: first.event.kind)
        if !values.isEmpty { sentence += ": " + values }
      } else if let rule = Self.rule(group, attribute) {
        sentence += ": " + rule
      }
      add(
        Difference(
          attribute.kind, in: range(events), isThroughout: isWhole, amount: first.amount, unit: attribute.unit,
          before: isOneValue ? first.before : nil, after: isOneValue ? first.after : nil,
          referenceEvents: events.map(\.index), otherEvents: group.map(\.partner.index), sentence: sentence + "."))
    }
  }

  private mutating func addSpread(_ changes: [Change], _ all: Int, _ words: EventSentence) {
    let low = changes.map(\.amount).min() ?? 0
    let high = changes.map(\.amount).max() ?? 0
    add(
      Difference(
        words.attribute.kind, in: range(changes.map(\.event)), isThroughout: changes.count == all,
        amount: abs(low) > abs(high) ? low : high, unit: words.attribute.unit,
        referenceEvents: changes.map(\.event.index), otherEvents: changes.map(\.partner.index),
        sentence: words.spread(owner: names.owner, count: changes.count, of: all, from: low, to: high)))
  }

  /// Changes by the same amount, in order of time within; the greatest group first.
  static func groups(_ changes: [Change]) -> [[Change]] {
    var groups: [[Change]] = []
    for change in changes.sorted(by: { $0.amount < $1.amount }) {
      if let start = groups.last?.first?.amount, abs(change.amount - start) <= max(1e-4, 2e-3 * abs(start)) {
        groups[groups.count - 1].append(change)
      } else {
        groups.append([change])
      }
    }
    for index in groups.indices { groups[index].sort { $0.partner.time < $1.partner.time } }
    return groups.sorted { $0.count > $1.count }
  }

  /// Whether all haptic events, or all audio events, are there and nothing of the other bus sounds.
  private static func isOneBus(_ group: [Change], _ match: EventMatch) -> Bool {
    let isHaptic = group[0].event.isHaptic
    return match.other.allSatisfy { $0.isHaptic == isHaptic }
  }

  /// What was done to all values alike: `intensity × 0.8`, `sharpness + 0.1`.
  private static func rule(_ group: [Change], _ attribute: EventAttribute) -> String? {
    let first = group[0]
    let name: String
    switch attribute {
    case .level: name = first.event.isHaptic ? "intensity" : "volume"
    case .frequency: name = first.event.isHaptic ? "sharpness" : "pitch"
    default: return nil
    }
    guard group.allSatisfy({ $0.event.isHaptic == first.event.isHaptic }) else { return nil }
    let step = first.after - first.before
    if group.allSatisfy({ abs($0.after - $0.before - step) < 1e-4 }) {
      return "\(name) \(step < 0 ? "−" : "+") \(SentenceFormatting.number(abs(step), places: 3))"
    }
    guard first.before > 0 else { return nil }
    let factor = first.after / first.before
    guard group.allSatisfy({ abs($0.after - $0.before * factor) < 1e-4 }) else { return nil }
    return "\(name) × \(SentenceFormatting.number(factor, places: 3))"
  }

  /// Reports what comes earlier or later: the whole, all from an event on, or single events.
  mutating func findTimes() {
    let clock = match.clock
    if match.pairs.count > 1, clock != EventMatch.TimeMapping() {
      addClock(clock)
      return
    }
    var changes = match.pairs.compactMap { index, otherIndex -> Change? in
      let event = match.reference[index]
      let partner = match.other[otherIndex]
      let shift = partner.time - event.time
      guard abs(shift) > EventMatch.leastTime else { return nil }
      return Change(event: event, partner: partner, before: event.time, after: partner.time, amount: shift)
    }
    if let tail = takeTail(&changes) { add(tail) }
    let groups = Self.groups(changes)
    guard groups.count <= 5 else {
      let low = changes.map(\.amount).min() ?? 0
      let high = changes.map(\.amount).max() ?? 0
      let words =
        "between \(SentenceFormatting.span(low)) \(low < 0 ? "earlier" : "later") and "
        + "\(SentenceFormatting.span(high)) \(high < 0 ? "earlier" : "later")"
      add(
        Difference(
          .time, in: range(changes.map(\.event)), amount: abs(low) > abs(high) ? low : high, unit: .seconds,
          referenceEvents: changes.map(\.event.index), otherEvents: changes.map(\.partner.index),
          sentence: "\(changes.count) of \(names.owner)'s \(match.other.count) events come \(words)."))
      return
    }
    for group in groups { addShift(group) }
  }

  private mutating func addShift(_ group: [Change]) {
    let first = group[0]
    let shift = SentenceFormatting.shift(first.amount)
    let isOne = group.count == 1
    let sentence =
      isOne
      ? "\(names.short(first.partner)) comes \(shift), at \(SentenceFormatting.moment(first.after))."
      : "\(names.subject(group.map(\.partner)).verb("comes", "come")) \(shift)."
    add(
      Difference(
        .time, in: range(group.map(\.event)), amount: first.amount, unit: .seconds, before: isOne ? first.before : nil,
        after: isOne ? first.after : nil, referenceEvents: group.map(\.event.index),
        otherEvents: group.map(\.partner.index), sentence: sentence))
  }

  /// Takes the events away that end the pattern and are all shifted alike, if they are several.
  private func takeTail(_ changes: inout [Change]) -> Difference? {
    guard let last = match.pairs.last, let shift = changes.last?.amount,
      changes.last?.event.index == match.reference[last.0].index
    else { return nil }
    var start = match.pairs.count
    while start > 0 {
      let pair = match.pairs[start - 1]
      guard abs(match.other[pair.1].time - match.reference[pair.0].time - shift) < 1e-5 else { break }
      start -= 1
    }
    let tail = match.pairs[start...]
    guard start > 0, tail.count > 1, let first = tail.first else { return nil }
    let indices = Set(tail.map { match.reference[$0.0].index })
    changes.removeAll { indices.contains($0.event.index) }
    let events = tail.map { match.reference[$0.0] }
    let from = match.other[first.1]
    return Difference(
      .time, in: range(events), amount: shift, unit: .seconds, before: events[0].time, after: from.time,
      referenceEvents: events.map(\.index), otherEvents: tail.map { match.other[$0.1].index },
      sentence: "From its \(names.name(from)) on, at \(SentenceFormatting.moment(from.time)), all of \(names.owner) "
        + "comes \(SentenceFormatting.shift(shift)).")
  }

  private mutating func addClock(_ clock: EventMatch.TimeMapping) {
    let events = match.reference.map(\.index)
    let others = match.other.map(\.index)
    if clock.scale != 1 {
      let percent = 100 * (clock.scale - 1)
      let shift = largestShift()
      var difference = Difference(
        .tempo, in: whole, isThroughout: true, amount: percent, unit: .percent, referenceEvents: events,
        otherEvents: others, significance: JustNoticeableDifference.tempo(percent: percent, shift: shift),
        sentence: "\(names.owner) runs \(SentenceFormatting.percent(percent)) "
          + "\(percent > 0 ? "slower" : "faster").")
      difference.largestShift = shift
      add(difference)
    }
    let first = match.other[0].time - match.reference[0].time
    if abs(first) > EventMatch.leastTime {
      add(
        Difference(
          .time, in: whole, isThroughout: true, amount: first, unit: .seconds, before: match.reference[0].time,
          after: match.other[0].time, referenceEvents: events, otherEvents: others,
          sentence: "\(names.owner) as a whole comes \(SentenceFormatting.shift(first))."))
    }
  }

  /// Seconds by which the event is moved that is moved most, without the delay where that is taken out.
  private func largestShift() -> Double {
    let first = match.other[0].time - match.reference[0].time
    let base = options.alignment == .start ? first : 0
    return match.pairs.map { match.other[$0.1].time - match.reference[$0.0].time - base }.max { abs($0) < abs($1) } ?? 0
  }
}
