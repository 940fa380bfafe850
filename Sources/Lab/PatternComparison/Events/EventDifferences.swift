internal import CMath
import HapticModel
import HapticRender
import RecordingAnalysis

/// The differences between the events of two patterns.
struct EventDifferences {
  private let match: EventMatch
  private let profile: TransducerProfile
  private let options: ComparisonOptions
  private let effectiveValues: EffectiveValues
  private(set) var differenceList: DifferenceList

  /// A value that differs between the two events of a pair.
  private struct Change {
    var event: IndexedEvent
    var candidateEvent: IndexedEvent
    var referenceValue: Double
    var candidateValue: Double
    var amount: Double
  }

  /// Finds the differences between the events of two patterns.
  ///
  /// - Parameters:
  ///   - match: The pairs of events.
  ///   - reference: The composition of the reference.
  ///   - profile: The profile of both patterns.
  ///   - options: The options of the comparison.
  init(
    _ match: EventMatch, of reference: HapticComposition, profile: TransducerProfile,
    options: ComparisonOptions
  ) {
    effectiveValues = EffectiveValues(reference)
    self.match = match
    self.profile = profile
    self.options = options
    let firstEventTime =
      match.referenceEvents.first?.timeSeconds ?? match.candidateEvents.first?.timeSeconds ?? 0
    differenceList = DifferenceList(
      candidateNames: EventNames(match.candidateEvents, takeLabel: options.candidateLabel),
      referenceNames: EventNames(match.referenceEvents, takeLabel: options.referenceLabel),
      overallRange: firstEventTime...firstEventTime)
    if !match.referenceEvents.isEmpty {
      differenceList.overallRange = soundingRange(of: match.referenceEvents)
    }
    findTimeShifts()
    if !findReordering() {
      for kind in Difference.Kind.eventParameterKinds {
        findChanges(of: kind)
      }
      findWaveformChanges()
    }
    findBodyLocationChanges()
    for kind in HapticEvent.Kind.allCases {
      let missing = match.missingEventIndices.map { match.referenceEvents[$0] }
      addUnpairedEvents(.missing, missing.filter { $0.kind == kind })
      let added = match.addedEventIndices.map { match.candidateEvents[$0] }
      addUnpairedEvents(.added, added.filter { $0.kind == kind })
    }
  }

  /// Returns the time range that events cover, including the bursts of transients.
  private func soundingRange(of events: [IndexedEvent]) -> ClosedRange<Double> {
    let startSeconds = events.map(\.timeSeconds).min() ?? 0
    let endTimes = events.map { event in
      event.kind.isTransient
        ? event.timeSeconds + profile.transient.seconds(atSharpness: event.value(.hapticSharpness))
        : event.releaseStartSeconds
    }
    return startSeconds...max(startSeconds, endTimes.max() ?? startSeconds)
  }

  /// Returns one difference for the changes of several event pairs.
  ///
  /// - Parameters:
  ///   - kind: The kind of the difference.
  ///   - changes: The changes.
  ///   - isOverall: Pass true if the difference applies to the whole take.
  ///   - amount: The amount of the difference.
  ///   - hasValues: Pass true to include the values of the first change.
  private func difference(
    _ kind: Difference.Kind, _ changes: [Change], isOverall: Bool = false, amount: Double,
    hasValues: Bool = false
  ) -> Difference {
    var difference = Difference(
      kind, in: soundingRange(of: changes.map(\.event)), isOverall: isOverall, amount: amount,
      referenceValue: hasValues ? changes[0].referenceValue : nil,
      candidateValue: hasValues ? changes[0].candidateValue : nil,
      referenceEventIndices: changes.map(\.event.compositionIndex),
      candidateEventIndices: changes.map(\.candidateEvent.compositionIndex))
    let amountExtremes = Self.extremes(changes)
    if changes.count > 1 {
      difference.amountRange = amountExtremes.minimum...amountExtremes.maximum
    }
    return difference
  }

  /// The pairs of matching reference and candidate events.
  private var eventPairs: [(event: IndexedEvent, candidateEvent: IndexedEvent)] {
    match.pairedEventIndices.map { (match.referenceEvents[$0.0], match.candidateEvents[$0.1]) }
  }

