internal import CMath
import HapticModel
import HapticRender

/// What differs between the dynamic parameters and curves of two compositions.
///
/// Only what takes effect counts: two ways to write one line are the same.
struct ControlDifferences {
  private let profile: TransducerProfile
  private let options: ComparisonOptions
  private let clock: EventMatch.TimeMapping
  private(set) var found: [Difference] = []

  /// Two layers whose events belong together, and what sentences call the other's.
  private struct LayerPair {
    let reference: HapticPattern
    let other: HapticPattern
    let name: String?
    let hapticTimes: [ClosedRange<Double>]
    let audioTimes: [ClosedRange<Double>]
  }

  /// - Parameter match: The events of the two, without which a control does nothing.
  init(
    _ reference: HapticComposition, _ other: HapticComposition, match: EventMatch, profile: TransducerProfile,
    options: ComparisonOptions
  ) {
    self.profile = profile
    self.options = options
    clock = match.clock
    // What is missing or added is reported as such, without its controls.
    var events: [[Int]: [ListedEvent]] = [:]
    for (index, otherIndex) in match.pairs {
      let pair = [match.reference[index], match.other[otherIndex]]
      events[pair.map(\.layer), default: []] += pair
    }
    let hasLayers = max(reference.layers.count, other.layers.count) > 1
    for (layers, events) in events.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let pair = LayerPair(
        reference: reference.layers[layers[0]].pattern, other: other.layers[layers[1]].pattern,
        name: hasLayers ? "layer \(layers[1] + 1)" : nil, hapticTimes: Self.times(events.filter(\.isHaptic)),
        audioTimes: Self.times(events.filter { !$0.isHaptic }))
      for id in DynamicParameterID.allCases { find(id, in: pair) }
    }
  }

  /// The ranges of time in which some events sound, rings and bursts counted.
  private static func times(_ events: [ListedEvent]) -> [ClosedRange<Double>] {
    var times: [ClosedRange<Double>] = []
    for event in events.sorted(by: { $0.time < $1.time }) {
      // A sound file without a duration may be as long as a pattern.
      let isOpen = event.kind.playsFile && event.duration == nil
      let start = max(0, event.time)
      let end = max(start, event.time) + (isOpen ? HapticEvent.unlimitedDuration : event.duration ?? 0)
      // No burst of our own profiles is longer than 40 ms.
      let ring =
        event.kind.isTransient ? 0.04 : EnvelopeTimes.seconds(normalised: Float(event.value(.releaseTime)))
      let range = start...(end + max(ring, EnvelopeTimes.shortestEdge))
      if let last = times.last, last.upperBound >= range.lowerBound {
        times[times.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        times.append(range)
      }
    }
    return times
  }

  private mutating func find(_ id: DynamicParameterID, in layers: LayerPair) {
    let times = id.isHaptic ? layers.hapticTimes : layers.audioTimes
    let control = ControlTimeline(of: id, in: layers.reference)
    let otherControl = ControlTimeline(of: id, in: layers.other)
    func difference(from a: ControlTimeline) -> ControlTimeline.Gap? {
      a.gap(to: otherControl, in: times) { ControlAttribute(id).amount($0, $1, profile) }
    }
    var clock = EventMatch.TimeMapping()
    guard var gap = difference(from: control) else { return }
    if self.clock != clock {
      // Controls that moved along with the events are not a difference of their own.
      let moved = control.moved(by: self.clock, neutralValue: Double(id.neutralValue))
      guard let rest = difference(from: moved) else { return }
      if rest.range.upperBound - rest.range.lowerBound < gap.range.upperBound - gap.range.lowerBound {
        gap = rest
        clock = self.clock
      }
    }
    var items = ControlItem.list(id, of: layers.reference)
    for index in items.indices {
      items[index].time = clock.time(items[index].time)
      for point in items[index].points.indices { items[index].points[point].time *= clock.scale }
    }
    let others = ControlItem.list(id, of: layers.other)
    let words = ControlSentence(id: id, layer: layers.name, profile: profile, options: options, gap: gap)
    let changed = Self.changed(items, others)
    if changed.count == 1, let one = words.difference(changed[0].0, changed[0].1) {
      found.append(one)
    } else {
      found.append(words.difference(count: changed.count, areCurves: changed.allSatisfy(Self.isCurve)))
    }
  }

  private static func isCurve(_ change: (ControlItem?, ControlItem?)) -> Bool {
    (change.0 ?? change.1)?.isCurve ?? false
  }

  /// The pairs that are not alike, and those without a partner.
  private static func changed(_ items: [ControlItem], _ others: [ControlItem]) -> [(ControlItem?, ControlItem?)] {
    var changed: [(ControlItem?, ControlItem?)] = []
    // Equal beginnings and ends pair by themselves, so that the search stays short.
    var start = 0
    func equal(_ a: ControlItem, _ b: ControlItem) -> Bool { ControlItem.same(a.time, b.time) && a.isLike(b) }
    while start < min(items.count, others.count), equal(items[start], others[start]) { start += 1 }
    var (end, otherEnd) = (items.count, others.count)
    while end > start, otherEnd > start, equal(items[end - 1], others[otherEnd - 1]) {
      (end, otherEnd) = (end - 1, otherEnd - 1)
    }
    let mine = Array(items[start..<end])
    let theirs = Array(others[start..<otherEnd])
    let pairs = SequenceMatching.pairs(mine.map(\.time), theirs.map(\.time)) { mine[$0].cost(of: theirs[$1]) }
    let paired = Set(pairs.map(\.0))
    let otherPaired = Set(pairs.map(\.1))
    for (a, b) in pairs where !equal(mine[a], theirs[b]) { changed.append((mine[a], theirs[b])) }
    for index in mine.indices where !paired.contains(index) { changed.append((mine[index], nil)) }
    for index in theirs.indices where !otherPaired.contains(index) { changed.append((nil, theirs[index])) }
    return changed
  }
}

