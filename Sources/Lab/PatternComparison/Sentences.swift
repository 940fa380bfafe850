internal import CMath
import HapticModel
internal import SystemSupport

/// Numbers and lists as a sentence has them.
package enum SentenceFormatting {
  /// A number with at most some decimal places and none that are 0.
  package static func number(_ value: Double, places: Int) -> String {
    guard value.isFinite else { return "?" }
    let text = NumberFormatting.rounded(value, places: places)
    // Beyond this, digits behind the point are not kept anyway.
    guard abs(value) < 1e15 else { return text }
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }

  /// The magnitude of an amount with its unit: `3.2 dB`, `8 ms`, `12 %`; a level keeps its sign.
  package static func magnitude(_ amount: Double, unit: Difference.Unit) -> String {
    let size = abs(amount)
    switch unit {
    case .decibels:
      return "\(number(size, places: size < 0.095 ? 2 : 1)) dB"
    case .seconds:
      let milliseconds = size * 1_000
      if milliseconds >= 999.5 { return "\(number(size, places: 2)) s" }
      return
        "\(number(milliseconds, places: milliseconds < 0.995 ? 2 : milliseconds < 9.95 ? 1 : 0)) ms"
    case .percent:
      return "\(number(size, places: size < 0.095 ? 3 : size < 1.95 ? 1 : 0)) %"
    case .fullScale:
      return "\(number(amount, places: 1)) dBFS"
    case .count:
      return number(size, places: 0)
    case .none:
      return ""
    }
  }

  /// A moment: `0.512 s`.
  static func time(_ seconds: Double) -> String { "\(number(seconds, places: 3)) s" }

  /// `98 instead of 87 Hz`, with as many places as distinguish them.
  static func frequencies(_ after: Double, insteadOf before: Double) -> String {
    let places = abs(after - before) < 2 ? 1 : 0
    return "\(number(after, places: places)) instead of \(number(before, places: places)) Hz"
  }

  /// `0.6 instead of 0.5`.
  static func values(_ after: Double, insteadOf before: Double) -> String {
    "\(number(after, places: 3)) instead of \(number(before, places: 3))"
  }

  /// `0.8 and 1.8 s`.
  static func range(_ range: ClosedRange<Double>) -> String {
    "\(number(range.lowerBound, places: 2)) and \(number(range.upperBound, places: 2)) s"
  }

  /// `-0.2 to +3.1 dB`: the least and the greatest of several amounts.
  package static func spread(from low: Double, to high: Double, unit: Difference.Unit) -> String {
    let scale = unit == .seconds ? 1_000.0 : 1
    func signed(_ value: Double) -> String {
      let text = number(value * scale, places: unit == .decibels ? 1 : 0)
      return value > 0 && text != "0" ? "+" + text : text
    }
    return "\(signed(low)) to \(signed(high)) \(unit == .seconds ? "ms" : unit.rawValue)"
  }

  /// `third`, up to twelfth.
  static func ordinalWord(_ number: Int) -> String? {
    let words = [
      "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
      "eleventh",
      "twelfth",
    ]
    return words.indices.contains(number - 1) ? words[number - 1] : nil
  }

  /// `third`, and `13th` beyond the words.
  package static func ordinalText(_ number: Int) -> String {
    let isTeen = (11...13).contains(number % 100)
    return ordinalWord(number)
      ?? "\(number)\(isTeen ? "th" : [1: "st", 2: "nd", 3: "rd"][number % 10] ?? "th")"
  }

  /// `1, 2 and 5`; runs of three and more as `2 to 5`.
  static func list(_ numbers: [Int]) -> String {
    var parts: [String] = []
    var index = 0
    while index < numbers.count {
      var end = index
      while end + 1 < numbers.count, numbers[end + 1] == numbers[end] + 1 {
        end += 1
      }
      if end - index >= 2 {
        parts.append("\(numbers[index]) to \(numbers[end])")
      } else {
        parts += numbers[index...end].map { "\($0)" }
      }
      index = end + 1
    }
    guard parts.count > 1, let last = parts.popLast() else { return parts.first ?? "" }
    return parts.joined(separator: ", ") + " and " + last
  }
}

extension Difference.Kind {
  /// Levels further apart than this, in decibels, count as this far: one of them is silence.
  static let maximumDecibels = 60.0

