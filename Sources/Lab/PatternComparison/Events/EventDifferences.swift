internal import CMath
import HapticModel
import HapticRender

struct EventDifferences {
  private let match: EventMatch
  private let profile: TransducerProfile
  private let options: ComparisonOptions
  private let effectiveValues: EffectiveValues
  private(set) var differences: DifferenceList

  private struct Change {
    var event: IndexedEvent
    var candidateEvent: IndexedEvent
    var before: Double
    var after: Double
    var amount: Double
  }

  init(
    _ match: EventMatch, of reference: HapticComposition, profile: TransducerProfile,
    options: ComparisonOptions
  ) {
    effectiveValues = EffectiveValues(reference)
    self.match = match
    self.profile = profile
    self.options = options
    let start = match.reference.first?.time ?? match.candidate.first?.time ?? 0
    differences = DifferenceList(
      candidateNames: EventNames(match.candidate, owner: options.candidateLabel),
      referenceNames: EventNames(match.reference, owner: options.referenceLabel),
      overallRange: start...start)
    if !match.reference.isEmpty {
      differences.overallRange = soundingRange(of: match.reference)
    }
    findTimeShifts()
    if !findReordering() {
      for quality in Difference.Kind.eventParameterKinds {
        findChanges(of: quality)
      }
    }
    findWaveformChanges()
    findBodyLocationChanges()
    for kind in HapticEvent.Kind.allCases {
      addUnpairedEvents(
        .missing, match.missing.map { match.reference[$0] }.filter { $0.kind == kind })
      addUnpairedEvents(.added, match.added.map { match.candidate[$0] }.filter { $0.kind == kind })
    }
  }

  /// The time that some events take, a transient's burst counted.
  private func soundingRange(of events: [IndexedEvent]) -> ClosedRange<Double> {
    let start = events.map(\.time).min() ?? 0
    let ends = events.map { event in
      event.kind.isTransient
        ? event.time + profile.transient.seconds(atSharpness: event.value(.hapticSharpness))
        : event.end
    }
    return start...max(start, ends.max() ?? start)
  }

  private func difference(
    _ kind: Difference.Kind, _ changes: [Change], isOverall isThroughout: Bool = false,
    amount: Double,
    hasValues: Bool = false
  ) -> Difference {
    var difference = Difference(
      kind, in: soundingRange(of: changes.map(\.event)), isOverall: isThroughout, amount: amount,
      before: hasValues ? changes[0].before : nil, after: hasValues ? changes[0].after : nil,
      referenceEvents: changes.map(\.event.index),
      candidateEvents: changes.map(\.candidateEvent.index))
    let (low, high, _) = Self.extremes(changes)
    if changes.count > 1 {
      difference.spread = low...high
    }
    return difference
  }

  private var pairs: [(event: IndexedEvent, partner: IndexedEvent)] {
    match.pairs.map { (match.reference[$0.0], match.candidate[$0.1]) }
  }

  private func changes(of quality: Difference.Kind) -> (changes: [Change], all: Int) {
    var changes: [Change] = []
    var all: Int = 0
    for (event, partner) in pairs {
      guard let before = quality.value(of: event), let after = quality.value(of: partner) else {
        continue
      }
      all += 1
      // What remains of a decimal in single precision does not count; at another tempo, durations
      // scale with it.
      guard abs(after - before) > 1e-5,
        quality != .duration || abs(after - before * match.timeMapping.scale) >= 5e-4,
        let amount = effectiveValues.amount(of: quality, from: before, to: after, event, profile)
      else { continue }
      changes.append(
        Change(event: event, candidateEvent: partner, before: before, after: after, amount: amount))
    }
    return (changes, all)
  }

