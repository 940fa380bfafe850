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
    var events: [[Int]: [IndexedEvent]] = [:]
    for (index, candidateIndex) in match.pairs {
      let pair = [match.referenceEvents[index], match.candidateEvents[candidateIndex]]
      events[pair.map(\.layerIndex), default: []] += pair
    }
    let hasLayers = max(reference.layers.count, candidate.layers.count) > 1
    for (layers, events) in events.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
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

  /// Returns the time ranges in which events sound, including tails and bursts.
  private static func soundingRanges(of events: [IndexedEvent]) -> [ClosedRange<Double>] {
    var ranges: [ClosedRange<Double>] = []
    for event in events.sorted(by: { $0.timeSeconds < $1.timeSeconds }) {
      // A sound file without a duration can be as long as a pattern.
      let isOpen = event.kind.playsFile && event.durationSeconds == nil
      let start = max(0, event.timeSeconds)
      let end =
        max(start, event.timeSeconds)
        + (isOpen ? HapticEvent.defaultDurationSeconds : event.durationSeconds ?? 0)
      let range = start...(end + event.tailSeconds)
      if let last = ranges.last, last.upperBound >= range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// Finds the differences in one dynamic parameter between two layers with matching events.
  private mutating func findDifference(
    of id: DynamicParameterID, in patterns: (HapticPattern, HapticPattern), layerName: String,
    ranges: [ClosedRange<Double>]
  ) {
    let control = ControlTimeline(of: id, in: patterns.0)
    let candidateControl = ControlTimeline(of: id, in: patterns.1)
    func findDeviation(from control: ControlTimeline) -> ControlTimeline.Deviation? {
      control.deviation(of: candidateControl, in: ranges) {
        id.amount(from: $0, to: $1, profile: profile)
      }
    }
    var timeMapping = EventMatch.TimeMapping()
    guard var deviation = findDeviation(from: control) else { return }
    if self.timeMapping != timeMapping {
      // Controls that move with the events do not count as a difference.
      let retimed = control.retimed(by: self.timeMapping, neutralValue: Double(id.neutralValue))
      guard let retimedDeviation = findDeviation(from: retimed) else { return }
      if retimedDeviation.durationSeconds < deviation.durationSeconds {
        deviation = retimedDeviation
        timeMapping = self.timeMapping
      }
    }
    var referenceItems = ControlItem.items(for: id, in: patterns.0)
    for index in referenceItems.indices {
      referenceItems[index].time = timeMapping.candidateTime(at: referenceItems[index].time)
      for point in referenceItems[index].points.indices {
        referenceItems[index].points[point].time *= timeMapping.scale
      }
    }
    let candidateItems = ControlItem.items(for: id, in: patterns.1)
    let builder = ControlDifferenceBuilder(
      id: id, layerName: layerName, profile: profile, options: options, deviation: deviation)
    let changed = Self.changedPairs(referenceItems, candidateItems)
    if changed.count == 1, let difference = builder.difference(changed[0].0, changed[0].1) {
      differences.append(difference)
      return
    }
    let areCurves = changed.allSatisfy { ($0 ?? $1)?.isCurve ?? false }
    differences.append(builder.difference(count: changed.count, areCurves: areCurves))
  }

  /// Returns the pairs of a reference and a candidate item that differ. An item without a
  /// counterpart is paired with nil.
  private static func changedPairs(_ items: [ControlItem], _ candidateItems: [ControlItem]) -> [(
    ControlItem?, ControlItem?
  )] {
    func areEqual(_ item: ControlItem, _ candidateItem: ControlItem) -> Bool {
      ControlItem.areSimultaneous(item.time, candidateItem.time)
        && item.isEquivalent(to: candidateItem)
    }
    let pairs = SequenceAlignment.pairs(items.map(\.time), candidateItems.map(\.time)) {
      items[$0].pairingCost(with: candidateItems[$1])
    }
    let paired = Set(pairs.map(\.0))
    let candidatePaired = Set(pairs.map(\.1))
    var changed: [(ControlItem?, ControlItem?)] = []
    for (index, candidateIndex) in pairs
    where !areEqual(items[index], candidateItems[candidateIndex]) {
      changed.append((items[index], candidateItems[candidateIndex]))
    }
    for index in items.indices where !paired.contains(index) {
      changed.append((items[index], nil))
    }
    for index in candidateItems.indices where !candidatePaired.contains(index) {
      changed.append((nil, candidateItems[index]))
    }
    return changed
  }
}

extension ControlTimeline {
  /// Returns the control with its times mapped in the same way as the times of the events.
  ///
  /// - Parameters:
  ///   - timeMapping: The mapping of times.
  ///   - neutralValue: The value before a step or curve that starts at 0 and now starts later.
  func retimed(by timeMapping: EventMatch.TimeMapping, neutralValue: Double) -> ControlTimeline {
    mappingSegments { segment in
      let start = timeMapping.candidateTime(at: segment.startPosition)
      let retimed = Segment(
        startPosition: start, startValue: segment.startValue,
        slopePerPositionUnit: segment.slopePerPositionUnit / timeMapping.scale,
        sourceStartPosition: segment.sourceStartPosition)
      return segment.startPosition == 0 && start > 0
        ? [Segment(startPosition: 0, startValue: neutralValue), retimed] : [retimed]
    }
  }

  /// A time range in which two controls differ.
  struct Deviation {
    var range: ClosedRange<Double>
    /// The time of the maximum difference.
    var peakTime: Double
    /// The value of the first control at that time.
    var before: Double
    /// The value of the second control at that time.
    var after: Double

    var durationSeconds: Double { range.upperBound - range.lowerBound }
  }

  /// Returns the time range and the maximum amount by which another control deviates within the
  /// given ranges, or nil if the controls agree.
  ///
  /// - Parameters:
  ///   - other: The other control.
  ///   - ranges: The time ranges, sorted and disjoint.
  ///   - amount: Returns the amount of difference between two values.
  func deviation(
    of other: ControlTimeline, in ranges: [ClosedRange<Double>], amount: (Double, Double) -> Double
  ) -> Deviation? {
    let starts = (segments + other.segments).map(\.startPosition)
    let boundaries = Set(starts + ranges.flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
    var remaining: ArraySlice<ClosedRange<Double>> = ranges[...]
    var deviation: Deviation?
    var maximumAmount = 0.0
    var cursor = 0
    var otherCursor = 0
    for (start, end) in zip(boundaries, boundaries.dropFirst()) {
      while cursor + 1 < segments.count, segments[cursor + 1].startPosition <= start {
        cursor += 1
      }
      while otherCursor + 1 < other.segments.count,
        other.segments[otherCursor + 1].startPosition <= start
      {
        otherCursor += 1
      }
      // Boundaries closer than a frame are one boundary, written in two ways.
      guard end - start > EventMatch.minimumTimeDifferenceSeconds else { continue }
      while let first = remaining.first, first.upperBound <= start {
        remaining.removeFirst()
      }
      guard let first = remaining.first, first.lowerBound <= start else { continue }
      for time in [start, end] {
        let before = segments[cursor].value(at: time)
        let after = other.segments[otherCursor].value(at: time)
        guard abs(after - before) > 1e-4 else { continue }
        let amount = abs(amount(before, after))
        let lower = min(deviation?.range.lowerBound ?? start, start)
        let upper = max(deviation?.range.upperBound ?? end, end)
        deviation?.range = lower...upper
        guard deviation == nil || amount > maximumAmount else { continue }
        maximumAmount = amount
        deviation = Deviation(range: lower...upper, peakTime: time, before: before, after: after)
      }
    }
    return deviation
  }
}

extension DynamicParameterID {
  /// The name of the parameter in sentences.
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

  /// The kind of difference that the parameter causes.
  fileprivate var differenceKind: Difference.Kind {
    let kind: HapticEvent.Kind = isHaptic ? .hapticContinuous : .audioContinuous
    return Difference.Kind.eventParameterKinds.first { $0.parameter(of: kind) == eventParameter }
      ?? .level
  }

  /// Returns the difference between two parameter values as rendered for a profile, in the unit of
  /// `differenceKind`.
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
    let mapping = profile.frequency
    if !isHaptic { return 100 * (pow(2, after - before) - 1) }
    return switch mapping.scale {
    case .logarithmic: 100 * (pow(mapping.highHertz / mapping.lowHertz, after - before) - 1)
    case .linear:
      100 * (mapping.highHertz - mapping.lowHertz) * (after - before)
        / ((mapping.lowHertz + mapping.highHertz) / 2)
    }
  }
}

/// Builds the difference that describes how one control differs between the takes.
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
  private let extentText: String

  init(
    id: DynamicParameterID, layerName: String, profile: TransducerProfile,
    options: ComparisonOptions, deviation: ControlTimeline.Deviation
  ) {
    self.deviation = deviation
    kind = id.differenceKind
    controlName = layerName + id.displayName
    candidateLabel = options.candidateLabel
    referenceLabel = options.referenceLabel
    changeAmount = id.amount(from: deviation.before, to: deviation.after, profile: profile)
    changeText = kind.changeText(changeAmount)
    let isSilence = kind == .level && abs(changeAmount) >= Difference.Kind.maximumDecibels
    if isSilence {
      extentText = changeAmount < 0 ? "down to silence" : "up from silence"
    } else {
      extentText = "up to " + changeText
    }
  }

  private func difference(
    _ isCurve: Bool, _ sentence: String, before: Double? = nil, after: Double? = nil,
    shift: Double? = nil
  ) -> Difference {
    Difference(
      isCurve ? .curve : .parameter, in: deviation.range, amount: shift ?? changeAmount,
      unit: shift == nil ? kind.unit : .seconds, before: before ?? deviation.before,
      after: after ?? deviation.after,
      significance: JustNoticeableDifference.count(in: changeAmount, unit: kind.unit),
      sentence: sentence + ".")
  }

  /// Returns a difference for a single changed curve or dynamic parameter, or nil if one sentence
  /// cannot describe it.
  ///
  /// - Parameters:
  ///   - item: The item of the reference, or nil if it was added.
  ///   - candidateItem: The item of the candidate, or nil if it is missing.
  func difference(_ item: ControlItem?, _ candidateItem: ControlItem?) -> Difference? {
    if let item, let candidateItem { return pairDifference(item, candidateItem) }
    guard let single = item ?? candidateItem else { return nil }
    let time = SentenceFormatting.time(single.time)
    let value = SentenceFormatting.number(single.value, places: 3)
    let sentence =
      switch (single.isCurve, item == nil) {
      case (true, true): "has an extra \(controlName) curve from \(time): \(extentText)"
      case (true, false):
        "is missing \(referenceLabel)'s \(controlName) curve at \(time): \(extentText)"
      case (false, true): "sets \(controlName) to \(value) at \(time): \(changeText)"
      case (false, false): "does not set \(controlName) to \(value) at \(time): \(changeText)"
      }
    return difference(single.isCurve, "\(candidateLabel) \(sentence)")
  }

  private func pairDifference(
    _ item: ControlItem, _ candidateItem: ControlItem
  ) -> Difference? {
    let subject = "\(candidateLabel)'s \(controlName) \(item.isCurve ? "curve" : "step")"
    if item.isEquivalent(to: candidateItem) {
      let shift = candidateItem.time - item.time
      let shiftText = Difference.Kind.time.changeText(shift)
      return difference(
        item.isCurve,
        "\(subject) is \(shiftText), at \(SentenceFormatting.time(candidateItem.time))",
        before: item.time, after: candidateItem.time, shift: shift)
    }
    guard ControlItem.areSimultaneous(item.time, candidateItem.time) else { return nil }
    if item.isCurve { return pointDifference(item, candidateItem) }
    return difference(
      false,
      "\(subject) at \(SentenceFormatting.time(item.time)) is \(changeText): "
        + SentenceFormatting.values(candidateItem.value, insteadOf: item.value), before: item.value,
      after: candidateItem.value)
  }

  private func pointDifference(
    _ item: ControlItem, _ candidateItem: ControlItem
  ) -> Difference? {
    guard item.points.count == candidateItem.points.count else { return nil }
    let changed = item.points.indices.filter { index in
      let point = item.points[index]
      let candidatePoint = candidateItem.points[index]
      return !ControlItem.areSimultaneous(point.time, candidatePoint.time)
        || abs(point.value - candidatePoint.value) >= 1e-5
    }
    guard changed.count == 1, let index = changed.first else { return nil }
    let point = item.points[index]
    let candidatePoint = candidateItem.points[index]
    let name =
      SentenceFormatting.ordinalWord(index + 1).map { "\($0) point" } ?? "point \(index + 1)"
    let subject = "The \(name) of \(candidateLabel)'s \(controlName) curve"
    let location = SentenceFormatting.time(candidateItem.time + candidatePoint.time)
    if abs(point.value - candidatePoint.value) < 1e-5 {
      let shift = candidatePoint.time - point.time
      let shiftText = Difference.Kind.time.changeText(shift)
      let distance = SentenceFormatting.magnitude(changeAmount, unit: kind.unit)
      return difference(
        true, "\(subject) is \(shiftText), at \(location): up to \(distance) apart",
        before: item.time + point.time, after: candidateItem.time + candidatePoint.time,
        shift: shift)
    }
    let values = SentenceFormatting.values(
      Double(candidatePoint.value), insteadOf: Double(point.value))
    guard ControlItem.areSimultaneous(point.time, candidatePoint.time) else {
      return difference(true, "\(subject) moves to \(values) at \(location)")
    }
    let time = SentenceFormatting.time(item.time + point.time)
    return difference(
      true, "\(subject), at \(time), is \(values): \(extentText)",
      before: Double(point.value), after: Double(candidatePoint.value))
  }

  /// Returns a difference that summarizes several changed curves or dynamic parameters.
  func difference(count: Int, areCurves: Bool) -> Difference {
    let noun = areCurves ? "curve" : "control"
    let predicate = count > 1 ? "s differ" : " differs"
    let range = SentenceFormatting.range(deviation.range)
    let time = SentenceFormatting.time(deviation.peakTime)
    return difference(
      areCurves,
      "\(candidateLabel)'s \(controlName) \(noun)\(predicate) between \(range): \(extentText) "
        + "at \(time)"
    )
  }
}

