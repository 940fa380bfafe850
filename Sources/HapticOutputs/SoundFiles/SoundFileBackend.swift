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
  /// A path that was opened before gets a number before its extension: no file of a run replaces another.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput
  {
    let samples = try request.encoding.map { word throws(OutputError) in
      if let format = SampleFormat(rawValue: word) { return format }
      throw OutputError(
        .unsupportedFormat, output: name,
        "wav does not hold \(word) samples; use " + SampleFormat.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let path = numbered(name)
    let format = samples ?? Self.defaultFormat
    do throws(SoundFileError) {
      return OpenedOutput(
        sink: try SoundFileSink(
          request.format, path: path, storedAs: SoundFileFormat(container: .wav, samples: format), time: time),
        name: path, encoding: format.rawValue)
    } catch {
      throw OutputError(
        error.kind == .unsupportedFormat ? .unsupportedFormat : .cannotWrite, output: path, error.description)
    }
  }

  private func numbered(_ path: String) -> String {
    let count = openCounts.withLock { counts in
      counts[path, default: 0] += 1
      return counts[path, default: 0]
    }
    guard count > 1 else { return path }
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "\(path)-\(count)" }
    return "\(path[..<dot])-\(count)\(path[dot...])"
  }
}

extension OutputRegistry {
  /// ALSA's devices, WAVE files and nothing; names without a scheme are ALSA's.
  public static let standard = OutputRegistry([ALSABackend(), SoundFileBackend(), NullOutput()], defaultScheme: "alsa")
}

/// Writes every frame into a sound file, at the pace of a clock.
///
/// With the machine's clock the file grows as the sound would be heard; with virtual time it is written as
/// fast as it can be. What goes wrong is an event, after which the sink has ended.
public final class SoundFileSink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  private let path: String
  private var pace: SinkPacer
  private var writer: SoundFileWriter?
  private var events: [SinkEvent] = []
  private let silence: [Float]

  /// Starts a file at a path, replacing one that is there; `finish(draining:)` closes it.
  public init(
    _ format: SinkFormat, path: String, storedAs fileFormat: SoundFileFormat, time: any TimeSource = SystemTimeSource()
  ) throws(SoundFileError) {
    writer = try SoundFileWriter(
      path: path, format: fileFormat, rate: Int(format.rate), channelCount: format.channelCount)
    (self.format, self.path, pace) = (format, path, SinkPacer(format, time: time))
    silence = Array(repeating: 0, count: format.periodSize * format.channelCount)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pace.delay }

  /// Waits for the clock; frames that were missed are silence in the file.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    guard writer != nil else { return .ended }
    let readiness = pace.wait(wake)
    if case .missed(let frameCount) = readiness {
      let silence = silence
      var left = frameCount
      while left > 0 {
        let count = min(left, format.periodSize)
        store(silence.span.extracting(first: count * format.channelCount))
        left -= count
      }
    }
    return readiness
  }

  /// Writes frames.
  public func write(_ frames: Span<Float>) {
    store(frames)
    pace.hand(over: frames.count / format.channelCount)
  }

  /// Completes the file.
  public func finish(draining: Bool) {
    do { try writer?.close() } catch { note(error) }
    writer = nil
  }

  /// Takes what went wrong.
  public func takeEvents() -> [SinkEvent] { exchange(&events, with: []) }

  private func store(_ frames: Span<Float>) {
    do { try writer?.write(frames) } catch {
      note(error)
      writer = nil
    }
  }

  private func note(_ error: SoundFileError) {
    events.append(SinkEvent(.failed, text: "\(path): \(error.description)"))
  }
}