  /// Returns the changed event values of a kind, and the number of pairs with such values.
  private func changes(of kind: Difference.Kind) -> (changes: [Change], pairCount: Int) {
    var changes: [Change] = []
    var pairCount = 0
    for (event, candidateEvent) in eventPairs {
      guard let before = kind.value(of: event), let after = kind.value(of: candidateEvent) else {
        continue
      }
      pairCount += 1
      // Rounding to single precision does not count. With another tempo, durations scale.
      guard abs(after - before) > 1e-5,
        kind != .duration || abs(after - before * match.timeMapping.timeScale) >= 5e-4,
        let amount = effectiveValues.amount(of: kind, from: before, to: after, event, profile)
      else { continue }
      changes.append(
        Change(
          event: event, candidateEvent: candidateEvent, referenceValue: before,
          candidateValue: after,
          amount: amount))
    }
    return (changes, pairCount)
  }

  /// Adds differences for the changed event values of one kind.
  ///
  /// Changes with the same amount become one difference. More than three different amounts become
  /// one summary.
  private mutating func findChanges(of kind: Difference.Kind) {
    let (changes, pairCount) = changes(of: kind)
    guard !changes.isEmpty else { return }
    let changeGroups = Self.groupedByAmount(changes)
    guard changeGroups.count <= 3 else {
      addSummaryDifference(of: kind, changes, pairCount: pairCount)
      return
    }
    for group in changeGroups {
      let firstChange = group[0]
      // An overall difference applies to all haptic or to all audio events, and the other bus is
      // silent.
      let isOverall =
        group.count == pairCount && pairCount > 1
        && match.candidateEvents.allSatisfy { $0.isHaptic == firstChange.event.isHaptic }
      let hasEqualValues = group.allSatisfy {
        abs($0.referenceValue - firstChange.referenceValue) < 1e-4
          && abs($0.candidateValue - firstChange.candidateValue) < 1e-4
          && $0.event.kind == firstChange.event.kind
      }
      let detail =
        hasEqualValues
        ? kind.valueText(
          from: firstChange.referenceValue, to: firstChange.candidateValue,
          of: firstChange.event.kind,
          profile: profile)
        : Self.commonOperationText(for: group, kind: kind)
      differenceList.add(
        difference(
          kind, group, isOverall: isOverall, amount: firstChange.amount, hasValues: hasEqualValues),
        of: group.map(\.candidateEvent), detail: detail.map { ": " + $0 } ?? "")
    }
  }

  /// Adds one difference that summarizes changes with many different amounts.
  private mutating func addSummaryDifference(
    of kind: Difference.Kind, _ changes: [Change], pairCount: Int
  ) {
    let amountExtremes = Self.extremes(changes)
    let valueNames: [Difference.Kind: String] = [
      .frequency: "sharpness", .duration: "length", .pan: "pan position",
    ]
    let valueName = valueNames[kind] ?? kind.rawValue
    let spreadText = SentenceFormatting.amountRange(
      from: amountExtremes.minimum, to: amountExtremes.maximum, unit: kind.unit)
    differenceList.add(
      difference(
        kind, changes, isOverall: changes.count == pairCount,
        amount: amountExtremes.amountFarthestFromZero),
      sentence:
        "\(differenceList.candidateNames.takeLabel)'s \(valueName) differs in "
        + "\(changes.count) of \(pairCount) events"
        + (kind.unit == .none ? "" : ", by \(spreadText)"))
  }

  /// The minimum and maximum amounts of several changes.
  private struct Extremes {
    var minimum: Double
    var maximum: Double
    /// The amount with the greatest magnitude.
    var amountFarthestFromZero: Double { abs(minimum) > abs(maximum) ? minimum : maximum }
  }

  private static func extremes(_ changes: [Change]) -> Extremes {
    let changeAmounts = changes.map(\.amount)
    return Extremes(minimum: changeAmounts.min() ?? 0, maximum: changeAmounts.max() ?? 0)
  }

  /// Groups changes with equal amounts, in descending order of group size.
  ///
  /// The changes of a group are sorted by time.
  private static func groupedByAmount(_ changes: [Change]) -> [[Change]] {
    let changeGroups = changes.grouped(by: \.amount) { max(1e-4, 2e-3 * abs($0)) }
    let sortedGroups = changeGroups.map { group in
      group.sorted { $0.candidateEvent.timeSeconds < $1.candidateEvent.timeSeconds }
    }
    return sortedGroups.sorted { $0.count > $1.count }
  }

