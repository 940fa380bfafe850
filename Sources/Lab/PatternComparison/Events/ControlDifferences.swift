internal import CMath
import HapticModel
import HapticRender

/// What differs between the dynamic parameters and curves of two compositions.
///
/// Only what takes effect counts: two ways to write one line are the same.
struct ControlDifferences {
  private let profile: TransducerProfile
  private let options: ComparisonOptions
  private let timeMapping: EventMatch.TimeMapping
  private(set) var differences: [Difference] = []

  init(
    _ reference: HapticComposition, _ other: HapticComposition, match: EventMatch,
    profile: TransducerProfile,
    options: ComparisonOptions
  ) {
    self.profile = profile
    self.options = options
    timeMapping = match.timeMapping
    // What is missing or added is reported as such, without its controls.
    var events: [[Int]: [IndexedEvent]] = [:]
    for (index, otherIndex) in match.pairs {
      let pair = [match.reference[index], match.candidate[otherIndex]]
      events[pair.map(\.layer), default: []] += pair
    }
    let hasLayers = max(reference.layers.count, other.layers.count) > 1
    for (layers, events) in events.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let times = [true, false].map { isHaptic in
        Self.soundingRanges(of: events.filter { $0.isHaptic == isHaptic })
      }
      for id in DynamicParameterID.allCases {
        let patterns = (reference.layers[layers[0]].pattern, other.layers[layers[1]].pattern)
        findDifference(
          of: id, in: patterns, layerName: hasLayers ? "layer \(layers[1] + 1) " : "",
          ranges: times[id.isHaptic ? 0 : 1])
      }
    }
  }

  /// The ranges of time in which some events sound, rings and bursts counted.
  private static func soundingRanges(of events: [IndexedEvent]) -> [ClosedRange<Double>] {
    var times: [ClosedRange<Double>] = []
    for event in events.sorted(by: { $0.time < $1.time }) {
      // A sound file without a duration may be as long as a pattern.
      let isOpen = event.kind.playsFile && event.duration == nil
      let start = max(0, event.time)
      let end =
        max(start, event.time) + (isOpen ? HapticEvent.defaultDuration : event.duration ?? 0)
      let range = start...(end + event.tailDuration)
      if let last = times.last, last.upperBound >= range.lowerBound {
        times[times.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        times.append(range)
      }
    }
    return times
  }

  /// Looks for the differences of one parameter in two layers whose events belong together.
  private mutating func findDifference(
    of id: DynamicParameterID, in patterns: (HapticPattern, HapticPattern), layerName layer: String,
    ranges times: [ClosedRange<Double>]
  ) {
    let control = ControlTimeline(of: id, in: patterns.0)
    let otherControl = ControlTimeline(of: id, in: patterns.1)
    func difference(from a: ControlTimeline) -> ControlTimeline.Deviation? {
      a.deviation(of: otherControl, in: times) { id.amount(from: $0, to: $1, profile: profile) }
    }
    var clock = EventMatch.TimeMapping()
    guard var gap = difference(from: control) else { return }
    if self.timeMapping != clock {
      // Controls that moved along with the events are not a difference of their own.
      let moved = control.retimed(by: self.timeMapping, neutralValue: Double(id.neutralValue))
      guard let rest = difference(from: moved) else { return }
      if rest.range.upperBound - rest.range.lowerBound < gap.range.upperBound - gap.range.lowerBound
      {
        gap = rest
        clock = self.timeMapping
      }
    }
    var items = ControlItem.items(for: id, in: patterns.0)
    for index in items.indices {
      items[index].time = clock.candidateTime(at: items[index].time)
      for point in items[index].points.indices {
        items[index].points[point].time *= clock.scale
      }
    }
    let others = ControlItem.items(for: id, in: patterns.1)
    let words = ControlDifferenceBuilder(
      id: id, layer: layer, profile: profile, options: options, gap: gap)
    let changed = Self.changedPairs(items, others)
    let one = changed.count == 1 ? words.difference(changed[0].0, changed[0].1) : nil
    let areCurves = changed.allSatisfy { ($0 ?? $1)?.isCurve ?? false }
    differences.append(one ?? words.difference(count: changed.count, areCurves: areCurves))
  }

  private static func changedPairs(_ items: [ControlItem], _ others: [ControlItem]) -> [(
    ControlItem?, ControlItem?
  )] {
    func equal(_ a: ControlItem, _ b: ControlItem) -> Bool {
      ControlItem.areSimultaneous(a.time, b.time) && a.isEquivalent(to: b)
    }
    let pairs = SequenceAlignment.pairs(items.map(\.time), others.map(\.time)) {
      items[$0].pairingCost(with: others[$1])
    }
    let paired = Set(pairs.map(\.0))
    let otherPaired = Set(pairs.map(\.1))
    var changed: [(ControlItem?, ControlItem?)] = []
    for (a, b) in pairs where !equal(items[a], others[b]) {
      changed.append((items[a], others[b]))
    }
    for index in items.indices where !paired.contains(index) {
      changed.append((items[index], nil))
    }
    for index in others.indices where !otherPaired.contains(index) {
      changed.append((nil, others[index]))
    }
    return changed
  }
}

