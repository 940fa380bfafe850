internal import CoreHaptics
internal import HapticModel
internal import HapticRender

extension PlayedHaptics {
  init(_ sessions: [SessionRecord]) {
    self.init(
      sessions.flatMap { session in
        session.plays.flatMap { play in
          var reader = PlayReader(
            play.composition, rate: session.rate, hearsHaptics: session.hearsHaptics, hearsAudio: session.hearsAudio)
          for change in play.changes where change.frame <= session.end { reader.take(change) }
          return reader.finish(at: session.end, origin: session.origin)
        }
      })
  }

  init(_ composition: HapticComposition) {
    let rate = 48_000.0
    var reader = PlayReader(composition, rate: rate)
    reader.take(PlayerChange())
    self.init(reader.finish(at: FrameConversion.frame(seconds: composition.duration + 31, rate: rate), origin: 0))
  }
}

/// Finds the events of a pattern in the changes of its player, and how strong each was.
private struct PlayReader {
  private struct PlannedEvent {
    var event: HapticEvent
    var layer: Int
    var onset: Int64
    var length: Int64
  }

  /// An event that sounds, or waits for the end of a pause.
  private struct OpenEvent {
    var planned: PlannedEvent
    /// The position at which its pass began.
    var origin: Int64
    /// What it has played since its start or the last pause; empty while it waits.
    var levels: [(frame: Int64, intensity: Double, sharpness: Double)] = []
    var start: Int64?
  }

