public import HapticPlayback
public import SoundFile
internal import Synchronization

/// WAVE files that grow as the sound would be heard.
public final class SoundFileBackend: OutputBackend {
  private static let defaultFormat = SampleFormat.s16

  private let openCounts = Mutex<[String: Int]>([:])

  /// Makes the backend.
  public init() {}

  /// `wav`.
  public static let scheme = "wav"
  /// `wav`.
  public var scheme: String { Self.scheme }
  /// The file.
  public var parameter: String? { "FILE" }

  /// The form of the names, since files have none before they are written.
  public func outputs(probing: Bool) -> [OutputListing] {
    [OutputListing(name: "wav:FILE", description: "Writes a WAVE file in real time")]
  }

  /// Starts a file, by default of 16 bits; one that is there is replaced.
  ///
  /// A path that was opened before gets a number before its extension: no file of a run replaces
  /// another.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  {
    let samples = try request.encoding.map { word throws(OutputError) in
      if let format = SampleFormat(rawValue: word) { return format }
      throw OutputError(
        .unsupportedFormat, output: name,
        "wav does not hold \(word) samples; use "
          + SampleFormat.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let path = numberedPath(name)
    let format = samples ?? Self.defaultFormat
    do throws(SoundFileError) {
      return OpenedOutput(
        sink: try SoundFileSink(
          request.requestedFormat, path: path,
          storedAs: SoundFileFormat(container: .wav, sampleFormat: format),
          time: time),
        name: path, encoding: format.rawValue)
    } catch {
      throw OutputError(
        error.kind == .unsupportedFormat ? .unsupportedFormat : .cannotWrite, output: path,
        error.description)
    }
  }

  private func numberedPath(_ path: String) -> String {
    let count = openCounts.withLock { counts in
      counts[path, default: 0] += 1
      return counts[path, default: 0]
    }
    guard count > 1 else { return path }
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return "\(path)-\(count)"
    }
    return "\(path[..<dot])-\(count)\(path[dot...])"
  }
}

extension OutputRegistry {
  /// ALSA's devices, WAVE files and nothing; names without a scheme are ALSA's.
  public static let standard = OutputRegistry(
    [ALSABackend(), SoundFileBackend(), NullOutput()], defaultScheme: "alsa")
}

/// Writes every frame into a sound file, at the pace of a clock.
///
/// With the machine's clock the file grows as the sound would be heard; with virtual time it is
/// written as fast as it can be. What goes wrong is an event, after which the sink has ended.
public final class SoundFileSink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  private let path: String
  private var pacer: SinkPacer
  private var writer: SoundFileWriter?
  private var events: [SinkEvent] = []
  private let silence: [Float]

  /// Starts a file at a path, replacing one that is there; `finish(draining:)` closes it.
  public init(
    _ format: SinkFormat, path: String, storedAs fileFormat: SoundFileFormat,
    time: any TimeSource = SystemTimeSource()
  ) throws(SoundFileError) {
    writer = try SoundFileWriter(
      path: path, format: fileFormat, rate: Int(format.rate), channelCount: format.channelCount)
    self.format = format
    self.path = path
    pacer = SinkPacer(format, time: time)
    silence = Array(repeating: 0, count: format.periodSize * format.channelCount)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pacer.delay }

  /// Waits for the clock; frames that were missed are silence in the file.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    guard writer != nil else { return .ended }
    let readiness = pacer.wait(wake)
    if case .missed(let frameCount) = readiness {
      let silence = silence
      var left = frameCount
      while left > 0 {
        let count = min(left, format.periodSize)
        writeToFile(silence.span.extracting(first: count * format.channelCount))
        left -= count
      }
    }
    return readiness
  }

  /// Writes frames.
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

  /// Takes what went wrong.
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

/// Empties a recording into a sound file on a thread of its own, so that playing never waits for a
/// disk.
///
/// Errors are reported once and do not affect playback.
public final class RecordingWriter: Sendable {
  /// What became of a recording.
  public struct Outcome: Equatable, Sendable {
    /// Frames in the file.
    public var frameCount: Int64
    /// Frames that the writing was too slow for.
    public var droppedFrameCount: Int64
    /// Why writing ended early, or was first interrupted; files hold what was written, where they
    /// could be completed.
    public var failure: SoundFileError?

    /// Makes an outcome.
    public init(frameCount: Int64, droppedFrameCount: Int64 = 0, failure: SoundFileError? = nil) {
      self.frameCount = frameCount
      self.droppedFrameCount = droppedFrameCount
      self.failure = failure
    }
  }

  /// Where the next file is due, takes the one before, which is complete, and opens the next;
  /// before each write only throws where the file must not grow.
  ///
  /// Returns the descriptor of the file. After an error nothing is written until the next is due.
  /// Called on the writing thread.
  public typealias FileRotation = @Sendable (_ isDue: Bool) throws(SoundFileError) -> Int32

  /// Time between two looks at the recording: a small part of what it holds.
  static let pollInterval = Duration.milliseconds(200)
  /// Bytes a WAVE can count, without a mebibyte for headers and tags.
  static let maximumByteCount: Int64 = 0xFFFF_FFFF - 0x10_0000

  private let shared: Shared
  private let thread: BackgroundThread
  private let hasGivenUp = Atomic<Bool>(false)

