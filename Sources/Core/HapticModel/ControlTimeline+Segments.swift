extension ControlTimeline {
  /// Calls a function for each linear segment in a range of times.
  ///
  /// The arguments include the control values at the ends of the segment.
  ///
  /// - Parameters:
  ///   - range: The range of times, in seconds.
  ///   - budget: The number of segments that may still be visited, which is reduced for each visit.
  ///   - body: A closure that receives the start and the end of the segment, and the values there.
  package func forEachSegment(
    in range: ClosedRange<Double>, budget: inout Int,
    _ body: (_ start: Double, _ end: Double, _ startValue: Double, _ endValue: Double) -> Void
  ) {
    var currentSegmentIndex = segmentIndex(at: range.lowerBound)
    while currentSegmentIndex < segments.count,
      segments[currentSegmentIndex].startPosition < range.upperBound, budget > 0
    {
      let segment = segments[currentSegmentIndex]
      currentSegmentIndex += 1
      budget -= 1
      let start = max(segment.startPosition, range.lowerBound)
      let nextStart =
        currentSegmentIndex < segments.count
        ? segments[currentSegmentIndex].startPosition : .infinity
      let end = min(nextStart, range.upperBound)
      let startValue = segment.value(at: start)
      // A constant segment may extend to infinity.
      let endValue = segment.slopePerPositionUnit == 0 ? startValue : segment.value(at: end)
      body(start, end, startValue, endValue)
    }
  }

  /// Returns the time spans within a range in which the control value is at least a given level.
  ///
  /// - Parameters:
  ///   - level: The minimum value.
  ///   - range: The range of times, in seconds.
  ///   - budget: The number of segments that may still be visited, which is reduced for each visit.
  package func spans(atLeast level: Double, in range: ClosedRange<Double>, budget: inout Int)
    -> [ClosedRange<Double>]
  {
    var spansAtOrAboveLevel: [ClosedRange<Double>] = []
    forEachSegment(in: range, budget: &budget) { start, end, startValue, endValue in
      guard start < end, max(startValue, endValue) >= level else { return }
      if min(startValue, endValue) >= level { return spansAtOrAboveLevel.append(start...end) }
      // Times near the largest finite number overflow; their crossing is irrelevant.
      let ideal = start + (end - start) * ((level - startValue) / (endValue - startValue))
      let crossing = ideal.isFinite ? min(max(ideal, start), end) : start
      spansAtOrAboveLevel.append(startValue >= level ? start...crossing : crossing...end)
    }
    return spansAtOrAboveLevel
  }

  /// Returns the minimum and maximum of the control value in a range of times.
  ///
  /// - Parameters:
  ///   - range: The range of times, in seconds.
  ///   - budget: The number of segments that may still be visited, which is reduced for each visit.
  package func valueRange(in range: ClosedRange<Double>, budget: inout Int)
    -> ClosedRange<Double>
  {
    var minimumValue = value(at: range.lowerBound)
    var maximumValue = minimumValue
    forEachSegment(in: range, budget: &budget) { _, _, startValue, endValue in
      minimumValue = min(minimumValue, startValue, endValue)
      maximumValue = max(maximumValue, startValue, endValue)
    }
    return minimumValue...maximumValue
  }

  /// Returns the minimum and maximum of the control value in a range of times.
  ///
  /// - Complexity: O(log *n* + *m*) for *m* segments in the range.
  package func valueRange(in range: ClosedRange<Double>) -> ClosedRange<Double> {
    var segmentBudget = segments.count
    return valueRange(in: range, budget: &segmentBudget)
  }
}
