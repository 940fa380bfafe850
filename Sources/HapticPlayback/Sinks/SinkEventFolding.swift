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

  /// What happened of one kind and cause.
  package struct Group {
    package let kind: SinkEvent.Kind
    package let cause: SinkEvent.Cause?
    /// How many events there were.
    package fileprivate(set) var count = 0
    /// Frames that were missed because of them.
    package fileprivate(set) var missedFrameCount = 0
    fileprivate var held: Report?
    fileprivate var interval = SinkEventFolding.shortestInterval
    /// Until when events are held.
    fileprivate var end: Duration
  }

  /// The time between the first two reports of a kind.
  package static let shortestInterval = Duration.seconds(1)
  /// The time between two reports of what goes on and on.
  package static let longestInterval = Duration.seconds(60)

  /// In the order in which they were first met.
  package private(set) var groups: [Group] = []
  /// Underruns of the device.
  package var underrunCount: Int { groups.reduce(0) { $0 + ($1.kind == .underrun ? $1.count : 0) } }
  /// Those of them for which frames were delivered too late.
  package var ownUnderrunCount: Int { groups.first { $0.kind == .underrun && $0.cause == .lateDelivery }?.count ?? 0 }
  /// Whether the thread that renders has no real-time priority.
  package var lacksPriority: Bool { groups.contains { $0.cause == .refusedPriority } }
  /// Frames that could not be heard.
  package var missedFrameCount: Int { groups.reduce(0) { $0 + $1.missedFrameCount } }
  /// Whether what was played was not heard to its end.
  package var hasFailed: Bool { groups.contains { $0.kind == .failed } }

  package init() {}

  /// Counts an event; returns what to report now.
  package mutating func add(_ event: SinkEvent, at now: Duration) -> [Report] {
    var due = takeDue(at: now)
    let known = groups.firstIndex { $0.kind == event.kind && $0.cause == event.cause }
    let place = known ?? groups.endIndex
    if known == nil { groups.append(Group(kind: event.kind, cause: event.cause, end: now + Self.shortestInterval)) }
    var group = groups[place]
    defer { groups[place] = group }
    group.count += 1
    group.missedFrameCount += event.missedFrameCount
    if known == nil || event.kind == .failed { return due + [Report(event)] }
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
    return due
  }

  /// How long until held events are to be reported; nil where there are none.
  package func timeout(at now: Duration) -> Duration? {
    groups.filter { $0.held != nil }.map { max(.zero, $0.end - now) }.min()
  }

  /// Takes the held events whose time has come; all of them without a time.
  package mutating func takeDue(at now: Duration?) -> [Report] {
    var reports: [Report] = []
    for place in groups.indices {
      var group = groups[place]
      guard let held = group.held, now.map({ $0 >= group.end }) ?? true else { continue }
      reports.append(held)
      group.held = nil
      group.interval = min(group.interval * 2, Self.longestInterval)
      group.end = (now ?? group.end) + group.interval
      groups[place] = group
    }
    return reports
  }
}
