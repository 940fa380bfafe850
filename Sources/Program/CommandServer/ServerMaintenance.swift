internal import HapticPlayback
internal import SystemSupport

/// Reports the state of the server to a service manager and writes its metrics to a file, on the
/// thread that performs commands.
package final class ServerMaintenance {
  /// The interval between updates of the metrics file.
  package static let metricsFileInterval = Duration.seconds(15)
  /// The interval at which a render thread that has not responded is checked again.
  private static let pollInterval = Duration.milliseconds(250)

  private let metricsPath: String?
  private let watchdogInterval: Duration?
  private let notifyServiceManager: (String) -> Void
  private let reportMessage: (String) -> Void
  private var nextWatchdogTime = Duration.zero
  private var nextMetricsFileTime = Duration.zero
  private var lastRenderIterationCount: Int?
  private var wasDevicePresent: Bool?
  private var isMetricsFileFailing = false

  /// - Parameters:
  ///   - file: The path of the metrics file; nil for none.
  ///   - watchdogLimit: The timeout of the service manager's watchdog; a notification is sent after
  ///     half of it.
  ///   - notify: A closure that sends a notification to the service manager.
  ///   - report: A closure that reports an error.
  package init(
    file: String? = nil, watchdogLimit: Duration? = nil,
    notify: @escaping (String) -> Void = { _ in },
    report: @escaping (String) -> Void = { _ in }
  ) {
    self.metricsPath = file
    watchdogInterval = watchdogLimit.map { $0 / 2 }
    self.notifyServiceManager = notify
    self.reportMessage = report
  }

  /// Performs the tasks that are due, and returns the time until the next task is due; nil if there
  /// is none.
  package func performDueTasks(at now: Duration, on session: CommandSession) -> Duration? {
    if let wasDevicePresent, wasDevicePresent != session.isDevicePresent {
      notifyServiceManager("STATUS=" + session.statusSummary)
    }
    wasDevicePresent = session.isDevicePresent
    if let watchdogInterval, now >= nextWatchdogTime {
      let count = session.engine.renderIterationCount
      // No notification is sent if the render thread has not run since the last one.
      if count != lastRenderIterationCount {
        notifyServiceManager("WATCHDOG=1\nSTATUS=" + session.statusSummary)
        nextWatchdogTime = now + watchdogInterval
        lastRenderIterationCount = count
      }
    }
    if let metricsPath, now >= nextMetricsFileTime {
      nextMetricsFileTime = now + Self.metricsFileInterval
      do throws(FileError) {
        var writer = try AtomicFileWriter(metricsPath)
        try writer.write(Array(session.openMetricsText.utf8))
        // After a power failure, new metrics replace lost ones.
        try writer.commit(isFlushed: false)
        isMetricsFileFailing = false
      } catch {
        if !isMetricsFileFailing {
          reportMessage(error.description)
        }
        isMetricsFileFailing = true
      }
    }
    return [
      watchdogInterval.map { _ in max(Self.pollInterval, nextWatchdogTime - now) },
      metricsPath.map { _ in nextMetricsFileTime - now },
    ]
    .compactMap(\.self).min()
  }
}

/// Reports the metrics of a session as text for people, as JSON for programs, and in the
/// OpenMetrics format for collectors.
extension CommandSession {
  private var missedOutputSeconds: Double { Double(sinkEvents.missedFrameCount) / engine.rate }
  private var activeLimiterSeconds: Double { Double(engine.limitedFrameCount) / engine.rate }

  package var statusSummary: String {
    let waitingPrefix = isDevicePresent || deviceName == "none" ? "" : "waiting for "
    let lostSecondsText = "\(missedOutputSeconds.text(places: 1)) s lost"
    return waitingPrefix + "\(deviceName.printable) at \(Int(engine.rate)) Hz; \(lostSecondsText)"
  }

