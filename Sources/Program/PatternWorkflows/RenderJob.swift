internal import Glibc
public import HapticFormats
internal import HapticModel
public import HapticRender
public import SoundFile
internal import SystemSupport
internal import TransducerProfiles

/// The version of the program and the package, which is written to sound files.
package let temblorVersion = "0.4.0"

/// The settings for rendering patterns to sound.
public struct RenderJob: Sendable {
  /// The profile of output channels for which no profile is specified.
  public var profile: TransducerProfile
  /// The sample rate of the output, in hertz.
  public var sampleRateHertz = 48_000
  /// The number of channels of the output.
  public var channelCount = 1
  /// The master gain, which applies to the whole output, 0 to 1.
  public var masterGain = 1.0
  /// A Boolean value that indicates whether the peak of the output is normalized to −1 dBFS.
  public var normalizesPeak = false
  /// The number of passes of the pattern; 0 to repeat it until the end of the duration.
  public var passCount = 1
  /// The duration of the output in seconds, or nil for the duration of the pattern.
  public var durationSeconds: Double?
  /// The duration of the trailing silence in seconds, or nil for the decay time of the hardware.
  public var trailingSilenceSeconds: Double?
  /// The sample format of the output file.
  public var sampleFormat = SampleFormat.s16
  /// The parts of the pattern that are rendered.
  public var audibleBuses = RenderSettings.AudibleBuses.all
  /// The assignment of haptics and audio to channels.
  public var channelRouting = ChannelRouting()
  /// A Boolean value that indicates whether the output is the simulated acceleration instead of the
  /// drive signal.
  public var rendersAcceleration = false
  /// A Boolean value that indicates whether the output is the unprocessed signal, without a
  /// limiter, DC blocker, hardware stages, or fades.
  public var bypassesOutputProcessing = false
  /// The options for reading patterns.
  public var readingOptions = ReadingOptions()

  /// A closure that returns true to cancel the rendering. It is called between blocks, on any
  /// thread.
  public var isCancelled: @Sendable () -> Bool = { false }

  /// Creates a job with default settings: 48 kHz, one channel, 16 bits.
  public init(profile: TransducerProfile = .phone) { self.profile = profile }

  /// Reads a pattern and compiles it for one bus.
  public func loadPlan(_ input: PatternInput) throws -> (plan: RenderPlan, pattern: LoadedPattern) {
    let (plans, pattern) = try loadPlans(input, for: Array(resolvedRouting().profiles.prefix(1)))
    return (plans[0], pattern)
  }

  /// Reads a pattern and compiles it for the profile of each bus.
  ///
  /// - Parameters:
  ///   - input: The pattern.
  ///   - profiles: The profiles, or nil for those of all haptic buses.
  public func loadPlans(_ input: PatternInput, for profiles: [TransducerProfile]? = nil) throws -> (
    plans: [RenderPlan], pattern: LoadedPattern
  ) {
    var patternOptions = readingOptions
    if bypassesOutputProcessing, resolvedRouting().profiles.allSatisfy({ $0.name == "mpeg" }) {
      patternOptions.signalSampleRate = Double(sampleRateHertz)
    }
    let loadedPattern = try LoadedPattern(input, options: patternOptions)
    let bodyLocationCount = loadedPattern.composition.bodyLocationCount
    let compiledPlans = try loadedPattern.compilePlans(
      for: profiles ?? resolvedRouting(bodyLocationCount: bodyLocationCount).profiles,
      rate: Double(sampleRateHertz), isRaw: bypassesOutputProcessing)
    return (compiledPlans, loadedPattern)
  }

