public import HapticModel
internal import RealtimeMemory

/// The onsets, envelopes, and controls of a pattern over time.
///
/// The timeline is compiled by the same code as a plan, so a plot of it matches the rendering.
/// Times are in seconds and rounded to whole frames.
public struct PatternTimeline: Sendable {
  /// A breakpoint of an event's envelope. The envelope is linear between breakpoints.
  public struct Corner: Equatable, Sendable {
    /// The time of the breakpoint, in seconds from the start of the pattern.
    public let seconds: Double
    /// The ratio of the amplitude at the breakpoint to the event's amplitude, 0…1.
    public let amplitudeFactor: Double
  }

  /// An event on the timeline.
  public struct Event: Equatable, Sendable {
    /// The index of the event in the pattern.
    public let eventIndex: Int
    /// The onset of the event, in seconds from the start of the pattern.
    public let onsetSeconds: Double
    /// The breakpoints of the envelope, sorted by time; empty if the event is never audible.
    public let corners: [Corner]

    /// The end of the event's envelope, in seconds from the start of the pattern.
    public var endSeconds: Double { corners.last?.seconds ?? onsetSeconds }
  }

  /// The events, sorted by onset; events with equal onsets are in the order of the pattern.
  public let events: [Event]
  /// The duration until the end of the pattern and the decay of all sound, in seconds.
  public let durationSeconds: Double
  private let controlTimelines: [DynamicParameterID: ControlTimeline]

  /// Creates the timeline of a pattern without rendering it.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - profile: The profile that determines the duration of transients.
  ///   - rate: The sample rate of the frames, in hertz.
  ///   - samples: The sound files of the pattern. For a missing file, the duration of the event is
  ///     used. If the event has no duration, its envelope is empty.
  /// - Throws: A `RenderError` if the pattern can't be rendered.
  /// - Complexity: O(*n* log *n*) in the number of events and control points.
  public init(
    of pattern: HapticPattern, profile: TransducerProfile = .phone, rate: Double = 48_000,
    samples: [String: AudioBuffer] = [:]
  ) throws(RenderError) {
    try RenderPlan.validate(HapticComposition(pattern))
    var planBuilder = RenderPlanBuilder(profile: profile, rate: rate)
    planBuilder.loopFrameCount = FrameConversion.frame(seconds: pattern.durationSeconds, rate: rate)
    var eventControls = EventControls(of: HapticComposition.Layer(pattern), rate: rate)
    var timelineEvents: [Event] = []
    timelineEvents.reserveCapacity(pattern.events.count)
    for index in pattern.indicesByTime {
      let event = pattern.events[index]
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      eventControls.advance(to: onset)
      let corners = Self.corners(
        of: event, onset: onset, controls: eventControls, samples: samples, builder: &planBuilder)
      timelineEvents.append(
        Event(eventIndex: index, onsetSeconds: Double(onset) / rate, corners: corners))
    }
    self.events = timelineEvents
    let lastEventEndSeconds = timelineEvents.map { $0.endSeconds }.max() ?? 0
    durationSeconds = max(
      Double(max(planBuilder.loopFrameCount, planBuilder.soundEndFrame)) / rate, lastEventEndSeconds
    )
    self.controlTimelines = Self.controls(
      of: pattern, live: eventControls.liveTimelines, rate: rate)
  }

  /// Returns the timeline of a control, with times in seconds rounded to frames.
  ///
  /// Returns nil if the pattern doesn't set the control.
  public func controlTimeline(for id: DynamicParameterID) -> ControlTimeline? {
    controlTimelines[id]
  }

  /// Plans the voices of an event and returns the breakpoints of the longest envelope.
  private static func corners(
    of event: HapticEvent, onset: Int64, controls: EventControls, samples: [String: AudioBuffer],
    builder: inout RenderPlanBuilder
  ) -> [Corner] {
    // Discard the voices of previous events to save memory.
    builder.voices.removeAll(keepingCapacity: true)
    builder.envelopes.removeAll(keepingCapacity: true)
    let eventSound = samples[event.waveform?.path ?? ""]
    if event.kind.playsFile, eventSound == nil {
      let start = Double(onset) / builder.rate
      return event.secondsUntilRelease.map {
        [
          Corner(seconds: start, amplitudeFactor: 1),
          Corner(seconds: start + $0, amplitudeFactor: 1),
        ]
      } ?? []
    }
    builder.addEvent(
      event, onset: onset, controls: controls,
      file: eventSound.map { .init(sound: $0, soundIndex: 0) })
    guard let longestVoice = builder.voices.max(by: { $0.envelope.endFrame < $1.envelope.endFrame })
    else {
      return []
    }
    return corners(of: longestVoice.envelope, onset: onset, rate: builder.rate)
  }

  private static func corners(of envelope: Envelope, onset: Int64, rate: Double) -> [Corner] {
    var envelopeCorners: [Corner] = []
    func appendCorner(_ frame: Int64, _ level: Double) {
      let corner = Corner(seconds: Double(onset + frame) / rate, amplitudeFactor: level)
      if envelopeCorners.last != corner {
        envelopeCorners.append(corner)
      }
    }
    appendCorner(0, envelope.riseEndFrame == 0 ? Double(envelope.riseLevel) : 0)
    appendCorner(envelope.riseEndFrame, Double(envelope.riseLevel))
    appendCorner(envelope.releaseStartFrame, Double(envelope.releaseLevel))
    appendCorner(
      envelope.endFrame,
      envelope.releaseStartFrame == envelope.endFrame ? Double(envelope.releaseLevel) : 0)
    return envelopeCorners
  }

  private static func controls(
    of pattern: HapticPattern, live timelines: [ControlTimeline], rate: Double
  ) -> [DynamicParameterID: ControlTimeline] {
    let usedControlIDs = Set(pattern.parameters.map { $0.id }).union(pattern.curves.map { $0.id })
    var usedControlTimelines: [DynamicParameterID: ControlTimeline] = [:]
    for (id, timeline) in zip(LiveControlID.allCases, timelines)
    where usedControlIDs.contains(id.parameterID) {
      usedControlTimelines[id.parameterID] = timeline.mappingSegments { segment in
        [
          .init(
            startPosition: segment.startPosition / rate, startValue: segment.startValue,
            slopePerPositionUnit: segment.slopePerPositionUnit * rate,
            sourceStartPosition: segment.sourceStartPosition.map { $0 / rate })
        ]
      }
    }
    return usedControlTimelines
  }
}
