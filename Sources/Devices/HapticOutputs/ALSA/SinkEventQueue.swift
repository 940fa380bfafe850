internal import HapticPlayback

/// A queue of sink events with a limited length, so that a failing device cannot flood the reader.
struct SinkEventQueue {
  /// The maximum number of events in the queue.
  static let maximumEventCount = 16

  private var events: [SinkEvent] = []
  private var droppedEventCount = 0
  private var droppedEventFrameCount = 0

  init() { events.reserveCapacity(Self.maximumEventCount + 1) }

  var isEmpty: Bool { events.isEmpty }

  /// Adds an event. A full queue drops underruns and suspensions first, keeps disconnections,
  /// reconnections, and failures, and counts the missed frames of dropped events.
  mutating func add(
    _ kind: SinkEvent.Kind, cause: SinkEvent.Cause? = nil, missedFrameCount: Int = 0, text: String
  ) {
    if events.count >= Self.maximumEventCount {
      guard kind != .underrun, kind != .suspended,
        let index = events.firstIndex(where: { $0.kind == .underrun || $0.kind == .suspended })
          ?? events.indices.first
      else {
        droppedEventCount += 1
        droppedEventFrameCount += missedFrameCount
        return
      }
      droppedEventCount += 1
      droppedEventFrameCount += events.remove(at: index).missedFrameCount
    }
    events.append(SinkEvent(kind, cause: cause, missedFrameCount: missedFrameCount, text: text))
  }

  /// Returns and removes all events, oldest first, followed by the number of dropped events.
  mutating func drain() -> [SinkEvent] {
    guard !events.isEmpty else { return [] }
    var drainedEvents = events
    if droppedEventCount > 0 {
      drainedEvents.append(
        SinkEvent(
          .degraded, missedFrameCount: droppedEventFrameCount,
          text: "\(droppedEventCount) more interruptions within this time"))
    }
    events.removeAll(keepingCapacity: true)
    droppedEventCount = 0
    droppedEventFrameCount = 0
    return drainedEvents
  }
}
