public import HapticFormats
public import HapticModel
public import HapticRender
public import PatternComparison
public import Reading
public import SignalAnalysis
public import SoundFile
public import SystemSupport
public import VendorFormats
internal import Glibc
internal import PatternRules
internal import ShippedFiles
internal import Synchronization

/// A pattern that the user named: a file, a shipped pattern, or standard input.
public struct PatternInput: Equatable, Sendable {
  /// The origin of the content.
  public enum Origin: Equatable, Sendable {
    /// A file, by its path.
    case file(String)
    /// A shipped pattern, by its name.
    case shipped(String)
    /// Standard input.
    case standardInput
  }

  /// The folder with the sound files of a pattern.
  public enum SoundLookup: Equatable, Sendable {
    /// The folder of the pattern.
    case patternFolder
    /// Another folder.
    case folder(String)
    /// None: events that play sound files are omitted.
    case none
  }

  /// The origin of the content.
  public var origin: Origin
  /// The path below the named folder, without extension. It determines the name of the output.
  public var outputStem: String
  /// A Boolean value that indicates whether the pattern was found in a folder that the user named.
  public var isFromFolder: Bool
  /// The formats that are recognized.
  public var formats: FormatRegistry
  /// The folder with the sound files.
  public var soundLookup = SoundLookup.patternFolder

  /// Creates a pattern input from the origin of its content.
  public init(
    origin: Origin, outputStem: String, isFromFolder: Bool = false,
    formats: FormatRegistry = .standard
  ) {
    self.origin = origin
    self.outputStem = outputStem
    self.isFromFolder = isFromFolder
    self.formats = formats
  }

  /// The name of the pattern in messages.
  public var name: String {
    switch origin {
    case .file(let path): path
    case .shipped(let name): name
    case .standardInput: "standard input"
    }
  }

  /// The folder with the sound files; nil for a shipped pattern.
  public var folder: String? {
    if case .folder(let path) = soundLookup { return path }
    return switch origin {
    case .file(let path): FileSystem.folder(of: path)
    case .shipped: nil
    case .standardInput: ""
    }
  }

  /// The paths of the file and its sound files. The file is read, unless it is standard input.
  package var sourcePaths: [String] {
    guard case .file(let path) = origin else { return [] }
    guard soundLookup != .none, let file = try? readFile() else { return [path] }
    let sounds = formats.examine(file, options: ReadingOptions(wantsFindings: false)).sounds
    return [path] + sounds.map { FileSystem.join(folder ?? "", $0.path) }
  }

  /// Resolves the arguments of a command to patterns, and collects errors.
  ///
  /// An argument is a file, a folder, the name of a shipped pattern, or `-`. A folder stands for
  /// all patterns in it and in its subfolders; links to folders are not followed. A file whose
  /// extension other kinds of files share is included only if its content is recognized with
  /// certainty.
  public static func find(
    _ words: [String], formats: FormatRegistry = .standard,
    soundLookup: SoundLookup = .patternFolder
  )
    -> (inputs: [PatternInput], problems: [FileError])
  {
    var inputs: [PatternInput] = []
    var problems: [FileError] = []
    for word in words {
      do throws(FileError) {
        inputs += try find(word, formats, &problems)
      } catch {
        problems.append(error)
      }
    }
    for index in inputs.indices {
      inputs[index].soundLookup = soundLookup
    }
    return (inputs, problems)
  }

