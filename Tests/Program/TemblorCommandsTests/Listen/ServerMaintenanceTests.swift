import HapticPlayback
import SystemSupport
import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ServerMaintenanceTests {
  private let fixture = ListenFixture(rate: 8_000)
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func text(_ name: String) throws -> String {
    try String(decoding: FileSystem.read(folder(name)), as: UTF8.self)
  }

  @Test func watchdogIsNotNotifiedWhileTheRenderThreadHangs() {
    var notifications: [String] = []
    let maintenance = ServerMaintenance(
      watchdogLimit: .seconds(10), notify: { notifications.append($0) })
    #expect(maintenance.performDueTasks(at: .zero, on: fixture.session) == .seconds(5))
    #expect(notifications == ["WATCHDOG=1\nSTATUS=virtual at 8000 Hz; 0 s lost"])
    // The check at 2 s is too early. From 10 s on, the render thread shows no progress, so checks
    // are frequent.
    fixture.run(0.1)
    #expect(maintenance.performDueTasks(at: .seconds(2), on: fixture.session) == .seconds(3))
    #expect(notifications.count == 1)
    fixture.recordSinkEvent(
      SinkEvent(.underrun, cause: .lateDevice, missedFrameCount: 4_000, text: "late"))
    #expect(maintenance.performDueTasks(at: .seconds(5), on: fixture.session) == .seconds(5))
    #expect(notifications.last == "WATCHDOG=1\nSTATUS=virtual at 8000 Hz; 0.5 s lost")
    for seconds in 10...40 {
      #expect(
        maintenance.performDueTasks(at: .seconds(seconds), on: fixture.session)
          == .milliseconds(250))
    }
    #expect(notifications.count == 2)
    fixture.run(0.1)
    #expect(maintenance.performDueTasks(at: .seconds(41), on: fixture.session) == .seconds(5))
    #expect(notifications.count == 3)
  }

  @Test func withoutAFileAndAWatchdogThereAreNoTasks() {
    #expect(ServerMaintenance().performDueTasks(at: .zero, on: fixture.session) == nil)
  }

  @Test func metricsFileIsWrittenEveryFifteenSeconds() throws {
    let path = folder("figures.prom")
    var reports: [String] = []
    let maintenance = ServerMaintenance(file: path, report: { reports.append($0) })
    #expect(maintenance.performDueTasks(at: .zero, on: fixture.session) == .seconds(15))
    #expect(try text("figures.prom").hasSuffix("temblor_peak 0.0\n# EOF\n"))
    fixture.recordSinkEvent(
      SinkEvent(.underrun, cause: .lateDevice, missedFrameCount: 4_000, text: "late"))
    fixture.recordSinkEvent(SinkEvent(.reconnected, missedFrameCount: 8_000, text: "back"))
    #expect(maintenance.performDueTasks(at: .seconds(14), on: fixture.session) == .seconds(1))
    let firstSeries = try seriesNames(text("figures.prom"))
    #expect(maintenance.performDueTasks(at: .seconds(15), on: fixture.session) == .seconds(15))
    let text = try text("figures.prom")
    #expect(
      text.contains(
        """
        # TYPE temblor_missed_seconds counter
        # UNIT temblor_missed_seconds seconds
        # HELP temblor_missed_seconds Lost audio.
        temblor_missed_seconds_total{kind="underrun"} 0.0
        temblor_missed_seconds_total{kind="underrun",cause="late-delivery"} 0.0
        temblor_missed_seconds_total{kind="underrun",cause="stopped-process"} 0.0
        temblor_missed_seconds_total{kind="underrun",cause="late-device"} 0.5
        temblor_missed_seconds_total{kind="underrun",cause="dropped-buffer"} 0.0
        temblor_missed_seconds_total{kind="suspended"} 0.0

        """))
    #expect(text.contains("temblor_missed_seconds_total{kind=\"reconnected\"} 1.0\n"))
    #expect(text.contains("temblor_events_total{kind=\"reconnected\"} 1.0\n"))
    // No series begins or ends with an event.
    #expect(seriesNames(text) == firstSeries && Set(firstSeries).count == firstSeries.count)
    // A kind that has not happened is a series, too.
    #expect(text.contains("temblor_events_total{kind=\"suspended\"} 0.0\n"))
    #expect(text.contains("temblor_device_present 1.0\n"))
    #expect(text.contains("temblor_clients 0.0\n"))
    #expect(reports == [])
  }

  private func seriesNames(_ metrics: String) -> [Substring] {
    metrics.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
      $0.split(separator: " ").first
    }
  }

  @Test func unwritableFileIsReportedOnce() {
    var reports: [String] = []
    let maintenance = ServerMaintenance(file: folder("none") + "/f", report: { reports.append($0) })
    for seconds in 0...60 {
      _ = maintenance.performDueTasks(at: .seconds(seconds), on: fixture.session)
    }
    #expect(reports.count == 1)
  }

  @Test func statsAreOneLineOfJSONAndKeepThePeakOfStatus() {
    fixture.ask("tap 1 0.5")
    fixture.run(0.5)
    fixture.ask("tap at 0.1")
    fixture.recordSinkEvent(
      SinkEvent(.underrun, cause: .stoppedProcess, missedFrameCount: 80, text: "slept"))
    let stats = fixture.ask("@1 stats")
    #expect(
      stats.hasPrefix(
        #"@1 ok {"formatVersion":1,"since":0,"seconds":0.504,"device":"virtual","#
          + #""devicePresent":true,"clients":0,"rate":8000,"missedSeconds":0.01,"#
          + #""events":[{"kind":"underrun","cause":"stopped-process","count":1,"missedSeconds":0.01}],"longestCallSeconds":0.0,"lateCommands":1,"#
          + #""peak":0."#))
    #expect(!stats.contains("\n") && !stats.contains(#""peak":0,"#))
    #expect(!fixture.ask("status").contains(" peak=0.0 "))
    #expect(fixture.ask("status").contains(" peak=0.0 "))
    // The peak of the session stays.
    #expect(!fixture.ask("stats").contains(#""peak":0,"#))
  }
}
