public import HapticModel
public import HapticRender

/// The events and control curves of a pattern over time, for all layers.
///
/// 1. `PatternTimeline`, which the renderer uses too, gives the corners of each event's envelope
///    and the segments of each control. A value here is therefore the value that sounds.
/// 2. `EventSampler` evaluates each event where its envelope or a control bends.
/// 3. `Curve` converts each control to a polyline.
///
/// The number of points is limited to about 400,000 for patterns of any size.
public struct EventPlot: Sendable {
  /// The intensity and sharpness of an event at one time.
  public struct Point: Equatable, Sendable {
    /// The time of the point, in seconds from the start of the pattern.
    public let timeSeconds: Double
    /// The intensity after controls and envelope, 0…1. For an audio event, its volume.
    public let intensity: Double
    /// The sharpness after controls, 0…1. For an audio event, its brightness.
    public let sharpness: Double

    /// Creates a point without checking the values.
    public init(timeSeconds time: Double, intensity: Double, sharpness: Double) {
      self.timeSeconds = time
      self.intensity = intensity
      self.sharpness = sharpness
    }
  }

  /// An event as the plot draws it.
  public struct Event: Equatable, Sendable {
    /// The reference to the event: its layer and its index in the layer.
    public let eventReference: EventReference
    /// The kind of event.
    public let kind: HapticEvent.Kind
    /// The time at which the event starts, in seconds.
    public let onsetSeconds: Double
    /// The time at which the event has decayed to silence, in seconds.
    public let endSeconds: Double
    /// The intensity in the file, before controls and envelope. For an audio event, its volume.
    public let intensityInFile: Double
    /// The sharpness in the file, before controls. For an audio event, its brightness.
    public let sharpnessInFile: Double
    /// The evaluated points by ascending time, joined by straight lines. A transient has one point.
    public let points: [Point]
    /// The path of the sound file that the event plays, or nil.
    public let filePath: String?

    /// The maximum intensity of the points.
    public var peakIntensity: Double { points.reduce(0) { max($0, $1.intensity) } }
  }

  /// The values of a dynamic control over time in the layer that sets it.
  public struct Curve: Equatable, Sendable {
    /// The value of a control at one time.
    public struct Point: Equatable, Sendable {
      /// The time of the point, in seconds from the start of the pattern.
      public let timeSeconds: Double
      /// The value of the control at the time.
      public let value: Double
    }

    /// The identifier of the control.
    public let controlID: DynamicParameterID
    /// The index of the layer that sets the control.
    let layerIndex: Int
    /// The points of the control's polyline by ascending time.
    ///
    /// A jump has two points at the same time.
    public let polyline: [Point]
    /// The control points and parameter changes in the file.
    ///
    /// Points without an effect at their time are omitted.
    public let controlPoints: [Point]
  }

  /// The events of all layers by ascending onset.
  public private(set) var events: [Event]
  /// The intensity and sharpness controls of all layers that set them.
  public private(set) var curves: [Curve]
  /// The time of the end of the pattern and of all events' sound, in seconds.
  public let durationSeconds: Double

  /// Evaluates the events and controls of a pattern.
  ///
  /// Controls affect only the events of their own layer.
  ///
  /// - Parameters:
  ///   - composition: The pattern.
  ///   - profile: The profile that supplies the envelope of events.
  ///   - samples: The sound files of the pattern by path. For a missing file, the duration of its
  ///     event counts.
  /// - Throws: `PlotError` of kind `invalidPattern` for a pattern that cannot be rendered.
  public init(
    of composition: HapticComposition, profile: TransducerProfile = .phone,
    samples: [String: AudioBuffer] = [:]
  ) throws(PlotError) {
    var timelines: [PatternTimeline] = []
    do throws(RenderError) {
      for layer in composition.layers {
        timelines.append(try PatternTimeline(of: layer.pattern, profile: profile, samples: samples))
      }
    } catch {
      throw PlotError(.invalidPattern, error.description)
    }
    let eventCount = timelines.reduce(0) { $0 + $1.events.count }
    let totalSeconds = max(timelines.map(\.durationSeconds).max() ?? 0, composition.durationSeconds)
    events = []
    curves = []
    durationSeconds = totalSeconds
    for (layer, timeline) in timelines.enumerated() {
      let pattern = composition.layers[layer].pattern
      events += Self.events(
        of: pattern, layer: layer, timeline: timeline, totalEventCount: eventCount)
      curves += [.hapticIntensityControl, .hapticSharpnessControl].compactMap {
        Curve(
          $0, of: pattern, layer: layer, control: timeline.controlTimeline(for: $0),
          until: totalSeconds)
      }
    }
    if timelines.count > 1 {
      events.sort { ($0.onsetSeconds, $0.eventReference) < ($1.onsetSeconds, $1.eventReference) }
    }
  }