  private static func find(_ word: String, _ formats: FormatRegistry, _ problems: inout [FileError])
    throws(FileError)
    -> [PatternInput]
  {
    if word == "-" {
      return [PatternInput(origin: .standardInput, outputStem: "pattern", formats: formats)]
    }
    if word.isEmpty { throw FileError("''", "is not a pattern name") }
    switch FileSystem.entry(at: word) {
    case .file, .other:
      let stem = FileSystem.stem(of: word)
      return [PatternInput(origin: .file(word), outputStem: stem, formats: formats)]
    case .folder:
      let known = problems.count
      let found = try patterns(in: word, below: "", formats, &problems)
      guard !found.isEmpty || problems.count > known else {
        throw FileError(word, "contains no pattern files")
      }
      return found
    case .missing:
      if let reason = nameProblem(word) { throw FileError(word, reason) }
      let plain = formats.stem(of: word)
      guard ShippedPatterns.names.contains(plain) else {
        let question = Suggestion.question(for: plain, among: ShippedPatterns.names)
        throw FileError(word, "no such file, and no shipped pattern has this name\(question)")
      }
      return [PatternInput(origin: .shipped(plain), outputStem: plain, formats: formats)]
    }
  }

  private static func patterns(
    in folder: String, below stem: String, _ formats: FormatRegistry, _ problems: inout [FileError]
  ) throws(FileError) -> [PatternInput] {
    var inputs: [PatternInput] = []
    for name in try FileSystem.names(in: folder) {
      let path = FileSystem.join(folder, name)
      let named = formats.formats(forFileName: name)
      let isNamedPattern =
        named.contains { !$0.sharesFileExtensions }
        || (!named.isEmpty && isRecognized(path, formats: named))
      switch FileSystem.entry(at: path) {
      case .folder where !FileSystem.isLink(path):
        do throws(FileError) {
          inputs += try patterns(in: path, below: FileSystem.join(stem, name), formats, &problems)
        } catch {
          problems.append(error)
        }
      case .file where isNamedPattern:
        let output = FileSystem.join(stem, FileSystem.stem(of: name))
        inputs.append(
          PatternInput(
            origin: .file(path), outputStem: output, isFromFolder: true, formats: formats))
      case .missing where isNamedPattern:
        problems.append(FileError(path, nameProblem(name) ?? "is a broken link"))
      default:
        continue
      }
    }
    return inputs
  }

  /// Returns whether a file can be read and one of the formats recognizes it with certainty.
  private static func isRecognized(_ path: String, formats: [HapticFormat]) -> Bool {
    guard FileSystem.entry(at: path) == .file, let bytes = try? FileSystem.read(path) else {
      return false
    }
    return formats.contains { $0.recognize(bytes.span) == .certain }
  }

  /// Returns the reason that a name cannot be looked up. Bytes that are not UTF-8 have been decoded
  /// as the replacement character.
  private static func nameProblem(_ name: String) -> String? {
    name.unicodeScalars.contains("\u{FFFD}")
      ? "the file name is not valid UTF-8; rename the file" : nil
  }

  /// Refuses to rewrite a file through a link that was found in a folder, because the user did not
  /// name its target.
  ///
  /// - Throws: A `FileError` that names the link.
  package func checkRewriting() throws(FileError) {
    guard case .file(let path) = origin, isFromFolder, FileSystem.isLink(path) else { return }
    throw FileError(
      path, "is a link in a folder and is not rewritten; name the file that it leads to")
  }

  /// Reads the content, without interpreting it as a format.
  public func readFile() throws(FileError) -> SourceFile {
    let bytes =
      switch origin {
      case .file(let path): try FileSystem.read(path)
      case .shipped(let name): ShippedPatterns.text(named: name) ?? []
      case .standardInput: try FileSystem.read("-")
      }
    return SourceFile(bytes, name: name)
  }
}

/// A pattern or a sound file that the user named to view it or to listen to it.
public enum TakeInput: Equatable, Sendable {
  case pattern(PatternInput)
  case sound(path: String)

  /// Resolves the arguments of a command to patterns and sound files, and collects errors.
  ///
  /// A file with the extension or the first bytes of a sound file is a sound file. All other
  /// arguments are looked up as patterns.
  public static func find(
    _ words: [String], formats: FormatRegistry = .standard,
    soundLookup: PatternInput.SoundLookup = .patternFolder
  ) -> (inputs: [TakeInput], problems: [FileError]) {
    let found = words.map { word -> (inputs: [TakeInput], problems: [FileError]) in
      let isFile = word != "-" && FileSystem.entry(at: word) == .file
      if isFile, SoundFileFormat.container(ofName: word) != nil || isSoundFile(word) {
        return ([.sound(path: word)], [])
      }
      let found = PatternInput.find([word], formats: formats, soundLookup: soundLookup)
      return (found.inputs.map(TakeInput.pattern), found.problems)
    }
    return (found.flatMap(\.inputs), found.flatMap(\.problems))
  }

