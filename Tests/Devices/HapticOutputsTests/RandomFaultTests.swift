import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import TestSupport
import Testing

/// Chance finds what nobody thought of; every seed is its own case.
@Suite struct RandomFaultTests {
  private func randomFault(_ chance: inout SplitMixGenerator) -> Fault {
    switch Int.random(in: 0..<12, using: &chance) {
    case 0, 1, 2:
      .underrun
    case 3:
      .suspend(canResume: true)
    case 4:
      .suspend(canResume: false)
    case 5:
      .disconnect(
        duration: .milliseconds(Int.random(in: 0...1_500, using: &chance)),
        code: Bool.random(using: &chance) ? ENODEV : EBUSY)
    case 6:
      .shortTransfers(
        frameCount: Int.random(in: 1...300, using: &chance),
        count: Int.random(in: 1...50, using: &chance))
    case 7:
      .failTransfers(
        code: [EPIPE, EAGAIN, EINTR, ESTRPIPE, EIO].randomElement(using: &chance) ?? EIO,
        count: Int.random(in: 1...4, using: &chance))
    case 8:
      .failStarts(code: EPIPE, count: Int.random(in: 1...4, using: &chance))
    case 9:
      .addDelay(frameCount: Int.random(in: -2_000...100_000, using: &chance))
    case 10:
      .reportFalseReadiness(duration: .milliseconds(Int.random(in: 1...300, using: &chance)))
    default:
      .stall(duration: .milliseconds(Int.random(in: 1...900, using: &chance)))
    }
  }

  /// For forty seconds something goes wrong every quarter of a second; then a second of peace.
  @Test(arguments: 1...8) func everyFrameHeardIsHeardInTime(seed: Int) throws {
    var chance = SplitMixGenerator(state: UInt64(seed))
    let period = [64, 128, 240, 441].randomElement(using: &chance) ?? 64
    let buffer = period * Int.random(in: 2...6, using: &chance)
    let playback = try FaultyDevicePlayback(
      {
        $0.periodSize = period
        $0.bufferSize = buffer
        $0.access = PCMAccess.allCases.randomElement(using: &chance)
      }, capabilities: { $0.clockDriftPPM = Int.random(in: -200...200, using: &chance) })
    let format = playback.sink.format
    var moment = Duration.milliseconds(500)
    while moment < .seconds(40) {
      playback.device.scheduleFault(randomFault(&chance), at: moment)
      moment += .milliseconds(Int.random(in: 1...500, using: &chance))
    }
    var last = Duration.zero
    while last < .seconds(42) {
      last += .milliseconds(Int.random(in: 20...3_000, using: &chance))
      try #require(playback.run(until: last))
      // The thread is late now and then.
      if Bool.random(using: &chance) {
        playback.time.advance(by: .milliseconds(Int.random(in: 0...80, using: &chance)))
      }
    }
    #expect(playback.sink.format == format)
    // What the device had when it stood still is heard late; what comes after it is not. The
    // device's clock may be 400 frames off by the end, and 30 ms are no interruption yet.
    let late = playback.playedRuns.filter { stretch in
      stretch.firstFrameNumber.map { abs($0 - stretch.startFrame) > period + 400 + 1_440 } ?? false
    }
    #expect(late.allSatisfy { $0.count <= buffer })
    #expect(
      playback.playedRuns.contains { $0.startFrame > 40 * 48_000 && $0.firstFrameNumber != nil })
  }
}
