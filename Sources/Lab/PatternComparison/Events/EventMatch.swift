internal import CMath
import HapticModel
import HapticRender

struct IndexedEvent {
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
  var bodyLocation: HapticComposition.BodyLocation?
  /// Its number among its kind, from 1 on.
  var ordinal = 0

  init(_ event: HapticEvent, index: Int) {
    self.index = index
    kind = event.kind
    time = event.time.isFinite ? event.time : 0
    duration = event.kind.isTransient ? nil : event.holdDuration
    values = EventParameterID.allCases.map { id in
      event.kind.responds(to: id) ? Double(event.value(of: id)) : 0
    }
    waveform = event.kind.playsFile ? event.waveform : nil
  }

  /// A value; 0 where the kind does not react to it.
  func value(_ id: EventParameterID) -> Double {
    values[EventParameterID.allCases.firstIndex(of: id) ?? 0]
  }

  /// Seconds at which it ends, its release not counted.
  var end: Double { time + (duration ?? 0) }

  /// Seconds that it sounds behind its end; no burst of the shipped profiles is longer than 40 ms.
  var tailDuration: Double {
    max(
      kind.isTransient ? 0.04 : EnvelopeTimes.seconds(normalized: Float(value(.releaseTime))),
      EnvelopeTimes.minimumRampSeconds)
  }

  /// The strength, 0…1: intensity or volume.
  var strength: Double { isHaptic ? value(.hapticIntensity) : value(.audioVolume) }

  var isHaptic: Bool { kind.isHaptic }

  func isEquivalent(to other: IndexedEvent) -> Bool {
    kind == other.kind && areEqual(duration, other.duration)
      && zip(values, other.values).allSatisfy { abs($0 - $1) < 1e-6 }
      && waveform == other.waveform && bodyLocation == other.bodyLocation
  }

  private func areEqual(_ a: Double?, _ b: Double?) -> Bool {
    guard let a, let b else { return (a == nil) == (b == nil) }
    return abs(a - b) < 1e-6
  }

  /// What pairing it with another costs: 0 for equals, 1 for what lies half a second apart.
  func pairingCost(with other: IndexedEvent) -> Double {
    guard kind == other.kind else { return .infinity }
    var difference = 0.0
    for (a, b) in zip(values, other.values) {
      difference += abs(a - b)
    }
    if let duration, let otherDuration = other.duration {
      difference += abs(duration - otherDuration) / max(duration, otherDuration, 1e-3)
    }
    if waveform != other.waveform {
      difference += 0.5
    }
    if bodyLocation != other.bodyLocation {
      difference += 0.5
    }
    return abs(time - other.time) / 0.5 + min(0.8, difference / 2)
  }

  /// The events of all layers by time, numbered among their kinds.
  static func events(of composition: HapticComposition) -> [IndexedEvent] {
    var events: [IndexedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events {
        events.append(IndexedEvent(event, index: events.count))
        events[events.count - 1].layer = layer
        if event.kind.isHaptic {
          events[events.count - 1].bodyLocation = content.bodyLocation
        }
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
      events[index].ordinal = counts[events[index].kind] ?? 0
    }
    return events
  }
}

struct EventMatch {
  /// The reference's events by time.
  let reference: [IndexedEvent]
  let candidate: [IndexedEvent]
  /// Positions in `reference` and `other`, rising in the first.
  private(set) var pairs: [(Int, Int)] = []
  private(set) var missing: [Int] = []
  private(set) var added: [Int] = []
  /// How the other's times follow from the reference's, where all of them do.
  private(set) var timeMapping = TimeMapping()

  /// Times of the other pattern as a line over those of the reference.
  struct TimeMapping: Equatable {
    /// Seconds of the other for each of the reference.
    var scale = 1.0
    /// Seconds the other is later at 0.
    var delay = 0.0

    func candidateTime(at time: Double) -> Double { time * scale + delay }
  }

  /// The least difference of time that is one, in seconds: a frame at 96 kHz.
  static let minimumTimeDifference = 1e-5

  /// Pairs the events: those that are alike first, the rest by what they cost; O(n log n) for many.
  init(_ reference: HapticComposition, _ other: HapticComposition) {
    self.reference = IndexedEvent.events(of: reference)
    self.candidate = IndexedEvent.events(of: other)
    if !pairInOrder() {
      pairIndividually()
    }
    pairs.sort { $0.0 < $1.0 }
    let paired = Set(pairs.map(\.0))
    let otherPaired = Set(pairs.map(\.1))
    missing = self.reference.indices.filter { !paired.contains($0) }
    added = self.candidate.indices.filter { !otherPaired.contains($0) }
  }

  private mutating func pairInOrder() -> Bool {
    let count = reference.count
    guard count == candidate.count, count > 0,
      zip(reference, candidate).allSatisfy({ $0.kind == $1.kind })
    else {
      return false
    }
    let first = reference[0].time
    let otherFirst = candidate[0].time
    var clock = TimeMapping(scale: 1, delay: otherFirst - first)
    let span = reference[count - 1].time - first
    let otherSpan = candidate[count - 1].time - otherFirst
    // Two events make any pace; three that agree make one.
    if count > 2, span > 0, abs(otherSpan - span) > Self.minimumTimeDifference {
      clock = TimeMapping(scale: otherSpan / span, delay: otherFirst - first * (otherSpan / span))
    }
    let slack = clock.scale == 1 ? Self.minimumTimeDifference : 5e-4
    guard
      zip(reference, candidate).allSatisfy({
        abs($1.time - clock.candidateTime(at: $0.time)) <= slack
      })
    else {
      return false
    }
    // A few events far from where they were, and nothing like them: others, not the same later.
    let alike = zip(reference, candidate).count { $0.isEquivalent(to: $1) }
    guard abs(clock.delay) < 0.5 && abs(clock.scale - 1) < 0.5 || alike * 2 >= count else {
      return false
    }
    pairs = reference.indices.map { ($0, $0) }
    self.timeMapping = clock
    return true
  }

