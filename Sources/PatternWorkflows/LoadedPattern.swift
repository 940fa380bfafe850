public import Reading
public import HapticFormats
public import HapticModel
public import HapticRender
internal import PatternRules
internal import SystemSupport

/// A pattern that was read without a mistake, and is ready to be compiled.
public struct LoadedPattern: Sendable {
  /// Where the pattern came from.
  public let input: PatternInput
  /// The file as it was read; without bytes where they were not to be kept.
  public let file: SourceFile
  /// What the file holds, its curves made of straight lines.
  public let composition: HapticComposition
  /// What else the file says about itself.
  public let details: [(name: String, value: String)]
  private let places: any SourcePlaces
  private let sounds: [Examination.SoundReference]

  /// Reads a pattern of any format, or throws its first error.
  ///
  /// - Parameters:
  ///   - input: The pattern.
  ///   - reading: How it is read.
  ///   - keepsFile: Whether `file` has its bytes; without them large files take a fraction of the memory.
  /// - Throws: `InputError` or `FileError`.
  public init(_ input: PatternInput, reading: ReadingOptions = ReadingOptions(), keepsFile: Bool = true) throws {
    var reading = reading
    reading.wantsFindings = false
    if !keepsFile, let (pieces, places) = input.readingInPieces(reading) {
      self.input = input
      file = SourceFile([], name: input.name)
      composition = pieces.composition.linearized()
      details = pieces.details
      self.places = places
      sounds = []
      return
    }
    let file = try input.file()
    self.file = keepsFile ? file : SourceFile([], name: input.name)
    let examination = input.formats.examine(file, options: reading)
    var composition = try examination.get().linearized()
    if input.sounds == .none { composition.removeSoundFiles() }
    self.composition = composition
    self.input = input
    details = examination.details
    places = examination.places
    sounds = input.sounds == .none ? [] : examination.sounds
  }

  /// The paths of the files that the pattern is made from.
  public var sources: [String] {
    var sources = sounds.map { FileSystem.join(input.folder ?? "", $0.path) }
    if case .file(let path) = input.origin { sources.append(path) }
    return sources
  }

  /// The sound files that the pattern plays, at a rate.
  public func samples(rate: Double) throws(InputError) -> [String: AudioBuffer] {
    try WaveformFiles.load(sounds, from: input.folder, rate: rate)
  }

  /// What of the pattern's sound files does not play as it should; reads them once more.
  public func soundWarnings() -> [Finding] { WaveformFiles.warnings(sounds, from: input.folder) }

  /// Compiles the pattern, once for each profile that differs.
  public func plans(for profiles: [TransducerProfile], rate: Double) throws -> [RenderPlan] {
    let samples = try samples(rate: rate)
    var plans: [RenderPlan] = []
    for (index, profile) in profiles.enumerated() {
      let same = profiles.firstIndex(of: profile) ?? index
      if same < index {
        plans.append(plans[same])
        continue
      }
      do { plans.append(try RenderPlan(compiling: composition, profile: profile, rate: rate, samples: samples)) } catch
      { throw InputError(error, places: places.place(of:)) }
    }
    return plans
  }
}

extension HapticComposition {
  /// Leaves out the events that play sound files.
  package mutating func removeSoundFiles() {
    for index in layers.indices { layers[index].pattern.events.removeAll { $0.kind.playsFile } }
  }
}