extension ControlTimeline {
  /// The control of a pattern whose events come at other times.
  ///
  /// - Parameter neutralValue: The value before a step or curve that starts at 0 and now starts
  ///   later.
  func retimed(by clock: EventMatch.TimeMapping, neutralValue: Double) -> ControlTimeline {
    mappingSegments { segment in
      let start = clock.candidateTime(at: segment.start)
      let moved = Segment(
        start: start, value: segment.value, slope: segment.slope / clock.scale,
        sourceStart: segment.sourceStart)
      return segment.start == 0 && start > 0
        ? [Segment(start: 0, value: neutralValue), moved] : [moved]
    }
  }

  struct Deviation {
    var range: ClosedRange<Double>
    var peakTime: Double
    var before: Double
    var after: Double
  }

  /// Compares with another control within some ranges of time; nil where they agree.
  ///
  /// - Parameter ranges: By rising time, none touching the next.
  func deviation(
    of other: ControlTimeline, in ranges: [ClosedRange<Double>], amount: (Double, Double) -> Double
  ) -> Deviation? {
    let starts = (segments + other.segments).map(\.start)
    let corners = Set(starts + ranges.flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
    var remaining: ArraySlice<ClosedRange<Double>> = ranges[...]
    var gap: Deviation? = nil
    var greatest = 0.0
    var cursor = 0
    var otherCursor = 0
    for (start, end) in zip(corners, corners.dropFirst()) {
      while cursor + 1 < segments.count, segments[cursor + 1].start <= start {
        cursor += 1
      }
      while otherCursor + 1 < other.segments.count, other.segments[otherCursor + 1].start <= start {
        otherCursor += 1
      }
      // Corners that lie apart by less than a frame are one corner, written otherwise.
      guard end - start > EventMatch.minimumTimeDifference else { continue }
      while let first = remaining.first, first.upperBound <= start {
        remaining.removeFirst()
      }
      guard let first = remaining.first, first.lowerBound <= start else { continue }
      for time in [start, end] {
        let before = segments[cursor].value(at: time)
        let after = other.segments[otherCursor].value(at: time)
        guard abs(after - before) > 1e-4 else { continue }
        let amount = abs(amount(before, after))
        let lower = min(gap?.range.lowerBound ?? start, start)
        let upper = max(gap?.range.upperBound ?? end, end)
        gap?.range = lower...upper
        guard gap == nil || amount > greatest else { continue }
        greatest = amount
        gap = Deviation(range: lower...upper, peakTime: time, before: before, after: after)
      }
    }
    return gap
  }
}

extension DynamicParameterID {
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

