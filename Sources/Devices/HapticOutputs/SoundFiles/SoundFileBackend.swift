internal import Glibc
public import HapticPlayback
public import SoundFile
internal import Synchronization

/// The output backend that writes WAVE files in real time.
public final class SoundFileBackend: OutputBackend {
  private static let defaultFormat = SampleFormat.s16

  private let openFileCountsByPath = Mutex<[String: Int]>([:])

  /// Creates the backend.
  public init() {}

  /// The scheme of sound file outputs: `wav`.
  public static let scheme = "wav"
  /// The scheme of sound file outputs: `wav`.
  public var scheme: String { Self.scheme }
  /// The placeholder for the path in names of outputs: `FILE`.
  public var addressPlaceholder: String? { "FILE" }

  /// Returns a single listing that shows the form of output names, because the files do not exist
  /// before they are written.
  public func outputs(probing: Bool) -> [OutputListing] {
    [OutputListing(name: "wav:FILE", description: "Writes a WAVE file in real time")]
  }

  /// Creates a file, by default with 16 bits, and replaces an existing file.
  ///
  /// A path that was opened before gets a number before its extension, so that no file of a run
  /// replaces another.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  {
    let fileSampleFormat = try sampleFormat(of: request, name)
    let filePath = numberedPath(name)
    do throws(SoundFileError) {
      return OpenedOutput(
        sink: try SoundFileSink(
          request.requestedFormat, path: filePath,
          storedAs: SoundFileFormat(container: .wav, sampleFormat: fileSampleFormat),
          time: time),
        name: filePath, encoding: fileSampleFormat.rawValue)
    } catch {
      throw OutputError(
        error.kind == .unsupportedFormat ? .unsupportedFormat : .cannotWrite, output: filePath,
        error.description)
    }
  }

  /// Returns the requested format if a file can be created in this format.
  public func expectedFormat(
    _ name: String, _ request: OutputRequest
  ) throws(OutputError) -> SinkFormat? {
    let sinkFormat = request.requestedFormat
    let fileFormat = SoundFileFormat(
      container: .wav, sampleFormat: try sampleFormat(of: request, name))
    if let unsupportedReason = fileFormat.unsupportedReason(
      rate: Int(sinkFormat.rate), channelCount: sinkFormat.channelCount)
    {
      throw OutputError(.unsupportedFormat, output: name, unsupportedReason)
    }
    let folderPath = name.lastIndex(of: "/").map { String(name[...$0]) } ?? "."
    guard unsafe access(folderPath, W_OK) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw OutputError(.cannotWrite, output: name, "\(folderPath) is not writable: \(reason)")
    }
    return sinkFormat
  }

  private func sampleFormat(
    of request: OutputRequest, _ name: String
  ) throws(OutputError) -> SampleFormat {
    guard let encoding = request.encoding else { return Self.defaultFormat }
    if let sampleFormat = SampleFormat(rawValue: encoding) { return sampleFormat }
    throw OutputError(
      .unsupportedFormat, output: name,
      "WAV does not support \(encoding) samples; use "
        + SampleFormat.allCases.map(\.rawValue).joined(separator: ", "))
  }

  private func numberedPath(_ path: String) -> String {
    let openCount = openFileCountsByPath.withLock { counts in
      counts[path, default: 0] += 1
      return counts[path, default: 0]
    }
    guard openCount > 1 else { return path }
    let fileName = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let extensionDot = fileName.lastIndex(of: "."), extensionDot > fileName.startIndex else {
      return "\(path)-\(openCount)"
    }
    return "\(path[..<extensionDot])-\(openCount)\(path[extensionDot...])"
  }
}

extension OutputRegistry {
  /// The registry that contains ALSA devices, PipeWire sinks, WAVE files, and the null output.
  /// Names without a scheme belong to ALSA.
  public static let standard = OutputRegistry(
    [ALSABackend(), PipeWireBackend(), SoundFileBackend(), NullOutput()], defaultScheme: "alsa")
}

/// A sink that writes every frame to a sound file, at the pace of a clock.
///
/// With the machine's clock, the file grows in real time; with virtual time, it is written as fast
/// as possible. An error is reported as an event and ends the sink.
public final class SoundFileSink: AudioSink {
  /// The format that the sink granted.
  public let format: SinkFormat
  private let path: String
  private var pacer: SinkPacer
  private var writer: SoundFileWriter?
  private var events: [SinkEvent] = []

