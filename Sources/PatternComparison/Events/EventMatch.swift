import HapticModel

/// Which events of two compositions belong together, whatever their layers.
struct EventMatch {
  /// The reference's events by time.
  let reference: [ListedEvent]
  /// The other composition's events by time.
  let other: [ListedEvent]
  /// Positions in `reference` and `other`, rising in the first.
  private(set) var pairs: [(Int, Int)] = []
  /// Positions in `reference` without a partner.
  private(set) var missing: [Int] = []
  /// Positions in `other` without a partner.
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
    let paired = Set(pairs.map(\.0))
    let otherPaired = Set(pairs.map(\.1))
    missing = self.reference.indices.filter { !paired.contains($0) }
    added = self.other.indices.filter { !otherPaired.contains($0) }
  }

  /// Pairs event by event where the other's times are all shifted or scaled alike.
  private mutating func pairAsAWhole() -> Bool {
    let count = reference.count
    guard count == other.count, count > 0 else { return false }
    guard zip(reference, other).allSatisfy({ $0.kind == $1.kind }) else { return false }
    let first = reference[0].time
    let otherFirst = other[0].time
    var clock = TimeMapping(scale: 1, delay: otherFirst - first)
    let span = reference[count - 1].time - first
    let otherSpan = other[count - 1].time - otherFirst
    // Two events make any pace; three that agree make one.
    if count > 2, span > 0, abs(otherSpan - span) > Self.leastTime {
      clock.scale = otherSpan / span
      clock.delay = otherFirst - first * clock.scale
    }
    let slack = clock.scale == 1 ? Self.leastTime : 5e-4
    let fits = zip(reference, other).allSatisfy { abs($1.time - clock.time($0.time)) <= slack }
    guard fits else { return false }
    // A few events far from where they were, and nothing like them: others, not the same later.
    let alike = zip(reference, other).count { $0.isLike($1) }
    guard abs(clock.delay) < 0.5 && abs(clock.scale - 1) < 0.5 || alike * 2 >= count else { return false }
    pairs = reference.indices.map { ($0, $0) }
    if count > 1 || reference.count == 1 { self.clock = clock }
    return true
  }

  private mutating func pairOneByOne() {
    var ends = (reference.count, other.count)
    var start = 0
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

  /// Pairs what is left, each kind on its own, equals first.
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

  /// What equal events have in common, rounded.
  private struct Key: Hashable {
    var time: Int64
    var duration: Int64
    var values: [Int64]
    var path: String?

    init(_ event: ListedEvent) {
      func rounded(_ value: Double) -> Int64 { Int64((min(max(value, -1e9), 1e9) * 1e5).rounded()) }
      time = rounded(event.time)
      duration = rounded(event.duration ?? -1)
      values = event.values.map(rounded)
      path = event.waveform?.path
    }
  }
}