  /// The input as a pattern, with its origin and output name.
  private var patternInput: PatternInput {
    switch self {
    case .pattern(let input): input
    case .sound(let path): PatternInput(origin: .file(path), outputStem: FileSystem.stem(of: path))
    }
  }

  /// The name of the input in messages.
  public var name: String { patternInput.name }

  /// The path of the file, or nil for another origin.
  public var path: String? {
    if case .file(let path) = patternInput.origin {
      path
    } else {
      nil
    }
  }

  /// A Boolean value that indicates whether the input is a pattern that was found in a folder.
  package var isFromFolder: Bool { patternInput.isFromFolder }

  /// The paths of the file and, for a pattern, its sound files. Files that cannot be read are not
  /// included.
  package var sourcePaths: [String] {
    if case .pattern(let input) = self {
      input.sourcePaths
    } else {
      [name]
    }
  }

  /// The name of an output of this input, without extension.
  public var outputStem: String { patternInput.outputStem }

  /// Reads the sound file, or compiles and renders the pattern on one channel.
  ///
  /// - Throws: `InputError`, `FileError`, or `SoundFileError`.
  public func load(_ job: RenderJob) throws -> Take {
    switch self {
    case .pattern(let input):
      try Self.render(LoadedPattern(input, reading: job.readingOptions), job: job)
    case .sound(let path): try Self.readSound(path, job: job)
    }
  }

  /// Compiles and renders a loaded pattern.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - job: The settings of the rendering.
  public static func render(_ pattern: LoadedPattern, job: RenderJob) throws -> Take {
    let input = pattern.input
    let composition = pattern.composition
    let profiles = Array(job.resolvedRouting().profiles.prefix(1))
    let plan = try pattern.plans(for: profiles, rate: Double(job.rate))[0]
    let settings = job.settings(for: plan)
    guard (settings.length ?? 0) * Int64(job.channelCount) <= Int64(Sound.maximumSampleCount) else {
      throw FileError(input.name, "is too long; use --duration")
    }
    var samples: [Float] = []
    samples.reserveCapacity(Int(settings.length ?? 0) * job.channelCount)
    let rendering = OfflineRenderer(plan: plan, settings: settings)
    _ = try job.renderBlocks(rendering, interrupted: FileError(input.name, "interrupted")) {
      block, frameCount, _ in
      samples += block[..<(frameCount * job.channelCount)]
    }
    let signal = Signal(
      interleaved: samples, channelCount: job.channelCount, rate: Double(job.rate))
    var take = Take(
      name: input.name, source: .pattern(composition), signal: signal, profile: job.profile,
      text: String(decoding: pattern.file.bytes, as: UTF8.self), feeling: composition.notes)
    take.duration = plan.duration
    return take
  }

  /// Reads a sound file at its own rate.
  ///
  /// An empty file, or one with NaN, is an error, because it would look like silence.
  public static func readSound(_ path: String, job: RenderJob) throws -> Take {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    let sound = try Sound(readingDescriptor: descriptor, path: path)
    func damaged(_ text: String) -> SoundFileError {
      SoundFileError(kind: .damaged, path: path, description: text)
    }
    guard sound.frameCount > 0 else { throw damaged("contains no audio") }
    let badCount = sound.interleaved.count { !$0.isFinite }
    guard badCount == 0 else {
      throw damaged("\(badCount) of \(sound.interleaved.count) samples are NaN or infinite")
    }
    let signal = Signal(
      interleaved: sound.interleaved, channelCount: sound.channelCount, rate: sound.rate)
    return Take(name: path, source: .sound, signal: signal, profile: job.profile)
  }

