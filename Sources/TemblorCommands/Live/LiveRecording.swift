internal import Glibc
import HapticOutputs
import HapticPlayback
import HapticRender
import Reading
import PatternWorkflows
import SoundFile
import SystemSupport

/// A sound file that what is heard is written to, which takes its name when it is complete.
final class LiveRecording {
  struct Result: Equatable, Sendable {
    var path: String
    var isComplete: Bool
    /// Frames in the file.
    var frameCount: Int64
    /// Frames that the disk was too slow for.
    var droppedFrameCount: Int64

    var fields: JSONFields {
      ["file": path, "complete": isComplete, "frames": frameCount, "droppedFrames": droppedFrameCount]
    }
  }

  /// 24 bits: finer than any converter, and held by every kind of file.
  private static let samples = SampleFormat.s24

  let recording: RecordingBuffer
  private let path: String
  private let rate: Double
  private let writer: RecordingWriter
  /// What the writer writes to: its own, so that a disk that hangs never writes to a descriptor that became
  /// another file's.
  private let descriptor: Int32
  private var file: AtomicFileWriter

  /// Starts the file.
  ///
  /// - Parameter seconds: How long it may become; nil means no limit.
  /// - Parameter failureHandler: Told when no more can be recorded, on another thread.
  init(
    to path: String, device: DeviceSummary, upTo seconds: Double? = nil,
    failureHandler: @escaping @Sendable (SinkEvent) -> Void
  ) throws {
    self.path = path
    rate = device.format.rate
    recording = RecordingBuffer(device.format)
    let file = try AtomicFileWriter(path)
    descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    writer = try RecordingWriter(
      recording, rate: Int(device.format.rate), to: descriptor, path: path,
      storedAs: SoundFileFormat(container: SoundFileFormat.container(ofName: path) ?? .wav, samples: Self.samples),
      maximumFrameCount: seconds.map { Int64($0 * device.format.rate) },
      tags: SoundFileTags(
        title: FileSystem.stem(of: path), software: "Temblor \(temblorVersion)",
        comment: "recorded, rendering model \(RenderPlan.modelVersion)")
    ) { error in failureHandler(SinkEvent(.degraded, text: "\(path): \(error.description); recording stopped")) }
    self.file = file
  }

  /// Why a name can be no recording, or nothing.
  static func unsupportedReason(to path: String) -> String? {
    guard SoundFileFormat.container(ofName: path) == nil else { return nil }
    return "unknown file extension of \(path.inQuotes); use .wav, .flac, .aiff, .w64, .rf64, .caf or .ogg"
  }

  /// Completes the file, when nothing plays any more; answers also what the user must know.
  ///
  /// - Parameter limit: How long the disk may take.
  func finish(within limit: Duration) -> (result: Result, message: String?) {
    guard let outcome = writer.finish(within: limit) else {
      return (
        Result(path: path, isComplete: false, frameCount: 0, droppedFrameCount: 0),
        "\(path.printable): nothing was written; the disk does not respond"
      )
    }
    close(descriptor)
    var result = Result(
      path: path, isComplete: false, frameCount: outcome.frameCount, droppedFrameCount: outcome.droppedFrameCount)
    // A file that came to its own limit is whole.
    if let failure = outcome.failure, failure.kind != .tooLong {
      return (result, "\(path.printable): nothing was written, since \(failure.description)")
    }
    do { try file.commit() } catch { return (result, error.description) }
    result.isComplete = true
    guard outcome.droppedFrameCount > 0 else { return (result, nil) }
    let seconds = NumberFormatting.rounded(Double(outcome.droppedFrameCount) / rate, places: 3)
    return (result, "\(path.printable): \(seconds) s of audio lost; the disk was too slow")
  }
}
