import Reading
import HapticModel

extension HapticFormat {
  /// Apple's haptic and audio pattern, a text in JSON; read as Apple's loader is documented to.
  ///
  /// A file is one layer. `Project` and `Description` of its metadata are the title and the notes.
  ///
  /// A composition is written as one file, or as one for each layer where layers would bend each other. Where layers
  /// with parameters or curves are to be one file, these act on the events of all, which is a loss. Curves of squares
  /// become straight lines within the tolerance, of 16 points at most. Loop points are dropped, and sampled signals
  /// too unless they are written as sound files. Numbers that are not finite are refused.
  public static let ahap: HapticFormat = {
    var format = readAndWritten
    format.editor = { (file) throws(InputError) in try AHAPEditor(text: file.bytes, name: file.name) }
    return format
  }()

  private static let readAndWritten = HapticFormat(
    "ahap", title: "Apple Haptic and Audio Pattern", endings: ["ahap"], prefix: "", rules: Rule.ahap,
    recognize: { bytes in
      guard let outline = outline(of: bytes) else { return .no }
      guard outline.has("Pattern") else { return .possible }
      // RichTap's files have the same outermost keys.
      let isForeign = outline.nestedKeys.contains("Type") && !outline.nestedKeys.contains("EventType")
      return isForeign ? .possible : .certain
    }, read: { (file, options) throws(InputError) in try document(file).examine(options: options) },
    write: { (composition, options) throws(InputError) in
      for (index, layer) in composition.layers.enumerated() {
        guard let path = layer.pattern.firstInfinity else { continue }
        throw InputError(
          Finding(
            .outOfRange, severity: .error,
            place: SourcePlace(name: "pattern", path: index == 0 ? path : "layers[\(index)].\(path)"),
            "non-finite numbers (NaN, infinity) cannot be written", foreignCode: CoreHapticsCode.invalidPatternData))
      }
      return try AHAPComposition(composition, options: options).write()
    }, canonical: { (file) throws(InputError) in try document(file).formatted() },
    fixed: { (file) throws(InputError) in try document(file).fixed() })

  private static func document(_ file: SourceFile) throws(InputError) -> AHAPDocument {
    try AHAPDocument(text: file.bytes, name: file.name)
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
}

/// Where the parts of a pattern stand in the text of its file.
struct AHAPPlaces: Sendable {
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
