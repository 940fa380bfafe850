import Glibc
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import SoundFile
import SystemSupport
import Synchronization
import TestSupport
import Testing

@Suite struct SoundFileOutputTests {
  private let hum = HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 0.05,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
  ])
  private let format = SinkFormat(rate: 48_000, channelCount: 2, periodSize: 240, bufferSize: 480)
  private let floatFormat = SoundFileFormat(container: .wav, sampleFormat: .float)

  /// Plays the pattern through a sink for 0.1 s.
  private func play(
    into sink: any AudioSink, time: VirtualTimeSource, recording: RecordingBuffer? = nil
  ) throws {
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let loop = RenderLoop(engine: engine, sink: sink, time: time)
    loop.recordingBuffer = recording
    let player = try engine.player(for: hum)
    try player.start(at: .seconds(0.01))
    while engine.position < 4_800, loop.runIteration() {}
    loop.stop()
    while loop.runIteration() {}
  }

  @Test func fileContainsTheSamplesOfAMemorySink() throws {
    let time = VirtualTimeSource()
    let memorySink = MemorySink(format, time: time)
    try play(into: memorySink, time: time)
    let file = try UnnamedFile()
    let fileTime = VirtualTimeSource()
    let sink = try SoundFileSink(format, path: file.path, storedAs: floatFormat, time: fileTime)
    try play(into: sink, time: fileTime)
    let sound = try Sound(contentsOf: file.path)
    #expect(sound.rate == 48_000)
    #expect(sound.channelCount == 2)
    #expect(memorySink.samples.contains { abs($0) > 0.3 })
    #expect(sound.interleaved == memorySink.samples)
    #expect(sink.drainEvents() == [])
    #expect(try sink.wait(WakeSignal()) == .ended)
  }

  /// Time in a file is that of its frames, even if they are late.
  @Test func lateFramesAreNotMissedInAFile() throws {
    let time = VirtualTimeSource()
    let file = try UnnamedFile()
    let sink = try SoundFileSink(format, path: file.path, storedAs: floatFormat, time: time)
    let wake = try WakeSignal()
    #expect(sink.wait(wake) == .ready(frameCount: 480))
    sink.write([Float](repeating: 0.5, count: 960).span)
    time.advance(by: .milliseconds(20))
    #expect(sink.wait(wake) == .ready(frameCount: 480))
    sink.write([Float](repeating: 0.25, count: 960).span)
    sink.finish(draining: true)
    #expect(sink.drainEvents() == [])
    let firstBlock = [Float](repeating: 0.5, count: 960)
    #expect(
      try Sound(contentsOf: file.path).interleaved == firstBlock
        + [Float](repeating: 0.25, count: 960))
  }

  /// Outputs without a device count missed frames, like a device.
  @Test func lateFramesOfOtherOutputsAreCounted() throws {
    let time = VirtualTimeSource()
    let sinks: [any AudioSink] = [
      NullSink(format, time: time), MemorySink(format, time: time),
    ]
    let wake = try WakeSignal()
    for sink in sinks {
      #expect(sink.wait(wake) == .ready(frameCount: 480))
      sink.write([Float](repeating: 0.5, count: 960).span)
      time.advance(by: .milliseconds(20))
      #expect(sink.wait(wake) == .missed(frameCount: 480))
      #expect(
        sink.drainEvents() == [
          SinkEvent(
            .underrun, cause: .lateDelivery, missedFrameCount: 480, text: "buffer underrun")
        ])
    }
  }

  @Test func fullDiskEndsTheSinkWithAnEvent() throws {
    let file = try UnnamedFile()
    let sink = try SoundFileSink(
      format, path: file.path, storedAs: floatFormat, time: VirtualTimeSource())
    file.fill()
    let wake = try WakeSignal()
    _ = sink.wait(wake)
    sink.write([Float](repeating: 0.5, count: 960).span)
    #expect(
      sink.drainEvents() == [
        SinkEvent(
          .failed, text: "\(file.path): the disk is full; free some space or choose another folder")
      ])
    #expect(sink.wait(wake) == .ended)
  }

  @Test func recordingContainsAllPlayedFrames() throws {
    let time = VirtualTimeSource()
    let memorySink = MemorySink(format, time: time)
    let recording = RecordingBuffer(format)
    let file = try UnnamedFile()
    let writer = try RecordingWriter(
      recording, rate: 48_000, to: file.descriptor, path: "a.wav", storedAs: floatFormat)
    try play(into: memorySink, time: time, recording: recording)
    let outcome = try #require(writer.finish())
    #expect(outcome == .init(frameCount: Int64(memorySink.samples.count / 2)))
    #expect(try Sound(contentsOf: file.path).interleaved == memorySink.samples)
    #expect(writer.finish() == outcome)
  }

  @Test func fullDiskIsReportedOnceAndPlaybackContinues() throws {
    let file = try UnnamedFile()
    let time = VirtualTimeSource()
    let memorySink = MemorySink(format, time: time)
    let recording = RecordingBuffer(format)
    let reportedErrors = Mutex<[SoundFileError]>([])
    let writer = try RecordingWriter(
      recording, rate: 48_000, to: file.descriptor, path: "a.wav", storedAs: floatFormat
    ) {
      error in reportedErrors.withLock { $0.append(error) }
    }
    file.fill()
    try play(into: memorySink, time: time, recording: recording)
    let outcome = try #require(writer.finish())
    #expect(memorySink.isFinished)
    #expect(outcome.frameCount == 0)
    #expect(reportedErrors.withLock { $0.map(\.kind) } == [.diskFull])
    #expect(reportedErrors.withLock { $0 } == [outcome.failure])
  }
}

extension UnnamedFile {
  /// Makes all further writes fail as on a full disk, through every descriptor of the file.
  func fill() {
    let fullDevice = unsafe open("/dev/full", O_RDWR | O_CLOEXEC)
    var ownStatus = stat()
    _ = unsafe fstat(descriptor, &ownStatus)
    let descriptorNames = (try? FileSystem.visibleNames(in: "/proc/self/fd")) ?? []
    for otherDescriptor in descriptorNames.compactMap({ Int32($0) }) {
      var status = stat()
      guard unsafe fstat(otherDescriptor, &status) == 0, status.st_dev == ownStatus.st_dev,
        status.st_ino == ownStatus.st_ino
      else { continue }
      dup2(fullDevice, otherDescriptor)
    }
    close(fullDevice)
  }
}
