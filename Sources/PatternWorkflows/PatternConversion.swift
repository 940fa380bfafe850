public import Reading
public import HapticFormats
public import VendorFormats

/// Reads a pattern of one format and writes it in another, with everything that is lost on the way.
public struct PatternConversion: Sendable {
  /// The format to write.
  public var target: HapticFormat
  /// The format to read, or nil for the one that recognises the content.
  public var source: HapticFormat?
  /// How the pattern is read.
  public var reading: ReadingOptions
  /// How it is written.
  public var writing: WritingOptions
  /// Whether events that play sound files are left out.
  public var leavesOutSounds = false

  /// Something that was not kept, and where it stands in the file that was read.
  public struct PlacedLoss: Equatable, Sendable {
    /// What became of what.
    public var loss: Loss
    /// The place of the value it is about.
    public var place: SourcePlace

    /// Makes a loss at a place.
    public init(loss: Loss, place: SourcePlace) { (self.loss, self.place) = (loss, place) }
  }

  /// What a conversion gives.
  public struct Result: Sendable {
    /// The format that was read.
    public var source: HapticFormat
    /// The files in the target's format; at least one.
    public var files: [Writing.File]
    /// The sound files that the written files name, relative to their folder, with their places in
    /// the file that was read; each path once.
    public var sounds: [Examination.SoundReference]
    /// What could not be kept, that of reading first.
    public var losses: [PlacedLoss]
    /// What reading found below errors.
    public var findings: [Finding]
  }

  /// Makes a conversion to a format.
  public init(
    to target: HapticFormat, from source: HapticFormat? = nil, reading: ReadingOptions = ReadingOptions(),
    writing: WritingOptions = WritingOptions()
  ) {
    (self.target, self.source, self.reading, self.writing) = (target, source, reading, writing)
  }

  private static let unwritable = Rule.error(
    "format-unwritable", "syntax", "The format must be one that can be written.")

  /// Converts a file of one of the formats.
  ///
  /// A file of the target's own format is set in canonical form, so that nothing changes but the
  /// layout, unless an option asks for more.
  ///
  /// - Throws: The first error of reading, or why nothing can be written.
  public func convert(_ file: SourceFile, formats: FormatRegistry = .standard) throws(InputError) -> Result {
    let format = if let source { source } else { try formats.format(of: file) }
    let examination = source?.examine(file, options: reading) ?? formats.examine(file, options: reading)
    var composition = try examination.get()
    if leavesOutSounds { composition.removeSoundFiles() }
    func result(_ files: [Writing.File], _ losses: [Loss] = []) -> Result {
      Result(
        source: format, files: files, sounds: sounds(of: examination, in: files),
        losses: losses.map { PlacedLoss(loss: $0, place: $0.place ?? examination.places.place(of: $0.element)) },
        findings: examination.findings.filter { $0.severity < .error })
    }
    if format.id == target.id, isPlain, let canonical = try format.canonical(file) {
      return result([Writing.File(canonical)])
    }
    guard let written = try target.write(composition, options: writing) else {
      throw InputError(
        Finding(Self.unwritable, place: SourcePlace(name: file.name), "the format \(target.id) cannot be written"))
    }
    return result(written.files, examination.losses + written.losses)
  }

  /// The sound files of a pattern that written files still name, each path once.
  private func sounds(of examination: Examination, in files: [Writing.File]) -> [Examination.SoundReference] {
    guard !examination.sounds.isEmpty else { return [] }
    let written = files.filter { $0.ending == nil }.flatMap { file in
      target.examine(SourceFile(file.bytes, name: writing.name), options: ReadingOptions(wantsFindings: false)).sounds
    }
    var names = Set(written.map(\.path))
    return examination.sounds.filter { names.remove($0.path) != nil }
  }

  /// Whether nothing but the format is asked for.
  private var isPlain: Bool {
    writing == WritingOptions(name: writing.name) && reading.amplitude == .root && !leavesOutSounds
  }
}
