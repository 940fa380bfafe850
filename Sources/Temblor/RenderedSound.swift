public import HapticModel
public import HapticRender
public import PatternComparison
internal import PatternWorkflows
public import SignalAnalysis
public import SoundFile
internal import SystemSupport

/// A composition as a profile renders it: the samples, and what they were made from.
public struct RenderedSound: Sendable {
  /// What was rendered.
  public let composition: HapticComposition
  /// What it was rendered with.
  public let profile: TransducerProfile
  /// Frames per second.
  public let rate: Int
  /// Channels, at least 1.
  public let channelCount: Int
  /// The samples in −1…1, interleaved.
  public let samples: [Float]
  /// What limiters and transducers did meanwhile.
  public let statistics: RenderStatistics

  /// The samples channel by channel, for analysis.
  public var signal: Signal { Signal(interleaved: samples, channelCount: channelCount, rate: Double(rate)) }

  /// The sound with what it was made from, for comparison.
  public func take(named name: String) -> Take {
    Take(name: name, source: .pattern(composition), signal: signal, profile: profile, feeling: composition.notes)
  }

  /// Writes a sound file, which replaces one of the name only when it is complete.
  ///
  /// - Parameters:
  ///   - path: The file; its folder must exist.
  ///   - format: How it is written, or nil for 16 bits in the container that the path's ending names.
  /// - Throws: `SoundFileError`
  public func write(to path: String, as format: SoundFileFormat? = nil) throws(SoundFileError) {
    guard let container = format?.container ?? SoundFileFormat.container(ofName: path) else {
      throw SoundFileError(
        kind: .unknownExtension, path: path,
        description: "unknown file extension; use wav, flac, aiff, w64, rf64, caf or ogg")
    }
    var file: AtomicFileWriter
    do throws(FileError) { file = try AtomicFileWriter(path) } catch {
      throw SoundFileError(kind: .systemRefused, path: path, description: error.reason)
    }
    var writer = try SoundFileWriter(
      descriptor: file.descriptor, path: path, format: format ?? SoundFileFormat(container: container, samples: .s16),
      rate: rate, channelCount: channelCount, frameCount: Int64(samples.count / channelCount),
      tags: SoundFileTags(rendering: composition.title ?? FileSystem.stem(of: path), by: "profile \(profile.name)"))
    try writer.write(samples.span)
    try writer.close()
    do throws(FileError) { try file.commit() } catch {
      throw SoundFileError(kind: .systemRefused, path: path, description: error.reason)
    }
  }
}
