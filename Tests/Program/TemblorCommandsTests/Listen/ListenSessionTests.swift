import HapticPlayback
import PlaybackSessions
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenSessionTests {
  let studio = ListenStudio()

  @Test func whatIsToBeDoneNowIsDoneWithTheNextPeriod() {
    studio.run(0.01)
    #expect(studio.ask("@1 hum 1 0.5 0.1") == "@1 ok name=hum-1 time=0.010667 duration=0.1")
    studio.run(0.05)
    // 480 frames end within the eighth period of 64.
    #expect(studio.startFrame("hum-1") == 512)
    #expect(studio.run(0.1) == ["event finished name=hum-1 time=0.111667"])
    #expect(studio.ask("list") == "ok")
  }

  @Test func timesOfTheSessionAreExactToTheFrame() {
    studio.ask("hum 1 0.5 1 at 0.1234 as a")
    studio.ask("hum 1 0.5 1 at +0.2 as b")
    studio.ask("stop a at 0.25")
    #expect(studio.run(0.3) == ["event stopped name=a time=0.25"])
    #expect(studio.startFrame("b") == 9_600)
    studio.ask("hum 1 0.5 1 at 0.1 as late")
    studio.run(0.01)
    #expect(studio.startFrame("late") == 14_400)
    #expect(studio.ask("list") == "ok b late")
  }

  @Test func aStopAtATimeEndsAtThatFrame() {
    studio.ask("hum 1 0.5 5 at 0.1 as a")
    studio.run(0.11)
    let voice = studio.voice("a")
    #expect(voice?.player.startFrame == 4_800)
    studio.ask("stop a at 0.25")
    #expect(studio.run(0.3) == ["event stopped name=a time=0.25"])
    #expect(voice?.player.endFrame == 12_000)
  }

  @Test func shippedPatternsPlayUnderTheirNames() {
    #expect(studio.ask("preload heartbeat") == "ok duration=\(studio.duration("heartbeat"))")
    #expect(
      studio.ask("play heartbeat") == "ok name=heartbeat time=0.0 duration="
        + "\(studio.duration("heartbeat"))")
    #expect(studio.ask("list") == "ok heartbeat")
    #expect(studio.run(10).map { $0.prefix(29) } == ["event finished name=heartbeat"])
  }

  @Test func aNamePlayedAgainStartsAnewInItsOwnPlace() {
    studio.ask("hum 1 0.5 1 as x")
    studio.run(0.2)
    do {
      let first = studio.voice("x")
      studio.ask("hum 1 0.5 1 as x")
      #expect(studio.run(0.1) == [])
      #expect(first?.player.endFrame == 9_600)
    }
    #expect(studio.ask("list") == "ok x")
    #expect(studio.session.sounds.count == 1)
    #expect(studio.run(1) == ["event finished name=x time=1.201"])
    studio.run(0.01)
    #expect(studio.engine.loadedPlayerCount == 0)
  }

  @Test func aNamePlayedAgainLaterPlaysUntilThen() {
    studio.ask("hum 1 0.5 0.3 as x")
    studio.ask("hum 1 0.5 0.3 at 0.5 as x")
    #expect(studio.run(0.4) == ["event finished name=x time=0.301"])
    #expect(studio.run(0.5) == ["event finished name=x time=0.801"])
    // What is asked for later and comes sooner takes the place of what was to come.
    studio.ask("hum 1 0.5 0.1 at 2 as y")
    studio.ask("hum 1 0.5 0.1 at 1.5 as y")
    #expect(studio.run(2) == ["event finished name=y time=1.601"])
  }

  @Test func stoppingForgetsWhatIsToComeAndTaps() {
    studio.ask("hum 1 0.5 1 at 0.5 as x")
    studio.ask("tap at 0.5")
    studio.ask("hum 1 0.5 1 as y")
    studio.run(0.1)
    #expect(studio.ask("stop") == "ok")
    #expect(studio.run(1) == ["event stopped name=x time=0.1", "event stopped name=y time=0.1"])
    #expect(studio.level(0.2...1) < 3e-3)
    #expect(studio.session.sounds.isEmpty)
    #expect(studio.ask("stop x") == "error unknown-name: no sound named 'x' is playing")
  }

  @Test func whatStandsStillGoesOnWhereItWas() {
    studio.ask("hum 1 0.5 0.4 as x")
    studio.run(0.1)
    #expect(studio.ask("pause x") == "ok")
    #expect(studio.run(1) == [])
    #expect(studio.ask("resume") == "ok")
    #expect(studio.run(1).count == 1)
    // 0.4 s of pattern, and just over a second of standing still.
    #expect(studio.level(0.15...1) < 3e-3)
    #expect(studio.level(1.15...1.35) > 0.1)
  }

  @Test func whatWaitsForItsTimeCanBeHeldAtItsBeginning() {
    studio.ask("hum 1 0.5 0.2 at 0.3 as x")
    studio.ask("pause x")
    studio.run(0.5)
    #expect(studio.level(0...0.49) < 1e-6)
    studio.ask("resume x")
    #expect(studio.run(0.5) == ["event finished name=x time=0.701"])
    studio.ask("hum 1 0.5 0.2 at 1.5 as y")
    studio.ask("pause y")
    studio.ask("resume y")
    #expect(studio.run(1) == ["event finished name=y time=1.701"])
  }

  @Test func seekingGoesToAPlaceBeforeAndAfterTheStart() {
    studio.ask("hum 1 0.5 1 at 0.5 as x")
    studio.ask("seek x 0.9")
    #expect(studio.run(1) == ["event finished name=x time=0.601"])
    studio.ask("hum 1 0.5 1 as x")
    studio.run(0.1)
    studio.ask("seek x 2")
    #expect(studio.run(0.1).map { $0.prefix(26) } == ["event finished name=x time"])
  }

  @Test func loopsGoOnUntilToldOtherwise() {
    studio.ask("hum 1 0.5 0.25 as x")
    #expect(studio.ask("loop x on end 0.2") == "ok")
    #expect(studio.run(1.1) == [])
    #expect(studio.ask("loop x off") == "ok")
    // The sixth pass, which began at 1 s, runs to the pattern's own end.
    #expect(studio.run(1) == ["event finished name=x time=1.251"])
  }

  @Test func aRateChangesTheTimesAlone() {
    studio.ask("hum 1 0.5 1 as x")
    #expect(studio.ask("rate x 64") == "ok")
    let events = studio.run(0.1)
    #expect(events.count == 1 && events[0].hasPrefix("event finished name=x time=0.0156"))
  }

  @Test func playTakesWhereAndHow() {
    studio.ask("play pulse from 0.5 strength 0.25 rate 2 at 0.1 as p loop")
    studio.run(0.2)
    #expect(studio.startFrame("p") == 4_800)
    #expect(studio.ask("loop p off") == "ok")
    #expect(studio.run(10).count == 1)
  }

  @Test func strengthMovesForAllOrForOne() {
    studio.ask("hum 0.5 0.5 3 as a")
    studio.run(0.4)
    let full = studio.level(0.3...0.4)
    #expect(studio.ask("set strength 0.5 of a") == "ok")
    studio.run(0.4)
    #expect(abs(studio.level(0.6...0.8) / full - 0.5) < 0.02)
    #expect(studio.ask("set strength 0.5 over 0.1 at 1") == "ok")
    studio.run(0.6)
    #expect(abs(studio.level(1.2...1.4) / full - 0.25) < 0.02)
    #expect(studio.engine.strength == 0.5)
    studio.ask("mute")
    studio.run(0.3)
    #expect(studio.level(1.55...1.7) < 3e-3)
    studio.ask("unmute")
    studio.ask("mute a")
    studio.run(0.3)
    #expect(studio.level(1.85...2) < 3e-3)
    studio.ask("unmute")
    studio.run(0.3)
    #expect(abs(studio.level(2.1...2.3) / full - 0.25) < 0.02)
  }

  @Test func aParameterMovesInAStraightLineFromWhereItIs() {
    studio.ask("hum 0.8 0.5 5 as a")
    studio.run(0.5)
    let full = studio.level(0.3...0.5)
    studio.ask("set intensity 0.5 over 0.5")
    studio.run(1)
    let half = studio.level(1.2...1.5)
    #expect(half < full)
    studio.ask("set intensity 0 of a over 1")
    studio.run(0.5)
    let quarter = studio.level(1.95...2)
    #expect(quarter < half && quarter > 0.01)
    studio.run(0.7)
    #expect(studio.level(2.6...2.7) < 3e-3)
    // Where it was sent, not where it began.
    studio.ask("set intensity 0.5 over 0.001")
    studio.run(0.3)
    #expect(abs(studio.level(2.8...3) / half - 1) < 0.05)
  }

  @Test func statusTellsFigures() {
    #expect(
      studio.ask("status")
        == "ok time=0.0 playing=0 waiting=0 paused=0 voices=0 strength=1.0 muted=no peak=0.0"
        + " limited=0.0 underruns=0 missed=0.0 device=virtual present=yes rate=48000")
    studio.ask("hum 1 0.5 1 as a")
    studio.ask("hum 1 0.5 1 as b")
    studio.ask("hum 1 0.5 1 at 0.5 as c")
    studio.run(0.1)
    studio.ask("pause b")
    studio.ask("mute")
    studio.note(SinkEvent(.underrun, missedFrameCount: 480, text: "underrun"))
    let status = studio.ask("status")
    #expect(status.hasPrefix("ok time=0.1 playing=1 waiting=1 paused=1 voices=2"))
    #expect(status.contains("muted=yes"))
    #expect(status.hasSuffix("underruns=1 missed=0.01 device=virtual present=yes rate=48000"))
  }

  @Test func whatHappensAtTheDeviceIsTold() {
    studio.note(SinkEvent(.disconnected, text: "the device is gone; it is looked for"))
    studio.note(SinkEvent(.degraded, text: "not told"))
    studio.note(SinkEvent(.reconnected, missedFrameCount: 48_000, text: "it is back"))
    studio.note(SinkEvent(.unresponsive, text: "it does not respond"))
    #expect(
      studio.run(0) == [
        "event disconnected time=0.0 missed=0.0 text=\"the device is gone; it is looked for\"",
        "event reconnected time=0.0 missed=1.0 text=\"it is back\"",
        "event unresponsive time=0.0 missed=0.0 text=\"it does not respond\"",
      ])
  }

  @Test func eventsThatRepeatAreFolded() {
    let underrun = SinkEvent(
      .underrun, cause: .lateDelivery, missedFrameCount: 48, text: "underrun")
    for _ in 0..<5 {
      studio.note(underrun)
    }
    #expect(studio.run(1.1) == ["event underrun time=0.0 missed=0.001 count=1 cause=late-delivery"])
    studio.note(underrun)
    #expect(studio.run(0) == ["event underrun time=1.1 missed=0.004 count=4 cause=late-delivery"])
    studio.note(underrun)
    studio.note(SinkEvent(.suspended, text: "suspended"))
    studio.note(SinkEvent(.suspended, text: "suspended"))
    #expect(studio.run(0) == ["event suspended time=1.1 missed=0.0 text=suspended"])
    studio.session.reportHeldBackEvents(at: nil)
    #expect(
      studio.run(0) == [
        "event underrun time=1.1 missed=0.002 count=2 cause=late-delivery",
        "event suspended time=1.1 missed=0.0 text=suspended",
      ])
  }

  @Test func finishingEndsLoopsWithTheirPassAndWhatStandsStillAtOnce() {
    studio.ask("hum 1 0.5 0.4 as a")
    studio.ask("loop a on")
    studio.ask("hum 1 0.5 1 as b")
    studio.ask("hum 1 0.5 0.4 as c")
    studio.ask("loop c on")
    studio.ask("stop c at 0.9")
    studio.run(0.5)
    studio.ask("pause b")
    #expect(studio.session.secondsUntilSilence(tail: 0.02) == nil)
    #expect(studio.session.finishAllSounds())
    #expect(
      studio.run(1) == [
        "event stopped name=b time=0.5", "event finished name=a time=0.801",
        "event stopped name=c time=0.9",
      ])
    #expect(studio.session.secondsUntilSilence(tail: 0.02) == 0)
  }
}

extension ListenStudio {
  /// The duration of a pattern as answers write it.
  func duration(_ pattern: String) -> String {
    let loader = PatternLoader(profiles: engine.profiles, rate: engine.rate)
    let duration = (try? loader.pattern(for: pattern).durationSeconds) ?? 0
    return "\((duration * 1e6).rounded() / 1e6)"
  }
}
