import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import Testing

/// Silence before the first sound on a device that is not a card: the buffer is 960 frames in
/// periods of 240.
@Suite struct LeadInTests {
  private typealias FrameRun = FaultyDevicePlayback.FrameRun
  /// Silence for the time of the lead-in, and the buffer that is full of it by then.
  private let silentFrameCount = 2_400 + 960

  private func playback(buffer: Int = 960) throws -> FaultyDevicePlayback {
    try FaultyDevicePlayback {
      $0.warmUpDuration = .milliseconds(50)
      $0.bufferSize = buffer
    }
  }

  @Test func silenceLeadsInAtTheStartAndAfterAReturn() throws {
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
    // The clock of what is heard stays behind by the lead-in; what follows the silence comes at its
    // time.
    let last = try #require(playback.playedRuns.last)
    #expect(last.firstFrameNumber == last.startFrame - silentFrameCount)
    #expect(last.startFrame + last.count == 48_000)
    let between = try #require(playback.playedRuns.dropFirst(2).first)
    #expect(between.firstFrameNumber == nil && between.count >= 2_400)
    // All that was not heard is counted: from the end of what was, to the beginning of what
    // followed.
    #expect(
      playback.notices.last?.missedFrameCount == (last.firstFrameNumber ?? 0)
        - (24_000 - silentFrameCount))
  }

  /// A sound server that is behind as a stream starts reads that much at once, and drops it.
  @Test(arguments: [240, 1_000, 12_000, 24_000]) func whatAServerSwallowsAtTheStartIsSilence(
    frameCount: Int
  ) throws {
    let playback = try playback()
    playback.device.scheduleFault(.dropFrames(frameCount: frameCount), at: .milliseconds(3))
    #expect(playback.run(until: .seconds(2)))
    let sound = playback.playedRuns.filter { $0.firstFrameNumber != nil }
    #expect(sound.count == 1)
    #expect(sound.first?.firstFrameNumber == 0)
    #expect(sound.first.map { $0.startFrame + $0.count } == 96_000)
    #expect(playback.notices == [])
    #expect(playback.missedFrameCount == 0)
  }

  @Test func aDeviceThatRunsDryAtTheStartLosesSilenceOnly() throws {
    let playback = try playback()
    for milliseconds in [2, 9, 30, 47] {
      playback.device.scheduleFault(.underrun, at: .milliseconds(milliseconds))
    }
    #expect(playback.run(until: .seconds(1)))
    let sound = playback.playedRuns.filter { $0.firstFrameNumber != nil }
    #expect(sound.count == 1)
    #expect(sound.first?.firstFrameNumber == 0)
    #expect(playback.notices == [])
    #expect(playback.missedFrameCount == 0)
  }

  /// However unsteady it is, sound begins after two seconds.
  @Test func theLeadInHasALimit() throws {
    let playback = try playback()
    for step in 0..<400 {
      playback.device.scheduleFault(.underrun, at: .milliseconds(step * 10))
    }
    #expect(playback.run(until: .milliseconds(1_900)))
    #expect(playback.nextFrameNumber == 0)
    #expect(playback.run(until: .milliseconds(2_200)))
    #expect(playback.nextFrameNumber > 0)
  }

  /// Behind the lead-in, what is swallowed is a loss, also before the device counts as settled.
  @Test func whatIsSkippedLaterIsCounted() throws {
    let playback = try playback()
    playback.device.scheduleFault(.skipFrames(frameCount: 800), at: .milliseconds(122))
    #expect(playback.run(until: .seconds(1)))
    let lost = playback.notices.map(\.missedFrameCount).reduce(0, +)
    let heard = playback.playedRuns.filter { $0.firstFrameNumber != nil }.map(\.count).reduce(0, +)
    #expect(playback.notices.allSatisfy { $0.cause == .droppedBuffer })
    let last = try #require(playback.playedRuns.last)
    #expect(last.firstFrameNumber == last.startFrame - silentFrameCount)
    #expect(abs(lost - 800) <= 1)
    #expect(abs(heard + lost - (48_000 - silentFrameCount)) <= 1)
  }

  /// A long buffer bridges what a server swallows.
  @Test func aLongBufferDoesNotWait() throws {
    let playback = try playback(buffer: 9_600)
    #expect(playback.run(until: .seconds(1)))
    #expect(
      playback.playedRuns == [
        FrameRun(startFrame: 0, firstFrameNumber: nil, count: 2_400),
        FrameRun(startFrame: 2_400, firstFrameNumber: 0, count: 45_600),
      ])
  }

  /// A server reports what it has taken, before it is heard: silence keeps the stream alive behind
  /// the end.
  @Test func silenceFollowsTheEnd() throws {
    let playback = try playback()
    #expect(playback.run(until: .milliseconds(500)))
    playback.sink.finish(draining: true)
    let sound = try #require(playback.playedRuns.last { $0.firstFrameNumber != nil })
    #expect(sound.firstFrameNumber == 0 && sound.count == playback.nextFrameNumber)
    let tail = try #require(playback.playedRuns.last)
    #expect(tail.firstFrameNumber == nil)
    #expect(tail.count >= 2_300)
    #expect(playback.time.now < .milliseconds(600))
    #expect(playback.sink.drainEvents() == [])
  }
}
