import HapticPlayback
import SystemSupport
import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenUpkeepTests {
  private let fixture = ListenFixture(rate: 8_000)
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func text(_ name: String) throws -> String {
    try String(decoding: FileSystem.read(folder(name)), as: UTF8.self)
  }

  @Test func aRenderThreadThatDoesNotAnswerIsToldToNobody() {
    var told: [String] = []
    let upkeep = ServerMaintenance(watchdogLimit: .seconds(10), notify: { told.append($0) })
    #expect(upkeep.performDueTasks(at: .zero, on: fixture.session) == .seconds(5))
    #expect(told == ["WATCHDOG=1\nSTATUS=virtual at 8000 Hz; 0 s lost"])
    // Too early, and then without a sign of the render thread, which is looked at often.
    fixture.run(0.1)
    #expect(upkeep.performDueTasks(at: .seconds(2), on: fixture.session) == .seconds(3))
    #expect(told.count == 1)
    fixture.recordSinkEvent(
      SinkEvent(.underrun, cause: .lateDevice, missedFrameCount: 4_000, text: "late"))
    #expect(upkeep.performDueTasks(at: .seconds(5), on: fixture.session) == .seconds(5))
    #expect(told.last == "WATCHDOG=1\nSTATUS=virtual at 8000 Hz; 0.5 s lost")
    for seconds in 10...40 {
      #expect(
        upkeep.performDueTasks(at: .seconds(seconds), on: fixture.session) == .milliseconds(250))
    }
    #expect(told.count == 2)
    fixture.run(0.1)
    #expect(upkeep.performDueTasks(at: .seconds(41), on: fixture.session) == .seconds(5))
    #expect(told.count == 3)
  }

  @Test func nobodyWhoAsksIsToldNothing() {
    #expect(ServerMaintenance().performDueTasks(at: .zero, on: fixture.session) == nil)
  }

  @Test func figuresAreAFileForCollectorsEveryFifteenSeconds() throws {
    let path = folder("figures.prom")
    var reports: [String] = []
    let upkeep = ServerMaintenance(file: path, report: { reports.append($0) })
    #expect(upkeep.performDueTasks(at: .zero, on: fixture.session) == .seconds(15))
    #expect(try text("figures.prom").hasSuffix("temblor_peak 0.0\n# EOF\n"))
    fixture.recordSinkEvent(
      SinkEvent(.underrun, cause: .lateDevice, missedFrameCount: 4_000, text: "late"))
    fixture.recordSinkEvent(SinkEvent(.reconnected, missedFrameCount: 8_000, text: "back"))
    #expect(upkeep.performDueTasks(at: .seconds(14), on: fixture.session) == .seconds(1))
    let firstSeries = try seriesNames(text("figures.prom"))
    #expect(upkeep.performDueTasks(at: .seconds(15), on: fixture.session) == .seconds(15))
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

  @Test func aFileThatCannotBeWrittenIsToldOnce() {
    var reports: [String] = []
    let upkeep = ServerMaintenance(file: folder("none") + "/f", report: { reports.append($0) })
    for seconds in 0...60 {
      _ = upkeep.performDueTasks(at: .seconds(seconds), on: fixture.session)
    }
    #expect(reports.count == 1)
  }

  @Test func statsAreOneLineOfJSONThatLeavesThePeakOfStatusAlone() {
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
