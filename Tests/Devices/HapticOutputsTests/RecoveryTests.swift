import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import TestSupport
import Testing

/// Recovery from every kind of fault, frame by frame. The buffer has 960 frames, in periods of 240.
@Suite struct RecoveryTests {
  private typealias FrameRun = FaultyDevicePlayback.FrameRun

  @Test(arguments: PCMAccess.allCases, SampleEncoding.allCases.filter { $0 != .s16 })
  func allFramesAreHeardInOrder(
    access: PCMAccess, encoding: SampleEncoding
  ) throws {
    let playback = try FaultyDevicePlayback {
      $0.access = access
      $0.encoding = encoding
    }
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [])
    // The first wait requests a full buffer, and every later wait a period.
    #expect(playback.waitCount == 201)
  }

  @Test(arguments: PCMAccess.allCases) func underrunLosesTheQueuedFramesAndContinuesOnTime(
    access: PCMAccess
  ) throws {
    let playback = try FaultyDevicePlayback { $0.access = access }
    playback.device.scheduleFault(.underrun, at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    // At 502 ms, the frames up to 24,960 are queued. Silence replaces them.
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

  @Test func lateFramesAreSkipped() throws {
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

  /// The render thread was ready when half a period remained, but the device had not requested
  /// frames.
  @Test func lateRequestOfTheDeviceIsADelayOfTheDevice() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.stall(duration: .milliseconds(30)), at: .milliseconds(500))
    playback.device.scheduleFault(.underrun, at: .milliseconds(519))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.notices.map(\.kind) == [.underrun])
    #expect(playback.notices.map(\.cause) == [.lateDevice])
    #expect(playback.notices.map(\.text) == ["the device missed its deadline"])
  }

  /// PulseAudio is ready without accepting frames after it has read an entire buffer at once. The
  /// sink waits for any other device, and then opens it again.
  @Test(arguments: [false, true]) func readyDeviceThatAcceptsNoFramesHasAnUnderrun(isReady: Bool)
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
    let lastRun = try #require(playback.playedRuns.last)
    #expect(
      abs((lastRun.firstFrameNumber ?? 0) - lastRun.startFrame) <= 1_440 && lastRun.count > 40_000)
  }

  @Test func resumedDeviceKeepsItsBuffer() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.suspend(canResume: true), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [SinkEvent(.suspended, text: "the device was suspended")])
  }

  /// The library does not report that a plug-in cannot resume.
  @Test func refusedResumptionPreparesTheDeviceAgain() throws {
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

  @Test func slowResumptionIsWaitedFor() throws {
    let counter = Counter()
    let playback = try FaultyDevicePlayback(results: { call in
      call == .resume && counter.increment() <= 4 ? -Int(EAGAIN) : nil
    })
    playback.device.scheduleFault(.suspend(canResume: true), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(1)))
    // Four attempts fail, 20 ms apart; the fifth succeeds at 580 ms.
    #expect(counter.count == 5)
    #expect(playback.missedFrameCount == 3_840)
    let resumedRun = try #require(playback.playedRuns.dropFirst().first)
    #expect(resumedRun.startFrame == 27_840)
    #expect(resumedRun.firstFrameNumber == 24_000)
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

  @Test func interruptedAndRefusedTransfersAreRepeated() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.failTransfers(code: EINTR, count: 5), at: .milliseconds(300))
    playback.device.scheduleFault(.failTransfers(code: EAGAIN, count: 5), at: .milliseconds(600))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
    #expect(playback.notices == [])
  }

  @Test func failedStartsAreRepeated() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.failStarts(code: EPIPE, count: 3), at: .milliseconds(500))
    playback.device.scheduleFault(.underrun, at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    let lastRun = try #require(playback.playedRuns.last)
    #expect(lastRun.firstFrameNumber == lastRun.startFrame)
    #expect(lastRun.startFrame + lastRun.count == 48_000)
    // The underrun loses frames; the failed starts lose none.
    #expect(playback.notices.map(\.kind) == [.underrun])
  }

  @Test(arguments: [ENODEV, EBUSY]) func lostDeviceIsPolledLessOftenOverTime(code: Int32) throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(
      .disconnect(duration: .milliseconds(2_200), code: code), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(4)))
    // The sink tries to open the device every 250 ms from 0.5 s to 2.5 s, and then at 3 s. The
    // device returns at 2.7 s.
    #expect(playback.device.openAttemptCount == 11)
    #expect(playback.device.openCount == 2)
    #expect(
      playback.playedRuns == [
        FrameRun(startFrame: 0, firstFrameNumber: 0, count: 24_000),
        FrameRun(startFrame: 144_000, firstFrameNumber: 144_000, count: 48_000),
      ])
    let busyEvent = SinkEvent(
      .degraded,
      text:
        "faulty: device busy: another program uses it; close that program or choose another device")
    #expect(
      playback.notices.filter { $0.kind != .reconnected } == [
        SinkEvent(.disconnected, text: "faulty: device disconnected; reconnect it")
      ] + (code == EBUSY ? [busyEvent] : []))
    #expect(playback.notices.last?.kind == .reconnected)
    #expect(playback.notices.last?.text == "faulty: reconnected")
    // The missed frames are those from the disconnection to the reconnection, including the buffer.
    #expect(playback.notices.last?.missedFrameCount == 120_000)
  }

  @Test(arguments: [[2], [4]]) func deviceThatNeverReturnsIsALossAtTheEnd(channelCounts: [Int])
    throws
  {
    let playback = try FaultyDevicePlayback()
    var changedCapabilities = FaultyDevice.Capabilities()
    changedCapabilities.channelCounts = channelCounts
    playback.device.scheduleFault(.changeCapabilities(changedCapabilities), at: .milliseconds(400))
    playback.device.scheduleFault(
      .disconnect(duration: channelCounts == [2] ? .seconds(99) : .zero, code: ENODEV),
      at: .milliseconds(500))
    #expect(playback.run(until: .seconds(4)))
    playback.sink.finish(draining: true)
    let lastEvent = try #require(playback.sink.drainEvents().last)
    #expect(lastEvent.kind == .failed)
    #expect(lastEvent.text == "faulty: the device did not return before playback ended")
    #expect(
      lastEvent.missedFrameCount == Int((playback.time.now / .seconds(1) * 48_000).rounded())
        - 24_000)
  }

  /// In a buffer of 960 frames, a pointer that moves back by 300 frames equals one that advances by
  /// 660.
  @Test(arguments: [500, 660, 800]) func skippedFramesAreCountedAndLaterFramesAreOnTime(
    count: Int
  ) throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.skipFrames(frameCount: count), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    let underrunEvent = try #require(playback.notices.first)
    #expect(playback.notices.count == 1)
    #expect(underrunEvent.kind == .underrun)
    #expect(underrunEvent.cause == .droppedBuffer)
    #expect(abs(underrunEvent.missedFrameCount - count) <= 1)
    let lastRun = try #require(playback.playedRuns.last)
    #expect(abs((lastRun.firstFrameNumber ?? 0) - lastRun.startFrame) <= 1)
    #expect(lastRun.startFrame + lastRun.count >= 47_999)
  }

  /// The leap is shorter than the steps in which the device reports its position.
  @Test func smallLeapIsNotAnInterruption() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.skipFrames(frameCount: 100), at: .milliseconds(502))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.notices == [])
  }

  /// Every single leap is as long as the steps in which a device may report its position.
  @Test func smallLeapsAddUp() throws {
    let playback = try FaultyDevicePlayback()
    for milliseconds in [302, 402, 502] {
      playback.device.scheduleFault(.skipFrames(frameCount: 300), at: .milliseconds(milliseconds))
    }
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.notices.map(\.cause) == [.droppedBuffer])
    // Clocks may differ by two frames in 0.1 s.
    #expect((590...610).contains(playback.notices.first?.missedFrameCount ?? 0))
    let lastRun = try #require(playback.playedRuns.last)
    #expect((290...310).contains((lastRun.firstFrameNumber ?? 0) - lastRun.startFrame))
  }

  @Test func stoppedProcessIsNotALateProcess() throws {
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

  @Test(arguments: [-1_000_000, -957]) func endIsHeardDespiteAWrongDelay(frameCount: Int)
    throws
  {
    let playback = try FaultyDevicePlayback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.device.scheduleFault(.addDelay(frameCount: frameCount), at: .milliseconds(500))
    playback.time.advance(by: .zero)
    playback.sink.finish(draining: true)
    #expect(playback.device.playedFrameCount >= playback.nextFrameNumber)
  }

  @Test func deviceWithAnotherFormatIsNotUsed() throws {
    let playback = try FaultyDevicePlayback()
    var changedCapabilities = FaultyDevice.Capabilities()
    changedCapabilities.channelCounts = [4]
    playback.device.scheduleFault(.changeCapabilities(changedCapabilities), at: .milliseconds(400))
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

  @Test func anotherEncodingAfterAReconnectionIsUsed() throws {
    let playback = try FaultyDevicePlayback()
    var changedCapabilities = FaultyDevice.Capabilities()
    changedCapabilities.encodings = [.s24Packed]
    playback.device.scheduleFault(.changeCapabilities(changedCapabilities), at: .milliseconds(400))
    playback.device.scheduleFault(
      .disconnect(duration: .zero, code: ENODEV), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(2)))
    #expect(playback.sink.configuration.encoding == .s24Packed)
    #expect(playback.playedRuns.last?.firstFrameNumber == playback.playedRuns.last?.startFrame)
  }

  @Test func stalledDeviceCountsAsDisconnected() throws {
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

  @Test(arguments: [-100_000, -1, 1_000_000]) func reportedDelayIsLimited(frameCount: Int) throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(.addDelay(frameCount: frameCount), at: .milliseconds(500))
    #expect(playback.run(until: .milliseconds(501)))
    let delay = playback.sink.delayFrames
    #expect((0...48_960).contains(delay))
    #expect(playback.run(until: .seconds(1)))
    #expect(playback.playedRuns == [FrameRun(startFrame: 0, firstFrameNumber: 0, count: 48_000)])
  }

  @Test func recoveriesInARowAreLimited() throws {
    let playback = try FaultyDevicePlayback()
    playback.device.scheduleFault(
      .failStarts(code: EPIPE, count: 1_000_000), at: .milliseconds(500))
    playback.device.scheduleFault(.underrun, at: .milliseconds(500))
    #expect(playback.run(until: .seconds(3), limit: 10_000))
    #expect(playback.notices.contains { $0.kind == .disconnected })
  }

  @Test func drainingPlaysAllFramesAndDroppingNone() throws {
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
