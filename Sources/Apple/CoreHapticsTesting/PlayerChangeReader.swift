internal import CoreHaptics
internal import Foundation
internal import HapticFormats
internal import HapticModel
internal import HapticRender

/// Reconstructs the events of a pattern, with their levels, from the recorded changes of a player.
///
/// 1. Schedule the events of the pattern by onset.
/// 2. For each change, advance to its frame: start the scheduled events, and extend the levels of
///    active events by the current state.
/// 3. Apply the change: seeks, pauses, and loops end the active events or begin others.
struct PlayerChangeReader {
  /// An event of the pattern with its onset and length in frames.
  private struct ScheduledEvent {
    var event: HapticEvent
    var layer: Int
    var onset: Int64
    var length: Int64
  }

  /// An event that is sounding, or that waits for the end of a pause.
  private struct ActiveEvent {
    var scheduled: ScheduledEvent
    /// The position at which the event's pass began, in frames.
    var passOrigin: Int64
    /// The levels since the start or the last pause; empty during a pause.
    var levels: [(frame: Int64, intensity: Double, sharpness: Double)] = []
    var start: Int64?
  }

  private static let controlIDs: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl,
  ]

  private let rate: Double
  private let playsHaptics: Bool
  private let playsAudio: Bool
  /// The events, sorted by onset.
  private let events: [ScheduledEvent]
  private let controls: [[DynamicParameterID: ControlTimeline]]
  private var state = PlayerChange()
  private var frame: Int64 = 0
  private var nextEvent = 0
  private var activeEvents: [ActiveEvent] = []
  /// The events so far, with times from frame 0.
  private var playedEvents: [PlayedHaptics.Event] = []

  init(
    _ composition: HapticComposition, rate: Double, playsHaptics: Bool = true,
    playsAudio: Bool = true
  ) {
    self.rate = rate
    self.playsHaptics = playsHaptics
    self.playsAudio = playsAudio
    var events: [ScheduledEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events where !event.kind.isContinuous || event.holdDuration != 0
      {
        events.append(
          ScheduledEvent(
            event: event, layer: layer,
            onset: FrameConversion.frame(seconds: event.time, rate: rate),
            length: FrameConversion.frame(seconds: event.holdDuration ?? 0, rate: rate)))
      }
    }
    self.events = events.enumerated().sorted {
      ($0.element.onset, $0.offset) < ($1.element.onset, $1.offset)
    }.map(
      \.element)
    controls = composition.layers.map { layer in
      Dictionary(
        uniqueKeysWithValues: Self.controlIDs.map {
          ($0, ControlTimeline(of: $0, in: layer.pattern, grid: .frames(rate: rate)))
        })
    }
    state.phase = .idle
  }

  mutating func apply(_ change: PlayerChange) {
    let isNextPass =
      change.overlapCount != state.overlapCount && change.jumpCount == state.jumpCount
    advance(to: change.frame, passLength: isNextPass ? change.passOrigin - state.passOrigin : nil)
    let previous = state
    let isEntered = change.jumpCount != state.jumpCount
    state = change
    if isEntered || change.phase != .playing {
      endActiveEvents()
    }
    if change.phase == .idle {
      activeEvents = []
    }
    if isNextPass {
      nextEvent = 0
    }
    if isEntered {
      nextEvent = events.firstIndex { $0.onset >= change.jumpFrame } ?? events.count
      activeEvents = events[..<nextEvent].filter {
        $0.length > 0 && $0.onset + $0.length > change.jumpFrame
      }.map {
        ActiveEvent(scheduled: $0, passOrigin: change.passOrigin)
      }
    }
    if change.phase == .playing, isEntered || previous.phase == .paused {
      for index in activeEvents.indices {
        activeEvents[index].start = frame
      }
    }
  }

  /// Returns the events up to a frame. The origin is added to all times.
  mutating func finish(at end: Int64, origin: Double) -> [PlayedHaptics.Event] {
    advance(to: end)
    endActiveEvents()
    return playedEvents.map {
      PlayedHaptics.Event(
        kind: $0.kind, time: roundedToNanosecond($0.time + origin),
        duration: roundedToNanosecond($0.duration),
        levels: $0.levels)
    }
  }

  /// Advances to a frame with the current state, or to the end of the pass if the next pass begins
  /// at the frame.
  private mutating func advance(to end: Int64, passLength: Int64? = nil) {
    defer { frame = max(frame, end) }
    guard state.phase == .playing else { return }
    while nextEvent < events.count, events[nextEvent].onset < passLength ?? .max {
      let planned = events[nextEvent]
      let start = max(frame, state.frame(at: state.passOrigin + planned.onset))
      guard start < end || passLength != nil else { break }
      nextEvent += 1
      var event = ActiveEvent(scheduled: planned, passOrigin: state.passOrigin, start: start)
      if planned.length > 0 {
        activeEvents.append(event)
      } else {
        appendLevel(at: start, to: &event)
        record(event, end: start)
      }
    }
    var remaining: [ActiveEvent] = []
    for var event in activeEvents {
      let last = state.frame(at: event.passOrigin + event.scheduled.onset + event.scheduled.length)
      appendLevels(to: &event, until: min(end, last))
      if last > end {
        remaining.append(event)
      } else {
        record(event, end: last)
      }
    }
    activeEvents = remaining
  }

  /// Adds the breakpoints of an event's levels up to a frame.
  private func appendLevels(to event: inout ActiveEvent, until end: Int64) {
    guard let start = event.start else { return }
    let from = event.levels.last.map { max($0.frame, frame) } ?? start
    guard end > from else { return }
    var frames: Set<Int64> = [from]
    let low = state.position(at: from) - event.passOrigin
    let high = state.position(at: end) - event.passOrigin
    for control in controls[event.scheduled.layer].values {
      for segment in control.segments[(control.segmentIndex(at: Double(low)) + 1)...]
      where segment.start < Double(high) {
        frames.insert(state.frame(at: event.passOrigin + Int64(segment.start)))
      }
    }
    let corners = frames.sorted()
    for (frame, next) in zip(corners, corners.dropFirst() + [end]) {
      appendLevel(at: frame, to: &event)
      // The segment ends just before the next one begins.
      if next - 1 > frame {
        appendLevel(at: next - 1, to: &event)
      }
    }
  }

  private func appendLevel(at frame: Int64, to event: inout ActiveEvent) {
    let (intensity, sharpness) = level(of: event, at: frame)
    // Three equal points in series are replaced by two.
    let last = event.levels.suffix(2)
    if last.count == 2, last.allSatisfy({ $0.intensity == intensity && $0.sharpness == sharpness })
    {
      event.levels[event.levels.count - 1].frame = frame
    } else {
      event.levels.append((frame, intensity, sharpness))
    }
  }

  /// Returns the intensity or volume and the sharpness of an event at a frame.
  private func level(of active: ActiveEvent, at frame: Int64) -> (Double, Double) {
    let position = state.position(at: frame) - active.passOrigin
    func control(_ id: DynamicParameterID) -> Double {
      guard let timeline = controls[active.scheduled.layer][id] else {
        return Double(id.neutralValue)
      }
      let segment = timeline.segments[timeline.segmentIndex(at: Double(position))]
      if let sent = state.liveValue(of: id, at: frame),
        segment.sourceStart.map({ active.passOrigin + Int64($0) <= sent.position }) ?? true
      {
        return sent.value
      }
      return segment.value(at: Double(position))
    }
    // Rounding removes the digits that `Float` adds: 0.32 instead of 0.3199999928.
    func unit(_ value: Double) -> Double { (min(max(value, 0), 1) * 1e6).rounded() / 1e6 }
    let event = active.scheduled.event
    guard event.kind.isHaptic else {
      let volume = Double(event.value(of: .audioVolume)) * control(.audioVolumeControl)
      return (state.playsAudio && playsAudio ? unit(volume) : 0, 0)
    }
    let intensity = Double(event.value(of: .hapticIntensity)) * control(.hapticIntensityControl)
    let sharpness = Double(event.value(of: .hapticSharpness)) + control(.hapticSharpnessControl)
    return (state.playsHaptics && playsHaptics ? unit(intensity) : 0, unit(sharpness))
  }

  private mutating func record(_ event: ActiveEvent, end: Int64) {
    guard let start = event.start, let first = event.levels.first else { return }
    let isSteady = event.levels.allSatisfy {
      $0.intensity == first.intensity && $0.sharpness == first.sharpness
    }
    let kind = event.scheduled.event.kind
    let hapticKind = kind.isTransient ? PlayedHaptics.Event.Kind.transient : .continuous
    playedEvents.append(
      PlayedHaptics.Event(
        kind: kind.isHaptic ? hapticKind : .audio,
        time: Double(start) / rate,
        duration: Double(max(0, end - start)) / rate,
        levels: (isSteady ? [first] : event.levels).map {
          PlayedHaptics.Event.Level(
            time: Double($0.frame - start) / rate, intensity: $0.intensity, sharpness: $0.sharpness)
        }))
  }

  /// Ends the segments of all active events, which may continue after a pause.
  private mutating func endActiveEvents() {
    for index in activeEvents.indices {
      record(activeEvents[index], end: frame)
      activeEvents[index].levels = []
      activeEvents[index].start = nil
    }
  }
}
