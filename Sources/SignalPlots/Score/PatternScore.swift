public import HapticModel
public import HapticRender

/// A pattern as its designer thinks of it: events with their strength over time, and the curves over them.
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
  }

  /// One event as it is drawn.
  public struct Event: Equatable, Sendable {
    /// Its place among the pattern's events.
    public let index: Int
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

  /// A control over the pattern, as far as the pattern sets it.
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
  /// Intensity control and sharpness control, where the pattern sets them.
  public let curves: [Curve]
  /// Seconds until nothing sounds and the pattern has ended.
  public let duration: Double

  /// Evaluates a pattern.
  ///
  /// - Parameter samples: The pattern's sound files, for their lengths; without them they count as long as
  ///   their events say.
  /// - Throws: A `PlotError` for a pattern that cannot be rendered either.
  public init(
    of pattern: HapticPattern, profile: TransducerProfile = .phone,
    samples: [String: AudioBuffer] = [:]
  ) throws(PlotError) {
    let outline: PatternTimeline
    do throws(RenderError) {
      outline = try PatternTimeline(of: pattern, profile: profile, samples: samples)
    } catch {
      throw PlotError(kind: .pattern, description: error.description)
    }
    duration = outline.duration
    let haptics = EventSampling(
      strength: outline.control(.hapticIntensityControl),
      tone: outline.control(.hapticSharpnessControl), eventCount: outline.events.count)
    let audio = EventSampling(
      strength: outline.control(.audioVolumeControl),
      tone: outline.control(.audioBrightnessControl), eventCount: outline.events.count)
    events = outline.events.map { outlined in
      let event = pattern.events[outlined.index]
      let isAudio = event.kind == .audioContinuous || event.kind == .audioCustom
      let intensity = Double(event.value(of: isAudio ? .audioVolume : .hapticIntensity))
      let sharpness = Double(event.value(of: isAudio ? .audioBrightness : .hapticSharpness))
      let sampling = isAudio ? audio : haptics
      return Event(
        index: outlined.index, kind: event.kind, time: outlined.onset, end: outlined.end,
        givenIntensity: intensity, givenSharpness: sharpness,
        points: event.kind == .hapticTransient
          ? [
            sampling.point(at: outlined.onset, level: 1, intensity: intensity, sharpness: sharpness)
          ]
          : sampling.points(along: outlined.corners, intensity: intensity, sharpness: sharpness),
        file: event.waveform?.path)
    }
    let end = outline.duration
    curves = [.hapticIntensityControl, .hapticSharpnessControl].compactMap { id in
      Curve(id, of: pattern, control: outline.control(id), until: end)
    }
  }

  /// The events that are felt.
  public var hapticEvents: [Event] {
    events.filter { $0.kind == .hapticTransient || $0.kind == .hapticContinuous }
  }

  /// The events that are heard.
  public var audioEvents: [Event] {
    events.filter { $0.kind == .audioContinuous || $0.kind == .audioCustom }
  }
}
