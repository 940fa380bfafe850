internal import CMath
import HapticModel
import HapticRender
import RecordingAnalysis

/// The differences between the dynamic parameters and curves of two compositions.
///
/// Only the effect counts: two ways to write the same line are equal.
struct ControlDifferences {
  private let profile: TransducerProfile
  private let options: ComparisonOptions
  private let timeMapping: EventMatch.TimeMapping
  private(set) var differences: [Difference] = []

  /// Finds the differences of haptic or of audio controls.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - candidate: The candidate.
  ///   - areHaptic: Pass true for haptic controls, and false for audio controls.
  ///   - match: The pairs of events.
  ///   - profile: The profile of both patterns.
  ///   - options: The options of the comparison.
  init(
    _ reference: HapticComposition, _ candidate: HapticComposition, areHaptic: Bool,
    match: EventMatch, profile: TransducerProfile, options: ComparisonOptions
  ) {
    self.profile = profile
    self.options = options
    timeMapping = match.timeMapping
    // Missing and added events are reported without their controls.
    var eventsByLayers: [[Int]: [IndexedEvent]] = [:]
    for (index, candidateIndex) in match.pairedEventIndices {
      let eventPair = [match.referenceEvents[index], match.candidateEvents[candidateIndex]]
      eventsByLayers[eventPair.map(\.layerIndex), default: []] += eventPair
    }
    let hasLayers = max(reference.layers.count, candidate.layers.count) > 1
    for (layers, events) in eventsByLayers.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) })
    {
      let ranges = [true, false].map { isHaptic in
        Self.soundingRanges(of: events.filter { $0.isHaptic == isHaptic })
      }
      for id in DynamicParameterID.allCases where id.isHaptic == areHaptic {
        let patterns = (reference.layers[layers[0]].pattern, candidate.layers[layers[1]].pattern)
        findDifference(
          of: id, in: patterns, layerName: hasLayers ? "layer \(layers[1] + 1) " : "",
          ranges: ranges[id.isHaptic ? 0 : 1])
      }
    }
  }

  /// Returns the time ranges in which any event sounds, including tails and bursts.
  private static func soundingRanges(of events: [IndexedEvent]) -> [ClosedRange<Double>] {
    var mergedRanges: [ClosedRange<Double>] = []
    for event in events.sorted(by: { $0.timeSeconds < $1.timeSeconds }) {
      // A sound file without a duration can be as long as a pattern.
      let isOpen = event.kind.playsFile && event.durationSeconds == nil
      let startSeconds = max(0, event.timeSeconds)
      let endSeconds =
        max(startSeconds, event.timeSeconds)
        + (isOpen ? HapticEvent.defaultDurationSeconds : event.durationSeconds ?? 0)
      let soundingRange = startSeconds...(endSeconds + event.tailSeconds)
      if let lastRange = mergedRanges.last, lastRange.upperBound >= soundingRange.lowerBound {
        mergedRanges[mergedRanges.count - 1] =
          lastRange.lowerBound...max(lastRange.upperBound, soundingRange.upperBound)
      } else {
        mergedRanges.append(soundingRange)
      }
    }
    return mergedRanges
  }

  /// Finds the differences in one dynamic parameter between two matching layers.
  private mutating func findDifference(
    of id: DynamicParameterID, in patterns: (HapticPattern, HapticPattern), layerName: String,
    ranges: [ClosedRange<Double>]
  ) {
    let referenceControl = ControlTimeline(of: id, in: patterns.0)
    let candidateControl = ControlTimeline(of: id, in: patterns.1)
    func findDeviation(from control: ControlTimeline) -> ControlTimeline.Deviation? {
      control.deviation(of: candidateControl, in: ranges) {
        id.amount(from: $0, to: $1, profile: profile)
      }
    }
    var appliedMapping = EventMatch.TimeMapping()
    guard var deviation = findDeviation(from: referenceControl) else { return }
    if self.timeMapping != appliedMapping {
      // Controls that move with the events do not count as a difference.
      let retimed = referenceControl.retimed(
        by: self.timeMapping, neutralValue: Double(id.neutralValue))
      guard let retimedDeviation = findDeviation(from: retimed) else { return }
      if retimedDeviation.durationSeconds < deviation.durationSeconds {
        deviation = retimedDeviation
        appliedMapping = self.timeMapping
      }
    }
    var referenceItems = ControlItem.items(for: id, in: patterns.0)
    for index in referenceItems.indices {
      referenceItems[index].time = appliedMapping.candidateTime(at: referenceItems[index].time)
      for point in referenceItems[index].points.indices {
        referenceItems[index].points[point].time *= appliedMapping.timeScale
      }
    }
    let candidateItems = ControlItem.items(for: id, in: patterns.1)
    let differenceBuilder = ControlDifferenceBuilder(
      id: id, layerName: layerName, profile: profile, options: options, deviation: deviation)
    let changedPairs = Self.changedItemPairs(referenceItems, candidateItems)
    if changedPairs.count == 1,
      let difference = differenceBuilder.difference(changedPairs[0].0, changedPairs[0].1)
    {
      differences.append(difference)
      return
    }
    let areCurves = changedPairs.allSatisfy { ($0 ?? $1)?.isCurve ?? false }
    differences.append(
      differenceBuilder.difference(count: changedPairs.count, areCurves: areCurves))
  }

  /// Returns the pairs of a reference item and a candidate item that differ.
  ///
  /// An item without a counterpart is paired with nil.
  private static func changedItemPairs(
    _ referenceItems: [ControlItem], _ candidateItems: [ControlItem]
  ) -> [(ControlItem?, ControlItem?)] {
    func areEqual(_ referenceItem: ControlItem, _ candidateItem: ControlItem) -> Bool {
      ControlItem.areSimultaneous(referenceItem.time, candidateItem.time)
        && referenceItem.isEquivalent(to: candidateItem)
    }
    let itemPairs = SequenceAlignment.pairs(
      referenceItems.map(\.time), candidateItems.map(\.time)
    ) {
      referenceItems[$0].pairingCost(with: candidateItems[$1])
    }
    let pairedReferenceIndices = Set(itemPairs.map(\.0))
    let pairedCandidateIndices = Set(itemPairs.map(\.1))
    var changedPairs: [(ControlItem?, ControlItem?)] = []
    for (index, candidateIndex) in itemPairs
    where !areEqual(referenceItems[index], candidateItems[candidateIndex]) {
      changedPairs.append((referenceItems[index], candidateItems[candidateIndex]))
    }
    for index in referenceItems.indices where !pairedReferenceIndices.contains(index) {
      changedPairs.append((referenceItems[index], nil))
    }
    for index in candidateItems.indices where !pairedCandidateIndices.contains(index) {
      changedPairs.append((nil, candidateItems[index]))
    }
    return changedPairs
  }
}