  /// Returns the events of one layer by ascending onset.
  private static func events(
    of pattern: HapticPattern, layer: Int, timeline: PatternTimeline,
    totalEventCount: Int
  ) -> [Event] {
    let hapticSampler = EventSampler(
      intensityControl: timeline.controlTimeline(for: .hapticIntensityControl),
      sharpnessControl: timeline.controlTimeline(for: .hapticSharpnessControl),
      eventCount: totalEventCount)
    let audioSampler = EventSampler(
      intensityControl: timeline.controlTimeline(for: .audioVolumeControl),
      sharpnessControl: timeline.controlTimeline(for: .audioBrightnessControl),
      eventCount: totalEventCount)
    return timeline.events.map { timelineEvent in
      let event = pattern.events[timelineEvent.eventIndex]
      let isHaptic = event.kind.isHaptic
      let intensity = Double(event.value(of: isHaptic ? .hapticIntensity : .audioVolume))
      let sharpness = Double(event.value(of: isHaptic ? .hapticSharpness : .audioBrightness))
      let sampler = isHaptic ? hapticSampler : audioSampler
      let points =
        event.kind.isTransient
        ? [
          sampler.point(
            at: timelineEvent.onsetSeconds, level: 1, intensity: intensity, sharpness: sharpness)
        ]
        : sampler.points(
          along: timelineEvent.corners, intensity: intensity, sharpness: sharpness)
      return Event(
        eventReference: EventReference(layerIndex: layer, eventIndex: timelineEvent.eventIndex),
        kind: event.kind,
        onsetSeconds: timelineEvent.onsetSeconds,
        endSeconds: timelineEvent.endSeconds,
        intensityInFile: intensity,
        sharpnessInFile: sharpness,
        points: points,
        filePath: event.waveform?.path)
    }
  }

  /// Returns the plot with the haptic events and curves of only some layers.
  ///
  /// All audio events remain.
  ///
  /// - Parameter isIncluded: Returns true for the indices of the layers to keep.
  func keepingHaptics(ofLayers isIncluded: (Int) -> Bool) -> EventPlot {
    var filteredPlot = self
    filteredPlot.events.removeAll { $0.kind.isHaptic && !isIncluded($0.eventReference.layerIndex) }
    filteredPlot.curves.removeAll { !isIncluded($0.layerIndex) }
    return filteredPlot
  }

  /// The haptic events.
  public var hapticEvents: [Event] { events.filter(\.kind.isHaptic) }

  /// The audio events.
  public var audioEvents: [Event] { events.filter { !$0.kind.isHaptic } }
}

extension EventPlot.Curve {
  /// Converts a control to a polyline, or returns nil if the layer does not set it.
  ///
  /// - Parameters:
  ///   - id: The identifier of the control.
  ///   - pattern: The pattern of the layer, for the control points.
  ///   - layer: The index of the layer.
  ///   - control: The control as the renderer evaluates it.
  ///   - end: The end of the plot, in seconds.
  init?(
    _ id: DynamicParameterID, of pattern: HapticPattern, layer: Int, control: ControlTimeline?,
    until end: Double
  ) {
    guard let control else { return nil }
    self.controlID = id
    layerIndex = layer
    let controlSegments = control.segments
    var linePoints: [Point] = []
    for index in controlSegments.indices
    where index == 0 || controlSegments[index].startPosition <= end {
      let segment = controlSegments[index]
      let segmentEnd =
        index + 1 < controlSegments.count ? min(controlSegments[index + 1].startPosition, end) : end
      let times =
        segmentEnd > segment.startPosition
        ? [segment.startPosition, segmentEnd] : [segment.startPosition]
      for time in times {
        let value = time == segment.startPosition ? segment.startValue : segment.value(at: time)
        let point = Point(timeSeconds: time, value: value)
        if linePoints.last != point {
          linePoints.append(point)
        }
      }
    }
    polyline = linePoints
    controlPoints = Self.activeControlPoints(id, of: pattern, control: control, until: end)
  }

