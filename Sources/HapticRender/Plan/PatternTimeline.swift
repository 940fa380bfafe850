public import HapticModel
internal import RealtimeMemory

/// When each event of a pattern sounds and how loud its envelope is, and the values of its controls.
///
/// Compiled by the same code that a plan is, so that a picture of it shows what is rendered. Times are
/// seconds that lie on frames.
public struct PatternTimeline: Sendable {
  /// A point of an event's envelope, between which it is a straight line.
  public struct Corner: Equatable, Sendable {
    /// Seconds from the start of the pattern.
    public let time: Double
    /// The factor on the event's amplitude, 0…1.
    public let level: Double
  }

  /// One event in time.
  public struct Event: Equatable, Sendable {
    /// Its place among the pattern's events.
    public let index: Int
    /// The second of its onset.
    public let onset: Double
    /// Its envelope by rising time; empty for an event that is never heard.
    public let corners: [Corner]

    /// The second at which it falls silent.
    public var end: Double { corners.last?.time ?? onset }
  }

  /// By rising onset, and in the pattern's order where onsets are equal.
  public let events: [Event]
  /// Seconds until nothing sounds and the pattern has ended.
  public let duration: Double
  private let controls: [DynamicParameterID: ControlTimeline]

  /// Works out when everything sounds: O(n log n), without rendering anything.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - profile: Decides how long transients sound.
  ///   - rate: Frames per second.
  ///   - samples: The pattern's sound files; one that is missing counts as long as its event's
  ///     duration says, and not at all where that is absent.
  /// - Throws: A `RenderError` for a pattern that cannot be rendered either.
  public init(
    of pattern: HapticPattern, profile: TransducerProfile = .phone, rate: Double = 48_000,
    samples: [String: AudioBuffer] = [:]
  ) throws(RenderError) {
    try RenderPlan.check(HapticComposition(pattern))
    var draft = RenderPlanBuilder(profile: profile, rate: rate)
    draft.loopLength = FrameConversion.frame(seconds: pattern.duration, rate: rate)
    var controls = EventControls(of: pattern, rate: rate)
    var events: [Event] = []
    events.reserveCapacity(pattern.events.count)
    for index in pattern.orderOfTime {
      let event = pattern.events[index]
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      controls.move(to: onset)
      let corners = Self.corners(of: event, onset: onset, controls: controls, samples: samples, draft: &draft)
      events.append(Event(index: index, onset: Double(onset) / rate, corners: corners))
    }
    self.events = events
    let heard = events.map { $0.end }.max() ?? 0
    duration = max(Double(max(draft.loopLength, draft.soundEnd)) / rate, heard)
    self.controls = Self.controls(of: pattern, moving: controls.moving, rate: rate)
  }

  /// A control over the pattern in seconds that lie on frames, or nil for one that the pattern does not set.
  public func control(_ id: DynamicParameterID) -> ControlTimeline? { controls[id] }

  /// Plans an event as a renderer would, and keeps its longest envelope.
  private static func corners(
    of event: HapticEvent, onset: Int64, controls: EventControls, samples: [String: AudioBuffer],
    draft: inout RenderPlanBuilder
  ) -> [Corner] {
    // Only the voices of this event are looked at; a long pattern's would fill memory for nothing.
    draft.voices.removeAll()
    draft.envelopes.removeAll(keepingCapacity: true)
    let sample = samples[event.waveform?.path ?? ""]
    if event.kind.playsFile, sample == nil {
      let start = Double(onset) / draft.rate
      return event.length.map { [Corner(time: start, level: 1), Corner(time: start + $0, level: 1)] } ?? []
    }
    draft.add(event, onset: onset, controls: controls, file: sample.map { ($0, 0) })
    let envelopes = (0..<draft.voices.count).map { draft.voices[$0].envelope }
    guard let longest = envelopes.max(by: { $0.end < $1.end }) else { return [] }
    return corners(of: longest, onset: onset, rate: draft.rate)
  }

  private static func corners(of envelope: Envelope, onset: Int64, rate: Double) -> [Corner] {
    var corners: [Corner] = []
    func append(_ frame: Int64, _ level: Double) {
      let corner = Corner(time: Double(onset + frame) / rate, level: level)
      if corners.last != corner { corners.append(corner) }
    }
    append(0, envelope.riseEnd == 0 ? Double(envelope.riseLevel) : 0)
    append(envelope.riseEnd, Double(envelope.riseLevel))
    append(envelope.releaseStart, Double(envelope.releaseLevel))
    append(envelope.end, envelope.releaseStart == envelope.end ? Double(envelope.releaseLevel) : 0)
    return corners
  }

  private static func controls(of pattern: HapticPattern, moving: [ControlTimeline], rate: Double)
    -> [DynamicParameterID: ControlTimeline]
  {
    let used = Set(pattern.parameters.map { $0.id }).union(pattern.curves.map { $0.id })
    var controls: [DynamicParameterID: ControlTimeline] = [:]
    for (id, control) in zip(LiveControlID.allCases, moving) where used.contains(id.id) {
      controls[id.id] = control.mapping { segment in
        [
          .init(
            start: segment.start / rate, value: segment.value, slope: segment.slope * rate,
            origin: segment.origin.map { $0 / rate })
        ]
      }
    }
    return controls
  }
}