  private static let followed: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl,
  ]

  private let rate: Double
  private let hearsHaptics: Bool
  private let hearsAudio: Bool
  /// By rising onset.
  private let events: [PlannedEvent]
  private let controls: [[DynamicParameterID: ControlTimeline]]
  private var state = PlayerChange()
  private var frame: Int64 = 0
  private var nextEvent = 0
  private var open: [OpenEvent] = []
  /// Times count from frame 0.
  private var played: [PlayedHaptics.Event] = []

  init(_ composition: HapticComposition, rate: Double, hearsHaptics: Bool = true, hearsAudio: Bool = true) {
    (self.rate, self.hearsHaptics, self.hearsAudio) = (rate, hearsHaptics, hearsAudio)
    var events: [PlannedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events where !event.kind.isContinuous || event.length != 0 {
        events.append(
          PlannedEvent(
            event: event, layer: layer, onset: FrameConversion.frame(seconds: event.time, rate: rate),
            length: FrameConversion.frame(seconds: event.length ?? 0, rate: rate)))
      }
    }
    self.events = events.enumerated().sorted { ($0.element.onset, $0.offset) < ($1.element.onset, $1.offset) }.map(
      \.element)
    controls = composition.layers.map { layer in
      Dictionary(
        uniqueKeysWithValues: Self.followed.map {
          ($0, ControlTimeline(of: $0, in: layer.pattern, grid: .frames(rate: rate)))
        })
    }
    state.phase = .idle
  }

  mutating func take(_ change: PlayerChange) {
    let isNextPass = change.passCount != state.passCount && change.entryCount == state.entryCount
    advance(to: change.frame, passLength: isNextPass ? change.passOrigin - state.passOrigin : nil)
    let (before, isEntered) = (state, change.entryCount != state.entryCount)
    state = change
    if isEntered || change.phase != .playing { closeOpenEvents() }
    if change.phase == .idle { open = [] }
    if isNextPass { nextEvent = 0 }
    if isEntered {
      nextEvent = events.firstIndex { $0.onset >= change.entryFrame } ?? events.count
      open = events[..<nextEvent].filter { $0.length > 0 && $0.onset + $0.length > change.entryFrame }.map {
        OpenEvent(planned: $0, origin: change.passOrigin)
      }
    }
    if change.phase == .playing, isEntered || before.phase == .paused {
      for index in open.indices { open[index].start = frame }
    }
  }

  /// What was played up to a frame; the origin is added to all times.
  mutating func finish(at end: Int64, origin: Double) -> [PlayedHaptics.Event] {
    advance(to: end)
    closeOpenEvents()
    return played.map {
      PlayedHaptics.Event(
        kind: $0.kind, time: rounded($0.time + origin), duration: rounded($0.duration), levels: $0.levels)
    }
  }

  /// Plays on as before up to a frame; to the end of a pass where the next one begins there.
  private mutating func advance(to end: Int64, passLength: Int64? = nil) {
    defer { frame = max(frame, end) }
    guard state.phase == .playing else { return }
    while nextEvent < events.count, events[nextEvent].onset < passLength ?? .max {
      let planned = events[nextEvent]
      let start = max(frame, state.frame(at: state.passOrigin + planned.onset))
      guard start < end || passLength != nil else { break }
      nextEvent += 1
      var event = OpenEvent(planned: planned, origin: state.passOrigin, start: start)
      if planned.length > 0 {
        open.append(event)
      } else {
        append(start, to: &event)
        note(event, end: start)
      }
    }
    var kept: [OpenEvent] = []
    for var event in open {
      let last = state.frame(at: event.origin + event.planned.onset + event.planned.length)
      sample(&event, to: min(end, last))
      if last > end { kept.append(event) } else { note(event, end: last) }
    }
    open = kept
  }

  /// Adds the corners of an event's levels up to a frame.
  private func sample(_ event: inout OpenEvent, to end: Int64) {
    guard let start = event.start else { return }
    let from = event.levels.last.map { max($0.frame, frame) } ?? start
    guard end > from else { return }
    var frames: Set<Int64> = [from]
    let (low, high) = (state.position(at: from) - event.origin, state.position(at: end) - event.origin)
    for control in controls[event.planned.layer].values {
      for segment in control.segments[(control.index(at: Double(low)) + 1)...] where segment.start < Double(high) {
        frames.insert(state.frame(at: event.origin + Int64(segment.start)))
      }
    }
    let corners = frames.sorted()
    for (frame, next) in zip(corners, corners.dropFirst() + [end]) {
      append(frame, to: &event)
      // The line ends where the next one starts, from the left.
      if next - 1 > frame { append(next - 1, to: &event) }
    }
  }

  private func append(_ frame: Int64, to event: inout OpenEvent) {
    let (intensity, sharpness) = level(of: event, at: frame)
    // Three points of one height are a line of two.
    let last = event.levels.suffix(2)
    if last.count == 2, last.allSatisfy({ $0.intensity == intensity && $0.sharpness == sharpness }) {
      event.levels[event.levels.count - 1].frame = frame
    } else {
      event.levels.append((frame, intensity, sharpness))
    }
  }

  /// Intensity, or volume, and sharpness of an event at a frame.
  private func level(of open: OpenEvent, at frame: Int64) -> (Double, Double) {
    let position = state.position(at: frame) - open.origin
    func control(_ id: DynamicParameterID) -> Double {
      guard let timeline = controls[open.planned.layer][id] else { return Double(id.neutralValue) }
      let segment = timeline.segments[timeline.index(at: Double(position))]
      if let sent = state.sent(id, at: frame),
        segment.origin.map({ open.origin + Int64($0) <= sent.position }) ?? true
      {
        return sent.value
      }
      return segment.value(at: Double(position))
    }
    // Without the digits that `Float` adds: 0.32, not 0.3199999928.
    func unit(_ value: Double) -> Double { (min(max(value, 0), 1) * 1e6).rounded() / 1e6 }
    let event = open.planned.event
    guard event.kind.isHaptic else {
      let volume = Double(event.value(of: .audioVolume)) * control(.audioVolumeControl)
      return (state.hearsAudio && hearsAudio ? unit(volume) : 0, 0)
    }
    let intensity = Double(event.value(of: .hapticIntensity)) * control(.hapticIntensityControl)
    let sharpness = Double(event.value(of: .hapticSharpness)) + control(.hapticSharpnessControl)
    return (state.hearsHaptics && hearsHaptics ? unit(intensity) : 0, unit(sharpness))
  }

  private mutating func note(_ event: OpenEvent, end: Int64) {
    guard let start = event.start, let first = event.levels.first else { return }
    let isSteady = event.levels.allSatisfy { $0.intensity == first.intensity && $0.sharpness == first.sharpness }
    let kind = event.planned.event.kind
    played.append(
      PlayedHaptics.Event(
        kind: kind.isHaptic ? (kind.isTransient ? .transient : .continuous) : .audio, time: Double(start) / rate,
        duration: Double(max(0, end - start)) / rate,
        levels: (isSteady ? [first] : event.levels).map {
          PlayedHaptics.Event.Level(
            time: Double($0.frame - start) / rate, intensity: $0.intensity, sharpness: $0.sharpness)
        }))
  }

  /// Lets what sounds end now; it may go on after a pause.
  private mutating func closeOpenEvents() {
    for index in open.indices {
      note(open[index], end: frame)
      open[index].levels = []
      open[index].start = nil
    }
  }
}
