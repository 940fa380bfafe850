import HapticModel
import RecordingAnalysis

/// The pairs of matching events of two patterns.
///
/// 1. If both patterns have the same events at linearly mapped times, pair them in order.
/// 2. Otherwise, pair equivalent events at the start and at the end.
/// 3. Of the remaining events, pair equal ones, and align the others by the cost of their
///    differences (`SequenceAlignment`).
struct EventMatch {
  /// The events of the reference, sorted by time.
  let referenceEvents: [IndexedEvent]
  /// The events of the candidate, sorted by time.
  let candidateEvents: [IndexedEvent]
  /// The indices of paired events in `reference` and `candidate`, sorted by the first.
  private(set) var pairs: [(Int, Int)] = []
  /// The indices of the reference's events without a counterpart.
  private(set) var missingIndices: [Int] = []
  /// The indices of the candidate's events without a counterpart.
  private(set) var addedIndices: [Int] = []
  /// The mapping of all times, if the candidate's times are a linear function of the reference's
  /// times.
  private(set) var timeMapping = TimeMapping()

  /// A linear function from times of the reference to times of the candidate.
  struct TimeMapping: Equatable {
    /// The duration in the candidate of one second of the reference, in seconds.
    var scale = 1.0
    /// The candidate's time for time 0 of the reference, in seconds.
    var delaySeconds = 0.0

    func candidateTime(at time: Double) -> Double { time * scale + delaySeconds }
  }

  /// The time difference above which two times count as different, in seconds: a frame at 96 kHz.
  static let minimumTimeDifferenceSeconds = 1e-5

  /// Pairs the events of two compositions.
  ///
  /// - Complexity: O(*n* log *n*) for many events.
  init(_ reference: HapticComposition, _ candidate: HapticComposition) {
    self.referenceEvents = IndexedEvent.events(of: reference)
    self.candidateEvents = IndexedEvent.events(of: candidate)
    if !pairInOrder() {
      pairIndividually()
    }
    pairs.sort { $0.0 < $1.0 }
    let paired = Set(pairs.map(\.0))
    let candidatePaired = Set(pairs.map(\.1))
    missingIndices = self.referenceEvents.indices.filter { !paired.contains($0) }
    addedIndices = self.candidateEvents.indices.filter { !candidatePaired.contains($0) }
  }

  /// Pairs all events in order if their times are mapped linearly, and returns whether they are.
  private mutating func pairInOrder() -> Bool {
    let count = referenceEvents.count
    guard count == candidateEvents.count, count > 0,
      zip(referenceEvents, candidateEvents).allSatisfy({ $0.kind == $1.kind })
    else {
      return false
    }
    let firstTime = referenceEvents[0].timeSeconds
    let firstCandidateTime = candidateEvents[0].timeSeconds
    var mapping = TimeMapping(scale: 1, delaySeconds: firstCandidateTime - firstTime)
    let duration = referenceEvents[count - 1].timeSeconds - firstTime
    let candidateDuration = candidateEvents[count - 1].timeSeconds - firstCandidateTime
    // Two events are consistent with any tempo, three are evidence of one.
    if count > 2, duration > 0,
      abs(candidateDuration - duration) > Self.minimumTimeDifferenceSeconds
    {
      let scale = candidateDuration / duration
      mapping = TimeMapping(scale: scale, delaySeconds: firstCandidateTime - firstTime * scale)
    }
    let tolerance = mapping.scale == 1 ? Self.minimumTimeDifferenceSeconds : 5e-4
    guard
      zip(referenceEvents, candidateEvents).allSatisfy({
        abs($1.timeSeconds - mapping.candidateTime(at: $0.timeSeconds)) <= tolerance
      })
    else {
      return false
    }
    // A few different events at distant times are other events, not shifted ones.
    let equivalentCount = zip(referenceEvents, candidateEvents).count { $0.isEquivalent(to: $1) }
    let isSmall = abs(mapping.delaySeconds) < 0.5 && abs(mapping.scale - 1) < 0.5
    guard isSmall || equivalentCount * 2 >= count else { return false }
    pairs = referenceEvents.indices.map { ($0, $0) }
    self.timeMapping = mapping
    return true
  }