  private mutating func findChanges(of quality: Difference.Kind) {
    let (changes, all) = changes(of: quality)
    guard !changes.isEmpty else { return }
    let groups = Self.groupedByAmount(changes)
    guard groups.count <= 3 else {
      let (low, high, farthest) = Self.extremes(changes)
      let name =
        [.frequency: "sharpness", .duration: "length", .pan: "pan position"][quality]
        ?? quality.rawValue
      differences.add(
        difference(quality, changes, isOverall: changes.count == all, amount: farthest),
        sentence:
          "\(differences.candidateNames.owner)'s \(name) differs in \(changes.count) of \(all) events"
          + (quality.unit == .none
            ? "" : ", by \(SentenceFormatting.spread(from: low, to: high, unit: quality.unit))"))
      return
    }
    for group in groups {
      let first = group[0]
      // All haptic events, or all audio events, and nothing of the other bus sounds.
      let isWhole =
        group.count == all && all > 1
        && match.candidate.allSatisfy { $0.isHaptic == first.event.isHaptic }
      let isOneValue = group.allSatisfy {
        abs($0.before - first.before) < 1e-4 && abs($0.after - first.after) < 1e-4
          && $0.event.kind == first.event.kind
      }
      let detail =
        isOneValue
        ? quality.valueText(
          from: first.before, to: first.after, of: first.event.kind, profile: profile)
        : Self.formulaText(for: group, kind: quality)
      differences.add(
        difference(
          quality, group, isOverall: isWhole, amount: first.amount, hasValues: isOneValue),
        of: group.map(\.candidateEvent), detail: detail.map { ": " + $0 } ?? "")
    }
  }

  private static func extremes(_ changes: [Change]) -> (low: Double, high: Double, farthest: Double)
  {
    let amounts = changes.map(\.amount)
    let low = amounts.min() ?? 0
    let high = amounts.max() ?? 0
    return (low, high, abs(low) > abs(high) ? low : high)
  }

  /// Changes by the same amount, in order of time within; the greatest group first.
  private static func groupedByAmount(_ changes: [Change]) -> [[Change]] {
    let groups = changes.grouped(by: \.amount) { max(1e-4, 2e-3 * abs($0)) }
    return groups.map { $0.sorted { $0.candidateEvent.time < $1.candidateEvent.time } }.sorted {
      $0.count > $1.count
    }
  }

  /// What was done to all values alike: `intensity × 0.8`, `sharpness + 0.1`.
  private static func formulaText(for group: [Change], kind quality: Difference.Kind) -> String? {
    let first = group[0]
    guard quality == .level || quality == .frequency,
      group.allSatisfy({ $0.event.isHaptic == first.event.isHaptic })
    else { return nil }
    let name = quality.valueName(of: first.event.kind)
    let step = first.after - first.before
    if group.allSatisfy({ abs($0.after - $0.before - step) < 1e-4 }) {
      return "\(name) \(step < 0 ? "−" : "+") \(SentenceFormatting.number(abs(step), places: 3))"
    }
    let factor = first.after / first.before
    guard first.before > 0, group.allSatisfy({ abs($0.after - $0.before * factor) < 1e-4 }) else {
      return nil
    }
    return "\(name) × \(SentenceFormatting.number(factor, places: 3))"
  }

  private mutating func findTimeShifts() {
    if match.pairs.count > 1, match.timeMapping != EventMatch.TimeMapping() {
      addTempoAndDelay()
      return
    }
    var changes = pairs.compactMap { event, partner -> Change? in
      let shift = partner.time - event.time
      guard abs(shift) > EventMatch.minimumTimeDifference else { return nil }
      return Change(
        event: event, candidateEvent: partner, before: event.time, after: partner.time,
        amount: shift)
    }
    addShiftedTail(removingFrom: &changes)
    let groups = Self.groupedByAmount(changes)
    guard groups.count <= 5 else {
      let (low, high, farthest) = Self.extremes(changes)
      differences.add(
        difference(.time, changes, amount: farthest),
        sentence:
          "\(changes.count) of \(differences.candidateNames.owner)'s \(match.candidate.count) events come between "
          + "\(Difference.Kind.time.changeText(low)) and \(Difference.Kind.time.changeText(high))")
      return
    }
    for group in groups {
      differences.add(
        difference(.time, group, amount: group[0].amount, hasValues: group.count == 1),
        of: group.map(\.candidateEvent))
    }
  }

