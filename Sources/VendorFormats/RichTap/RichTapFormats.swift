public import HapticFormats
public import Reading
public import HapticModel

/// RichTap's haptic effects, versions 1 and 2, a text in JSON; read with the limits of the decoder
/// of HarmonyOS.
///
/// Events without curves are one layer, those with curves as few as possible; what only one of two
/// vibrators plays is in layers named `left` and `right`.
public struct HEFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `he`.
  public var id: String { "he" }
  /// The name of its maker.
  public var title: String { "RichTap HE" }
  /// `he`.
  public var endings: [String] { ["he"] }
  /// The rules of the decoder, and of the dialect of OpenHarmony's converter.
  public var rules: [Rule] { RichTapRules.he.all }
  /// The versions, `2` and `1`.
  public var dialects: [String] { ["2", "1"] }

  /// Certain for a JSON object with `PatternList`, or with a `Pattern` of HE events.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    guard let outline = JSONOutline(bytes), outline.has("Metadata") else { return .no }
    if outline.has("PatternList") { return .certain }
    // AHAP has the same outermost keys.
    let isHE =
      outline.has("Pattern") && outline.nestedKeys.contains("Type")
      && !outline.nestedKeys.contains("EventType")
    return isHE ? .certain : .no
  }

  /// Reads a file and checks it against every rule.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    RichTapText.examine(file, .he, options)
  }

  /// Writes a composition in whole milliseconds and percent.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try RichTapText.write(composition, .he, options)
  }

  /// The text in a fixed layout and order of keys; unknown keys are kept.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? { try RichTapText.canonical(file, .he) }
}

/// The haptic files of HarmonyOS and OpenHarmony, a text in JSON.
///
/// Layers are those of ``HEFormat``.
public struct OHFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `oh`.
  public var id: String { "oh" }
  /// The name of its system.
  public var title: String { "HarmonyOS haptic JSON" }
  /// `oh.json`; files of other names are recognised by their content.
  public var endings: [String] { ["oh.json"] }
  /// The rules of the decoder, and of the dialect of OpenHarmony's converter.
  public var rules: [Rule] { RichTapRules.oh.all }

  /// Certain for a JSON object with `Channels` and `MetaData`.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    guard let outline = JSONOutline(bytes), outline.has("Channels") else { return .no }
    return outline.has("MetaData") ? .certain : .no
  }

  /// Reads a file and checks it against every rule.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    RichTapText.examine(file, .oh, options)
  }

  /// Writes a composition in whole milliseconds and percent.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try RichTapText.write(composition, .oh, options)
  }

  /// The text in a fixed layout and order of keys; unknown keys are kept.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? { try RichTapText.canonical(file, .oh) }
}

/// What both formats do alike.
enum RichTapText {
  private static func document(_ file: SourceFile, _ dialect: RichTapDialect) throws(InputError) -> JSONDocument {
    do { return try JSONDocument(text: file.bytes, name: file.name) } catch {
      throw InputError(error, rule: (dialect == .he ? RichTapRules.he : .oh).syntax)
    }
  }

  static func examine(_ file: SourceFile, _ dialect: RichTapDialect, _ options: ReadingOptions) -> Examination {
    let json: JSONDocument
    do throws(InputError) { json = try document(file, dialect) } catch { return Examination(error) }
    var decoder = RichTapDecoder.decode(json, dialect: dialect)
    if options.wantsFindings { decoder.checkText() }
    let isReadable = decoder.log.errorCount == 0
    var details = decoder.details
    if let created = decoder.document.created { details.append(("created", created)) }
    let made = isReadable ? RichTapComposition(decoder.document) : nil
    return Examination(
      composition: made?.composition, findings: decoder.log.findings(in: json, for: options),
      errorCount: decoder.log.errorCount, losses: options.wantsFindings ? made?.losses ?? [] : [],
      places: RichTapPlaces(json, references: made?.references ?? [], values: decoder.eventValues), details: details)
  }

  static func write(_ composition: HapticComposition, _ dialect: RichTapDialect, _ options: WritingOptions)
    throws(InputError) -> Writing?
  {
    try composition.checkFinite((dialect == .he ? RichTapRules.he : .oh).intensity)
    var losses = LossLog()
    let played = composition.unrolled(passes: options.loops, losses: &losses)
    let builder = RichTapBuilder(played, dialect: dialect, tolerance: options.tolerance, losses: losses)
    losses = builder.losses
    if composition.title != nil, composition.notes != nil {
      losses.add(.dropped, .composition, "the title cannot be written beside the notes")
    }
    var writer = RichTapWriter(notes: composition.notes ?? composition.title, losses: losses)
    let bytes =
      switch dialect {
      case .oh: writer.ohChannels(builder.sorted)
      case .he where options.dialect == "1": writer.hePattern(builder.sorted)
      case .he: writer.heList(builder.sorted)
      }
    return Writing([Writing.File(bytes)], losses: writer.losses.finish())
  }

  static func canonical(_ file: SourceFile, _ dialect: RichTapDialect) throws(InputError) -> [UInt8]? {
    try RichTapTables.of(dialect).file.shape.canonical(document(file, dialect).root)
  }
}