  /// Pairs equivalent events at the start and at the end, and then the others.
  private mutating func pairIndividually() {
    var end = (reference: referenceEvents.count, candidate: candidateEvents.count)
    var start = 0
    while start < min(end.reference, end.candidate),
      areEquivalent(referenceEvents[start], candidateEvents[start], delayedBy: 0)
    {
      pairs.append((start, start))
      start += 1
    }
    var tailPairs: [(Int, Int)] = []
    if let last = referenceEvents.last, let lastCandidate = candidateEvents.last {
      let delay = lastCandidate.timeSeconds - last.timeSeconds
      var tail = end
      while tail.reference > start, tail.candidate > start,
        areEquivalent(
          referenceEvents[tail.reference - 1], candidateEvents[tail.candidate - 1], delayedBy: delay
        )
      {
        tail.reference -= 1
        tail.candidate -= 1
        tailPairs.append((tail.reference, tail.candidate))
      }
      // A shifted tail must include all remaining events of one pattern.
      let isUnshifted = abs(delay) <= Self.minimumTimeDifferenceSeconds
      if isUnshifted || tail.reference == start || tail.candidate == start {
        pairs += tailPairs
        end = tail
      }
    }
    pairRemaining(Array(start..<end.reference), Array(start..<end.candidate))
  }

  private func areEquivalent(
    _ event: IndexedEvent, _ candidateEvent: IndexedEvent, delayedBy delay: Double
  ) -> Bool {
    abs(candidateEvent.timeSeconds - event.timeSeconds - delay) <= Self.minimumTimeDifferenceSeconds
      && event.isEquivalent(to: candidateEvent)
  }

  /// Pairs events kind by kind: first equal ones, then the others by cost.
  private mutating func pairRemaining(_ indices: [Int], _ candidateIndices: [Int]) {
    for kind in HapticEvent.Kind.allCases {
      var unpaired = indices.filter { referenceEvents[$0].kind == kind }
      var candidateUnpaired = candidateIndices.filter { candidateEvents[$0].kind == kind }
      var indicesByKey: [Key: [Int]] = [:]
      for index in candidateUnpaired.reversed() {
        indicesByKey[Key(candidateEvents[index]), default: []].append(index)
      }
      var pairedCandidates = Set<Int>()
      unpaired.removeAll { index in
        guard let candidateIndex = indicesByKey[Key(referenceEvents[index])]?.popLast() else {
          return false
        }
        pairedCandidates.insert(candidateIndex)
        pairs.append((index, candidateIndex))
        return true
      }
      candidateUnpaired.removeAll { pairedCandidates.contains($0) }
      let aligned = SequenceAlignment.pairs(
        unpaired.map { referenceEvents[$0].timeSeconds },
        candidateUnpaired.map { candidateEvents[$0].timeSeconds }
      ) {
        referenceEvents[unpaired[$0]].pairingCost(with: candidateEvents[candidateUnpaired[$1]])
      }
      pairs += aligned.map { (unpaired[$0], candidateUnpaired[$1]) }
    }
  }

  /// A key by which equal events are found: the time and values, rounded to 10⁻⁵, and the sound
  /// file.
  private struct Key: Hashable {
    /// The time, the duration, and the parameter values, in multiples of 10⁻⁵.
    private let values: [Int64]
    private let path: String?

    init(_ event: IndexedEvent) {
      values = ([event.timeSeconds, event.durationSeconds ?? -1] + event.parameterValues).map {
        value in
        Int64((min(max(value, -1e9), 1e9) * 1e5).rounded())
      }
      path = event.audioWaveform?.path
    }
  }
}
