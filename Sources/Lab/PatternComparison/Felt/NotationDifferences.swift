import HapticModel
import RecordingAnalysis

/// The differences in notation between two patterns, as sentences without amounts.
struct NotationDifferences {
  private let reference: Take
  private let candidate: Take
  private let composition: HapticComposition
  private let candidateComposition: HapticComposition
  private let options: ComparisonOptions

  /// The maximum number of sentences of one kind.
  private static let maximumSentenceCount = 6

  init(
    _ reference: Take, _ candidate: Take, _ composition: HapticComposition,
    _ candidateComposition: HapticComposition, options: ComparisonOptions
  ) {
    self.reference = reference
    self.candidate = candidate
    self.composition = composition
    self.candidateComposition = candidateComposition
    self.options = options
  }

  /// Returns sentences about the differences in notation.
  ///
  /// - Parameters:
  ///   - pulses: The transients of one pattern that the other pattern has as short vibrations.
  ///   - written: The differences in values without an effect.
  ///   - list: The names of events.
  func sentences(
    pulses: [FeltPulse], written: [Difference], list: DifferenceList
  ) -> [String] {
    var sentences: [String] = []
    if let referenceFormat = reference.format, let candidateFormat = candidate.format,
      referenceFormat.title != candidateFormat.title
    {
      sentences.append(
        "\(options.candidateLabel) is \(candidateFormat.title); "
          + "\(options.referenceLabel) is \(referenceFormat.title)."
      )
    }
    sentences += elementCountSentences()
    sentences += Self.limitedSentences(pulses.map(sentence(for:)))
    // Between two formats, nearly every value is written in another way.
    if reference.format == candidate.format {
      sentences += Self.limitedSentences(written.compactMap { sentence(for: $0, list: list) })
    }
    return sentences
  }

  private static func limitedSentences(_ sentences: [String]) -> [String] {
    let omittedCount = sentences.count - maximumSentenceCount
    return sentences.prefix(maximumSentenceCount)
      + (omittedCount > 0 ? ["And \(omittedCount) more."] : [])
  }

  // MARK: - Counts

  private func elementCountSentences() -> [String] {
    let referenceCounts = Self.elementCounts(of: composition)
    let candidateCounts = Self.elementCounts(of: candidateComposition)
    return zip(referenceCounts, candidateCounts).compactMap { count, candidateCount in
      guard count.number != candidateCount.number else { return nil }
      let noun = candidateCount.number == 1 ? candidateCount.noun : candidateCount.noun + "s"
      return "\(options.candidateLabel) has \(candidateCount.number) \(noun), "
        + "\(options.referenceLabel) has \(count.number)."
    }
  }

  private static func elementCounts(
    of composition: HapticComposition
  ) -> [(noun: String, number: Int)] {
    let patterns = composition.layers.map(\.pattern)
    let events = patterns.flatMap(\.events)
    let curves = patterns.flatMap(\.curves)
    let parameters = patterns.flatMap(\.parameters)
    return [
      ("transient", events.count { $0.kind == .hapticTransient }),
      ("continuous event", events.count { $0.kind == .hapticContinuous }),
      ("intensity curve", curves.count { $0.id == .hapticIntensityControl }),
      ("sharpness curve", curves.count { $0.id == .hapticSharpnessControl }),
      ("dynamic parameter", parameters.count),
    ]
  }

  // MARK: - Pulses

  private func sentence(for pulse: FeltPulse) -> String {
    let ownerComposition = pulse.isInReference ? composition : candidateComposition
    let takeLabels = [options.referenceLabel, options.candidateLabel]
    let ownerLabel = pulse.isInReference ? takeLabels[0] : takeLabels[1]
    let otherLabel = pulse.isInReference ? takeLabels[1] : takeLabels[0]
    let ownerEvents = IndexedEvent.events(of: ownerComposition)
    let eventNames = EventNames(ownerEvents, takeLabel: ownerLabel)
    let pulseEvent = ownerEvents.first { $0.compositionIndex == pulse.transient.eventIndex }
    let transientName =
      pulseEvent.map { eventNames.possessiveName(of: $0) } ?? "\(ownerLabel)'s transient"
    let timeText = SentenceFormatting.time(pulseEvent?.timeSeconds ?? pulse.transient.time)
    return "\(transientName), at \(timeText), is a short vibration in \(otherLabel)."
  }

  // MARK: - Values

  /// Returns the sentence for a difference in values, or nil if only its amount matters.
  private func sentence(for difference: Difference, list: DifferenceList) -> String? {
    switch difference.kind {
    case .missing, .added, .order:
      return difference.sentence
    case .curve, .parameter:
      // The effect follows a colon.
      let words = difference.sentence.split(separator: ":", maxSplits: 1)[0]
      return words.hasSuffix(".") ? String(words) : words + "."
    default:
      return valueSentence(for: difference, list: list)
    }
  }

  private func valueSentence(for difference: Difference, list: DifferenceList) -> String? {
    let candidateEvents = IndexedEvent.events(of: candidateComposition)
    let differingIndices = Set(difference.candidateEventIndices)
    let differingEvents = candidateEvents.filter { differingIndices.contains($0.compositionIndex) }
    guard let firstEvent = differingEvents.first, let before = difference.referenceValue,
      let after = difference.candidateValue
    else { return nil }
    let subject = list.candidateNames.subject(for: differingEvents)
    let valuesText = SentenceFormatting.values(after, insteadOf: before)
    switch difference.kind {
    case .time:
      return subject.withVerb("starts", plural: "start") + " at \(valuesText) s."
    case .duration:
      return subject.withVerb("lasts", plural: "last") + " \(valuesText) s."
    default:
      let valueName = difference.kind.valueName(of: firstEvent.kind)
      return subject.withVerb("has", plural: "have") + " \(valueName) \(valuesText)."
    }
  }
}
