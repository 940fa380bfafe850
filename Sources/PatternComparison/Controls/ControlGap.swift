import HapticModel

extension ControlTimeline {
  /// The control of a pattern whose events come at other times.
  ///
  /// - Parameter neutralValue: The value before a step or curve that starts at 0 and now starts later.
  func moved(by clock: EventMatch.TimeMapping, neutralValue: Double) -> ControlTimeline {
    mapping { segment in
      let start = clock.time(segment.start)
      let moved = Segment(
        start: start, value: segment.value, slope: segment.slope / clock.pace,
        origin: segment.origin)
      return segment.start == 0 && start > 0
        ? [Segment(start: 0, value: neutralValue), moved] : [moved]
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
  func gap(
    to other: ControlTimeline, in ranges: [ClosedRange<Double>], amount: (Double, Double) -> Double
  ) -> Gap? {
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
      while otherCursor + 1 < other.segments.count, other.segments[otherCursor + 1].start <= start {
        otherCursor += 1
      }
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
