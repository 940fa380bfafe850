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
  package static func size(_ amount: Double, _ unit: Difference.Unit) -> String {
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
  static func moment(_ seconds: Double) -> String { "\(number(seconds, places: 3)) s" }

  /// `98 instead of 87 Hz`, with as many places as distinguish them.
  static func hertz(_ after: Double, insteadOf before: Double) -> String {
    let places = abs(after - before) < 2 ? 1 : 0
    return "\(number(after, places: places)) instead of \(number(before, places: places)) Hz"
  }

  /// `0.6 instead of 0.5`.
  static func value(_ after: Double, insteadOf before: Double) -> String {
    "\(number(after, places: 3)) instead of \(number(before, places: 3))"
  }

  /// `0.8 and 1.8 s`.
  static func range(_ range: ClosedRange<Double>) -> String {
    "\(number(range.lowerBound, places: 2)) and \(number(range.upperBound, places: 2)) s"
  }

  /// `-0.2 to +3.1 dB`: the least and the greatest of several amounts.
  package static func spread(_ low: Double, _ high: Double, _ unit: Difference.Unit) -> String {
    let scale = unit == .seconds ? 1_000.0 : 1
    func signed(_ value: Double) -> String {
      let text = number(value * scale, places: unit == .decibels ? 1 : 0)
      return value > 0 && text != "0" ? "+" + text : text
    }
    return "\(signed(low)) to \(signed(high)) \(unit == .seconds ? "ms" : unit.rawValue)"
  }

  /// `third`, up to twelfth.
  static func ordinal(_ number: Int) -> String? {
    let words = [
      "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
      "eleventh",
      "twelfth",
    ]
    return words.indices.contains(number - 1) ? words[number - 1] : nil
  }

  /// `third`, and `13th` beyond the words.
  package static func anyOrdinal(_ number: Int) -> String {
    let isTeen = (11...13).contains(number % 100)
    return ordinal(number)
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
  static let greatestDecibels = 60.0

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
  func change(_ amount: Double, isTransient: Bool = false) -> String {
    if self == .level, abs(amount) >= Self.greatestDecibels {
      return amount < 0 ? "silent" : "no longer silent"
    }
    let word = comparative(isMore: amount > 0, isTransient: isTransient) ?? ""
    return "\(SentenceFormatting.size(amount, unit)) \(word)"
  }

  fileprivate func predicate(_ amount: Double, isTransient: Bool) -> (
    one: String, several: String, rest: String
  ) {
    let isMore = amount > 0
    let time = SentenceFormatting.size(amount, .seconds) + (isMore ? " longer" : " less time")
    return switch self {
    case .attack:
      ("takes", "take", time + " to rise")
    case .decay:
      ("takes", "take", time + " to decay")
    case .release:
      ("has", "have", "a \(change(amount)) release")
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
      ("comes", "come", change(amount))
    case .tempo:
      ("runs", "run", change(amount))
    default:
      ("is", "are", change(amount, isTransient: isTransient))
    }
  }
}

struct FoundDifferences {
  private(set) var list: [Difference] = []
  let names: EventNames
  let referenceNames: EventNames
  var whole: ClosedRange<Double>

  /// Adds a difference in the words of its kind.
  ///
  /// - Parameter events: What it is about, of the other take but for what is missing; without any,
  ///   the whole take.
  mutating func add(_ difference: Difference, of events: [ListedEvent] = [], detail: String = "") {
    add(difference, saying: sentence(difference, events) + detail)
  }

  mutating func add(whole kind: Difference.Kind, _ amount: Double = 0, after: Double? = nil) {
    add(
      Difference(
        kind, in: whole, isThroughout: true, amount: amount, before: after.map { _ in 0 },
        after: after))
  }

  mutating func add(_ difference: Difference, saying sentence: String) {
    list.append(difference)
    list[list.count - 1].sentence = sentence + "."
  }

  /// Adds noise, or a hum where it has a frequency.
  ///
  /// - Parameter isReference: Whether the reference has it, and the other take does not.
  mutating func add(
    background decibels: Double, hertz: Double?, isMains: Bool = false, isReference: Bool = false
  ) {
    let number = SentenceFormatting.number(hertz ?? 0, places: 0)
    let what =
      hertz == nil ? "noise" : isMains ? "hum of the mains (\(number) Hz)" : "a \(number) Hz hum"
    let level = SentenceFormatting.number(decibels, places: 0)
    let (before, after) = isReference ? (hertz, nil) : (nil, hertz)
    add(
      Difference(
        .noise, in: whole, isThroughout: true, amount: decibels, before: before, after: after),
      saying:
        """
        \(isReference ? referenceNames.owner : names.owner) has \(what) at \(level) dBFS in the \
        background
        """
          + (isReference ? "; \(names.owner) does not" : ""))
  }

  private func sentence(_ difference: Difference, _ events: [ListedEvent]) -> String {
    let owner = names.owner
    let kind = difference.kind
    let amount = difference.amount
    switch kind {
    case .missing:
      return missing(events)
    case .added:
      return added(events)
    case .polarity:
      return "\(owner)'s polarity is inverted"
    case .offset:
      return
        """
        \(owner) has a DC offset of \
        \(SentenceFormatting.number(difference.after ?? 0, places: 4)) of full scale
        """
    case .time where difference.isThroughout:
      return "\(owner) as a whole comes \(kind.change(amount))"
    case .time where events.count == 1:
      let place = SentenceFormatting.moment(events[0].time)
      return "\(names.short(events[0])) comes \(kind.change(amount)), at \(place)"
    default:
      let isRelative = difference.isThroughout && kind != .tempo && kind != .spectrum
      let subject =
        difference.isThroughout ? EventNames.Subject(text: owner) : names.subject(events)
      let (one, several, rest) = kind.predicate(
        amount, isTransient: events.first?.kind.isTransient == true)
      return "\(subject.verb(one, several)) \(rest)" + (isRelative ? " throughout" : "")
    }
  }

  /// What is said of events, or sounds, of one kind that are not there; numbered, or else unknown
  /// ones.
  private func missing(_ events: [ListedEvent]) -> String {
    let first = events[0]
    let owner = names.owner
    let reference = referenceNames.owner
    let word = events[0].kind.word
    guard first.number > 0 else {
      let times = events.map { SentenceFormatting.number($0.time, places: 3) }.joined(
        separator: ", ")
      let what = events.count == 1 ? "a \(word)" : "\(events.count) \(word)s"
      return "\(owner) lacks \(what) of \(reference), at \(times) s"
    }
    if events.count == 1 {
      return
        "\(owner) lacks \(referenceNames.short(first)), at \(SentenceFormatting.moment(first.time))"
    }
    let all = referenceNames.count(first.kind)
    if events.count == all {
      return "\(owner) has none of \(reference)'s \(all) \(word)s"
    }
    return "\(owner) lacks \(referenceNames.subject(events).text)"
  }

  private func added(_ events: [ListedEvent]) -> String {
    let word = events[0].kind.word
    let times = events.map { SentenceFormatting.number($0.time, places: 3) }
    guard events.count > 1 else { return "\(names.owner) has an extra \(word) at \(times[0]) s" }
    let places =
      events.count <= 4
      ? "at \(times.dropLast().joined(separator: ", ")) and \(times[times.count - 1]) s"
      : "between \(times[0]) and \(times[times.count - 1]) s"
    return "\(names.owner) has \(events.count) extra \(word)s, \(places)"
  }
}

struct EventNames {
  let owner: String
  private let counts: [HapticEvent.Kind: Int]
  private let total: Int

  struct Subject {
    var text: String
    var isPlural = false

    func verb(_ one: String, _ several: String) -> String { "\(text) \(isPlural ? several : one)" }
  }

  init(_ events: [ListedEvent], owner: String) {
    self.owner = owner
    total = events.count
    counts = events.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  func count(_ kind: HapticEvent.Kind) -> Int { counts[kind] ?? 0 }

  /// `third transient`, `transient 13`, or `transient` where there is one.
  func name(_ event: ListedEvent) -> String {
    let word = event.kind.word
    guard count(event.kind) > 1 else { return word }
    return SentenceFormatting.ordinal(event.number).map { "\($0) \(word)" }
      ?? "\(word) \(event.number)"
  }

  /// `B's third transient`.
  func short(_ event: ListedEvent) -> String { "\(owner)'s \(name(event))" }

  func subject(_ events: [ListedEvent]) -> Subject {
    guard let first = events.first else { return Subject(text: owner) }
    if events.count == 1 {
      let place = count(first.kind) == 1 ? "" : ", at \(SentenceFormatting.moment(first.time)),"
      return Subject(text: short(first) + place)
    }
    guard events.allSatisfy({ $0.kind == first.kind }) else {
      return Subject(text: "\(events.count) of \(owner)'s \(total) events", isPlural: true)
    }
    let all = count(first.kind)
    let word = first.kind.word
    if events.count == all {
      return Subject(
        text: (all == 2 ? "Both" : "All \(all)") + " of \(owner)'s \(word)s", isPlural: true)
    }
    let list = SentenceFormatting.list(events.map(\.number))
    if list.utf8.count > 24 {
      return Subject(text: "\(events.count) of \(owner)'s \(all) \(word)s", isPlural: true)
    }
    return Subject(text: "\(owner)'s \(word)s \(list)", isPlural: true)
  }
}

extension HapticEvent.Kind { var word: String { playsFile ? "sound" : noun } }