  /// Returns whether a file begins with the signature of a container that libsndfile reads.
  package static func isSoundFile(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var mark = [UInt8](repeating: 0, count: FileKind.signatureLength)
    guard unsafe Glibc.read(descriptor, &mark, mark.count) > 0 else { return false }
    return FileKind(of: mark)?.isSound == true
  }

  /// Reads several inputs at one rate, so that they can be compared.
  ///
  /// The rate is `rate` or, without it, the highest rate of the sound files, so that a pattern is
  /// rendered at the rate of the recording it is compared with. Patterns only have the rate of the
  /// job, or 8 kHz, eight times their bandwidth, if all are haptic and longer than a minute.
  ///
  /// - Throws: `InputError`, `FileError`, or `SoundFileError`.
  public static func load(_ inputs: [TakeInput], job: RenderJob, rate: Int?) throws -> [Take] {
    var job = job
    let takes = try inputs.map { input -> Take? in
      if case .sound(let path) = input {
        try readSound(path, job: job)
      } else {
        nil
      }
    }
    let rates = takes.compactMap { $0?.signal.rate }
    let patterns = try inputs.map { input -> LoadedPattern? in
      if case .pattern(let input) = input {
        try LoadedPattern(input, reading: job.readingOptions)
      } else {
        nil
      }
    }
    let isLong = patterns.allSatisfy { $0?.composition.isLongHaptics ?? false }
    job.rate = rate ?? rates.max().map { Int($0) } ?? (isLong ? longPatternRate : job.rate)
    return try zip(takes, patterns).compactMap { take, pattern in
      try take?.resampled(to: Double(job.rate)) ?? pattern.map { try render($0, job: job) }
    }
  }

  /// The rate of long patterns, in hertz.
  private static let longPatternRate = 8_000
}

extension HapticComposition {
  /// A Boolean value that indicates whether the composition lasts more than a minute and has only
  /// haptic events.
  fileprivate var isLongHaptics: Bool {
    duration > 60 && layers.allSatisfy { $0.pattern.events.allSatisfy(\.kind.isHaptic) }
  }
}

extension Take {
  /// Returns the take at another rate.
  ///
  /// - Throws: `SoundFileError`.
  fileprivate func resampled(to rate: Double) throws -> Take {
    guard signal.rate != rate else { return self }
    var take = self
    let count = max(1, signal.channels.count)
    let sound = Sound(interleaved: signal.interleaved, channelCount: count, rate: signal.rate)
    let resampled = try sound.resampled(to: rate, path: name).interleaved
    take.signal = Signal(interleaved: resampled, channelCount: count, rate: rate)
    return take
  }
}

/// A pattern that was read without errors and is ready to be compiled.
public struct LoadedPattern: Sendable {
  /// The origin of the pattern.
  public let input: PatternInput
  /// The file with its bytes.
  public let file: SourceFile
  /// The composition, with curves as straight lines.
  public let composition: HapticComposition
  /// Further information in the file.
  public let details: [(name: String, value: String)]
  private let sourceMap: SourceMap
  private let soundReferences: [ReadResult.SoundReference]
  private let findings: [Finding]

  /// Reads a pattern of any format.
  ///
  /// - Throws: The first error, an `InputError` or `FileError`.
  public init(_ input: PatternInput, reading: ReadingOptions = ReadingOptions()) throws {
    var reading = reading
    reading.wantsFindings = false
    file = try input.readFile()
    let examination = input.formats.examine(file, options: reading)
    var composition = try examination.get().linearized()
    if input.soundLookup == .none {
      composition.removeSoundFiles()
    }
    self.input = input
    self.composition = composition
    details = examination.details
    sourceMap = examination.sourceMap
    findings = examination.findings
    soundReferences = input.soundLookup == .none ? [] : examination.sounds
  }