  /// What more and less of it are called, of a sound or of a transient.
  package func comparative(isMore: Bool, isTransient: Bool = false) -> String? {
    switch self {
    case .level: isMore ? "stronger" : "weaker"
    case .time: isMore ? "later" : "earlier"
    case .tempo: isMore ? "slower" : "faster"
    case .frequency where isTransient: isMore ? "sharper" : "duller"
    case .frequency: isMore ? "higher" : "lower"
    case .duration, .attack, .decay, .release, .length: isMore ? "longer" : "shorter"
    case .pan: "further to the " + (isMore ? "right" : "left")
    case .brightness: isMore ? "brighter" : "darker"
    default: nil
    }
  }

  /// By how much and in which direction: `3.2 dB stronger`, `8 ms later`, `11 % sharper`.
  func changeText(_ amount: Double, isTransient: Bool = false) -> String {
    if self == .level, abs(amount) >= Self.maximumDecibels {
      return amount < 0 ? "silent" : "no longer silent"
    }
    let word = comparative(isMore: amount > 0, isTransient: isTransient) ?? ""
    return "\(SentenceFormatting.magnitude(amount, unit: unit)) \(word)"
  }

  fileprivate func predicate(_ amount: Double, isTransient: Bool) -> (
    one: String, several: String, rest: String
  ) {
    let isMore = amount > 0
    let time =
      SentenceFormatting.magnitude(amount, unit: .seconds) + (isMore ? " longer" : " less time")
    return switch self {
    case .attack:
      ("takes", "take", time + " to rise")
    case .decay:
      ("takes", "take", time + " to decay")
    case .release:
      ("has", "have", "a \(changeText(amount)) release")
    case .sustain:
      isMore
        ? ("sustains", "sustain", "instead of decaying")
        : ("decays", "decay", "instead of sustaining")
    case .spectrum:
      (
        "has", "have",
        "a different waveform (residual \(SentenceFormatting.number(amount, places: 0)) dB)"
      )
    case .time:
      ("comes", "come", changeText(amount))
    case .tempo:
      ("runs", "run", changeText(amount))
    default:
      ("is", "are", changeText(amount, isTransient: isTransient))
    }
  }
}

struct DifferenceList {
  private(set) var differences: [Difference] = []
  let candidateNames: EventNames
  let referenceNames: EventNames
  var overallRange: ClosedRange<Double>

  /// Adds a difference in the words of its kind.
  ///
  /// - Parameter events: What it is about, of the other take but for what is missing; without any,
  ///   the whole take.
  mutating func add(_ difference: Difference, of events: [IndexedEvent] = [], detail: String = "") {
    add(difference, sentence: sentence(for: difference, events: events) + detail)
  }

  mutating func addOverall(_ kind: Difference.Kind, amount: Double = 0, after: Double? = nil) {
    add(
      Difference(
        kind, in: overallRange, isOverall: true, amount: amount, before: after.map { _ in 0 },
        after: after))
  }

  mutating func add(_ difference: Difference, sentence: String) {
    differences.append(difference)
    differences[differences.count - 1].sentence = sentence + "."
  }

  /// Adds noise, or a hum where it has a frequency.
  ///
  /// - Parameter isReference: Whether the reference has it, and the other take does not.
  mutating func addBackground(
    decibels: Double, hertz: Double?, isMains: Bool = false, isReference: Bool = false
  ) {
    let number = SentenceFormatting.number(hertz ?? 0, places: 0)
    let what =
      hertz == nil ? "noise" : isMains ? "hum of the mains (\(number) Hz)" : "a \(number) Hz hum"
    let level = SentenceFormatting.number(decibels, places: 0)
    let (before, after) = isReference ? (hertz, nil) : (nil, hertz)
    add(
      Difference(
        .noise, in: overallRange, isOverall: true, amount: decibels, before: before, after: after),
      sentence:
        """
        \(isReference ? referenceNames.owner : candidateNames.owner) has \(what) at \(level) dBFS in the \
        background
        """
          + (isReference ? "; \(candidateNames.owner) does not" : ""))
  }