  /// Returns the output routing of this job, with the profile of each haptic bus.
  ///
  /// - Parameter bodyLocationCount: The number of body locations of the pattern.
  public func resolvedRouting(bodyLocationCount: Int = 0) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    channelRouting.resolvedRouting(
      channelCount: channelCount, rate: Double(sampleRateHertz), profile: profile,
      buses: audibleBuses,
      bodyLocationCount: bodyLocationCount)
  }

  /// Returns the output routing for the compiled plans of a pattern. A single plan contains all
  /// body locations.
  func resolvedRouting(for plans: [RenderPlan]) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    resolvedRouting(bodyLocationCount: plans.count > 1 ? plans[0].bodyLocationCount : 0)
  }

  /// Returns the renderer's settings for a plan.
  public func renderSettings(for plan: RenderPlan) -> RenderSettings { renderSettings(for: [plan]) }

  /// Returns the renderer's settings for the plans of one pattern.
  public func renderSettings(for plans: [RenderPlan]) -> RenderSettings {
    let sampleRate = Double(sampleRateHertz)
    let outputRouting = resolvedRouting(for: plans).routing
    let tailSeconds =
      trailingSilenceSeconds
      ?? outputRouting.tailDuration(rate: sampleRate, includesTransducer: rendersAcceleration)
    let tailFrameCount = FrameConversion.frame(seconds: tailSeconds, rate: sampleRate)
    let maximumDelayFrameCount = Int64(outputRouting.channels.map(\.delayFrameCount).max() ?? 0)
    var outputFrameCount =
      frameCountWithoutTail(of: plans) + tailFrameCount + maximumDelayFrameCount
    if let durationSeconds {
      outputFrameCount = FrameConversion.frame(seconds: durationSeconds, rate: sampleRate)
    }
    let fadeFrameCount = min(
      FrameConversion.frame(seconds: OfflineRenderer.fadeOutSeconds, rate: sampleRate),
      outputFrameCount)
    let silentFrameCount = durationSeconds == nil ? tailFrameCount : fadeFrameCount
    var newSettings = RenderSettings(
      routing: outputRouting, masterGain: Float(masterGain),
      passCount: passCount == 0 ? nil : passCount,
      outputFrameCount: outputFrameCount,
      // The fade-out begins after the sound. If the duration cuts off the sound, a short fade
      // prevents a click.
      fadeOutFrameCount: bypassesOutputProcessing
        ? 0 : max(min(fadeFrameCount, silentFrameCount), min(48, outputFrameCount)))
    newSettings.bypassesOutputProcessing = bypassesOutputProcessing
    return newSettings
  }

  /// Returns the total number of frames in all passes of a pattern, without trailing silence.
  func frameCountWithoutTail(of plans: [RenderPlan]) -> Int64 {
    let repeatedPassFrameCount =
      passCount > 1 ? (plans.map(\.passFrameCount).max() ?? 0) * Int64(passCount - 1) : 0
    return (plans.map(\.frameCount).max() ?? 0) + repeatedPassFrameCount
  }

  /// Writes the plans of a pattern to a sound file. The file must be seekable.
  public func write(
    _ plans: [RenderPlan], title: String, to descriptor: Int32, path: String,
    container: SoundFileFormat.Container,
    progress: (Double) -> Void
  ) throws -> RenderStatistics {
    var outputSettings = renderSettings(for: plans)
    if normalizesPeak {
      outputSettings.masterGain *= try measureNormalizingGain(plans, settings: outputSettings)
    }
    let outputFrameCount = outputSettings.outputFrameCount ?? 0
    var soundFileWriter = try SoundFileWriter(
      descriptor: descriptor, path: path,
      format: SoundFileFormat(container: container, sampleFormat: sampleFormat),
      rate: sampleRateHertz,
      channelCount: channelCount, frameCount: outputFrameCount,
      tags: SoundFileTags(rendering: title, by: transducerDescription))
    var simulatedAcceleration =
      rendersAcceleration
      ? SimulatedAcceleration(outputSettings.routing, rate: Double(sampleRateHertz)) : nil
    let interruptionError = FileError(path, "interrupted; nothing was written")
    let renderStatistics = try renderBlocks(
      makeRenderer(for: plans, settings: outputSettings), interrupted: interruptionError
    ) { block, frameCount, remainingCount in
      simulatedAcceleration?.replaceDrive(in: &block, frameCount: frameCount)
      try soundFileWriter.write(block.span.extracting(first: frameCount * channelCount))
      progress(1 - Double(remainingCount) / Double(outputFrameCount))
    }
    try soundFileWriter.close()
    return renderStatistics
  }

  /// Renders the plans of a pattern to the bytes of a WAV file.
  package func waveFileBytes(of plans: [RenderPlan], title: String) throws -> [UInt8] {
    guard let temporaryFile = unsafe tmpfile() else {
      throw FileError.systemError(title, "no space for a temporary file")
    }
    defer { unsafe fclose(temporaryFile) }
    let temporaryDescriptor = unsafe fileno(temporaryFile)
    _ = try write(
      plans, title: title, to: temporaryDescriptor, path: title, container: .wav, progress: { _ in }
    )
    let fileByteCount = Int(lseek(temporaryDescriptor, 0, SEEK_END))
    lseek(temporaryDescriptor, 0, SEEK_SET)
    var fileBytes: [UInt8] = []
    _ = try FileSystem.appendBytes(
      to: &fileBytes, fileByteCount, of: temporaryDescriptor, name: title)
    return fileBytes
  }

  /// Renders the plans of a pattern block by block, and returns the statistics of the renderer.
  ///
  /// - Parameters:
  ///   - renderer: The renderer.
  ///   - interrupted: The error to throw if the job is canceled.
  ///   - body: Receives each block, its number of frames, and the number of remaining frames.
  func renderBlocks(
    _ renderer: consuming OfflineRenderer, interrupted: FileError,
    _ body: (_ block: inout [Float], _ frameCount: Int, _ remainingCount: Int64) throws -> Void
  ) throws -> RenderStatistics {
    var blockSamples = [Float](repeating: 0, count: 4_096 * channelCount)
    while true {
      var span = blockSamples.mutableSpan
      let count = renderer.read(into: &span)
      if count == 0 { return renderer.statistics }
      if isCancelled() { throw interrupted }
      try body(&blockSamples, count, renderer.remainingFrameCount)
    }
  }

  /// Returns a renderer for the plans of a pattern, with the send gains of an array.
  public func makeRenderer(for plans: [RenderPlan], settings: RenderSettings) -> OfflineRenderer {
    OfflineRenderer(
      plans: plans, sendGains: channelRouting.sendGains(rate: Double(sampleRateHertz)),
      settings: settings)
  }

  /// The name of the array or the names of the profiles, for the comment tag of the file.
  private var transducerDescription: String {
    if let transducerArray = channelRouting.transducerArray {
      return "array \(transducerArray.name)"
    }
    var profileNames: [String] = []
    for profile in resolvedRouting().profiles where !profileNames.contains(profile.name) {
      profileNames.append(profile.name)
    }
    return (profileNames.count == 1 ? "profile " : "profiles ")
      + profileNames.joined(separator: ", ")
  }

  /// Returns the gain that brings the peak of the output to just below the limiter's ceiling.
  private func measureNormalizingGain(_ plans: [RenderPlan], settings: RenderSettings) throws
    -> Float
  {
    let interruptionError = FileError("render", "interrupted; nothing was written")
    let renderStatistics = try renderBlocks(
      makeRenderer(for: plans, settings: settings), interrupted: interruptionError
    ) { _, _, _ in
    }
    return renderStatistics.peakMagnitudeBeforeLimiter > 0
      ? Float(Renderer.limiterThresholdMagnitude) / renderStatistics.peakMagnitudeBeforeLimiter : 1
  }
}

extension SoundFileTags {
  /// Creates the tags of a rendered file.
  ///
  /// - Parameters:
  ///   - title: The title of the pattern.
  ///   - source: The array or profile that the sound was rendered for.
  package init(rendering title: String, by source: String) {
    self.init(
      title: title, software: "Temblor \(temblorVersion)",
      comment: "\(source), rendering model \(RenderPlan.renderingModelVersion)")
  }
}
