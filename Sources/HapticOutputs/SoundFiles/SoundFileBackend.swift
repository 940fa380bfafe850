public import HapticPlayback
internal import SoundFile
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
  /// A path that was opened before gets a number before its extension, so that no file of a run replaces
  /// another.
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
