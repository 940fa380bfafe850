import HapticModel

/// What sentences call the events of one pattern.
struct EventNames {
  /// Whom the events belong to: `B`.
  let owner: String
  private let counts: [HapticEvent.Kind: Int]
  private let total: Int

  /// The subject of a sentence, and whether its verb is in the plural.
  struct Subject {
    var text: String
    var isPlural: Bool

    /// The form of a verb that goes with it.
    func verb(_ one: String, _ several: String) -> String {
      "\(text) \(isPlural ? several : one)"
    }
  }

  init(_ events: [ListedEvent], owner: String) {
    self.owner = owner
    counts = events.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
    total = events.count
  }

  /// How many there are of a kind.
  func count(_ kind: HapticEvent.Kind) -> Int { counts[kind] ?? 0 }

  /// `third tap`, `tap 13`, or `tap` where there is one.
  func name(_ event: ListedEvent) -> String {
    let word = event.kind.word
    guard count(event.kind) > 1 else { return word }
    return SentenceFormatting.ordinal(event.number).map { "\($0) \(word)" }
      ?? "\(word) \(event.number)"
  }

  /// `B's third tap`.
  func short(_ event: ListedEvent) -> String { "\(owner)'s \(name(event))" }

  /// `B's third tap, at 0.5 s,`; `B's taps 2 and 3`; `All 5 of B's taps`; `7 of B's 12 events`.
  func subject(_ events: [ListedEvent]) -> Subject {
    guard let first = events.first else { return Subject(text: owner, isPlural: false) }
    if events.count == 1 {
      let isOnly = count(first.kind) == 1
      let place = isOnly ? "" : ", at \(SentenceFormatting.moment(first.time)),"
      return Subject(text: short(first) + place, isPlural: false)
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
