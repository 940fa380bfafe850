@testable import CommandLineKit
@testable import HapticPlayback
import SoundFile
import Synchronization
import TestSupport
import Testing

@testable import TemblorCommands

/// Recordings that come to the limit of `--record-limit`, while playback goes on.
@Suite struct LiveRecordingTests {
  private let place: Scratch
  private let device = DeviceSummary(
    OpenedOutput(
      sink: NullSink(SinkFormat(rate: 48_000, channelCount: 2, periodSize: 240, bufferSize: 960)), name: "nothing"))

  init() throws { place = try Scratch() }

  @Test(arguments: [0.25, 0.5, 7]) func aRecordingEndsAtItsLimitToTheFrame(limit: Double) throws {
    let path = place("heard.wav")
    let told = Mutex<[SinkEvent]>([])
    let recording = try LiveRecording(to: path, device: device, upTo: limit) { event in
      told.withLock { $0.append(event) }
    }
    // Blocks of 999 frames, about a second of them; what a recording holds at once is more.
    let block = (0..<(2 * 999)).map { Float($0 % 100) / 200 }
    for _ in 0..<48 { recording.recording.write(block.span) }
    let (result, message) = recording.finish(within: .seconds(30))
    let limited = Int64(limit * 48_000)
    #expect(result.isComplete)
    #expect(result.frameCount == min(limited, 48 * 999))
    #expect(result.droppedFrameCount == 0)
    #expect(message == nil)
    #expect(
      told.withLock { $0.map(\.text) }
        == (limit < 1 ? ["\(path): reached the limit of the recording; recording stopped"] : []))
  }

  @Test func theLimitIsBounded() throws {
    let stage = VirtualStage()
    for minutes in ["0.5", "1441", "x"] {
      let words = ["--record", place("a.wav"), "--record-limit", minutes]
      #expect(throws: (any Error).self) {
        let arguments = try ListenVerb.description().parse(words)
        _ = try LiveOptions(arguments)
      }
    }
    #expect(stage.recorded.error == "")
  }
}
