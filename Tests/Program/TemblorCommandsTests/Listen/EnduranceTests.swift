import Glibc
import HapticPlayback
import HapticRender
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import CommandServer
@testable import TemblorCommands

/// A session of ten hours in virtual time, in a separate process, holds no more resources in the
/// last hour than in the first.
@Suite struct EnduranceTests {
  /// Returns the kilobytes of anonymous memory, the number of threads, and the number of open files
  /// of this process. Pages of mapped files are excluded, because the system decides which ones are
  /// loaded.
  private static func resourceCounts() throws -> [Int] {
    let status = String(decoding: try FileSystem.read("/proc/self/status"), as: UTF8.self)
    let fields = ["RssAnon:", "Threads:"].map { key in
      status.split(separator: "\n").first { $0.hasPrefix(key) }?.split(
        whereSeparator: \.isWhitespace)[1]
    }
    return fields.map { $0.flatMap { Int($0) } ?? 0 } + [
      try FileSystem.visibleNames(in: "/proc/self/fd").count
    ]
  }

  private static let commands = [
    "tap 1 0.5", "tap 0.5 0.2 at +0.4", "hum 0.6 0.4 0.5 as h", "play heartbeat loop as a",
    "set intensity 0.7 of a over 0.2",
    "noise 0.5 0.5 1 0.4 seed 3", "seek a 0.1", "pause a", "resume a", "rate a 2", "status",
    "stats", "list", "stop h",
    "play pulse", "duck 0.5", "stop a", "preload light", "play nobody", "tap", "stop",
  ]

  /// Plays for ten hours.
  ///
  /// - Returns: The minimum that the process held during each hour. A leak raises it; a thread of
  ///   the system that comes and goes does not.
  private static func hours(metrics: String) throws -> [[Int]] {
    let time = VirtualTimeSource()
    let engine = PlaybackEngine(rate: 8_000)
    engine.idleDelay = .seconds(1)
    let format = SinkFormat(
      rate: 8_000, channelCount: engine.routing.channels.count, periodSize: 400, bufferSize: 1_600)
    let loop = RenderLoop(engine: engine, sink: NullSink(format, time: time), time: time)
    let session = CommandSession(
      engine, device: "virtual", folder: nil, message: ErrorReporting.messageText(_:))
    let maintenance = ServerMaintenance(file: metrics, watchdogLimit: .seconds(30))
    return try (1...10).map { hour in
      var minimum: [Int]?
      for second in (hour - 1) * 3_600..<hour * 3_600 {
        // A command follows each second for the first 21 s of 120 s; then the device is idle.
        let index = second % 120
        if index < commands.count, let request = CommandGrammar.parseRequest(commands[index]) {
          _ = session.reply(to: request, clientID: second / 120 % 5)
        }
        if index == 0 {
          session.recordSinkEvent(
            SinkEvent(.underrun, cause: .lateDevice, missedFrameCount: 8, text: "late"),
            at: time.now)
        }
        while time.now < .seconds(second + 1), loop.runIteration() {
          engine.update()
        }
        session.reportHeldBackEvents(at: time.now)
        _ = session.drainEvents()
        _ = maintenance.performDueTasks(at: time.now, on: session)
        if index == 0 {
          let counts = try resourceCounts()
          minimum = minimum.map { zip($0, counts).map(min) } ?? counts
        }
      }
      return minimum ?? []
    }
  }

  /// Returns the next command after a time in a schedule of ten hours. A loop plays for two seconds
  /// of each minute, and the minute ends with a reload.
  private static func command(after now: Duration) -> ReloadEnvironment.TimedCommand? {
    let minuteCommands: [(second: Int, command: String)] = [
      (1, "resume bed"), (2, "tap"), (3, "pause bed"), (20, "tap 0.5 0.5 at +1"), (30, "status"),
      (58, "stats"), (59, "reload"),
    ]
    if now == .zero {
      return ReloadEnvironment.TimedCommand(
        time: .milliseconds(1), command: "play heartbeat loop as bed")
    }
    let end = Duration.seconds(36_000)
    guard now < end else { return nil }
    let minute = Int(now / .seconds(60))
    for index in minute...minute + 1 {
      for entry in minuteCommands {
        let time = Duration.seconds(60 * index + entry.second)
        guard time > now else { continue }
        return time < end
          ? ReloadEnvironment.TimedCommand(time: time, command: entry.command)
          : ReloadEnvironment.TimedCommand(time: end, command: "quit")
      }
    }
    return nil
  }

