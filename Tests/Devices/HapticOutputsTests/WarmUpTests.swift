import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import Testing

/// Silence before the first sound on a device that is not a sound card. The buffer has 960 frames,
/// in periods of 240.
@Suite struct WarmUpTests {
  private typealias FrameRun = FaultyDevicePlayback.FrameRun
  /// The silent frames before the first sound: those of the warm-up, and a buffer.
  private let silentFrameCount = 2_400 + 960

  private func playback(buffer: Int = 960) throws -> FaultyDevicePlayback {
    try FaultyDevicePlayback {
      $0.warmUpDuration = .milliseconds(50)
      $0.bufferSize = buffer
    }
  }

  @Test func warmUpPrecedesTheStartAndFollowsAReconnection() throws {
    let playback = try playback()
    playback.device.scheduleFault(
      .disconnect(duration: .zero, code: ENODEV), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(1)))
    #expect(
      playback.playedRuns.prefix(2) == [
        FrameRun(startFrame: 0, firstFrameNumber: nil, count: silentFrameCount),
        FrameRun(
          startFrame: silentFrameCount, firstFrameNumber: 0, count: 24_000 - silentFrameCount),
      ])
    // Playback is delayed by the warm-up, and frames after later silence are on time.
    let lastRun = try #require(playback.playedRuns.last)
    #expect(lastRun.firstFrameNumber == lastRun.startFrame - silentFrameCount)
    #expect(lastRun.startFrame + lastRun.count == 48_000)
    let interruption = try #require(playback.playedRuns.dropFirst(2).first)
    #expect(interruption.firstFrameNumber == nil && interruption.count >= 2_400)
    // All frames between the last sound before the interruption and the first sound after it are
    // counted as missed.
    #expect(
      playback.notices.last?.missedFrameCount == (lastRun.firstFrameNumber ?? 0)
        - (24_000 - silentFrameCount))
  }

  /// A sound server that is late when a stream starts reads the overdue frames at once, and drops
  /// them.
  @Test(arguments: [240, 1_000, 12_000, 24_000]) func framesThatAServerDropsAtTheStartAreSilent(
    frameCount: Int
  ) throws {
    let playback = try playback()
    playback.device.scheduleFault(.dropFrames(frameCount: frameCount), at: .milliseconds(3))
    #expect(playback.run(until: .seconds(2)))
    let soundRuns = playback.playedRuns.filter { $0.firstFrameNumber != nil }
    #expect(soundRuns.count == 1)
    #expect(soundRuns.first?.firstFrameNumber == 0)
    #expect(soundRuns.first.map { $0.startFrame + $0.count } == 96_000)
    #expect(playback.notices == [])
    #expect(playback.missedFrameCount == 0)
  }

  @Test func underrunsAtTheStartLoseOnlySilence() throws {
    let playback = try playback()
    for milliseconds in [2, 9, 30, 47] {
      playback.device.scheduleFault(.underrun, at: .milliseconds(milliseconds))
    }
    #expect(playback.run(until: .seconds(1)))
    let soundRuns = playback.playedRuns.filter { $0.firstFrameNumber != nil }
    #expect(soundRuns.count == 1)
    #expect(soundRuns.first?.firstFrameNumber == 0)
    #expect(playback.notices == [])
    #expect(playback.missedFrameCount == 0)
  }

  /// The sound of an unsteady device starts after two seconds at the latest.
  @Test func warmUpIsLimited() throws {
    let playback = try playback()
    for step in 0..<400 {
      playback.device.scheduleFault(.underrun, at: .milliseconds(step * 10))
    }
    #expect(playback.run(until: .milliseconds(1_900)))
    #expect(playback.nextFrameNumber == 0)
    #expect(playback.run(until: .milliseconds(2_200)))
    #expect(playback.nextFrameNumber > 0)
  }

  /// After the warm-up, skipped frames are a loss, even before the device is steady.
  @Test func framesSkippedAfterTheWarmUpAreCounted() throws {
    let playback = try playback()
    playback.device.scheduleFault(.skipFrames(frameCount: 800), at: .milliseconds(122))
    #expect(playback.run(until: .seconds(1)))
    let missedFrameCount = playback.notices.map(\.missedFrameCount).reduce(0, +)
    let playedFrameCount = playback.playedRuns.filter { $0.firstFrameNumber != nil }.map(\.count)
      .reduce(0, +)
    #expect(playback.notices.allSatisfy { $0.cause == .droppedBuffer })
    let lastRun = try #require(playback.playedRuns.last)
    #expect(lastRun.firstFrameNumber == lastRun.startFrame - silentFrameCount)
    #expect(abs(missedFrameCount - 800) <= 1)
    #expect(abs(playedFrameCount + missedFrameCount - (48_000 - silentFrameCount)) <= 1)
  }

  /// A long buffer compensates for the frames that a server drops.
  @Test func longBufferDoesNotWaitForASteadyDevice() throws {
    let playback = try playback(buffer: 9_600)
    #expect(playback.run(until: .seconds(1)))
    #expect(
      playback.playedRuns == [
        FrameRun(startFrame: 0, firstFrameNumber: nil, count: 2_400),
        FrameRun(startFrame: 2_400, firstFrameNumber: 0, count: 45_600),
      ])
  }

  /// A server reports frames as played before they are heard. Trailing silence keeps the stream
  /// open until then.
  @Test func silenceFollowsTheEnd() throws {
    let playback = try playback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.sink.finish(draining: true)
    let soundRun = try #require(playback.playedRuns.last { $0.firstFrameNumber != nil })
    #expect(soundRun.firstFrameNumber == 0 && soundRun.count == playback.nextFrameNumber)
    let trailingSilence = try #require(playback.playedRuns.last)
    #expect(trailingSilence.firstFrameNumber == nil)
    #expect(trailingSilence.count >= 2_300)
    #expect(playback.time.now < .milliseconds(600))
    #expect(playback.sink.drainEvents() == [])
  }
}