extension ControlTimeline {
  /// Returns the control with its times mapped like the times of the events.
  ///
  /// - Parameters:
  ///   - timeMapping: The mapping of times.
  ///   - neutralValue: The value before a step or curve that starts at 0 and now starts later.
  func retimed(by timeMapping: EventMatch.TimeMapping, neutralValue: Double) -> ControlTimeline {
    mappingSegments { segment in
      let candidateStart = timeMapping.candidateTime(at: segment.startPosition)
      let retimed = Segment(
        startPosition: candidateStart, startValue: segment.startValue,
        slopePerPositionUnit: segment.slopePerPositionUnit / timeMapping.timeScale,
        sourceStartPosition: segment.sourceStartPosition)
      return segment.startPosition == 0 && candidateStart > 0
        ? [Segment(startPosition: 0, startValue: neutralValue), retimed] : [retimed]
    }
  }

  /// A time range in which two controls differ.
  struct Deviation {
    var timeRange: ClosedRange<Double>
    /// The time of the maximum difference.
    var peakTime: Double
    /// The value of the first control at that time.
    var referenceValue: Double
    /// The value of the second control at that time.
    var candidateValue: Double

    var durationSeconds: Double { timeRange.upperBound - timeRange.lowerBound }
  }

  /// Returns the deviation from another control within time ranges, or nil if there is none.
  ///
  /// The deviation consists of its time range and the values at its maximum.
  ///
  /// - Parameters:
  ///   - other: The other control.
  ///   - ranges: The time ranges, sorted and disjoint.
  ///   - amount: Returns the amount of difference between two values.
  func deviation(
    of other: ControlTimeline, in ranges: [ClosedRange<Double>], amount: (Double, Double) -> Double
  ) -> Deviation? {
    let segmentStarts = (segments + other.segments).map(\.startPosition)
    let boundaryTimes = Set(segmentStarts + ranges.flatMap { [$0.lowerBound, $0.upperBound] })
      .sorted()
    var remainingRanges: ArraySlice<ClosedRange<Double>> = ranges[...]
    var maximumDeviation: Deviation?
    var maximumChangeAmount = 0.0
    var segmentIndex = 0
    var otherSegmentIndex = 0
    for (start, end) in zip(boundaryTimes, boundaryTimes.dropFirst()) {
      while segmentIndex + 1 < segments.count, segments[segmentIndex + 1].startPosition <= start {
        segmentIndex += 1
      }
      while otherSegmentIndex + 1 < other.segments.count,
        other.segments[otherSegmentIndex + 1].startPosition <= start
      {
        otherSegmentIndex += 1
      }
      // Boundaries closer than a frame are one boundary, written in two ways.
      guard end - start > EventMatch.minimumTimeDifferenceSeconds else { continue }
      while let firstRange = remainingRanges.first, firstRange.upperBound <= start {
        remainingRanges.removeFirst()
      }
      guard let currentRange = remainingRanges.first, currentRange.lowerBound <= start else {
        continue
      }
      for time in [start, end] {
        let referenceValue = segments[segmentIndex].value(at: time)
        let candidateValue = other.segments[otherSegmentIndex].value(at: time)
        guard abs(candidateValue - referenceValue) > 1e-4 else { continue }
        let changeAmount = abs(amount(referenceValue, candidateValue))
        let startTime = min(maximumDeviation?.timeRange.lowerBound ?? start, start)
        let endTime = max(maximumDeviation?.timeRange.upperBound ?? end, end)
        maximumDeviation?.timeRange = startTime...endTime
        guard maximumDeviation == nil || changeAmount > maximumChangeAmount else { continue }
        maximumChangeAmount = changeAmount
        maximumDeviation = Deviation(
          timeRange: startTime...endTime, peakTime: time, referenceValue: referenceValue,
          candidateValue: candidateValue)
      }
    }
    return maximumDeviation
  }
}

