import Glibc
import HapticPlayback
import Testing

@testable import HapticOutputs

@Suite struct SinkEventQueueTests {
  @Test func eventsAreDrainedOnceAndInOrder() {
    var queue = SinkEventQueue()
    queue.add(.underrun, missedFrameCount: 3, text: "a")
    queue.add(.disconnected, text: "b")
    #expect(
      queue.drain() == [
        SinkEvent(.underrun, missedFrameCount: 3, text: "a"), SinkEvent(.disconnected, text: "b"),
      ])
    #expect(queue.drain() == [])
  }

  @Test func excessiveEventsAreCounted() {
    var queue = SinkEventQueue()
    for _ in 0..<1_000 {
      queue.add(.underrun, missedFrameCount: 2, text: "dry")
    }
    let drainedEvents = queue.drain()
    #expect(drainedEvents.count == SinkEventQueue.maximumEventCount + 1)
    #expect(
      drainedEvents.last
        == SinkEvent(
          .degraded, missedFrameCount: 2 * (1_000 - SinkEventQueue.maximumEventCount),
          text: "984 more interruptions within this time"))
    queue.add(.underrun, text: "dry")
    #expect(queue.drain().count == 1)
  }

  @Test func disconnectionIsKeptAmongExcessiveEvents() {
    var queue = SinkEventQueue()
    for _ in 0..<100 {
      queue.add(.underrun, missedFrameCount: 1, text: "dry")
    }
    queue.add(.disconnected, text: "gone")
    queue.add(.reconnected, text: "back")
    let drainedEvents = queue.drain()
    #expect(drainedEvents.dropLast().suffix(2).map(\.kind) == [.disconnected, .reconnected])
    #expect(drainedEvents.map(\.missedFrameCount).reduce(0, +) == 100)
  }
}

@Suite struct FrameTimeTests {
  @Test(arguments: [8_000.0, 44_100, 48_000, 192_000]) func frameCountsSurviveConversionToTime(
    rate: Double
  ) {
    let time = FrameTime(sampleRateHertz: rate)
    for count in [-960, -1, 0, 1, 2, 7, 441, 65_536, 1_000_003] {
      #expect(time.frameCount(in: time.duration(of: count)) == count)
      #expect(time.frameCount(touching: time.duration(of: count)) == count)
    }
  }

  @Test func fractionsOfFramesAreRounded() {
    let time = FrameTime(sampleRateHertz: 48_000)
    #expect(time.frameCount(in: .microseconds(30)) == 1)
    #expect(time.frameCount(touching: .microseconds(30)) == 2)
    #expect(time.frameCount(in: .microseconds(-30)) == -2)
  }
}

@Suite struct FlushScheduleTests {
  @Test("A file is written to the disk at intervals, and only after it has grown")
  func unchangedFilesAreNotFlushed() {
    var schedule = FlushSchedule()
    let interval = RecordingWriter.flushInterval
    let steps: [(frameCount: Int64, time: Duration)] = [
      (0, .seconds(100)), (1, .seconds(100)), (2, .seconds(100) + interval / 2),
      (2, .seconds(100) + interval), (2, .seconds(1_000)), (3, .seconds(1_000)),
    ]
    let flushes = steps.map { schedule.beginFlushIfDue(of: $0.frameCount, at: $0.time) }
    #expect(flushes == [false, true, false, true, false, true])
  }
}

@Suite struct ExpectedFormatTests {
  private let registry = OutputRegistry(
    [SoundFileBackend(), NullOutput()], defaultScheme: "wav")

  @Test("The format of a file is known without creating the file")
  func filesAreNotCreated() throws {
    let path = "/tmp/temblor-expected-\(UInt64.random(in: 0 ... .max)).wav"
    let request = OutputRequest(rate: 8_000, channels: .exactly(3))
    #expect(try registry.expectedFormat("wav:" + path, request) == request.requestedFormat)
    #expect(!fileExists(path))
    #expect(try registry.expectedFormat("null:", request) == nil)
  }

  @Test("A file that could not be created is refused with the error of opening it")
  func errorsAreThoseOfOpening() {
    var request = OutputRequest()
    #expect(throws: OutputError.self) {
      try registry.expectedFormat("wav:/proc/none/a.wav", request)
    }
    request.encoding = "s12"
    let error = #expect(throws: OutputError.self) {
      try registry.expectedFormat("wav:/tmp/a.wav", request)
    }
    #expect(error?.kind == .unsupportedFormat)
  }

  private func fileExists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
