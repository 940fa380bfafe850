import CommandLineKit
import HapticPlayback
import PlaybackSessions
import SystemSupport
import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

/// The state of a session that a restart or a reload continues.
@Suite struct ListenStateTests {
  private let fixture = ListenFixture(rate: 8_000)

  @Test func loopsAndSettingsContinueInAnotherSession() {
    fixture.ask("set strength 0.5")
    fixture.ask("duck 0.25 attack 0.1 release 1")
    fixture.ask("play heartbeat loop as \"my bed\" rate 2 strength 0.25 priority 3")
    fixture.ask("set sharpness -0.5 of \"my bed\"")
    fixture.ask("play pulse loop as b")
    fixture.ask("loop b on end 0.5")
    fixture.ask("mute b")
    // These end by themselves.
    fixture.ask("play light")
    fixture.ask("hum 1 0.5 9")
    fixture.run(0.5)
    let state = fixture.session.stateText
    #expect(
      state == """
        # The state of temblor listen: commands that restore it.
        set strength 0.5
        duck 0.25 attack 0.1 release 1.0
        play heartbeat loop as "my bed" rate 2.0 strength 0.25 priority 3
        set sharpness -0.5 of "my bed"
        play pulse loop as b rate 1.0 strength 1.0 priority 0
        loop b on end 0.5
        mute b

        """)
    let nextFixture = ListenFixture(rate: 8_000)
    #expect(nextFixture.restore(state) == [])
    nextFixture.run(0.5)
    #expect(nextFixture.session.stateText == state)
    #expect(nextFixture.ask("list") == "ok \"my bed\" b")
    #expect(nextFixture.engine.strength == 0.5)
  }

  @Test func soundsThatWereStoppedDoNotContinue() {
    fixture.ask("play heartbeat loop as a")
    fixture.ask("play pulse loop as b")
    fixture.ask("stop a")
    fixture.ask("loop b off")
    #expect(fixture.session.stateText.split(separator: "\n").count == 1)
  }

  @Test func failedCommandsAreReportedAndOthersContinue() {
    let problems = fixture.restore("play nowhere loop as a\nplay pulse loop as b\n")
    #expect(problems.count == 1)
    #expect(problems.first?.contains("'play nowhere loop as a'") == true)
    #expect(fixture.ask("list") == "ok b")
  }

  @Test func fileIsReplacedOnlyAfterChanges() throws {
    let folder = try TemporaryFolder()
    let path = folder("state")
    let file = StateFile(path) { Issue.record("\($0)") }
    #expect(try file.read() == "")
    fixture.ask("play heartbeat loop as a")
    // The result of the save is checked a second later.
    #expect(file.saveIfChanged(from: fixture.session, at: .seconds(5)) == .seconds(1))
    fixture.ask("play pulse loop as b")
    // At most once a second.
    #expect(
      file.saveIfChanged(from: fixture.session, at: .milliseconds(5_400)) == .milliseconds(600))
    file.saveFinalState(from: fixture.session, within: HangLimit.duration)
    #expect(try file.read() == fixture.session.stateText)
    #expect(try file.read().contains("as b"))
  }

  @Test("Restored loops count as sounds of no client, whatever their number")
  func restoredLoopsHaveNoClient() {
    let count = 600
    let state = (0..<count).map { "play pulse loop as n\($0)\n" }.joined()
    #expect(fixture.restore(state) == [])
    #expect(fixture.ask("list").split(separator: " ").count == count + 1)
    #expect(fixture.ask("hum 1 0.5 1 as own").hasPrefix("ok name=own"))
    #expect(fixture.ask("hum 1 0.5 1 as theirs", client: 1).hasPrefix("ok name=theirs"))
  }

  @Test("Restored loops start at the same frame")
  func restoredLoopsStartTogether() {
    let lines = (0..<300).map { "play pulse loop as n\($0)\nset sharpness 0.5 of n\($0)\n" }
    let state = lines.joined()
    #expect(fixture.restore(state) == [])
    fixture.run(0.2)
    #expect(Set(fixture.session.sounds.map(\.player.startFrame)).count == 1)
  }

  @Test("A state that is edited by hand cannot end or reload the session that restores it")
  func aStateContainsNoControlCommands() {
    fixture.session.settingsReloadHandler = {
      SettingsCheck { Issue.record("reloaded") }
    }
    #expect(fixture.restore("reload\nshutdown\nplay pulse loop as a\n") == [])
    #expect(!fixture.session.isReloading)
    #expect(fixture.ask("list") == "ok a")
  }

  @Test("A state that is being restored is saved completely")
  func aPendingStateIsSaved() {
    let session = CommandSession(fixture.engine, device: "virtual", loadsInBackground: true)
    let state = "play pulse loop as a\n"
    var restoration = StateRestoration(state) { Issue.record("\($0)") }
    restoration.advance(on: session, at: .zero, period: .zero)
    #expect(restoration.isFinished || session.stateText == state)
  }

  @Test("A failed save is repeated until it succeeds, and reported once")
  func failedSavesAreRepeated() throws {
    let folder = try TemporaryFolder()
    let reports = Locked<[String]>([])
    let file = StateFile(folder("absent/state")) { report in reports.withLock { $0.append(report) }
    }
    fixture.ask("play pulse loop as a")
    var now = Duration.seconds(5)
    /// Waits for the save in progress, and passes the time of the next check.
    func update() throws {
      let delay = try #require(file.saveIfChanged(from: fixture.session, at: now))
      now += delay
      file.waitForSave(within: HangLimit.duration)
    }
    for _ in 0..<4 {
      try update()
    }
    #expect(now >= .seconds(15))
    #expect(
      reports.withLock { $0 } == [
        """
        \(folder("absent/state")): cannot be written: No such file or directory; trying again \
        every 5 s
        """
      ])
    try folder.makeFolder("absent")
    try update()
    // Saved, without another request.
    #expect(file.saveIfChanged(from: fixture.session, at: now) == nil)
    #expect(try file.read() == fixture.session.stateText)
    #expect(reports.withLock { $0.count } == 1)
  }

  @Test("The check of a reload does not create a file")
  func filesAreCheckedWithoutBeingCreated() throws {
    let folder = try TemporaryFolder()
    let environment = FallbackEnvironment(SystemEnvironment(), needsDevice: true) { _ in }
    let path = folder("a.wav")
    let wake = WakeSignal.makeOrInert()
    let probe = try environment.beginProbe(
      of: "wav:" + path, OutputRequest(rate: 8_000, channels: .exactly(3)), wake: wake)
    let device = try #require(probe.result).get()
    #expect(device.format.channelCount == 3 && device.format.rate == 8_000)
    #expect(FileSystem.entryKind(at: path) == .missing)
    #expect(throws: OutputError.self) {
      try environment.beginProbe(
        of: "wav:" + folder("absent/a.wav"), OutputRequest(), wake: wake)
    }
  }

  @Test("A reload waits for its check, and is then performed or refused")
  func aReloadWaitsForItsCheck() {
    struct Refused: Error {}
    for isRefused in [true, false] {
      let reloadFixture = ListenFixture(rate: 8_000)
      var isFinished = false
      reloadFixture.session.settingsReloadHandler = {
        SettingsCheck(isFinished: { isFinished }) {
          if isRefused { throw UsageError("no channel 4") }
        }
      }
      var queue = CommandQueue()
      var otherQueue = CommandQueue()
      var replies: [String] = []
      queue.addLines([.text("reload"), .text("@2 list")])
      for _ in 0..<3 {
        _ = queue.execute(by: reloadFixture.session, at: .zero, period: .zero) {
          replies.append($0.line)
        }
        #expect(replies == [] && queue.nextRequestTime(period: .zero) == nil)
        // Other clients do not wait.
        otherQueue.addLines([.text("status")])
        var count = 0
        _ = otherQueue.execute(by: reloadFixture.session, client: 1, at: .zero, period: .zero) {
          _ in
          count += 1
        }
        #expect(count == 1)
      }
      isFinished = true
      #expect(queue.nextRequestTime(period: .zero) == .zero)
      _ = queue.execute(by: reloadFixture.session, at: .zero, period: .zero) {
        replies.append($0.line)
      }
      #expect(reloadFixture.session.isReloading == !isRefused)
      // The session that follows performs the next line.
      #expect(replies == (isRefused ? ["error failed: no channel 4", "@2 ok"] : ["ok"]))
    }
  }

  @Test func aReloadIsPerformedOrRefused() {
    struct Refused: Error {}
    #expect(fixture.ask("@1 reload").hasPrefix("@1 error failed: "))
    var isRefused = true
    fixture.session.settingsReloadHandler = {
      if isRefused {
        throw UsageError("unknown profile 'x'")
      }
      return SettingsCheck {}
    }
    #expect(fixture.ask("reload") == "error failed: unknown profile 'x'")
    #expect(!fixture.session.isReloading)
    isRefused = false
    #expect(fixture.ask("reload") == "ok")
    #expect(fixture.session.isReloading)
  }
}
