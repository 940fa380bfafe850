internal import CMath
import HapticModel
import HapticRender

struct EventDifferences {
  private let match: EventMatch
  private let profile: TransducerProfile
  private let options: ComparisonOptions
  private let controls: PlayedValues
  private(set) var found: FoundDifferences

  private struct Change {
    var event: ListedEvent
    var partner: ListedEvent
    var before: Double
    var after: Double
    var amount: Double
  }

  init(_ match: EventMatch, of reference: HapticComposition, profile: TransducerProfile, options: ComparisonOptions) {
    controls = PlayedValues(reference)
    (self.match, self.profile, self.options) = (match, profile, options)
    let start = match.reference.first?.time ?? match.other.first?.time ?? 0
    found = FoundDifferences(
      names: EventNames(match.other, owner: options.otherLabel),
      referenceNames: EventNames(match.reference, owner: options.referenceLabel), whole: start...start)
    if !match.reference.isEmpty { found.whole = range(match.reference) }
    findTimes()
    if !findOrder() { for quality in Difference.Kind.ofEvents { findChanges(of: quality) } }
    findWaveforms()
    findPlaces()
    for kind in HapticEvent.Kind.allCases {
      addPresence(.missing, match.missing.map { match.reference[$0] }.filter { $0.kind == kind })
      addPresence(.added, match.added.map { match.other[$0] }.filter { $0.kind == kind })
    }
  }

  /// The time that some events take, a transient's burst counted.
  private func range(_ events: [ListedEvent]) -> ClosedRange<Double> {
    let start = events.map(\.time).min() ?? 0
    let ends = events.map { event in
      event.kind.isTransient
        ? event.time + profile.transient.seconds(atSharpness: event.value(.hapticSharpness)) : event.end
    }
    return start...max(start, ends.max() ?? start)
  }

  private func difference(
    _ kind: Difference.Kind, _ changes: [Change], isThroughout: Bool = false, amount: Double, hasValues: Bool = false
  ) -> Difference {
    var difference = Difference(
      kind, in: range(changes.map(\.event)), isThroughout: isThroughout, amount: amount,
      before: hasValues ? changes[0].before : nil, after: hasValues ? changes[0].after : nil,
      referenceEvents: changes.map(\.event.index), otherEvents: changes.map(\.partner.index))
    let (low, high, _) = Self.extremes(changes)
    if changes.count > 1 { difference.spread = low...high }
    return difference
  }

  private var pairs: [(event: ListedEvent, partner: ListedEvent)] {
    match.pairs.map { (match.reference[$0.0], match.other[$0.1]) }
  }

  private func changes(of quality: Difference.Kind) -> (changes: [Change], all: Int) {
    var (changes, all): ([Change], Int) = ([], 0)
    for (event, partner) in pairs {
      guard let before = quality.value(of: event), let after = quality.value(of: partner) else { continue }
      all += 1
      // What remains of a decimal in single precision does not count; at another tempo, durations scale with it.
      guard abs(after - before) > 1e-5, quality != .duration || abs(after - before * match.clock.scale) >= 5e-4,
        let amount = controls.amount(of: quality, from: before, to: after, event, profile)
      else { continue }
      changes.append(Change(event: event, partner: partner, before: before, after: after, amount: amount))
    }
    return (changes, all)
  }

  private mutating func findChanges(of quality: Difference.Kind) {
    let (changes, all) = changes(of: quality)
    guard !changes.isEmpty else { return }
    let groups = Self.groups(changes)
    guard groups.count <= 3 else {
      let (low, high, farthest) = Self.extremes(changes)
      let name = [.frequency: "sharpness", .duration: "length", .pan: "pan position"][quality] ?? quality.rawValue
      found.add(
        difference(quality, changes, isThroughout: changes.count == all, amount: farthest),
        saying: "\(found.names.owner)'s \(name) differs in \(changes.count) of \(all) events"
          + (quality.unit == .none ? "" : ", by \(SentenceFormatting.spread(low, high, quality.unit))"))
      return
    }
    for group in groups {
      let first = group[0]
      // All haptic events, or all audio events, and nothing of the other bus sounds.
      let isWhole = group.count == all && all > 1 && match.other.allSatisfy { $0.isHaptic == first.event.isHaptic }
      let isOneValue = group.allSatisfy {
        abs($0.before - first.before) < 1e-4 && abs($0.after - first.after) < 1e-4 && $0.event.kind == first.event.kind
      }
      let detail =
        isOneValue
        ? quality.values(first.before, first.after, of: first.event.kind, profile) : Self.rule(group, quality)
      found.add(
        difference(quality, group, isThroughout: isWhole, amount: first.amount, hasValues: isOneValue),
        of: group.map(\.partner), detail: detail.map { ": " + $0 } ?? "")
    }
  }