  /// The paths of the file and its sound files.
  public var sourcePaths: [String] {
    var sources = soundReferences.map { FileSystem.join(input.folder ?? "", $0.path) }
    if case .file(let path) = input.origin {
      sources.append(path)
    }
    return sources
  }

  /// Returns the decoded sound files of the pattern at a rate.
  public func soundSamples(rate: Double) throws(InputError) -> [String: AudioBuffer] {
    try WaveformFiles.load(soundReferences, from: input.folder, rate: rate)
  }

  /// Returns the warnings about deviations in playback. The sound files are read once more.
  public func warnings() -> [Finding] {
    findings + WaveformFiles.warnings(soundReferences, from: input.folder)
  }

  /// Returns a finding if body locations of the pattern are merged, because no profile is for one
  /// of them.
  public func mergedBodyLocations(on profiles: [TransducerProfile]) -> Finding? {
    guard profiles.allSatisfy({ $0.bodyLocation == nil }) else { return nil }
    return PatternRules.mergedBodyLocations(
      of: composition, at: sourceMap.location(of: .composition))
  }

  /// Compiles the pattern, once for each distinct profile.
  public func plans(for profiles: [TransducerProfile], rate: Double, isRaw: Bool = false) throws
    -> [RenderPlan]
  {
    let samples = try soundSamples(rate: rate)
    return try profiles.indices.reduce(into: []) { plans, index in
      if let same = profiles[..<index].firstIndex(of: profiles[index]) {
        return plans.append(plans[same])
      }
      do throws(RenderError) {
        plans.append(
          try RenderPlan(
            compiling: composition, profile: profiles[index], rate: rate, samples: samples,
            isRaw: isRaw))
      } catch {
        throw InputError(error, location: sourceMap.location(of:))
      }
    }
  }
}

extension HapticComposition {
  /// Removes the events that play sound files.
  package mutating func removeSoundFiles() {
    for index in layers.indices {
      layers[index].pattern.events.removeAll { $0.kind.playsFile }
    }
  }
}