extension DynamicParameterID {
  /// The name of the control in sentences.
  fileprivate var displayName: String {
    switch self {
    case .hapticIntensityControl: "intensity"
    case .hapticSharpnessControl: "sharpness"
    case .hapticAttackTimeControl: "attack"
    case .hapticDecayTimeControl: "decay"
    case .hapticReleaseTimeControl: "release"
    case .audioVolumeControl: "volume"
    case .audioPanControl: "pan"
    case .audioPitchControl: "pitch"
    case .audioBrightnessControl: "brightness"
    case .audioAttackTimeControl: "audio attack"
    case .audioDecayTimeControl: "audio decay"
    case .audioReleaseTimeControl: "audio release"
    }
  }

  /// The kind of difference that a change of the control causes.
  fileprivate var differenceKind: Difference.Kind {
    let continuousKind: HapticEvent.Kind = isHaptic ? .hapticContinuous : .audioContinuous
    return Difference.Kind.eventParameterKinds.first {
      $0.parameter(of: continuousKind) == eventParameter
    }
      ?? .level
  }

  /// Returns the rendered difference between two values of the control.
  ///
  /// The unit is that of `differenceKind`. The rendering depends on the profile.
  ///
  /// If the frequency mapping is linear, a change of sharpness is relative to the center of the
  /// band. A change of an envelope time is relative to zero.
  fileprivate func amount(
    from before: Double, to after: Double, profile: TransducerProfile
  ) -> Double {
    guard differenceKind == .frequency else {
      return differenceKind.amount(
        from: before, to: after, of: isHaptic ? .hapticContinuous : .audioContinuous,
        profile: profile)
    }
    let frequencyMapping = profile.frequency
    if !isHaptic { return 100 * (pow(2, after - before) - 1) }
    return switch frequencyMapping.scale {
    case .logarithmic:
      100 * (pow(frequencyMapping.highHertz / frequencyMapping.lowHertz, after - before) - 1)
    case .linear:
      100 * (frequencyMapping.highHertz - frequencyMapping.lowHertz) * (after - before)
        / ((frequencyMapping.lowHertz + frequencyMapping.highHertz) / 2)
    }
  }
}

/// A builder of the difference in one control between two takes.
private struct ControlDifferenceBuilder {
  private let kind: Difference.Kind
  private let controlName: String
  private let candidateLabel: String
  private let referenceLabel: String
  private let deviation: ControlTimeline.Deviation
  private let changeAmount: Double
  /// The change with its direction, such as `3.9 dB weaker`.
  private let changeText: String
  /// The maximum change with its direction, such as `up to 3.9 dB weaker`.
  private let maximumChangeText: String