  private static func extremes(_ changes: [Change]) -> (low: Double, high: Double, farthest: Double) {
    let amounts = changes.map(\.amount)
    let (low, high) = (amounts.min() ?? 0, amounts.max() ?? 0)
    return (low, high, abs(low) > abs(high) ? low : high)
  }

  /// Changes by the same amount, in order of time within; the greatest group first.
  private static func groups(_ changes: [Change]) -> [[Change]] {
    let groups = changes.grouped(by: \.amount) { max(1e-4, 2e-3 * abs($0)) }
    return groups.map { $0.sorted { $0.partner.time < $1.partner.time } }.sorted { $0.count > $1.count }
  }

  /// What was done to all values alike: `intensity × 0.8`, `sharpness + 0.1`.
  private static func rule(_ group: [Change], _ quality: Difference.Kind) -> String? {
    let first = group[0]
    guard quality == .level || quality == .frequency, group.allSatisfy({ $0.event.isHaptic == first.event.isHaptic })
    else { return nil }
    let name = quality.valueName(of: first.event.kind)
    let step = first.after - first.before
    if group.allSatisfy({ abs($0.after - $0.before - step) < 1e-4 }) {
      return "\(name) \(step < 0 ? "−" : "+") \(SentenceFormatting.number(abs(step), places: 3))"
    }
    let factor = first.after / first.before
    guard first.before > 0, group.allSatisfy({ abs($0.after - $0.before * factor) < 1e-4 }) else { return nil }
    return "\(name) × \(SentenceFormatting.number(factor, places: 3))"
  }

  private mutating func findTimes() {
    if match.pairs.count > 1, match.clock != EventMatch.TimeMapping() {
      addClock()
      return
    }
    var changes = pairs.compactMap { event, partner -> Change? in
      let shift = partner.time - event.time
      guard abs(shift) > EventMatch.leastTime else { return nil }
      return Change(event: event, partner: partner, before: event.time, after: partner.time, amount: shift)
    }
    addTail(&changes)
    let groups = Self.groups(changes)
    guard groups.count <= 5 else {
      let (low, high, farthest) = Self.extremes(changes)
      found.add(
        difference(.time, changes, amount: farthest),
        saying: "\(changes.count) of \(found.names.owner)'s \(match.other.count) events come between "
          + "\(Difference.Kind.time.change(low)) and \(Difference.Kind.time.change(high))")
      return
    }
    for group in groups {
      found.add(
        difference(.time, group, amount: group[0].amount, hasValues: group.count == 1), of: group.map(\.partner))
    }
  }

  /// Takes the events away that end the pattern and are all shifted alike, if they are several.
  private mutating func addTail(_ changes: inout [Change]) {
    let pairs = pairs
    guard let shift = changes.last?.amount, changes.last?.event.index == pairs.last?.event.index else { return }
    let tail = pairs.reversed().prefix { abs($0.partner.time - $0.event.time - shift) < 1e-5 }
    guard tail.count < pairs.count, tail.count > 1, let from = tail.last?.partner else { return }
    let indices = Set(tail.map(\.event.index))
    let moved = changes.filter { indices.contains($0.event.index) }
    changes.removeAll { indices.contains($0.event.index) }
    let names = found.names
    found.add(
      difference(.time, moved, amount: shift, hasValues: true),
      saying: "From its \(names.name(from)) on, at \(SentenceFormatting.moment(from.time)), all of \(names.owner) "
        + "comes \(Difference.Kind.time.change(shift))")
  }