  /// Creates a file at a path, and replaces an existing file. Close the file with
  /// `finish(draining:)`.
  public init(
    _ format: SinkFormat, path: String, storedAs fileFormat: SoundFileFormat,
    time: any TimeSource = SystemTimeSource()
  ) throws(SoundFileError) {
    writer = try SoundFileWriter(
      path: path, format: fileFormat, rate: Int(format.rate), channelCount: format.channelCount)
    self.format = format
    self.path = path
    pacer = SinkPacer(format, time: time, dropsLateFrames: false)
  }

  /// The number of written frames that the clock has not reached yet.
  public var delayFrames: Int { pacer.delayFrameCount }

  /// Waits for the clock. The file has no playback clock, so no frame is ever missed.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    guard writer != nil else { return .ended }
    return pacer.wait(wake)
  }

  /// Writes frames to the file, and counts them for pacing.
  public func write(_ frames: Span<Float>) {
    writeToFile(frames)
    pacer.recordWritten(frames.count / format.channelCount)
  }

  /// Completes the file.
  public func finish(draining: Bool) {
    do {
      try writer?.close()
    } catch {
      recordFailure(error)
    }
    writer = nil
  }

  /// Removes and returns the write errors that have occurred, as events.
  public func drainEvents() -> [SinkEvent] { exchange(&events, with: []) }

  private func writeToFile(_ frames: Span<Float>) {
    do {
      try writer?.write(frames)
    } catch {
      recordFailure(error)
      writer = nil
    }
  }

  private func recordFailure(_ error: SoundFileError) {
    events.append(SinkEvent(.failed, text: "\(path): \(error.description)"))
  }
}

/// Writes a recording to a sound file on a separate thread, so that playback never waits for the
/// disk.
///
/// Errors are reported once and do not affect playback.
public final class RecordingWriter: Sendable {
  /// The result of a completed recording.
  public struct Outcome: Equatable, Sendable {
    /// The number of frames in the recorded file.
    public var frameCount: Int64
    /// The number of frames that were dropped because the disk was too slow.
    public var droppedFrameCount: Int64
    /// The error that ended or first interrupted the recording; files contain the frames that were
    /// written before, if they could be completed.
    public var failure: SoundFileError?

    /// Creates an outcome.
    public init(frameCount: Int64, droppedFrameCount: Int64 = 0, failure: SoundFileError? = nil) {
      self.frameCount = frameCount
      self.droppedFrameCount = droppedFrameCount
      self.failure = failure
    }
  }

  /// A closure that opens the next file of a divided recording when it is due, and that is also
  /// called before each write to throw an error if the file must not grow.
  ///
  /// Returns the descriptor of the file. After an error, frames are not written until the next file
  /// is due. It is called on the writing thread.
  public typealias FileRotation = @Sendable (_ isDue: Bool) throws(SoundFileError) -> Int32

  /// The interval between two reads from the recording buffer, which is a small fraction of the
  /// buffer's capacity.
  static let pollInterval = Duration.milliseconds(200)
  /// The interval between updates of the header. Each update is also written to the disk. Together
  /// with the interval between reads, it is less than a second, which is the maximum that a killed
  /// process or a power failure loses.
  static let flushInterval = Duration.milliseconds(700)
  /// The maximum size of the samples in a WAVE file, in bytes: 4 GiB minus a mebibyte for headers
  /// and tags.
  static let maximumByteCount: Int64 = 0xFFFF_FFFF - 0x10_0000

  private let shared: SharedState
  private let thread: BackgroundThread
  private let hasFinishTimedOut = Atomic<Bool>(false)