  fileprivate var differenceKind: Difference.Kind {
    let kind: HapticEvent.Kind = isHaptic ? .hapticContinuous : .audioContinuous
    return Difference.Kind.eventParameterKinds.first { $0.parameter(of: kind) == target } ?? .level
  }

  /// How far a value is from another, in the unit of its quality, as a profile renders them.
  ///
  /// Sharpness is taken about its middle where the law is not logarithmic; a time is added to none.
  fileprivate func amount(from before: Double, to after: Double, profile: TransducerProfile)
    -> Double
  {
    guard differenceKind == .frequency else {
      return differenceKind.amount(
        from: before, to: after, of: isHaptic ? .hapticContinuous : .audioContinuous,
        profile: profile)
    }
    let law = profile.frequency
    if !isHaptic { return 100 * (pow(2, after - before) - 1) }
    return switch law.scale {
    case .logarithmic: 100 * (pow(law.high / law.low, after - before) - 1)
    case .linear: 100 * (law.high - law.low) * (after - before) / ((law.low + law.high) / 2)
    }
  }
}

private struct ControlDifferenceBuilder {
  private let kind: Difference.Kind
  private let controlName: String
  private let (candidateLabel, referenceLabel): (String, String)
  private let deviation: ControlTimeline.Deviation
  private let amount: Double
  /// `3.9 dB weaker` and `up to 3.9 dB weaker`.
  private let (changeText, extentText): (String, String)

  init(
    id: DynamicParameterID, layer: String, profile: TransducerProfile, options: ComparisonOptions,
    gap: ControlTimeline.Deviation
  ) {
    self.deviation = gap
    kind = id.differenceKind
    controlName = layer + id.displayName
    candidateLabel = options.candidateLabel
    referenceLabel = options.referenceLabel
    amount = id.amount(from: gap.before, to: gap.after, profile: profile)
    changeText = kind.changeText(amount)
    let isSilence = kind == .level && abs(amount) >= Difference.Kind.maximumDecibels
    extentText =
      !isSilence ? "up to " + changeText : amount < 0 ? "down to silence" : "up from silence"
  }

  private func difference(
    _ isCurve: Bool, _ sentence: String, before: Double? = nil, after: Double? = nil,
    shift: Double? = nil
  ) -> Difference {
    Difference(
      isCurve ? .curve : .parameter, in: deviation.range, amount: shift ?? amount,
      unit: shift == nil ? kind.unit : .seconds, before: before ?? deviation.before,
      after: after ?? deviation.after,
      significance: JustNoticeableDifference.count(in: amount, unit: kind.unit),
      sentence: sentence + ".")
  }

  func difference(_ item: ControlItem?, _ partner: ControlItem?) -> Difference? {
    if let item, let partner { return pairDifference(item, partner) }
    guard let single = item ?? partner else { return nil }
    let time = SentenceFormatting.time(single.time)
    let value = SentenceFormatting.number(single.value, places: 3)
    let sentence =
      switch (single.isCurve, item == nil) {
      case (true, true): "has an extra \(controlName) curve from \(time): \(extentText)"
      case (true, false): "lacks \(referenceLabel)'s \(controlName) curve at \(time): \(extentText)"
      case (false, true): "sets \(controlName) to \(value) at \(time): \(changeText)"
      case (false, false): "does not set \(controlName) to \(value) at \(time): \(changeText)"
      }
    return difference(single.isCurve, "\(candidateLabel) \(sentence)")
  }

  private func pairDifference(_ item: ControlItem, _ partner: ControlItem) -> Difference? {
    let subject = "\(candidateLabel)'s \(controlName) \(item.isCurve ? "curve" : "step")"
    if item.isEquivalent(to: partner) {
      let shift = partner.time - item.time
      return difference(
        item.isCurve,
        """
        \(subject) comes \(Difference.Kind.time.changeText(shift)), at \
        \(SentenceFormatting.time(partner.time))
        """,
        before: item.time, after: partner.time, shift: shift)
    }
    guard ControlItem.areSimultaneous(item.time, partner.time) else { return nil }
    if item.isCurve { return pointDifference(item, partner) }
    return difference(
      false,
      "\(subject) at \(SentenceFormatting.time(item.time)) is \(changeText): "
        + SentenceFormatting.values(partner.value, insteadOf: item.value), before: item.value,
      after: partner.value)
  }