  private mutating func addClock() {
    let first = match.other[0].time - match.reference[0].time
    var whole = Difference(
      .tempo, in: found.whole, isThroughout: true, amount: 100 * (match.clock.scale - 1),
      referenceEvents: match.reference.map(\.index), otherEvents: match.other.map(\.index))
    if match.clock.scale != 1 {
      // Without the delay where that is taken out.
      let base = options.alignment == .start ? first : 0
      let shifts = pairs.map { $0.partner.time - $0.event.time - base }
      whole.setLargestShift(shifts.max { abs($0) < abs($1) } ?? 0)
      found.add(whole)
    }
    guard abs(first) > EventMatch.leastTime else { return }
    found.add(
      Difference(
        .time, in: whole.range, isThroughout: true, amount: first, before: match.reference[0].time,
        after: match.other[0].time, referenceEvents: whole.referenceEvents, otherEvents: whole.otherEvents))
  }

  private mutating func addPresence(_ kind: Difference.Kind, _ events: [ListedEvent]) {
    guard !events.isEmpty else { return }
    let indices = events.map(\.index)
    found.add(
      Difference(
        kind, in: range(events), amount: events.map(fullScale).max() ?? JustNoticeableDifference.floor,
        referenceEvents: kind == .missing ? indices : [], otherEvents: kind == .missing ? [] : indices), of: events)
  }

  /// The level of an event's loudest moment in dBFS, no control counted.
  private func fullScale(_ event: ListedEvent) -> Double {
    let amplitude =
      event.isHaptic
      ? profile.scale(of: event.kind).level * profile.intensity.amplitude(atIntensity: event.strength)
      : 0.5 * event.strength
    return amplitude > 1e-6 ? 20 * log10(amplitude) : -120
  }

  private mutating func findWaveforms() {
    for (event, partner) in pairs {
      guard let before = event.waveform, let after = partner.waveform, before != after else { continue }
      let subject = found.names.subject([partner])
      let sentence =
        if before.path != after.path {
          subject.verb("plays", "play") + " \(after.path) instead of \(before.path)"
        } else if before.isLooping != after.isLooping {
          subject.verb(after.isLooping ? "repeats" : "no longer repeats", "repeat")
        } else { subject.verb("is", "are") + (after.usesVolumeEnvelope ? "" : " not") + " faded in and out" }
      found.add(
        Difference(.waveform, in: range([event]), referenceEvents: [event.index], otherEvents: [partner.index]),
        saying: sentence)
    }
  }

  private mutating func findPlaces() {
    var moved: [(places: [HapticComposition.Place?], events: [ListedEvent], partners: [ListedEvent])] = []
    for (event, partner) in pairs where event.place != partner.place {
      let places = [event.place, partner.place]
      let known = moved.firstIndex { $0.places == places }
      if known == nil { moved.append((places, [], [])) }
      moved[known ?? moved.count - 1].events.append(event)
      moved[known ?? moved.count - 1].partners.append(partner)
    }
    for (places, events, partners) in moved {
      let names = places.map { $0.map { "at \($0.title)" } ?? "everywhere" }
      found.add(
        Difference(
          .channels, in: range(events), referenceEvents: events.map(\.index), otherEvents: partners.map(\.index)),
        saying: found.names.subject(partners).verb("is", "are") + " felt \(names[1]) instead of \(names[0])")
    }
  }

