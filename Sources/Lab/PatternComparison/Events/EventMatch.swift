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
  /// The index pairs of matching reference and candidate events.
  ///
  /// The pairs are sorted by the index of the reference's event.
  private(set) var pairedEventIndices: [(Int, Int)] = []
  /// The indices of the reference's events without a counterpart in the candidate.
  private(set) var missingEventIndices: [Int] = []
  /// The indices of the candidate's events without a counterpart in the reference.
  private(set) var addedEventIndices: [Int] = []
  /// The linear mapping from all of the reference's times to the candidate's times.
  ///
  /// The mapping is the identity if the times are not linearly related.
  private(set) var timeMapping = TimeMapping()

  /// A linear function that maps times of the reference to times of the candidate.
  struct TimeMapping: Equatable {
    /// The scale factor: the duration in the candidate of one second of the reference.
    var timeScale = 1.0
    /// The delay: the candidate's time for time 0 of the reference, in seconds.
    var delaySeconds = 0.0

    func candidateTime(at time: Double) -> Double { time * timeScale + delaySeconds }
  }

  /// The minimum distance between two different times, in seconds: a frame at 96 kHz.
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
    pairedEventIndices.sort { $0.0 < $1.0 }
    let pairedReferenceIndices = Set(pairedEventIndices.map(\.0))
    let pairedCandidateIndices = Set(pairedEventIndices.map(\.1))
    missingEventIndices = self.referenceEvents.indices.filter {
      !pairedReferenceIndices.contains($0)
    }
    addedEventIndices = self.candidateEvents.indices.filter { !pairedCandidateIndices.contains($0) }
  }

  /// Pairs all events in order if their times are linearly related.
  ///
  /// Returns true if the events were paired.
  private mutating func pairInOrder() -> Bool {
    let eventCount = referenceEvents.count
    guard eventCount == candidateEvents.count, eventCount > 0,
      zip(referenceEvents, candidateEvents).allSatisfy({ $0.kind == $1.kind })
    else {
      return false
    }
    let firstTime = referenceEvents[0].timeSeconds
    let firstCandidateTime = candidateEvents[0].timeSeconds
    var proposedMapping = TimeMapping(timeScale: 1, delaySeconds: firstCandidateTime - firstTime)
    let referenceDuration = referenceEvents[eventCount - 1].timeSeconds - firstTime
    let candidateDuration = candidateEvents[eventCount - 1].timeSeconds - firstCandidateTime
    // Two events are consistent with any tempo, three are evidence of one.
    if eventCount > 2, referenceDuration > 0,
      abs(candidateDuration - referenceDuration) > Self.minimumTimeDifferenceSeconds
    {
      let timeScale = candidateDuration / referenceDuration
      proposedMapping = TimeMapping(
        timeScale: timeScale, delaySeconds: firstCandidateTime - firstTime * timeScale)
    }
    let toleranceSeconds = proposedMapping.timeScale == 1 ? Self.minimumTimeDifferenceSeconds : 5e-4
    guard
      zip(referenceEvents, candidateEvents).allSatisfy({
        abs($1.timeSeconds - proposedMapping.candidateTime(at: $0.timeSeconds)) <= toleranceSeconds
      })
    else {
      return false
    }
    // A few different events at distant times are other events, not shifted ones.
    let equivalentCount = zip(referenceEvents, candidateEvents).count { $0.isEquivalent(to: $1) }
    let isMappingSmall =
      abs(proposedMapping.delaySeconds) < 0.5 && abs(proposedMapping.timeScale - 1) < 0.5
    guard isMappingSmall || equivalentCount * 2 >= eventCount else { return false }
    pairedEventIndices = referenceEvents.indices.map { ($0, $0) }
    self.timeMapping = proposedMapping
    return true
  }

  /// Pairs equivalent events at the start and at the end, and then the others.
  private mutating func pairIndividually() {
    var unpairedEnd = (reference: referenceEvents.count, candidate: candidateEvents.count)
    var unpairedStart = 0
    while unpairedStart < min(unpairedEnd.reference, unpairedEnd.candidate),
      areEquivalent(referenceEvents[unpairedStart], candidateEvents[unpairedStart], delayedBy: 0)
    {
      pairedEventIndices.append((unpairedStart, unpairedStart))
      unpairedStart += 1
    }
    var tailPairs: [(Int, Int)] = []
    if let lastEvent = referenceEvents.last, let lastCandidateEvent = candidateEvents.last {
      let delay = lastCandidateEvent.timeSeconds - lastEvent.timeSeconds
      var tailStart = unpairedEnd
      while tailStart.reference > unpairedStart, tailStart.candidate > unpairedStart,
        areEquivalent(
          referenceEvents[tailStart.reference - 1], candidateEvents[tailStart.candidate - 1],
          delayedBy: delay
        )
      {
        tailStart.reference -= 1
        tailStart.candidate -= 1
        tailPairs.append((tailStart.reference, tailStart.candidate))
      }
      // A shifted tail must include all remaining events of one pattern.
      let isUnshifted = abs(delay) <= Self.minimumTimeDifferenceSeconds
      if isUnshifted || tailStart.reference == unpairedStart || tailStart.candidate == unpairedStart
      {
        pairedEventIndices += tailPairs
        unpairedEnd = tailStart
      }
    }
    pairRemainingEvents(
      Array(unpairedStart..<unpairedEnd.reference), Array(unpairedStart..<unpairedEnd.candidate))
  }

  private func areEquivalent(
    _ event: IndexedEvent, _ candidateEvent: IndexedEvent, delayedBy delay: Double
  ) -> Bool {
    abs(candidateEvent.timeSeconds - event.timeSeconds - delay) <= Self.minimumTimeDifferenceSeconds
      && event.isEquivalent(to: candidateEvent)
  }

  /// Pairs the remaining events of each kind: first equal events, then the others by cost.
  private mutating func pairRemainingEvents(_ indices: [Int], _ candidateIndices: [Int]) {
    for kind in HapticEvent.Kind.allCases {
      var unpaired = indices.filter { referenceEvents[$0].kind == kind }
      var candidateUnpaired = candidateIndices.filter { candidateEvents[$0].kind == kind }
      var indicesByKey: [EqualityKey: [Int]] = [:]
      for index in candidateUnpaired.reversed() {
        indicesByKey[EqualityKey(candidateEvents[index]), default: []].append(index)
      }
      var pairedCandidates = Set<Int>()
      unpaired.removeAll { index in
        guard let candidateIndex = indicesByKey[EqualityKey(referenceEvents[index])]?.popLast()
        else {
          return false
        }
        pairedCandidates.insert(candidateIndex)
        pairedEventIndices.append((index, candidateIndex))
        return true
      }
      candidateUnpaired.removeAll { pairedCandidates.contains($0) }
      let aligned = SequenceAlignment.pairs(
        unpaired.map { referenceEvents[$0].timeSeconds },
        candidateUnpaired.map { candidateEvents[$0].timeSeconds }
      ) {
        referenceEvents[unpaired[$0]].pairingCost(with: candidateEvents[candidateUnpaired[$1]])
      }
      pairedEventIndices += aligned.map { (unpaired[$0], candidateUnpaired[$1]) }
    }
  }

  /// A hashable key that equal events share.
  ///
  /// The key consists of the time and values, rounded to 10⁻⁵, and the sound file.
  private struct EqualityKey: Hashable {
    /// The time, the duration, and the parameter values, in multiples of 10⁻⁵.
    private let quantizedValues: [Int64]
    private let path: String?

    init(_ event: IndexedEvent) {
      quantizedValues = ([event.timeSeconds, event.durationSeconds ?? -1] + event.parameterValues)
        .map {
          value in
          Int64((min(max(value, -1e9), 1e9) * 1e5).rounded())
        }
      path = event.audioWaveform?.path
    }
  }
}
