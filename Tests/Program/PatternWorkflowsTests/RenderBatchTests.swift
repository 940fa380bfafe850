import Glibc
import HapticRender
import PatternWorkflows
import Reading
import SoundFile
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// Folders of patterns, rendered without the command line.
@Suite struct RenderBatchTests {
  private static func pattern(at time: Double) -> String {
    """
    {"Version": 1, "Pattern": [{"Event": {"EventType": "HapticTransient", "Time": \(time),
     "EventParameters": []}}]}
    """
  }

  @Test func aFolderIsRenderedOnAllCores() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("in")
    for index in 0..<12 {
      try folder.write(Self.pattern(at: Double(index) / 10), to: "in/\(index).ahap")
    }
    let (inputs, problems) = PatternInput.find([folder("in")])
    #expect(inputs.count == 12 && problems == [])
    var job = RenderJob()
    job.sampleRateHertz = 8_000
    let batch = RenderBatch(
      job: job,
      items: inputs.map {
        .init(input: $0, destination: .file(path: "\(folder.path)/out/\($0.outputStem).wav"))
      })
    for (item, outcome) in zip(batch.items, batch.run()) {
      guard case .written(let seconds, let statistics, _) = outcome else {
        Issue.record("\(item.name): \(outcome)")
        continue
      }
      #expect(statistics.peakMagnitudeBeforeLimiter > 0.1)
      let descriptor = try FileSystem.openForReading(item.name)
      defer { close(descriptor) }
      let sound = try Sound(readingDescriptor: descriptor, path: item.name)
      // 20 ms of silence follow the sound.
      #expect(Double(sound.frameCount) == seconds * 8_000 + 160)
      let firstLoudFrame = try #require(sound.interleaved.firstIndex { abs($0) > 0.01 })
      let startSeconds = try #require(Double(item.input.outputStem).map { $0 / 10 })
      #expect(abs(Double(firstLoudFrame) / 8_000 - startSeconds) < 0.01)
    }
  }

  @Test func bodyLocationsAreDistributedToEqualChannelCounts() throws {
    let folder = try TemporaryFolder()
    func channel(_ index: Int, at time: Int) -> String {
      """
      {"Parameters": {"Index": \(index)}, "Pattern": [{"Event": {"Type": "continuous", \
      "StartTime": \(time),
       "Duration": 100, "Parameters": {"Intensity": 80, "Frequency": 50}}}]}
      """
    }
    try folder.write(
      """
      {\"MetaData\": {\"Version\": 1.0, \"ChannelNumber\": 2}, \"Channe\
      ls\": [\(channel(1, at: 0)), \
      \(channel(2, at: 300))]}
      """,
      to: "two.oh.json")
    var job = RenderJob()
    job.sampleRateHertz = 8_000
    for count in 1...3 {
      job.channelCount = count
      let path = folder("\(count).wav")
      let batch = RenderBatch(
        job: job,
        items: PatternInput.find([folder("two.oh.json")]).inputs.map {
          .init(input: $0, destination: .file(path: path))
        })
      guard case .written(_, _, let warnings)? = batch.run().first else {
        throw FileError(path, "was not written")
      }
      #expect(
        warnings.map(\.message)
          == (count == 2
            ? [] : ["2 body locations (left, right) are mixed unless there are 2 haptic channels"]))
      let descriptor = try FileSystem.openForReading(path)
      defer { close(descriptor) }
      let sound = try Sound(readingDescriptor: descriptor, path: path)
      let peaks = (0..<count).map { channel in
        [0, 300].map { start in
          (start * 8..<(start + 100) * 8).map { abs(sound.interleaved[$0 * count + channel]) }.max()
            ?? 0 > 0.1
        }
      }
      #expect(
        peaks
          == (count == 2
            ? [[true, false], [false, true]] : Array(repeating: [true, true], count: count)))
    }
  }

  @Test func failureStopsNoOtherPattern() throws {
    let folder = try TemporaryFolder()
    try folder.write("{", to: "a.ahap")
    try folder.write(Self.pattern(at: 0), to: "b.ahap")
    let batch = RenderBatch(
      job: RenderJob(),
      items: PatternInput.find([folder.path]).inputs.map {
        .init(input: $0, destination: .file(path: "\(folder.path)/\($0.outputStem).wav"))
      })
    let outcomes = batch.run()
    guard case .failed(let error) = outcomes[0], case .written = outcomes[1] else {
      Issue.record("\(outcomes)")
      return
    }
    #expect("\(error)".contains("a.ahap:"))
    #expect(FileSystem.entryKind(at: folder("a.wav")) == .missing)
  }

  @Test func canceledBatchWritesNoFiles() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.pattern(at: 0), to: "a.ahap")
    let cancellationCheckCount = Atomic(0)
    var job = RenderJob()
    job.durationSeconds = 600
    // `isCancelled` is called once before the pattern is read, and then between blocks.
    job.isCancelled = { cancellationCheckCount.add(1, ordering: .relaxed).newValue > 3 }
    let batch = RenderBatch(
      job: job,
      items: PatternInput.find([folder.path]).inputs.map {
        .init(input: $0, destination: .file(path: "\(folder.path)/out/a.wav"))
      })
    guard case .failed(let error) = batch.run()[0] else {
      Issue.record("The batch was not canceled.")
      return
    }
    #expect("\(error)" == "\(folder.path)/out/a.wav: interrupted; nothing was written")
    #expect(FileSystem.entryKind(at: folder("out/a.wav")) == .missing)
  }

  @Test func streamReceivesTheCompleteFile() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.pattern(at: 0), to: "a.ahap")
    let input = try #require(PatternInput.find([folder("a.ahap")]).inputs.first)
    let received = Received()
    let batch = RenderBatch(
      job: RenderJob(),
      items: [
        .init(input: input, destination: .file(path: folder("a.wav"))),
        .init(input: input, destination: .stream(name: "test") { bytes in received.append(bytes) }),
      ])
    _ = batch.run()
    let bytes = try FileSystem.read(folder("a.wav"))
    #expect(bytes.count > 44)
    #expect(received.bytes == bytes)
  }

  /// The bytes that a stream received.
  private final class Received: Sendable {
    private let storedBytes = Mutex<[UInt8]>([])
    var bytes: [UInt8] { storedBytes.withLock { $0 } }

    func append(_ bytes: Span<UInt8>) {
      storedBytes.withLock { storedBytes in
        for index in bytes.indices {
          storedBytes.append(bytes[index])
        }
      }
    }
  }
}
