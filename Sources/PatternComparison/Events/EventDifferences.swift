internal import Glibc
import HapticModel
import HapticRender

/// What differs between the events of two patterns, each cause told once.
struct EventDifferences {
  let match: EventMatch
  let profile: TransducerProfile
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

  init(_ match: EventMatch, profile: TransducerProfile, options: ComparisonOptions) {
    self.match = match
    self.profile = profile
    names = EventNames(match.other, owner: options.otherLabel)
    referenceNames = EventNames(match.reference, owner: options.referenceLabel)
    findTimes()
    if !findOrder() {
      for quality in EventAttribute.allCases { findChanges(of: quality) }
    }
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
    guard event.kind == .hapticTransient else { return event.end }
    return event.time + profile.transient.seconds(atSharpness: event.value(.hapticSharpness))
  }

  /// The stretch of time that some events take.
  func range(_ events: [ListedEvent]) -> ClosedRange<Double> {
    let start = events.map(\.time).min() ?? 0
    return start...max(start, events.map(end).max() ?? start)
  }

  mutating func add(_ difference: Difference) { found.append(difference) }

  /// All changes of a quality, in pairs of events that have it.
  private func changes(of quality: EventAttribute) -> (changes: [Change], all: Int) {
    var changes: [Change] = []
    var all = 0
    for (index, otherIndex) in match.pairs {
      let event = match.reference[index]
      let partner = match.other[otherIndex]
      guard let before = quality.value(of: event), let after = quality.value(of: partner) else {
        continue
      }
      all += 1
      guard abs(after - before) > quality.least else { continue }
      // What goes at another pace lasts accordingly.
      if quality == .duration, abs(after - before * match.clock.pace) < 5e-4 { continue }
      let amount = quality.amount(before, after, of: event.kind, profile)
      changes.append(
        Change(event: event, partner: partner, before: before, after: after, amount: amount))
    }
    return (changes, all)
  }

  private mutating func findChanges(of quality: EventAttribute) {
    let (changes, all) = changes(of: quality)
    guard !changes.isEmpty else { return }
    let groups = Self.groups(changes)
    let words = EventSentence(quality: quality, profile: profile)
    guard groups.count <= 3 else {
      addSpread(changes, all, words)
      return
    }
    for group in groups {
      let events = group.map(\.event)
      let first = group[0]
      let isWhole = group.count == all && all > 1 && Self.isOneBus(group, match)
      let subject =
        isWhole
        ? EventNames.Subject(text: names.owner, isPlural: false)
        : names.subject(group.map(\.partner))
      var sentence = words.predicate(subject, kind: first.event.kind, amount: first.amount)
      let isOneValue = group.allSatisfy {
        abs($0.before - first.before) < 1e-4 && abs($0.after - first.after) < 1e-4
          && $0.event.kind == first.event.kind
      }
      if isWhole { sentence += " throughout" }
      if isOneValue {
        let values = words.values(first.before, first.after, kind: first.event.kind)
        if !values.isEmpty { sentence += ": " + values }
      } else if let rule = Self.rule(group, quality) {
        sentence += ": " + rule
      }
      add(
        Difference(
          quality.kind, in: range(events), isThroughout: isWhole, amount: first.amount,
          unit: quality.unit, before: isOneValue ? first.before : nil,
          after: isOneValue ? first.after : nil, referenceEvents: events.map(\.index),
          otherEvents: group.map(\.partner.index), sentence: sentence + "."))
    }
  }

  private mutating func addSpread(_ changes: [Change], _ all: Int, _ words: EventSentence) {
    let low = changes.map(\.amount).min() ?? 0
    let high = changes.map(\.amount).max() ?? 0
    add(
      Difference(
        words.quality.kind, in: range(changes.map(\.event)), isThroughout: changes.count == all,
        amount: abs(low) > abs(high) ? low : high, unit: words.quality.unit,
        referenceEvents: changes.map(\.event.index), otherEvents: changes.map(\.partner.index),
        sentence: words.spread(
          owner: names.owner, count: changes.count, of: all, from: low, to: high)))
  }

  /// Changes by the same amount, in order of time within; the greatest group first.
  static func groups(_ changes: [Change]) -> [[Change]] {
    var groups: [[Change]] = []
    for change in changes.sorted(by: { $0.amount < $1.amount }) {
      if let start = groups.last?.first?.amount,
        abs(change.amount - start) <= max(1e-4, 2e-3 * abs(start))
      {
        groups[groups.count - 1].append(change)
      } else {
        groups.append([change])
      }
    }
    for index in groups.indices {
      groups[index].sort { $0.partner.time < $1.partner.time }
    }
    return groups.sorted { $0.count > $1.count }
  }

  /// Whether all haptic events, or all audio events, are there and nothing of the other bus sounds.
  private static func isOneBus(_ group: [Change], _ match: EventMatch) -> Bool {
    let isHaptic = group[0].event.isHaptic
    return match.other.allSatisfy { $0.isHaptic == isHaptic }
  }

  /// What was done to all values alike: `intensity × 0.8`, `sharpness + 0.1`.
  private static func rule(_ group: [Change], _ quality: EventAttribute) -> String? {
    let first = group[0]
    let name: String
    switch quality {
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
}
