internal import Glibc
public import HapticFormats
internal import HapticModel
internal import HapticRender
public import PatternComparison
internal import SignalAnalysis
internal import SoundFile
public import SystemSupport
public import VendorFormats

/// A pattern or a sound file that the user specified, to view it or to listen to it.
public enum TakeInput: Equatable, Sendable {
  /// A take that is a pattern.
  case pattern(PatternInput)
  /// A take that is a sound file, or a sound on standard input (`-`).
  case sound(path: String)

  /// Resolves the arguments of a command to patterns and sound files, and collects errors.
  ///
  /// A file with the extension or the first bytes of a sound file is a sound file, and so is
  /// standard input that begins with these bytes. All other arguments are looked up as patterns.
  public static func resolve(
    _ arguments: [String], formats: FormatRegistry = .standard,
    soundLookup: PatternInput.SoundLookup = .patternFolder
  ) -> (inputs: [TakeInput], problems: [FileError]) {
    var takeInputs: [TakeInput] = []
    var fileProblems: [FileError] = []
    for argument in arguments {
      if isSound(argument) {
        takeInputs.append(.sound(path: argument))
        continue
      }
      let patterns = PatternInput.find([argument], formats: formats, soundLookup: soundLookup)
      takeInputs += patterns.inputs.map(TakeInput.pattern)
      fileProblems += patterns.problems
    }
    return (takeInputs, fileProblems)
  }

  /// Creates a take from a file that was found as a pattern, but may be a sound file.
  init(_ input: PatternInput) {
    if case .file(let filePath) = input.origin, Self.isSound(filePath) {
      self = .sound(path: filePath)
    } else {
      self = .pattern(input)
    }
  }

  /// A pattern input that provides the origin and the output name of this input.
  private var patternInput: PatternInput {
    switch self {
    case .pattern(let givenInput): givenInput
    case .sound(InputStream.standardInput):
      PatternInput(origin: .standardInput, outputStem: "sound")
    case .sound(let soundPath):
      PatternInput(
        origin: .file(soundPath),
        outputStem: InputStream.isStream(soundPath) ? "sound" : FileSystem.fileStem(of: soundPath))
    }
  }

  /// The name of the input in messages.
  public var name: String { patternInput.name }

  /// The path of the input's file, or nil for another origin.
  public var path: String? {
    if case .file(let filePath) = patternInput.origin {
      filePath
    } else {
      nil
    }
  }

  /// A Boolean value that indicates whether the input is a pattern that was found in a folder.
  package var isFromFolder: Bool { patternInput.isFromFolder }

  /// The paths of the input's file and, for a pattern, of its sound files. Files that cannot be
  /// read are not included.
  package var sourcePaths: [String] {
    if case .pattern(let givenInput) = self {
      givenInput.sourcePaths
    } else {
      path.map { [$0] } ?? []
    }
  }

  /// The name of an output file for this input, without extension.
  public var outputStem: String { patternInput.outputStem }

  /// Reads the sound file, or compiles and renders the pattern.
  ///
  /// A pattern is rendered on one channel, or on a channel for each of its body locations.
  ///
  /// - Throws: `InputError`, `FileError`, or `SoundFileError`.
  public func loadTake(_ job: RenderJob) throws -> Take {
    switch self {
    case .pattern(let givenInput):
      try Self.render(LoadedPattern(givenInput, options: job.readingOptions), job: job)
    case .sound(let soundPath): try Self.loadSound(soundPath, job: job)
    }
  }