  /// Serves for ten hours with a reload each minute.
  ///
  /// The process is measured after each command, because a thread that writes the state or closes a
  /// device may hold memory, a thread, and descriptors at any single measurement. A leak raises the
  /// minimum of an hour, too.
  ///
  /// - Returns: The minimum that the process held during each hour, the environment after the end,
  ///   and the last reply to `stats`.
  private static func reloadingHours(
    in folder: String
  ) throws -> (resourceCounts: [[Int]], environment: ReloadEnvironment, statistics: String) {
    var hours: [[Int]] = []
    var statistics = ""
    let environment = try ReloadEnvironment { now in
      // Before its first reload, the process holds less than afterwards.
      if now > .seconds(60), let counts = try? resourceCounts() {
        if Int(now / .seconds(3_600)) >= hours.count, hours.count < 10 {
          hours.append(counts)
        } else if let minimum = hours.popLast() {
          hours.append(zip(minimum, counts).map(min))
        }
      }
      return command(after: now)
    }
    // The statistics of the last minute contain all losses.
    environment.device.stallEnd.withLock { $0 = .seconds(35_900) }
    environment.lineHandler = { _, line, _ in
      if line.contains(#""missedSeconds":"#) {
        statistics = String(line)
      }
    }
    let arguments = [
      "--rate", "8000", "--profile", "phone", "--no-config", "--state", folder + "/state",
      "--metrics", folder + "/metrics.prom",
    ]
    let terminal = RecordedTerminal()
    let status = try ListenCommand.run(
      ListenCommand.definition().parseArguments(arguments), terminal.terminal, on: environment,
      standard: LineConnection(
        input: environment.input.readDescriptor, output: environment.output.writeDescriptor))
    guard status == .success else { throw FileError("listen", terminal.error) }
    return (hours, environment, statistics)
  }

  @Test("Ten hours with a reload each minute hold no more than one, and account for every frame")
  func reloadsHoldNothing() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let (hours, environment, statistics) = try EnduranceTests.reloadingHours(in: folder.path)
      try #require(hours.count == 10, "\(hours)")
      for hour in hours {
        let growth = zip(hour, hours[0]).map { $0 - $1 }
        try #require(growth[0] < 1_024 && growth[1] < 4 && growth[2] < 4, "\(hours)")
      }
      // Each reload opens the device again.
      try #require(environment.device.openCount >= 600 && environment.sessionCount >= 600)
      // The engines have reached each frame by writing it, by missing it, or during a rest.
      let counts = environment.frameCounts
      try #require(
        counts.due == counts.written + counts.missed + counts.idle, "\(counts)")
      try #require(counts.written > 10_000_000 && counts.missed > 10_000, "\(counts)")
      // The server has reported each missed frame, over all reloads.
      let key = try #require(statistics.firstRange(of: #""missedSeconds":"#))
      let seconds = try #require(
        Double(statistics[key.upperBound...].prefix { $0.isNumber || $0 == "." }))
      try #require(Int((seconds * 8_000).rounded()) == counts.missed, "\(statistics) \(counts)")
    }
  }

  @Test func tenHoursUseNoMoreResourcesThanOne() async {
    await #expect(processExitsWith: .success) {
      let path = "/tmp/temblor-endurance-\(getpid()).prom"
      defer { _ = unsafe unlink(path) }
      let hours = try EnduranceTests.hours(metrics: path)
      for hour in hours {
        // The limits allow for the rounding of an allocator and for threads of the test library. A
        // leak would exceed them by far.
        let growth = zip(hour, hours[0]).map { $0 - $1 }
        try #require(growth[0] < 1_024 && growth[1] < 4 && growth[2] < 4, "\(hours)")
      }
    }
  }
}
