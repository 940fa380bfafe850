public import Reading
public import HapticFormats
public import VendorFormats
public import HapticModel
public import HapticRender
public import PatternComparison
internal import PatternWorkflows
public import SoundFile
internal import SystemSupport

extension HapticComposition {
  private static let unreadable = Rule("file-unreadable", group: "file", .error, "The file must be readable.")

  /// Reads a pattern file of any format, recognised by its content.
  ///
  /// - Throws: `InputError` with the place of the first error, or the reason why the file cannot be read.
  public init(contentsOf path: String, registry: FormatRegistry = .standard) throws(InputError) {
    let bytes: [UInt8]
    do throws(FileError) { bytes = try FileSystem.read(path) } catch {
      throw InputError(Finding(Self.unreadable, place: SourcePlace(name: path), error.reason))
    }
    self = try registry.read(SourceFile(bytes, name: path))
  }

  /// Renders all layers as `temblor render` does: the same samples, length and fade.
  ///
  /// - Parameters:
  ///   - profile: How intensity and sharpness become level and frequency.
  ///   - rate: Frames per second, 8,000–192,000, rounded to a whole number.
  ///   - channelCount: Channels of the result, 1–64; all carry the same.
  ///   - sounds: The folder of the sound files that the composition plays.
  /// - Throws: `RenderError` for a composition that cannot be compiled, `SoundFileError` for a sound file that
  ///   cannot be read.
  public func render(
    profile: TransducerProfile = .phone, rate: Double = 48_000, channelCount: Int = 1, sounds: SoundFolder? = nil
  ) throws -> RenderedSound {
    var samples: [String: AudioBuffer] = [:]
    if let sounds {
      let paths = Set(layers.flatMap(\.pattern.events).compactMap(\.waveform?.path))
      for path in paths {
        let sound = try sounds.sound(at: path).resampled(to: rate, path: path)
        samples[path] = AudioBuffer(interleaved: sound.interleaved, channelCount: sound.channelCount)
      }
    }
    let plan = try RenderPlan(compiling: self, profile: profile, rate: rate.rounded(), samples: samples)
    var job = RenderJob(profile: profile)
    job.rate = Int(rate.rounded())
    job.channelCount = min(max(1, channelCount), OutputRouting.maximumChannelCount)
    var renderer = OfflineRenderer(plan: plan, settings: job.settings(for: plan))
    return RenderedSound(
      composition: self, profile: profile, rate: job.rate, channelCount: job.channelCount, samples: renderer.samples(),
      statistics: renderer.statistics)
  }

  /// Renders both with a profile and lists the differences of the other one, this being the reference.
  ///
  /// - Throws: What `render(profile:rate:channelCount:sounds:)` throws.
  public func compare(with other: HapticComposition, profile: TransducerProfile = .phone) throws -> Comparison {
    Comparison(
      try render(profile: profile).take(named: title ?? "A"),
      try other.render(profile: profile).take(named: other.title ?? "B"))
  }
}
