import HapticPlayback
import Testing

@Suite struct ClockTests {
  @Test func whatIsHeardFollowsTheClockAndNeverPassesWhatWasHandedOver() {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 480)
    playback.advance(seconds: 1)
    let clock = playback.playbackClock
    #expect(clock.reading.position == 48_000)
    #expect(clock.reading.delayFrameCount == 480)
    #expect(clock.heardFrame == 47_520)
    playback.time.advance(by: .milliseconds(4))
    #expect(clock.heardFrame == 47_712)
    playback.time.advance(by: .seconds(1))
    #expect(clock.heardFrame == 48_000)
  }

  @Test func theEnginesClockCountsRenderedSeconds() {
    let engine = PlaybackEngine(rate: 8_000)
    let playback = VirtualPlayback(engine, periodSize: 80)
    #expect(engine.positionSeconds == 0)
    playback.advance(seconds: 2.5)
    #expect(engine.positionSeconds == 2.5)
    #expect(engine.position == 20_000)
  }

  @Test func aProcessThatStoodStillMissesTime() {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 480)
    playback.advance(seconds: 0.1)
    playback.time.advance(by: .seconds(3))
    playback.advance(seconds: 0.1)
    // The period the sink held is heard, the rest of three seconds is missed, and enough has
    // passed.
    #expect(engine.position == 4_800 - 480 + 144_000)
  }
}

@Suite struct WakeSignalTests {
  @Test func waitReturnsWhenRaised() throws {
    let wake = try WakeSignal()
    var watched = [PollDescriptor(wake.descriptor)]
    SystemTimeSource().wait(for: &watched, timeout: .zero)
    #expect(watched[0].receivedEvents == 0)
    wake.raise()
    wake.raise()
    SystemTimeSource().wait(for: &watched, timeout: nil)
    #expect(watched[0].receivedEvents == 1)
    #expect(wake.lower())
    #expect(!wake.lower())
  }
}
