import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import Testing

/// The buffer of a sound server's stream through ALSA starts small and grows while underruns occur.
@Suite struct BufferGrowthTests {
  private let rate = 8_000

  private func playback(isServerStream: Bool = true, adaptsBuffer: Bool = true) throws
    -> FaultyDevicePlayback
  {
    try FaultyDevicePlayback(
      {
        $0.rate = rate
        $0.periodSize = 40
        $0.bufferSize = 160
        $0.adaptsBuffer = adaptsBuffer
      },
      capabilities: {
        $0.rates = [rate]
        $0.isServerStream = isServerStream
      })
  }

  /// The messages about the buffer, after a number of underruns.
  private func growthMessages(_ playback: FaultyDevicePlayback, underrunCount: Int) -> [String] {
    for index in 0..<underrunCount {
      playback.device.scheduleFault(.underrun, at: .milliseconds(1_000 + 500 * index))
    }
    #expect(playback.run(until: .milliseconds(1_500 + 500 * underrunCount), limit: 10_000))
    return playback.notices.filter { $0.kind == .degraded }.map(\.text)
  }

  @Test("Every two underruns double the buffer, up to eight times its size")
  func buffersGrow() throws {
    let playback = try playback()
    #expect(
      growthMessages(playback, underrunCount: 12)
        == [40, 80, 160].map {
          "faulty: the buffer is now \($0) ms because of underruns"
        })
    #expect(playback.sink.configuration.bufferSize == 1_280)
    // The period and the granted format of the sink do not change.
    #expect(playback.sink.configuration.periodSize == 40 && playback.sink.format.bufferSize == 160)
  }

  @Test("Growth loses no frame without a report")
  func growthAccountsForEveryFrame() throws {
    let playback = try playback()
    _ = growthMessages(playback, underrunCount: 7)
    let endTime = playback.time.now
    playback.sink.finish(draining: true)
    let notices = playback.notices + playback.sink.drainEvents()
    let missedFrameCount = notices.map(\.missedFrameCount).reduce(0, +)
    let playedFrameCount = playback.playedRuns.filter { $0.firstFrameNumber != nil }.map(\.count)
      .reduce(0, +)
    let firstSoundFrame = try #require(
      playback.playedRuns.first { $0.firstFrameNumber != nil }?.startFrame)
    let dueFrameCount = Int((endTime / .seconds(1) * Double(rate)).rounded()) - firstSoundFrame
    #expect(
      abs(playedFrameCount + missedFrameCount - dueFrameCount) <= 1_280,
      "\(playedFrameCount) heard, \(missedFrameCount) missed, \(dueFrameCount) due")
    #expect(!notices.contains { $0.kind == .failed })
  }

  @Test("A growing buffer keeps every later frame on time")
  func laterFramesAreOnTime() throws {
    let playback = try playback()
    _ = growthMessages(playback, underrunCount: 7)
    let soundRuns = playback.playedRuns.filter { $0.firstFrameNumber != nil }
    let offsets = soundRuns.map { $0.startFrame - ($0.firstFrameNumber ?? 0) }
    let firstOffset = try #require(offsets.first)
    let lastOffset = try #require(offsets.last)
    #expect(abs(lastOffset - firstOffset) <= 1, "\(offsets)")
  }

  @Test("The buffer of a sound card, and a requested buffer, keep their size")
  func otherBuffersStay() throws {
    #expect(growthMessages(try playback(isServerStream: false), underrunCount: 8) == [])
    #expect(growthMessages(try playback(adaptsBuffer: false), underrunCount: 8) == [])
  }

  @Test("A device that is opened again has the buffer that it had grown to")
  func reconnectionKeepsTheBuffer() throws {
    let playback = try playback()
    playback.device.scheduleFault(
      .disconnect(duration: .milliseconds(500), code: ENODEV), at: .milliseconds(2_400))
    #expect(growthMessages(playback, underrunCount: 2).count == 1)
    #expect(playback.run(until: .seconds(5), limit: 10_000))
    #expect(playback.notices.contains { $0.kind == .reconnected })
    #expect(playback.sink.configuration.bufferSize == 320)
  }

  @Test("Frames that a sound server skips are its lateness, not a lost connection")
  func skippedFramesNameTheServer() throws {
    for isServerStream in [true, false] {
      let playback = try playback(isServerStream: isServerStream)
      playback.device.scheduleFault(.skipFrames(frameCount: 110), at: .milliseconds(1_002))
      #expect(playback.run(until: .seconds(2), limit: 10_000))
      let causes = playback.notices.filter { $0.kind == .underrun }.map(\.cause)
      #expect(causes == [isServerStream ? .lateDevice : .droppedBuffer])
    }
  }
}
