internal import CMath
import HapticModel
import HapticRender

extension EventDifferences {
  /// Tells which events are missing and which are added.
  mutating func findPresence() {
    let words = PresenceSentence(names: names, referenceNames: referenceNames)
    for kind in HapticEvent.Kind.allCases {
      let missing = match.missing.map { match.reference[$0] }.filter { $0.kind == kind }
      let added = match.added.map { match.other[$0] }.filter { $0.kind == kind }
      if !missing.isEmpty { addPresence(.missing, missing, words.missing(missing)) }
      if !added.isEmpty { addPresence(.added, added, words.added(added)) }
    }
  }

  private mutating func addPresence(_ kind: Difference.Kind, _ events: [ListedEvent], _ sentence: String) {
    let isMissing = kind == .missing
    add(
      Difference(
        kind, in: range(events), amount: events.map(fullScale).max() ?? JustNoticeableDifference.floor,
        unit: .fullScale, referenceEvents: isMissing ? events.map(\.index) : [],
        otherEvents: isMissing ? [] : events.map(\.index), sentence: sentence))
  }

  /// The level of an event's loudest moment in dBFS, no control counted.
  private func fullScale(_ event: ListedEvent) -> Double {
    let amplitude =
      event.isHaptic
      ? profile.scale(of: event.kind).level * profile.intensity.amplitude(atIntensity: event.strength)
      : 0.5 * event.strength
    return amplitude > 1e-6 ? 20 * log10(amplitude) : -120
  }

  /// Tells which sound files are others or play otherwise.
  mutating func findWaveforms() {
    for (index, otherIndex) in match.pairs {
      let event = match.reference[index]
      let partner = match.other[otherIndex]
      guard let before = event.waveform, let after = partner.waveform, before != after else { continue }
      let subject = names.subject([partner])
      let sentence =
        if before.path != after.path {
          subject.verb("plays", "play") + " \(after.path) instead of \(before.path)."
        } else if before.isLooping != after.isLooping {
          subject.verb(after.isLooping ? "repeats" : "no longer repeats", "repeat") + "."
        } else { subject.verb("is", "are") + (after.usesVolumeEnvelope ? "" : " not") + " faded in and out." }
      add(
        Difference(
          .waveform, in: range([event]), amount: 0, unit: .none, referenceEvents: [event.index],
          otherEvents: [partner.index], sentence: sentence))
    }
  }

  /// Reports events that are the same in another order: reversed, or two that changed places.
  ///
  /// - Returns: Whether that explains all values.
  mutating func findOrder() -> Bool {
    let events = match.reference
    let partners = match.other
    guard events.count > 1, events.count == partners.count, match.pairs.count == events.count,
      let kind = events.first?.kind, events.allSatisfy({ $0.kind == kind }), match.pairs.allSatisfy({ $0.0 == $0.1 })
    else { return false }
    let moved = events.indices.filter { !events[$0].isLike(partners[$0]) }
    guard moved.count > 1, let first = moved.first, let last = moved.last else { return false }
    let isReversed = events.indices.allSatisfy { events[$0].isLike(partners[events.count - 1 - $0]) }
    let isSwapped = moved.count == 2 && events[first].isLike(partners[last]) && events[last].isLike(partners[first])
    guard isReversed || isSwapped else { return false }
    let isWhole = isReversed && events.count > 2
    let sentence =
      isWhole
      ? "\(names.owner)'s \(kind.word)s are in reverse order."
      : "\(names.owner)'s \(kind.word)s \(partners[first].number) and \(partners[last].number) " + "are swapped."
    add(
      Difference(
        .order, in: range([events[first], events[last]]), isThroughout: isWhole, amount: 0, unit: .none,
        referenceEvents: moved.map { events[$0].index }, otherEvents: moved.map { partners[$0].index },
        sentence: sentence))
    return true
  }
}

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
      return "\(names.owner) lacks \(referenceNames.short(first)), at \(SentenceFormatting.moment(first.time))."
    }
    if events.count == all { return "\(names.owner) has none of \(reference)'s \(all) \(word)s." }
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
