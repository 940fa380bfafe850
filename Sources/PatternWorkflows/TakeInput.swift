public import HapticFormats
public import VendorFormats
internal import Glibc
internal import HapticModel
internal import HapticRender
public import PatternComparison
internal import SignalAnalysis
internal import SoundFile
public import SystemSupport

/// Something to look at or listen to as the user named it: a pattern or a sound file.
public enum TakeInput: Equatable, Sendable {
  case pattern(PatternInput)
  case sound(path: String)

  /// What the user's words stand for, and what is wrong with some of them.
  ///
  /// A file that begins as a sound file does or is named like one is one; all else is looked up as a
  /// pattern.
  public static func find(
    _ words: [String], formats: FormatRegistry = .standard, sounds: PatternInput.SoundLookup = .besidePattern
  ) -> (inputs: [TakeInput], problems: [FileError]) {
    var inputs: [TakeInput] = []
    var problems: [FileError] = []
    for word in words {
      if word != "-", FileSystem.entry(at: word) == .file,
        SoundFileFormat.container(ofName: word) != nil || isSound(word)
      {
        inputs.append(.sound(path: word))
        continue
      }
      let found = PatternInput.find([word], formats: formats, sounds: sounds)
      inputs += found.inputs.map(TakeInput.pattern)
      problems += found.problems
    }
    return (inputs, problems)
  }

  /// The name messages give it.
  public var name: String {
    switch self {
    case .pattern(let input): input.name
    case .sound(let path): path
    }
  }

  /// The file that it is read from, if it is one.
  public var path: String? {
    switch self {
    case .sound(let path): path
    case .pattern(let input): if case .file(let path) = input.origin { path } else { nil }
    }
  }

  /// The files that it is made from, sounds of a pattern included; what cannot be read names none.
  package var sources: [String] {
    switch self {
    case .sound(let path): [path]
    case .pattern(let input): input.sources
    }
  }

  /// What an output made from it is called, without ending.
  public var outputStem: String {
    switch self {
    case .pattern(let input): input.outputStem
    case .sound(let path): FileSystem.stem(of: path)
    }
  }

  /// Reads it; a pattern is compiled and rendered as `render` would, on one channel.
  ///
  /// - Throws: `InputError`, `FileError` or `SoundFileError`.
  public func take(_ job: RenderJob) throws -> Take {
    switch self {
    case .pattern(let input): try Self.render(LoadedPattern(input, reading: job.reading), job)
    case .sound(let path): try Self.read(path, job)
    }
  }

  /// Compiles and renders a pattern that was read.
  public static func render(_ pattern: LoadedPattern, _ job: RenderJob) throws -> Take {
    let (input, composition) = (pattern.input, pattern.composition)
    let profiles = Array(job.channels().profiles.prefix(1))
    let plan = try pattern.plans(for: profiles, rate: Double(job.rate))[0]
    let settings = job.settings(for: plan)
    guard (settings.length ?? 0) * Int64(job.channelCount) <= Int64(Sound.longest) else {
      throw FileError(input.name, "is too long; use --duration")
    }
    var samples: [Float] = []
    samples.reserveCapacity(Int(settings.length ?? 0) * job.channelCount)
    let rendering = OfflineRenderer(plan: plan, settings: settings)
    _ = try job.render(rendering, interrupted: FileError(input.name, "interrupted")) { block, frameCount, _ in
      samples += block[..<(frameCount * job.channelCount)]
    }
    let signal = Signal(interleaved: samples, channelCount: job.channelCount, rate: Double(job.rate))
    var take = Take(
      name: input.name, source: .pattern(composition), signal: signal, profile: job.profile,
      text: String(decoding: pattern.file.bytes, as: UTF8.self), feeling: composition.notes)
    take.duration = plan.duration
    return take
  }

  /// A sound file as it is, at its own rate.
  ///
  /// One that holds nothing, or NaN, is refused: it would be looked at as silence.
  public static func read(_ path: String, _ job: RenderJob) throws -> Take {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    let sound = try Sound(readingDescriptor: descriptor, path: path)
    func damaged(_ text: String) -> SoundFileError { SoundFileError(kind: .damaged, path: path, description: text) }
    guard sound.frameCount > 0 else { throw damaged("contains no audio") }
    let badCount = sound.interleaved.count { !$0.isFinite }
    guard badCount == 0 else { throw damaged("\(badCount) of \(sound.interleaved.count) samples are NaN or infinite") }
    let signal = Signal(interleaved: sound.interleaved, channelCount: sound.channelCount, rate: sound.rate)
    return Take(name: path, source: .sound, signal: signal, profile: job.profile)
  }

  /// Whether a file begins with the mark of a container that libsndfile reads.
  package static func isSound(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var mark = [UInt8](repeating: 0, count: FileKind.markLength)
    guard unsafe Glibc.read(descriptor, &mark, mark.count) > 0 else { return false }
    return FileKind(of: mark)?.isSound == true
  }

  /// Reads several at one rate, so that they can be laid over each other.
  ///
  /// That is the rate asked for, else the greatest of the sound files', else the job's: a pattern is
  /// rendered at the rate of the recording it is held against, and nothing is resampled in vain. Haptic patterns
  /// that are all longer than a minute are rendered at 8 kHz, eight times what they hold.
  ///
  /// - Parameters:
  ///   - inputs: Patterns and sound files.
  ///   - job: How patterns are rendered.
  ///   - rate: Frames per second that were asked for, or nothing.
  /// - Throws: `InputError`, `FileError` or `SoundFileError`.
  public static func takes(_ inputs: [TakeInput], _ job: RenderJob, rate: Int?) throws -> [Take] {
    var job = job
    var takes = [Take?](repeating: nil, count: inputs.count)
    for (index, input) in inputs.enumerated() {
      if case .sound(let path) = input { takes[index] = try read(path, job) }
    }
    let rates = takes.compactMap { $0?.signal.rate }
    let patterns = try inputs.map { input -> LoadedPattern? in
      guard case .pattern(let pattern) = input else { return nil }
      return try LoadedPattern(pattern, reading: job.reading)
    }
    let isLong = patterns.allSatisfy { $0?.composition.isLongHaptics ?? false }
    job.rate = rate ?? rates.max().map { Int($0) } ?? (isLong ? longRate : job.rate)
    return try inputs.indices.map { index in
      if let take = takes[index] { return try take.at(Double(job.rate)) }
      return try patterns[index].map { try render($0, job) } ?? inputs[index].take(job)
    }
  }

  /// Frames per second of long patterns.
  private static let longRate = 8_000
}

extension HapticComposition {
  /// Whether it lasts more than a minute and has haptic events only.
  fileprivate var isLongHaptics: Bool {
    duration > 60 && layers.allSatisfy { $0.pattern.events.allSatisfy(\.kind.isHaptic) }
  }
}

extension Take {
  /// The take at another rate.
  ///
  /// - Throws: `SoundFileError`
  fileprivate func at(_ rate: Double) throws -> Take {
    guard signal.rate != rate else { return self }
    var take = self
    let count = max(1, signal.channels.count)
    let sound = try Sound(interleaved: signal.interleaved, channelCount: count, rate: signal.rate).resampled(
      to: rate, path: name)
    take.signal = Signal(interleaved: sound.interleaved, channelCount: count, rate: rate)
    return take
  }
}