  /// Takes the events away that end the pattern and are all shifted alike, if they are several.
  private mutating func addShiftedTail(removingFrom changes: inout [Change]) {
    let pairs = pairs
    guard let shift = changes.last?.amount, changes.last?.event.index == pairs.last?.event.index
    else { return }
    let tail = pairs.reversed().prefix { abs($0.partner.time - $0.event.time - shift) < 1e-5 }
    guard tail.count < pairs.count, tail.count > 1, let from = tail.last?.partner else { return }
    let indices = Set(tail.map(\.event.index))
    let moved = changes.filter { indices.contains($0.event.index) }
    changes.removeAll { indices.contains($0.event.index) }
    let names = differences.candidateNames
    differences.add(
      difference(.time, moved, amount: shift, hasValues: true),
      sentence:
        """
        From its \(names.name(of: from)) on, at \(SentenceFormatting.time(from.time)), all of \
        \(names.owner) 
        """
          + "comes \(Difference.Kind.time.changeText(shift))")
  }

  private mutating func addTempoAndDelay() {
    let first = match.candidate[0].time - match.reference[0].time
    var whole = Difference(
      .tempo, in: differences.overallRange, isOverall: true,
      amount: 100 * (match.timeMapping.scale - 1),
      referenceEvents: match.reference.map(\.index), candidateEvents: match.candidate.map(\.index))
    if match.timeMapping.scale != 1 {
      // Without the delay where that is taken out.
      let base = options.alignment == .start ? first : 0
      let shifts = pairs.map { $0.partner.time - $0.event.time - base }
      whole.setMaximumShift(shifts.max { abs($0) < abs($1) } ?? 0)
      differences.add(whole)
    }
    guard abs(first) > EventMatch.minimumTimeDifference else { return }
    differences.add(
      Difference(
        .time, in: whole.range, isOverall: true, amount: first, before: match.reference[0].time,
        after: match.candidate[0].time, referenceEvents: whole.referenceEvents,
        candidateEvents: whole.candidateEvents))
  }

  private mutating func addUnpairedEvents(_ kind: Difference.Kind, _ events: [IndexedEvent]) {
    guard !events.isEmpty else { return }
    let indices = events.map(\.index)
    differences.add(
      Difference(
        kind, in: soundingRange(of: events),
        amount: events.map(peakDecibels).max() ?? JustNoticeableDifference.perceptionFloorDecibels,
        referenceEvents: kind == .missing ? indices : [],
        candidateEvents: kind == .missing ? [] : indices), of: events)
  }

  /// The level of an event's loudest moment in dBFS, no control counted.
  private func peakDecibels(of event: IndexedEvent) -> Double {
    let amplitude =
      event.isHaptic
      ? profile.frequencyAndLevel(of: event.kind).level
        * profile.intensity.amplitude(atIntensity: event.strength)
      : 0.5 * event.strength
    return amplitude > 1e-6 ? 20 * log10(amplitude) : -120
  }

  private mutating func findWaveformChanges() {
    for (event, partner) in pairs {
      guard let before = event.waveform, let after = partner.waveform, before != after else {
        continue
      }
      let subject = differences.candidateNames.subject(for: [partner])
      let sentence =
        if before.path != after.path {
          subject.withVerb("plays", plural: "play") + " \(after.path) instead of \(before.path)"
        } else if before.isLooping != after.isLooping {
          subject.withVerb(after.isLooping ? "repeats" : "no longer repeats", plural: "repeat")
        } else {
          subject.withVerb("is", plural: "are") + (after.usesVolumeEnvelope ? "" : " not")
            + " faded in and out"
        }
      differences.add(
        Difference(
          .waveform, in: soundingRange(of: [event]), referenceEvents: [event.index],
          candidateEvents: [partner.index]),
        sentence: sentence)
    }
  }