  init(
    id: DynamicParameterID, layerName: String, profile: TransducerProfile,
    options: ComparisonOptions, deviation: ControlTimeline.Deviation
  ) {
    self.deviation = deviation
    kind = id.differenceKind
    controlName = layerName + id.displayName
    candidateLabel = options.candidateLabel
    referenceLabel = options.referenceLabel
    changeAmount = id.amount(
      from: deviation.referenceValue, to: deviation.candidateValue, profile: profile)
    changeText = kind.changeText(changeAmount)
    let isSilence =
      kind == .level && abs(changeAmount) >= Difference.Kind.maximumLevelDifferenceDecibels
    if isSilence {
      maximumChangeText = changeAmount < 0 ? "down to silence" : "up from silence"
    } else {
      maximumChangeText = "up to " + changeText
    }
  }

  private func difference(
    _ isCurve: Bool, _ sentence: String, before: Double? = nil, after: Double? = nil,
    shift: Double? = nil
  ) -> Difference {
    Difference(
      isCurve ? .curve : .parameter, in: deviation.timeRange, amount: shift ?? changeAmount,
      unit: shift == nil ? kind.unit : .seconds, referenceValue: before ?? deviation.referenceValue,
      candidateValue: after ?? deviation.candidateValue,
      significance: JustNoticeableDifference.count(in: changeAmount, unit: kind.unit),
      sentence: sentence + ".")
  }

  /// Returns the difference for one changed curve or dynamic parameter.
  ///
  /// Returns nil if one sentence cannot describe the change.
  ///
  /// - Parameters:
  ///   - item: The item of the reference, or nil if it was added.
  ///   - candidateItem: The item of the candidate, or nil if it is missing.
  func difference(_ item: ControlItem?, _ candidateItem: ControlItem?) -> Difference? {
    if let item, let candidateItem { return pairDifference(item, candidateItem) }
    guard let unpairedItem = item ?? candidateItem else { return nil }
    let itemTimeText = SentenceFormatting.time(unpairedItem.time)
    let valueText = SentenceFormatting.number(unpairedItem.firstPointValue, places: 3)
    let predicateText =
      switch (unpairedItem.isCurve, item == nil) {
      case (true, true):
        "has an extra \(controlName) curve from \(itemTimeText): \(maximumChangeText)"
      case (true, false):
        """
        is missing \(referenceLabel)'s \(controlName) curve at \(itemTimeText): \
        \(maximumChangeText)
        """
      case (false, true): "sets \(controlName) to \(valueText) at \(itemTimeText): \(changeText)"
      case (false, false):
        "does not set \(controlName) to \(valueText) at \(itemTimeText): \(changeText)"
      }
    return difference(unpairedItem.isCurve, "\(candidateLabel) \(predicateText)")
  }

  private func pairDifference(
    _ item: ControlItem, _ candidateItem: ControlItem
  ) -> Difference? {
    let subjectText = "\(candidateLabel)'s \(controlName) \(item.isCurve ? "curve" : "step")"
    if item.isEquivalent(to: candidateItem) {
      let shiftSeconds = candidateItem.time - item.time
      let shiftText = Difference.Kind.time.changeText(shiftSeconds)
      return difference(
        item.isCurve,
        "\(subjectText) is \(shiftText), at \(SentenceFormatting.time(candidateItem.time))",
        before: item.time, after: candidateItem.time, shift: shiftSeconds)
    }
    guard ControlItem.areSimultaneous(item.time, candidateItem.time) else { return nil }
    if item.isCurve { return pointDifference(item, candidateItem) }
    return difference(
      false,
      "\(subjectText) at \(SentenceFormatting.time(item.time)) is \(changeText): "
        + SentenceFormatting.values(candidateItem.firstPointValue, insteadOf: item.firstPointValue),
      before: item.firstPointValue,
      after: candidateItem.firstPointValue)
  }

