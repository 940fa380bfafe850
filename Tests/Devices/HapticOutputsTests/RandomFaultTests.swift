import FaultyPCM
import HapticOutputs
import HapticPlayback
import SoundFile
import TestSupport
import Testing

/// Random faults find cases that other tests do not cover. Every seed is a test case.
@Suite struct RandomFaultTests {
  private static let kinds: [Fault.RandomKind] = [
    .underrun, .underrun, .underrun, .suspension, .suspension, .disconnection, .shortTransfers,
    .failedTransfers, .failedStarts, .wrongDelay, .falseReadiness, .stall,
  ]

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
      playback.device.scheduleFault(
        .random(of: Self.kinds, using: &generator), at: faultTime)
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
