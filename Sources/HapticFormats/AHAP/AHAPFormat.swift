public import Reading
public import HapticModel

/// Apple's haptic and audio pattern, a text in JSON; read as Apple's loader is documented to.
///
/// A file is one layer. `Project` and `Description` of its metadata are the title and the notes.
public struct AHAPFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `ahap`.
  public var id: String { "ahap" }
  /// The name Apple gives it.
  public var title: String { "Apple Haptic and Audio Pattern" }
  /// `ahap`.
  public var endings: [String] { ["ahap"] }
  /// The rules of the text and its values.
  public var rules: [Rule] { AHAPRules.all }

  /// Certain for a JSON object with the key `Pattern` whose entries may be Apple's, possible for any
  /// other object.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    guard let outline = Self.outline(of: bytes) else { return .no }
    guard outline.has(AHAPKey.pattern.rawValue) else { return .possible }
    // RichTap's files have the same outermost keys.
    let isForeign = outline.nestedKeys.contains("Type") && !outline.nestedKeys.contains(AHAPKey.eventType.rawValue)
    return isForeign ? .possible : .certain
  }

  /// The keys of a text in any encoding that is read.
  private static func outline(of bytes: Span<UInt8>) -> JSONOutline? {
    if let outline = JSONOutline(bytes) { return outline }
    // An even piece of the beginning is enough to know a format by, and never cuts a character of UTF-32.
    let start = (0..<min(bytes.count, 1 << 16) / 4 * 4).map { bytes[$0] }
    let encoding = TextEncoding(of: start)
    guard encoding != .utf8, let text = encoding.utf8(start) else { return nil }
    return JSONOutline(text.span)
  }

  /// Reads a file and checks it against every rule; those of design only where there are no errors.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    do throws(InputError) { return try AHAPDocument(text: file.bytes, name: file.name).examine(options: options) } catch
    { return Examination(error) }
  }

  /// Writes a composition as one file, or as one for each layer where layers would bend each other.
  ///
  /// Where layers with parameters or curves are to be one file, these act on the events of all, which
  /// is a loss. Curves of squares become straight lines within the tolerance, of 16 points at most.
  /// Loop points are dropped, and sampled signals too unless they are written as sound files. Numbers
  /// that are not finite are refused.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    for (index, layer) in composition.layers.enumerated() {
      guard let path = layer.pattern.firstInfinity else { continue }
      throw InputError(
        Finding(
          .outOfRange, severity: .error,
          place: SourcePlace(name: "pattern", path: index == 0 ? path : "layers[\(index)].\(path)"),
          "non-finite numbers (NaN, infinity) cannot be written", foreignCode: CoreHapticsCode.invalidPatternData))
    }
    return try AHAPComposition(composition, options: options).write()
  }

  /// The text in a fixed layout and order of keys; unknown keys are kept.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    try AHAPDocument(text: file.bytes, name: file.name).formatted()
  }

  /// The text without byte-order mark and commas before closing brackets, with the right keys for durations
  /// and values, and with control points sorted and relative to their curves.
  public func fixed(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    try AHAPDocument(text: file.bytes, name: file.name).fixed()
  }
}

/// Where the parts of a pattern stand in the text of its file.
struct AHAPPlaces: SourcePlaces {
  let json: JSONDocument
  /// The numbers of the values the parts were read from.
  let entries: Int
  let events: [Int]
  let parameters: [Int]
  let curves: [Int]

  func place(of element: CompositionElement) -> SourcePlace {
    let value: Int? =
      switch element {
      case .composition, .layer: entries
      case .event(let event): events.indices.contains(event.event) ? events[event.event] : nil
      case .parameter(_, let index): parameters.indices.contains(index) ? parameters[index] : nil
      case .curve(_, let index): curves.indices.contains(index) ? curves[index] : nil
      }
    return JSONValue(document: json, index: value ?? entries).place
  }
}