  private mutating func findBodyLocationChanges() {
    var moved:
      [(
        places: [HapticComposition.BodyLocation?], events: [IndexedEvent], partners: [IndexedEvent]
      )] = []
    for (event, partner) in pairs where event.bodyLocation != partner.bodyLocation {
      let places = [event.bodyLocation, partner.bodyLocation]
      let known = moved.firstIndex { $0.places == places }
      if known == nil {
        moved.append((places, [], []))
      }
      moved[known ?? moved.count - 1].events.append(event)
      moved[known ?? moved.count - 1].partners.append(partner)
    }
    for (places, events, partners) in moved {
      let names = places.map { $0.map { "at \($0.displayName)" } ?? "everywhere" }
      differences.add(
        Difference(
          .channels, in: soundingRange(of: events), referenceEvents: events.map(\.index),
          candidateEvents: partners.map(\.index)),
        sentence: differences.candidateNames.subject(for: partners).withVerb("is", plural: "are")
          + " felt \(names[1]) instead of \(names[0])")
    }
  }

  /// Reports events that are the same in another order; whether that explains all values.
  private mutating func findReordering() -> Bool {
    let events = match.reference
    let partners = match.candidate
    guard events.count > 1, events.count == partners.count, match.pairs.count == events.count,
      let kind = events.first?.kind, events.allSatisfy({ $0.kind == kind }),
      match.pairs.allSatisfy({ $0.0 == $0.1 })
    else { return false }
    let moved = events.indices.filter { !events[$0].isEquivalent(to: partners[$0]) }
    guard moved.count > 1, let first = moved.first, let last = moved.last else { return false }
    let isReversed = events.indices.allSatisfy {
      events[$0].isEquivalent(to: partners[events.count - 1 - $0])
    }
    let isSwapped =
      moved.count == 2 && events[first].isEquivalent(to: partners[last])
      && events[last].isEquivalent(to: partners[first])
    guard isReversed || isSwapped else { return false }
    let isWhole = isReversed && events.count > 2
    differences.add(
      Difference(
        .order, in: soundingRange(of: [events[first], events[last]]), isOverall: isWhole,
        referenceEvents: moved.map { events[$0].index },
        candidateEvents: moved.map { partners[$0].index }),
      sentence: "\(differences.candidateNames.owner)'s \(kind.displayNoun)s "
        + (isWhole
          ? "are in reverse order"
          : "\(partners[first].ordinal) and \(partners[last].ordinal) are swapped"))
    return true
  }
}

extension Array {
  /// Members whose values are near the least of their group, by rising value.
  func grouped(by value: (Element) -> Double, within tolerance: (Double) -> Double) -> [[Element]] {
    var groups: [[Element]] = []
    for member in sorted(by: { value($0) < value($1) }) {
      if let start = groups.last?.first.map(value), abs(value(member) - start) <= tolerance(start) {
        groups[groups.count - 1].append(member)
      } else {
        groups.append([member])
      }
    }
    return groups
  }
}

extension Difference.Kind {
  static let eventParameterKinds: [Self] = [
    .level, .frequency, .duration, .attack, .decay, .release, .sustain, .pan, .brightness,
  ]

  /// The parameter it is read from for a kind of event; nil for the duration.
  func parameter(of kind: HapticEvent.Kind) -> EventParameterID? {
    switch self {
    case .level: kind.isHaptic ? .hapticIntensity : .audioVolume
    case .frequency: kind.isHaptic ? .hapticSharpness : .audioPitch
    case .attack: .attackTime
    case .decay: .decayTime
    case .release: .releaseTime
    case .sustain: .sustained
    case .pan: .audioPan
    case .brightness: .audioBrightness
    default: nil
    }
  }

  func value(of event: IndexedEvent) -> Double? {
    if self == .duration { return event.duration }
    guard let id = parameter(of: event.kind), event.kind.responds(to: id) else { return nil }
    return event.value(id)
  }

  func valueName(of kind: HapticEvent.Kind) -> String {
    switch self {
    case .level: kind.isHaptic ? "intensity" : "volume"
    case .frequency: kind.isHaptic ? "sharpness" : "pitch"
    default: rawValue
    }
  }

  /// The values behind a difference: `intensity 0.71 instead of 0.75`; nil where there is nothing
  /// to add.
  func valueText(
    from before: Double, to after: Double, of kind: HapticEvent.Kind, profile: TransducerProfile
  ) -> String? {
    let written = SentenceFormatting.values(after, insteadOf: before)
    switch self {
    case .sustain:
      return nil
    case .duration:
      return written + " s"
    case .frequency where !kind.playsFile:
      let hertz = SentenceFormatting.frequencies(
        Self.hertz(after, of: kind, profile: profile),
        insteadOf: Self.hertz(before, of: kind, profile: profile))
      return "\(hertz) (\(valueName(of: kind)) \(written))"
    default:
      return "\(valueName(of: kind)) \(written)"
    }
  }

