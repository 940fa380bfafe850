import HapticPlayback
import Testing

@Suite struct ClockTests {
  @Test func heardFrameFollowsTheClockUpToTheLastRenderedFrame() {
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

  @Test func enginePositionCountsRenderedTime() {
    let engine = PlaybackEngine(rate: 8_000)
    let playback = VirtualPlayback(engine, periodSize: 80)
    #expect(engine.positionSeconds == 0)
    playback.advance(seconds: 2.5)
    #expect(engine.positionSeconds == 2.5)
    #expect(engine.position == 20_000)
  }

  @Test func stoppedProcessMissesTime() {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 480)
    playback.advance(seconds: 0.1)
    playback.time.advance(by: .seconds(3))
    playback.advance(seconds: 0.1)
    // During the stop of 3 s, the sink plays its queued period and then misses the remaining time.
    // The position has then passed the end of the second advance.
    #expect(engine.position == 4_800 - 480 + 144_000)
  }
}

@Suite struct WakeSignalTests {
  @Test func waitReturnsWhenRaised() throws {
    let wake = try WakeSignal()
    var descriptors = [PollDescriptor(wake.descriptor)]
    SystemTimeSource().wait(for: &descriptors, timeout: .zero)
    #expect(descriptors[0].receivedEvents == 0)
    wake.raise()
    wake.raise()
    SystemTimeSource().wait(for: &descriptors, timeout: nil)
    #expect(descriptors[0].receivedEvents == 1)
    #expect(wake.lower())
    #expect(!wake.lower())
  }
}