/// Loads the sound files that a pattern refers to, only from its own folder.
package enum WaveformFiles {
  /// Decodes the sound files at a rate.
  ///
  /// - Throws: The error of the first file that cannot be decoded, with its location.
  package static func load(
    _ waveforms: [ReadResult.SoundReference], from folder: String?, rate: Double
  )
    throws(InputError) -> [String: AudioBuffer]
  {
    var samples: [String: AudioBuffer] = [:]
    for waveform in waveforms where samples[waveform.path] == nil {
      do throws(SoundFileError) {
        let sound = try read(waveform.path, from: folder).resampled(to: rate, path: waveform.path)
        samples[waveform.path] = AudioBuffer(
          interleaved: sound.interleaved, channelCount: sound.channelCount)
      } catch {
        throw InputError(finding(error, of: waveform, in: folder))
      }
    }
    return samples
  }

  /// Returns the real path of a sound file, without checking its content.
  package static func path(of waveform: ReadResult.SoundReference, in folder: String?)
    throws(InputError) -> String
  {
    do throws(SoundFileError) {
      return try soundFolder(folder, waveform.path).file(at: waveform.path)
    } catch {
      throw InputError(finding(error, of: waveform, in: folder))
    }
  }

  /// Returns the real path of a sound file after decoding it.
  ///
  /// Some kinds of sound files begin with text, so that a script could be decoded as one.
  /// Therefore, the file must also begin with the signature of a common kind.
  package static func verifiedPath(of waveform: ReadResult.SoundReference, in folder: String?)
    throws(InputError) -> String
  {
    do throws(SoundFileError) {
      let sounds = try soundFolder(folder, waveform.path)
      let path = try sounds.file(at: waveform.path)
      _ = try sounds.sound(at: waveform.path)
      guard TakeInput.isSoundFile(path) else {
        throw SoundFileError(
          kind: .notSound, path: waveform.path, description: "is not a sound file of a common kind")
      }
      return path
    } catch {
      throw InputError(finding(error, of: waveform, in: folder))
    }
  }

  private static func finding(
    _ error: SoundFileError, of waveform: ReadResult.SoundReference, in folder: String?
  )
    -> Finding
  {
    Finding(
      .soundMissing, location: waveform.location,
      "the sound file \(waveform.path.inQuotes) \(error.description)",
      suggestion: error.kind == .missing
        ? folder.flatMap { SoundFolder(root: $0).suggestion(for: waveform.path) }.map {
          "did you mean \($0.inQuotes)?"
        }
          ?? "use '--sounds FOLDER' or '--without-sounds'" : nil)
  }

  /// Returns the errors and warnings of the sound files.
  package static func findings(_ waveforms: [ReadResult.SoundReference], from folder: String?)
    -> [Finding]
  {
    waveforms.flatMap { waveform -> [Finding] in
      do throws(SoundFileError) {
        let sound = try read(waveform.path, from: folder)
        _ = try sound.resampled(to: 48_000, path: waveform.path)
        return damageFindings(of: sound, waveform: waveform)
      } catch {
        return [finding(error, of: waveform, in: folder)]
      }
    }
  }

  /// Returns the warnings about damaged sound files. Files that cannot be read are skipped.
  package static func warnings(_ waveforms: [ReadResult.SoundReference], from folder: String?)
    -> [Finding]
  {
    var names: Set<String> = []
    return waveforms.filter { names.insert($0.path).inserted }.flatMap { waveform in
      (try? read(waveform.path, from: folder)).map { damageFindings(of: $0, waveform: waveform) }
        ?? []
    }
  }

  private static func damageFindings(of sound: Sound, waveform: ReadResult.SoundReference)
    -> [Finding]
  {
    let name = waveform.path.inQuotes
    var complaints =
      sound.truncation.map { ["the sound file \(name) \($0.text); only these play"] } ?? []
    let count = sound.interleaved.count
    let badCount = sound.interleaved.count { !$0.isFinite }
    if badCount == count, count > 0 {
      complaints.append("the sound file \(name) has no finite samples; it plays as silence")
    } else if badCount > 0 {
      complaints.append(
        "\(badCount) of \(count) samples of \(name) are NaN or infinite; they play as silence")
    }
    return complaints.map { Finding(.soundDamaged, location: waveform.location, $0) }
  }

  private static func read(_ path: String, from folder: String?) throws(SoundFileError) -> Sound {
    try soundFolder(folder, path).sound(at: path)
  }

  /// Returns the folder of a pattern's sound files. Shipped patterns have none.
  private static func soundFolder(_ folder: String?, _ path: String) throws(SoundFileError)
    -> SoundFolder
  {
    guard let folder else {
      throw SoundFileError(
        kind: .outside, path: path, description: "is not available to shipped patterns")
    }
    return SoundFolder(root: folder)
  }
}

/// Measures a sound file of any length on all cores, within some tens of megabytes.
public struct SoundMeasurement {
  /// The maximum duration of a sound that is searched for onsets, in seconds.
  static let maximumOnsetSearchSeconds = 60.0

  /// The kind of file, as named by libsndfile.
  public let container, encoding: String
  /// The sample rate, in hertz.
  public let rate: Double
  /// The number of frames in the file.
  public let frameCount: Int
  /// The difference between the announced and the actual length, or nil for a complete file.
  public let truncation: SoundTruncation?
  /// The levels of all channels together.
  public let overall: Levels
  /// The levels of each channel.
  public let channels: [Levels]
  /// The spectrum of each channel.
  public let spectra: [Spectrum]
  /// The onsets in the mean of the channels, or nil for a long sound.
  public let onsets: [Onset]?

