import HapticModel

/// What is said of what is missing and what is added.
struct PresenceSentence {
  /// What the other take's events are called.
  let names: EventNames
  /// What the reference's events are called.
  let referenceNames: EventNames

  /// What is said of events, or sounds, of one kind that are not there.
  func missing(_ events: [ListedEvent]) -> String {
    let first = events[0]
    let word = first.kind.word
    let all = referenceNames.count(first.kind)
    let reference = referenceNames.owner
    if events.count == 1 {
      return
        "\(names.owner) lacks \(referenceNames.short(first)), at \(SentenceFormatting.moment(first.time))."
    }
    if events.count == all {
      return "\(names.owner) has none of \(reference)'s \(all) \(word)s."
    }
    let list = SentenceFormatting.list(events.map(\.number))
    guard list.utf8.count <= 24 else {
      return "\(names.owner) lacks \(events.count) of \(reference)'s \(all) \(word)s."
    }
    return "\(names.owner) lacks \(reference)'s \(word)s \(list)."
  }

  /// What is said of events, or sounds, of one kind that the reference has not.
  func added(_ events: [ListedEvent]) -> String {
    let word = events[0].kind.word
    if events.count == 1 {
      return "\(names.owner) has an extra \(word) at \(SentenceFormatting.moment(events[0].time))."
    }
    let times = events.map { SentenceFormatting.number($0.time, places: 3) }
    let places =
      events.count <= 4
      ? "at \(times.dropLast().joined(separator: ", ")) and \(times.last ?? "") s"
      : "between \(times[0]) and \(times.last ?? "") s"
    return "\(names.owner) has \(events.count) extra \(word)s, \(places)."
  }
}