  /// Returns the operation that explains all changes of a group, or nil if there is none.
  ///
  /// Examples are `intensity × 0.8` and `sharpness + 0.1`.
  private static func commonOperationText(for group: [Change], kind: Difference.Kind) -> String? {
    let firstChange = group[0]
    guard kind == .level || kind == .frequency,
      group.allSatisfy({ $0.event.isHaptic == firstChange.event.isHaptic })
    else { return nil }
    let valueName = kind.valueName(of: firstChange.event.kind)
    let valueIncrement = firstChange.candidateValue - firstChange.referenceValue
    if group.allSatisfy({ abs($0.candidateValue - $0.referenceValue - valueIncrement) < 1e-4 }) {
      return
        "\(valueName) \(valueIncrement < 0 ? "−" : "+") "
        + SentenceFormatting.number(abs(valueIncrement), places: 3)
    }
    let valueRatio = firstChange.candidateValue / firstChange.referenceValue
    guard firstChange.referenceValue > 0,
      group.allSatisfy({ abs($0.candidateValue - $0.referenceValue * valueRatio) < 1e-4 })
    else {
      return nil
    }
    return "\(valueName) × \(SentenceFormatting.number(valueRatio, places: 3))"
  }

  /// Adds differences for events that are shifted in time.
  ///
  /// A difference concerns the whole pattern, its end, or a group of events with equal shifts.
  private mutating func findTimeShifts() {
    if match.pairedEventIndices.count > 1, match.timeMapping != EventMatch.TimeMapping() {
      addTempoAndDelay()
      return
    }
    var timeChanges = eventPairs.compactMap { event, candidateEvent -> Change? in
      let shiftSeconds = candidateEvent.timeSeconds - event.timeSeconds
      guard abs(shiftSeconds) > EventMatch.minimumTimeDifferenceSeconds else { return nil }
      return Change(
        event: event, candidateEvent: candidateEvent, referenceValue: event.timeSeconds,
        candidateValue: candidateEvent.timeSeconds, amount: shiftSeconds)
    }
    addShiftedTail(removingFrom: &timeChanges)
    let changeGroups = Self.groupedByAmount(timeChanges)
    guard changeGroups.count <= 5 else {
      let amountExtremes = Self.extremes(timeChanges)
      let minimumText = Difference.Kind.time.changeText(amountExtremes.minimum)
      let maximumText = Difference.Kind.time.changeText(amountExtremes.maximum)
      let owner = differenceList.candidateNames.takeLabel
      differenceList.add(
        difference(.time, timeChanges, amount: amountExtremes.amountFarthestFromZero),
        sentence:
          "\(timeChanges.count) of \(owner)'s \(match.candidateEvents.count) events start between "
          + "\(minimumText) and \(maximumText)")
      return
    }
    for group in changeGroups {
      differenceList.add(
        difference(.time, group, amount: group[0].amount, hasValues: group.count == 1),
        of: group.map(\.candidateEvent))
    }
  }

  /// Adds a difference for a shifted end of the pattern, and removes its changes.
  ///
  /// The end is shifted if the last two or more events have the same shift.
  private mutating func addShiftedTail(removingFrom changes: inout [Change]) {
    let pairs = eventPairs
    guard let tailShiftSeconds = changes.last?.amount,
      changes.last?.event.compositionIndex == pairs.last?.event.compositionIndex
    else { return }
    let tailPairs = pairs.reversed().prefix {
      abs($0.candidateEvent.timeSeconds - $0.event.timeSeconds - tailShiftSeconds) < 1e-5
    }
    guard tailPairs.count < pairs.count, tailPairs.count > 1,
      let firstEvent = tailPairs.last?.candidateEvent
    else {
      return
    }
    let tailIndices = Set(tailPairs.map(\.event.compositionIndex))
    let tailChanges = changes.filter { tailIndices.contains($0.event.compositionIndex) }
    changes.removeAll { tailIndices.contains($0.event.compositionIndex) }
    let candidateNames = differenceList.candidateNames
    let firstEventName = candidateNames.name(of: firstEvent)
    let firstTimeText = SentenceFormatting.time(firstEvent.timeSeconds)
    differenceList.add(
      difference(.time, tailChanges, amount: tailShiftSeconds, hasValues: true),
      sentence:
        "From its \(firstEventName) at \(firstTimeText) on, all of \(candidateNames.takeLabel) "
        + "starts \(Difference.Kind.time.changeText(tailShiftSeconds))")
  }

