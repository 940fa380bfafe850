public import HapticModel
internal import RealtimeMemory

/// When each event of a pattern sounds and how loud its envelope is, and the values of its
/// controls.
///
/// Compiled by the same code that a plan is, so that a picture of it shows what is rendered. Times
/// are seconds that lie on frames.
public struct PatternTimeline: Sendable {
  /// A point of an event's envelope, between which it is a straight line.
  public struct Corner: Equatable, Sendable {
    /// Seconds from the start of the pattern, and the factor on the event's amplitude, 0…1.
    public let time, level: Double
  }

  /// One event in time.
  public struct Event: Equatable, Sendable {
    /// Its place among the pattern's events.
    public let eventIndex: Int
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
  ///   - profile: Decides how long transients sound.
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
    for index in pattern.indicesByTime {
      let event = pattern.events[index]
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      controls.advance(to: onset)
      let corners = Self.corners(
        of: event, onset: onset, controls: controls, samples: samples, draft: &draft)
      events.append(Event(eventIndex: index, onset: Double(onset) / rate, corners: corners))
    }
    self.events = events
    let heard = events.map { $0.end }.max() ?? 0
    duration = max(Double(max(draft.loopLength, draft.soundEnd)) / rate, heard)
    self.controls = Self.controls(of: pattern, moving: controls.liveTimelines, rate: rate)
  }

  /// A control over the pattern in seconds that lie on frames, or nil for one that the pattern does
  /// not set.
  public func control(_ id: DynamicParameterID) -> ControlTimeline? { controls[id] }

  /// Plans an event as a renderer would, and keeps its longest envelope.
  private static func corners(
    of event: HapticEvent, onset: Int64, controls: EventControls, samples: [String: AudioBuffer],
    draft: inout RenderPlanBuilder
  ) -> [Corner] {
    // Only the voices of this event are looked at; a long pattern's would fill memory for nothing.
    draft.voices.removeAll(keepingCapacity: true)
    draft.envelopes.removeAll(keepingCapacity: true)
    let sample = samples[event.waveform?.path ?? ""]
    if event.kind.playsFile, sample == nil {
      let start = Double(onset) / draft.rate
      return event.holdDuration.map {
        [Corner(time: start, level: 1), Corner(time: start + $0, level: 1)]
      } ?? []
    }
    draft.add(event, onset: onset, controls: controls, file: sample.map { ($0, 0) })
    guard let longest = draft.voices.max(by: { $0.envelope.end < $1.envelope.end }) else {
      return []
    }
    return corners(of: longest.envelope, onset: onset, rate: draft.rate)
  }

  private static func corners(of envelope: Envelope, onset: Int64, rate: Double) -> [Corner] {
    var corners: [Corner] = []
    func append(_ frame: Int64, _ level: Double) {
      let corner = Corner(time: Double(onset + frame) / rate, level: level)
      if corners.last != corner {
        corners.append(corner)
      }
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
    for (id, control) in zip(LiveControlID.allCases, moving) where used.contains(id.parameterID) {
      controls[id.parameterID] = control.mappingSegments { segment in
        [
          .init(
            start: segment.start / rate, value: segment.value, slope: segment.slope * rate,
            sourceStart: segment.sourceStart.map { $0 / rate })
        ]
      }
    }
    return controls
  }
}

/// A segment of a control in frames: a straight line that holds until the next segment of its
/// track.
struct ControlSegment: BitwiseCopyable, Sendable {
  /// The first frame, from the start of the pattern.
  var start: Int64
  /// The value there, what it grows by with each frame, and the frames in which it moves by 1, or 0
  /// where it does not.
  var value, slope, framesPerUnit: Float
  /// The frame at which its step or curve came into force, or `ControlSegment.neutral`.
  var sourceStart: Int64

  /// The origin of what holds before the first step or curve.
  static var noSource: Int64 { @_noLocks get { .min } }

  @_noLocks init(start: Int64, value: Float, slope: Float, sourceStart origin: Int64 = noSource) {
    self.start = start
    self.value = value
    self.slope = slope
    self.sourceStart = origin
    let steepness = slope < 0 ? -slope : slope
    framesPerUnit = steepness > 1e-12 ? 1 / steepness : 0
  }

  @_noLocks func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }

