public import HapticModel
public import HapticRender

/// A pattern as its designer thinks of it: events of all layers with their strength over time, and
/// the curves over them.
///
/// Everything is evaluated by the code that renders, so that a value read here is the value that
/// sounds. What is sampled is bounded, however large the pattern is.
public struct EventPlot: Sendable {
  /// What an event is at one time.
  public struct Point: Equatable, Sendable {
    /// Seconds from the start of the pattern.
    public let time: Double
    /// Intensity 0…1 under its controls, times the envelope; of an audio event, volume.
    public let intensity: Double
    /// Sharpness 0…1 under its controls; of an audio event, brightness.
    public let sharpness: Double

    /// Makes a point; nothing is checked.
    public init(time: Double, intensity: Double, sharpness: Double) {
      self.time = time
      self.intensity = intensity
      self.sharpness = sharpness
    }
  }

  /// One event as it is drawn.
  public struct Event: Equatable, Sendable {
    /// Its layer, and its place among the events of that.
    public let reference: EventReference
    /// What the event does.
    public let kind: HapticEvent.Kind
    /// The seconds of its onset and of its end, at which it falls silent.
    public let onset, end: Double
    /// Intensity and sharpness, or volume and brightness, as the event itself says.
    public let nominalIntensity, nominalSharpness: Double
    /// What it becomes, by rising time; between points it is a straight line. A transient has one.
    public let points: [Point]
    /// The file that it plays.
    public let filePath: String?

    /// The greatest intensity it reaches.
    public var peakIntensity: Double { points.reduce(0) { max($0, $1.intensity) } }
  }

  /// A control of one layer, as far as the layer sets it.
  public struct Curve: Equatable, Sendable {
    /// A value at a time.
    public struct Point: Equatable, Sendable {
      /// Seconds from the start of the pattern.
      public let time: Double
      /// The control's value.
      public let value: Double
    }

    /// The control.
    public let id: DynamicParameterID
    /// The line by rising time; where it jumps, two points share a time.
    public let points: [Point]
    /// The control points and steps that are in force at their time.
    public let controlPoints: [Point]
  }

  /// By rising onset.
  public private(set) var events: [Event]
  /// Intensity control and sharpness control of each layer that sets them.
  public private(set) var curves: [Curve]
  /// Seconds until nothing sounds and the pattern has ended.
  public let duration: Double

  /// Evaluates a pattern, whose controls act on the events of their own layer.
  ///
  /// - Parameter samples: The pattern's sound files, for their lengths; without them they count as
  ///   long as their events say.
  /// - Throws: A `PlotError` for a pattern that cannot be rendered either.
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
    let end = max(timelines.map(\.duration).max() ?? 0, composition.duration)
    events = []
    curves = []
    duration = end
    for (layer, timeline) in timelines.enumerated() {
      let pattern = composition.layers[layer].pattern
      events += Self.events(
        of: pattern, layer: layer, timeline: timeline, totalEventCount: eventCount)
      curves += [.hapticIntensityControl, .hapticSharpnessControl].compactMap {
        Curve($0, of: pattern, control: timeline.control($0), until: end)
      }
    }
    if timelines.count > 1 {
      events.sort { ($0.onset, $0.reference) < ($1.onset, $1.reference) }
    }
  }

  /// The events of one layer by rising onset.
  private static func events(
    of pattern: HapticPattern, layer: Int, timeline: PatternTimeline,
    totalEventCount eventCount: Int
  )
    -> [Event]
  {
    func sampling(_ strength: DynamicParameterID, _ tone: DynamicParameterID) -> EventSampler {
      EventSampler(
        intensityControl: timeline.control(strength), sharpnessControl: timeline.control(tone),
        eventCount: eventCount)
    }
    let haptics = sampling(.hapticIntensityControl, .hapticSharpnessControl)
    let audio = sampling(.audioVolumeControl, .audioBrightnessControl)
    return timeline.events.map { timed in
      let event = pattern.events[timed.eventIndex]
      let isHaptic = event.kind.isHaptic
      let intensity = Double(event.value(of: isHaptic ? .hapticIntensity : .audioVolume))
      let sharpness = Double(event.value(of: isHaptic ? .hapticSharpness : .audioBrightness))
      let sampling = isHaptic ? haptics : audio
      return Event(
        reference: EventReference(layer: layer, event: timed.eventIndex), kind: event.kind,
        onset: timed.onset,
        end: timed.end, nominalIntensity: intensity, nominalSharpness: sharpness,
        points: event.kind.isTransient
          ? [sampling.point(at: timed.onset, level: 1, intensity: intensity, sharpness: sharpness)]
          : sampling.points(along: timed.corners, intensity: intensity, sharpness: sharpness),
        filePath: event.waveform?.path)
    }
  }

  /// The events that are felt.
  public var hapticEvents: [Event] { events.filter(\.kind.isHaptic) }

  /// The events that are heard.
  public var audioEvents: [Event] { events.filter { !$0.kind.isHaptic } }
}