  /// Reports events that are the same in another order; whether that explains all values.
  private mutating func findOrder() -> Bool {
    let (events, partners) = (match.reference, match.other)
    guard events.count > 1, events.count == partners.count, match.pairs.count == events.count,
      let kind = events.first?.kind, events.allSatisfy({ $0.kind == kind }), match.pairs.allSatisfy({ $0.0 == $0.1 })
    else { return false }
    let moved = events.indices.filter { !events[$0].isLike(partners[$0]) }
    guard moved.count > 1, let first = moved.first, let last = moved.last else { return false }
    let isReversed = events.indices.allSatisfy { events[$0].isLike(partners[events.count - 1 - $0]) }
    let isSwapped = moved.count == 2 && events[first].isLike(partners[last]) && events[last].isLike(partners[first])
    guard isReversed || isSwapped else { return false }
    let isWhole = isReversed && events.count > 2
    found.add(
      Difference(
        .order, in: range([events[first], events[last]]), isThroughout: isWhole,
        referenceEvents: moved.map { events[$0].index }, otherEvents: moved.map { partners[$0].index }),
      saying: "\(found.names.owner)'s \(kind.word)s "
        + (isWhole ? "are in reverse order" : "\(partners[first].number) and \(partners[last].number) are swapped"))
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
  static let ofEvents: [Self] = [.level, .frequency, .duration, .attack, .decay, .release, .sustain, .pan, .brightness]

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

  func value(of event: ListedEvent) -> Double? {
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

  /// The values behind a difference: `intensity 0.71 instead of 0.75`; nil where there is nothing to add.
  func values(_ before: Double, _ after: Double, of kind: HapticEvent.Kind, _ profile: TransducerProfile) -> String? {
    let written = SentenceFormatting.value(after, insteadOf: before)
    switch self {
    case .sustain: return nil
    case .duration: return written + " s"
    case .frequency where !kind.playsFile:
      let hertz = SentenceFormatting.hertz(
        Self.hertz(after, of: kind, profile), insteadOf: Self.hertz(before, of: kind, profile))
      return "\(hertz) (\(valueName(of: kind)) \(written))"
    default: return "\(valueName(of: kind)) \(written)"
    }
  }

  func amount(_ before: Double, _ after: Double, of kind: HapticEvent.Kind, _ profile: TransducerProfile) -> Double {
    switch self {
    case .level:
      guard kind.isHaptic else { return Self.decibels(before, after) }
      let law = profile.intensity
      return Self.decibels(law.amplitude(atIntensity: before), law.amplitude(atIntensity: after))
    case .frequency: return 100 * (Self.hertz(after, of: kind, profile) / Self.hertz(before, of: kind, profile) - 1)
    case .attack, .decay, .release:
      return EnvelopeTimes.seconds(normalised: Float(after)) - EnvelopeTimes.seconds(normalised: Float(before))
    case .pan, .brightness: return 100 * (after - before)
    default: return after - before
    }
  }

  /// The ratio of two amplitudes, with silence at −60 dB.
  private static func decibels(_ before: Double, _ after: Double) -> Double {
    if before == after { return 0 }
    guard after > 0 else { return -greatestDecibels }
    guard before > 0 else { return greatestDecibels }
    return min(max(20 * log10(after / before), -greatestDecibels), greatestDecibels)
  }

  /// The frequency of a sharpness or pitch; that of a sound file is its speed.
  static func hertz(_ value: Double, of kind: HapticEvent.Kind, _ profile: TransducerProfile) -> Double {
    if kind.isHaptic { return profile.scale(of: kind).frequency.hertz(atSharpness: value) }
    // An octave to each side of twice the band's end, as the rendering model has it.
    return (kind.playsFile ? 1 : 2 * profile.frequency.high) * pow(2, value)
  }
}

/// What the controls of a composition make of the values of its events.
///
/// What is written can differ where what is played does not: intensity and sharpness end at 0 and 1
/// whatever a control adds.
struct PlayedValues {
  private let timelines: [[DynamicParameterID: ControlTimeline]]

  init(_ composition: HapticComposition) {
    timelines = composition.layers.map { layer in
      var timelines: [DynamicParameterID: ControlTimeline] = [:]
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
        let timeline = ControlTimeline(of: id, in: layer.pattern)
        if timeline.isMoving { timelines[id] = timeline }
      }
      return timelines
    }
  }

  /// How far two values of an event are apart as they are played, where that is most; nil where they
  /// sound the same.
  func amount(
    of quality: Difference.Kind, from before: Double, to after: Double, _ event: ListedEvent,
    _ profile: TransducerProfile
  ) -> Double? {
    let written = quality.amount(before, after, of: event.kind, profile)
    guard event.isHaptic, quality == .level || quality == .frequency, timelines.indices.contains(event.layer),
      let timeline = timelines[event.layer][quality == .level ? .hapticIntensityControl : .hapticSharpnessControl]
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
      return quality.amount(played(before, control), played(after, control), of: event.kind, profile)
    }
    // What rounding leaves of equal values is nothing.
    guard let greatest = amounts.max(by: { abs($0) < abs($1) }), abs(greatest) > 1e-6 else { return nil }
    return abs(greatest - written) < 1e-6 * abs(written) ? written : greatest
  }
}

