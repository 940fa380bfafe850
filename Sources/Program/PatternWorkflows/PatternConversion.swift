public import HapticFormats
internal import HapticModel
public import Reading
public import VendorFormats

/// A conversion of a pattern from one format to another, which lists every loss.
public struct PatternConversion: Sendable {
  /// The format to write.
  public var targetFormat: HapticFormat
  /// The format to read, or nil to recognize it from the content.
  public var sourceFormat: HapticFormat?
  /// The options for reading.
  public var readingOptions: ReadingOptions
  /// The options for writing.
  public var writingOptions: WritingOptions
  /// A Boolean value that indicates whether events that play sound files are omitted.
  public var omitsSounds = false

  /// A loss of information with its location in the source file.
  public struct LocatedLoss: Equatable, Sendable {
    /// The information that the conversion lost.
    public var loss: Loss
    /// The location of the affected value in the source file.
    public var location: FileLocation

    /// Creates a loss with a location.
    public init(loss: Loss, location: FileLocation) {
      self.loss = loss
      self.location = location
    }
  }

  /// The result of a conversion, with its losses and findings.
  public struct Result: Sendable {
    /// The format of the source file.
    public var sourceFormat: HapticFormat
    /// The written files in the target format, at least one.
    public var files: [WrittenFiles.File]
    /// The paths of the sound files that the written files refer to, relative to the folder of the
    /// written files. Each path occurs once, with its location in the source file.
    public var soundReferences: [ReadResult.SoundReference]
    /// The losses of reading, followed by the losses of writing.
    public var losses: [LocatedLoss]
    /// The findings of reading the source file. None of them is an error.
    public var findings: [Finding]
  }

  /// Creates a conversion.
  ///
  /// - Parameters:
  ///   - target: The format to write.
  ///   - source: The format to read, or nil to recognize it from the content.
  ///   - readingOptions: The options for reading.
  ///   - writingOptions: The options for writing.
  public init(
    to target: HapticFormat, from source: HapticFormat? = nil,
    readingOptions: ReadingOptions = ReadingOptions(),
    writingOptions: WritingOptions = WritingOptions()
  ) {
    self.targetFormat = target
    self.sourceFormat = source
    self.readingOptions = readingOptions
    self.writingOptions = writingOptions
  }

  private static let unwritableFormatRule = Rule.error(
    "format-unwritable", "syntax", "The target format must be writable.")

  /// Converts a pattern file to the target format.
  ///
  /// If the file is in the target format and no option requests a change, only its layout changes:
  /// the result is its canonical text.
  ///
  /// - Throws: The first error of reading, or the reason that nothing can be written.
  public func convert(_ file: SourceFile, formats: FormatRegistry = .standard) throws(InputError)
    -> Result
  {
    let fileFormat = if let sourceFormat { sourceFormat } else { try formats.format(of: file) }
    let readResult =
      sourceFormat?.examine(file, options: readingOptions)
      ?? formats.examine(file, options: readingOptions)
    var composition = try readResult.get()
    if omitsSounds {
      composition.removeSoundFiles()
    }
    let writtenFiles: [WrittenFiles.File]
    var writingLosses: [Loss] = []
    if fileFormat.id == targetFormat.id, changesOnlyFormat,
      let canonical = try fileFormat.canonicalText(of: file)
    {
      writtenFiles = [WrittenFiles.File(canonical)]
    } else {
      guard let written = try targetFormat.write(composition, options: writingOptions) else {
        throw InputError(
          Finding(
            Self.unwritableFormatRule, location: FileLocation(name: file.name),
            "the format \(targetFormat.id) cannot be written"))
      }
      writtenFiles = written.files
      writingLosses = readResult.losses + written.losses
    }
    return Result(
      sourceFormat: fileFormat, files: writtenFiles,
      soundReferences: referencedSounds(of: readResult, in: writtenFiles),
      losses: writingLosses.map { loss in
        let location = loss.location ?? readResult.sourceMap.location(of: loss.compositionElement)
        return LocatedLoss(loss: loss, location: location)
      },
      findings: readResult.findings.filter { $0.severity < .error })
  }

  /// Returns the sound files of a pattern that the written files refer to, each path once.
  private func referencedSounds(of readResult: ReadResult, in files: [WrittenFiles.File])
    -> [ReadResult.SoundReference]
  {
    guard !readResult.soundReferences.isEmpty else { return [] }
    let writtenSounds = files.filter { $0.fileExtension == nil }.flatMap { file in
      targetFormat.examine(
        SourceFile(file.bytes, name: writingOptions.baseName),
        options: ReadingOptions(wantsFindings: false)
      ).soundReferences
    }
    var remainingPaths = Set(writtenSounds.map(\.path))
    return readResult.soundReferences.filter { remainingPaths.remove($0.path) != nil }
  }

  /// A Boolean value that indicates whether the options request no change other than the conversion
  /// to another format.
  private var changesOnlyFormat: Bool {
    writingOptions == WritingOptions(baseName: writingOptions.baseName)
      && readingOptions.amplitudeMapping == .root && !omitsSounds
  }
}
