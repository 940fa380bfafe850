import HapticPlayback
import PlaybackSessions
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenSessionTests {
  let fixture = ListenFixture()

  @Test func immediateCommandsTakeEffectAtTheNextPeriod() {
    fixture.run(0.01)
    #expect(fixture.ask("@1 hum 1 0.5 0.1") == "@1 ok name=hum-1 time=0.010667 duration=0.1")
    fixture.run(0.05)
    // 480 frames end within the eighth period of 64.
    #expect(fixture.startFrame("hum-1") == 512)
    #expect(fixture.run(0.1) == ["event finished name=hum-1 time=0.111667"])
    #expect(fixture.ask("list") == "ok")
  }

  @Test func timesOfTheSessionAreExactToTheFrame() {
    fixture.ask("hum 1 0.5 1 at 0.1234 as a")
    fixture.ask("hum 1 0.5 1 at +0.2 as b")
    fixture.ask("stop a at 0.25")
    #expect(fixture.run(0.3) == ["event stopped name=a time=0.25"])
    #expect(fixture.startFrame("b") == 9_600)
    fixture.ask("hum 1 0.5 1 at 0.1 as late")
    fixture.run(0.01)
    #expect(fixture.startFrame("late") == 14_400)
    #expect(fixture.ask("list") == "ok b late")
  }

  @Test func stopAtATimeEndsAtThatFrame() {
    fixture.ask("hum 1 0.5 5 at 0.1 as a")
    fixture.run(0.11)
    let sound = fixture.serverSound("a")
    #expect(sound?.player.startFrame == 4_800)
    fixture.ask("stop a at 0.25")
    #expect(fixture.run(0.3) == ["event stopped name=a time=0.25"])
    #expect(sound?.player.endFrame == 12_000)
  }

  @Test func shippedPatternsPlayUnderTheirNames() {
    #expect(fixture.ask("preload heartbeat") == "ok duration=\(fixture.duration("heartbeat"))")
    #expect(
      fixture.ask("play heartbeat") == "ok name=heartbeat time=0.0 duration="
        + "\(fixture.duration("heartbeat"))")
    #expect(fixture.ask("list") == "ok heartbeat")
    #expect(fixture.run(10).map { $0.prefix(29) } == ["event finished name=heartbeat"])
  }

  @Test func playingANameAgainRestartsItsSound() {
    fixture.ask("hum 1 0.5 1 as x")
    fixture.run(0.2)
    do {
      let firstSound = fixture.serverSound("x")
      fixture.ask("hum 1 0.5 1 as x")
      #expect(fixture.run(0.1) == [])
      #expect(firstSound?.player.endFrame == 9_600)
    }
    #expect(fixture.ask("list") == "ok x")
    #expect(fixture.session.sounds.count == 1)
    #expect(fixture.run(1) == ["event finished name=x time=1.201"])
    fixture.run(0.01)
    #expect(fixture.engine.loadedPlayerCount == 0)
  }

  @Test func playingANameAtALaterTimeKeepsItsSoundUntilThen() {
    fixture.ask("hum 1 0.5 0.3 as x")
    fixture.ask("hum 1 0.5 0.3 at 0.5 as x")
    #expect(fixture.run(0.4) == ["event finished name=x time=0.301"])
    #expect(fixture.run(0.5) == ["event finished name=x time=0.801"])
    // A later command with an earlier time replaces the waiting sound.
    fixture.ask("hum 1 0.5 0.1 at 2 as y")
    fixture.ask("hum 1 0.5 0.1 at 1.5 as y")
    #expect(fixture.run(2) == ["event finished name=y time=1.601"])
  }

  @Test func stoppingDropsWaitingSoundsAndTaps() {
    fixture.ask("hum 1 0.5 1 at 0.5 as x")
    fixture.ask("tap at 0.5")
    fixture.ask("hum 1 0.5 1 as y")
    fixture.run(0.1)
    #expect(fixture.ask("stop") == "ok")
    #expect(fixture.run(1) == ["event stopped name=x time=0.1", "event stopped name=y time=0.1"])
    #expect(fixture.peakLevel(0.2...1) < 3e-3)
    #expect(fixture.session.sounds.isEmpty)
    #expect(fixture.ask("stop x") == "error unknown-name: no sound named 'x' is playing")
  }

  @Test func pausedSoundResumesAtItsPosition() {
    fixture.ask("hum 1 0.5 0.4 as x")
    fixture.run(0.1)
    #expect(fixture.ask("pause x") == "ok")
    #expect(fixture.run(1) == [])
    #expect(fixture.ask("resume") == "ok")
    #expect(fixture.run(1).count == 1)
    // The pattern lasts 0.4 s, and the pause just over a second.
    #expect(fixture.peakLevel(0.15...1) < 3e-3)
    #expect(fixture.peakLevel(1.15...1.35) > 0.1)
  }

  @Test func waitingSoundCanBePausedAtItsStart() {
    fixture.ask("hum 1 0.5 0.2 at 0.3 as x")
    fixture.ask("pause x")
    fixture.run(0.5)
    #expect(fixture.peakLevel(0...0.49) < 1e-6)
    fixture.ask("resume x")
    #expect(fixture.run(0.5) == ["event finished name=x time=0.701"])
    fixture.ask("hum 1 0.5 0.2 at 1.5 as y")
    fixture.ask("pause y")
    fixture.ask("resume y")
    #expect(fixture.run(1) == ["event finished name=y time=1.701"])
  }

  @Test func soundsCanBeSoughtBeforeAndAfterTheirStart() {
    fixture.ask("hum 1 0.5 1 at 0.5 as x")
    fixture.ask("seek x 0.9")
    #expect(fixture.run(1) == ["event finished name=x time=0.601"])
    fixture.ask("hum 1 0.5 1 as x")
    fixture.run(0.1)
    fixture.ask("seek x 2")
    #expect(fixture.run(0.1).map { $0.prefix(26) } == ["event finished name=x time"])
  }

  @Test func loopsContinueUntilTheyAreTurnedOff() {
    fixture.ask("hum 1 0.5 0.25 as x")
    #expect(fixture.ask("loop x on end 0.2") == "ok")
    #expect(fixture.run(1.1) == [])
    #expect(fixture.ask("loop x off") == "ok")
    // The sixth pass, which began at 1 s, runs to the pattern's own end.
    #expect(fixture.run(1) == ["event finished name=x time=1.251"])
  }

  @Test func rateChangesOnlyTheTimes() {
    fixture.ask("hum 1 0.5 1 as x")
    #expect(fixture.ask("rate x 64") == "ok")
    let events = fixture.run(0.1)
    #expect(events.count == 1 && events[0].hasPrefix("event finished name=x time=0.0156"))
  }

  @Test func playAcceptsAllItsOptions() {
    fixture.ask("play pulse from 0.5 strength 0.25 rate 2 at 0.1 as p loop")
    fixture.run(0.2)
    #expect(fixture.startFrame("p") == 4_800)
    #expect(fixture.ask("loop p off") == "ok")
    #expect(fixture.run(10).count == 1)
  }

  @Test func strengthCanBeSetForAllSoundsOrForOne() {
    fixture.ask("hum 0.5 0.5 3 as a")
    fixture.run(0.4)
    let fullLevel = fixture.peakLevel(0.3...0.4)
    #expect(fixture.ask("set strength 0.5 of a") == "ok")
    fixture.run(0.4)
    #expect(abs(fixture.peakLevel(0.6...0.8) / fullLevel - 0.5) < 0.02)
    #expect(fixture.ask("set strength 0.5 over 0.1 at 1") == "ok")
    fixture.run(0.6)
    #expect(abs(fixture.peakLevel(1.2...1.4) / fullLevel - 0.25) < 0.02)
    #expect(fixture.engine.strength == 0.5)
    fixture.ask("mute")
    fixture.run(0.3)
    #expect(fixture.peakLevel(1.55...1.7) < 3e-3)
    fixture.ask("unmute")
    fixture.ask("mute a")
    fixture.run(0.3)
    #expect(fixture.peakLevel(1.85...2) < 3e-3)
    fixture.ask("unmute")
    fixture.run(0.3)
    #expect(abs(fixture.peakLevel(2.1...2.3) / fullLevel - 0.25) < 0.02)
  }

  @Test func parametersMoveLinearlyFromTheirCurrentValues() {
    fixture.ask("hum 0.8 0.5 5 as a")
    fixture.run(0.5)
    let fullLevel = fixture.peakLevel(0.3...0.5)
    fixture.ask("set intensity 0.5 over 0.5")
    fixture.run(1)
    let halfLevel = fixture.peakLevel(1.2...1.5)
    #expect(halfLevel < fullLevel)
    fixture.ask("set intensity 0 of a over 1")
    fixture.run(0.5)
    let quarterLevel = fixture.peakLevel(1.95...2)
    #expect(quarterLevel < halfLevel && quarterLevel > 0.01)
    fixture.run(0.7)
    #expect(fixture.peakLevel(2.6...2.7) < 3e-3)
    // The parameter starts from its latest value, not from its initial value.
    fixture.ask("set intensity 0.5 over 0.001")
    fixture.run(0.3)
    #expect(abs(fixture.peakLevel(2.8...3) / halfLevel - 1) < 0.05)
  }

  @Test func statusListsMeasurements() {
    #expect(
      fixture.ask("status")
        == "ok time=0.0 playing=0 waiting=0 paused=0 voices=0 strength=1.0 muted=no peak=0.0"
        + " limited=0.0 underruns=0 missed=0.0 device=virtual present=yes rate=48000")
    fixture.ask("hum 1 0.5 1 as a")
    fixture.ask("hum 1 0.5 1 as b")
    fixture.ask("hum 1 0.5 1 at 0.5 as c")
    fixture.run(0.1)
    fixture.ask("pause b")
    fixture.ask("mute")
    fixture.recordSinkEvent(SinkEvent(.underrun, missedFrameCount: 480, text: "underrun"))
    let status = fixture.ask("status")
    #expect(status.hasPrefix("ok time=0.1 playing=1 waiting=1 paused=1 voices=2"))
    #expect(status.contains("muted=yes"))
    #expect(status.hasSuffix("underruns=1 missed=0.01 device=virtual present=yes rate=48000"))
  }

  @Test func deviceEventsAreReported() {
    fixture.recordSinkEvent(SinkEvent(.disconnected, text: "the device is gone; it is looked for"))
    fixture.recordSinkEvent(SinkEvent(.degraded, text: "not told"))
    fixture.recordSinkEvent(SinkEvent(.reconnected, missedFrameCount: 48_000, text: "it is back"))
    fixture.recordSinkEvent(SinkEvent(.unresponsive, text: "it does not respond"))
    #expect(
      fixture.run(0) == [
        "event disconnected time=0.0 missed=0.0 text=\"the device is gone; it is looked for\"",
        "event reconnected time=0.0 missed=1.0 text=\"it is back\"",
        "event unresponsive time=0.0 missed=0.0 text=\"it does not respond\"",
      ])
  }

  @Test func repeatedEventsAreCombined() {
    let underrun = SinkEvent(
      .underrun, cause: .lateDelivery, missedFrameCount: 48, text: "underrun")
    for _ in 0..<5 {
      fixture.recordSinkEvent(underrun)
    }
    #expect(
      fixture.run(1.1) == ["event underrun time=0.0 missed=0.001 count=1 cause=late-delivery"])
    fixture.recordSinkEvent(underrun)
    #expect(fixture.run(0) == ["event underrun time=1.1 missed=0.004 count=4 cause=late-delivery"])
    fixture.recordSinkEvent(underrun)
    fixture.recordSinkEvent(SinkEvent(.suspended, text: "suspended"))
    fixture.recordSinkEvent(SinkEvent(.suspended, text: "suspended"))
    #expect(fixture.run(0) == ["event suspended time=1.1 missed=0.0 text=suspended"])
    fixture.session.reportHeldBackEvents(at: nil)
    #expect(
      fixture.run(0) == [
        "event underrun time=1.1 missed=0.002 count=2 cause=late-delivery",
        "event suspended time=1.1 missed=0.0 text=suspended",
      ])
  }

  @Test func finishingEndsLoopsAfterTheirPassAndPausedSoundsImmediately() {
    fixture.ask("hum 1 0.5 0.4 as a")
    fixture.ask("loop a on")
    fixture.ask("hum 1 0.5 1 as b")
    fixture.ask("hum 1 0.5 0.4 as c")
    fixture.ask("loop c on")
    fixture.ask("stop c at 0.9")
    fixture.run(0.5)
    fixture.ask("pause b")
    #expect(fixture.session.secondsUntilSilence(tail: 0.02) == nil)
    #expect(fixture.session.finishAllSounds())
    #expect(
      fixture.run(1) == [
        "event stopped name=b time=0.5", "event finished name=a time=0.801",
        "event stopped name=c time=0.9",
      ])
    #expect(fixture.session.secondsUntilSilence(tail: 0.02) == 0)
  }
}

extension ListenFixture {
  /// Returns the duration of a pattern as replies write it.
  func duration(_ pattern: String) -> String {
    let loader = PatternLoader(profiles: engine.profiles, rate: engine.rate)
    let duration = (try? loader.pattern(for: pattern).durationSeconds) ?? 0
    return "\((duration * 1e6).rounded() / 1e6)"
  }
}