struct ListedEvent {
  /// The index into the events of the composition, counted layer by layer.
  var index: Int
  var layer = 0
  var kind: HapticEvent.Kind
  /// Seconds from the start of the pattern.
  var time: Double
  /// Seconds until its release, or nil for a transient or a whole sound file.
  var duration: Double?
  /// The values the kind reacts to, in the order of `EventParameterID.allCases`; else 0.
  var values: [Double]
  var waveform: AudioWaveform?
  var place: HapticComposition.Place?
  /// Its number among its kind, from 1 on.
  var number = 0

  init(_ event: HapticEvent, index: Int) {
    self.index = index
    kind = event.kind
    time = event.time.isFinite ? event.time : 0
    duration = event.kind.isTransient ? nil : event.length
    values = EventParameterID.allCases.map { id in event.kind.responds(to: id) ? Double(event.value(of: id)) : 0 }
    waveform = event.kind.playsFile ? event.waveform : nil
  }

  /// A value; 0 where the kind does not react to it.
  func value(_ id: EventParameterID) -> Double { values[EventParameterID.allCases.firstIndex(of: id) ?? 0] }

  /// Seconds at which it ends, its release not counted.
  var end: Double { time + (duration ?? 0) }

  /// Seconds that it sounds behind its end; no burst of the shipped profiles is longer than 40 ms.
  var ring: Double {
    max(
      kind.isTransient ? 0.04 : EnvelopeTimes.seconds(normalised: Float(value(.releaseTime))),
      EnvelopeTimes.shortestEdge)
  }

  /// The strength, 0…1: intensity or volume.
  var strength: Double { isHaptic ? value(.hapticIntensity) : value(.audioVolume) }

  var isHaptic: Bool { kind.isHaptic }

  func isLike(_ other: ListedEvent) -> Bool {
    kind == other.kind && same(duration, other.duration) && zip(values, other.values).allSatisfy { abs($0 - $1) < 1e-6 }
      && waveform == other.waveform && place == other.place
  }

  private func same(_ a: Double?, _ b: Double?) -> Bool {
    guard let a, let b else { return (a == nil) == (b == nil) }
    return abs(a - b) < 1e-6
  }

  /// What pairing it with another costs: 0 for equals, 1 for what lies half a second apart.
  func cost(of other: ListedEvent) -> Double {
    guard kind == other.kind else { return .infinity }
    var difference = 0.0
    for (a, b) in zip(values, other.values) { difference += abs(a - b) }
    if let duration, let otherDuration = other.duration {
      difference += abs(duration - otherDuration) / max(duration, otherDuration, 1e-3)
    }
    if waveform != other.waveform { difference += 0.5 }
    if place != other.place { difference += 0.5 }
    return abs(time - other.time) / 0.5 + min(0.8, difference / 2)
  }

  /// The events of all layers by time, numbered among their kinds.
  static func list(_ composition: HapticComposition) -> [ListedEvent] {
    var events: [ListedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events {
        events.append(ListedEvent(event, index: events.count))
        events[events.count - 1].layer = layer
        if event.kind.isHaptic { events[events.count - 1].place = content.place }
      }
    }
    let order = Dictionary(uniqueKeysWithValues: zip(HapticEvent.Kind.allCases, 0...))
    events.sort { a, b in
      if a.time != b.time { return a.time < b.time }
      if a.kind != b.kind { return order[a.kind] ?? 0 < order[b.kind] ?? 0 }
      for (x, y) in zip(a.values, b.values) where x != y { return x < y }
      return (a.duration ?? 0, a.layer) < (b.duration ?? 0, b.layer)
    }
    var counts: [HapticEvent.Kind: Int] = [:]
    for index in events.indices {
      counts[events[index].kind, default: 0] += 1
      events[index].number = counts[events[index].kind] ?? 0
    }
    return events
  }
}

