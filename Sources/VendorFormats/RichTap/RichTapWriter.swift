internal import HapticFormats
internal import HapticModel
internal import Reading

/// Puts events into groups and writes them as text.
struct RichTapWriter {
  private let notes: String?
  private var groups: [RichTapDocument.Group] = []
  private(set) var losses: LossLog

  /// Milliseconds without an event after which a new pattern begins.
  ///
  /// Source: OpenHarmony's converter (openharmony/sensors_miscdevice, 9394f74, utils/tools).
  private static let longestGap = 1_000

  init(notes: String?, losses: LossLog) {
    self.notes = notes
    self.losses = losses
  }

  // MARK: HE

  /// The text of version 2: events in patterns of at most 16.
  mutating func heList(_ events: [RichTapDocument.Event]) -> [UInt8] {
    var end = 0
    var shift = 0
    for event in events {
      if let last = groups.last, last.events.count < RichTapDialect.he.maximumEventCount,
        event.time - end <= Self.longestGap
      {
        append(event, &shift)
      } else {
        let least = groups.last.map { $0.time + 1 } ?? 0
        groups.append(RichTapDocument.Group(time: max(event.time, least)))
        append(event, &shift)
      }
      let length = event.isTransient ? RichTapDialect.transientLength : event.duration
      end = max(end, event.time + length)
    }
    if shift > 0 {
      losses.add(
        .approximated, .composition, "more than 16 events of one time are moved apart by up to # ms",
        size: Double(shift))
    }
    noteEmpty(events)
    return RichTapTables.of(.he).file.text(RichTapDocument(version: 2, notes: notes, groups: groups))
  }

  private mutating func append(_ event: RichTapDocument.Event, _ shift: inout Int) {
    var event = event
    let group = groups.count - 1
    event.time -= groups[group].time
    shift = max(shift, -event.time)
    event.time = max(event.time, 0)
    groups[group].events.append(event)
  }

  /// The text of version 1: one pattern.
  mutating func hePattern(_ events: [RichTapDocument.Event]) -> [UInt8] {
    let most = RichTapDialect.he.maximumEventCount
    if events.count > most {
      losses.add(
        .approximated, .composition, "a file of version 1 has # events; HarmonyOS refuses more than \(most)",
        size: Double(events.count))
    }
    noteEmpty(events)
    return RichTapTables.of(.he).file.text(
      RichTapDocument(version: 1, notes: notes, groups: [RichTapDocument.Group(events: events)]))
  }

  private mutating func noteEmpty(_ events: [RichTapDocument.Event]) {
    guard events.isEmpty else { return }
    losses.add(.approximated, .composition, "a file without events is written, which devices refuse")
  }

  // MARK: HarmonyOS

  /// The text of HarmonyOS: events in one or two channels.
  mutating func ohChannels(_ events: [RichTapDocument.Event]) -> [UInt8] {
    let used = RichTapDocument.Vibrator.allCases.filter { vibrator in events.contains { $0.vibrator == vibrator } }
    // A file has two channels at most: what both play is written for each where each plays more.
    let channels = used.count > 2 ? [.left, .right] : used.isEmpty ? [.both] : used
    for vibrator in channels {
      var own = events.filter { $0.vibrator == vibrator || !channels.contains($0.vibrator) }
      let late = own.count { $0.time > RichTapDialect.oh.times.upperBound }
      if late > 0 {
        own.removeAll { $0.time > RichTapDialect.oh.times.upperBound }
        losses.add(.dropped, .composition, "events later than 30 minutes are left out, # in all", size: Double(late))
      }
      let most = RichTapDialect.oh.maximumEventCount
      if own.count > most {
        losses.add(
          .dropped, .composition, "events beyond \(most) of a channel are left out, # in all",
          size: Double(own.count - most))
        own.removeLast(own.count - most)
      }
      groups.append(RichTapDocument.Group(vibrator: vibrator, events: own))
    }
    let document = RichTapDocument(channelCount: groups.count, notes: notes, groups: groups)
    let text = RichTapTables.of(.oh).file.text(document)
    guard text.count > RichTapDialect.oh.maximumFileSize else { return text }
    let compact = RichTapTables.of(.oh).file.text(document, layout: .compact)
    if compact.count > RichTapDialect.oh.maximumFileSize {
      losses.add(
        .approximated, .composition,
        "the file has # bytes; HarmonyOS refuses more than \(RichTapDialect.oh.maximumFileSize)",
        size: Double(compact.count))
    }
    return compact
  }
}
