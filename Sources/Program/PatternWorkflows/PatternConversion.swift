public import HapticFormats
public import HapticModel
public import Reading
public import VendorFormats

/// Reads a pattern of one format and writes it in another, with everything that is lost on the way.
public struct PatternConversion: Sendable {
  /// The format to write.
  public var targetFormat: HapticFormat
  /// The format to read, or nil for the one that recognises the content.
  public var sourceFormat: HapticFormat?
  /// How the pattern is read.
  public var readingOptions: ReadingOptions
  /// How it is written.
  public var writingOptions: WritingOptions
  /// Whether events that play sound files are left out.
  public var omitsSounds = false

  /// Something that was not kept, and where it stands in the file that was read.
  public struct LocatedLoss: Equatable, Sendable {
    /// What became of what.
    public var loss: Loss
    /// The place of the value it is about.
    public var location: FileLocation

    /// Makes a loss at a place.
    public init(loss: Loss, location place: FileLocation) {
      self.loss = loss
      self.location = place
    }
  }

  /// What a conversion gives.
  public struct Result: Sendable {
    /// The format that was read.
    public var sourceFormat: HapticFormat
    /// The files in the target's format; at least one.
    public var files: [WrittenFiles.File]
    /// The sound files that the written files name, relative to their folder, with their places in
    /// the file that was read; each path once.
    public var sounds: [ReadResult.SoundReference]
    /// What could not be kept, that of reading first.
    public var losses: [LocatedLoss]
    /// What reading found below errors.
    public var findings: [Finding]
  }

  /// Makes a conversion to a format.
  public init(
    to target: HapticFormat, from source: HapticFormat? = nil,
    readingOptions reading: ReadingOptions = ReadingOptions(),
    writingOptions writing: WritingOptions = WritingOptions()
  ) {
    self.targetFormat = target
    self.sourceFormat = source
    self.readingOptions = reading
    self.writingOptions = writing
  }

  private static let formatUnwritable = Rule.error(
    "format-unwritable", "syntax", "The format must be one that can be written.")

  /// Converts a file of one of the formats.
  ///
  /// A file of the target's own format is set in canonical form, so that nothing changes but the
  /// layout, unless an option asks for more.
  ///
  /// - Throws: The first error of reading, or why nothing can be written.
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

  /// The sound files of a pattern that written files still name, each path once.
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

  /// Whether nothing but the format is asked for.
  private var changesOnlyFormat: Bool {
    writingOptions == WritingOptions(baseName: writingOptions.baseName)
      && readingOptions.amplitudeMapping == .root && !omitsSounds
  }
}

/// What conversions between formats keep, measured by converting examples and reading them again.
public enum FormatMatrix {
  /// What an example is made of.
  public enum Content: String, CaseIterable, Sendable {
    /// Transients with different values.
    case transients
    /// Continuous events one after the other, with curves.
    case continuous
    /// Transients above continuous events that overlap, with envelope times.
    case mixed
    /// Audio events beside a transient.
    case audio
  }

  /// How much of a content arrives.
  public enum Grade: String, CaseIterable, Sendable {
    /// Everything, number by number.
    case exact
    /// Everything within a hundredth of full scale.
    case close
    /// What can be, with losses that are reported.
    case approximate
    /// Nothing: the format cannot hold it, or cannot be written.
    case none
  }

  /// What was measured of one content.
  public struct Measurement: Sendable {
    /// How much of the content arrives.
    public var grade: Grade
    /// The largest difference, as a share of full scale.
    public var difference: Double
    /// The sentences of the losses, each once, in their order.
    public var losses: [String]
  }

  /// The difference up to which a conversion is exact: the precision of 32-bit numbers.
  private static let exactTolerance = 1e-6
  /// The difference up to which a conversion is close.
  public static let closeTolerance = 0.01

  /// The example of a content.
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

  /// Measures what arrives of a content of one format in another.
  ///
  /// The example is first written in the source's format and read again, so that it is one that the
  /// format can hold; where the source is only read, the example itself is taken.
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

  /// A composition as it is after being written in a format and read again; nil where it cannot be.
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
