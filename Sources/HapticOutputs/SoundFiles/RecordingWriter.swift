public import HapticPlayback
public import SoundFile
internal import Synchronization

/// Empties a recording into a sound file on a thread of its own, so that playing never waits for a disk.
///
/// Errors are reported once and do not affect playback.
public final class RecordingWriter: Sendable {
  /// What became of a recording.
  public struct Outcome: Equatable, Sendable {
    /// Frames in the file.
    public var frameCount: Int64
    /// Frames that the writing was too slow for.
    public var droppedFrameCount: Int64
    /// Why writing ended early; the file holds what was written before, where it could be completed.
    public var failure: SoundFileError?

    /// Makes an outcome.
    public init(frameCount: Int64, droppedFrameCount: Int64 = 0, failure: SoundFileError? = nil) {
      self.frameCount = frameCount
      self.droppedFrameCount = droppedFrameCount
      self.failure = failure
    }
  }

  /// Time between two looks at the recording: a small part of what it holds.
  static let interval = Duration.milliseconds(200)
  /// Bytes a WAVE can count, without a mebibyte for headers and tags.
  static let maximumByteCount: Int64 = 0xFFFF_FFFF - 0x10_0000

  private let shared: Shared
  private let thread: BackgroundThread
  private let isGivenUp = Atomic<Bool>(false)

  /// What both threads use; one touches the writer, then the other.
  private final class Shared: @unchecked Sendable {
    let recording: RecordingBuffer
    let path: String
    let wake = WakeSignal.ifPossible()
    let isEnding = Atomic<Bool>(false)
    let mostFrames: Int64
    let isFormatLimit: Bool
    let failureHandler: @Sendable (SoundFileError) -> Void
    var writer: SoundFileWriter
    var samples: [Float]
    var outcome = Outcome(frameCount: 0)

    init(
      _ recording: RecordingBuffer, path: String, mostFrames: Int64, isFormatLimit: Bool,
      writer: consuming SoundFileWriter, failureHandler: @escaping @Sendable (SoundFileError) -> Void
    ) {
      self.recording = recording
      self.path = path
      self.mostFrames = mostFrames
      self.isFormatLimit = isFormatLimit
      self.writer = writer
      self.failureHandler = failureHandler
      samples = Array(repeating: 0, count: 16_384 * recording.channelCount)
    }

    func run() {
      while !isEnding.load(ordering: .acquiring) {
        empty()
        var watched = [PollDescriptor(wake.descriptor)]
        SystemTimeSource().wait(for: &watched, timeout: RecordingWriter.interval)
      }
      empty()
      do { try writer.close() } catch { fail(error) }
    }

    private func empty() {
      while true {
        let count = recording.take(into: &samples)
        if count == 0 { return }
        guard outcome.failure == nil else { continue }
        let frameCount = Int64(count / recording.channelCount)
        let room = mostFrames - outcome.frameCount
        write(min(frameCount, room))
        if frameCount > room {
          fail(
            SoundFileError(
              kind: .tooLong, path: path,
              description: isFormatLimit
                ? "reached the 4 GiB limit of wav; record to .w64 or .flac" : "reached the limit of the recording"))
        }
      }
    }

    private func write(_ frameCount: Int64) {
      guard frameCount > 0 else { return }
      do {
        try writer.write(samples.span.extracting(first: Int(frameCount) * recording.channelCount))
        outcome.frameCount += frameCount
      } catch { fail(error) }
    }

    private func fail(_ error: SoundFileError) {
      guard outcome.failure == nil else { return }
      outcome.failure = error
      failureHandler(error)
    }
  }

  /// Starts a file and the thread that fills it.
  ///
  /// - Parameters:
  ///   - recording: The buffer that the render thread fills.
  ///   - rate: Frames per second.
  ///   - descriptor: An open file that can be sought; it stays open.
  ///   - path: The name the user knows the file by, for errors.
  ///   - format: The container and samples of the file.
  ///   - maximumFrameCount: Frames beyond which nothing is recorded; nil means no limit but the format's.
  ///   - tags: Texts for the header.
  ///   - failureHandler: Called at most once, on the writing thread.
  public init(
    _ recording: RecordingBuffer, rate: Int, to descriptor: Int32, path: String, storedAs format: SoundFileFormat,
    maximumFrameCount: Int64? = nil, tags: SoundFileTags = SoundFileTags(),
    failureHandler: @escaping @Sendable (SoundFileError) -> Void = { _ in }
  ) throws(SoundFileError) {
    let writer = try SoundFileWriter(
      descriptor: descriptor, path: path, format: format, rate: rate, channelCount: recording.channelCount,
      frameCount: 0, tags: tags)
    let frameBytes = Int64(recording.channelCount * format.samples.byteCount)
    let formatLimit = format.container == .wav ? Self.maximumByteCount / frameBytes : .max
    shared = Shared(
      recording, path: path, mostFrames: min(maximumFrameCount ?? .max, formatLimit),
      isFormatLimit: formatLimit < maximumFrameCount ?? .max, writer: writer, failureHandler: failureHandler)
    let shared = shared
    do throws(PlaybackError) { thread = try BackgroundThread { shared.run() } } catch {
      throw SoundFileError(kind: .systemRefused, path: path, description: error.description)
    }
  }

  deinit { if !isGivenUp.load(ordering: .relaxed) { finish() } }

  /// Writes what is left and completes the file; every later call answers the same.
  ///
  /// To be called when nothing is recorded any more.
  ///
  /// - Parameter limit: How long the disk may take; nil means no limit.
  /// - Returns: What became of it; nil where the disk took longer.
  @discardableResult public func finish(within limit: Duration? = nil) -> Outcome? {
    shared.isEnding.store(true, ordering: .releasing)
    shared.wake.raise()
    guard thread.wait(within: limit) else {
      isGivenUp.store(true, ordering: .relaxed)
      return nil
    }
    var outcome = shared.outcome
    outcome.droppedFrameCount = Int64(shared.recording.droppedSampleCount / shared.recording.channelCount)
    return outcome
  }
}