  /// Measures a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - progress: Receives the measured fraction from time to time.
  /// - Throws: A `FileError` or `SoundFileError`.
  public init(_ path: String, progress: (Double) -> Void) throws {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    truncation = SoundTruncation(readingDescriptor: descriptor)
    let reader = try SoundFileReader(readingDescriptor: descriptor, path: path)
    container = reader.container
    encoding = reader.encoding
    rate = reader.rate
    let channelCount = reader.channelCount
    let promised = max(1, Double(reader.frameCount))
    let workers: SoundMeasurementWorkers
    do throws(AnalysisError) {
      workers = try SoundMeasurementWorkers(reader)
    } catch {
      throw FileError(path, error.description)
    }
    var frames = 0
    var kept: [Float]? = []
    var block = try workers.next()
    while !block.isEmpty {
      frames += block.count / channelCount
      if frames > Int(Self.maximumOnsetSearchSeconds * rate) {
        kept = nil
      }
      kept?.append(
        contentsOf: Signal(interleaved: block, channelCount: channelCount, rate: rate).mono)
      block = try workers.next(measuring: block)
      progress(min(1, Double(frames) / promised))
    }
    guard frames > 0 else {
      throw SoundFileError(kind: .notSound, path: path, description: "contains no audio")
    }
    frameCount = frames
    (overall, channels, spectra) = workers.finish()
    onsets = kept.map { [rate] in Array(Onsets(in: Signal($0, rate: rate))) }
  }
}

/// Distributes the measurement of a sound to threads: while a block is measured, the next one is
/// read.
private final class SoundMeasurementWorkers: Sendable {
  /// The number of samples in a block: 8 MiB, for about 20 ms of work.
  private static let blockSize = 1 << 21

  private let channelCount: Int
  private let blockReader: Mutex<BlockReader>
  private let loudness: Mutex<LoudnessMeasurement>
  private let channels: [Channel]

  /// The file and the most recent block. An empty block is the end.
  private struct BlockReader: ~Copyable {
    var reader: SoundFileReader
    var block = Result<[Float], SoundFileError>.success([])

    mutating func next() {
      let size = max(1, blockSize / reader.channelCount) * reader.channelCount
      var samples = [Float](repeating: 0, count: size)
      var span = samples.mutableSpan
      do throws(SoundFileError) {
        let count = try reader.read(into: &span)
        samples.removeLast(size - count * reader.channelCount)
        block = .success(samples)
      } catch {
        block = .failure(error)
      }
    }
  }

  /// One channel, measured by one thread at a time.
  private final class Channel: Sendable {
    let measurement: Mutex<ChannelMeasurement>
    init(rate: Double) { measurement = Mutex(ChannelMeasurement(rate: rate)) }
  }

  init(_ reader: consuming sending SoundFileReader) throws(AnalysisError) {
    let count = reader.channelCount
    let rate = reader.rate
    channelCount = count
    loudness = Mutex(try LoudnessMeasurement(channelCount: count, rate: rate))
    channels = (0..<count).map { _ in Channel(rate: rate) }
    blockReader = Mutex(BlockReader(reader: reader))
  }

  /// Reads the next block while the previous one is measured. An empty block is the end.
  func next(measuring block: [Float]? = nil) throws(SoundFileError) -> [Float] {
    // The longest jobs start first, so that none runs alone at the end.
    WorkerPool.run(jobCount: block == nil ? 2 : channelCount + 2) { [self] piece in
      switch piece {
      case 0:
        if let block {
          loudness.withLock { $0.add(block.span) }
        }
      case 1:
        blockReader.withLock { $0.next() }
      default:
        let channel = piece - 2
        if let block {
          channels[channel].measurement.withLock {
            $0.add(block.span, channel: channel, channelCount: channelCount)
          }
        }
      }
    } meanwhile: { _ in
    }
    return try blockReader.withLock { $0.block }.get()
  }

  func finish() -> (whole: Levels, channels: [Levels], spectra: [Spectrum]) {
    let figures = channels.map { channel in channel.measurement.withLock { $0.finish() } }
    let levels = figures.map(\.0)
    let whole = Levels(joining: levels, integratedLoudness: loudness.withLock { $0.finish() })
    return (whole, levels, figures.compactMap(\.1))
  }
}
