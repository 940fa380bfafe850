import HapticModel
import RecordingAnalysis

/// A list of differences, each described in a sentence.
struct DifferenceList {
  private(set) var differences: [Difference] = []
  let candidateNames: EventNames
  let referenceNames: EventNames
  /// The time range of the whole take, from the first to the last sound, in seconds of the
  /// reference.
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
        kind, in: overallRange, isOverall: true, amount: amount, before: after.map { _ in 0 },
        after: after))
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
  mutating func addBackground(
    decibels: Double, hertz: Double?, isMains: Bool = false, isReference: Bool = false
  ) {
    let number = SentenceFormatting.number(hertz ?? 0, places: 0)
    let hum = isMains ? "mains hum (\(number) Hz)" : "a \(number) Hz hum"
    let description = hertz == nil ? "noise" : hum
    let level = SentenceFormatting.number(decibels, places: 0)
    let owner = isReference ? referenceNames.takeLabel : candidateNames.takeLabel
    let contrast = isReference ? "; \(candidateNames.takeLabel) does not" : ""
    add(
      Difference(
        .noise, in: overallRange, isOverall: true, amount: decibels,
        before: isReference ? hertz : nil,
        after: isReference ? nil : hertz),
      sentence: "\(owner) has \(description) at \(level) dBFS in the background" + contrast)
  }

  /// Returns the sentence for a difference.
  private func sentence(for difference: Difference, events: [IndexedEvent]) -> String {
    let owner = candidateNames.takeLabel
    let kind = difference.kind
    let amount = difference.amount
    switch kind {
    case .missing:
      return missingSentence(for: events)
    case .added:
      return addedSentence(for: events)
    case .polarity:
      return "\(owner)'s polarity is inverted"
    case .offset:
      let offset = SentenceFormatting.number(difference.after ?? 0, places: 4)
      return "\(owner) has a DC offset of \(offset) of full scale"
    case .time where difference.isOverall:
      return "\(owner) as a whole starts \(kind.changeText(amount))"
    case .time where events.count == 1:
      let name = candidateNames.possessiveName(of: events[0])
      let time = SentenceFormatting.time(events[0].timeSeconds)
      return "\(name) starts \(kind.changeText(amount)), at \(time)"
    default:
      let isRelative = difference.isOverall && kind != .tempo && kind != .spectrum
      let subject =
        difference.isOverall ? EventNames.Subject(text: owner) : candidateNames.subject(for: events)
      let predicate = kind.predicate(
        amount, isTransient: events.first?.kind.isTransient == true)
      let clause = subject.withVerb(predicate.singularVerb, plural: predicate.pluralVerb)
      return "\(clause) \(predicate.complement)" + (isRelative ? " throughout" : "")
    }
  }

  /// Returns the sentence for missing events or sounds of one kind. Events without an ordinal are
  /// listed by their times.
  private func missingSentence(for events: [IndexedEvent]) -> String {
    let first = events[0]
    let owner = candidateNames.takeLabel
    let reference = referenceNames.takeLabel
    let noun = first.kind.displayNoun
    guard first.ordinalNumber > 0 else {
      let times = events.map { SentenceFormatting.number($0.timeSeconds, places: 3) }
      let subject = events.count == 1 ? "a \(noun)" : "\(events.count) \(noun)s"
      return "\(owner) is missing \(subject) of \(reference), at \(times.joined(separator: ", ")) s"
    }
    if events.count == 1 {
      let name = referenceNames.possessiveName(of: first)
      return "\(owner) is missing \(name), at \(SentenceFormatting.time(first.timeSeconds))"
    }
    let count = referenceNames.count(of: first.kind)
    if events.count == count {
      return "\(owner) is missing all \(count) \(noun)s of \(reference)"
    }
    return "\(owner) is missing \(referenceNames.subject(for: events).text)"
  }

  /// Returns the sentence for added events or sounds of one kind.
  private func addedSentence(for events: [IndexedEvent]) -> String {
    let noun = events[0].kind.displayNoun
    let times = events.map { SentenceFormatting.number($0.timeSeconds, places: 3) }
    guard events.count > 1 else {
      return "\(candidateNames.takeLabel) has an extra \(noun) at \(times[0]) s"
    }
    let last = times[times.count - 1]
    let location =
      events.count <= 4
      ? "at \(times.dropLast().joined(separator: ", "))\(times.count > 2 ? "," : "") and \(last) s"
      : "between \(times[0]) and \(last) s"
    return "\(candidateNames.takeLabel) has \(events.count) extra \(noun)s, \(location)"
  }
}

/// The names by which sentences refer to the events of a take.
struct EventNames {
  /// The label of the take that contains the events.
  let takeLabel: String
  private let countsByKind: [HapticEvent.Kind: Int]
  private let totalCount: Int

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
    totalCount = events.count
    countsByKind = events.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  /// Returns the number of events of a kind.
  func count(of kind: HapticEvent.Kind) -> Int { countsByKind[kind] ?? 0 }