  /// The state that both threads use. Only one thread at a time uses the writer.
  private final class SharedState: @unchecked Sendable {
    let recordingBuffer: RecordingBuffer
    let wakeSignal = WakeSignal.makeOrInert()
    let isFinishing = Atomic<Bool>(false)
    /// The maximum number of frames in a file, and the error to report if no other file follows.
    let fileLengthLimit: (frameCount: Int64, error: SoundFileError)
    let openWriter: @Sendable (Int32) throws(SoundFileError) -> SoundFileWriter
    let rotateFile: FileRotation?
    let failureHandler: @Sendable (SoundFileError) -> Void
    var writer: SoundFileWriter
    var samples: [Float]
    var outcome = Outcome(frameCount: 0)
    /// The number of frames recorded since the current file was due, whether they were written or
    /// not.
    var fileFrameCount: Int64 = 0
    var isStopped = false
    private let synchronizer = FileSynchronizer()
    private var descriptor: Int32
    private var flushSchedule = FlushSchedule()
    /// The error that stopped the current file, or, before its first frame, the error that stopped
    /// the previous file.
    var failure: SoundFileError?

    init(
      _ recording: RecordingBuffer, _ descriptor: Int32,
      limit: (frameCount: Int64, error: SoundFileError),
      openWriter: @escaping @Sendable (Int32) throws(SoundFileError) -> SoundFileWriter,
      rotateFile: FileRotation?,
      failureHandler: @escaping @Sendable (SoundFileError) -> Void
    ) throws(SoundFileError) {
      self.recordingBuffer = recording
      self.fileLengthLimit = limit
      self.openWriter = openWriter
      self.rotateFile = rotateFile
      self.failureHandler = failureHandler
      self.descriptor = descriptor
      writer = try openWriter(descriptor)
      try writer.updateHeader()
      samples = Array(repeating: 0, count: 16_384 * recording.channelCount)
    }

    func run() {
      while !isFinishing.load(ordering: .acquiring) {
        drainRecording()
        flushIfDue()
        var watched = [PollDescriptor(wakeSignal.descriptor)]
        SystemTimeSource().wait(for: &watched, timeout: RecordingWriter.pollInterval)
      }
      drainRecording()
      do {
        try writer.close()
      } catch {
        recordFailure(error)
      }
    }

    /// When a flush is due, updates the file's header for the frames written so far, and starts to
    /// write the file to the disk.
    private func flushIfDue() {
      guard !isStopped,
        flushSchedule.beginFlushIfDue(of: fileFrameCount, at: SystemTimeSource().now)
      else { return }
      do {
        try writer.updateHeader()
      } catch {
        return recordFailure(error)
      }
      synchronizer.synchronize(descriptor)
    }

    private func drainRecording() {
      while true {
        let count = recordingBuffer.drain(into: &samples) / recordingBuffer.channelCount
        if count == 0 { return }
        var start = 0
        while start < count, fileFrameCount < fileLengthLimit.frameCount || beginNextFile() {
          let end = min(count, start + Int(fileLengthLimit.frameCount - fileFrameCount))
          write(start..<end)
          fileFrameCount += Int64(end - start)
          start = end
        }
      }
    }

    /// Begins the next file of the recording. Returns false if no other file follows.
    private func beginNextFile() -> Bool {
      guard let rotateFile else {
        recordFailure(fileLengthLimit.error)
        return false
      }
      do {
        try writer.close()
      } catch {
        recordFailure(error)
      }
      isStopped = false
      do {
        descriptor = try rotateFile(true)
        writer = try openWriter(descriptor)
        try writer.updateHeader()
      } catch {
        recordFailure(error)
      }
      fileFrameCount = 0
      flushSchedule = FlushSchedule()
      return true
    }

    private func write(_ frames: Range<Int>) {
      guard !isStopped else { return }
      let count = recordingBuffer.channelCount
      do {
        _ = try rotateFile?(false)
        try writer.write(
          samples.span.extracting(frames.lowerBound * count..<frames.upperBound * count))
        outcome.frameCount += Int64(frames.count)
        failure = nil
      } catch {
        recordFailure(error)
      }
    }

    private func recordFailure(_ error: SoundFileError) {
      guard !isStopped else { return }
      isStopped = true
      outcome.failure = outcome.failure ?? error
      // A full disk over several files is one failure.
      if failure?.description != error.description {
        failureHandler(error)
      }
      failure = error
    }
  }

