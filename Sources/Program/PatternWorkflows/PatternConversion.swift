public import HapticFormats
public import HapticModel
public import Reading
public import VendorFormats

/// Converts a pattern from one format to another, and lists every loss.
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

  /// A loss with its location in the source file.
  public struct LocatedLoss: Equatable, Sendable {
    /// The loss.
    public var loss: Loss
    /// The location of the value concerned.
    public var location: FileLocation

    /// Creates a loss with a location.
    public init(loss: Loss, location: FileLocation) {
      self.loss = loss
      self.location = location
    }
  }

  /// The result of a conversion.
  public struct Result: Sendable {
    /// The format of the source file.
    public var sourceFormat: HapticFormat
    /// The files in the target format, at least one.
    public var files: [WrittenFiles.File]
    /// The sound files that the written files refer to, relative to their folder, with their
    /// locations in the source file. Each path occurs once.
    public var sounds: [ReadResult.SoundReference]
    /// The losses of reading, then those of writing.
    public var losses: [LocatedLoss]
    /// The findings of reading, without errors.
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

  private static let formatUnwritable = Rule.error(
    "format-unwritable", "syntax", "The format must be one that can be written.")

  /// Converts a file.
  ///
  /// If the file is in the target format and no option requests a change, only its layout changes:
  /// the result is its canonical text.
  ///
  /// - Throws: The first error of reading, or the reason that nothing can be written.
  public func convert(_ file: SourceFile, formats: FormatRegistry = .standard) throws(InputError)
    -> Result
  {
    let format = if let sourceFormat { sourceFormat } else { try formats.format(of: file) }
    let examination =
      sourceFormat?.examine(file, options: readingOptions)
      ?? formats.examine(file, options: readingOptions)
    var composition = try examination.get()
    if omitsSounds {
      composition.removeSoundFiles()
    }
    func result(_ files: [WrittenFiles.File], _ losses: [Loss] = []) -> Result {
      Result(
        sourceFormat: format, files: files, sounds: sounds(of: examination, in: files),
        losses: losses.map {
          LocatedLoss(
            loss: $0, location: $0.location ?? examination.sourceMap.location(of: $0.element))
        },
        findings: examination.findings.filter { $0.severity < .error })
    }
    if format.id == targetFormat.id, changesOnlyFormat,
      let canonical = try format.canonicalText(of: file)
    {
      return result([WrittenFiles.File(canonical)])
    }
    guard let written = try targetFormat.write(composition, options: writingOptions) else {
      throw InputError(
        Finding(
          Self.formatUnwritable, location: FileLocation(name: file.name),
          "the format \(targetFormat.id) cannot be written"))
    }
    return result(written.files, examination.losses + written.losses)
  }

  /// Returns the sound files of a pattern that the written files refer to, each path once.
  private func sounds(of examination: ReadResult, in files: [WrittenFiles.File]) -> [ReadResult
    .SoundReference]
  {
    guard !examination.sounds.isEmpty else { return [] }
    let written = files.filter { $0.fileExtension == nil }.flatMap { file in
      targetFormat.examine(
        SourceFile(file.bytes, name: writingOptions.baseName),
        options: ReadingOptions(wantsFindings: false)
      ).sounds
    }
    var names = Set(written.map(\.path))
    return examination.sounds.filter { names.remove($0.path) != nil }
  }

  /// A Boolean value that indicates whether the options request nothing but another format.
  private var changesOnlyFormat: Bool {
    writingOptions == WritingOptions(baseName: writingOptions.baseName)
      && readingOptions.amplitudeMapping == .root && !omitsSounds
  }
}

/// The quality of conversions between formats, measured by converting examples and reading them
/// again.
public enum FormatMatrix {
  /// The content of an example.
  public enum Content: String, CaseIterable, Sendable {
    /// Transients with different values.
    case transients
    /// Consecutive continuous events with curves.
    case continuous
    /// Transients and overlapping continuous events with envelope times.
    case mixed
    /// An audio event and a transient.
    case audio
  }

  /// The quality of a conversion.
  public enum Grade: String, CaseIterable, Sendable {
    /// All values are equal.
    case exact
    /// All values are within 1 % of full scale.
    case close
    /// The content is converted with reported losses.
    case approximate
    /// The content is lost, or the format cannot be written.
    case none
  }

