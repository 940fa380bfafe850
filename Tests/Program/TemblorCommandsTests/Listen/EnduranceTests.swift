import Glibc
import HapticPlayback
import HapticRender
import SystemSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

/// Ten hours of a session in virtual time, in a process of its own: what it holds after one hour is
/// what it holds after ten.
@Suite struct EnduranceTests {
  /// Kilobytes of its own in memory, threads and open files of this process; which pages of files
  /// are loaded is the system's choice.
  private static func holdings() throws -> [Int] {
    let status = String(decoding: try FileSystem.read("/proc/self/status"), as: UTF8.self)
    let figures = ["RssAnon:", "Threads:"].map { key in
      status.split(separator: "\n").first { $0.hasPrefix(key) }?.split(
        whereSeparator: \.isWhitespace)[1]
    }
    return figures.map { $0.flatMap { Int($0) } ?? 0 } + [
      try FileSystem.names(in: "/proc/self/fd").count
    ]
  }

  private static let commands = [
    "tap 1 0.5", "tap 0.5 0.2 at +0.4", "hum 0.6 0.4 0.5 as h", "play heartbeat loop as a",
    "set intensity 0.7 of a over 0.2",
    "noise 0.5 0.5 1 0.4 seed 3", "seek a 0.1", "pause a", "resume a", "rate a 2", "status",
    "stats", "list", "stop h",
    "play pulse", "duck 0.5", "stop a", "preload light", "play nobody", "tap", "stop",
  ]

  /// Plays for ten hours: what the process holds after each.
  private static func hours(metrics: String) throws -> [[Int]] {
    let time = VirtualTimeSource()
    let engine = PlaybackEngine(rate: 8_000)
    engine.idleDelay = .seconds(1)
    let format = SinkFormat(
      rate: 8_000, channelCount: engine.routing.channels.count, periodSize: 400, bufferSize: 1_600)
    let loop = RenderLoop(engine: engine, sink: NullSink(format, time: time), time: time)
    let session = CommandSession(
      engine, device: "virtual", folder: nil, message: Failure.message(_:))
    let upkeep = ServerMaintenance(file: metrics, watchdogLimit: .seconds(30))
    return try (1...10).map { hour in
      for second in (hour - 1) * 3_600..<hour * 3_600 {
        // A command each second for 21 of 120; then the device rests.
        let index = second % 120
        if index < commands.count, let request = CommandGrammar.read(commands[index]) {
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
        session.reportHeldEvents(at: time.now)
        _ = session.drainEvents()
        _ = upkeep.perform(at: time.now, on: session)
      }
      return try holdings()
    }
  }

  @Test func tenHoursHoldNoMoreThanOne() async {
    await #expect(processExitsWith: .success) {
      let path = "/tmp/temblor-endurance-\(getpid()).prom"
      defer { _ = unsafe unlink(path) }
      let hours = try EnduranceTests.hours(metrics: path)
      for hour in hours {
        // A mebibyte is what an allocator may round, some threads are those of the tests; what
        // leaks, leaks thousands.
        let growth = zip(hour, hours[0]).map { $0 - $1 }
        try #require(growth[0] < 1_024 && growth[1] < 4 && growth[2] < 4, "\(hours)")
      }
    }
  }
}