  /// The value at a frame; a segment without a slope may begin at the beginning of time.
  @_noLocks func valueWithOpenStart(at frame: Int64) -> Float {
    slope == 0 ? value : value(at: frame)
  }
}

extension ControlTimeline {
  /// The segments on frames, with every jump ramped over some frames from the jump on.
  ///
  /// What a jump leaves is added to what follows and fades along a straight line, so that curves
  /// and further jumps within the ramp keep their own shape.
  func segments(rampedOver rampLength: Int64) -> [ControlSegment] {
    let rampLength = Double(rampLength)
    var ramped: [ControlSegment] = []
    ramped.reserveCapacity(segments.count)
    func append(_ start: Double, _ value: Double, _ slope: Double, _ origin: Double?) {
      ramped.append(
        ControlSegment(
          start: Int64(start), value: Float(value), slope: Float(slope),
          sourceStart: origin.map { Int64($0) } ?? ControlSegment.noSource))
    }
    var rest = 0.0
    var rampStart = 0.0
    var rampEnd = 0.0
    for (index, segment) in segments.enumerated() {
      if index > 0 {
        let jump = segments[index - 1].value(at: segment.start) - segment.value
        if abs(jump) > 1e-9 {
          let fading = max(0, rampEnd - segment.start) / rampLength
          rest = jump + rest * fading
          rampStart = segment.start
          rampEnd = segment.start + rampLength
        }
      }
      guard rampEnd > segment.start else {
        append(segment.start, segment.value, segment.slope, segment.sourceStart)
        continue
      }
      let fall = rest / rampLength
      let left = rest - fall * (segment.start - rampStart)
      append(segment.start, segment.value + left, segment.slope - fall, segment.sourceStart)
      let end = index + 1 < segments.count ? segments[index + 1].start : .infinity
      if rampEnd < end {
        append(rampEnd, segment.value(at: rampEnd), segment.slope, segment.sourceStart)
      }
    }
    return ramped
  }

  /// The control on frames with its values multiplied inside some spans, which are sorted and
  /// apart.
  func scaled(by factor: Double, within spans: [Range<Int64>]) -> ControlTimeline {
    var edges = spans.flatMap { [Double($0.lowerBound), Double($0.upperBound)] }[...]
    var isInside = false
    var ends = segments.dropFirst().map { $0.start }[...]
    return mappingSegments { segment in
      let end = ends.popFirst() ?? .infinity
      var parts: [Segment] = []
      var start = segment.start
      while start < end {
        while let edge = edges.first, edge <= start {
          isInside.toggle()
          edges.removeFirst()
        }
        let scale = isInside ? factor : 1
        parts.append(
          Segment(
            start: start, value: segment.value(at: start) * scale, slope: segment.slope * scale,
            sourceStart: segment.sourceStart)
        )
        start = min(end, edges.first ?? .infinity)
      }
      return parts
    }
  }
}

/// A factor on what a pattern gives to one haptic bus, as straight lines over its frames.
///
/// Audio is not regarded. The first value holds before the first point, and the last behind the
/// last.
public struct SendAutomation: Equatable, Sendable {
  /// A corner of the line.
  public struct Point: Equatable, Sendable {
    /// The frame of the pattern.
    public var frame: Int64
    /// The factor from this frame on.
    public var gain: Double

    /// Makes a corner.
    public init(frame: Int64, gain share: Double) {
      self.frame = frame
      self.gain = share
    }
  }

  /// The corners by rising frame; of several at one frame the last counts from there on.
  public let points: [Point]

  /// Makes a line through corners, which need not be in order; none leave everything as it is.
  public init(_ points: [Point]) {
    self.points = points.enumerated().sorted {
      ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset)
    }.map {
      $0.element
    }
  }

  var segments: [ControlSegment] {
    guard let first = points.first, let last = points.last else { return [] }
    var pieces = [ControlSegment(start: .min, value: Float(first.gain), slope: 0)]
    for (point, next) in zip(points, points.dropFirst()) where next.frame > point.frame {
      let slope = (next.gain - point.gain) / Double(next.frame - point.frame)
      pieces.append(
        ControlSegment(start: point.frame, value: Float(point.gain), slope: Float(slope)))
    }
    pieces.append(ControlSegment(start: last.frame, value: Float(last.gain), slope: 0))
    return pieces
  }
}