  func amount(
    from before: Double, to after: Double, of kind: HapticEvent.Kind, profile: TransducerProfile
  ) -> Double {
    switch self {
    case .level:
      guard kind.isHaptic else { return Self.decibels(from: before, to: after) }
      let law = profile.intensity
      return Self.decibels(
        from: law.amplitude(atIntensity: before), to: law.amplitude(atIntensity: after))
    case .frequency:
      return 100
        * (Self.hertz(after, of: kind, profile: profile)
          / Self.hertz(before, of: kind, profile: profile) - 1)
    case .attack, .decay, .release:
      return EnvelopeTimes.seconds(normalized: Float(after))
        - EnvelopeTimes.seconds(normalized: Float(before))
    case .pan, .brightness:
      return 100 * (after - before)
    default:
      return after - before
    }
  }

  /// The ratio of two amplitudes, with silence at −60 dB.
  private static func decibels(from before: Double, to after: Double) -> Double {
    if before == after { return 0 }
    guard after > 0 else { return -maximumDecibels }
    guard before > 0 else { return maximumDecibels }
    return min(max(20 * log10(after / before), -maximumDecibels), maximumDecibels)
  }

  /// The frequency of a sharpness or pitch; that of a sound file is its speed.
  static func hertz(_ value: Double, of kind: HapticEvent.Kind, profile: TransducerProfile)
    -> Double
  {
    if kind.isHaptic {
      return profile.frequencyAndLevel(of: kind).frequency.hertz(atSharpness: value)
    }
    // An octave to each side of twice the band's end, as the rendering model has it.
    return (kind.playsFile ? 1 : 2 * profile.frequency.high) * pow(2, value)
  }
}

/// What the controls of a composition make of the values of its events.
///
/// What is written can differ where what is played does not: intensity and sharpness end at 0 and 1
/// whatever a control adds.
struct EffectiveValues {
  private let timelines: [[DynamicParameterID: ControlTimeline]]

  init(_ composition: HapticComposition) {
    timelines = composition.layers.map { layer in
      var timelines: [DynamicParameterID: ControlTimeline] = [:]
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
        let timeline = ControlTimeline(of: id, in: layer.pattern)
        if timeline.isSet {
          timelines[id] = timeline
        }
      }
      return timelines
    }
  }

  /// How far two values of an event are apart as they are played, where that is most; nil where
  /// they sound the same.
  func amount(
    of quality: Difference.Kind, from before: Double, to after: Double, _ event: IndexedEvent,
    _ profile: TransducerProfile
  ) -> Double? {
    let written = quality.amount(from: before, to: after, of: event.kind, profile: profile)
    guard event.isHaptic, quality == .level || quality == .frequency,
      timelines.indices.contains(event.layer),
      let timeline = timelines[event.layer][
        quality == .level ? .hapticIntensityControl : .hapticSharpnessControl]
    else { return written }
    func played(_ value: Double, _ control: Double) -> Double {
      min(1, max(0, quality == .level ? value * control : value + control))
    }
    let start = max(0, event.time)
    let end = event.kind.isTransient ? start : max(start, event.end)
    var times = [start, end]
    // A segment ends where the next one begins, with a value of its own.
    for segment in timeline.segments where segment.start > start && segment.start < end {
      times += [segment.start, segment.start.nextDown]
    }
    let amounts = times.map { time in
      let control = timeline.value(at: time)
      return quality.amount(
        from: played(before, control), to: played(after, control), of: event.kind, profile: profile)
    }
    // What rounding leaves of equal values is nothing.
    guard let greatest = amounts.max(by: { abs($0) < abs($1) }), abs(greatest) > 1e-6 else {
      return nil
    }
    return abs(greatest - written) < 1e-6 * abs(written) ? written : greatest
  }
}