  /// Returns the control points and parameter changes on the polyline.
  private static func activeControlPoints(
    _ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline, until end: Double
  ) -> [Point] {
    let minimumValue = id.range.lowerBound
    let maximumValue = id.range.upperBound
    func clampedPoint(_ time: Double, _ value: Float) -> Point {
      Point(timeSeconds: time, value: Double(min(max(value, minimumValue), maximumValue)))
    }
    let matchingParameters = pattern.parameters.filter { $0.id == id }
    let parameterPoints = matchingParameters.map { clampedPoint($0.time, $0.value) }
    let curvePoints = pattern.curves.filter { $0.id == id }.flatMap { curve in
      curve.controlPoints.map { clampedPoint(curve.time + $0.time, $0.value) }
    }
    let activePoints = (parameterPoints + curvePoints).filter { point in
      guard point.timeSeconds >= 0, point.timeSeconds <= end + 1e-4 else { return false }
      // The renderer rounds times to frames, so a point may be off by half a frame at 48 kHz.
      let nearbyTimes = [point.timeSeconds, point.timeSeconds + 2e-5, point.timeSeconds - 2e-5]
      return nearbyTimes.contains { time in abs(control.value(at: time) - point.value) < 2e-3 }
    }
    return activePoints.sorted { $0.timeSeconds < $1.timeSeconds }
  }
}

/// An evaluator of an event's intensity and sharpness at the corners of their curves.
///
/// With the envelope e(t), the intensity control i(t), and the sharpness control s(t):
///
///     intensity(t) = clamp(nominal intensity · i(t)) · e(t)
///     sharpness(t) = clamp(nominal sharpness + s(t))
///
/// Envelope and controls are piecewise linear. Their product is quadratic between two corners, so
/// such a range is divided into `subdivisionCountPerSegment` straight lines.
struct EventSampler {
  /// The control that scales the intensity, or nil if the pattern does not set it.
  private let intensityControl: ControlTimeline?
  /// The control that offsets the sharpness, or nil if the pattern does not set it.
  private let sharpnessControl: ControlTimeline?
  /// The approximate maximum number of points of one event.
  private let maximumPointCountPerEvent: Int
  /// A Boolean value that indicates whether the intensity control has sloped segments.
  private let hasIntensityRamps: Bool
  /// A Boolean value that indicates whether the sharpness control has sloped segments.
  private let hasSharpnessRamps: Bool

  /// The approximate maximum total number of points of all events.
  private static let maximumTotalPointCount = 400_000
  /// The number of line segments in a time range of simultaneous changes.
  ///
  /// In such a range, both the envelope and a control change.
  private static let subdivisionCountPerSegment = 6

  init(
    intensityControl: ControlTimeline?, sharpnessControl: ControlTimeline?,
    eventCount: Int
  ) {
    self.intensityControl = intensityControl
    self.sharpnessControl = sharpnessControl
    hasIntensityRamps =
      intensityControl?.segments.contains { $0.slopePerPositionUnit != 0 } ?? false
    hasSharpnessRamps =
      sharpnessControl?.segments.contains { $0.slopePerPositionUnit != 0 } ?? false
    maximumPointCountPerEvent = min(1_000, max(8, Self.maximumTotalPointCount / max(1, eventCount)))
  }

