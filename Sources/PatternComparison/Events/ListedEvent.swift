import HapticModel

/// An event of a pattern with what a comparison asks of it, in order of time.
struct ListedEvent {
  /// The index into the events of the composition, counted layer by layer.
  var index: Int
  /// The index of its layer.
  var layer = 0
  var kind: HapticEvent.Kind
  /// Seconds from the start of the pattern.
  var time: Double
  /// Seconds until its release, or nil for a transient or a whole sound file.
  var duration: Double?
  /// The values the kind reacts to, in the order of `EventParameterID.allCases`; else 0.
  var values: [Double]
  var waveform: AudioWaveform?
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

  /// The strength, 0…1: intensity or volume.
  var strength: Double { isHaptic ? value(.hapticIntensity) : value(.audioVolume) }

  /// Whether it sounds on the haptic bus.
  var isHaptic: Bool { kind.isHaptic }

  /// Whether all but the time is the same.
  func isLike(_ other: ListedEvent) -> Bool {
    kind == other.kind && same(duration, other.duration) && zip(values, other.values).allSatisfy { abs($0 - $1) < 1e-6 }
      && waveform == other.waveform
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
      let longest = max(duration, otherDuration, 1e-3)
      difference += abs(duration - otherDuration) / longest
    }
    if waveform != other.waveform { difference += 0.5 }
    return abs(time - other.time) / 0.5 + min(0.8, difference / 2)
  }

  /// The events of all layers by time, numbered among their kinds.
  static func list(_ composition: HapticComposition) -> [ListedEvent] {
    var events: [ListedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events {
        events.append(ListedEvent(event, index: events.count))
        events[events.count - 1].layer = layer
      }
    }
    events.sort { a, b in
      if a.time != b.time { return a.time < b.time }
      if a.kind != b.kind { return a.kind.rank < b.kind.rank }
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

extension HapticEvent.Kind {
  /// The place in declaration order.
  var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// What a sentence calls one.
  var word: String { playsFile ? "sound" : noun }
}

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
    func verb(_ one: String, _ several: String) -> String { "\(text) \(isPlural ? several : one)" }
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
    return SentenceFormatting.ordinal(event.number).map { "\($0) \(word)" } ?? "\(word) \(event.number)"
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
      return Subject(text: (all == 2 ? "Both" : "All \(all)") + " of \(owner)'s \(word)s", isPlural: true)
    }
    let list = SentenceFormatting.list(events.map(\.number))
    if list.utf8.count > 24 { return Subject(text: "\(events.count) of \(owner)'s \(all) \(word)s", isPlural: true) }
    return Subject(text: "\(owner)'s \(word)s \(list)", isPlural: true)
  }
}