  /// Adds a tempo difference and a delay if the times of all events are linearly related.
  private mutating func addTempoAndDelay() {
    let delaySeconds = match.candidateEvents[0].timeSeconds - match.referenceEvents[0].timeSeconds
    var tempoDifference = Difference(
      .tempo, in: differenceList.overallRange, isOverall: true,
      amount: 100 * (match.timeMapping.timeScale - 1),
      referenceEventIndices: match.referenceEvents.map(\.compositionIndex),
      candidateEventIndices: match.candidateEvents.map(\.compositionIndex))
    if match.timeMapping.timeScale != 1 {
      // If the takes are aligned at the start, the delay does not shift events.
      let alignedDelay = options.alignment == .start ? delaySeconds : 0
      let shifts = eventPairs.map {
        $0.candidateEvent.timeSeconds - $0.event.timeSeconds - alignedDelay
      }
      tempoDifference.setMaximumShift(shifts.max { abs($0) < abs($1) } ?? 0)
      differenceList.add(tempoDifference)
    }
    guard abs(delaySeconds) > EventMatch.minimumTimeDifferenceSeconds else { return }
    differenceList.add(
      Difference(
        .time, in: tempoDifference.timeRange, isOverall: true, amount: delaySeconds,
        referenceValue: match.referenceEvents[0].timeSeconds,
        candidateValue: match.candidateEvents[0].timeSeconds,
        referenceEventIndices: tempoDifference.referenceEventIndices,
        candidateEventIndices: tempoDifference.candidateEventIndices))
  }

  /// Adds a difference for missing or added events.
  private mutating func addUnpairedEvents(_ kind: Difference.Kind, _ events: [IndexedEvent]) {
    guard !events.isEmpty else { return }
    let eventIndices = events.map(\.compositionIndex)
    differenceList.add(
      Difference(
        kind, in: soundingRange(of: events),
        amount: events.map(peakDecibels).max() ?? JustNoticeableDifference.perceptionFloorDecibels,
        referenceEventIndices: kind == .missing ? eventIndices : [],
        candidateEventIndices: kind == .missing ? [] : eventIndices), of: events)
  }

  /// Returns the peak level of an event before controls, in dBFS.
  private func peakDecibels(of event: IndexedEvent) -> Double {
    let peakAmplitude =
      event.isHaptic
      ? profile.frequencyAndLevel(of: event.kind).level
        * profile.intensity.amplitude(atIntensity: event.intensityOrVolume)
      : 0.5 * event.intensityOrVolume
    return peakAmplitude > 1e-6 ? 20 * log10(peakAmplitude) : -120
  }

  /// Adds differences for paired events that play different sound files.
  private mutating func findWaveformChanges() {
    for (event, candidateEvent) in eventPairs {
      guard let referenceWaveform = event.audioWaveform,
        let candidateWaveform = candidateEvent.audioWaveform,
        referenceWaveform != candidateWaveform
      else {
        continue
      }
      let subject = differenceList.candidateNames.subject(for: [candidateEvent])
      let sentence: String
      if referenceWaveform.path != candidateWaveform.path {
        sentence =
          subject.withVerb("plays", plural: "play")
          + " \(candidateWaveform.path) instead of \(referenceWaveform.path)"
      } else if referenceWaveform.isLooping != candidateWaveform.isLooping {
        let loopVerb = candidateWaveform.isLooping ? "repeats" : "no longer repeats"
        sentence = subject.withVerb(loopVerb, plural: "repeat")
      } else {
        let negation = candidateWaveform.usesVolumeEnvelope ? "" : " not"
        sentence = subject.withVerb("is", plural: "are") + negation + " faded in and out"
      }
      differenceList.add(
        Difference(
          .waveform, in: soundingRange(of: [event]),
          referenceEventIndices: [event.compositionIndex],
          candidateEventIndices: [candidateEvent.compositionIndex]),
        sentence: sentence)
    }
  }

  /// The events that moved from one body location to another.
  private struct MovedEvents {
    var locations: [HapticComposition.BodyLocation?]
    var events: [IndexedEvent] = []
    var candidateEvents: [IndexedEvent] = []
  }

  /// Adds a difference if only one pattern addresses body locations.
  ///
  /// - Returns: True if a difference was added.
  private mutating func findMissingBodyLocations() -> Bool {
    func locationNames(_ events: [IndexedEvent]) -> [String] {
      events.compactMap { $0.bodyLocation?.displayName }.reduce(into: []) { names, name in
        if !names.contains(name) {
          names.append(name)
        }
      }
    }
    let referenceLocationNames = locationNames(match.referenceEvents)
    let candidateLocationNames = locationNames(match.candidateEvents)
    guard !match.referenceEvents.isEmpty, !match.candidateEvents.isEmpty,
      referenceLocationNames.isEmpty != candidateLocationNames.isEmpty
    else { return false }
    let locationTexts = [candidateLocationNames, referenceLocationNames].map { names in
      names.isEmpty ? "everywhere" : "at \(names.joined(separator: ", "))"
    }
    differenceList.add(
      Difference(.channels, in: differenceList.overallRange, isOverall: true),
      sentence:
        "\(differenceList.candidateNames.takeLabel) is played \(locationTexts[0]) "
        + "instead of \(locationTexts[1])"
    )
    return true
  }

