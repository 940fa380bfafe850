/// Counts what happens at a sink, and folds events that repeat, so that people and programs can read them.
///
/// The first event of a kind and cause is reported at once. Those that follow within a second are reported
/// together; while it goes on, the time between two reports doubles, up to a minute.
package struct SinkEventFolding {
  /// Events of one kind and cause that are reported together.
  package struct Report: Equatable, Sendable {
    /// The last of them, with the frames that were missed because of all.
    package var event: SinkEvent
    /// How many there were.
    package var count: Int

    package init(_ event: SinkEvent, count: Int = 1) {
      self.event = event
      self.count = count
    }
  }

  private struct Group {
    var held: Report?
    var interval = SinkEventFolding.shortestInterval
    /// Until when events are held.
    var end: Duration
  }

  /// The time between the first two reports of a kind.
  package static let shortestInterval = Duration.seconds(1)
  /// The time between two reports of what goes on and on.
  package static let longestInterval = Duration.seconds(60)

  /// Underruns of the device.
  package private(set) var underrunCount = 0
  /// Those of them for which frames were delivered too late.
  package private(set) var ownUnderrunCount = 0
  /// Whether the thread that renders has no real-time priority.
  package private(set) var lacksPriority = false
  /// Frames that could not be heard.
  package private(set) var missedFrameCount = 0
  /// Whether what was played was not heard to its end.
  package private(set) var hasFailed = false
  /// In the order in which they were first met.
  private var groups: [(kind: SinkEvent.Kind, cause: SinkEvent.Cause?, group: Group)] = []

  package init() {}

  /// Counts an event; returns what to report now.
  package mutating func add(_ event: SinkEvent, at now: Duration) -> [Report] {
    missedFrameCount += event.missedFrameCount
    if event.kind == .underrun { underrunCount += 1 }
    if event.kind == .underrun, event.cause == .lateDelivery { ownUnderrunCount += 1 }
    if event.kind == .failed { hasFailed = true }
    if event.cause == .refusedPriority { lacksPriority = true }
    var due = takeDue(at: now)
    let place = groups.firstIndex { $0.kind == event.kind && $0.cause == event.cause }
    guard let place, event.kind != .failed else {
      if place == nil { groups.append((event.kind, event.cause, Group(end: now + Self.shortestInterval))) }
      return due + [Report(event)]
    }
    var group = groups[place].group
    if now >= group.end {
      // Quiet for as long as it was last held: the next is news again.
      group.interval = Self.shortestInterval
      group.end = now + group.interval
      due.append(Report(event))
    } else if let held = group.held {
      var folded = event
      folded.missedFrameCount += held.event.missedFrameCount
      group.held = Report(folded, count: held.count + 1)
    } else {
      group.held = Report(event)
    }
    groups[place].group = group
    return due
  }

  /// How long until held events are to be reported; nil where there are none.
  package func timeout(at now: Duration) -> Duration? {
    groups.filter { $0.group.held != nil }.map { max(.zero, $0.group.end - now) }.min()
  }

  /// Takes the held events whose time has come; all of them without a time.
  package mutating func takeDue(at now: Duration?) -> [Report] {
    var reports: [Report] = []
    for place in groups.indices {
      var group = groups[place].group
      guard let held = group.held, now.map({ $0 >= group.end }) ?? true else { continue }
      reports.append(held)
      group.held = nil
      group.interval = min(group.interval * 2, Self.longestInterval)
      group.end = (now ?? group.end) + group.interval
      groups[place].group = group
    }
    return reports
  }
}
