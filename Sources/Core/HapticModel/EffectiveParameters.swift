/// The effective intensity and sharpness of haptic events under the controls of their pattern.
public struct EffectiveParameters: Sendable {
  /// The effective parameters of an event at one time.
  public struct Point: Equatable, Sendable {
    /// The time, in seconds from the start of the pattern.
    public let time: Double
    /// The intensity of the event multiplied by its control, 0…1.
    public let intensity: Double
    /// The sharpness of the event plus its control.
    ///
    /// The sum is clamped to 0…1 unless the layer states frequencies in hertz.
    public let sharpness: Double
  }

  private let intensityControl: ControlTimeline
  private let sharpnessControl: ControlTimeline
  private let clampsSharpness: Bool

  /// Creates the effective parameters of a pattern's events.
  ///
  /// - Parameter pattern: The pattern, whose sharpness is limited to 0…1.
  /// - Complexity: O(*n* log *n*) in the number of parameters and control points.
  public init(_ pattern: HapticPattern) { self.init(HapticComposition.Layer(pattern)) }

  /// Creates the effective parameters of a layer's events.
  ///
  /// - Parameter layer: The layer, whose sharpness is not limited if the layer states frequencies
  ///   in hertz.
  /// - Complexity: O(*n* log *n*) in the number of parameters and control points.
  public init(_ layer: HapticComposition.Layer) {
    intensityControl = ControlTimeline(of: .hapticIntensityControl, in: layer)
    sharpnessControl = ControlTimeline(of: .hapticSharpnessControl, in: layer)
    clampsSharpness = layer.hasClampedSharpness
  }

  /// Returns the points between which an event's effective intensity and sharpness change linearly.
  ///
  /// Two points share a time at a jump. Envelopes are ignored. A transient has one point, as does
  /// an event without duration.
  public func points(of event: HapticEvent) -> [Point] {
    let eventEndSeconds = event.time + (event.secondsUntilRelease ?? 0)
    let eventIntensity = Double(event.value(of: .hapticIntensity))
    let eventSharpness =
      clampsSharpness ? Double(event.value(of: .hapticSharpness)) : event.unclampedSharpness
    func effectivePoint(
      _ time: Double, _ intensity: ControlTimeline.Segment, _ sharpness: ControlTimeline.Segment
    ) -> Point {
      let sum = eventSharpness + sharpness.value(at: time)
      return Point(
        time: time, intensity: eventIntensity * intensity.value(at: time),
        sharpness: clampsSharpness ? min(max(sum, 0), 1) : sum)
    }
    var intensityIndex = intensityControl.segmentIndex(at: event.time)
    var sharpnessIndex = sharpnessControl.segmentIndex(at: event.time)
    var effectivePoints = [
      effectivePoint(
        event.time, intensityControl.segments[intensityIndex],
        sharpnessControl.segments[sharpnessIndex])
    ]
    var segmentStartSeconds = event.time
    while segmentStartSeconds < eventEndSeconds {
      let intensitySegment = intensityControl.segments[intensityIndex]
      let sharpnessSegment = sharpnessControl.segments[sharpnessIndex]
      let segmentEnd =
        [
          intensityControl.segmentStart(at: intensityIndex + 1),
          sharpnessControl.segmentStart(at: sharpnessIndex + 1), eventEndSeconds,
        ].min()
        ?? eventEndSeconds
      // The sum of sharpness and control can reach a bound between two corners.
      let boundTimes = [0, 1].map {
        sharpnessSegment.startPosition + ($0 - eventSharpness - sharpnessSegment.startValue)
          / sharpnessSegment.slopePerPositionUnit
      }
      let innerBoundTimes = boundTimes.filter { $0 > segmentStartSeconds && $0 < segmentEnd }
      effectivePoints += innerBoundTimes.sorted().map {
        effectivePoint($0, intensitySegment, sharpnessSegment)
      }
      effectivePoints.append(effectivePoint(segmentEnd, intensitySegment, sharpnessSegment))
      if segmentEnd == intensityControl.segmentStart(at: intensityIndex + 1) {
        intensityIndex += 1
      }
      if segmentEnd == sharpnessControl.segmentStart(at: sharpnessIndex + 1) {
        sharpnessIndex += 1
      }
      segmentStartSeconds = segmentEnd
      let following = effectivePoint(
        segmentStartSeconds, intensityControl.segments[intensityIndex],
        sharpnessControl.segments[sharpnessIndex])
      if segmentStartSeconds < eventEndSeconds, following != effectivePoints.last {
        effectivePoints.append(following)
      }
    }
    return effectivePoints
  }
}

extension ControlTimeline {
  fileprivate func segmentStart(at index: Int) -> Double {
    index < segments.count ? segments[index].startPosition : .infinity
  }
}
