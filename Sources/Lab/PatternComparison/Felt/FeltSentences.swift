internal import CMath
import HapticModel
import RecordingAnalysis

/// Describes the differences between how two patterns feel in sentences.
struct FeltSentences {
  private let events: [Int: IndexedEvent]
  private let candidateEvents: [Int: IndexedEvent]
  private let options: ComparisonOptions
  private let emptyList: DifferenceList

  /// The maximum time between the onsets or ends of two events that are counterparts, in seconds.
  private static let maximumCounterpartSeconds = 0.01

  /// Prepares the names of events.
  ///
  /// - Parameters:
  ///   - composition: The reference.
  ///   - candidate: The candidate.
  ///   - options: The options of the comparison, with the labels of the takes.
  ///   - range: The time range of the reference.
  init(
    _ composition: HapticComposition, _ candidate: HapticComposition, options: ComparisonOptions,
    range: ClosedRange<Double>
  ) {
    let events = IndexedEvent.events(of: composition)
    let candidateEvents = IndexedEvent.events(of: candidate)
    self.events = Dictionary(uniqueKeysWithValues: events.map { ($0.compositionIndex, $0) })
    self.candidateEvents = Dictionary(
      uniqueKeysWithValues: candidateEvents.map { ($0.compositionIndex, $0) })
    self.options = options
    emptyList = DifferenceList(
      candidateNames: EventNames(candidateEvents, takeLabel: options.candidateLabel),
      referenceNames: EventNames(events, takeLabel: options.referenceLabel), overallRange: range)
  }

  /// Returns the differences with their sentences.
  ///
  /// - Parameters:
  ///   - feltDifferences: The differences.
  ///   - clock: Returns the mapping of the reference's times to the candidate's for a difference.
  func differences(
    for feltDifferences: [FeltDifference], clock: (FeltDifference) -> TimeWarp
  ) -> [Difference] {
    var list = emptyList
    for felt in feltDifferences {
      addDifference(withCounterparts(felt, clock: clock(felt)), to: &list)
    }
    return list.differences
  }

  // MARK: - Events

  /// Returns a difference to which the candidate's counterparts of its reference events were added.
  private func withCounterparts(_ felt: FeltDifference, clock: TimeWarp) -> FeltDifference {
    guard !felt.isPresence, felt.candidateEvents.isEmpty, !felt.referenceEvents.isEmpty else {
      return felt
    }
    var shift = 0.0
    var lengthening = 0.0
    if felt.kind == .time {
      shift = felt.amount
    } else if felt.kind == .duration {
      lengthening = felt.amount
    }
    let counterparts = felt.referenceEvents.compactMap { index -> Int? in
      guard let event = events[index] else { return nil }
      let start = clock.target(of: event.timeSeconds) + shift
      let end = clock.target(of: event.releaseStartSeconds) + shift + lengthening
      let matching = candidateEvents.values.filter { candidateEvent in
        candidateEvent.kind == event.kind
          && abs(candidateEvent.timeSeconds - start) <= Self.maximumCounterpartSeconds
          && abs(candidateEvent.releaseStartSeconds - end) <= Self.maximumCounterpartSeconds
      }
      return matching.count == 1 ? matching[0].compositionIndex : nil
    }
    var felt = felt
    if counterparts.count == felt.referenceEvents.count {
      felt.candidateEvents = counterparts
    }
    return felt
  }

  // MARK: - Sentences

  private func addDifference(_ felt: FeltDifference, to list: inout DifferenceList) {
    let difference = difference(for: felt)
    let named = felt.candidateEvents.compactMap { candidateEvents[$0] }
    let original = felt.referenceEvents.compactMap { events[$0] }
    let location = felt.location.map { " at \($0.displayName)" } ?? ""
    if felt.isPresence {
      let present = felt.kind == .missing ? original : named
      if present.isEmpty {
        list.add(difference, sentence: presenceSentence(for: felt) + location)
      } else {
        list.add(difference, of: present)
      }
    } else if felt.subject == .whole {
      list.add(difference, detail: location)
    } else if !named.isEmpty {
      list.add(difference, of: named)
    } else {
      let isNamed = !original.isEmpty
      let sentence = sentence(for: felt, difference, original)
      list.add(difference, sentence: sentence + (isNamed ? "" : location))
    }
  }

  private func difference(for felt: FeltDifference) -> Difference {
    let isFrequency = felt.kind == .frequency
    func value(_ amount: Double) -> Double {
      isFrequency ? FeltDifference.percent(ofOctaves: amount) : amount
    }
    var difference = Difference(
      felt.kind, in: felt.range, isOverall: felt.subject == .whole && felt.location == nil,
      amount: felt.kind == .tempo ? felt.tempoPercent : value(felt.amount),
      referenceEvents: felt.referenceEvents, candidateEvents: felt.candidateEvents)
    difference.maximumRoundingError =
      isFrequency ? abs(value(felt.maximumRoundingError)) : felt.maximumRoundingError
    difference.limitSignificance(to: felt)
    if let spread = felt.spread {
      difference.spread = value(spread.lowerBound)...value(spread.upperBound)
    }
    if felt.kind == .tempo {
      difference.setMaximumShift(felt.amount)
    }
    if felt.kind == .time, felt.referenceEvents.count == 1, felt.candidateEvents.count == 1 {
      difference.before = events[felt.referenceEvents[0]]?.timeSeconds
      difference.after = candidateEvents[felt.candidateEvents[0]]?.timeSeconds
    }
    return difference
  }

  private func presenceSentence(for felt: FeltDifference) -> String {
    let range = SentenceFormatting.range(felt.range)
    let candidate = options.candidateLabel
    return felt.kind == .missing
      ? "\(candidate) is missing a vibration of \(options.referenceLabel) between \(range)"
      : "\(candidate) has an extra vibration between \(range)"
  }

  /// Returns the sentence for events without counterparts, or for a part of a vibration.
  private func sentence(
    for felt: FeltDifference, _ difference: Difference, _ original: [IndexedEvent]
  ) -> String {
    let candidate = options.candidateLabel
    let isTransient = felt.subject == .transient
    let change = felt.kind.changeText(difference.amount, isTransient: isTransient)
    guard let first = original.first else {
      let start = SentenceFormatting.time(felt.range.lowerBound)
      switch felt.kind {
      case .time: return "\(candidate)'s vibration at \(start) starts \(change)"
      case .duration: return "\(candidate)'s vibration from \(start) is \(change)"
      default:
        return "\(candidate) is \(change) between \(SentenceFormatting.range(felt.range))"
      }
    }
    let names = emptyList.referenceNames
    if original.count == 1, felt.kind == .time {
      let start = SentenceFormatting.time(first.timeSeconds)
      return "\(names.possessiveName(of: first)), at \(start), starts \(change) in \(candidate)"
    }
    let subject = names.subject(for: original)
    let verb =
      felt.kind == .time
      ? subject.withVerb("starts", plural: "start") : subject.withVerb("is", plural: "are")
    return "\(verb) \(change) in \(candidate)"
  }
}
