import HapticModel
import HapticRender

extension EventDifferences {
  /// Tells what comes earlier or later: the whole, all from an event on, or single events.
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
      return Change(
        event: event, partner: partner, before: event.time, after: partner.time, amount: shift)
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
          .time, in: range(changes.map(\.event)), amount: abs(low) > abs(high) ? low : high,
          unit: .seconds, referenceEvents: changes.map(\.event.index),
          otherEvents: changes.map(\.partner.index),
          sentence:
            "\(changes.count) of \(names.owner)'s \(match.other.count) events come \(words)."
        ))
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
        .time, in: range(group.map(\.event)), amount: first.amount, unit: .seconds,
        before: isOne ? first.before : nil, after: isOne ? first.after : nil,
        referenceEvents: group.map(\.event.index), otherEvents: group.map(\.partner.index),
        sentence: sentence))
  }

  /// Takes the events away that end the pattern and are all shifted alike, if they are several.
  private func takeTail(_ changes: inout [Change]) -> Difference? {
    guard let last = match.pairs.last, let shift = changes.last?.amount,
      changes.last?.event.index == match.reference[last.0].index
    else { return nil }
    var start = match.pairs.count
    while start > 0 {
      let pair = match.pairs[start - 1]
      guard abs(match.other[pair.1].time - match.reference[pair.0].time - shift) < 1e-5 else {
        break
      }
      start -= 1
    }
    let tail = match.pairs[start...]
    guard start > 0, tail.count > 1, let first = tail.first else { return nil }
    let indices = Set(tail.map { match.reference[$0.0].index })
    changes.removeAll { indices.contains($0.event.index) }
    let events = tail.map { match.reference[$0.0] }
    let from = match.other[first.1]
    return Difference(
      .time, in: range(events), amount: shift, unit: .seconds, before: events[0].time,
      after: from.time, referenceEvents: events.map(\.index),
      otherEvents: tail.map { match.other[$0.1].index },
      sentence:
        "From its \(names.name(from)) on, at \(SentenceFormatting.moment(from.time)), all of \(names.owner) "
        + "comes \(SentenceFormatting.shift(shift)).")
  }

  private mutating func addClock(_ clock: EventMatch.TimeMapping) {
    let events = match.reference.map(\.index)
    let others = match.other.map(\.index)
    if clock.pace != 1 {
      let percent = 100 * (clock.pace - 1)
      add(
        Difference(
          .tempo, in: whole, isThroughout: true, amount: percent, unit: .percent,
          referenceEvents: events, otherEvents: others,
          significance: abs(percent) / 2.5,
          sentence: "\(names.owner) runs \(SentenceFormatting.percent(percent)) "
            + "\(percent > 0 ? "slower" : "faster")."))
    }
    let first = match.other[0].time - match.reference[0].time
    if abs(first) > EventMatch.leastTime {
      add(
        Difference(
          .time, in: whole, isThroughout: true, amount: first, unit: .seconds,
          before: match.reference[0].time, after: match.other[0].time,
          referenceEvents: events, otherEvents: others,
          sentence: "\(names.owner) as a whole comes \(SentenceFormatting.shift(first))."))
    }
  }
}