  /// What both threads use; one touches the writer, then the other.
  private final class Shared: @unchecked Sendable {
    let recording: RecordingBuffer
    let wake = WakeSignal.makeOrInert()
    let isFinishing = Atomic<Bool>(false)
    /// Frames of a file, and what is reported where there is no other.
    let limit: (frameCount: Int64, error: SoundFileError)
    let openWriter: @Sendable (Int32) throws(SoundFileError) -> SoundFileWriter
    let rotateFile: FileRotation?
    let failureHandler: @Sendable (SoundFileError) -> Void
    var writer: SoundFileWriter
    var samples: [Float]
    var outcome = Outcome(frameCount: 0)
    /// Frames since the file was due, written or not.
    var framesInFile: Int64 = 0
    var isStopped = false
    /// Why it is, or was before the first frame of this file.
    var failure: SoundFileError?

    init(
      _ recording: RecordingBuffer, _ descriptor: Int32,
      limit: (frameCount: Int64, error: SoundFileError),
      openWriter open: @escaping @Sendable (Int32) throws(SoundFileError) -> SoundFileWriter,
      rotateFile change: FileRotation?,
      failureHandler: @escaping @Sendable (SoundFileError) -> Void
    ) throws(SoundFileError) {
      self.recording = recording
      self.limit = limit
      self.openWriter = open
      self.rotateFile = change
      self.failureHandler = failureHandler
      writer = try open(descriptor)
      samples = Array(repeating: 0, count: 16_384 * recording.channelCount)
    }

    func run() {
      while !isFinishing.load(ordering: .acquiring) {
        drainRecording()
        var watched = [PollDescriptor(wake.descriptor)]
        SystemTimeSource().wait(for: &watched, timeout: RecordingWriter.pollInterval)
      }
      drainRecording()
      do {
        try writer.close()
      } catch {
        fail(error)
      }
    }

    private func drainRecording() {
      while true {
        let count = recording.drain(into: &samples) / recording.channelCount
        if count == 0 { return }
        var done = 0
        while done < count, framesInFile < limit.frameCount || beginNextFile() {
          let next = min(count, done + Int(limit.frameCount - framesInFile))
          write(done..<next)
          framesInFile += Int64(next - done)
          done = next
        }
      }
    }

    /// Begins the next file; returns false where there is none.
    private func beginNextFile() -> Bool {
      guard let rotateFile else {
        fail(limit.error)
        return false
      }
      do {
        try writer.close()
      } catch {
        fail(error)
      }
      isStopped = false
      do {
        writer = try openWriter(try rotateFile(true))
      } catch {
        fail(error)
      }
      framesInFile = 0
      return true
    }

    private func write(_ frames: Range<Int>) {
      guard !isStopped else { return }
      let count = recording.channelCount
      do {
        _ = try rotateFile?(false)
        try writer.write(
          samples.span.extracting(frames.lowerBound * count..<frames.upperBound * count))
        outcome.frameCount += Int64(frames.count)
        failure = nil
      } catch {
        fail(error)
      }
    }

    private func fail(_ error: SoundFileError) {
      guard !isStopped else { return }
      isStopped = true
      outcome.failure = outcome.failure ?? error
      // File after file without space is one failure.
      if failure?.description != error.description {
        failureHandler(error)
      }
      failure = error
    }
  }

  /// Starts a file and the thread that fills it.
  ///
  /// - Parameters:
  ///   - descriptor: An open file that can be sought; it stays open.
  ///   - maximumFrameCount: Frames beyond which nothing is recorded, or the next file is; nil means
  ///     no limit but the format's.
  ///   - failureHandler: Called when nothing more is written, on the writing thread: at most once
  ///     for a file.
  ///   - change: Opens the next file; nil where there is one. No frame is lost between two.
  public init(
    _ recording: RecordingBuffer, rate: Int, to descriptor: Int32, path: String,
    storedAs format: SoundFileFormat,
    maximumFrameCount: Int64? = nil, tags: SoundFileTags = SoundFileTags(),
    failureHandler: @escaping @Sendable (SoundFileError) -> Void = { _ in },
    rotateFile change: FileRotation? = nil
  ) throws(SoundFileError) {
    let channelCount = recording.channelCount
    let frameBytes = Int64(channelCount * format.sampleFormat.byteCount)
    let formatLimit = format.container == .wav ? Self.maximumByteCount / frameBytes : .max
    let limitText =
      formatLimit < maximumFrameCount ?? .max
      ? "reached the 4 GiB limit of wav; record to .w64 or .flac"
      : "reached the limit of the recording"
    shared = try Shared(
      recording, descriptor,
      limit: (
        min(maximumFrameCount ?? .max, formatLimit),
        SoundFileError(kind: .tooLong, path: path, description: limitText)
      ),
      openWriter: { descriptor throws(SoundFileError) in
        try SoundFileWriter(
          descriptor: descriptor, path: path, format: format, rate: rate,
          channelCount: channelCount, frameCount: 0,
          tags: tags)
      }, rotateFile: change, failureHandler: failureHandler)
    let shared = shared
    do throws(PlaybackError) {
      thread = try BackgroundThread { shared.run() }
    } catch {
      throw SoundFileError(kind: .systemRefused, path: path, description: error.description)
    }
  }

  deinit {
    if !hasGivenUp.load(ordering: .relaxed) {
      finish()
    }
  }

  /// Writes what is left and completes the file; every later call answers the same.
  ///
  /// To be called when nothing is recorded any more.
  ///
  /// - Parameter limit: How long the disk may take; nil means no limit.
  /// - Returns: What became of it; nil where the disk took longer.
  @discardableResult public func finish(within limit: Duration? = nil) -> Outcome? {
    shared.isFinishing.store(true, ordering: .releasing)
    shared.wake.raise()
    guard thread.wait(within: limit) else {
      hasGivenUp.store(true, ordering: .relaxed)
      return nil
    }
    var outcome = shared.outcome
    outcome.droppedFrameCount = Int64(
      shared.recording.droppedSampleCount / shared.recording.channelCount)
    return outcome
  }
}