  /// Compiles and renders a loaded pattern, with a channel for each of its body locations.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - job: The settings of the rendering.
  public static func render(_ pattern: LoadedPattern, job: RenderJob) throws -> Take {
    let patternInput = pattern.input
    let composition = pattern.composition
    let separatedJob = job.separatingBodyLocations(composition.separateLocations)
    let renderPlans = try pattern.compilePlans(
      for: separatedJob.resolvedRouting().profiles, rate: Double(separatedJob.sampleRateHertz))
    let renderSettings = separatedJob.renderSettings(for: renderPlans)
    guard
      (renderSettings.outputFrameCount ?? 0) * Int64(separatedJob.channelCount)
        <= Int64(Sound.maximumSampleCount)
    else {
      throw FileError(patternInput.name, "is longer than the limit; use '--duration'")
    }
    var renderedSamples: [Float] = []
    renderedSamples.reserveCapacity(
      Int(renderSettings.outputFrameCount ?? 0) * separatedJob.channelCount)
    let takeRenderer = separatedJob.makeRenderer(for: renderPlans, settings: renderSettings)
    _ = try separatedJob.renderBlocks(
      takeRenderer, interrupted: FileError(patternInput.name, "interrupted")
    ) {
      block, frameCount, _ in
      renderedSamples += block[..<(frameCount * separatedJob.channelCount)]
    }
    let takeSignal = Signal(
      interleaved: renderedSamples, channelCount: separatedJob.channelCount,
      rate: Double(separatedJob.sampleRateHertz))
    // The events of a take have the frequencies that its profile plays.
    let sharpnessToHertzScale = separatedJob.profile.limitedToUsableBand(
      rate: Double(separatedJob.sampleRateHertz)
    )
    .frequency.sharpnessScale
    var renderedTake = Take(
      name: patternInput.name,
      source: .pattern(composition.convertingStatedHertz(to: sharpnessToHertzScale)),
      signal: takeSignal,
      profile: separatedJob.profile,
      text: String(decoding: pattern.file.bytes, as: UTF8.self), feeling: composition.notes)
    renderedTake.durationSeconds = renderPlans.map(\.durationSeconds).max() ?? 0
    renderedTake.format = pattern.format.map {
      Take.Format(title: $0.title, resolution: $0.valueResolution)
    }
    return renderedTake
  }

  /// Reads a sound file at its own sample rate.
  ///
  /// An empty file, or one with NaN, is an error, because it would look like silence.
  public static func loadSound(_ path: String, job: RenderJob) throws -> Take {
    Take(
      name: FileSystem.displayName(of: path), source: .sound, signal: try readSignal(path),
      profile: job.profile)
  }

  /// Reads the samples of a sound file at its own sample rate.
  ///
  /// An empty file, or one with NaN, is an error, because it would look like silence.
  static func readSignal(_ path: String) throws -> Signal {
    let fileDescriptor = try FileSystem.openForReading(path)
    defer { close(fileDescriptor) }
    let displayName = FileSystem.displayName(of: path)
    let fileSound = try SoundFileError.namingFileKind(of: path) { () throws(SoundFileError) in
      try Sound(readingDescriptor: fileDescriptor, path: displayName)
    }
    func damagedFileError(_ text: String) -> SoundFileError {
      SoundFileError(kind: .damaged, path: displayName, description: text)
    }
    guard fileSound.frameCount > 0 else { throw damagedFileError("contains no audio") }
    let nonfiniteSampleCount = fileSound.interleaved.count { !$0.isFinite }
    guard nonfiniteSampleCount == 0 else {
      throw damagedFileError(
        "\(nonfiniteSampleCount) of \(fileSound.interleaved.count) samples are NaN or infinite")
    }
    return Signal(
      interleaved: fileSound.interleaved, channelCount: fileSound.channelCount, rate: fileSound.rate
    )
  }

  /// Returns a sound file as a pattern that plays the selected channels.
  ///
  /// Any other input is returned unchanged.
  ///
  /// - Parameter channels: The channels from 0, or nil to keep the sound.
  public func asPattern(ofChannels channels: [Int]?) -> TakeInput {
    guard let channels, case .sound = self else { return self }
    var soundPatternInput = patternInput
    soundPatternInput.soundChannels = channels
    return .pattern(soundPatternInput)
  }

  /// Returns true if a path leads to a sound file.
  ///
  /// A file is recognized by its extension or its signature, and standard input (`-`) only by its
  /// signature.
  package static func isSound(_ path: String) -> Bool {
    if InputStream.isStream(path) { return isSoundFile(path) }
    return FileSystem.entryKind(at: path) == .file
      && (SoundFileFormat.container(ofName: path) != nil || isSoundFile(path))
  }