struct EventMatch {
  /// The reference's events by time.
  let reference: [ListedEvent]
  let other: [ListedEvent]
  /// Positions in `reference` and `other`, rising in the first.
  private(set) var pairs: [(Int, Int)] = []
  private(set) var missing: [Int] = []
  private(set) var added: [Int] = []
  /// How the other's times follow from the reference's, where all of them do.
  private(set) var clock = TimeMapping()

  /// Times of the other pattern as a line over those of the reference.
  struct TimeMapping: Equatable {
    /// Seconds of the other for each of the reference.
    var scale = 1.0
    /// Seconds the other is later at 0.
    var delay = 0.0

    func time(_ time: Double) -> Double { time * scale + delay }
  }

  /// The least difference of time that is one, in seconds: a frame at 96 kHz.
  static let leastTime = 1e-5

  /// Pairs the events: those that are alike first, the rest by what they cost; O(n log n) for many.
  init(_ reference: HapticComposition, _ other: HapticComposition) {
    self.reference = ListedEvent.list(reference)
    self.other = ListedEvent.list(other)
    if !pairAsAWhole() { pairOneByOne() }
    pairs.sort { $0.0 < $1.0 }
    let (paired, otherPaired) = (Set(pairs.map(\.0)), Set(pairs.map(\.1)))
    missing = self.reference.indices.filter { !paired.contains($0) }
    added = self.other.indices.filter { !otherPaired.contains($0) }
  }

  private mutating func pairAsAWhole() -> Bool {
    let count = reference.count
    guard count == other.count, count > 0, zip(reference, other).allSatisfy({ $0.kind == $1.kind }) else {
      return false
    }
    let (first, otherFirst) = (reference[0].time, other[0].time)
    var clock = TimeMapping(scale: 1, delay: otherFirst - first)
    let (span, otherSpan) = (reference[count - 1].time - first, other[count - 1].time - otherFirst)
    // Two events make any pace; three that agree make one.
    if count > 2, span > 0, abs(otherSpan - span) > Self.leastTime {
      clock = TimeMapping(scale: otherSpan / span, delay: otherFirst - first * (otherSpan / span))
    }
    let slack = clock.scale == 1 ? Self.leastTime : 5e-4
    guard zip(reference, other).allSatisfy({ abs($1.time - clock.time($0.time)) <= slack }) else { return false }
    // A few events far from where they were, and nothing like them: others, not the same later.
    let alike = zip(reference, other).count { $0.isLike($1) }
    guard abs(clock.delay) < 0.5 && abs(clock.scale - 1) < 0.5 || alike * 2 >= count else { return false }
    pairs = reference.indices.map { ($0, $0) }
    self.clock = clock
    return true
  }

  private mutating func pairOneByOne() {
    var (ends, start) = ((reference.count, other.count), 0)
    while start < min(ends.0, ends.1), same(reference[start], other[start], later: 0) {
      pairs.append((start, start))
      start += 1
    }
    var back: [(Int, Int)] = []
    if let last = reference.last, let otherLast = other.last {
      let delay = otherLast.time - last.time
      var tail = ends
      while tail.0 > start, tail.1 > start, same(reference[tail.0 - 1], other[tail.1 - 1], later: delay) {
        tail = (tail.0 - 1, tail.1 - 1)
        back.append(tail)
      }
      // A tail that comes later is one only when it explains all the rest of one side.
      if abs(delay) <= Self.leastTime || tail.0 == start || tail.1 == start {
        pairs += back
        ends = tail
      }
    }
    pairRest(Array(start..<ends.0), Array(start..<ends.1))
  }

  private func same(_ a: ListedEvent, _ b: ListedEvent, later: Double) -> Bool {
    abs(b.time - a.time - later) <= Self.leastTime && a.isLike(b)
  }