  var statisticsFields: JSONObject {
    [
      "formatVersion": 1, "since": startSecondsSince1970, "seconds": engine.positionSeconds,
      "device": deviceName,
      "devicePresent": isDevicePresent, "clients": clientCount,
      "rate": Int(engine.rate),
      "missedSeconds": missedOutputSeconds,
      "events": .array(
        sinkEvents.groups.map { event in
          .object([
            "kind": event.kind.name, "cause": event.cause?.name, "count": event.count,
            "missedSeconds": Double(event.missedFrameCount) / engine.rate,
          ])
        }) as JSONElement, "longestCallSeconds": engine.maximumSinkCallDuration.inSeconds,
      "lateCommands": lateCommandCount,
      "peak": Double(updateMaximumPeak()), "limitedSeconds": activeLimiterSeconds,
    ]
  }

  /// The metrics in the text format of OpenMetrics 1.0, for collectors that read files.
  var openMetricsText: String {
    let metricSeries = sinkEventCounterSeries
    let eventCounts = metricSeries.map { ($0.labels, Double($0.count)) }
    let missedSeconds = metricSeries.map { ($0.labels, Double($0.missedFrameCount) / engine.rate) }
    return [
      Self.metricFamily(
        "start_time_seconds", "gauge", "Time at which the session began.",
        [("", Double(startSecondsSince1970))]
      ),
      Self.metricFamily(
        "session_seconds", "gauge", "Length of the session.", [("", engine.positionSeconds)]),
      Self.metricFamily("events", "counter", "Device events.", eventCounts),
      Self.metricFamily(
        "device_present", "gauge", "1 if the device is open and responds, otherwise 0.",
        [("", isDevicePresent ? 1 : 0)]),
      Self.metricFamily("clients", "gauge", "Connected clients.", [("", Double(clientCount))]),
      Self.metricFamily("missed_seconds", "counter", "Lost audio.", missedSeconds),
      Self.metricFamily(
        "longest_call_seconds", "gauge", "Longest device call.",
        [("", engine.maximumSinkCallDuration.inSeconds)]),
      Self.metricFamily(
        "late_commands", "counter", "Commands that arrived after their deadline.",
        [("", Double(lateCommandCount))]
      ),
      Self.metricFamily(
        "limited_seconds", "counter", "Audio with gain reduction.", [("", activeLimiterSeconds)]),
      Self.metricFamily("peak", "gauge", "Peak magnitude.", [("", Double(updateMaximumPeak()))]),
      "# EOF\n",
    ].joined()
  }

  /// The counters of device events for OpenMetrics, by kind and cause. All series exist from the
  /// start and are never removed, because an alert cannot detect the rise of a series that did not
  /// exist before.
  private var sinkEventCounterSeries: [(labels: String, count: Int, missedFrameCount: Int)] {
    SinkEvent.Kind.allCases.flatMap { kind in
      ([nil] + kind.possibleCauses).map { cause in
        let group = sinkEvents.groups.first { $0.kind == kind && $0.cause == cause }
        let causeLabel = cause.map { ",cause=\"\($0.name)\"" } ?? ""
        return (
          "{kind=\"\(kind.name)\"\(causeLabel)}", group?.count ?? 0, group?.missedFrameCount ?? 0
        )
      }
    }
  }

  private static func metricFamily(
    _ name: String, _ type: String, _ help: String, _ samples: [(String, Double)]
  ) -> String {
    let metricName = "temblor_" + name
    let unitLine = metricName.hasSuffix("_seconds") ? "# UNIT \(metricName) seconds\n" : ""
    let sampleSuffix = type == "counter" ? "_total" : ""
    return "# TYPE \(metricName) \(type)\n\(unitLine)# HELP \(metricName) \(help)\n"
      + samples.map { "\(metricName)\(sampleSuffix)\($0) \($1)\n" }.joined()
  }
}

extension SinkEvent.Kind {
  var name: String { "\(self)" }

  /// The causes that events of this kind can have. Any event may also have no cause.
  var possibleCauses: [SinkEvent.Cause] {
    switch self {
    case .underrun: [.lateDelivery, .stoppedProcess, .lateDevice, .droppedBuffer]
    case .degraded: [.refusedPriority]
    case .suspended, .disconnected, .unresponsive, .reconnected, .failed: []
    }
  }
}

extension SinkEvent.Cause {
  /// The name in the form `late-delivery` for `lateDelivery`.
  var name: String {
    String("\(self)".flatMap { $0.isUppercase ? "-" + $0.lowercased() : String($0) })
  }
}