  private func sentence(for difference: Difference, events: [IndexedEvent]) -> String {
    let owner = candidateNames.owner
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
      return
        """
        \(owner) has a DC offset of \
        \(SentenceFormatting.number(difference.after ?? 0, places: 4)) of full scale
        """
    case .time where difference.isOverall:
      return "\(owner) as a whole comes \(kind.changeText(amount))"
    case .time where events.count == 1:
      let place = SentenceFormatting.time(events[0].time)
      return
        "\(candidateNames.possessiveName(of: events[0])) comes \(kind.changeText(amount)), at \(place)"
    default:
      let isRelative = difference.isOverall && kind != .tempo && kind != .spectrum
      let subject =
        difference.isOverall ? EventNames.Subject(text: owner) : candidateNames.subject(for: events)
      let (one, several, rest) = kind.predicate(
        amount, isTransient: events.first?.kind.isTransient == true)
      return "\(subject.withVerb(one, plural: several)) \(rest)" + (isRelative ? " throughout" : "")
    }
  }

  /// What is said of events, or sounds, of one kind that are not there; numbered, or else unknown
  /// ones.
  private func missingSentence(for events: [IndexedEvent]) -> String {
    let first = events[0]
    let owner = candidateNames.owner
    let reference = referenceNames.owner
    let word = events[0].kind.displayNoun
    guard first.ordinal > 0 else {
      let times = events.map { SentenceFormatting.number($0.time, places: 3) }.joined(
        separator: ", ")
      let what = events.count == 1 ? "a \(word)" : "\(events.count) \(word)s"
      return "\(owner) lacks \(what) of \(reference), at \(times) s"
    }
    if events.count == 1 {
      return
        "\(owner) lacks \(referenceNames.possessiveName(of: first)), at \(SentenceFormatting.time(first.time))"
    }
    let all = referenceNames.count(of: first.kind)
    if events.count == all {
      return "\(owner) has none of \(reference)'s \(all) \(word)s"
    }
    return "\(owner) lacks \(referenceNames.subject(for: events).text)"
  }

  private func addedSentence(for events: [IndexedEvent]) -> String {
    let word = events[0].kind.displayNoun
    let times = events.map { SentenceFormatting.number($0.time, places: 3) }
    guard events.count > 1 else {
      return "\(candidateNames.owner) has an extra \(word) at \(times[0]) s"
    }
    let places =
      events.count <= 4
      ? "at \(times.dropLast().joined(separator: ", ")) and \(times[times.count - 1]) s"
      : "between \(times[0]) and \(times[times.count - 1]) s"
    return "\(candidateNames.owner) has \(events.count) extra \(word)s, \(places)"
  }
}

struct EventNames {
  let owner: String
  private let countsByKind: [HapticEvent.Kind: Int]
  private let totalCount: Int

  struct Subject {
    var text: String
    var isPlural = false

    func withVerb(_ one: String, plural several: String) -> String {
      "\(text) \(isPlural ? several : one)"
    }
  }

  init(_ events: [IndexedEvent], owner: String) {
    self.owner = owner
    totalCount = events.count
    countsByKind = events.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  func count(of kind: HapticEvent.Kind) -> Int { countsByKind[kind] ?? 0 }

  /// `third transient`, `transient 13`, or `transient` where there is one.
  func name(of event: IndexedEvent) -> String {
    let word = event.kind.displayNoun
    guard count(of: event.kind) > 1 else { return word }
    return SentenceFormatting.ordinalWord(event.ordinal).map { "\($0) \(word)" }
      ?? "\(word) \(event.ordinal)"
  }

  /// `B's third transient`.
  func possessiveName(of event: IndexedEvent) -> String { "\(owner)'s \(name(of: event))" }

  func subject(for events: [IndexedEvent]) -> Subject {
    guard let first = events.first else { return Subject(text: owner) }
    if events.count == 1 {
      let place = count(of: first.kind) == 1 ? "" : ", at \(SentenceFormatting.time(first.time)),"
      return Subject(text: possessiveName(of: first) + place)
    }
    guard events.allSatisfy({ $0.kind == first.kind }) else {
      return Subject(text: "\(events.count) of \(owner)'s \(totalCount) events", isPlural: true)
    }
    let all = count(of: first.kind)
    let word = first.kind.displayNoun
    if events.count == all {
      return Subject(
        text: (all == 2 ? "Both" : "All \(all)") + " of \(owner)'s \(word)s", isPlural: true)
    }
    let list = SentenceFormatting.list(events.map(\.ordinal))
    if list.utf8.count > 24 {
      return Subject(text: "\(events.count) of \(owner)'s \(all) \(word)s", isPlural: true)
    }
    return Subject(text: "\(owner)'s \(word)s \(list)", isPlural: true)
  }
}

extension HapticEvent.Kind { var displayNoun: String { playsFile ? "sound" : noun } }