  private func pointDifference(_ item: ControlItem, _ partner: ControlItem) -> Difference? {
    guard item.points.count == partner.points.count else { return nil }
    let moved = item.points.indices.filter { index in
      let a = item.points[index]
      let b = partner.points[index]
      return !ControlItem.areSimultaneous(a.time, b.time) || abs(a.value - b.value) >= 1e-5
    }
    guard moved.count == 1, let index = moved.first else { return nil }
    let a = item.points[index]
    let b = partner.points[index]
    let name =
      SentenceFormatting.ordinalWord(index + 1).map { "\($0) point" } ?? "point \(index + 1)"
    let subject = "The \(name) of \(candidateLabel)'s \(controlName) curve"
    let place = SentenceFormatting.time(partner.time + b.time)
    if abs(a.value - b.value) < 1e-5 {
      let shift = b.time - a.time
      let distance = SentenceFormatting.magnitude(amount, unit: kind.unit)
      return difference(
        true,
        """
        \(subject) comes \(Difference.Kind.time.changeText(shift)), at \(place): up to \(distance) \
        apart
        """,
        before: item.time + a.time, after: partner.time + b.time, shift: shift)
    }
    let values = SentenceFormatting.values(Double(b.value), insteadOf: Double(a.value))
    guard ControlItem.areSimultaneous(a.time, b.time) else {
      return difference(true, "\(subject) is moved to \(values) at \(place)")
    }
    return difference(
      true,
      "\(subject), at \(SentenceFormatting.time(item.time + a.time)), is \(values): \(extentText)",
      before: Double(a.value), after: Double(b.value))
  }

  func difference(count: Int, areCurves: Bool) -> Difference {
    difference(
      areCurves,
      """
      \(candidateLabel)'s \(controlName) \(areCurves ? "curve" : "control")\(count > 1 ? "s differ" : " differs") \
      between 
      """
        + """
        \(SentenceFormatting.range(deviation.range)): \(extentText) at \
        \(SentenceFormatting.time(deviation.peakTime))
        """
    )
  }
}

struct ControlItem {
  /// Seconds from the start of the pattern.
  var time: Double
  /// Its corners, with times from its own start; a step has one.
  var points: [ParameterCurve.ControlPoint]
  var isCurve: Bool

  var value: Double { Double(points.first?.value ?? 0) }

  static func items(for id: DynamicParameterID, in pattern: HapticPattern) -> [ControlItem] {
    let steps = pattern.parameters.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: [.init(time: 0, value: $0.value)], isCurve: false)
    }
    let curves = pattern.curves.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: $0.controlPoints, isCurve: true)
    }
    return (steps + curves).sorted { $0.time < $1.time }
  }

  func isEquivalent(to other: ControlItem) -> Bool {
    isCurve == other.isCurve && points.count == other.points.count
      && zip(points, other.points).allSatisfy {
        Self.areSimultaneous($0.time, $1.time) && abs($0.value - $1.value) < 1e-5
      }
  }

  static func areSimultaneous(_ a: Double, _ b: Double) -> Bool {
    abs(a - b) <= EventMatch.minimumTimeDifference
  }

  /// What pairing it with another costs: 0 for equals, 1 for what lies a second apart.
  func pairingCost(with other: ControlItem) -> Double {
    guard isCurve == other.isCurve else { return .infinity }
    return abs(time - other.time)
      + (isEquivalent(to: other) ? 0 : 0.1 + min(0.5, abs(value - other.value) / 4))
  }
}
