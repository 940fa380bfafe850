internal import CoreHaptics
internal import Foundation
internal import HapticFormats
internal import HapticModel
internal import HapticRender

/// A reader that reconstructs played events from the recorded changes of a player.
///
/// The events are those of the player's pattern, with their levels.
///
/// 1. Schedule the events of the pattern by onset.
/// 2. For each change, advance to its frame: start the scheduled events, and extend the levels of
/// active events by the current state.
/// 3. Apply the change: seeks, pauses, and loops end the active events or begin others.
struct PlayerChangeReader {
  /// An event of the pattern with its onset and length in frames.
  private struct ScheduledEvent {
    var event: HapticEvent
    /// The index of the event's layer in the composition.
    var compositionLayerIndex: Int
    var onsetFrame: Int64
    var frameCount: Int64
  }

  /// An event that is playing, or that is interrupted by a pause.
  private struct ActiveEvent {
    var scheduledEvent: ScheduledEvent
    /// The start of the event's pass through the pattern, in frames.
    var passOriginFrame: Int64
    /// The levels of the event since its start or the last pause; empty during a pause.
    var segmentLevels: [(frame: Int64, intensity: Double, sharpness: Double)] = []
    var segmentStartFrame: Int64?
  }

  private static let levelControlIDs: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl,
  ]

  private let sampleRateHertz: Double
  private let playsHaptics: Bool
  private let playsAudio: Bool
  /// The scheduled events, sorted by onset.
  private let scheduledEvents: [ScheduledEvent]
  private let controlTimelinesByLayer: [[DynamicParameterID: ControlTimeline]]
  private var currentPlayerState = PlayerChange()
  private var currentFrame: Int64 = 0
  private var nextScheduledEventIndex = 0
  private var activeEvents: [ActiveEvent] = []
  /// The events that have ended so far, with times from frame 0.
  private var playedEvents: [PlayedHaptics.Event] = []

  init(
    _ composition: HapticComposition, sampleRateHertz: Double, playsHaptics: Bool = true,
    playsAudio: Bool = true
  ) {
    self.sampleRateHertz = sampleRateHertz
    self.playsHaptics = playsHaptics
    self.playsAudio = playsAudio
    var unsortedEvents: [ScheduledEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events
      where !event.kind.isContinuous || event.secondsUntilRelease != 0 {
        unsortedEvents.append(
          ScheduledEvent(
            event: event, compositionLayerIndex: layer,
            onsetFrame: FrameConversion.frame(seconds: event.time, rate: sampleRateHertz),
            frameCount: FrameConversion.frame(
              seconds: event.secondsUntilRelease ?? 0, rate: sampleRateHertz)))
      }
    }
    self.scheduledEvents = unsortedEvents.enumerated().sorted {
      ($0.element.onsetFrame, $0.offset) < ($1.element.onsetFrame, $1.offset)
    }.map(
      \.element)
    controlTimelinesByLayer = composition.layers.map { layer in
      Dictionary(
        uniqueKeysWithValues: Self.levelControlIDs.map {
          ($0, ControlTimeline(of: $0, in: layer.pattern, grid: .frames(rate: sampleRateHertz)))
        })
    }
    currentPlayerState.phase = .idle
  }

  mutating func applyChange(_ change: PlayerChange) {
    let isNextPass =
      change.overlappingPassCount != currentPlayerState.overlappingPassCount
      && change.jumpCount == currentPlayerState.jumpCount
    advance(
      toFrame: change.outputFrame,
      passFrameCount: isNextPass ? change.passOriginFrame - currentPlayerState.passOriginFrame : nil
    )
    let previousState = currentPlayerState
    let hasJumped = change.jumpCount != currentPlayerState.jumpCount
    currentPlayerState = change
    if hasJumped || change.phase != .playing {
      endActiveSegments()
    }
    if change.phase == .idle {
      activeEvents = []
    }
    if isNextPass {
      nextScheduledEventIndex = 0
    }
    if hasJumped {
      nextScheduledEventIndex =
        scheduledEvents.firstIndex { $0.onsetFrame >= change.jumpTargetFrame }
        ?? scheduledEvents.count
      activeEvents = scheduledEvents[..<nextScheduledEventIndex].filter {
        $0.frameCount > 0 && $0.onsetFrame + $0.frameCount > change.jumpTargetFrame
      }.map {
        ActiveEvent(scheduledEvent: $0, passOriginFrame: change.passOriginFrame)
      }
    }
    if change.phase == .playing, hasJumped || previousState.phase == .paused {
      for index in activeEvents.indices {
        activeEvents[index].segmentStartFrame = currentFrame
      }
    }
  }

  /// Ends the reading at a frame, and returns all events up to it.
  ///
  /// The origin in seconds is added to all times.
  mutating func finishEvents(atFrame end: Int64, originSeconds: Double) -> [PlayedHaptics.Event] {
    advance(toFrame: end)
    endActiveSegments()
    return playedEvents.map {
      PlayedHaptics.Event(
        kind: $0.kind, time: roundedToNanosecond($0.time + originSeconds),
        duration: roundedToNanosecond($0.duration),
        levels: $0.levels)
    }
  }

  /// Advances to a frame, with the player in its current state.
  ///
  /// If the next pass begins at the frame, advances to the end of the current pass.
  private mutating func advance(toFrame end: Int64, passFrameCount passLength: Int64? = nil) {
    defer { currentFrame = max(currentFrame, end) }
    guard currentPlayerState.phase == .playing else { return }
    while nextScheduledEventIndex < scheduledEvents.count,
      scheduledEvents[nextScheduledEventIndex].onsetFrame < passLength ?? .max
    {
      let planned = scheduledEvents[nextScheduledEventIndex]
      let start = max(
        currentFrame,
        currentPlayerState.frame(at: currentPlayerState.passOriginFrame + planned.onsetFrame))
      guard start < end || passLength != nil else { break }
      nextScheduledEventIndex += 1
      var event = ActiveEvent(
        scheduledEvent: planned, passOriginFrame: currentPlayerState.passOriginFrame,
        segmentStartFrame: start)
      if planned.frameCount > 0 {
        activeEvents.append(event)
      } else {
        appendLevel(atFrame: start, to: &event)
        recordEvent(event, endFrame: start)
      }
    }
    var remainingEvents: [ActiveEvent] = []
    for var event in activeEvents {
      let last = currentPlayerState.frame(
        at: event.passOriginFrame + event.scheduledEvent.onsetFrame
          + event.scheduledEvent.frameCount)
      appendLevels(to: &event, untilFrame: min(end, last))
      if last > end {
        remainingEvents.append(event)
      } else {
        recordEvent(event, endFrame: last)
      }
    }
    activeEvents = remainingEvents
  }

  /// Adds the breakpoints of an event's levels between the current frame and a later frame.
  private func appendLevels(to event: inout ActiveEvent, untilFrame end: Int64) {
    guard let eventStartFrame = event.segmentStartFrame else { return }
    let firstFrame = event.segmentLevels.last.map { max($0.frame, currentFrame) } ?? eventStartFrame
    guard end > firstFrame else { return }
    var cornerFrames: Set<Int64> = [firstFrame]
    let firstPosition = currentPlayerState.position(at: firstFrame) - event.passOriginFrame
    let endPosition = currentPlayerState.position(at: end) - event.passOriginFrame
    for control in controlTimelinesByLayer[event.scheduledEvent.compositionLayerIndex].values {
      for segment in control.segments[(control.segmentIndex(at: Double(firstPosition)) + 1)...]
      where segment.startPosition < Double(endPosition) {
        cornerFrames.insert(
          currentPlayerState.frame(at: event.passOriginFrame + Int64(segment.startPosition)))
      }
    }
    let sortedFrames = cornerFrames.sorted()
    for (frame, next) in zip(sortedFrames, sortedFrames.dropFirst() + [end]) {
      appendLevel(atFrame: frame, to: &event)
      // The segment ends just before the next one begins.
      if next - 1 > frame {
        appendLevel(atFrame: next - 1, to: &event)
      }
    }
  }

  private func appendLevel(atFrame frame: Int64, to event: inout ActiveEvent) {
    let (intensity, sharpness) = intensityAndSharpness(of: event, atFrame: frame)
    // Three equal points in series are replaced by two.
    let lastLevels = event.segmentLevels.suffix(2)
    if lastLevels.count == 2,
      lastLevels.allSatisfy({ $0.intensity == intensity && $0.sharpness == sharpness })
    {
      event.segmentLevels[event.segmentLevels.count - 1].frame = frame
    } else {
      event.segmentLevels.append((frame, intensity, sharpness))
    }
  }

  /// Returns the intensity or volume of an event at a frame, and its sharpness.
  private func intensityAndSharpness(
    of active: ActiveEvent, atFrame frame: Int64
  ) -> (Double, Double) {
    let passPosition = currentPlayerState.position(at: frame) - active.passOriginFrame
    func controlValue(_ id: DynamicParameterID) -> Double {
      guard let timeline = controlTimelinesByLayer[active.scheduledEvent.compositionLayerIndex][id]
      else {
        return Double(id.neutralValue)
      }
      let segment = timeline.segments[timeline.segmentIndex(at: Double(passPosition))]
      if let sent = currentPlayerState.liveValue(of: id, at: frame),
        segment.sourceStartPosition.map({ active.passOriginFrame + Int64($0) <= sent.position })
          ?? true
      {
        return sent.value
      }
      return segment.value(at: Double(passPosition))
    }
    // Rounding removes the digits that `Float` adds: 0.32 instead of 0.3199999928.
    func roundedUnitValue(_ value: Double) -> Double {
      (min(max(value, 0), 1) * 1e6).rounded() / 1e6
    }
    let scheduledEvent = active.scheduledEvent.event
    guard scheduledEvent.kind.isHaptic else {
      let volume =
        Double(scheduledEvent.value(of: .audioVolume)) * controlValue(.audioVolumeControl)
      return (currentPlayerState.playsAudio && playsAudio ? roundedUnitValue(volume) : 0, 0)
    }
    let controlledIntensity =
      Double(scheduledEvent.value(of: .hapticIntensity)) * controlValue(.hapticIntensityControl)
    let controlledSharpness =
      Double(scheduledEvent.value(of: .hapticSharpness)) + controlValue(.hapticSharpnessControl)
    return (
      currentPlayerState.playsHaptics && playsHaptics ? roundedUnitValue(controlledIntensity) : 0,
      roundedUnitValue(controlledSharpness)
    )
  }

  private mutating func recordEvent(_ event: ActiveEvent, endFrame: Int64) {
    guard let startFrame = event.segmentStartFrame, let firstLevel = event.segmentLevels.first
    else {
      return
    }
    let isSteady = event.segmentLevels.allSatisfy {
      $0.intensity == firstLevel.intensity && $0.sharpness == firstLevel.sharpness
    }
    let eventKind = event.scheduledEvent.event.kind
    let hapticKind = eventKind.isTransient ? PlayedHaptics.Event.Kind.transient : .continuous
    playedEvents.append(
      PlayedHaptics.Event(
        kind: eventKind.isHaptic ? hapticKind : .audio,
        time: Double(startFrame) / sampleRateHertz,
        duration: Double(max(0, endFrame - startFrame)) / sampleRateHertz,
        levels: (isSteady ? [firstLevel] : event.segmentLevels).map {
          PlayedHaptics.Event.Level(
            time: Double($0.frame - startFrame) / sampleRateHertz, intensity: $0.intensity,
            sharpness: $0.sharpness)
        }))
  }

  /// Ends the current segments of all active events. The events may continue after a pause.
  private mutating func endActiveSegments() {
    for index in activeEvents.indices {
      recordEvent(activeEvents[index], endFrame: currentFrame)
      activeEvents[index].segmentLevels = []
      activeEvents[index].segmentStartFrame = nil
    }
  }
}
