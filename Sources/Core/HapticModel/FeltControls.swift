/// What the controls of a pattern make of the intensity and sharpness of its haptic events.
public struct EffectiveParameters: Sendable {
  /// What is felt of an event at a time.
  public struct Point: Equatable, Sendable {
    /// Seconds from the start of the pattern.
    public let time: Double
    /// `event × control` and `event + control`, each 0…1.
    public let intensity, sharpness: Double
  }

  private let intensity, sharpness: ControlTimeline

  /// Sorts the controls of a pattern: O(n log n).
  public init(_ pattern: HapticPattern) {
    intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    sharpness = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
  }

  /// The corners of what is felt of an event, between which it is a straight line; where it jumps,
  /// two share a time.
  ///
  /// Envelopes are not counted. A transient has one corner, as has an event that lasts no time.
  public func points(of event: HapticEvent) -> [Point] {
    let end = event.time + (event.holdDuration ?? 0)
    let strength = Double(event.value(of: .hapticIntensity))
    let tone = Double(event.value(of: .hapticSharpness))
    func point(
      _ time: Double, _ intensity: ControlTimeline.Segment, _ sharpness: ControlTimeline.Segment
    ) -> Point {
      Point(
        time: time, intensity: strength * intensity.value(at: time),
        sharpness: min(max(tone + sharpness.value(at: time), 0), 1))
    }
    var first = intensity.index(at: event.time)
    var second = sharpness.index(at: event.time)
    var points = [point(event.time, intensity.segments[first], sharpness.segments[second])]
    var time = event.time
    while time < end {
      let low = intensity.segments[first]
      let high = sharpness.segments[second]
      let next =
        [intensity.segmentStart(at: first + 1), sharpness.segmentStart(at: second + 1), end].min()
        ?? end
      // Where the sum reaches a bound between two corners.
      let bounds = [0, 1].map { high.start + ($0 - tone - high.value) / high.slope }
      points += bounds.filter { $0 > time && $0 < next }.sorted().map { point($0, low, high) }
      points.append(point(next, low, high))
      if next == intensity.segmentStart(at: first + 1) {
        first += 1
      }
      if next == sharpness.segmentStart(at: second + 1) {
        second += 1
      }
      time = next
      let other = point(time, intensity.segments[first], sharpness.segments[second])
      if time < end, other != points.last {
        points.append(other)
      }
    }
    return points
  }
}

extension ControlTimeline {
  fileprivate func segmentStart(at index: Int) -> Double {
    index < segments.count ? segments[index].start : .infinity
  }
}
