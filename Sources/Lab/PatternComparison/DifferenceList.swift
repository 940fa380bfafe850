import HapticModel
import RecordingAnalysis

/// A list of differences, each described in a sentence.
struct DifferenceList {
  private(set) var differences: [Difference] = []
  let candidateNames: EventNames
  let referenceNames: EventNames
  /// The time range from the first to the last sound, in seconds of the reference.
  var overallRange: ClosedRange<Double>

  /// Adds a difference, described by the standard sentence for its kind.
  ///
  /// - Parameters:
  ///   - difference: The difference.
  ///   - events: The events that differ: those of the reference if they are missing, otherwise
  ///     those of the candidate. The array is empty for the whole take.
  ///   - detail: Text to append to the sentence.
  mutating func add(_ difference: Difference, of events: [IndexedEvent] = [], detail: String = "") {
    add(difference, sentence: sentence(for: difference, events: events) + detail)
  }

  /// Adds a difference between the whole takes.
  mutating func addOverall(_ kind: Difference.Kind, amount: Double = 0, after: Double? = nil) {
    add(
      Difference(
        kind, in: overallRange, isOverall: true, amount: amount,
        referenceValue: after.map { _ in 0 },
        candidateValue: after))
  }

  /// Adds a difference with a sentence.
  ///
  /// - Parameters:
  ///   - difference: The difference.
  ///   - sentence: The sentence, without a period.
  mutating func add(_ difference: Difference, sentence: String) {
    differences.append(difference)
    differences[differences.count - 1].sentence = sentence + "."
  }

  /// Adds a difference for background noise or hum that only one of the takes has.
  ///
  /// - Parameters:
  ///   - decibels: The level, in dBFS.
  ///   - hertz: The frequency of the hum, or nil for noise.
  ///   - isMains: Pass true for hum of the mains.
  ///   - isReference: Pass true if only the reference has the background.
  mutating func addBackgroundSound(
    decibels: Double, hertz: Double?, isMains: Bool = false, isReference: Bool = false
  ) {
    let hertzText = SentenceFormatting.number(hertz ?? 0, places: 0)
    let humDescription = isMains ? "mains hum (\(hertzText) Hz)" : "a \(hertzText) Hz hum"
    let backgroundDescription = hertz == nil ? "noise" : humDescription
    let levelText = SentenceFormatting.number(decibels, places: 0)
    let ownerLabel = isReference ? referenceNames.takeLabel : candidateNames.takeLabel
    let contrastClause = isReference ? "; \(candidateNames.takeLabel) does not" : ""
    add(
      Difference(
        .noise, in: overallRange, isOverall: true, amount: decibels,
        referenceValue: isReference ? hertz : nil,
        candidateValue: isReference ? nil : hertz),
      sentence: "\(ownerLabel) has \(backgroundDescription) at \(levelText) dBFS in the background"
        + contrastClause)
  }

  /// Returns the sentence for a difference.
  private func sentence(for difference: Difference, events: [IndexedEvent]) -> String {
    let candidateLabel = candidateNames.takeLabel
    let kind = difference.kind
    let amount = difference.amount
    switch kind {
    case .missing:
      return missingSentence(for: events)
    case .added:
      return addedSentence(for: events)
    case .polarity:
      return "\(candidateLabel)'s polarity is inverted"
    case .offset:
      let offset = SentenceFormatting.number(difference.candidateValue ?? 0, places: 4)
      return "\(candidateLabel) has a DC offset of \(offset) of full scale"
    case .time where difference.isOverall:
      return "\(candidateLabel) as a whole starts \(kind.changeText(amount))"
    case .time where events.count == 1:
      let eventName = candidateNames.possessiveName(of: events[0])
      let timeText = SentenceFormatting.time(events[0].timeSeconds)
      return "\(eventName) starts \(kind.changeText(amount)), at \(timeText)"
    default:
      let isRelative = difference.isOverall && kind != .tempo && kind != .spectrum
      let subject =
        difference.isOverall
        ? EventNames.Subject(text: candidateLabel) : candidateNames.subject(for: events)
      let predicate = kind.predicate(
        amount, isTransient: events.first?.kind.isTransient == true)
      let clause = subject.withVerb(predicate.singularVerb, plural: predicate.pluralVerb)
      return "\(clause) \(predicate.complement)" + (isRelative ? " throughout" : "")
    }
  }

