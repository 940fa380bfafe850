/// Tells a service manager and a collector of figures how the program is, on the thread that obeys
/// commands.
final class ListenUpkeep {
  static let fileInterval = Duration.seconds(15)
  /// The time between two looks at a render thread that has not answered.
  private static let lookInterval = Duration.milliseconds(250)

  private let file: String?
  private let watchdogInterval: Duration?
  private let notify: (String) -> Void
  private let report: (String) -> Void
  private var feedTime = Duration.zero
  private var fileTime = Duration.zero
  private var turnCount: Int?
  private var isFailing = false

  /// - Parameter watchdogLimit: How long the service manager waits for a sign of life, which comes
  ///   in half of that.
  init(
    file: String? = nil, watchdogLimit: Duration? = nil,
    notify: @escaping (String) -> Void = { _ in },
    report: @escaping (String) -> Void = { _ in }
  ) {
    self.file = file
    watchdogInterval = watchdogLimit.map { $0 / 2 }
    self.notify = notify
    self.report = report
  }

  /// Does what is due; returns how long until more is, or nil where nothing will be.
  func perform(at now: Duration, on session: ListenSession) -> Duration? {
    if let watchdogInterval, now >= feedTime {
      let count = session.engine.turnCount
      // Not where the render thread has done nothing since the last time.
      if count != turnCount {
        notify("WATCHDOG=1\nSTATUS=" + session.summary)
        feedTime = now + watchdogInterval
        turnCount = count
      }
    }
    if let file, now >= fileTime {
      fileTime = now + Self.fileInterval
      do throws(FileError) {
        var writer = try AtomicFileWriter(file)
        try writer.write(Array(session.openMetrics.utf8))
        // After a power failure there are new figures.
        try writer.commit(isFlushed: false)
        isFailing = false
      } catch {
        if !isFailing {
          report(error.description)
        }
        isFailing = true
      }
    }
    return [
      watchdogInterval.map { _ in max(Self.lookInterval, feedTime - now) },
      file.map { _ in fileTime - now },
    ]
    .compactMap(\.self).min()
  }
}

/// What can be counted in a session, for people, programs and collectors.
extension ListenSession {
  private var missedSeconds: Double { Double(trouble.missedFrameCount) / engine.rate }
  private var limitedSeconds: Double { Double(engine.limitedFrameCount) / engine.rate }

  var summary: String {
    "\(device.printable) at \(Int(engine.rate)) Hz; \(missedSeconds.text(1)) s lost"
  }

  var fields: JSONMembers {
    [
      "formatVersion": 1, "since": start, "seconds": engine.seconds, "device": device,
      "rate": Int(engine.rate),
      "missedSeconds": missedSeconds,
      "events": .list(
        trouble.groups.map { event in
          .fields([
            "kind": event.kind.name, "cause": event.cause?.name, "count": event.count,
            "missedSeconds": Double(event.missedFrameCount) / engine.rate,
          ])
        }) as JSONPiece, "longestCallSeconds": engine.longestCall.inSeconds,
      "lateCommands": lateCommandCount,
      "peak": Double(takePeak()), "limitedSeconds": limitedSeconds,
    ]
  }

  /// The text of OpenMetrics 1.0, which collectors of files read.
  var openMetrics: String {
    let labels = trouble.groups.map { event in
      "{kind=\"\(event.kind.name)\"" + (event.cause.map { ",cause=\"\($0.name)\"" } ?? "") + "}"
    }
    let missed = zip(labels, trouble.groups).map { ($0, Double($1.missedFrameCount) / engine.rate) }
    return [
      Self.family("start_time_seconds", "gauge", "When the session began.", [("", Double(start))]),
      Self.family(
        "session_seconds", "gauge", "How long the session has lasted.", [("", engine.seconds)]),
      Self.family(
        "events", "counter", "Events at the device.",
        zip(labels, trouble.groups).map { ($0, Double($1.count)) }),
      Self.family("missed_seconds", "counter", "Audio that could not be heard.", missed),
      Self.family(
        "longest_call_seconds", "gauge", "The longest call of the device.",
        [("", engine.longestCall.inSeconds)]),
      Self.family(
        "late_commands", "counter", "Commands that came too late.", [("", Double(lateCommandCount))]
      ),
      Self.family(
        "limited_seconds", "counter", "Audio that a limiter held down.", [("", limitedSeconds)]),
      Self.family("peak", "gauge", "The greatest magnitude.", [("", Double(takePeak()))]),
      "# EOF\n",
    ].joined()
  }

  private static func family(
    _ name: String, _ type: String, _ help: String, _ samples: [(String, Double)]
  ) -> String {
    let name = "temblor_" + name
    let unit = name.hasSuffix("_seconds") ? "# UNIT \(name) seconds\n" : ""
    let suffix = type == "counter" ? "_total" : ""
    return "# TYPE \(name) \(type)\n\(unit)# HELP \(name) \(help)\n"
      + samples.map { "\(name)\(suffix)\($0) \($1)\n" }.joined()
  }
}

extension SinkEvent.Kind { var name: String { "\(self)" } }

extension SinkEvent.Cause {
  /// `late-delivery` for `lateDelivery`.
  var name: String {
    String("\(self)".flatMap { $0.isUppercase ? "-" + $0.lowercased() : String($0) })
  }
}
