import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import TestSupport
import Testing

/// Random faults find cases that other tests do not cover. Every seed is a test case.
@Suite struct RandomFaultTests {
  private func randomFault(_ generator: inout SplitMixGenerator) -> Fault {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1, 2:
      .underrun
    case 3:
      .suspend(canResume: true)
    case 4:
      .suspend(canResume: false)
    case 5:
      .disconnect(
        duration: .milliseconds(Int.random(in: 0...1_500, using: &generator)),
        code: Bool.random(using: &generator) ? ENODEV : EBUSY)
    case 6:
      .shortTransfers(
        frameCount: Int.random(in: 1...300, using: &generator),
        count: Int.random(in: 1...50, using: &generator))
    case 7:
      .failTransfers(
        code: [EPIPE, EAGAIN, EINTR, ESTRPIPE, EIO].randomElement(using: &generator) ?? EIO,
        count: Int.random(in: 1...4, using: &generator))
    case 8:
      .failStarts(code: EPIPE, count: Int.random(in: 1...4, using: &generator))
    case 9:
      .addDelay(frameCount: Int.random(in: -2_000...100_000, using: &generator))
    case 10:
      .reportFalseReadiness(duration: .milliseconds(Int.random(in: 1...300, using: &generator)))
    default:
      .stall(duration: .milliseconds(Int.random(in: 1...900, using: &generator)))
    }
  }

  /// A fault occurs about every 250 ms for 40 s, and then none for 2 s.
  @Test(arguments: 1...8) func everyAudibleFrameIsOnTime(seed: Int) throws {
    var generator = SplitMixGenerator(state: UInt64(seed))
    let periodSize = [64, 128, 240, 441].randomElement(using: &generator) ?? 64
    let bufferSize = periodSize * Int.random(in: 2...6, using: &generator)
    let playback = try FaultyDevicePlayback(
      {
        $0.periodSize = periodSize
        $0.bufferSize = bufferSize
        $0.access = PCMAccess.allCases.randomElement(using: &generator)
      }, capabilities: { $0.clockDriftPPM = Int.random(in: -200...200, using: &generator) })
    let format = playback.sink.format
    var faultTime = Duration.milliseconds(500)
    while faultTime < .seconds(40) {
      playback.device.scheduleFault(randomFault(&generator), at: faultTime)
      faultTime += .milliseconds(Int.random(in: 1...500, using: &generator))
    }
    var endTime = Duration.zero
    while endTime < .seconds(42) {
      endTime += .milliseconds(Int.random(in: 20...3_000, using: &generator))
      try #require(playback.run(until: endTime))
      // The render thread is late from time to time.
      if Bool.random(using: &generator) {
        playback.time.advance(by: .milliseconds(Int.random(in: 0...80, using: &generator)))
      }
    }
    #expect(playback.sink.format == format)
    // Frames that were in the buffer of a stalled device are late, but no frames after them. The
    // clock of the device can differ by 400 frames at the end, and up to 30 ms do not count as an
    // interruption.
    let lateRuns = playback.playedRuns.filter { run in
      run.firstFrameNumber.map { abs($0 - run.startFrame) > periodSize + 400 + 1_440 } ?? false
    }
    #expect(lateRuns.allSatisfy { $0.count <= bufferSize })
    #expect(
      playback.playedRuns.contains { $0.startFrame > 40 * 48_000 && $0.firstFrameNumber != nil })
  }
}