  /// Returns the sentence for missing events or sounds of one kind.
  ///
  /// Events without an ordinal are listed by their times.
  private func missingSentence(for events: [IndexedEvent]) -> String {
    let firstEvent = events[0]
    let candidateLabel = candidateNames.takeLabel
    let referenceLabel = referenceNames.takeLabel
    let eventNoun = firstEvent.kind.displayNoun
    guard firstEvent.ordinalNumber > 0 else {
      let timeTexts = events.map { SentenceFormatting.number($0.timeSeconds, places: 3) }
      let missingEventsText = events.count == 1 ? "a \(eventNoun)" : "\(events.count) \(eventNoun)s"
      return
        "\(candidateLabel) is missing \(missingEventsText) of \(referenceLabel), "
        + "at \(timeTexts.joined(separator: ", ")) s"
    }
    if events.count == 1 {
      let eventName = referenceNames.possessiveName(of: firstEvent)
      return
        "\(candidateLabel) is missing \(eventName), "
        + "at \(SentenceFormatting.time(firstEvent.timeSeconds))"
    }
    let kindEventCount = referenceNames.count(of: firstEvent.kind)
    if events.count == kindEventCount {
      return "\(candidateLabel) is missing all \(kindEventCount) \(eventNoun)s of \(referenceLabel)"
    }
    return "\(candidateLabel) is missing \(referenceNames.subject(for: events).text)"
  }

  /// Returns the sentence for added events or sounds of one kind.
  private func addedSentence(for events: [IndexedEvent]) -> String {
    let eventNoun = events[0].kind.displayNoun
    let timeTexts = events.map { SentenceFormatting.number($0.timeSeconds, places: 3) }
    guard events.count > 1 else {
      return "\(candidateNames.takeLabel) has an extra \(eventNoun) at \(timeTexts[0]) s"
    }
    let lastTimeText = timeTexts[timeTexts.count - 1]
    let locationText =
      events.count <= 4
      ? "at \(timeTexts.dropLast().joined(separator: ", "))"
        + "\(timeTexts.count > 2 ? "," : "") and \(lastTimeText) s"
      : "between \(timeTexts[0]) and \(lastTimeText) s"
    return "\(candidateNames.takeLabel) has \(events.count) extra \(eventNoun)s, \(locationText)"
  }
}

/// The names of a take's events in sentences.
struct EventNames {
  /// The label of the take that contains the events.
  let takeLabel: String
  private let eventCountsByKind: [HapticEvent.Kind: Int]
  private let totalEventCount: Int

  /// The subject of a sentence.
  struct Subject {
    var text: String
    var isPlural = false

    /// Returns the subject with the matching form of a verb.
    func withVerb(_ singular: String, plural: String) -> String {
      "\(text) \(isPlural ? plural : singular)"
    }
  }

  init(_ events: [IndexedEvent], takeLabel owner: String) {
    self.takeLabel = owner
    totalEventCount = events.count
    eventCountsByKind = events.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  /// Returns the number of events of a kind.
  func count(of kind: HapticEvent.Kind) -> Int { eventCountsByKind[kind] ?? 0 }

  /// Returns the name of an event in sentences, such as `third transient` or `transient 13`.
  ///
  /// The name is `transient` if the event is the only one of its kind.
  func name(of event: IndexedEvent) -> String {
    let eventNoun = event.kind.displayNoun
    guard count(of: event.kind) > 1 else { return eventNoun }
    if let ordinalWord = SentenceFormatting.ordinalWord(event.ordinalNumber) {
      return "\(ordinalWord) \(eventNoun)"
    }
    return "\(eventNoun) \(event.ordinalNumber)"
  }

  /// Returns the name of an event with its take, such as `B's third transient`.
  func possessiveName(of event: IndexedEvent) -> String { "\(takeLabel)'s \(name(of: event))" }

  /// Returns the subject of a sentence about events.
  func subject(for events: [IndexedEvent]) -> Subject {
    guard let firstEvent = events.first else { return Subject(text: takeLabel) }
    if events.count == 1 {
      let location =
        count(of: firstEvent.kind) == 1
        ? "" : ", at \(SentenceFormatting.time(firstEvent.timeSeconds)),"
      return Subject(text: possessiveName(of: firstEvent) + location)
    }
    guard events.allSatisfy({ $0.kind == firstEvent.kind }) else {
      return Subject(
        text: "\(events.count) of \(takeLabel)'s \(totalEventCount) events", isPlural: true)
    }
    let kindEventCount = count(of: firstEvent.kind)
    let eventNoun = firstEvent.kind.displayNoun
    if events.count == kindEventCount {
      let quantifier = kindEventCount == 2 ? "Both" : "All \(kindEventCount)"
      return Subject(text: "\(quantifier) of \(takeLabel)'s \(eventNoun)s", isPlural: true)
    }
    let ordinalList = SentenceFormatting.list(events.map(\.ordinalNumber))
    if ordinalList.utf8.count > 24 {
      return Subject(
        text: "\(events.count) of \(takeLabel)'s \(kindEventCount) \(eventNoun)s", isPlural: true)
    }
    return Subject(text: "\(takeLabel)'s \(eventNoun)s \(ordinalList)", isPlural: true)
  }
}

extension HapticEvent.Kind {
  /// The noun for an event of this kind in sentences.
  var displayNoun: String { playsFile ? "sound" : noun }
}

extension Difference.Kind {
  /// The maximum magnitude of a stated level difference, in decibels.
  ///
  /// This value means that one of the levels is silence.
  static let maximumLevelDifferenceDecibels = 60.0