  private mutating func pairIndividually() {
    var ends = (reference.count, candidate.count)
    var start = 0
    while start < min(ends.0, ends.1),
      areEquivalent(reference[start], candidate[start], delayedBy: 0)
    {
      pairs.append((start, start))
      start += 1
    }
    var back: [(Int, Int)] = []
    if let last = reference.last, let otherLast = candidate.last {
      let delay = otherLast.time - last.time
      var tail = ends
      while tail.0 > start, tail.1 > start,
        areEquivalent(reference[tail.0 - 1], candidate[tail.1 - 1], delayedBy: delay)
      {
        tail = (tail.0 - 1, tail.1 - 1)
        back.append(tail)
      }
      // A tail that comes later is one only when it explains all the rest of one side.
      if abs(delay) <= Self.minimumTimeDifference || tail.0 == start || tail.1 == start {
        pairs += back
        ends = tail
      }
    }
    pairRemaining(Array(start..<ends.0), Array(start..<ends.1))
  }

  private func areEquivalent(_ a: IndexedEvent, _ b: IndexedEvent, delayedBy later: Double) -> Bool
  {
    abs(b.time - a.time - later) <= Self.minimumTimeDifference && a.isEquivalent(to: b)
  }

  private mutating func pairRemaining(_ rest: [Int], _ otherRest: [Int]) {
    for kind in HapticEvent.Kind.allCases {
      var mine = rest.filter { reference[$0].kind == kind }
      var theirs = otherRest.filter { candidate[$0].kind == kind }
      var places: [Key: [Int]] = [:]
      for index in theirs.reversed() {
        places[Key(candidate[index]), default: []].append(index)
      }
      var taken = Set<Int>()
      mine.removeAll { index in
        guard let partner = places[Key(reference[index])]?.popLast() else { return false }
        taken.insert(partner)
        pairs.append((index, partner))
        return true
      }
      theirs.removeAll { taken.contains($0) }
      let found = SequenceAlignment.pairs(
        mine.map { reference[$0].time }, theirs.map { candidate[$0].time }
      ) {
        reference[mine[$0]].pairingCost(with: candidate[theirs[$1]])
      }
      pairs += found.map { (mine[$0], theirs[$1]) }
    }
  }

  private struct Key: Hashable {
    /// Time, duration and values.
    private let values: [Int64]
    private let path: String?

    init(_ event: IndexedEvent) {
      values = ([event.time, event.duration ?? -1] + event.values).map { value in
        Int64((min(max(value, -1e9), 1e9) * 1e5).rounded())
      }
      path = event.waveform?.path
    }
  }
}

enum SequenceAlignment {
  /// What leaving one member without a partner costs; a pair that costs more than two of it is not
  /// made.
  static let gapCost = 0.5
  /// The most cells of an exact search; longer sequences are paired by time alone, from the start
  /// on.
  static let maximumCellCount = 1 << 20
  /// The most seconds between two that are paired by their times alone.
  static let maximumDistanceSeconds = 0.5

  /// Pairs of indices, rising in both, of members at rising times.
  ///
  /// Exact while the product of the counts stays below `longestSearch`, else in one pass: linear
  /// time.
  static func pairs(_ times: [Double], _ otherTimes: [Double], cost: (Int, Int) -> Double) -> [(
    Int, Int
  )] {
    guard !times.isEmpty, !otherTimes.isEmpty else { return [] }
    let (cells, overflow) = times.count.multipliedReportingOverflow(by: otherTimes.count)
    return overflow || cells > maximumCellCount
      ? nearestPairs(times, otherTimes) : optimalPairs(times.count, otherTimes.count, cost: cost)
  }

  private static func optimalPairs(_ count: Int, _ otherCount: Int, cost: (Int, Int) -> Double)
    -> [(
      Int, Int
    )]
  {
    enum Step: UInt8 { case pair, left, right }
    var steps = [Step](repeating: .left, count: (count + 1) * (otherCount + 1))
    let width = otherCount + 1
    var above = (0...otherCount).map { Double($0) * gapCost }
    for index in 1..<width {
      steps[index] = .right
    }
    for i in 1...count {
      var row = [Double](repeating: Double(i) * gapCost, count: width)
      for j in 1...otherCount {
        let left = above[j] + gapCost
        let right = row[j - 1] + gapCost
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
    var i = count
    var j = otherCount
    while i > 0 || j > 0 {
      switch steps[i * width + j] {
      case .pair:
        i -= 1
        j -= 1
        pairs.append((i, j))
      case .left:
        i -= 1
      case .right:
        j -= 1
      }
    }
    return pairs.reversed()
  }

  /// Goes through both by their times alone: values that differ everywhere must not pull pairs
  /// apart.
  private static func nearestPairs(_ times: [Double], _ otherTimes: [Double]) -> [(Int, Int)] {
    func distance(_ i: Int, _ j: Int) -> Double {
      i < times.count && j < otherTimes.count ? abs(times[i] - otherTimes[j]) : .infinity
    }
    var pairs: [(Int, Int)] = []
    var i = 0
    var j = 0
    while i < times.count, j < otherTimes.count {
      let here = distance(i, j)
      if here <= maximumDistanceSeconds, here <= distance(i + 1, j), here <= distance(i, j + 1) {
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