/// A dynamic parameter, or a curve.
struct ControlItem {
  /// The time, in seconds from the start of the pattern.
  var time: Double
  /// The control points, with times from the start of the item. A dynamic parameter has one point.
  var points: [ParameterCurve.ControlPoint]
  var isCurve: Bool

  /// The value of the first control point.
  var value: Double { Double(points.first?.value ?? 0) }

  /// Returns the dynamic parameters and curves of a pattern for one parameter, sorted by time.
  static func items(for id: DynamicParameterID, in pattern: HapticPattern) -> [ControlItem] {
    let steps = pattern.parameters.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: [.init(time: 0, value: $0.value)], isCurve: false)
    }
    let curves = pattern.curves.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: $0.controlPoints, isCurve: true)
    }
    return (steps + curves).sorted { $0.time < $1.time }
  }

  /// Returns whether another item has the same effect, regardless of its time.
  func isEquivalent(to other: ControlItem) -> Bool {
    isCurve == other.isCurve && points.count == other.points.count
      && zip(points, other.points).allSatisfy {
        Self.areSimultaneous($0.time, $1.time) && abs($0.value - $1.value) < 1e-5
      }
  }

  /// Returns whether two times are closer than a frame.
  static func areSimultaneous(_ first: Double, _ second: Double) -> Bool {
    abs(first - second) <= EventMatch.minimumTimeDifferenceSeconds
  }

  /// Returns the cost of pairing the item with another: 0 for equivalent items at the same time, 1
  /// for a distance of one second.
  func pairingCost(with other: ControlItem) -> Double {
    guard isCurve == other.isCurve else { return .infinity }
    let distance = abs(time - other.time)
    if isEquivalent(to: other) { return distance }
    return distance + (0.1 + min(0.5, abs(value - other.value) / 4))
  }
}