  /// Returns whether a file, or standard input (`-`), begins with the signature of a container that
  /// libsndfile reads.
  package static func isSoundFile(_ path: String) -> Bool {
    let signatureBytes = FileSystem.firstBytes(of: path, count: FileKind.signatureByteCount)
    return FileKind(of: signatureBytes)?.isSoundFile == true
  }

  /// Reads several inputs at one sample rate, so that they can be compared.
  ///
  /// The rate is `rate` or, without it, the highest rate of the sound files, so that a pattern is
  /// rendered at the rate of the recording it is compared with. Without sound files, the rate is
  /// that of the job, or 8 kHz (eight times the haptic bandwidth) if all patterns are haptic and
  /// longer than a minute.
  ///
  /// - Throws: `InputError`, `FileError`, or `SoundFileError`.
  public static func loadTakes(_ inputs: [TakeInput], job: RenderJob, rate: Int?) throws -> [Take] {
    var matchedJob = job
    let soundTakes = try inputs.map { input -> Take? in
      if case .sound(let path) = input {
        try loadSound(path, job: matchedJob)
      } else {
        nil
      }
    }
    let soundRates = soundTakes.compactMap { $0?.signal.rate }
    let loadedPatterns = try inputs.map { input -> LoadedPattern? in
      if case .pattern(let input) = input {
        try LoadedPattern(input, options: matchedJob.readingOptions)
      } else {
        nil
      }
    }
    let hasOnlyLongPatterns = loadedPatterns.allSatisfy {
      $0?.composition.isLongAndHapticOnly ?? false
    }
    let patternRateHertz = hasOnlyLongPatterns ? longPatternRateHertz : matchedJob.sampleRateHertz
    matchedJob.sampleRateHertz = rate ?? soundRates.max().map { Int($0) } ?? patternRateHertz
    return try zip(soundTakes, loadedPatterns).compactMap { take, pattern in
      try take?.resampled(to: Double(matchedJob.sampleRateHertz))
        ?? pattern.map { try render($0, job: matchedJob) }
    }
  }

  /// The sample rate at which long haptic patterns are rendered, in hertz.
  private static let longPatternRateHertz = 8_000
}

extension HapticComposition {
  /// A Boolean value that indicates whether the composition lasts more than a minute and has only
  /// haptic events.
  fileprivate var isLongAndHapticOnly: Bool {
    durationSeconds > 60 && layers.allSatisfy { $0.pattern.events.allSatisfy(\.kind.isHaptic) }
  }
}

extension RenderJob {
  /// Returns the render job with one channel for each body location. Each channel also carries all
  /// audio events.
  ///
  /// A job with settings for channels or with an array is unchanged.
  fileprivate func separatingBodyLocations(_ locations: [HapticComposition.BodyLocation])
    -> RenderJob
  {
    guard !locations.isEmpty, channelCount == 1, channelRouting.channelSettings.isEmpty,
      channelRouting.transducerArray == nil
    else { return self }
    var separatingJob = self
    separatingJob.channelCount = locations.count
    separatingJob.channelRouting.channelSettings = locations.enumerated().map { index, location in
      var channel = ChannelRouting.ChannelSettings(index: index)
      channel.explicitContent = (hasHaptics: true, audio: .both)
      channel.sourceBodyLocation = "\(location.number)"
      return channel
    }
    return separatingJob
  }
}

extension Take {
  /// Returns the take at another sample rate, in hertz.
  ///
  /// - Throws: `SoundFileError`.
  fileprivate func resampled(to rate: Double) throws -> Take {
    guard signal.rate != rate else { return self }
    var resampledTake = self
    let channelCount = max(1, signal.channels.count)
    let interleavedSound = Sound(
      interleaved: signal.interleaved, channelCount: channelCount, rate: signal.rate)
    let resampledSamples = try interleavedSound.resampled(to: rate, path: name).interleaved
    resampledTake.signal = Signal(
      interleaved: resampledSamples, channelCount: channelCount, rate: rate)
    return resampledTake
  }
}