extension ControlTimeline {
  /// The control of a pattern whose events come at other times.
  ///
  /// - Parameter neutralValue: The value before a step or curve that starts at 0 and now starts later.
  func moved(by clock: EventMatch.TimeMapping, neutralValue: Double) -> ControlTimeline {
    mapping { segment in
      let start = clock.time(segment.start)
      let moved = Segment(
        start: start, value: segment.value, slope: segment.slope / clock.scale, origin: segment.origin)
      return segment.start == 0 && start > 0 ? [Segment(start: 0, value: neutralValue), moved] : [moved]
    }
  }

  /// Where two controls differ, and where most.
  struct Gap {
    /// From the first to the last moment they differ.
    var range: ClosedRange<Double>
    /// The moment they differ most.
    var peak: Double
    /// This control's value there.
    var before: Double
    /// The other control's value there.
    var after: Double
  }

  /// Compares with another control within some ranges of time; nil where they agree.
  ///
  /// - Parameters:
  ///   - ranges: By rising time, none touching the next.
  ///   - amount: How much two values differ in the unit they are judged by.
  func gap(to other: ControlTimeline, in ranges: [ClosedRange<Double>], amount: (Double, Double) -> Double) -> Gap? {
    var corners = (segments + other.segments).map(\.start)
    corners += ranges.flatMap { [$0.lowerBound, $0.upperBound] }
    corners = Array(Set(corners)).sorted()
    var remaining = ranges[...]
    var gap: Gap?
    var greatest = 0.0
    var cursor = 0
    var otherCursor = 0
    for (start, end) in zip(corners, corners.dropFirst()) {
      while cursor + 1 < segments.count, segments[cursor + 1].start <= start { cursor += 1 }
      while otherCursor + 1 < other.segments.count, other.segments[otherCursor + 1].start <= start { otherCursor += 1 }
      // Corners that lie apart by less than a frame are one corner, written otherwise.
      guard end - start > EventMatch.leastTime else { continue }
      while let first = remaining.first, first.upperBound <= start { remaining.removeFirst() }
      guard let first = remaining.first, first.lowerBound <= start else { continue }
      for time in [start, end] {
        let before = segments[cursor].value(at: time)
        let after = other.segments[otherCursor].value(at: time)
        guard abs(after - before) > 1e-4 else { continue }
        let amount = abs(amount(before, after))
        let lower = min(gap?.range.lowerBound ?? start, start)
        let upper = max(gap?.range.upperBound ?? end, end)
        if gap == nil || amount > greatest {
          greatest = amount
          gap = Gap(range: lower...upper, peak: time, before: before, after: after)
        } else {
          gap?.range = lower...upper
        }
      }
    }
    return gap
  }
}