  /// Creates a file and the thread that writes it.
  ///
  /// - Parameters:
  ///   - recording: The frames to write.
  ///   - rate: The sample rate in hertz.
  ///   - descriptor: An open, seekable file, which stays open.
  ///   - path: The name of the file in messages.
  ///   - format: The format of the file.
  ///   - maximumFrameCount: The number of frames after which recording ends or the next file
  ///     begins; nil for no limit except the format's.
  ///   - tags: The tags of the file.
  ///   - failureHandler: A closure that is called on the writing thread when writing stops, at most
  ///     once for each file.
  ///   - rotateFile: A closure that opens the next file; nil for a single file. No frame is lost
  ///     between two files.
  public init(
    _ recording: RecordingBuffer, rate: Int, to descriptor: Int32, path: String,
    storedAs format: SoundFileFormat,
    maximumFrameCount: Int64? = nil, tags: SoundFileTags = SoundFileTags(),
    failureHandler: @escaping @Sendable (SoundFileError) -> Void = { _ in },
    rotateFile: FileRotation? = nil
  ) throws(SoundFileError) {
    let channelCount = recording.channelCount
    let frameByteCount = Int64(channelCount * format.sampleFormat.byteCount)
    let formatFrameLimit = format.container == .wav ? Self.maximumByteCount / frameByteCount : .max
    let sizeLimitText =
      formatFrameLimit < maximumFrameCount ?? .max
      ? "reached the 4 GiB limit of WAV; record to .w64 or .flac"
      : "reached the limit of the recording"
    shared = try SharedState(
      recording, descriptor,
      limit: (
        min(maximumFrameCount ?? .max, formatFrameLimit),
        SoundFileError(kind: .tooLong, path: path, description: sizeLimitText)
      ),
      openWriter: { descriptor throws(SoundFileError) in
        try SoundFileWriter(
          descriptor: descriptor, path: path, format: format, rate: rate,
          channelCount: channelCount, frameCount: 0,
          tags: tags)
      }, rotateFile: rotateFile, failureHandler: failureHandler)
    let sharedState = shared
    do throws(PlaybackError) {
      thread = try BackgroundThread { sharedState.run() }
    } catch {
      throw SoundFileError(kind: .systemRefused, path: path, description: error.description)
    }
  }

  deinit {
    if !hasFinishTimedOut.load(ordering: .relaxed) {
      finish()
    }
  }

  /// Writes the remaining frames and completes the file, after recording has ended. Later calls
  /// return the same result.
  ///
  /// - Parameter limit: The timeout for the disk; nil to wait indefinitely.
  /// - Returns: The result; nil if the disk took longer.
  @discardableResult public func finish(within limit: Duration? = nil) -> Outcome? {
    shared.isFinishing.store(true, ordering: .releasing)
    shared.wakeSignal.raise()
    guard thread.wait(within: limit) else {
      hasFinishTimedOut.store(true, ordering: .relaxed)
      return nil
    }
    var reportedOutcome = shared.outcome
    reportedOutcome.droppedFrameCount = Int64(
      shared.recordingBuffer.droppedSampleCount / shared.recordingBuffer.channelCount)
    return reportedOutcome
  }
}

/// A schedule for updating the header of a growing file and writing the file to the disk: at
/// regular intervals, but only if it has grown.
struct FlushSchedule {
  private var lastFlushTime = Duration.zero
  private var flushedFrameCount: Int64 = 0

  /// Returns whether the file must be written to the disk now, and if so, records the flush.
  mutating func beginFlushIfDue(of frameCount: Int64, at now: Duration) -> Bool {
    guard frameCount != flushedFrameCount,
      now - lastFlushTime >= RecordingWriter.flushInterval
    else { return false }
    lastFlushTime = now
    flushedFrameCount = frameCount
    return true
  }
}

/// Writes files to the disk on a separate thread, because a slow disk may take seconds.
private final class FileSynchronizer: Sendable {
  private let isBusy = Atomic<Bool>(false)

  /// Starts to write a file to the disk, unless the previous request has not ended.
  func synchronize(_ descriptor: Int32) {
    guard !isBusy.exchange(true, ordering: .acquiring) else { return }
    // The file may be closed in the meantime.
    let duplicateDescriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard duplicateDescriptor >= 0 else { return isBusy.store(false, ordering: .releasing) }
    let syncThread = try? BackgroundThread { [self] in
      fdatasync(duplicateDescriptor)
      close(duplicateDescriptor)
      isBusy.store(false, ordering: .releasing)
    }
    guard syncThread == nil else { return }
    close(duplicateDescriptor)
    isBusy.store(false, ordering: .releasing)
  }
}