  /// Returns the name of an event, such as `third transient`, `transient 13`, or `transient` if it
  /// is the only one.
  func name(of event: IndexedEvent) -> String {
    let noun = event.kind.displayNoun
    guard count(of: event.kind) > 1 else { return noun }
    if let word = SentenceFormatting.ordinalWord(event.ordinalNumber) { return "\(word) \(noun)" }
    return "\(noun) \(event.ordinalNumber)"
  }

  /// Returns the name of an event with its take, such as `B's third transient`.
  func possessiveName(of event: IndexedEvent) -> String { "\(takeLabel)'s \(name(of: event))" }

  /// Returns the subject of a sentence about events.
  func subject(for events: [IndexedEvent]) -> Subject {
    guard let first = events.first else { return Subject(text: takeLabel) }
    if events.count == 1 {
      let location =
        count(of: first.kind) == 1 ? "" : ", at \(SentenceFormatting.time(first.timeSeconds)),"
      return Subject(text: possessiveName(of: first) + location)
    }
    guard events.allSatisfy({ $0.kind == first.kind }) else {
      return Subject(text: "\(events.count) of \(takeLabel)'s \(totalCount) events", isPlural: true)
    }
    let kindCount = count(of: first.kind)
    let noun = first.kind.displayNoun
    if events.count == kindCount {
      let quantifier = kindCount == 2 ? "Both" : "All \(kindCount)"
      return Subject(text: "\(quantifier) of \(takeLabel)'s \(noun)s", isPlural: true)
    }
    let list = SentenceFormatting.list(events.map(\.ordinalNumber))
    if list.utf8.count > 24 {
      return Subject(
        text: "\(events.count) of \(takeLabel)'s \(kindCount) \(noun)s", isPlural: true)
    }
    return Subject(text: "\(takeLabel)'s \(noun)s \(list)", isPlural: true)
  }
}

extension HapticEvent.Kind {
  /// The noun for an event of this kind in sentences.
  var displayNoun: String { playsFile ? "sound" : noun }
}

extension Difference.Kind {
  /// The maximum level difference, in decibels. A larger difference means that one of the levels is
  /// silence.
  static let maximumDecibels = 60.0

  /// Returns the comparative for a positive or negative amount, such as `stronger`, or nil.
  package func comparative(isMore: Bool, isTransient: Bool = false) -> String? {
    switch self {
    case .level: isMore ? "stronger" : "weaker"
    case .time: isMore ? "later" : "earlier"
    case .tempo: isMore ? "slower" : "faster"
    case .frequency where isTransient: isMore ? "sharper" : "duller"
    case .frequency: isMore ? "higher" : "lower"
    case .duration, .attack, .decay, .release, .length: isMore ? "longer" : "shorter"
    case .pan: "farther to the " + (isMore ? "right" : "left")
    case .brightness: isMore ? "brighter" : "darker"
    default: nil
    }
  }

  /// Returns an amount with its direction, such as `3.2 dB stronger`, `8 ms later`, or `11 %
  /// sharper`.
  func changeText(_ amount: Double, isTransient: Bool = false) -> String {
    if self == .level, abs(amount) >= Self.maximumDecibels {
      return amount < 0 ? "silent" : "no longer silent"
    }
    let comparative = comparative(isMore: amount > 0, isTransient: isTransient) ?? ""
    return "\(SentenceFormatting.magnitude(amount, unit: unit)) \(comparative)"
  }

  /// The predicate of a sentence that states the amount of a difference.
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

  /// Returns the predicate of a sentence about an amount of this kind.
  fileprivate func predicate(_ amount: Double, isTransient: Bool) -> Predicate {
    let isMore = amount > 0
    let time =
      SentenceFormatting.magnitude(amount, unit: .seconds) + (isMore ? " longer" : " less time")
    switch self {
    case .attack:
      return Predicate("takes", "take", time + " to rise")
    case .decay:
      return Predicate("takes", "take", time + " to decay")
    case .release:
      return Predicate("has", "have", "a \(changeText(amount)) release")
    case .sustain:
      return isMore
        ? Predicate("sustains", "sustain", "instead of decaying")
        : Predicate("decays", "decay", "instead of sustaining")
    case .spectrum:
      let residual = SentenceFormatting.number(amount, places: 0)
      return Predicate("has", "have", "a different waveform (residual \(residual) dB)")
    case .time:
      return Predicate("comes", "come", changeText(amount))
    case .tempo:
      return Predicate("runs", "run", changeText(amount))
    default:
      return Predicate("is", "are", changeText(amount, isTransient: isTransient))
    }
  }
}