  /// The measurement of one conversion.
  public struct Measurement: Sendable {
    /// The quality of the conversion.
    public var grade: Grade
    /// The maximum difference, as a fraction of full scale.
    public var difference: Double
    /// The messages of the losses without duplicates, in their order.
    public var losses: [String]
  }

  /// The maximum difference of an exact conversion: the precision of 32-bit numbers.
  private static let exactTolerance = 1e-6
  /// The maximum difference of a close conversion.
  public static let closeTolerance = 0.01

  /// Returns the example of a content.
  public static func example(_ content: Content) -> HapticComposition {
    func tap(_ time: Double, _ intensity: Float, _ sharpness: Float) -> HapticEvent {
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    }
    func hum(_ time: Double, _ duration: Double, _ intensity: Float, _ sharpness: Float)
      -> HapticEvent
    {
      HapticEvent(
        kind: .hapticContinuous, time: time, duration: duration,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    }
    func curve(_ id: DynamicParameterID, _ time: Double, _ points: [(Double, Float)])
      -> ParameterCurve
    {
      ParameterCurve(
        id: id, time: time, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
    }
    var pattern = HapticPattern()
    switch content {
    case .transients:
      pattern.events = [
        tap(0.1, 1, 0.5), tap(0.35, 0.8, 0.25), tap(0.6, 0.6, 0.75), tap(0.85, 0.9, 1),
      ]
    case .continuous:
      pattern.events = [hum(0, 0.8, 1, 0.4), hum(1.2, 0.6, 0.8, 0.6)]
      pattern.curves = [
        curve(.hapticIntensityControl, 0, [(0, 0), (0.2, 1), (0.5, 0.4), (0.8, 0)]),
        curve(.hapticSharpnessControl, 0, [(0, 0), (0.4, 0.3), (0.8, -0.2)]),
        curve(.hapticIntensityControl, 1.2, [(0, 0), (0.3, 1), (0.6, 0)]),
        curve(.hapticSharpnessControl, 1.2, [(0, 0), (0.6, 0.2)]),
      ]
    case .mixed:
      pattern.events = [
        hum(0, 1, 0.7, 0.2), hum(0.5, 1, 0.5, 0.8), tap(0.25, 1, 0.5), tap(1.8, 0.5, 0.5),
      ]
      pattern.events[0].parameters[.attackTime] = 0.4
      pattern.events[0].parameters[.releaseTime] = 0.5
    case .audio:
      pattern.events = [
        tap(0, 1, 0.5), HapticEvent(kind: .audioContinuous, time: 0.2, duration: 0.5),
      ]
    }
    return HapticComposition(pattern)
  }

  /// Measures the conversion of a content from one format to another.
  ///
  /// The example is first written in the source format and read again, so that the format can
  /// represent it. If the source format cannot be written, the example itself is used.
  public static func measure(_ content: Content, from source: HapticFormat, to target: HapticFormat)
    -> Measurement
  {
    let example = example(content)
    let given =
      source.isWritable ? roundTrip(example, through: source)?.composition ?? example : example
    guard let arrived = roundTrip(given, through: target) else {
      return Measurement(grade: .none, difference: 1, losses: [])
    }
    let losses: [String] = arrived.losses.reduce(into: []) {
      if !$0.contains($1) {
        $0.append($1)
      }
    }
    let difference = CompositionDifference(given, arrived.composition).maximum
    let grade: Grade =
      difference <= exactTolerance && losses.isEmpty
      ? .exact : difference <= closeTolerance ? .close : .approximate
    return Measurement(grade: grade, difference: difference, losses: losses)
  }

  /// Returns a composition after writing it in a format and reading it again; nil if that fails.
  package static func roundTrip(
    _ composition: HapticComposition, through format: HapticFormat,
    options: WritingOptions = WritingOptions()
  ) -> (composition: HapticComposition, losses: [String])? {
    guard let writing = (try? format.write(composition, options: options)) ?? nil else {
      return nil
    }
    var layers: [HapticComposition.Layer] = []
    var losses = writing.losses.map(\.message)
    var loop: HapticComposition.LoopPoints?
    for file in writing.files where file.fileExtension == nil {
      let name = "x" + file.nameSuffix + "." + (format.fileExtensions.first ?? format.id)
      let examination = format.examine(
        SourceFile(file.bytes, name: name), options: ReadingOptions())
      guard let read = try? examination.get() else { return nil }
      layers += read.layers
      loop = read.loop ?? loop
      losses += examination.losses.map(\.message)
    }
    return (HapticComposition(layers: layers, loop: loop), losses)
  }
}