  /// Adds differences for events that moved to another body location.
  private mutating func findBodyLocationChanges() {
    if findMissingBodyLocations() { return }
    var movedGroups: [MovedEvents] = []
    for (event, candidateEvent) in eventPairs
    where !event.hasSameBodyLocation(as: candidateEvent) {
      let locations = [event.bodyLocation, candidateEvent.bodyLocation]
      let groupIndex = movedGroups.firstIndex { $0.locations == locations } ?? movedGroups.count
      if groupIndex == movedGroups.count {
        movedGroups.append(MovedEvents(locations: locations))
      }
      movedGroups[groupIndex].events.append(event)
      movedGroups[groupIndex].candidateEvents.append(candidateEvent)
    }
    for group in movedGroups {
      let names = group.locations.map { $0.map { "at \($0.displayName)" } ?? "everywhere" }
      let subject = differenceList.candidateNames.subject(for: group.candidateEvents)
      differenceList.add(
        Difference(
          .channels, in: soundingRange(of: group.events),
          referenceEventIndices: group.events.map(\.compositionIndex),
          candidateEventIndices: group.candidateEvents.map(\.compositionIndex)),
        sentence: subject.withVerb("is", plural: "are")
          + " played \(names[1]) instead of \(names[0])")
    }
  }

  /// Adds a difference if the same events of one kind occur in a different order.
  ///
  /// Returns true if the order explains all changed values.
  private mutating func findReordering() -> Bool {
    let referenceEvents = match.referenceEvents
    let candidateEvents = match.candidateEvents
    guard referenceEvents.count == candidateEvents.count,
      match.pairedEventIndices.count == referenceEvents.count,
      match.pairedEventIndices.allSatisfy({ $0.0 == $0.1 })
    else { return false }
    let movedIndices = referenceEvents.indices.filter {
      !referenceEvents[$0].isEquivalent(to: candidateEvents[$0])
    }
    guard movedIndices.count > 1, let firstIndex = movedIndices.first,
      let lastIndex = movedIndices.last
    else { return false }
    let kind = referenceEvents[firstIndex].kind
    guard movedIndices.allSatisfy({ referenceEvents[$0].kind == kind }) else { return false }
    let indicesOfKind = referenceEvents.indices.filter { referenceEvents[$0].kind == kind }
    let isReversed = zip(indicesOfKind, indicesOfKind.reversed()).allSatisfy {
      referenceEvents[$0].isEquivalent(to: candidateEvents[$1])
    }
    let isPairSwapped =
      movedIndices.count == 2
      && referenceEvents[firstIndex].isEquivalent(to: candidateEvents[lastIndex])
      && referenceEvents[lastIndex].isEquivalent(to: candidateEvents[firstIndex])
    guard isReversed || isPairSwapped else { return false }
    let isWholeKindReversed = isReversed && indicesOfKind.count > 2
    let swappedOrdinals = [
      candidateEvents[firstIndex].ordinalNumber, candidateEvents[lastIndex].ordinalNumber,
    ]
    let orderPhrase =
      isWholeKindReversed
      ? "are in reverse order" : "\(swappedOrdinals[0]) and \(swappedOrdinals[1]) are swapped"
    differenceList.add(
      Difference(
        .order, in: soundingRange(of: [referenceEvents[firstIndex], referenceEvents[lastIndex]]),
        isOverall: isWholeKindReversed && indicesOfKind.count == referenceEvents.count,
        referenceEventIndices: movedIndices.map { referenceEvents[$0].compositionIndex },
        candidateEventIndices: movedIndices.map { candidateEvents[$0].compositionIndex }),
      sentence: "\(differenceList.candidateNames.takeLabel)'s \(kind.displayNoun)s " + orderPhrase)
    return true
  }
}

extension Array {
  /// Groups elements with similar values, in ascending order of values.
  ///
  /// The values of a group are within a tolerance of its smallest value.
  ///
  /// - Parameters:
  ///   - value: Returns the value of an element.
  ///   - tolerance: Returns the tolerance of a smallest value.
  func grouped(by value: (Element) -> Double, within tolerance: (Double) -> Double) -> [[Element]] {
    var groups: [[Element]] = []
    for element in sorted(by: { value($0) < value($1) }) {
      if let groupValue = groups.last?.first.map(value),
        abs(value(element) - groupValue) <= tolerance(groupValue)
      {
        groups[groups.count - 1].append(element)
      } else {
        groups.append([element])
      }
    }
    return groups
  }
}
