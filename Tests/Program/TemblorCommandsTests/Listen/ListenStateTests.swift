import CommandLineKit
import HapticPlayback
import SystemSupport
import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

/// The state of a session that a restart or a reload continues.
@Suite struct ListenStateTests {
  private let studio = ListenStudio(rate: 8_000)

  @Test func loopsAndSettingsContinueInAnotherSession() {
    studio.ask("set strength 0.5")
    studio.ask("duck 0.25 attack 0.1 release 1")
    studio.ask("play heartbeat loop as \"my bed\" rate 2 strength 0.25 priority 3")
    studio.ask("set sharpness -0.5 of \"my bed\"")
    studio.ask("play pulse loop as b")
    studio.ask("loop b on end 0.5")
    studio.ask("mute b")
    // These end by themselves.
    studio.ask("play light")
    studio.ask("hum 1 0.5 9")
    studio.run(0.5)
    let state = studio.session.stateText
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
    let next = ListenStudio(rate: 8_000)
    #expect(next.session.restore(state) == [])
    next.run(0.5)
    #expect(next.session.stateText == state)
    #expect(next.ask("list") == "ok \"my bed\" b")
    #expect(next.engine.strength == 0.5)
  }

  @Test func soundsThatWereStoppedDoNotContinue() {
    studio.ask("play heartbeat loop as a")
    studio.ask("play pulse loop as b")
    studio.ask("stop a")
    studio.ask("loop b off")
    #expect(studio.session.stateText.split(separator: "\n").count == 1)
  }

  @Test func whatCannotBeRestoredIsReportedAndTheRestContinues() {
    let problems = studio.session.restore("play nowhere loop as a\nplay pulse loop as b\n")
    #expect(problems.count == 1)
    #expect(problems.first?.contains("'play nowhere loop as a'") == true)
    #expect(studio.ask("list") == "ok b")
  }

  @Test func theFileIsReplacedAfterChangesOnly() throws {
    let scratch = try Scratch()
    let path = scratch("state")
    let file = StateFile(path) { Issue.record("\($0)") }
    #expect(try file.read() == "")
    studio.ask("play heartbeat loop as a")
    #expect(file.update(from: studio.session, at: .seconds(5)) == nil)
    studio.ask("play pulse loop as b")
    // At most once a second.
    #expect(file.update(from: studio.session, at: .milliseconds(5_400)) == .milliseconds(600))
    file.finish(from: studio.session, within: .seconds(30))
    #expect(try file.read() == studio.session.stateText)
    #expect(try file.read().contains("as b"))
  }

  @Test func aReloadIsPerformedOrRefused() {
    struct Refused: Error {}
    #expect(studio.ask("@1 reload").hasPrefix("@1 error failed: "))
    var isRefused = true
    studio.session.reloadHandler = {
      if isRefused {
        throw UsageError("unknown profile 'x'")
      }
    }
    #expect(studio.ask("reload") == "error failed: unknown profile 'x'")
    #expect(!studio.session.isReloading)
    isRefused = false
    #expect(studio.ask("reload") == "ok")
    #expect(studio.session.isReloading)
  }
}
