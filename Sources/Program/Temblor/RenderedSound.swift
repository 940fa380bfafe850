public import HapticFormats
public import HapticModel
public import HapticRender
public import Reading
public import SignalAnalysis
public import SoundFile
public import VendorFormats
internal import PatternWorkflows
internal import SystemSupport

extension HapticComposition {
  private static let unreadableFileRule = Rule.error(
    "file-unreadable", "file", "The file must be readable.")

  /// Creates a composition by reading a pattern file of any format, which is recognized by its
  /// content.
  ///
  /// - Throws: An `InputError` with the location of the first error, or with the reason that the
  ///   file cannot be read.
  public init(contentsOf path: String, registry: FormatRegistry = .standard) throws(InputError) {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try FileSystem.read(path)
    } catch {
      throw InputError(
        Finding(Self.unreadableFileRule, location: FileLocation(name: path), error.reason))
    }
    self = try registry.read(SourceFile(bytes, name: path))
  }

  /// Renders all layers as `temblor render` does, with the same samples, length, and fade.
  ///
  /// - Parameters:
  ///   - profile: The profile that maps intensity and sharpness to level and frequency.
  ///   - rate: The sample rate in hertz, 8,000–192,000, rounded to a whole number.
  ///   - channelCount: The number of channels, 1–64. All channels have the same samples.
  ///   - sounds: The folder of the sound files that the composition plays.
  /// - Throws: A `RenderError` for a composition that cannot be compiled, or a `SoundFileError` for
  ///   a sound file that cannot be read.
  public func render(
    profile: TransducerProfile = .phone, rate: Double = 48_000, channelCount: Int = 1,
    sounds: SoundFolder? = nil
  ) throws -> RenderedSound {
    var samples: [String: AudioBuffer] = [:]
    if let sounds {
      let paths = Set(layers.flatMap(\.pattern.events).compactMap(\.waveform?.path))
      for path in paths {
        let sound = try sounds.decodeSound(at: path).resampled(to: rate, path: path)
        samples[path] = AudioBuffer(
          interleaved: sound.interleaved, channelCount: sound.channelCount)
      }
    }
    let plan = try RenderPlan(
      compiling: self, profile: profile, rate: rate.rounded(), samples: samples)
    var job = RenderJob(profile: profile)
    job.sampleRateHertz = Int(rate.rounded())
    job.channelCount = min(max(1, channelCount), OutputRouting.maximumChannelCount)
    var renderer = OfflineRenderer(plan: plan, settings: job.renderSettings(for: plan))
    return RenderedSound(
      composition: self, profile: profile, rate: job.sampleRateHertz,
      channelCount: job.channelCount,
      samples: renderer.samples(),
      statistics: renderer.statistics)
  }
}

/// A rendered composition: the samples, and the composition and the profile from which they were
/// rendered.
public struct RenderedSound: Sendable {
  /// The composition that was rendered.
  public let composition: HapticComposition
  /// The profile for which the composition was rendered.
  public let profile: TransducerProfile
  /// The sample rate in hertz, and the number of channels; both are at least 1.
  public let rate, channelCount: Int
  /// The interleaved samples, in −1…1.
  public let samples: [Float]
  /// The statistics of the limiters and transducer stages during the rendering.
  public let statistics: RenderStatistics

  /// The samples as separate channels, for analysis.
  public var signal: Signal {
    Signal(interleaved: samples, channelCount: channelCount, rate: Double(rate))
  }

  /// Writes a sound file, which replaces an existing file only when it is complete.
  ///
  /// - Parameters:
  ///   - path: The path of the file, whose folder must exist.
  ///   - format: The format of the file, or nil for 16 bits in the container that the extension
  ///     names.
  /// - Throws: `SoundFileError`
  public func write(to path: String, as format: SoundFileFormat? = nil) throws(SoundFileError) {
    guard let container = format?.container ?? SoundFileFormat.container(ofName: path) else {
      throw SoundFileError(
        kind: .unknownExtension, path: path,
        description: "unknown file extension; use wav, flac, aiff, w64, rf64, caf, or ogg")
    }
    func refused(_ error: FileError) -> SoundFileError {
      SoundFileError(kind: .systemRefused, path: path, description: error.reason)
    }
    var file: AtomicFileWriter
    do throws(FileError) {
      file = try AtomicFileWriter(path)
    } catch {
      throw refused(error)
    }
    var writer = try SoundFileWriter(
      descriptor: file.descriptor, path: path,
      format: format ?? SoundFileFormat(container: container, sampleFormat: .s16),
      rate: rate, channelCount: channelCount, frameCount: Int64(samples.count / channelCount),
      tags: SoundFileTags(
        rendering: composition.title ?? FileSystem.fileStem(of: path), by: "profile \(profile.name)"
      ))
    try writer.write(samples.span)
    try writer.close()
    do throws(FileError) {
      try file.commit()
    } catch {
      throw refused(error)
    }
  }
}
