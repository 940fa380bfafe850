public import HapticModel
public import HapticRender

/// A pattern as its designer thinks of it: events of all layers with their strength over time, and the curves over them.
///
/// Everything is evaluated by the code that renders, so that a value read here is the value that sounds.
/// What is sampled is bounded, however large the pattern is.
public struct PatternScore: Sendable {
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
      (self.time, self.intensity, self.sharpness) = (time, intensity, sharpness)
    }
  }

  /// One event as it is drawn.
  public struct Event: Equatable, Sendable {
    /// Its layer, and its place among the events of that.
    public let reference: EventReference
    /// What the event does.
    public let kind: HapticEvent.Kind
    /// The second of its onset.
    public let time: Double
    /// The second at which it falls silent.
    public let end: Double
    /// Intensity, or volume, as the event itself says.
    public let givenIntensity: Double
    /// Sharpness, or brightness, as the event itself says.
    public let givenSharpness: Double
    /// What it becomes, by rising time; between points it is a straight line. A transient has one.
    public let points: [Point]
    /// The file that it plays.
    public let file: String?

    /// The greatest intensity it reaches.
    public var peak: Double { points.reduce(0) { max($0, $1.intensity) } }
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
    public let line: [Point]
    /// The control points and steps that are in force at their time.
    public let handles: [Point]
  }

  /// By rising onset.
  public let events: [Event]
  /// Intensity control and sharpness control of each layer that sets them.
  public let curves: [Curve]
  /// Seconds until nothing sounds and the pattern has ended.
  public let duration: Double

  /// Evaluates a pattern, whose controls act on the events of their own layer.
  ///
  /// - Parameters:
  ///   - composition: The layers of the pattern.
  ///   - profile: Maps sharpness to frequency.
  ///   - samples: The pattern's sound files, for their lengths; without them they count as long as
  ///     their events say.
  /// - Throws: A `PlotError` for a pattern that cannot be rendered either.
  public init(
    of composition: HapticComposition, profile: TransducerProfile = .phone, samples: [String: AudioBuffer] = [:]
  ) throws(PlotError) {
    var timelines: [PatternTimeline] = []
    do throws(RenderError) {
      for layer in composition.layers {
        timelines.append(try PatternTimeline(of: layer.pattern, profile: profile, samples: samples))
      }
    } catch { throw PlotError(kind: .invalidPattern, description: error.description) }
    let eventCount = timelines.reduce(0) { $0 + $1.events.count }
    let end = max(timelines.map(\.duration).max() ?? 0, composition.duration)
    var events: [Event] = []
    var curves: [Curve] = []
    for (layer, timeline) in timelines.enumerated() {
      let pattern = composition.layers[layer].pattern
      events += Self.events(of: pattern, layer: layer, at: timeline, among: eventCount)
      curves += [.hapticIntensityControl, .hapticSharpnessControl].compactMap {
        Curve($0, of: pattern, control: timeline.control($0), until: end)
      }
    }
    if timelines.count > 1 { events.sort { ($0.time, $0.reference) < ($1.time, $1.reference) } }
    (self.events, self.curves, duration) = (events, curves, end)
  }

  /// The events of one layer by rising onset.
  private static func events(of pattern: HapticPattern, layer: Int, at timeline: PatternTimeline, among eventCount: Int)
    -> [Event]
  {
    let haptics = EventSampling(
      strength: timeline.control(.hapticIntensityControl), tone: timeline.control(.hapticSharpnessControl),
      eventCount: eventCount)
    let audio = EventSampling(
      strength: timeline.control(.audioVolumeControl), tone: timeline.control(.audioBrightnessControl),
      eventCount: eventCount)
    return timeline.events.map { timed in
      let event = pattern.events[timed.index]
      let intensity = Double(event.value(of: event.kind.isHaptic ? .hapticIntensity : .audioVolume))
      let sharpness = Double(event.value(of: event.kind.isHaptic ? .hapticSharpness : .audioBrightness))
      let sampling = event.kind.isHaptic ? haptics : audio
      return Event(
        reference: EventReference(layer: layer, event: timed.index), kind: event.kind, time: timed.onset,
        end: timed.end, givenIntensity: intensity, givenSharpness: sharpness,
        points: event.kind.isTransient
          ? [sampling.point(at: timed.onset, level: 1, intensity: intensity, sharpness: sharpness)]
          : sampling.points(along: timed.corners, intensity: intensity, sharpness: sharpness),
        file: event.waveform?.path)
    }
  }

  /// The events that are felt.
  public var hapticEvents: [Event] { events.filter(\.kind.isHaptic) }

  /// The events that are heard.
  public var audioEvents: [Event] { events.filter { !$0.kind.isHaptic } }
}

extension PatternScore.Curve {
  /// The line of a control and the points that its author gave, or nothing where there are none.
  init?(_ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline?, until end: Double) {
    guard let control else { return nil }
    self.id = id
    var line: [Point] = []
    func append(_ time: Double, _ value: Double) {
      let point = Point(time: time, value: value)
      if line.last != point { line.append(point) }
    }
    let segments = control.segments
    for (index, segment) in segments.enumerated() where segment.start <= end || index == 0 {
      append(segment.start, segment.value)
      let next = index + 1 < segments.count ? min(segments[index + 1].start, end) : end
      if next > segment.start { append(next, segment.value(at: next)) }
    }
    self.line = line
    handles = Self.handles(id, of: pattern, control: control, until: end)
  }

  /// What the author gave, where it is in force: the line passes through it.
  private static func handles(
    _ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline, until end: Double
  ) -> [Point] {
    var given: [Point] = []
    for parameter in pattern.parameters where parameter.id == id {
      given.append(Point(time: parameter.time, value: Double(parameter.value)))
    }
    for curve in pattern.curves where curve.id == id {
      for point in curve.controlPoints {
        given.append(Point(time: curve.time + point.time, value: Double(point.value)))
      }
    }
    let (low, high) = (Double(id.range.lowerBound), Double(id.range.upperBound))
    return given.map { Point(time: $0.time, value: min(max($0.value, low), high)) }.filter { point in
      guard point.time >= 0, point.time <= end + 1e-4 else { return false }
      // Points lie on frames, so the nearest half frame of 48 kHz counts as the same time.
      let around = [point.time, point.time + 2e-5, point.time - 2e-5]
      return around.contains { time in abs(control.value(at: time) - point.value) < 2e-3 }
    }.sorted { $0.time < $1.time }
  }
}