  /// Returns the comparative adjective for a change of this kind, such as `stronger`, or nil.
  ///
  /// For a tempo, the adjective describes the intervals.
  package func comparativeWord(isMore: Bool, isTransient: Bool = false) -> String? {
    switch self {
    case .level: isMore ? "stronger" : "weaker"
    case .time: isMore ? "later" : "earlier"
    case .frequency where isTransient: isMore ? "sharper" : "duller"
    case .frequency: isMore ? "higher" : "lower"
    case .tempo, .duration, .attack, .decay, .release, .length: isMore ? "longer" : "shorter"
    case .pan: "farther to the " + (isMore ? "right" : "left")
    case .brightness: isMore ? "brighter" : "darker"
    default: nil
    }
  }

  /// Returns the comparative adjective for the speed of a take.
  package static func speedWord(hasLongerIntervals: Bool) -> String {
    hasLongerIntervals ? "slower" : "faster"
  }

  /// Returns a change with its direction as text, such as `3.2 dB stronger`.
  ///
  /// Other examples are `8 ms later` and `11 % sharper`.
  func changeText(_ amount: Double, isTransient: Bool = false) -> String {
    if self == .level, abs(amount) >= Self.maximumLevelDifferenceDecibels {
      return amount < 0 ? "silent" : "no longer silent"
    }
    let comparativeText = comparativeWord(isMore: amount > 0, isTransient: isTransient) ?? ""
    return "\(SentenceFormatting.magnitude(amount, unit: unit)) \(comparativeText)"
  }

  /// The predicate of a sentence about the amount of a difference.
  fileprivate struct Predicate {
    var singularVerb: String
    var pluralVerb: String
    var complement: String

    init(_ singularVerb: String, _ pluralVerb: String, _ complement: String) {
      self.singularVerb = singularVerb
      self.pluralVerb = pluralVerb
      self.complement = complement
    }
  }

  /// Returns the predicate of a sentence about the amount of a difference of this kind.
  fileprivate func predicate(_ amount: Double, isTransient: Bool) -> Predicate {
    let isIncrease = amount > 0
    let durationText =
      SentenceFormatting.magnitude(amount, unit: .seconds) + (isIncrease ? " longer" : " less time")
    switch self {
    case .attack:
      return Predicate("takes", "take", durationText + " to rise")
    case .decay:
      return Predicate("takes", "take", durationText + " to decay")
    case .release:
      return Predicate("has", "have", "a \(changeText(amount)) release")
    case .sustain:
      return isIncrease
        ? Predicate("sustains", "sustain", "instead of decaying")
        : Predicate("decays", "decay", "instead of sustaining")
    case .spectrum:
      let residualText = SentenceFormatting.number(amount, places: 0)
      return Predicate("has", "have", "a different waveform (residual \(residualText) dB)")
    case .time:
      return Predicate("comes", "come", changeText(amount))
    case .tempo:
      // The amount compares intervals. The same change of speed is a different percentage.
      let speedWord = Self.speedWord(hasLongerIntervals: isIncrease)
      return Predicate("runs", "run", "\(speedWord): its intervals are \(changeText(amount))")
    default:
      return Predicate("is", "are", changeText(amount, isTransient: isTransient))
    }
  }
}
