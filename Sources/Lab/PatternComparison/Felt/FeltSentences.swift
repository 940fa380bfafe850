internal import CMath
import HapticModel
import RecordingAnalysis

/// A writer of sentences about the differences in feeling between two patterns.
struct FeltSentences {
  private let events: [Int: IndexedEvent]
  private let candidateEvents: [Int: IndexedEvent]
  private let options: ComparisonOptions
  private let emptyDifferenceList: DifferenceList

  /// The maximum distance between onsets or ends of corresponding events, in seconds.
  private static let maximumCounterpartSeconds = 0.01

  /// Creates a writer with the names of the events.
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
    let referenceEvents = IndexedEvent.events(of: composition)
    let candidateEvents = IndexedEvent.events(of: candidate)
    self.events = Dictionary(
      uniqueKeysWithValues: referenceEvents.map { ($0.compositionIndex, $0) })
    self.candidateEvents = Dictionary(
      uniqueKeysWithValues: candidateEvents.map { ($0.compositionIndex, $0) })
    self.options = options
    emptyDifferenceList = DifferenceList(
      candidateNames: EventNames(candidateEvents, takeLabel: options.candidateLabel),
      referenceNames: EventNames(referenceEvents, takeLabel: options.referenceLabel),
      overallRange: range)
  }

  /// Returns a described difference for each difference in feeling.
  ///
  /// - Parameters:
  ///   - feltDifferences: The differences.
  ///   - clock: Returns the mapping of the reference's times to the candidate's for a difference.
  func differences(
    for feltDifferences: [FeltDifference], clock: (FeltDifference) -> TimeWarp
  ) -> [Difference] {
    var differenceList = emptyDifferenceList
    for felt in feltDifferences {
      addDifference(withCounterparts(felt, clock: clock(felt)), to: &differenceList)
    }
    return differenceList.differences
  }

  // MARK: - Events

  /// Returns a difference with the candidate's counterparts of its reference events added.
  private func withCounterparts(_ felt: FeltDifference, clock: TimeWarp) -> FeltDifference {
    guard !felt.isMissingOrAdded, felt.candidateEventIndices.isEmpty,
      !felt.referenceEventIndices.isEmpty
    else {
      return felt
    }
    var shiftSeconds = 0.0
    var lengtheningSeconds = 0.0
    if felt.kind == .time {
      shiftSeconds = felt.amount
    } else if felt.kind == .duration {
      lengtheningSeconds = felt.amount
    }
    let counterpartIndices = felt.referenceEventIndices.compactMap { index -> Int? in
      guard let event = events[index] else { return nil }
      let startSeconds = clock.target(of: event.timeSeconds) + shiftSeconds
      let endSeconds =
        clock.target(of: event.releaseStartSeconds) + shiftSeconds + lengtheningSeconds
      let matchingEvents = candidateEvents.values.filter { candidateEvent in
        candidateEvent.kind == event.kind
          && abs(candidateEvent.timeSeconds - startSeconds) <= Self.maximumCounterpartSeconds
          && abs(candidateEvent.releaseStartSeconds - endSeconds) <= Self.maximumCounterpartSeconds
      }
      return matchingEvents.count == 1 ? matchingEvents[0].compositionIndex : nil
    }
    var matchedDifference = felt
    if counterpartIndices.count == matchedDifference.referenceEventIndices.count {
      matchedDifference.candidateEventIndices = counterpartIndices
    }
    return matchedDifference
  }

  // MARK: - Sentences

  private func addDifference(_ felt: FeltDifference, to list: inout DifferenceList) {
    let difference = difference(for: felt)
    let candidateDifferenceEvents = felt.candidateEventIndices.compactMap { candidateEvents[$0] }
    let originalEvents = felt.referenceEventIndices.compactMap { events[$0] }
    let locationText = felt.location.map { " at \($0.displayName)" } ?? ""
    if felt.isMissingOrAdded {
      let presentEvents = felt.kind == .missing ? originalEvents : candidateDifferenceEvents
      if presentEvents.isEmpty {
        list.add(difference, sentence: presenceSentence(for: felt) + locationText)
      } else {
        list.add(difference, of: presentEvents)
      }
    } else if felt.subject == .whole {
      list.add(difference, detail: locationText)
    } else if !candidateDifferenceEvents.isEmpty {
      list.add(difference, of: candidateDifferenceEvents)
    } else {
      let hasOriginalEvents = !originalEvents.isEmpty
      let sentence = sentence(for: felt, difference, originalEvents)
      list.add(difference, sentence: sentence + (hasOriginalEvents ? "" : locationText))
    }
  }

  private func difference(for felt: FeltDifference) -> Difference {
    let isFrequency = felt.kind == .frequency
    func displayedAmount(_ amount: Double) -> Double {
      isFrequency ? FeltDifference.percent(ofOctaves: amount) : amount
    }
    var difference = Difference(
      felt.kind, in: felt.timeRange, isOverall: felt.subject == .whole && felt.location == nil,
      amount: felt.kind == .tempo ? felt.tempoPercent : displayedAmount(felt.amount),
      referenceEventIndices: felt.referenceEventIndices,
      candidateEventIndices: felt.candidateEventIndices)
    difference.maximumRoundingError =
      isFrequency ? abs(displayedAmount(felt.maximumRoundingError)) : felt.maximumRoundingError
    difference.limitSignificance(to: felt)
    if let spread = felt.amountRange {
      difference.amountRange =
        displayedAmount(spread.lowerBound)...displayedAmount(spread.upperBound)
    }
    if felt.kind == .tempo {
      difference.setMaximumShift(felt.amount)
    }
    if felt.kind == .time, felt.referenceEventIndices.count == 1,
      felt.candidateEventIndices.count == 1
    {
      difference.referenceValue = events[felt.referenceEventIndices[0]]?.timeSeconds
      difference.candidateValue = candidateEvents[felt.candidateEventIndices[0]]?.timeSeconds
    }
    return difference
  }

  private func presenceSentence(for felt: FeltDifference) -> String {
    let rangeText = SentenceFormatting.range(felt.timeRange)
    let candidateLabel = options.candidateLabel
    return felt.kind == .missing
      ? "\(candidateLabel) is missing a vibration of \(options.referenceLabel) between \(rangeText)"
      : "\(candidateLabel) has an extra vibration between \(rangeText)"
  }

  /// Returns the sentence for unpaired events or for a part of a vibration.
  private func sentence(
    for felt: FeltDifference, _ difference: Difference, _ original: [IndexedEvent]
  ) -> String {
    let candidateLabel = options.candidateLabel
    let isTransient = felt.subject == .transient
    let changeText = felt.kind.changeText(difference.amount, isTransient: isTransient)
    guard let firstEvent = original.first else {
      let startText = SentenceFormatting.time(felt.timeRange.lowerBound)
      switch felt.kind {
      case .time: return "\(candidateLabel)'s vibration at \(startText) starts \(changeText)"
      case .duration: return "\(candidateLabel)'s vibration from \(startText) is \(changeText)"
      default:
        return
          "\(candidateLabel) is \(changeText) between \(SentenceFormatting.range(felt.timeRange))"
      }
    }
    let referenceNames = emptyDifferenceList.referenceNames
    if original.count == 1, felt.kind == .time {
      let startText = SentenceFormatting.time(firstEvent.timeSeconds)
      return
        "\(referenceNames.possessiveName(of: firstEvent)), at \(startText), "
        + "starts \(changeText) in \(candidateLabel)"
    }
    let subject = referenceNames.subject(for: original)
    let verbClause =
      felt.kind == .time
      ? subject.withVerb("starts", plural: "start") : subject.withVerb("is", plural: "are")
    return "\(verbClause) \(changeText) in \(candidateLabel)"
  }
}