  private mutating func pairRest(_ rest: [Int], _ otherRest: [Int]) {
    for kind in HapticEvent.Kind.allCases {
      var mine = rest.filter { reference[$0].kind == kind }
      var theirs = otherRest.filter { other[$0].kind == kind }
      var places: [Key: [Int]] = [:]
      for index in theirs.reversed() { places[Key(other[index]), default: []].append(index) }
      var taken = Set<Int>()
      mine.removeAll { index in
        guard let partner = places[Key(reference[index])]?.popLast() else { return false }
        taken.insert(partner)
        pairs.append((index, partner))
        return true
      }
      theirs.removeAll { taken.contains($0) }
      let found = SequenceMatching.pairs(mine.map { reference[$0].time }, theirs.map { other[$0].time }) {
        reference[mine[$0]].cost(of: other[theirs[$1]])
      }
      pairs += found.map { (mine[$0], theirs[$1]) }
    }
  }

  private struct Key: Hashable {
    /// Time, duration and values.
    private let values: [Int64]
    private let path: String?

    init(_ event: ListedEvent) {
      values = ([event.time, event.duration ?? -1] + event.values).map { value in
        Int64((min(max(value, -1e9), 1e9) * 1e5).rounded())
      }
      path = event.waveform?.path
    }
  }
}

enum SequenceMatching {
  /// What leaving one member without a partner costs; a pair that costs more than two of it is not made.
  static let gapCost = 0.5
  /// The most cells of an exact search; longer sequences are paired by time alone, from the start on.
  static let longestSearch = 1 << 20
  /// The most seconds between two that are paired by their times alone.
  static let greatestDistance = 0.5

  /// Pairs of indices, rising in both, of members at rising times.
  ///
  /// Exact while the product of the counts stays below `longestSearch`, else in one pass: linear time.
  static func pairs(_ times: [Double], _ otherTimes: [Double], cost: (Int, Int) -> Double) -> [(Int, Int)] {
    guard !times.isEmpty, !otherTimes.isEmpty else { return [] }
    let (cells, overflow) = times.count.multipliedReportingOverflow(by: otherTimes.count)
    return overflow || cells > longestSearch
      ? passing(times, otherTimes) : searching(times.count, otherTimes.count, cost: cost)
  }

  private static func searching(_ count: Int, _ otherCount: Int, cost: (Int, Int) -> Double) -> [(Int, Int)] {
    enum Step: UInt8 { case pair, left, right }
    var steps = [Step](repeating: .left, count: (count + 1) * (otherCount + 1))
    let width = otherCount + 1
    var above = (0...otherCount).map { Double($0) * gapCost }
    for index in 1..<width { steps[index] = .right }
    for i in 1...count {
      var row = [Double](repeating: Double(i) * gapCost, count: width)
      for j in 1...otherCount {
        let (left, right) = (above[j] + gapCost, row[j - 1] + gapCost)
        let pair = above[j - 1] + cost(i - 1, j - 1)
        // Of equals the pair, so that as much as possible is a change.
        if pair <= left, pair <= right {
          row[j] = pair
          steps[i * width + j] = .pair
        } else {
          row[j] = min(left, right)
          steps[i * width + j] = left <= right ? .left : .right
        }
      }
      above = row
    }
    var pairs: [(Int, Int)] = []
    var (i, j) = (count, otherCount)
    while i > 0 || j > 0 {
      switch steps[i * width + j] {
      case .pair:
        i -= 1
        j -= 1
        pairs.append((i, j))
      case .left: i -= 1
      case .right: j -= 1
      }
    }
    return pairs.reversed()
  }

  /// Goes through both by their times alone: values that differ everywhere must not pull pairs apart.
  private static func passing(_ times: [Double], _ otherTimes: [Double]) -> [(Int, Int)] {
    func distance(_ i: Int, _ j: Int) -> Double {
      i < times.count && j < otherTimes.count ? abs(times[i] - otherTimes[j]) : .infinity
    }
    var pairs: [(Int, Int)] = []
    var (i, j) = (0, 0)
    while i < times.count, j < otherTimes.count {
      let here = distance(i, j)
      if here <= greatestDistance, here <= distance(i + 1, j), here <= distance(i, j + 1) {
        pairs.append((i, j))
        i += 1
        j += 1
      } else if times[i] <= otherTimes[j] {
        i += 1
      } else {
        j += 1
      }
    }
    return pairs
  }
}