  /// Returns the intensity and sharpness of an event at a time.
  ///
  /// - Parameters:
  ///   - time: The time, in seconds.
  ///   - level: The level of the envelope at that time, 0…1.
  ///   - intensity: The nominal intensity.
  ///   - sharpness: The nominal sharpness.
  func point(at time: Double, level: Double, intensity: Double, sharpness: Double)
    -> EventPlot.Point
  {
    let intensityFactor = intensityControl?.value(at: time) ?? 1
    let sharpnessOffset = sharpnessControl?.value(at: time) ?? 0
    func clampedToUnit(_ value: Double) -> Double { min(max(value, 0), 1) }
    return EventPlot.Point(
      timeSeconds: time, intensity: clampedToUnit(intensity * intensityFactor) * level,
      sharpness: clampedToUnit(sharpness + sharpnessOffset))
  }

  /// Returns the evaluated points of an event by ascending time.
  ///
  /// - Parameters:
  ///   - corners: The corners of the envelope.
  ///   - intensity: The nominal intensity.
  ///   - sharpness: The nominal sharpness.
  func points(along corners: [PatternTimeline.Corner], intensity: Double, sharpness: Double)
    -> [EventPlot.Point]
  {
    guard let firstCorner = corners.first, let lastCorner = corners.last else { return [] }
    var eventPoints: [EventPlot.Point] = []
    for (from, to) in zip(corners, corners.dropFirst()) where to.seconds > from.seconds {
      for time in bendTimes(from: from, to: to, duration: lastCorner.seconds - firstCorner.seconds)
      {
        let level =
          from.amplitudeFactor + (to.amplitudeFactor - from.amplitudeFactor) * (time - from.seconds)
          / (to.seconds - from.seconds)
        let point = point(at: time, level: level, intensity: intensity, sharpness: sharpness)
        if eventPoints.last != point {
          eventPoints.append(point)
        }
      }
    }
    return eventPoints
  }

  /// Returns the times of the bends in an event's curve between two corners of the controls.
  ///
  /// The result includes both corners. A jump of a control has two times, one microsecond apart.
  ///
  /// A jump of a control has two times, one microsecond apart.
  private func bendTimes(from: PatternTimeline.Corner, to: PatternTimeline.Corner, duration: Double)
    -> [Double]
  {
    let maximumTimeCount = max(
      2, Int(Double(maximumPointCountPerEvent) * (to.seconds - from.seconds) / duration))
    var bendSeconds: [Double] = [from.seconds]
    for control in [intensityControl, sharpnessControl].compactMap({ $0 }) {
      let segments = control.segments
      var index = control.segmentIndex(at: from.seconds) + 1
      while index < segments.count, segments[index].startPosition <= to.seconds {
        guard bendSeconds.count < maximumTimeCount else {
          return evenlySpacedTimes(from: from.seconds, to: to.seconds, count: maximumTimeCount)
        }
        let start = segments[index].startPosition
        if segments[index - 1].value(at: start) != segments[index].startValue {
          bendSeconds.append(max(from.seconds, start - 1e-6))
        }
        if start < to.seconds {
          bendSeconds.append(start)
        }
        index += 1
      }
    }
    bendSeconds.append(to.seconds)
    bendSeconds.sort()
    // The product of two sloped lines is curved, and a sum bends where it is clamped.
    guard hasIntensityRamps && from.amplitudeFactor != to.amplitudeFactor || hasSharpnessRamps
    else { return bendSeconds }
    guard bendSeconds.count * Self.subdivisionCountPerSegment <= maximumPointCountPerEvent * 2
    else {
      return bendSeconds
    }
    let subdividedSeconds = zip(bendSeconds, bendSeconds.dropFirst()).flatMap { start, end in
      evenlySpacedTimes(from: start, to: end, count: Self.subdivisionCountPerSegment).dropLast()
    }
    return subdividedSeconds + [to.seconds]
  }

  /// Returns `count + 1` equally spaced times, including both ends.
  private func evenlySpacedTimes(from: Double, to: Double, count: Int) -> [Double] {
    (0...count).map { index in
      index == count ? to : from + (to - from) * Double(index) / Double(count)
    }
  }
}
