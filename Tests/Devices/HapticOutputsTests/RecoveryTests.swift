import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import Testing

/// Each way back from trouble, frame by frame: the buffer is 960 frames in periods of 240.
@Suite struct RecoveryTests {
  private typealias FrameRun = FaultyDevicePlayback.FrameRun

  @Test(arguments: PCMAccess.allCases, SampleEncoding.allCases.filter { $0 != .s16 })
  func allIsHeardInOrder(
    access: PCMAccess, encoding: SampleEncoding
  ) throws {
    let playback = try FaultyDevicePlayback {
      $0.access = access
      $0.encoding = encoding
    }
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [])
    // The first wait fills the buffer; each later one takes a period.
    #expect(playback.waitCount == 201)
  }

  @Test(arguments: PCMAccess.allCases) func underrunLosesWhatWasQueuedAndGoesOnInTime(
    access: PCMAccess
  ) throws {
    let playback = try FaultyDevicePlayback { $0.access = access }
    playback.device.scheduleFault(.underrun, at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    // At 502 ms, frames to 24 960 were queued. Silence takes their place.
    #expect(
      playback.playedRuns == [
        FrameRun(startFrame: 0, firstFrameNumber: 0, count: 24_096),
        FrameRun(startFrame: 24_096, firstFrameNumber: nil, count: 864),
        FrameRun(startFrame: 24_960, firstFrameNumber: 24_960, count: 23_040),
      ])
    #expect(
      playback.notices == [
        SinkEvent(
          .underrun, cause: .droppedBuffer, missedFrameCount: 864,
          text: "the device dropped its buffer")
      ])
  }

  @Test func lateFramesArePassedOver() throws {
    let playback = try FaultyDevicePlayback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.time.advance(by: .milliseconds(70))
    #expect(playback.run(until: .seconds(1)))
    // The buffer lasted for 20 ms; 50 ms are missed.
    #expect(
      playback.playedRuns == [
        FrameRun(startFrame: 0, firstFrameNumber: 0, count: 24_960),
        FrameRun(startFrame: 27_360, firstFrameNumber: 27_360, count: 20_640),
      ])
    #expect(playback.missedFrameCount == 2_400)
    #expect(
      playback.notices == [
        SinkEvent(.underrun, cause: .lateDelivery, missedFrameCount: 2_400, text: "buffer underrun")
      ]
    )
  }

  /// The thread was there when half a period was left, and the device had not asked for frames.
  @Test func aDeviceThatAsksTooLateIsLateItself() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.stall(duration: .milliseconds(30)), at: .milliseconds(500))
    playback.device.scheduleFault(.underrun, at: .milliseconds(519))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.notices.map(\.kind) == [.underrun])
    #expect(playback.notices.map(\.cause) == [.lateDevice])
    #expect(playback.notices.map(\.text) == ["the device missed its deadline"])
  }

  /// As PulseAudio does when it took a whole buffer at once; any other device is waited for, and
  /// opened again.
  @Test(arguments: [false, true]) func aDeviceThatIsReadyAndTakesNothingHasRunDry(isReady: Bool)
    throws
  {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.stall(duration: .milliseconds(1_500)), at: .milliseconds(500))
    if isReady {
      playback.device.scheduleFault(
        .reportFalseReadiness(duration: .milliseconds(1_500)), at: .milliseconds(500))
    }
    #expect(playback.run(until: .milliseconds(700)))
    #expect(Set(playback.notices.map(\.cause)) == (isReady ? [.lateDevice] : []))
    #expect(playback.run(until: .seconds(4)))
    #expect(playback.notices.contains { $0.kind == .disconnected } == !isReady)
    let last = try #require(playback.playedRuns.last)
    #expect(abs((last.firstFrameNumber ?? 0) - last.startFrame) <= 1_440 && last.count > 40_000)
  }

  @Test func resumptionGoesOnWithWhatIsQueued() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.suspend(canResume: true), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [SinkEvent(.suspended, text: "the device was suspended")])
  }

  /// The library itself takes no notice of a plug-in that cannot resume.
  @Test func refusedResumptionPreparesAnew() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.suspend(canResume: false), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    #expect(
      playback.playedRuns.last
        == FrameRun(startFrame: 24_960, firstFrameNumber: 24_960, count: 23_040))
    #expect(
      playback.notices == [
        SinkEvent(.suspended, missedFrameCount: 864, text: "the device was suspended")
      ])
  }

  @Test func resumptionThatTakesTimeIsWaitedFor() throws {
    let counter = Counter()
    let playback = try FaultyDevicePlayback(results: { call in
      call == .resume && counter.increment() <= 4 ? -Int(EAGAIN) : nil
    })
    playback.device.scheduleFault(.suspend(canResume: true), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(1)))
    // Four attempts fail, 20 ms apart; the fifth succeeds at 580 ms.
    #expect(counter.count == 5)
    #expect(playback.missedFrameCount == 3_840)
    let resumed = try #require(playback.playedRuns.dropFirst().first)
    #expect(resumed.startFrame == 27_840)
    #expect(resumed.firstFrameNumber == 24_000)
    #expect(playback.playedRuns.last?.firstFrameNumber == playback.playedRuns.last?.startFrame)
    #expect(playback.notices.map(\.kind) == [.suspended, .suspended])
  }

  @Test func shortTransfersAreCompleted() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(
      .shortTransfers(frameCount: 7, count: 500), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [])
  }

  @Test func interruptedAndRefusedTransfersAreMadeAgain() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.failTransfers(code: EINTR, count: 5), at: .milliseconds(300))
    playback.device.scheduleFault(.failTransfers(code: EAGAIN, count: 5), at: .milliseconds(600))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [])
  }

  @Test func underrunsAtTheStartAreOvercome() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.failStarts(code: EPIPE, count: 3), at: .milliseconds(500))
    playback.device.scheduleFault(.underrun, at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    let last = try #require(playback.playedRuns.last)
    #expect(last.firstFrameNumber == last.startFrame)
    #expect(last.startFrame + last.count == 48_000)
    // One cost frames; the attempts to start cost none.
    #expect(playback.notices.map(\.kind) == [.underrun])
  }

  @Test(arguments: [ENODEV, EBUSY]) func lostDeviceIsLookedForOftenAtFirst(code: Int32) throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(
      .disconnect(duration: .milliseconds(2_200), code: code), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(4)))
    // Looked for each 250 ms from 0.5 to 2.5 s, then at 3 s; back at 2.7 s.
    #expect(playback.device.openAttemptCount == 11)
    #expect(playback.device.openCount == 2)
    #expect(
      playback.playedRuns == [
        FrameRun(startFrame: 0, firstFrameNumber: 0, count: 24_000),
        FrameRun(startFrame: 144_000, firstFrameNumber: 144_000, count: 48_000),
      ])
    let busy = SinkEvent(
      .degraded,
      text:
        "faulty: device busy: another program uses it; close that program or choose another device")
    #expect(
      playback.notices.filter { $0.kind != .reconnected } == [
        SinkEvent(.disconnected, text: "faulty: device disconnected; reconnect it")
      ] + (code == EBUSY ? [busy] : []))
    #expect(playback.notices.last?.kind == .reconnected)
    #expect(playback.notices.last?.text == "faulty: reconnected")
    // From the moment it went away to the moment it was opened again, its buffer included.
    #expect(playback.notices.last?.missedFrameCount == 120_000)
  }

  @Test(arguments: [[2], [4]]) func aDeviceThatNeverReturnsIsALossAtTheEnd(channelCounts: [Int])
    throws
  {
    let playback = try FaultyDevicePlayback()
    var other = FaultyDevice.Capabilities()
    other.channelCounts = channelCounts
    playback.device.scheduleFault(.changeCapabilities(other), at: .milliseconds(400))
    playback.device.scheduleFault(
      .disconnect(duration: channelCounts == [2] ? .seconds(99) : .zero, code: ENODEV),
      at: .milliseconds(500))
    #expect(playback.run(until: .seconds(4)))
    playback.sink.finish(draining: true)
    let last = try #require(playback.sink.drainEvents().last)
    #expect(last.kind == .failed)
    #expect(last.text == "faulty: the device did not return before playback ended")
    #expect(
      last.missedFrameCount == Int((playback.time.now / .seconds(1) * 48_000).rounded()) - 24_000)
  }

  /// With 960 frames, a pointer that goes back by 300 is one that has gone on by 660.
  @Test(arguments: [500, 660, 800]) func framesThatADeviceSkipsAreCountedAndTheRestComesInTime(
    count: Int
  ) throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.skipFrames(frameCount: count), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    let event = try #require(playback.notices.first)
    #expect(playback.notices.count == 1)
    #expect(event.kind == .underrun)
    #expect(event.cause == .droppedBuffer)
    #expect(abs(event.missedFrameCount - count) <= 1)
    let last = try #require(playback.playedRuns.last)
    #expect(abs((last.firstFrameNumber ?? 0) - last.startFrame) <= 1)
    #expect(last.startFrame + last.count >= 47_999)
  }

  /// Leaps that stay below what a device's own steps are.
  @Test func aSmallLeapIsNoInterruption() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.skipFrames(frameCount: 100), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.notices == [])
  }

  /// Each alone is as long as the steps in which a device may report where it is.
  @Test func smallLeapsAddUp() throws {
    let playback = try FaultyDevicePlayback()
    for moment in [302, 402, 502] {
      playback.device.scheduleFault(.skipFrames(frameCount: 300), at: .milliseconds(moment))
    }
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.notices.map(\.cause) == [.droppedBuffer])
    // What clocks may differ by in a tenth of a second is two frames.
    #expect((590...610).contains(playback.notices.first?.missedFrameCount ?? 0))
    let last = try #require(playback.playedRuns.last)
    #expect((290...310).contains((last.firstFrameNumber ?? 0) - last.startFrame))
  }

  @Test func aStoppedProcessIsNoSlowOne() throws {
    let playback = try FaultyDevicePlayback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.time.advance(by: .seconds(2))
    #expect(playback.run(until: .seconds(3)))
    #expect(
      playback.notices == [
        SinkEvent(
          .underrun, cause: .stoppedProcess, missedFrameCount: 95_040, text: "buffer underrun")
      ])
  }

  @Test(arguments: [-1_000_000, -957]) func theEndIsHeardWhereTheDelayIsWrong(frameCount: Int)
    throws
  {
    let playback = try FaultyDevicePlayback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.device.scheduleFault(.addDelay(frameCount: frameCount), at: .milliseconds(500))
    playback.time.advance(by: .zero)
    playback.sink.finish(draining: true)
    #expect(playback.device.playedFrameCount >= playback.nextFrameNumber)
  }

  @Test func anotherDeviceOfTheSameNameIsNotTaken() throws {
    let playback = try FaultyDevicePlayback()
    var other = FaultyDevice.Capabilities()
    other.channelCounts = [4]
    playback.device.scheduleFault(.changeCapabilities(other), at: .milliseconds(400))
    playback.device.scheduleFault(
      .disconnect(duration: .zero, code: ENODEV), at: .milliseconds(500))
    playback.device.scheduleFault(
      .changeCapabilities(FaultyDevice.Capabilities()), at: .milliseconds(2_100))
    #expect(playback.run(until: .seconds(4)))
    #expect(
      playback.notices.map(\.text) == [
        "faulty: device disconnected; reconnect it",
        """
        faulty: reconnected with 4 channels at 48000 Hz instead of 2 at 48000 Hz; restart playback \
        to use the new format
        """,
        "faulty: reconnected",
      ])
    #expect(
      playback.playedRuns.last
        == FrameRun(startFrame: 108_000, firstFrameNumber: 108_000, count: 84_000))
    #expect(playback.sink.format.channelCount == 2)
  }

  @Test func anotherEncodingAfterReturnIsTaken() throws {
    let playback = try FaultyDevicePlayback()
    var other = FaultyDevice.Capabilities()
    other.encodings = [.s24Packed]
    playback.device.scheduleFault(.changeCapabilities(other), at: .milliseconds(400))
    playback.device.scheduleFault(
      .disconnect(duration: .zero, code: ENODEV), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(2)))
    #expect(playback.sink.configuration.encoding == .s24Packed)
    #expect(playback.playedRuns.last?.firstFrameNumber == playback.playedRuns.last?.startFrame)
  }

  @Test func stalledDeviceCountsAsGone() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.stall(duration: .seconds(9)), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(12)))
    #expect(
      playback.notices.map(\.text) == [
        "faulty: device stopped accepting frames; reconnect it", "faulty: reconnected",
      ])
    #expect(playback.playedRuns.last?.firstFrameNumber == playback.playedRuns.last?.startFrame)
  }

  @Test func falseReadinessDoesNotSpin() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(
      .reportFalseReadiness(duration: .seconds(1)), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(2)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 96_000)])
    #expect(playback.waitCount < 500)
  }

  @Test(arguments: [-100_000, -1, 1_000_000]) func delayStaysWithinReason(frameCount: Int) throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.addDelay(frameCount: frameCount), at: .milliseconds(500))
    #expect(playback.run(until: .milliseconds(501)))
    let delay = playback.sink.delayFrames
    #expect((0...48_960).contains(delay))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
  }

  @Test func faultAfterFaultIsBounded() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(
      .failStarts(code: EPIPE, count: 1_000_000), at: .milliseconds(500))
    playback.device.scheduleFault(.underrun, at: .milliseconds(500))
    #expect(playback.run(until: .seconds(3), limit: 10_000))
    #expect(playback.notices.contains { $0.kind == .disconnected })
  }

  @Test func drainingPlaysAllAndDroppingNothing() throws {
    for draining in [true, false] {
      let playback = try FaultyDevicePlayback()
      #expect(playback.run(until: .milliseconds(500)))
      playback.sink.finish(draining: draining)
      #expect(playback.device.playedFrameCount >= (draining ? playback.nextFrameNumber : 24_000))
      #expect(playback.time.now <= .milliseconds(draining ? 530 : 500))
      #expect(playback.sink.wait(playback.wake) == .ended)
    }
  }

  @Test func drainingHasALimit() throws {
    let playback = try FaultyDevicePlayback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.device.scheduleFault(.stall(duration: .seconds(60)), at: .milliseconds(500))
    playback.time.advance(by: .zero)
    playback.sink.finish(draining: true)
    #expect(playback.time.now == .milliseconds(620))
    #expect(
      playback.sink.drainEvents() == [
        SinkEvent(.failed, missedFrameCount: 960, text: "faulty: the device did not play the end")
      ])
  }
}