extension EventPlot.Curve {
  /// The line of a control and the points that its author gave, or nothing where there are none.
  init?(
    _ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline?,
    until end: Double
  ) {
    guard let control else { return nil }
    self.id = id
    let segments = control.segments
    points = segments.indices.filter { $0 == 0 || segments[$0].start <= end }.reduce(into: []) {
      line, index in
      let segment = segments[index]
      let next = index + 1 < segments.count ? min(segments[index + 1].start, end) : end
      for time in next > segment.start ? [segment.start, next] : [segment.start] {
        let point = Point(
          time: time, value: time == segment.start ? segment.value : segment.value(at: time))
        if line.last != point {
          line.append(point)
        }
      }
    }
    controlPoints = Self.activeControlPoints(id, of: pattern, control: control, until: end)
  }

  /// What the author gave, where it is in force: the line passes through it.
  private static func activeControlPoints(
    _ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline, until end: Double
  ) -> [Point] {
    let low = id.range.lowerBound
    let high = id.range.upperBound
    func handle(_ time: Double, _ value: Float) -> Point {
      Point(time: time, value: Double(min(max(value, low), high)))
    }
    let steps = pattern.parameters.filter { $0.id == id }.map { handle($0.time, $0.value) }
    let points = pattern.curves.filter { $0.id == id }.flatMap { curve in
      curve.controlPoints.map { handle(curve.time + $0.time, $0.value) }
    }
    return (steps + points).filter { point in
      guard point.time >= 0, point.time <= end + 1e-4 else { return false }
      // Points lie on frames, so the nearest half frame of 48 kHz counts as the same time.
      let around = [point.time, point.time + 2e-5, point.time - 2e-5]
      return around.contains { time in abs(control.value(at: time) - point.value) < 2e-3 }
    }.sorted { $0.time < $1.time }
  }
}

/// Evaluates what controls and envelope make of an event, at the times where that bends.
struct EventSampler {
  /// The control that multiplies and the one that is added, where the pattern sets them.
  private let intensityControl, sharpnessControl: ControlTimeline?
  /// The most times at which one event is looked at.
  private let maximumTimeCount: Int
  private let hasIntensityRamps, hasSharpnessRamps: Bool

  /// The most points of all events together, so that any pattern has a bounded score.
  private static let maximumPointCount = 400_000
  /// Parts of a range in which envelope and control move both, where their product is not a line.
  private static let subdivisionCount = 6

  init(
    intensityControl strength: ControlTimeline?, sharpnessControl tone: ControlTimeline?,
    eventCount: Int
  ) {
    self.intensityControl = strength
    self.sharpnessControl = tone
    hasIntensityRamps = strength?.segments.contains { $0.slope != 0 } ?? false
    hasSharpnessRamps = tone?.segments.contains { $0.slope != 0 } ?? false
    maximumTimeCount = min(1_000, max(8, Self.maximumPointCount / max(1, eventCount)))
  }

  /// An event at a time, with its envelope at a level.
  func point(at time: Double, level: Double, intensity: Double, sharpness: Double)
    -> EventPlot.Point
  {
    let factor = intensityControl?.value(at: time) ?? 1
    let shift = sharpnessControl?.value(at: time) ?? 0
    func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }
    return EventPlot.Point(
      time: time, intensity: clamped(intensity * factor) * level,
      sharpness: clamped(sharpness + shift))
  }

  func points(along corners: [PatternTimeline.Corner], intensity: Double, sharpness: Double)
    -> [EventPlot.Point]
  {
    guard let first = corners.first, let last = corners.last else { return [] }
    var points: [EventPlot.Point] = []
    for (from, to) in zip(corners, corners.dropFirst()) where to.time > from.time {
      for time in bendTimes(from: from, to: to, duration: last.time - first.time) {
        let level =
          from.level + (to.level - from.level) * (time - from.time) / (to.time - from.time)
        let point = point(at: time, level: level, intensity: intensity, sharpness: sharpness)
        if points.last != point {
          points.append(point)
        }
      }
    }
    return points
  }

  /// The times between two corners at which the event bends, with both ends.
  ///
  /// A jump of a control is two times that lie a microsecond apart.
  private func bendTimes(from: PatternTimeline.Corner, to: PatternTimeline.Corner, duration: Double)
    -> [Double]
  {
    let room = max(2, Int(Double(maximumTimeCount) * (to.time - from.time) / duration))
    var bends: [Double] = [from.time]
    for control in [intensityControl, sharpnessControl].compactMap({ $0 }) {
      let segments = control.segments
      var index = control.index(at: from.time) + 1
      while index < segments.count, segments[index].start <= to.time {
        guard bends.count < room else {
          return evenTimes(from: from.time, to: to.time, count: room)
        }
        let start = segments[index].start
        if segments[index - 1].value(at: start) != segments[index].value {
          bends.append(max(from.time, start - 1e-6))
        }
        if start < to.time {
          bends.append(start)
        }
        index += 1
      }
    }
    bends.append(to.time)
    bends.sort()
    // Between the corners, a product of two lines bends, and a sum where it is clamped.
    guard hasIntensityRamps && from.level != to.level || hasSharpnessRamps else { return bends }
    guard bends.count * Self.subdivisionCount <= maximumTimeCount * 2 else { return bends }
    return zip(bends, bends.dropFirst()).flatMap {
      evenTimes(from: $0, to: $1, count: Self.subdivisionCount).dropLast()
    } + [
      to.time
    ]
  }

  private func evenTimes(from: Double, to: Double, count: Int) -> [Double] {
    (0...count).map { $0 == count ? to : from + (to - from) * Double($0) / Double(count) }
  }
}