  private func pointDifference(
    _ item: ControlItem, _ candidateItem: ControlItem
  ) -> Difference? {
    guard item.points.count == candidateItem.points.count else { return nil }
    let changedPointIndices = item.points.indices.filter { index in
      let point = item.points[index]
      let candidatePoint = candidateItem.points[index]
      return !ControlItem.areSimultaneous(point.time, candidatePoint.time)
        || abs(point.value - candidatePoint.value) >= 1e-5
    }
    guard changedPointIndices.count == 1, let pointIndex = changedPointIndices.first else {
      return nil
    }
    let referencePoint = item.points[pointIndex]
    let candidatePoint = candidateItem.points[pointIndex]
    let pointName =
      SentenceFormatting.ordinalWord(pointIndex + 1).map { "\($0) point" }
      ?? "point \(pointIndex + 1)"
    let subjectText = "The \(pointName) of \(candidateLabel)'s \(controlName) curve"
    let candidateTimeText = SentenceFormatting.time(candidateItem.time + candidatePoint.time)
    if abs(referencePoint.value - candidatePoint.value) < 1e-5 {
      let shiftSeconds = candidatePoint.time - referencePoint.time
      let shiftText = Difference.Kind.time.changeText(shiftSeconds)
      let distanceText = SentenceFormatting.magnitude(changeAmount, unit: kind.unit)
      return difference(
        true,
        "\(subjectText) is \(shiftText), at \(candidateTimeText): up to \(distanceText) apart",
        before: item.time + referencePoint.time, after: candidateItem.time + candidatePoint.time,
        shift: shiftSeconds)
    }
    let valuesText = SentenceFormatting.values(
      Double(candidatePoint.value), insteadOf: Double(referencePoint.value))
    guard ControlItem.areSimultaneous(referencePoint.time, candidatePoint.time) else {
      return difference(true, "\(subjectText) moves to \(valuesText) at \(candidateTimeText)")
    }
    let timeText = SentenceFormatting.time(item.time + referencePoint.time)
    return difference(
      true, "\(subjectText), at \(timeText), is \(valuesText): \(maximumChangeText)",
      before: Double(referencePoint.value), after: Double(candidatePoint.value))
  }

  /// Returns one difference that summarizes several changed curves or dynamic parameters.
  func difference(count: Int, areCurves: Bool) -> Difference {
    let controlNoun = areCurves ? "curve" : "control"
    let verbEnding = count > 1 ? "s differ" : " differs"
    let rangeText = SentenceFormatting.range(deviation.timeRange)
    let peakTimeText = SentenceFormatting.time(deviation.peakTime)
    return difference(
      areCurves,
      "\(candidateLabel)'s \(controlName) \(controlNoun)\(verbEnding) between \(rangeText): "
        + "\(maximumChangeText) at \(peakTimeText)"
    )
  }
}

/// A dynamic parameter or a parameter curve of a pattern.
struct ControlItem {
  /// The time, in seconds from the start of the pattern.
  var time: Double
  /// The control points, with times from the start of the item. A dynamic parameter has one point.
  var points: [ParameterCurve.ControlPoint]
  var isCurve: Bool

  /// The value of the first control point.
  var firstPointValue: Double { Double(points.first?.value ?? 0) }

  /// Returns the dynamic parameters and curves of a pattern for one control, sorted by time.
  static func items(for id: DynamicParameterID, in pattern: HapticPattern) -> [ControlItem] {
    let parameterItems = pattern.parameters.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: [.init(time: 0, value: $0.value)], isCurve: false)
    }
    let curveItems = pattern.curves.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: $0.controlPoints, isCurve: true)
    }
    return (parameterItems + curveItems).sorted { $0.time < $1.time }
  }

  /// Returns whether another item has the same effect, regardless of its start time.
  func isEquivalent(to other: ControlItem) -> Bool {
    isCurve == other.isCurve && points.count == other.points.count
      && zip(points, other.points).allSatisfy {
        Self.areSimultaneous($0.time, $1.time) && abs($0.value - $1.value) < 1e-5
      }
  }

  /// Returns whether two times are less than a frame apart.
  static func areSimultaneous(_ first: Double, _ second: Double) -> Bool {
    abs(first - second) <= EventMatch.minimumTimeDifferenceSeconds
  }

  /// Returns the cost of pairing this item with another item.
  ///
  /// The cost is 0 for equivalent items at the same time, and 1 for a distance of one second.
  func pairingCost(with other: ControlItem) -> Double {
    guard isCurve == other.isCurve else { return .infinity }
    let distanceSeconds = abs(time - other.time)
    if isEquivalent(to: other) { return distanceSeconds }
    return distanceSeconds + (0.1 + min(0.5, abs(firstPointValue - other.firstPointValue) / 4))
  }
}
